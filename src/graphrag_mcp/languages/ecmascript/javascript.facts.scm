[(function_declaration name: (_) @hoisted.also) (generator_function_declaration name: (_) @hoisted.also)]
(field_definition property: (_) @name value: [(arrow_function) (function_expression)] @function)
(class_heritage) @extends
(class_heritage [(identifier) (member_expression)] @as.base)

(variable_declarator name: (identifier) @name value: (_)? @value) @bind.block
(field_definition property: (_) @name value: (_)? @value) @bind.block
(field_definition "static" property: (_) @name) @mark.static

(jsx_closing_element name: (identifier) @use.none)
(jsx_opening_element name: (identifier) @use.none (#match? @use.none "^[a-z]"))
(jsx_self_closing_element name: (identifier) @use.none (#match? @use.none "^[a-z]"))
(jsx_opening_element name: [(identifier) (member_expression)] @as.call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @as.call)
(jsx_attribute . (property_identifier) @use.key)
