(class_declaration name: (type_identifier) @name body: (_) @body) @type
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @type
(variable_declarator name: (identifier) @name value: (class) @value) @type
(assignment_expression right: (class name: (type_identifier) @name body: (_) @body)) @type
(interface_declaration name: (type_identifier) @name body: (_) @body) @type
(type_alias_declaration name: (type_identifier) @name) @type
(program [(ambient_declaration (_ (variable_declarator name: (identifier) @name) @constant))
  (export_statement declaration: (ambient_declaration (_ (variable_declarator name: (identifier) @name) @constant)))])
(enum_declaration name: (identifier) @name body: (_) @body) @type
(enum_body [(property_identifier) @name @field (enum_assignment name: (property_identifier) @name) @field])
(internal_module name: (_) @name body: (_) @body) @module
(function_signature name: (identifier) @name) @function
(method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
(abstract_method_signature name: (property_identifier) @name) @method
(interface_body (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @method)
(interface_body (property_signature name: (property_identifier) @name) @field)
(object_type (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @method) @among
(object_type (property_signature name: (property_identifier) @name) @field) @among
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)] @value) @method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @field
(class_body (method_definition parameters: (formal_parameters
  (required_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @parameter)))
(class_body (method_definition parameters: (formal_parameters
  (optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @parameter)))

(extends_clause value: [(identifier) @base (member_expression property: (property_identifier) @base)])
(implements_clause [(type_identifier) @base (generic_type name: (type_identifier) @base)
  (nested_type_identifier name: (type_identifier) @base)])
(extends_type_clause type: [(type_identifier) @base (generic_type name: (type_identifier) @base)
  (nested_type_identifier name: (type_identifier) @base)])

(call_expression function: [
  (non_null_expression [(identifier) @call (member_expression object: (_) @receiver property: (property_identifier) @call)])
  (parenthesized_expression [(as_expression . (identifier) @call) (satisfies_expression . (identifier) @call)
    (non_null_expression (identifier) @call) (as_expression . (member_expression object: (_) @receiver property: (property_identifier) @call))])])
(type_identifier) @reference

(import_statement (import_require_clause (identifier) @alias source: (string) @source)) @import
