(struct_item name: (type_identifier) @name body: (_)? @body) @type
(enum_item name: (type_identifier) @name body: (_) @body) @type
(union_item name: (type_identifier) @name body: (_) @body) @type
(trait_item name: (type_identifier) @name body: (_) @body) @type
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(impl_item type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: [(type_identifier) @name (generic_type type: (type_identifier) @name) (array_type) @name])
    (dynamic_type trait: [(type_identifier) @name (generic_type type: (type_identifier) @name)])
    [(primitive_type) (array_type) (tuple_type) (unit_type)] @name]
  body: (_)? @body) @scope
(mod_item name: (identifier) @name body: (_) @body) @module
(function_item name: (identifier) @name body: (_) @body) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name) @function
((const_item name: (identifier) @name) @constant (#not-eq? @name "_"))
(static_item name: (identifier) @name) @constant
(enum_variant name: (identifier) @name) @field
(struct_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @field))
((attribute_item (attribute [(identifier) @_test (scoped_identifier name: (identifier) @_test)])) @decorator.test
  (#any-of? @_test "test" "rstest" "test_case" "quickcheck"))
(attribute_item) @decorator
(attribute_item (attribute [(identifier) @name (scoped_identifier name: (identifier) @name)])) @mark

(impl_item trait: [(type_identifier) @base (generic_type type: (type_identifier) @base)
  (scoped_type_identifier name: (type_identifier) @base)])
(trait_item bounds: (trait_bounds [(type_identifier) @base (generic_type type: (type_identifier) @base)
  (scoped_type_identifier name: (type_identifier) @base)]))
([(attribute_item (attribute (identifier) @_derive
    arguments: (token_tree (identifier) @base . ["," ")"])))
  (attribute_item (attribute (identifier) @_derive
    arguments: (token_tree (identifier) @receiver . "::" . (identifier) @base . ["," ")"])))
  (attribute_item (attribute (identifier) @_condition
    arguments: (token_tree (identifier) @_derive . (token_tree (identifier) @base . ["," ")"]))))] @above
  (#eq? @_derive "derive"))

(call_expression function: [(identifier) @called (parenthesized_expression (identifier) @called)])
(call_expression function: [
  (field_expression value: (_) @value field: (field_identifier) @call)
  (scoped_identifier path: (_) @receiver name: (identifier) @call)
  (generic_function function: [
    (identifier) @call
    (field_expression value: (_) @value field: (field_identifier) @call)
    (scoped_identifier path: (_) @receiver name: (identifier) @call)])])
; A function as a value, unless it is a local variable.
(arguments [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)
  (generic_function function: [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)])
  (reference_expression value: (identifier) @handed)])
(field_initializer value: [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)
  (generic_function function: [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)])])
(array_expression [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)
  (generic_function function: [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)])])
(let_declaration value: [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)
  (generic_function function: [(identifier) @handed (scoped_identifier path: (_) @receiver name: (identifier) @handed)])])
[(block) (closure_expression) (match_arm) (for_expression) (if_expression) (while_expression)] @block
(function_item) @block.own
([(parameter pattern: (identifier) @bound) (let_declaration pattern: (identifier) @bound) (closure_parameters (identifier) @bound)
  (tuple_pattern (identifier) @bound) (tuple_struct_pattern "(" (identifier) @bound) (ref_pattern (identifier) @bound)
  (mut_pattern (identifier) @bound) (reference_pattern (identifier) @bound) (captured_pattern . (identifier) @bound)
  (slice_pattern (identifier) @bound) (or_pattern (identifier) @bound) (match_pattern (identifier) @bound)
  (for_expression pattern: (identifier) @bound) (let_condition pattern: (identifier) @bound)
  (field_pattern name: (shorthand_field_identifier) @bound) (field_pattern pattern: (identifier) @bound)])
(const_item name: (identifier) @bound)
(static_item name: (identifier) @bound)

; In a macro's arguments there are only tokens.
([(macro_invocation (token_tree (identifier) @called . (token_tree . "(")))
  (macro_invocation (token_tree (_ (identifier) @called . (token_tree . "("))))
  (macro_invocation (token_tree (_ (_ (identifier) @called . (token_tree . "(")))))
  (macro_invocation (token_tree (_ (_ (_ (identifier) @called . (token_tree . "("))))))
  (macro_rule right: (token_tree (identifier) @called . (token_tree . "(")))
  (macro_rule right: (token_tree (_ (identifier) @called . (token_tree . "("))))
  (macro_rule right: (token_tree (_ (_ (identifier) @called . (token_tree . "(")))))
  (macro_rule right: (token_tree (_ (_ (_ (identifier) @called . (token_tree . "("))))))])
