; Definitions
(class_definition name: (identifier) @name body: (_) @body) @type
(function_definition name: (identifier) @name body: (_) @body) @function
(decorated_definition) @wrapper
(module (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant)
(module (expression_statement (assignment right: (assignment left: (identifier) @name))) @constant)
; What a module declares in blocks.
(module [
  (_ consequence: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))
  (_ [(else_clause (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant)) (elif_clause (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant)) (except_clause (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))])
  (try_statement body: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))
  (with_statement body: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))
  (_ consequence: (block (_ consequence: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))))
  (_ consequence: (block (_ [(else_clause (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant)) (elif_clause (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant)) (except_clause (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))])))
  (_ [(else_clause (block (_ consequence: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant)))) (except_clause (block (_ consequence: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @constant))))])])
(module (type_alias_statement left: (type (identifier) @name)) @type)
(class_definition body: (block [(expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)])) @field
  (_ consequence: (block (expression_statement (assignment left: (identifier) @name)) @field))
  (_ (else_clause (block (expression_statement (assignment left: (identifier) @name)) @field)))]))
(class_definition body: (block . (expression_statement . (string (string_content) @doc))))
(function_definition body: (block . (expression_statement . (string (string_content) @doc))))

; References
(class_definition superclasses: (argument_list [(identifier) @base (attribute object: (_) @receiver attribute: (identifier) @base)
  (subscript value: [(identifier) @base (attribute object: (_) @receiver attribute: (identifier) @base)])]))
(call function: [(identifier) @call (attribute object: (_) @receiver attribute: (identifier) @call)])
(decorator [(identifier) @call (attribute object: (_) @receiver attribute: (identifier) @call)])
(type [(identifier) @reference (attribute attribute: (identifier) @reference)
  (generic_type (identifier) @reference)
  (binary_operator [(identifier) @reference (attribute attribute: (identifier) @reference)])])

; Imports
(import_statement name: [(dotted_name) @source (aliased_import name: (dotted_name) @source alias: (identifier) @alias)]) @import
(import_from_statement module_name: (_) @source name: [(dotted_name) @item
  (aliased_import name: (dotted_name) @item alias: (identifier) @alias)]) @import
(import_from_statement module_name: (_) @source (wildcard_import)) @import

(comment) @comment
