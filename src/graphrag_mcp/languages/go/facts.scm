((comment) @mark.exported . (function_declaration name: (_) @name) (#match? @mark.exported "^//(export|go:linkname) "))
(field_declaration name: (field_identifier) @name type: [(type_identifier) (qualified_type) (generic_type) (struct_type)]) @mark.inline
(var_spec name: (identifier) @name type: [(type_identifier) (qualified_type) (generic_type) (struct_type)]) @mark.inline
(var_spec . name: (identifier) @name . value: (expression_list . (composite_literal))) @mark.inline
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type))) name: (_) @name) @mark.pointer
(package_clause (package_identifier) @unit)
((comment) @build (#match? @build "^//go:build "))
(import_spec name: [(package_identifier) (dot) (blank_identifier)]? @alias path: (_) @module) @import

[(block) (if_statement) (for_statement) (expression_switch_statement) (type_switch_statement) (select_statement)
 (expression_case) (default_case) (type_case) (communication_case)] @scope
[(function_declaration) (method_declaration) (func_literal) (method_elem)] @function
[(struct_type (field_declaration_list (_))) (interface_type (_))] @nameless
(type_spec name: (_) @name type: [(struct_type) (interface_type)] @own)
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name type_parameters: (_)? @type_parameters type: (_) @type) @stands
(type_alias name: (_) @name type: (_) @type) @renames

; What names hold.
(var_spec . name: (identifier) @name ("," name: (identifier) @name)* type: (_)? @type value: (_)? @value) @bind
(const_spec . name: (identifier) @name ("," name: (identifier) @name)* type: (_)? @type value: (_)? @value) @bind
(field_declaration name: (field_identifier) @name type: (_) @type) @bind
(short_var_declaration left: (_) @name right: (_) @value) @bind
(range_clause left: (_) @name ":=" right: (_) @loop) @bind
(receive_statement left: (_) @name ":=" right: (_) @value) @bind
(type_switch_statement alias: (expression_list (identifier) @name) (type_case type: (_) @type) @within)
(type_switch_statement alias: (expression_list (identifier) @name) value: (_) @value (default_case) @within)

(field_declaration !name type: (_) @embeds)
(interface_type (type_elem . (_) @embeds .))
(interface_type (type_elem . (_) . (_)) @embeds)

; What a field or a parameter is given.
(assignment_statement left: (expression_list . (selector_expression) @into .)
  right: (expression_list . [(identifier) (selector_expression) (func_literal)] @given .))
(composite_literal type: (_) @into.type
  body: (literal_value (keyed_element . (literal_element (identifier) @into.field)
    (literal_element [(identifier) (selector_expression) (func_literal)] @given))))
(call_expression function: (_) @into.function arguments: (_) @passed)
(return_statement (expression_list . [(identifier) (selector_expression) (func_literal)] @given .))
(var_spec type: [(qualified_type) (type_identifier)] @into.kind value: (expression_list (_) @given))

; Mentions: the first pattern that fits decides.
(import_spec path: (_) @use.module)
(call_expression function: (selector_expression field: (_) @from.other)
  arguments: (argument_list . (interpreted_string_literal (interpreted_string_literal_content) @use.reflected) .)
  (#any-of? @from.other "MethodByName" "FieldByName"))
([(interpreted_string_literal_content) (raw_string_literal_content)] @use.template (#match? @use.template "\\{\\{"))
(parameter_declaration name: (identifier) @use.none)
(variadic_parameter_declaration name: (identifier) @use.none)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @use.receiver
  (generic_type type: (type_identifier) @use.receiver)
  (pointer_type (type_identifier) @use.receiver)
  (pointer_type (generic_type type: (type_identifier) @use.receiver))])))
(field_declaration !name type: [(type_identifier) @use.base (pointer_type (type_identifier) @use.base)
  (generic_type type: (type_identifier) @use.base)
  (qualified_type package: (_) @from name: (_) @use.base)
  (pointer_type (qualified_type package: (_) @from name: (_) @use.base))])
(interface_type (type_elem . [(type_identifier) @use.base (qualified_type package: (_) @from name: (_) @use.base)] .))
(call_expression function: [(identifier) @use.call
  (selector_expression operand: (_) @from field: (_) @use.call)
  (parenthesized_expression (identifier) @use.call)
  (index_expression operand: [(identifier) @use.call (selector_expression operand: (_) @from field: (_) @use.call)])])
(type_conversion_expression type: (generic_type type: (type_identifier) @use.call))
(composite_literal type: [(type_identifier) @use.create (qualified_type package: (_) @from name: (_) @use.create)
  (generic_type type: (type_identifier) @use.create)] body: (literal_value . (literal_element)) @arguments)
(composite_literal type: [(type_identifier) @use.create (qualified_type package: (_) @from name: (_) @use.create)
  (generic_type type: (type_identifier) @use.create)])
(composite_literal type: [(type_identifier) (qualified_type) (generic_type) (struct_type)] @from.type
  body: (literal_value (keyed_element . (literal_element (identifier) @use.write))))
(composite_literal type: [(type_identifier) (qualified_type) (generic_type) (struct_type)] @from.type
  body: (literal_value (literal_element) @use.placed))
(composite_literal type: [
    (slice_type element: [(type_identifier) (qualified_type) (generic_type) (struct_type)] @from.type)
    (array_type element: [(type_identifier) (qualified_type) (generic_type) (struct_type)] @from.type)
    (implicit_length_array_type element: [(type_identifier) (qualified_type) (generic_type) (struct_type)] @from.type)
    (slice_type element: (pointer_type (_) @from.type)) (array_type element: (pointer_type (_) @from.type))]
  body: (literal_value [(literal_element (literal_value (literal_element) @use.placed))
    (keyed_element (_) (literal_element (literal_value (literal_element) @use.placed)))]))
(composite_literal type: (map_type value: [(pointer_type (_) @from.type) (_) @from.type])
  body: (literal_value (keyed_element (_) (literal_element (literal_value (literal_element) @use.placed)))))
(composite_literal type: [
    (slice_type element: (_) @from.type) (array_type element: (_) @from.type)
    (implicit_length_array_type element: (_) @from.type)]
  body: (literal_value (literal_element (literal_value (keyed_element . (literal_element (identifier) @use.write))))))
(composite_literal type: (map_type value: (_) @from.type)
  body: (literal_value (keyed_element (_) (literal_element
    (literal_value (keyed_element . (literal_element (identifier) @use.write)))))))
(composite_literal type: (map_type key: (_) @from.type)
  body: (literal_value (keyed_element . (literal_element (literal_value (literal_element) @use.placed)))))
(composite_literal type: (map_type key: (_) @from.type)
  body: (literal_value (keyed_element . (literal_element
    (literal_value (keyed_element . (literal_element (identifier) @use.write)))))))
(literal_value (literal_element (literal_value (keyed_element . (literal_element (identifier) @use.field)))))
([(assignment_statement left: (expression_list [(identifier) @use.write (parenthesized_expression (identifier) @use.write)
    (selector_expression operand: (_) @from field: (_) @use.write)
    (parenthesized_expression (selector_expression operand: (_) @from field: (_) @use.write))]))
  (range_clause left: (expression_list [(identifier) @use.write
    (selector_expression operand: (_) @from field: (_) @use.write)]))
  (receive_statement left: (expression_list [(identifier) @use.write
    (selector_expression operand: (_) @from field: (_) @use.write)]))])
([(inc_statement [(identifier) @use.write (selector_expression operand: (_) @from field: (_) @use.write)
    (parenthesized_expression [(identifier) @use.write (selector_expression operand: (_) @from field: (_) @use.write)])])
  (dec_statement [(identifier) @use.write (selector_expression operand: (_) @from field: (_) @use.write)
    (parenthesized_expression [(identifier) @use.write (selector_expression operand: (_) @from field: (_) @use.write)])])])
[(assignment_statement left: (expression_list (index_expression) @as.fill))
  (range_clause left: (expression_list (index_expression) @as.fill))
  (inc_statement (index_expression) @as.fill)
  (dec_statement (index_expression) @as.fill)
  (send_statement channel: [(identifier) (selector_expression) (index_expression)] @as.fill)]
[(assignment_statement left: (expression_list (selector_expression operand: (_) @as.part)))
  (inc_statement (selector_expression operand: (_) @as.part))
  (dec_statement (selector_expression operand: (_) @as.part))]
((call_expression function: (identifier) @_built_in arguments: (argument_list . [(identifier) (selector_expression)
    (slice_expression operand: [(identifier) (selector_expression)])] @as.fill))
  (#any-of? @_built_in "clear" "copy" "delete"))
(unary_expression operator: "&" operand: [(identifier) @use.address
  (selector_expression operand: (_) @from field: (_) @use.address)
  (index_expression operand: [(identifier) @use.address
    (selector_expression operand: (_) @from field: (_) @use.address)])])
(selector_expression operand: (_) @from field: (_) @use.value)
(qualified_type package: (_) @from name: (_) @use.type)
(type_identifier) @use.type
(identifier) @use.value
