(class_declaration name: (identifier) @name body: (_) @body) @type
(variable_declarator name: (identifier) @name value: (class) @value) @type
(assignment_expression right: (class name: (identifier) @name body: (_) @body)) @type
(field_definition property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)] @value) @method
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @field
(class_heritage [(identifier) @base (member_expression property: (property_identifier) @base)])

(jsx_opening_element name: (identifier) @call (#match? @call "^[A-Z]"))
(jsx_self_closing_element name: (identifier) @call (#match? @call "^[A-Z]"))

; A.prototype.b = function, exports.b = function, module.exports.b = function: what TypeScript has classes and modules for.
(assignment_expression left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @value
  (#eq? @_prototype "prototype")) @method
(assignment_expression left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @value
  (#eq? @_exports "exports")) @function
(assignment_expression left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (class !name) @value
  (#eq? @_exports "exports")) @type
(assignment_expression left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @value
  (#eq? @_module "module") (#eq? @_exports "exports")) @function
