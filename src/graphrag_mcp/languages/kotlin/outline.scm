(class_declaration name: (identifier) @name [(class_body) (enum_class_body)] @body) @type
(class_declaration name: (identifier) @name) @type
(object_declaration name: (identifier) @name (class_body)? @body) @type
(type_alias type: (identifier) @name) @type
(function_declaration (user_type (identifier) @owner) . name: (identifier) @name (function_body) @body) @function
(function_declaration name: (identifier) @name (function_body) @body) @function
(function_declaration name: (identifier) @name) @function
(secondary_constructor "constructor" @name) @method
(source_file (property_declaration (variable_declaration . (identifier) @name)) @constant)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(enum_entry . (identifier) @name) @field
(class_parameter ["val" "var"] . (identifier) @name) @field

(delegation_specifier [(user_type (identifier) @base) (constructor_invocation (user_type (identifier) @base))])

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

(import (qualified_identifier) @source (identifier)? @alias) @import
(line_comment) @comment
(block_comment) @comment

; What variables hold.
[(class_parameter (identifier) @variable [(user_type (identifier) @kind .) (nullable_type (user_type (identifier) @kind .))])
  (parameter (identifier) @variable [(user_type (identifier) @kind .) (nullable_type (user_type (identifier) @kind .))])
  (variable_declaration (identifier) @variable
    [(user_type (identifier) @kind .) (nullable_type (user_type (identifier) @kind .))])] @typed
(property_declaration (variable_declaration (identifier) @variable .) (call_expression (identifier) @kind)
  (#match? @kind "^[A-Z]")) @made
