(class name: [(constant) (scope_resolution)] @name body: (_)? @body) @type
(module name: [(constant) (scope_resolution)] @name body: (_)? @body) @module
(module body: (body_statement (method name: (_) @name body: (_)? @body) @method))
(module body: (body_statement (singleton_method name: (_) @name body: (_)? @body) @method))
(method name: (_) @name body: (_)? @body) @function
(singleton_method name: (_) @name body: (_)? @body) @function
(assignment left: (constant) @name) @constant
(call method: (identifier) @_attribute arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_attribute "attr_reader" "attr_writer" "attr_accessor")) @field
(alias name: (_) @name) @method

(superclass [(constant) @base (scope_resolution name: (constant) @base)])
(call method: (identifier) @_mixin arguments: (argument_list [(constant) @base (scope_resolution name: (constant) @base)])
  (#any-of? @_mixin "include" "extend" "prepend"))

(call receiver: (_)? @receiver method: [(identifier) (constant)] @call)
(call receiver: [(constant) @call (scope_resolution name: (constant) @call)] method: (identifier) @_new (#eq? @_new "new"))
(call receiver: (constant) @reference)
(scope_resolution name: (constant) @reference)

(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @source))
  (#any-of? @_require "require" "load" "autoload")) @import
(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @source))
  (#eq? @_require "require_relative")) @import.file
(comment) @comment
