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
    (reference_type type: (type_identifier) @name)
    (primitive_type) @name]
  body: (_)? @body) @scope
(mod_item name: (identifier) @name body: (_) @body) @module
(function_item name: (identifier) @name body: (_) @body) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name) @function
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant
(enum_variant name: (identifier) @name) @field
(struct_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @field))
(attribute_item) @decorator

(impl_item trait: [(type_identifier) @base (generic_type type: (type_identifier) @base)
  (scoped_type_identifier name: (type_identifier) @base)])
(trait_item bounds: (trait_bounds [(type_identifier) @base (generic_type type: (type_identifier) @base)
  (scoped_type_identifier name: (type_identifier) @base)]))

(call_expression function: [
  (identifier) @call
  (field_expression value: (_) @receiver field: (field_identifier) @call)
  (scoped_identifier path: (_) @receiver name: (identifier) @call)
  (generic_function function: [
    (identifier) @call
    (field_expression value: (_) @receiver field: (field_identifier) @call)
    (scoped_identifier path: (_) @receiver name: (identifier) @call)])])
(macro_invocation macro: [(identifier) @call (scoped_identifier path: (_) @receiver name: (identifier) @call)])
(struct_expression name: [(type_identifier) @call (scoped_type_identifier path: (_) @receiver name: (type_identifier) @call)])
(type_identifier) @reference

(use_declaration argument: (_) @source) @import
(mod_item name: (identifier) @source !body) @import
(line_comment) @comment
(block_comment) @comment
(attribute (identifier) @_macro arguments: (token_tree (identifier) @_key . (string_literal) @setting)
  (#any-of? @_macro "arg" "clap" "command" "structopt") (#any-of? @_key "env" "long"))
