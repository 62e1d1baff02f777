(type_declaration (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @type)
(type_declaration (type_spec name: (type_identifier) @name) @type)
(type_declaration (type_alias name: (type_identifier) @name) @type)
((function_declaration name: (identifier) @name body: (_)? @body) @function (#not-eq? @name "_"))
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name body: (_)? @body) @method
(method_elem name: (field_identifier) @name) @method
((field_declaration name: (field_identifier) @name) @field (#not-eq? @name "_"))
((source_file (const_declaration (const_spec name: (identifier) @name) @constant)) (#not-eq? @name "_"))
((source_file (var_declaration (var_spec name: (identifier) @name) @constant)) (#not-eq? @name "_"))
((source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @constant))) (#not-eq? @name "_"))
(source_file (type_declaration . (type_spec) .) @wrapper)

(field_declaration !name type: [(type_identifier) @base
  (qualified_type package: (_) @receiver name: (type_identifier) @base)
  (generic_type type: (type_identifier) @base)])
(interface_type (type_elem . [(type_identifier) @base (qualified_type package: (_) @receiver name: (type_identifier) @base)] .))

(call_expression function: [(identifier) @call (selector_expression operand: (_) @receiver field: (field_identifier) @call)])
(call_expression function: (parenthesized_expression [(identifier) @call (selector_expression operand: (_) @receiver field: (field_identifier) @call)]))
(call_expression function: (index_expression operand: [(identifier) @call
  (selector_expression operand: (_) @receiver field: (field_identifier) @call)]))
; With type arguments, the grammar takes a call for a conversion.
(type_conversion_expression type: (generic_type type: [(type_identifier) @call
  (qualified_type package: (_) @receiver name: (type_identifier) @call)]))
(composite_literal type: [(type_identifier) @call (qualified_type package: (_) @receiver name: (type_identifier) @call)])
(type_identifier) @reference

(import_spec name: (_)? @alias path: (_) @source) @import
(comment) @comment
