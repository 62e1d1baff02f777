(class_definition name: (identifier) @name body: (_)? @body) @type
(trait_definition name: (identifier) @name body: (_)? @body) @type
(object_definition name: (identifier) @name body: (_)? @body) @type
(enum_definition name: (identifier) @name body: (_) @body) @type
(type_definition name: (type_identifier) @name) @type
(given_definition name: (identifier) @name body: (_)? @body) @type
(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function
(simple_enum_case name: (identifier) @name) @field
(full_enum_case name: (identifier) @name) @field
(class_parameter ["val" "var"] name: (identifier) @name) @field
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (identifier) @name) @field))
(compilation_unit [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)] @constant)
(template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)
  (val_declaration name: (identifier) @name)] @field)
(call_expression function: (call_expression function: (identifier) @_test arguments: (arguments . (string) @name))
  arguments: (block) @body (#any-of? @_test "test" "it" "property" "they")) @test
(infix_expression left: [(string) (infix_expression right: (string))] @name operator: (identifier) @_in right: (block) @body
  (#any-of? @_in "in" "ignore")) @test
(annotation name: (type_identifier) @name) @mark

(extends_clause [(type_identifier) @base (generic_type type: (type_identifier) @base)
  (stable_type_identifier (type_identifier) @base .)])
(derives_clause type: [(type_identifier) @base (stable_type_identifier (type_identifier) @base .)])

(call_expression function: [
  (identifier) @call
  (field_expression value: (_) @receiver field: (identifier) @call)
  (generic_function function: [(identifier) @call (field_expression value: (_) @receiver field: (identifier) @call)])])
(infix_expression left: (_) @receiver operator: (identifier) @call)
(field_expression value: (_) @receiver field: (identifier) @call)
(method_value [(identifier) @handed (field_expression value: (_) @receiver field: (identifier) @handed)])
(arguments (identifier) @handed)
([(interpolation (identifier) @bare) (infix_expression left: (identifier) @bare) (infix_expression right: (identifier) @bare)
  (block (identifier) @bare) (function_definition body: (identifier) @bare) (val_definition value: (identifier) @bare)
  (if_expression (identifier) @bare) (return_expression (identifier) @bare) (prefix_expression (identifier) @bare)
  (parenthesized_expression (identifier) @bare) (field_expression value: (identifier) @bare)])
[(function_definition) (class_definition) (object_definition) (trait_definition) (block) (lambda_expression) (case_clause)
 (for_expression) (template_body) (indented_block)] @block
([(parameter name: (identifier) @bound) (class_parameter name: (identifier) @bound) (binding name: (identifier) @bound)
  (val_definition pattern: (_) @bound) (var_definition pattern: (_) @bound) (lambda_expression parameters: (identifier) @bound)
  (enumerator . (identifier) @bound) (capture_pattern name: (identifier) @bound) (tuple_pattern (identifier) @bound)
  (case_clause pattern: (identifier) @bound) (case_class_pattern pattern: (identifier) @bound)
  (typed_pattern pattern: (identifier) @bound)])
(instance_expression (type_identifier) @call)
(instance_expression (generic_type type: (type_identifier) @call))
(type_identifier) @reference

(import_declaration) @import @source
(comment) @comment
(block_comment) @comment

; What variables hold.
[(class_parameter name: (identifier) @variable type: (type_identifier) @kind)
  (parameter name: (identifier) @variable type: (type_identifier) @kind)
  (val_definition pattern: (identifier) @variable type: (type_identifier) @kind)
  (var_definition pattern: (identifier) @variable type: (type_identifier) @kind)
  (val_definition pattern: (identifier) @variable value: (instance_expression (type_identifier) @kind))] @typed
(val_definition pattern: (identifier) @variable value: (call_expression function: (identifier) @kind)
  (#match? @kind "^[A-Z]")) @typed
(val_definition pattern: (identifier) @variable !type value: (field_expression) @kind) @held
