(class_declaration name: (identifier) @name body: (_)? @body) @type
(interface_declaration name: (identifier) @name body: (_)? @body) @type
(struct_declaration name: (identifier) @name body: (_)? @body) @type
(record_declaration name: (identifier) @name body: (_)? @body) @type
(enum_declaration name: (identifier) @name body: (_)? @body) @type
(delegate_declaration name: (identifier) @name) @type
(namespace_declaration name: (_) @name body: (_) @body) @module
(method_declaration name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_)? @body) @method
(local_function_statement name: (identifier) @name body: (_)? @body) @function
(operator_declaration operator: _ @name body: (_)? @body) @method
(property_declaration name: (identifier) @name) @field
(event_declaration name: (identifier) @name) @field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(enum_member_declaration name: (identifier) @name) @field
(record_declaration (parameter_list (parameter name: (identifier) @name) @field))
(attribute_list (attribute name: [(identifier) @name (qualified_name name: (identifier) @name)])) @mark

(base_list [(identifier) @base (generic_name (identifier) @base) (qualified_name name: (identifier) @base)
  (qualified_name name: (generic_name (identifier) @base))
  (primary_constructor_base_type type: [(identifier) @base (generic_name (identifier) @base)])])

(invocation_expression function: [
  (identifier) @call
  (generic_name (identifier) @call)
  (member_access_expression expression: _ @receiver name: (identifier) @call)
  (member_access_expression expression: _ @receiver name: (generic_name (identifier) @call))
  (conditional_access_expression (member_binding_expression name: [(identifier) @call (generic_name (identifier) @call)]))])
(invocation_expression function: (member_access_expression
  expression: (object_creation_expression type: [(identifier) @receiver (generic_name (identifier) @receiver)
    (qualified_name name: (identifier) @receiver)])
  name: [(identifier) @call (generic_name (identifier) @call)]))
(object_creation_expression type: [(identifier) @call (generic_name (identifier) @call)
  (qualified_name name: (identifier) @call)])
(constructor_initializer ["this" "base"] @call.base (argument_list) @arguments)
[(variable_declaration type: [(identifier) @call (generic_name (identifier) @call) (qualified_name name: (identifier) @call)
    (nullable_type type: [(identifier) @call (generic_name (identifier) @call)])]
    (variable_declarator (implicit_object_creation_expression (argument_list) @arguments)))
  (property_declaration type: [(identifier) @call (generic_name (identifier) @call) (qualified_name name: (identifier) @call)
    (nullable_type type: [(identifier) @call (generic_name (identifier) @call)])]
    value: (implicit_object_creation_expression (argument_list) @arguments))
  (method_declaration returns: [(identifier) @call (generic_name (identifier) @call)]
    body: (arrow_expression_clause (implicit_object_creation_expression (argument_list) @arguments)))]
; A method as a value, unless it is a local variable; a member of a value is mostly a property.
[(argument (identifier) @handed) (assignment_expression right: (identifier) @handed)
  (initializer_expression (identifier) @handed) (variable_declarator (identifier) . (identifier) @handed .)
  (arrow_expression_clause (identifier) @handed) (return_statement (identifier) @handed)]
([(argument (member_access_expression expression: _ @receiver name: (identifier) @handed))
  (assignment_expression right: (member_access_expression expression: _ @receiver name: (identifier) @handed))
  (initializer_expression (member_access_expression expression: _ @receiver name: (identifier) @handed))
  (variable_declarator (identifier) . (member_access_expression expression: _ @receiver name: (identifier) @handed) .)]
  (#match? @receiver "^(this|[A-Z][A-Za-z0-9_]*)$"))
(assignment_expression "+=" right: (member_access_expression expression: _ @receiver name: (identifier) @handed))
[(method_declaration) (constructor_declaration) (accessor_declaration) (operator_declaration)] @block.own
[(declaration_list) (block) (lambda_expression) (local_function_statement) (for_statement) (foreach_statement) (using_statement)
  (catch_clause)] @block
[(parameter name: (identifier) @bound) (lambda_expression parameters: (implicit_parameter) @bound)
  (variable_declarator name: (identifier) @bound)
  (foreach_statement left: (identifier) @bound) (catch_declaration name: (identifier) @bound)
  (declaration_pattern name: (identifier) @bound) (declaration_expression name: (identifier) @bound)]
(_ type: [(identifier) @reference (generic_name (identifier) @reference) (qualified_name name: (identifier) @reference)])
(method_declaration returns: [(identifier) @reference (generic_name (identifier) @reference)
  (qualified_name name: (identifier) @reference)])
(is_expression right: [(identifier) @reference (generic_name (identifier) @reference)
  (qualified_name name: (identifier) @reference)])
(constant_pattern (identifier) @reference)
(type_parameter_list (type_parameter name: (identifier) @generic))
(as_expression right: [(identifier) @reference (generic_name (identifier) @reference)
  (qualified_name name: (identifier) @reference)])
(type_argument_list [(identifier) @reference (generic_name (identifier) @reference)
  (qualified_name name: (identifier) @reference)])
(attribute name: [(identifier) @reference (qualified_name name: (identifier) @reference)]) @attribute

(using_directive !name [(identifier) (qualified_name)] @source) @import
(using_directive name: (identifier) @alias [(qualified_name) (generic_name)] @source) @import
(comment) @comment

; What variables hold.
[(parameter type: [(identifier) @kind (generic_name (identifier) @kind)
    (nullable_type type: [(identifier) @kind (generic_name (identifier) @kind)])] name: (identifier) @variable)
  (variable_declaration type: [(identifier) @kind (generic_name (identifier) @kind)
      (nullable_type type: [(identifier) @kind (generic_name (identifier) @kind)])]
    (variable_declarator name: (identifier) @variable))
  (variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @variable
    (object_creation_expression type: [(identifier) @kind (generic_name (identifier) @kind)])))
  (foreach_statement type: [(identifier) @kind (generic_name (identifier) @kind)] left: (identifier) @variable)
  (catch_declaration type: (identifier) @kind name: (identifier) @variable)
  (declaration_pattern type: [(identifier) @kind (generic_name (identifier) @kind)] name: (identifier) @variable)
  (declaration_expression type: [(identifier) @kind (generic_name (identifier) @kind)] name: (identifier) @variable)
  (property_declaration type: [(identifier) @kind (generic_name (identifier) @kind)
    (nullable_type type: [(identifier) @kind (generic_name (identifier) @kind)])] name: (identifier) @variable)] @typed
(variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @variable (member_access_expression) @kind)) @held
; What a parameter for types stands for.
((type_parameter_constraints_clause (identifier) @variable (type_parameter_constraint type: [
  (identifier) @kind (generic_name (identifier) @kind) (qualified_name name: [(identifier) @kind (generic_name (identifier) @kind)])
  (nullable_type type: [(identifier) @kind (generic_name (identifier) @kind)])])) @bounded
  (#not-match? @kind "^(notnull|unmanaged)$"))
