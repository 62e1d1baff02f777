(variable_declaration . (identifier) @name
  [(struct_declaration) (enum_declaration) (union_declaration) (opaque_declaration) (error_set_declaration)]) @type
(function_declaration name: (identifier) @name body: (_)? @body) @function
(test_declaration [(string) (identifier)] @name (block) @body) @test
(container_field name: (identifier) @name) @field
(source_file (variable_declaration . (identifier) @name) @constant)
(struct_declaration (variable_declaration . (identifier) @name) @constant)
(enum_declaration (variable_declaration . (identifier) @name) @constant)

(call_expression function: [(identifier) @call (field_expression object: (_) @receiver member: (identifier) @call)])
; The grammar takes the `!` before a call for a part of the function.
(call_expression function: (error_union_type ok: [(identifier) @call (field_expression object: (_) @receiver member: (identifier) @call)]))
(struct_initializer . (identifier) @call)
(parameter type: (identifier) @reference)
(pointer_type (identifier) @reference)
(function_declaration type: (identifier) @reference)

(variable_declaration . (identifier) @alias
  (builtin_function (builtin_identifier) @_import (arguments (string (string_content) @source)))
  (#eq? @_import "@import")) @import
(variable_declaration . (identifier) @alias
  (field_expression object: (builtin_function (builtin_identifier) @_import (arguments (string (string_content) @source)))
    member: (identifier) @item)
  (#eq? @_import "@import")) @import
(comment) @comment
