(class_declaration name: (type_identifier) @name body: (_) @body) @type
(class_declaration "extension" name: (user_type (type_identifier) @name .) body: (_) @body) @scope
(protocol_declaration name: (type_identifier) @name body: (_) @body) @type
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(function_declaration) @function
(protocol_function_declaration) @method
(init_declaration "init" @name body: (_)? @body) @method
(deinit_declaration "deinit" @name body: (_) @body) @method
(subscript_declaration "subscript" @name) @method
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @constant)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field
(enum_entry name: (simple_identifier) @name) @field
(attribute (user_type (type_identifier) @name .)) @mark

(inheritance_specifier inherits_from: (user_type (type_identifier) @base .))

(call_expression . [
  (simple_identifier) @call
  (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @call))])
; The grammar takes the prefix of a call for a part of the function, and a function with type arguments for a type.
(call_expression . (prefix_expression [(bang) "-" "+" "~" "&"] target: [(simple_identifier) @call
  (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @call))]))
(call_expression . (prefix_expression "." @receiver target: (simple_identifier) @call))
(constructor_expression constructed_type: (user_type (type_identifier) @call .))
(constructor_expression constructed_type: (user_type (type_identifier) @call . (type_arguments) .))
(user_type (type_identifier) @reference)
; A type as a value, or before one of its members; a method as a value.
(navigation_expression target: (simple_identifier) @reference (#match? @reference "^[A-Z]"))
(navigation_expression target: (simple_identifier) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @handed)
  (#match? @receiver "^[A-Z]") (#not-eq? @handed "self"))

(import_declaration (identifier) @source) @import
(comment) @comment
(multiline_comment) @comment

; Where variables begin, and the blocks that have their own; `if let a` and `if let a = a` keep the type of `a`.
[(function_declaration) (init_declaration) (class_body)] @block.own
[(lambda_literal) (for_statement) (if_statement) (while_statement) (do_statement) (repeat_while_statement) (switch_entry)
  (catch_block)] @block
(parameter name: (simple_identifier) @bound)
(lambda_parameter name: (simple_identifier) @bound)
(pattern bound_identifier: (simple_identifier) @bound)
(pattern . (simple_identifier) @bound .)
((_ bound_identifier: (simple_identifier) @bound . "=" . (_) @_value) (#not-eq? @bound @_value))

; What variables hold.
[(parameter name: (simple_identifier) @variable . (parameter_modifiers)? . [(user_type . (type_identifier) @kind . (type_arguments)? .)
    (user_type (type_identifier) . (type_identifier)) @kind
    (optional_type (user_type . (type_identifier) @kind . (type_arguments)? .))
    [(opaque_type (user_type . (type_identifier) @kind . (type_arguments)? .))
      (existential_type (user_type . (type_identifier) @kind . (type_arguments)? .))]])
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @variable)
    (type_annotation [(user_type . (type_identifier) @kind . (type_arguments)? .) (user_type (type_identifier) . (type_identifier)) @kind
      (optional_type (user_type . (type_identifier) @kind . (type_arguments)? .))
      (existential_type (user_type . (type_identifier) @kind . (type_arguments)? .))]))
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @variable)
    value: (call_expression . (simple_identifier) @kind) (#match? @kind "^[A-Z]"))] @typed
(property_declaration name: (pattern bound_identifier: (simple_identifier) @variable) value: (navigation_expression) @kind) @held
; What a parameter for types stands for.
([(type_parameter . (type_identifier) @variable (user_type (type_identifier) @kind . (type_arguments)? .))
  (type_constraint (inheritance_constraint constrained_type: (identifier . (simple_identifier) @variable .)
    (user_type (type_identifier) @kind . (type_arguments)? .)))] @bounded
  (#not-match? @kind "^(AnyObject|Sendable)$"))
