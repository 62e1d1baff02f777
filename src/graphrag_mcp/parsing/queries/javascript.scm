(class_declaration name: (identifier) @name body: (_) @body) @type
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @type
(field_definition property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @field
(class_heritage [(identifier) @base (member_expression property: (property_identifier) @base)])

(jsx_opening_element name: (identifier) @call (#match? @call "^[A-Z]"))
(jsx_self_closing_element name: (identifier) @call (#match? @call "^[A-Z]"))
