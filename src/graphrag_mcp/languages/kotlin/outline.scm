(class_declaration name: (identifier) @name [(class_body) (enum_class_body)] @body) @type
(class_declaration name: (identifier) @name) @type
(object_declaration name: (identifier) @name (class_body)? @body) @type
(companion_object name: (identifier) @name (class_body)? @body) @type
(type_alias type: (identifier) @name) @type
(function_declaration (user_type (identifier) @owner) . name: (identifier) @name (function_body) @body) @function
(function_declaration name: (identifier) @name (function_body) @body) @function
(function_declaration name: (identifier) @name) @function
(secondary_constructor "constructor" @name) @method
(source_file (property_declaration (variable_declaration . (identifier) @name)) @constant)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(enum_entry . (identifier) @name) @field
(class_parameter ["val" "var"] . (identifier) @name) @field
(annotation [(user_type (identifier) @name .) (constructor_invocation (user_type (identifier) @name .))]) @mark

; What a companion without a name implements is not what the type around it does.
([(class_declaration (delegation_specifiers (delegation_specifier [(user_type . (identifier) @base . (type_arguments)? .)
    (_ . (user_type . (identifier) @base . (type_arguments)? .))])))
  (object_declaration (delegation_specifiers (delegation_specifier [(user_type . (identifier) @base . (type_arguments)? .)
    (_ . (user_type . (identifier) @base . (type_arguments)? .))])))
  (companion_object name: (_) (delegation_specifiers (delegation_specifier [
    (user_type . (identifier) @base . (type_arguments)? .) (_ . (user_type . (identifier) @base . (type_arguments)? .))])))
  (object_literal (delegation_specifiers (delegation_specifier [(user_type . (identifier) @base . (type_arguments)? .)
    (_ . (user_type . (identifier) @base . (type_arguments)? .))])))])
([(class_declaration (delegation_specifiers (delegation_specifier [
    (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .)
    (_ . (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .))])))
  (object_declaration (delegation_specifiers (delegation_specifier [
    (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .)
    (_ . (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .))])))
  (companion_object name: (_) (delegation_specifiers (delegation_specifier [
    (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .)
    (_ . (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .))])))
  (object_literal (delegation_specifiers (delegation_specifier [
    (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .)
    (_ . (user_type (identifier) @receiver . (identifier) @base . (type_arguments)? .))])))])

(call_expression . [(identifier) @call (navigation_expression (_) @receiver (identifier) @call .)])
; The grammar takes the prefix of a call for a part of the function, and type arguments for comparisons.
(call_expression . (unary_expression argument: (identifier) @call))
(call_expression . (unary_expression argument: (unary_expression argument: (identifier) @call)))
(call_expression . (unary_expression argument: (navigation_expression (_) @receiver (identifier) @call .)))
(binary_expression left: (binary_expression left: [(identifier) @call (navigation_expression (_) @receiver (identifier) @call .)] "<")
  operator: ">" right: (parenthesized_expression))
(infix_expression . (_) @receiver . (identifier) @call)
(callable_reference (identifier) @handed .)
(navigation_expression (_) @receiver "::" (identifier) @handed . (#not-eq? @handed "class"))
(user_type (identifier) @reference)
; An object as a value, and a type before one of its members.
([(value_argument (identifier) @reference .) (navigation_expression (identifier) @reference)]
  (#match? @reference "^[A-Z]"))

(import (qualified_identifier) @source (identifier)? @alias) @import
(line_comment) @comment
(block_comment) @comment

; In these blocks a bare call may be of the value that the block is given.
(call_expression
  [(identifier) @_name (navigation_expression (identifier) @_name .)
   (call_expression . [(identifier) @_name (navigation_expression (identifier) @_name .)])]
  [(annotated_lambda) @receiving (value_arguments (value_argument (lambda_literal) @receiving .) .)]
  (#any-of? @_name "apply" "run" "with" "buildString" "buildList" "buildSet" "buildMap"))
(binary_expression left: (binary_expression left: (navigation_expression (identifier) @_name .)) operator: ">"
  right: (lambda_literal) @receiving (#any-of? @_name "apply" "run"))

; Where variables begin, and the blocks that have their own.
[(function_declaration) (secondary_constructor) (class_body)] @block.own
[(lambda_literal) (anonymous_function) (block) (for_statement) (when_expression) (catch_block)] @block
(variable_declaration . (identifier) @bound)
(parameter . (identifier) @bound)
(catch_block . (identifier) @bound)

; What variables hold.
[(class_parameter (identifier) @variable [(user_type . (identifier) @kind . (type_arguments)? .) (user_type (identifier) . (identifier)) @kind
    (nullable_type [(user_type . (identifier) @kind . (type_arguments)? .) (user_type (identifier) . (identifier)) @kind])])
  (parameter (identifier) @variable [(user_type . (identifier) @kind . (type_arguments)? .) (user_type (identifier) . (identifier)) @kind
    (nullable_type [(user_type . (identifier) @kind . (type_arguments)? .) (user_type (identifier) . (identifier)) @kind])])
  (variable_declaration (identifier) @variable [(user_type . (identifier) @kind . (type_arguments)? .) (user_type (identifier) . (identifier)) @kind
    (nullable_type [(user_type . (identifier) @kind . (type_arguments)? .) (user_type (identifier) . (identifier)) @kind])])] @typed
(property_declaration (variable_declaration (identifier) @variable .) (call_expression . (identifier) @kind)
  (#match? @kind "^[A-Z]")) @typed
(property_declaration (variable_declaration (identifier) @variable .) (navigation_expression) @kind) @held
; What a parameter for types stands for.
([(type_parameter (identifier) @variable (user_type (identifier) @kind . (type_arguments)? .))
  (type_constraint (identifier) @variable (user_type (identifier) @kind . (type_arguments)? .))
  (type_parameter (identifier) @variable (nullable_type (user_type (identifier) @kind . (type_arguments)? .)))] @bounded
  (#not-eq? @kind "Any"))
