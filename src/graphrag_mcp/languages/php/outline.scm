(class_declaration name: (name) @name body: (_) @body) @type
(interface_declaration name: (name) @name body: (_) @body) @type
(trait_declaration name: (name) @name body: (_) @body) @type
(enum_declaration name: (name) @name body: (_) @body) @type
(function_definition name: (name) @name body: (_) @body) @function
(method_declaration name: (name) @name body: (_)? @body) @method
(const_element . (name) @name) @constant
(property_declaration (property_element name: (variable_name (name) @name))) @field
(enum_case name: (name) @name) @field
(property_promotion_parameter name: (variable_name (name) @name)) @parameter
(function_call_expression function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name))) (#eq? @_define "define")) @constant
(function_call_expression function: (name) @_test
  arguments: (arguments . (argument [(string) (encapsed_string)] @name)
    (argument [(anonymous_function) (arrow_function)] @value)) (#any-of? @_test "it" "test")) @test
(attribute_group (attribute [(name) @name (qualified_name (name) @name)])) @mark

(base_clause [(name) @base (qualified_name (name) @base)])
(class_interface_clause [(name) @base (qualified_name (name) @base)])
(declaration_list (use_declaration [(name) @base (qualified_name (name) @base)]))

(function_call_expression function: [(name) @call (qualified_name (name) @call)])
(member_call_expression object: (_) @value name: (name) @call)
(member_call_expression object: [(parenthesized_expression (object_creation_expression [(name) (qualified_name)] @receiver))
  (object_creation_expression [(name) (qualified_name)] @receiver)] name: (name) @call)
(nullsafe_member_call_expression object: (_) @value name: (name) @call)
(scoped_call_expression scope: [(name) (qualified_name) (relative_scope)] @receiver name: (name) @call)
(scoped_call_expression scope: [(variable_name) (member_access_expression) (nullsafe_member_access_expression)
  (subscript_expression) (parenthesized_expression) (function_call_expression) (member_call_expression)
  (scoped_call_expression) (scoped_property_access_expression)] @value name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call)])
(object_creation_expression (name) @call.base (#any-of? @call.base "self" "static" "parent"))
; A callable as an array: `[$this, 'add']`.
(array_creation_expression . (array_element_initializer [(variable_name) @receiver (member_access_expression) @receiver
    (class_constant_access_expression . (_) @receiver)])
  . (array_element_initializer (string (string_content) @handed)) .)
(named_type [(name) @reference (qualified_name (name) @reference)])
(class_constant_access_expression . [(name) @reference (qualified_name (name) @reference)])
(attribute [(name) @reference (qualified_name (name) @reference)])
(binary_expression operator: "instanceof" right: [(name) @reference (qualified_name (name) @reference)])

(namespace_use_declaration) @import @source
(namespace_definition name: (_) @namespace)
[(require_expression [(string (string_content) @source) (binary_expression right: (string (string_content) @source))])
 (require_once_expression [(string (string_content) @source) (binary_expression right: (string (string_content) @source))])
 (include_expression [(string (string_content) @source) (binary_expression right: (string (string_content) @source))])
 (include_once_expression
   [(string (string_content) @source) (binary_expression right: (string (string_content) @source))])] @import.file
(comment) @comment

; Where variables begin, and the functions that have their own.
[(function_definition) (method_declaration) (anonymous_function)] @block.own
(arrow_function) @block
(simple_parameter name: (variable_name (name) @bound))
(assignment_expression left: (variable_name (name) @bound))
(foreach_statement (_) . (variable_name (name) @bound))
[(catch_clause name: (variable_name (name) @bound)) (list_literal (variable_name (name) @bound))
  (pair (variable_name (name) @bound)) (global_declaration (variable_name (name) @bound))
  (static_variable_declaration name: (variable_name (name) @bound))]

; What variables hold.
([(simple_parameter type: [(named_type [(name) (qualified_name)] @kind) (optional_type (named_type [(name) (qualified_name)] @kind))]
    name: (variable_name (name) @variable))
  (property_promotion_parameter type: [(named_type [(name) (qualified_name)] @kind)
    (optional_type (named_type [(name) (qualified_name)] @kind))] name: (variable_name (name) @variable))
  (property_declaration type: [(named_type [(name) (qualified_name)] @kind)
    (optional_type (named_type [(name) (qualified_name)] @kind))] (property_element name: (variable_name (name) @variable)))]) @typed
(assignment_expression left: (variable_name (name) @variable)
  right: (object_creation_expression [(name) (qualified_name)] @kind)) @made
(assignment_expression left: (member_access_expression object: (variable_name) name: (name) @variable)
  right: (object_creation_expression [(name) (qualified_name)] @kind)) @made.own
