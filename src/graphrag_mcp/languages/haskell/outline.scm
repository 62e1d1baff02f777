(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @type
(class name: (_) @name) @type
(instance patterns: (type_patterns . [
  (name) @name
  (parens (apply constructor: (name) @name))
  (parens (apply constructor: (apply constructor: (name) @name)))])) @scope
(instance name: (name) @name) @scope
(data_constructor [
  (prefix name: (constructor) @name)
  (record name: (constructor) @name)
  (infix operator: (constructor_operator) @name)]) @constant
(newtype_constructor name: (constructor) @name) @constant
(field name: (field_name (variable) @name)) @field

(declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @function)
(declarations (function name: [(variable) @name (prefix_id (operator) @name)]) @function)
(declarations (function (infix operator: (operator) @name)) @function)
(declarations (bind name: (variable) @name) @function)
(class_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @method)
(class_declarations (function name: (variable) @name) @method)
(class_declarations (bind name: (variable) @name) @method)
(instance_declarations (function name: (variable) @name) @method)
(instance_declarations (bind name: (variable) @name) @method)
(infix left_operand: (apply function: (variable) @_test argument: (literal (string)) @name) operator: (operator) @_applies
  (#any-of? @_test "it" "prop" "testCase" "testProperty" "specify") (#any-of? @_applies "$")) @test

(instance name: (name) @base)
(deriving classes: [(name) @base (_ (name) @base)
  (_ (qualified module: (module) @receiver id: (name) @base))])
(deriving_instance name: (name) @base patterns: (type_patterns . (name) @below))
(apply function: [(variable) @call (qualified module: (module) @receiver id: (variable) @call)])
(infix left_operand: (variable) @call operator: (operator) @_applies
  (#any-of? @_applies "$" "$!" "<$>" "." "=<<" "<$!>" "<=<" ">=>" "`seq`"))
(infix operator: (operator) @_applies right_operand: (variable) @call
  (#any-of? @_applies "." ">>=" "&" "<&>" ">=>" "<=<" "=<<"))
(infix_id [(variable) @call (qualified module: (module) @receiver id: (variable) @call)])
(name) @reference
(constructor) @reference

(import module: (module) @source alias: (module)? @alias) @import
(import module: (module) @source names: (import_list name: (import_name . (_) @item))) @import
(comment) @comment
(haddock) @comment