(macro_invocation macro: [(identifier) @call (scoped_identifier path: (_) @receiver name: (identifier) @call)])
(struct_expression name: [(type_identifier) @call (scoped_type_identifier path: (_) @receiver name: (type_identifier) @call)])
(type_identifier) @reference
(type_parameters (type_parameter name: (type_identifier) @generic))
; Types before what is in them, also where there are only tokens.
(scoped_identifier path: [(identifier) @reference (scoped_identifier name: (identifier) @reference)]
  (#match? @reference "^[A-Z]"))
(token_tree (identifier) @reference (#match? @reference "^[A-Z]"))
; A function as a value in an attribute.
(attribute arguments: (token_tree "=" . (identifier) @handed))
(attribute arguments: (token_tree "=" . (identifier) @receiver . "::" . (identifier) @handed))

(use_declaration argument: (_) @source) @import
(mod_item name: (identifier) @source !body) @import
(line_comment) @comment
(block_comment) @comment
(attribute (identifier) @_macro arguments: (token_tree (identifier) @_key . (string_literal) @setting)
  (#any-of? @_macro "arg" "clap" "command" "structopt") (#any-of? @_key "env" "long"))

; What variables hold.
([(parameter pattern: [(identifier) @variable (mut_pattern (identifier) @variable)] type: [
    [(type_identifier) (scoped_type_identifier)] @kind
    (generic_type type: [(type_identifier) (scoped_type_identifier)] @kind)
    (reference_type type: [[(type_identifier) (scoped_type_identifier)] @kind
      (generic_type type: [(type_identifier) (scoped_type_identifier)] @kind)])])
  (parameter pattern: [(identifier) @variable (mut_pattern (identifier) @variable)] type: [
    (_ trait: [(type_identifier) @kind (scoped_type_identifier) @kind (generic_type type: (_) @kind)])
    (reference_type type:
      (_ trait: [(type_identifier) @kind (scoped_type_identifier) @kind (generic_type type: (_) @kind)]))])
  (let_declaration pattern: (identifier) @variable type: [
    [(type_identifier) (scoped_type_identifier)] @kind
    (generic_type type: [(type_identifier) (scoped_type_identifier)] @kind)
    (reference_type type: [[(type_identifier) (scoped_type_identifier)] @kind
      (generic_type type: [(type_identifier) (scoped_type_identifier)] @kind)])])
  (let_declaration pattern: (identifier) @variable value: (struct_expression name: (type_identifier) @kind))
  (field_declaration name: (field_identifier) @variable type: [
    [(type_identifier) (scoped_type_identifier)] @kind
    (generic_type type: [(type_identifier) (scoped_type_identifier)] @kind)
    (reference_type type: [[(type_identifier) (scoped_type_identifier)] @kind
      (generic_type type: [(type_identifier) (scoped_type_identifier)] @kind)])])] @typed
  (#not-match? @kind "^(Arc|Box|Rc)$"))
; What a parameter for types stands for.
([(type_parameter name: (type_identifier) @variable bounds: (trait_bounds [
    (type_identifier) @kind (scoped_type_identifier) @kind (generic_type type: (_) @kind)]))
  (where_predicate left: (type_identifier) @variable bounds: (trait_bounds [
    (type_identifier) @kind (scoped_type_identifier) @kind (generic_type type: (_) @kind)]))] @bounded
  (#not-match? @kind "^(Clone|Copy|Debug|Send|Sized|Sync|Unpin)$"))
; What a pointer that owns it points to.
([(parameter pattern: (identifier) @variable type: [
    (generic_type type: (type_identifier) @_owning
      type_arguments: (type_arguments . [(type_identifier) @kind (_ trait: (type_identifier) @kind)] .))
    (reference_type type: (generic_type type: (type_identifier) @_owning
      type_arguments: (type_arguments . [(type_identifier) @kind (_ trait: (type_identifier) @kind)] .)))])
  (field_declaration name: (field_identifier) @variable type: (generic_type type: (type_identifier) @_owning
    type_arguments: (type_arguments . [(type_identifier) @kind (_ trait: (type_identifier) @kind)] .)))] @typed
  (#any-of? @_owning "Arc" "Box" "Rc"))
(let_declaration pattern: (identifier) @variable value: [
    (call_expression function: (scoped_identifier path: (identifier) @kind name: (identifier) @_new))
    (await_expression (call_expression function: (scoped_identifier path: (identifier) @kind name: (identifier) @_new)))
    (try_expression [
      (call_expression function: (scoped_identifier path: (identifier) @kind name: (identifier) @_new))
      (await_expression
        (call_expression function: (scoped_identifier path: (identifier) @kind name: (identifier) @_new)))])
    (call_expression function: (field_expression
      value: [
        (call_expression function: (scoped_identifier path: (identifier) @kind name: (identifier) @_new))
        (await_expression
          (call_expression function: (scoped_identifier path: (identifier) @kind name: (identifier) @_new)))]
      field: (field_identifier) @_out))]
  (#match? @_new "^(new|default|from|try_from|with|open|bind|connect|parse|load|create|build)(_|$)")
  (#match? @_out "^(unwrap|expect)") (#match? @kind "^[A-Z]")) @made.new
(let_declaration pattern: (identifier) @variable !type
  value: [(field_expression) @kind (reference_expression value: (field_expression) @kind)]) @held
; What a variant holds has its name, mostly.
(tuple_struct_pattern type: [(scoped_identifier name: (identifier) @kind) (identifier) @kind]
  . (identifier) @variable . (#not-match? @kind "^(Some|Ok|Err)$")) @made.new
