; What JavaScript and TypeScript have in common.

(function_declaration name: (identifier) @name body: (_) @body) @function
(generator_function_declaration name: (identifier) @name body: (_) @body) @function
(variable_declarator name: (identifier) @name value: (arrow_function) @value) @function
(variable_declarator name: (identifier) @name value: [(function_expression) (generator_function)] @value) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name body: (_) @body) @method

; Members of an object that is given a name, exported or returned.
(variable_declarator value: (object (pair key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function) (function_expression) (generator_function)] @value) @method))
(assignment_expression right: (object (pair key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function) (function_expression) (generator_function)] @value) @method))
(export_statement value: (object (pair key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function) (function_expression) (generator_function)] @value) @method))
(return_statement (object (pair key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function) (function_expression) (generator_function)] @value) @method))
(pair key: (property_identifier) @name value: (class !name) @value) @type
(pair value: (class name: (_) @name body: (_) @body)) @type

; Tests that are known by their titles.
(call_expression
  function: [(identifier) @_test (member_expression object: (identifier) @_test)
    (member_expression property: (property_identifier) @_test)
    (call_expression function: (member_expression object: (identifier) @_test))]
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)
    (call_expression arguments: (arguments [(arrow_function) (function_expression)]))])
  (#any-of? @_test "it" "test" "specify" "fit" "xit" "xtest")) @test

; module.exports = function name: a module that is a function has the function's own name.
(assignment_expression left: [(member_expression property: (property_identifier) @_exports) (identifier) @_exports]
  right: [(function_expression name: (identifier) @name body: (_) @body)
    (generator_function name: (identifier) @name body: (_) @body)] (#eq? @_exports "exports")) @function
; a.b = function
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [(arrow_function) (function_expression !name) (generator_function !name)] @value) @function
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [(function_expression name: (_)) (generator_function name: (_))] @value (#not-eq? @name "exports")) @function
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: (class !name) @value) @type

; What has no name is exported as "default".
(export_statement "default" @name value: (class) @value) @type
(export_statement "default" @name
  value: [(arrow_function) (function_expression) (generator_function)] @value) @function

(program (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
(program (variable_declaration (variable_declarator name: (identifier) @name) @constant))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @constant)))

(program (export_statement declaration: (_ (variable_declarator name: [
  (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)])
  (array_pattern (identifier) @name)]) @constant)))

(export_statement declaration: (_)) @wrapper
(program (lexical_declaration) @wrapper)
(export_statement (lexical_declaration) @wrapper)
(lexical_declaration (variable_declarator
  value: [(arrow_function) (function_expression) (generator_function) (class)])) @wrapper
(decorator) @decorator

(call_expression function: [(identifier) @call
  (member_expression object: (_) @receiver property: [(property_identifier) (private_property_identifier)] @call)])
(call_expression function: (parenthesized_expression [(identifier) @call
  (member_expression object: (_) @receiver property: (property_identifier) @call)
  (sequence_expression [(identifier) @call (member_expression object: (_) @receiver property: (property_identifier) @call)] .)]))
(call_expression function: (member_expression object: [(identifier) @call
  (member_expression object: (_) @receiver property: (property_identifier) @call)] property: (property_identifier) @_method)
  (#any-of? @_method "call" "apply" "bind"))
(decorator [(identifier) @call (member_expression object: (_) @receiver property: (property_identifier) @call)])
(new_expression constructor: [(identifier) @call
  (member_expression object: (_) @receiver property: (property_identifier) @call)])

(import_statement (import_clause (identifier) @alias) source: (string) @source) @import
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @source) @import
(import_statement (import_clause (named_imports)) source: (string) @source) @import
(import_specifier name: (_) @item alias: (identifier)? @alias)
(import_statement . source: (string) @source) @import
(export_statement (export_clause) source: (string) @source) @import
(export_specifier name: (_) @item)
(export_statement "*" source: (string) @source) @import
(variable_declarator name: (identifier) @alias
  value: [
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @source))
    (member_expression object:
      (call_expression function: (identifier) @_require arguments: (arguments . (string) @source)))]
  (#eq? @_require "require")) @import
(variable_declarator name: (object_pattern [
  (shorthand_property_identifier_pattern) @item
  (pair_pattern key: (property_identifier) @item value: (identifier) @alias)]))
(variable_declarator name: (object_pattern)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @source))
  (#eq? @_require "require")) @import
(call_expression function: [(identifier) (import)] @_require arguments: (arguments . (string) @source)
  (#any-of? @_require "require" "import")) @import

(comment) @comment
