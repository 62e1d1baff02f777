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
