(class_declaration name: (identifier) @name body: (_) @body) @type
(interface_declaration name: (identifier) @name body: (_) @body) @type
(enum_declaration name: (identifier) @name body: (_) @body) @type
(record_declaration name: (identifier) @name body: (_) @body) @type
(annotation_type_declaration name: (identifier) @name body: (_) @body) @type
(method_declaration name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(enum_constant name: (identifier) @name) @field
(record_declaration parameters: (formal_parameters [
  (formal_parameter name: (identifier) @name)
  (spread_parameter (variable_declarator name: (identifier) @name))] @field))
[(marker_annotation name: (_) @name) (annotation name: (_) @name)] @mark

(superclass [(type_identifier) @base (generic_type (type_identifier) @base) (scoped_type_identifier (type_identifier) @base .)])
(super_interfaces (type_list [(type_identifier) @base (generic_type (type_identifier) @base)
  (scoped_type_identifier (type_identifier) @base .)]))
(extends_interfaces (type_list [(type_identifier) @base (generic_type (type_identifier) @base)
  (scoped_type_identifier (type_identifier) @base .)]))

(method_invocation object: (_)? @receiver name: (identifier) @call)
(object_creation_expression type: [(type_identifier) @call (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)])
(method_reference . (_) @receiver (identifier) @call .)
(method_reference . [(identifier) @call (field_access field: (identifier) @call)] "new")
(type_identifier) @reference
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)

(import_declaration (scoped_identifier) @source) @import
(line_comment) @comment
(block_comment) @comment
