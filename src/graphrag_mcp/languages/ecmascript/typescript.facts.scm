[(module body: (_) @shared) (internal_module body: (_) @shared) (ambient_declaration "global" (_) @shared)]
(enum_declaration name: (_) @name) @mark.enumeration
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)] @function)
(property_signature name: (_) @name type: (type_annotation (function_type) @function))
[(function_signature) (method_signature) (abstract_method_signature) (call_signature) (construct_signature)
 (function_type)] @function
(type_alias_declaration name: (_) @name value: (object_type) @own)
(object_type) @nameless
[(interface_declaration name: (_) @name body: (_) @own) (class_declaration name: (_) @name body: (_) @own)
 (abstract_class_declaration name: (_) @name body: (_) @own)]
(object_type (property_signature name: (_) @name type: (_) @type) @member)
(object_type (method_signature name: (_) @name) @member)
([(call_signature) (construct_signature)] @name @member)

(type_alias_declaration name: (_) @name type_parameters: (_)? @type_parameters value: (_) @type) @renames
(interface_declaration name: (_) @name) @interface
(ambient_declaration (module name: (string) @merges body: (statement_block [(interface_declaration name: (_) @name)
  (export_statement declaration: (interface_declaration name: (_) @name))])))
(ambient_declaration "global" @merges (statement_block (interface_declaration name: (_) @name)))
([(interface_declaration name: (_) @name type_parameters: (_) @type_parameters)
  (class_declaration name: (_) @name type_parameters: (_) @type_parameters)
  (abstract_class_declaration name: (_) @name type_parameters: (_) @type_parameters)])
(index_signature) @indexed
(extends_clause) @extends
(extends_type_clause type: (_) @extends)
(implements_clause (_) @implements)

; What names hold.
(variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @bind.block
(public_field_definition name: (_) @name type: (_)? @type value: (_)? @value) @bind.block
(variable_declarator name: (identifier) @name type: (_) value: [(arrow_function) (function_expression)]) @mark.typed
(public_field_definition "static" name: (_) @name) @mark.static
(property_signature name: (_) @name type: (_)? @type) @bind.block
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name
  type: (_)? @type value: (_)? @value) @bind.member
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name
  type: (_)? @type) @bind.member
[(index_signature) (conditional_type)] @scope
(mapped_type_clause name: (_) @name) @bind.type
(infer_type . (type_identifier) @name) @bind.type
(import_statement (import_require_clause (identifier) @alias source: (_) @module)) @import
(program (export_statement "=" (_) @value) @export.whole)
(program (export_statement declaration: (ambient_declaration [(_ name: (_) @name)
  (_ (variable_declarator name: (identifier) @name))])) @export)

(class_body (decorator (_) @decorator) . (decorator)* . (method_definition name: (_) @name))
(class_declaration decorator: (decorator (_) @decorator) name: (_) @name)
(export_statement decorator: (decorator (_) @decorator) declaration: (class_declaration name: (_) @name))
(method_definition (accessibility_modifier) @_a name: (_) @name (#eq? @_a "private")) @mark.private
(public_field_definition (accessibility_modifier) @_a name: (_) @name (#eq? @_a "private")) @mark.private

; Mentions.
(call_expression function: [(non_null_expression [(identifier) (member_expression)] @as.call)
  (parenthesized_expression [(as_expression . [(identifier) (member_expression)] @as.call)
    (satisfies_expression . [(identifier) (member_expression)] @as.call)
    (non_null_expression [(identifier) (member_expression)] @as.call)])])
(required_parameter pattern: (this) @use.none)
(tuple_type [(required_parameter name: (identifier) @use.none) (optional_parameter name: (identifier) @use.none)
  (required_parameter name: (rest_pattern (identifier) @use.none))])
(type_parameter name: (_) @use.none)
(mapped_type_clause name: (_) @use.none)
(infer_type . (type_identifier) @use.none)
(import_require_clause source: (_) @use.module)
(predefined_type) @use.none
(index_signature name: (_) @use.none)
(type_predicate name: (_) @use.none)
(extends_clause value: [(identifier) (member_expression)] @as.base)
(implements_clause [(type_identifier) @use.base (generic_type name: (type_identifier) @use.base)
  (nested_type_identifier module: (_) @from name: (_) @use.base)
  (generic_type name: (nested_type_identifier module: (_) @from name: (_) @use.base))])
(extends_type_clause type: [(type_identifier) @use.base (generic_type name: (type_identifier) @use.base)
  (nested_type_identifier module: (_) @from name: (_) @use.base)
  (generic_type name: (nested_type_identifier module: (_) @from name: (_) @use.base))])
(nested_type_identifier module: (_) @from name: (_) @use.type)
; The grammar reads `x as a.b.C` as `(x as a.b).C`.
(member_expression object: [(as_expression (_) (nested_type_identifier) @from.qualified)
  (satisfies_expression (_) (nested_type_identifier) @from.qualified)] property: (_) @use.type)
(nested_identifier object: (_) @from property: (_) @use.value)
(lookup_type . (_) @from.type (literal_type (string (string_fragment) @use.value)))
((generic_type name: (type_identifier) @_of_keys type_arguments: (type_arguments . (_) @from.type [
    (literal_type (string (string_fragment) @use.value))
    (union_type (literal_type (string (string_fragment) @use.value)))
    (union_type (union_type (literal_type (string (string_fragment) @use.value))))
    (union_type (union_type (union_type (literal_type (string (string_fragment) @use.value)))))]))
  (#any-of? @_of_keys "Omit" "Pick"))
(index_type_query (_) @from.type) @use.indexed.value
(type_query (identifier) @use.query)
(type_identifier) @use.type

; What a place with a type is given.
(variable_declarator type: (_) value: [(arrow_function) (function_expression) (identifier)] @given)
(public_field_definition type: (_) value: [(arrow_function) (function_expression) (identifier)] @given)
(pair value: [(arrow_function) (function_expression) (identifier)] @given)
(array [(arrow_function) (function_expression) (identifier)] @given)
(return_statement [(arrow_function) (function_expression) (identifier)] @given)
(arrow_function body: (arrow_function) @given)
(as_expression . [(arrow_function) (function_expression) (identifier)] @given)
(satisfies_expression . [(arrow_function) (function_expression) (identifier)] @given)
(parenthesized_expression [(arrow_function) (function_expression) (identifier)] @given)
(ternary_expression consequence: [(arrow_function) (function_expression) (identifier)] @given)
(ternary_expression alternative: [(arrow_function) (function_expression) (identifier)] @given)
