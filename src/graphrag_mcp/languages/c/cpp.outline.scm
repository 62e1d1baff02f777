; Added to what C has.
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @name]
  body: (_) @body) @type
(struct_specifier name: [(template_type name: (type_identifier) @name) (qualified_identifier) @name] body: (_) @body) @type
(namespace_definition name: (_) @name body: (_) @body) @module
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(template_declaration) @wrapper
(template_parameter_list [(type_parameter_declaration (type_identifier) @generic)
  (variadic_type_parameter_declaration (type_identifier) @generic)
  (optional_type_parameter_declaration name: (type_identifier) @generic)])

; Tests of GoogleTest are known by two names, those of Catch2 and doctest by a title, before a block of their own.
(function_definition declarator: (function_declarator declarator: (identifier) @name
    parameters: (parameter_list . (parameter_declaration type: (_) @title) . (parameter_declaration type: (_) @title)))
  body: (_) @body (#match? @name "^(TYPED_)?TEST(_[FP])?$")) @test
((expression_statement (call_expression function: (identifier) @name arguments: (argument_list (string_literal) @title)))
  @test . (compound_statement) @body (#any-of? @name "TEST_CASE" "TEST_CASE_METHOD" "TEST_CASE_FIXTURE" "SCENARIO"))

; Members, declared or defined inside of their class.
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))]) @method
(field_declaration_list [(declaration declarator: (operator_cast) @name) @method
  (template_declaration (declaration declarator: (operator_cast) @name) @method)])
(function_definition declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name) (destructor_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  (operator_cast) @name
  (qualified_identifier scope: (_) @owner name: (operator_cast) @name)]
  body: (_)? @body) @function

; Members, defined outside.
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier scope: (_) @owner
    name: [(identifier) (operator_name) (destructor_name)] @name))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier scope: (_) @owner
    name: [(identifier) (operator_name)] @name)))
  (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @owner
    name: [(identifier) (operator_name)] @name)))]
  body: (_)? @body) @method
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (qualified_identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (qualified_identifier) @name)))
  (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (qualified_identifier) @name)))]
  body: (_)? @body) @method

(declaration declarator: [
  (function_declarator declarator: (operator_name) @name)
  (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name))
  (reference_declarator (function_declarator declarator: (operator_name) @name))]) @prototype

(namespace_definition body: (declaration_list (declaration declarator: (init_declarator declarator: [
  (identifier) @name (array_declarator declarator: (identifier) @name) (reference_declarator (identifier) @name)
  (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])])) @constant))

([(argument_list (qualified_identifier scope: (_) @receiver name: (identifier) @handed))
  (initializer_list (qualified_identifier scope: (_) @receiver name: (identifier) @handed))
  (pointer_expression operator: "&" argument: (qualified_identifier scope: (_) @receiver name: (identifier) @handed))])
[(lambda_expression) (for_range_loop)] @block
([(reference_declarator (identifier) @bound) (structured_binding_declarator (identifier) @bound)
  (optional_parameter_declaration declarator: (identifier) @bound) (variadic_declarator (identifier) @bound)
  (for_range_loop declarator: (identifier) @bound) (lambda_capture_initializer left: (identifier) @bound)])

(base_class_clause [(type_identifier) @base (template_type name: (type_identifier) @base)
  (qualified_identifier name: [(type_identifier) @base (template_type name: (type_identifier) @base)
    (qualified_identifier name: [(type_identifier) @base (template_type name: (type_identifier) @base)
      (qualified_identifier name: [(type_identifier) @base (template_type name: (type_identifier) @base)])])])])
