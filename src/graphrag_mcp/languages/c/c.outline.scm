; A struct that has a name of its own besides its typedef's is the type; the typedef is one more name for it.
(type_definition type: [(struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_))
  (enum_specifier name: (_) body: (_))] declarator: (type_identifier) @name @type)
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body) (enum_specifier body: (_) @body)]
  declarator: (type_identifier) @name) @type
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: [
    (type_identifier) @name
    (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))])]) @type
(struct_specifier name: (type_identifier) @name body: (_) @body) @type
(union_specifier name: (type_identifier) @name body: (_) @body) @type
(enum_specifier name: (type_identifier) @name body: (_) @body) @type
(enumerator name: (identifier) @name) @constant
(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (field_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))]) @field

; A directive may part a statement, which is none then.
((function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]
  body: (_) @body) @function (#not-match? @name "^(catch|for|if|switch|while)$"))
(declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]
  ) @prototype
(preproc_function_def name: (identifier) @name) @function
(preproc_def name: (identifier) @name value: (_)) @constant
(preproc_function_def parameters: (_) @parameters value: (_) @code)
(preproc_def value: (_) @code)

; Of a file, also inside of guards: what functions declare is left out where it is read.
(declaration declarator: [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)
  (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))])]) @constant

(call_expression function: [(identifier) @call (field_expression argument: (_) @value field: (field_identifier) @call)])
(call_expression function: (parenthesized_expression [(identifier) @call (pointer_expression argument: (identifier) @call)]))
; A function as a value: passed, stored, returned, in a table; unless it is a variable.
([(argument_list (identifier) @handed) (initializer_list (identifier) @handed) (initializer_pair value: (identifier) @handed)
  (init_declarator value: (identifier) @handed) (assignment_expression right: (identifier) @handed)
  (return_statement (identifier) @handed) (pointer_expression operator: "&" argument: (identifier) @handed)
  (conditional_expression consequence: (identifier) @handed) (conditional_expression alternative: (identifier) @handed)
  (cast_expression value: (identifier) @handed) (binary_expression operator: "==" right: (identifier) @handed)
  (binary_expression operator: "!=" right: (identifier) @handed)])
[(function_definition) (compound_statement) (for_statement)] @block
([(parameter_declaration declarator: (identifier) @bound) (declaration declarator: (identifier) @bound)
  (init_declarator declarator: (identifier) @bound) (pointer_declarator declarator: (identifier) @bound)
  (array_declarator declarator: (identifier) @bound)])
(parenthesized_declarator (pointer_declarator declarator: (identifier) @bound))
(type_identifier) @reference

(preproc_include path: (_) @source) @import
(comment) @comment
