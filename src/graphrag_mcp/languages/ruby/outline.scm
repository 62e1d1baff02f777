(class name: [(constant) (scope_resolution)] @name body: (_)? @body) @type
(module name: [(constant) (scope_resolution)] @name body: (_)? @body) @module
(module body: (body_statement (method name: (_) @name body: (_)? @body) @method))
(module body: (body_statement (singleton_method name: (_) @name body: (_)? @body) @method))
(module body: (body_statement (call !receiver arguments: (argument_list (method name: (_) @name body: (_)? @body) @method))))
(method name: (_) @name body: (_)? @body) @function
(singleton_method name: (_) @name body: (_)? @body) @function
(assignment left: (constant) @name) @constant
(call method: (identifier) @_attribute arguments: (argument_list [(simple_symbol) @name (string (string_content) @name)])
  (#any-of? @_attribute "attr_reader" "attr_accessor" "attr")) @field
(call method: (identifier) @_attribute arguments: (argument_list [(simple_symbol) @name (string (string_content) @name)])
  (#any-of? @_attribute "attr_writer" "attr_accessor")) @setter
(call method: (identifier) @_define arguments: (argument_list . [(simple_symbol) @name (string (string_content) @name)])
  (#any-of? @_define "define_method" "define_singleton_method" "alias_method")) @method
(alias name: (_) @name) @method
(call !receiver method: (identifier) @_test arguments: (argument_list . (string) @name) block: (_) @body
  (#any-of? @_test "it" "test" "specify" "example" "scenario" "should")) @test

(superclass [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])
; A mixin is a statement; as an argument, `include` is a matcher of RSpec.
([
  (body_statement (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (program (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (block_body (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (then (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (else (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (begin (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (ensure (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (if_modifier body: (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (unless_modifier body: (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
  (rescue_modifier body: (call !receiver method: (identifier) @_mixin
    arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])))
] (#any-of? @_mixin "include" "extend"))
(call receiver: [(constant) @below (scope_resolution name: (constant) @below)] method: (identifier) @_mixin
  arguments: (argument_list [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)])
  (#any-of? @_mixin "include" "extend"))
; What is prepended comes before the type, as what is below it does.
(call receiver: [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)] method: (identifier) @_mixin
  arguments: (argument_list [(constant) @below (scope_resolution name: (constant) @below)]) (#eq? @_mixin "prepend"))
([(class name: [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)] body: (body_statement
    (call !receiver method: (identifier) @_mixin
      arguments: (argument_list [(constant) @below (scope_resolution name: (constant) @below)]))))
  (module name: [(constant) @base (scope_resolution scope: (_)? @receiver name: (constant) @base)] body: (body_statement
    (call !receiver method: (identifier) @_mixin
      arguments: (argument_list [(constant) @below (scope_resolution name: (constant) @below)]))))]
  (#eq? @_mixin "prepend"))

(call receiver: (_)? @receiver method: [(identifier) (constant)] @call)
(call receiver: (call receiver: [(constant) (scope_resolution) (identifier)] @receiver method: (identifier) @_new)
  method: (identifier) @call (#eq? @_new "new") (#match? @receiver "^([A-Z:]|described_class$)"))
[(assignment left: (call receiver: (_) method: (identifier) @set))
  (left_assignment_list (call receiver: (_) method: (identifier) @set))]
(operator_assignment left: (call receiver: (_) method: (identifier) @set.read))
(block_argument (simple_symbol) @call)
(alias alias: (identifier) @call)
(call method: (identifier) @_send arguments: (argument_list . (simple_symbol) @call)
  (#any-of? @_send "send" "public_send" "__send__" "try" "try!"))
(call method: (identifier) @_reflect arguments: (argument_list . (simple_symbol) @handed) (#any-of? @_reflect
  "method" "instance_method" "public_method" "private" "public" "protected" "private_class_method" "module_function"))
(call method: (identifier) @_alias arguments: (argument_list . (_) . [(simple_symbol) @handed (string (string_content) @handed)])
  (#eq? @_alias "alias_method"))
(call method: (identifier) @_callback arguments: (argument_list (simple_symbol) @handed)
  (#match? @_callback "^((skip_|prepend_|append_)?(before|after|around)_[a-z_]+|validate|helper_method|delegate|rescue_from|set_callback)$"))
(pair key: (hash_key_symbol) @_option value: (simple_symbol) @handed (#any-of? @_option "if" "unless" "with"))

; A name by itself is a call, unless it is a local variable. Where it may stand is listed, since most identifiers in a
; file are names of what is called with arguments or a receiver.
(call receiver: (identifier) @bare)
([(argument_list (identifier) @bare) (element_reference (identifier) @bare) (interpolation (identifier) @bare)
  (body_statement (identifier) @bare) (block_body (identifier) @bare) (then (identifier) @bare) (else (identifier) @bare)
  (do (identifier) @bare) (ensure (identifier) @bare) (begin (identifier) @bare) (program (identifier) @bare)
  (parenthesized_statements (identifier) @bare) (begin_block (identifier) @bare) (end_block (identifier) @bare)
  (array (identifier) @bare) (pair (identifier) @bare) (pair key: (hash_key_symbol) @bare !value) (range (identifier) @bare) (right_assignment_list (identifier) @bare)
  (splat_argument (identifier) @bare) (hash_splat_argument (identifier) @bare) (block_argument (identifier) @bare)
  (binary (identifier) @bare) (unary (identifier) @bare) (conditional (identifier) @bare)
  (if condition: (identifier) @bare) (unless condition: (identifier) @bare) (elsif condition: (identifier) @bare)
  (while condition: (identifier) @bare) (until condition: (identifier) @bare) (in (identifier) @bare)
  (if_modifier (identifier) @bare) (unless_modifier (identifier) @bare) (while_modifier (identifier) @bare)
  (until_modifier (identifier) @bare) (rescue_modifier (identifier) @bare) (pattern (identifier) @bare)
  (case value: (identifier) @bare) (case_match value: (identifier) @bare) (test_pattern value: (identifier) @bare)
  (match_pattern value: (identifier) @bare) (singleton_class value: (identifier) @bare)
  (assignment right: (identifier) @bare) (operator_assignment (identifier) @bare)
  (optional_parameter value: (identifier) @bare) (keyword_parameter value: (identifier) @bare)
  (method body: (identifier) @bare) (singleton_method body: (identifier) @bare)
  (if_guard condition: (identifier) @bare) (unless_guard condition: (identifier) @bare) (exceptions (identifier) @bare)])
(call receiver: (_) method: (identifier) @_eval block: (_) @receiving
  (#any-of? @_eval "instance_eval" "instance_exec" "class_eval" "class_exec" "module_eval" "module_exec"))
[(method) (singleton_method) (class) (singleton_class) (module)] @block.own
[(block) (do_block) (lambda)] @block
(assignment left: (identifier) @bound)
(operator_assignment left: (identifier) @bound)
([(left_assignment_list (identifier) @bound) (destructured_left_assignment (identifier) @bound)
  (rest_assignment (identifier) @bound)])
(for pattern: (identifier) @bound)
(exception_variable (identifier) @bound)
([(method_parameters (identifier) @bound) (block_parameters (identifier) @bound) (lambda_parameters (identifier) @bound)
  (destructured_parameter (identifier) @bound)])
([(optional_parameter name: (_) @bound) (keyword_parameter name: (_) @bound) (splat_parameter name: (_) @bound)
  (hash_splat_parameter name: (_) @bound) (block_parameter name: (_) @bound)])
(keyword_pattern key: (_) @bound !value)
(keyword_pattern value: (identifier) @bound)
([(as_pattern name: (identifier) @bound) (array_pattern (identifier) @bound) (find_pattern (identifier) @bound)
  (in_clause pattern: (identifier) @bound)])

(call receiver: [(constant) @call (scope_resolution name: (constant) @call)] method: (identifier) @_new (#eq? @_new "new"))
(call receiver: (identifier) @call method: (identifier) @_new (#eq? @_new "new") (#eq? @call "described_class"))
(call receiver: (constant) @reference)
(call method: (identifier) @_mixin arguments: (argument_list (constant) @reference) (#eq? @_mixin "prepend"))
(scope_resolution name: (constant) @reference)
([(argument_list (constant) @reference) (array (constant) @reference) (pair value: (constant) @reference)
  (binary (constant) @reference) (unary (constant) @reference) (conditional (constant) @reference)
  (assignment right: (constant) @reference) (operator_assignment right: (constant) @reference)
  (right_assignment_list (constant) @reference) (splat_argument (constant) @reference) (exceptions (constant) @reference)
  (pattern (constant) @reference) (range (constant) @reference) (element_reference (constant) @reference)
  (optional_parameter value: (constant) @reference) (keyword_parameter value: (constant) @reference)
  (body_statement (constant) @reference) (block_body (constant) @reference) (then (constant) @reference)
  (else (constant) @reference) (parenthesized_statements (constant) @reference) (method body: (constant) @reference)
  (interpolation (constant) @reference) (in_clause pattern: (constant) @reference) (case value: (constant) @reference)])

(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @source))
  (#any-of? @_require "require" "load" "autoload")) @import
(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @source))
  (#eq? @_require "require_relative")) @import.file
(comment) @comment

; What variables hold.
(assignment left: (identifier) @variable right: (call receiver: [(constant) (scope_resolution)] @kind method: (identifier) @_new)
  (#eq? @_new "new")) @made
(assignment left: (instance_variable) @variable
  right: (call receiver: [(constant) (scope_resolution)] @kind method: (identifier) @_new) (#eq? @_new "new")) @made.own

; RSpec.
(call method: (identifier) @_describe arguments: (argument_list . [(constant) (scope_resolution)] @kind) block: (_)
  (#any-of? @_describe "describe" "context" "xdescribe" "fdescribe" "xcontext" "fcontext" "feature" "shared_examples")) @described
(call !receiver method: (identifier) @_let arguments: (argument_list . (simple_symbol) @variable)
  block: (_ body: (_ . (call receiver: [(constant) (scope_resolution) (identifier)] @kind method: (identifier) @_new) .))
  (#any-of? @_let "let" "let!" "subject" "subject!") (#match? @kind "^([A-Z:]|described_class$)") (#eq? @_new "new")) @made
(call !receiver method: (identifier) @variable !arguments
  block: (_ body: (_ . (call receiver: [(constant) (scope_resolution) (identifier)] @kind method: (identifier) @_new) .))
  (#eq? @variable "subject") (#match? @kind "^([A-Z:]|described_class$)") (#eq? @_new "new")) @made