(qualified_identifier scope: (namespace_identifier) @reference (#match? @reference "^[A-Z]"))

(call_expression function: [
  (qualified_identifier scope: (_) @receiver name: (identifier) @call)
  (qualified_identifier scope: (_) @receiver name: (template_function name: (identifier) @call))
  (template_function name: (identifier) @call)
  (field_expression argument: (_) @value field: (template_method name: (field_identifier) @call))])
(call_expression function: [
  (qualified_identifier !scope name: (identifier) @call)
  (qualified_identifier name: (qualified_identifier scope: (_) @receiver name: [(identifier) @call (template_function name: (identifier) @call)]))
  (qualified_identifier name: (qualified_identifier name: (qualified_identifier scope: (_) @receiver
    name: [(identifier) @call (template_function name: (identifier) @call)])))
  (field_expression argument: (_) @value field: (dependent_name (template_method name: (field_identifier) @call)))])
(new_expression type: [(type_identifier) @call (template_type name: (type_identifier) @call)
  (qualified_identifier scope: (_) @receiver name: [(type_identifier) @call (template_type name: (type_identifier) @call)])])
(compound_literal_expression type: [(type_identifier) @call (template_type name: (type_identifier) @call)
  (qualified_identifier scope: (_) @receiver name: [(type_identifier) @call (template_type name: (type_identifier) @call)])])
(declaration type: [(type_identifier) @call (template_type name: (type_identifier) @call)
    (qualified_identifier scope: (_) @receiver name: [(type_identifier) @call (template_type name: (type_identifier) @call)])]
  declarator: (init_declarator declarator: (identifier) value: [(argument_list) (initializer_list)] @arguments))
(field_initializer . [(field_identifier) @call.base (template_method name: (field_identifier) @call.base)
    (qualified_identifier scope: (_) @receiver name: (template_method name: (field_identifier) @call.base))]
  . [(argument_list) (initializer_list)] @arguments)
; `T name(f(x))` declares a variable, though the grammar reads a function.
(compound_statement (declaration declarator: (function_declarator parameters: (parameter_list
  (parameter_declaration type: (type_identifier) @call declarator: (abstract_function_declarator))))))
; `std::make_unique<T>(...)` and its like create a T.
(call_expression function: [(template_function name: (identifier) @_make arguments: (template_argument_list . (type_descriptor type: (type_identifier) @call)))
  (qualified_identifier name: (template_function name: (identifier) @_make
    arguments: (template_argument_list . (type_descriptor type: (type_identifier) @call))))]
  (#any-of? @_make "make_unique" "make_shared"))

; What variables hold, also where it has type arguments, or is in a namespace.
([(parameter_declaration type: [(template_type name: (type_identifier) @kind)
    (qualified_identifier scope: (_) @_ns [(type_identifier) (template_type) (qualified_identifier)]) @kind]
    declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable)
      (reference_declarator (identifier) @variable)])
  (declaration type: [(template_type name: (type_identifier) @kind)
    (qualified_identifier scope: (_) @_ns [(type_identifier) (template_type) (qualified_identifier)]) @kind]
    declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable)
      (reference_declarator (identifier) @variable) (init_declarator declarator: [(identifier) @variable
        (pointer_declarator declarator: (identifier) @variable) (reference_declarator (identifier) @variable)])])
  (field_declaration type: [(template_type name: (type_identifier) @kind)
    (qualified_identifier scope: (_) @_ns [(type_identifier) (template_type) (qualified_identifier)]) @kind]
    declarator: [(field_identifier) @variable (pointer_declarator declarator: (field_identifier) @variable)
      (reference_declarator (field_identifier) @variable)])] @typed (#not-eq? @_ns "std"))
; `auto x = T(...)` and `auto* x = new T(...)`.
(declaration type: (placeholder_type_specifier) declarator: (init_declarator
  declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable)]
  value: (new_expression type: [(type_identifier) (qualified_identifier)] @kind))) @typed
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (identifier) @variable
  value: (call_expression function: [(identifier) (qualified_identifier)] @kind)) (#match? @kind "(^|::)[A-Z]\\w*$")) @made
; What a pointer that owns it points to: it may have members with the names of the pointer's.
([(parameter_declaration type: (qualified_identifier name: (template_type name: (type_identifier) @_owning
      arguments: (template_argument_list . (type_descriptor type: [(type_identifier) (qualified_identifier)] @kind))))
    declarator: [(identifier) @variable (reference_declarator (identifier) @variable)])
  (declaration type: (qualified_identifier name: (template_type name: (type_identifier) @_owning
      arguments: (template_argument_list . (type_descriptor type: [(type_identifier) (qualified_identifier)] @kind))))
    declarator: [(identifier) @variable (init_declarator declarator: (identifier) @variable)])
  (field_declaration type: (qualified_identifier name: (template_type name: (type_identifier) @_owning
      arguments: (template_argument_list . (type_descriptor type: [(type_identifier) (qualified_identifier)] @kind))))
    declarator: (field_identifier) @variable)] @made (#any-of? @_owning "unique_ptr" "shared_ptr"))
; What variables hold.
[(parameter_declaration type: (type_identifier) @kind declarator: [(identifier) @variable
    (pointer_declarator declarator: (identifier) @variable) (reference_declarator (identifier) @variable)])
  (declaration type: (type_identifier) @kind declarator: [(identifier) @variable
    (pointer_declarator declarator: (identifier) @variable) (reference_declarator (identifier) @variable)
    (init_declarator declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable)
      (reference_declarator (identifier) @variable)])])
  (field_declaration type: (type_identifier) @kind declarator: [(field_identifier) @variable
    (pointer_declarator declarator: (field_identifier) @variable) (reference_declarator (field_identifier) @variable)])] @typed
(declaration type: (placeholder_type_specifier) declarator: (init_declarator
  declarator: [(reference_declarator (identifier) @variable) (pointer_declarator declarator: (identifier) @variable)]
  value: (field_expression) @kind)) @held
