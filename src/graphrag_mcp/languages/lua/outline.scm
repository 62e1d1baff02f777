(function_declaration name: (identifier) @name body: (_)? @body) @function
(function_declaration name: (dot_index_expression table: (_) @owner field: (identifier) @name) body: (_)? @body) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name) body: (_)? @body) @method
(assignment_statement (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition body: (_)? @body))) @function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (identifier) @name))
  (expression_list . value: (function_definition body: (_)? @body))) @function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @function
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name))) @constant)
(chunk (assignment_statement (variable_list . name: (identifier) @name)) @constant)
(chunk (assignment_statement (variable_list . name: (dot_index_expression table: (identifier) @owner field: (identifier) @name)))
  @constant)
(function_call name: (identifier) @_test arguments: (arguments . (string) @name (function_definition) @value)
  (#any-of? @_test "it" "test" "spec")) @test

(function_call name: (parenthesized_expression (identifier) @call))
(function_call name: (bracket_index_expression table: (_) @receiver field: (string content: (string_content) @call)))
(function_call name: (identifier) @_protected arguments: (arguments . [(identifier) @call
  (dot_index_expression table: (_) @receiver field: (identifier) @call)])
  (#any-of? @_protected "pcall" "xpcall"))
(function_call name: [
  (identifier) @call
  (dot_index_expression table: (_) @receiver field: (identifier) @call)
  (method_index_expression table: (_) @receiver method: (identifier) @call)])
; A function as a value, unless it is a local variable.
[(arguments [(identifier) @handed (dot_index_expression table: (_) @receiver field: (identifier) @handed)])
  (field value: [(identifier) @handed (dot_index_expression table: (_) @receiver field: (identifier) @handed)])
  (expression_list value: [(identifier) @handed (dot_index_expression table: (_) @receiver field: (identifier) @handed)])]
(return_statement (expression_list [(identifier) @handed
  (dot_index_expression table: (_) @receiver field: (identifier) @handed)]))
[(function_declaration) (function_definition) (for_statement) (do_statement) (if_statement) (while_statement)
  (repeat_statement)] @block
[(parameters name: (identifier) @bound) (for_generic_clause (variable_list name: (identifier) @bound))
  (for_numeric_clause name: (identifier) @bound)
  (variable_declaration (variable_list name: (identifier) @bound))
  (variable_declaration (assignment_statement (variable_list . name: (identifier) @bound)
    (expression_list . value: [(identifier) (function_call) (table_constructor) (string) (number) (nil) (true) (false)
      (binary_expression) (unary_expression) (dot_index_expression) (bracket_index_expression)
      (vararg_expression) (parenthesized_expression)])))]

(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @alias)
  (expression_list . value: [
    (function_call name: (identifier) @_require arguments: (arguments . (string content: (string_content) @source)))
    (dot_index_expression table:
      (function_call name: (identifier) @_require arguments: (arguments . (string content: (string_content) @source))))]))
  (#eq? @_require "require")) @import
(function_call name: (identifier) @_require arguments: (arguments . (string content: (string_content) @source))
  (#eq? @_require "require")) @import
(comment) @comment
