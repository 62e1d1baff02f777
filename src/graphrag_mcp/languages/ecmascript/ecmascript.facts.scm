; What JavaScript and TypeScript have in common.

[(statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope

(variable_declaration (variable_declarator name: (identifier) @hoisted value: [
  (arrow_function) (function_expression) (generator_function) (class)]))

(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)] @function)
(assignment_expression left: (member_expression object: (_) @of property: (_) @name)
  right: [(arrow_function) (function_expression !name) (generator_function !name)] @function)
(assignment_expression left: (member_expression object: (_) @of property: (_) @name)
  right: [(function_expression name: (_)) (generator_function name: (_))] @function (#not-eq? @name "exports"))
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)] @function)
(export_statement "default" @name value: [(arrow_function) (function_expression) (generator_function)] @function)
[(function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
 (method_definition)] @function
(return_statement (_) @returned)
(arrow_function body: (expression) @returned)

(variable_declarator name: (_) @name value: (class !name) @own)
(assignment_expression left: (member_expression object: (_) @of property: (_) @name) right: (class !name) @own)
(export_statement "default" @name value: (class) @own)
(class) @nameless
(object) @object
(arguments (object) @handed)
(arguments (object (pair value: (object) @handed)))
(object (pair key: [(property_identifier) (string)] @name value: (_) @value) @member)
(object (shorthand_property_identifier) @name @value @member)
(object (method_definition name: (property_identifier) @name) @member)
(object (spread_element) @extends)

; What names hold.
(object_pattern (shorthand_property_identifier_pattern) @name @part) @bind.block
(object_pattern (object_assignment_pattern left: (_) @name @part)) @bind.block
(pair_pattern value: (identifier) @name @part) @bind.block
(pair_pattern value: (assignment_pattern left: (identifier) @name @part)) @bind.block
(array_pattern (identifier) @name @part) @bind.block
(array_pattern (assignment_pattern left: (identifier) @name @part)) @bind.block
(rest_pattern (identifier) @name @part) @bind.block
(for_in_statement kind: _ left: (identifier) @name @part) @bind.block
(catch_clause parameter: (identifier) @name @part) @bind.block
(if_statement
  condition: (parenthesized_expression (binary_expression left: (identifier) @name operator: "instanceof" right: (_) @type))
  consequence: (_) @within)
([(if_statement condition: (parenthesized_expression (binary_expression
    left: (unary_expression operator: "typeof" argument: (identifier) @name) operator: ["===" "=="]
    right: (string (string_fragment) @_kind) @type)) consequence: (_) @within)
  (ternary_expression condition: (binary_expression
    left: (unary_expression operator: "typeof" argument: (identifier) @name) operator: ["===" "=="]
    right: (string (string_fragment) @_kind) @type) consequence: (_) @within)
  (binary_expression left: (binary_expression
    left: (unary_expression operator: "typeof" argument: (identifier) @name) operator: ["===" "=="]
    right: (string (string_fragment) @_kind) @type) operator: "&&" right: (_) @within)
  (if_statement condition: (parenthesized_expression (binary_expression
    left: (unary_expression operator: "typeof" argument: (identifier) @name) operator: ["!==" "!="]
    right: (string (string_fragment) @_kind) @type)) alternative: (_) @within)
  (ternary_expression condition: (binary_expression
    left: (unary_expression operator: "typeof" argument: (identifier) @name) operator: ["!==" "!="]
    right: (string (string_fragment) @_kind) @type) alternative: (_) @within)]
  (#any-of? @_kind "string" "number" "boolean" "bigint" "symbol" "undefined"))
(_ (if_statement condition: (parenthesized_expression (binary_expression
      left: (unary_expression operator: "typeof" argument: (identifier) @name) operator: ["!==" "!="]
      right: (string (string_fragment) @_kind) @type))
    consequence: [(return_statement) (throw_statement) (statement_block [(return_statement) (throw_statement)] .)]
    !alternative) @after
  (#any-of? @_kind "string" "number" "boolean" "bigint" "symbol")) @narrows
(assignment_expression left: [(member_expression) (identifier) (subscript_expression)] @into right: (_) @given)
(call_expression function: (_) @into.function arguments: (_) @passed)
(new_expression constructor: (_) @into.function arguments: (_) @passed)

; What passes from file to file. A pattern of a whole statement with its names would take quadratic time.
(import_statement (import_clause (identifier) @alias) source: (_) @module) @import.default
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (_) @module) @import
(import_specifier name: (_) @item alias: (_)? @alias) @import
(program (export_statement declaration: [
  (_ name: (_) @name)
  (_ (variable_declarator name: (identifier) @name))
  (_ (variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @name
    (pair_pattern value: (identifier) @name)])))]) @export)
(program (export_statement "default" declaration: (_ name: (_) @name)) @export.default)
(program (export_statement "default" value: (_) @value) @export.default)
(export_specifier name: (_) @name alias: (_)? @alias) @export
(program (export_statement "*" source: (_) @module) @export.all)
(program (export_statement (namespace_export (_) @alias) source: (_) @module) @export)
(assignment_expression left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (_) @value (#eq? @_module "module") (#eq? @_exports "exports")) @export.whole

; Mentions: the first pattern that fits decides.
(call_expression function: [(identifier) @as.call (member_expression) @as.call
  (parenthesized_expression [(identifier) (member_expression)] @as.call)
  (await_expression [(identifier) (member_expression)] @as.call)])
(call_expression function: (subscript_expression index: (string (string_fragment) @as.call)))
[(assignment_expression left: (subscript_expression index: (string (string_fragment) @as.write)))
  (augmented_assignment_expression left: (subscript_expression index: (string (string_fragment) @as.write)))
  (update_expression argument: (subscript_expression index: (string (string_fragment) @as.write)))]
(new_expression constructor: [(identifier) (member_expression)] @as.create)
(call_expression function: (super) @from @use.super arguments: (_) @arguments)
(decorator [(identifier) (member_expression)] @as.call)
([(assignment_expression left: [(identifier) @as.write (member_expression) @as.write
    (parenthesized_expression [(identifier) (member_expression)] @as.write)])
  (augmented_assignment_expression left: [(identifier) (member_expression)] @as.write)
  (update_expression argument: [(identifier) (member_expression)] @as.write)
  (for_in_statement left: [(identifier) (member_expression)] @as.write)
  (unary_expression operator: "delete" argument: (member_expression) @as.write)
  (array_pattern [(identifier) (member_expression)] @as.write)
  (pair_pattern value: [(identifier) (member_expression)] @as.write)
  (assignment_pattern left: [(identifier) (member_expression)] @as.write)
  (rest_pattern [(identifier) (member_expression)] @as.write)])
[(assignment_expression left: (subscript_expression) @as.fill)
  (augmented_assignment_expression left: (subscript_expression) @as.fill)
  (update_expression argument: (subscript_expression) @as.fill)
  (for_in_statement left: (subscript_expression) @as.fill)
  (unary_expression operator: "delete" argument: (subscript_expression) @as.fill)
  (array_pattern (subscript_expression) @as.fill)
  (pair_pattern value: (subscript_expression) @as.fill)
  (assignment_pattern left: (subscript_expression) @as.fill)]
(member_expression object: (_) @from property: (_) @use.value)
(subscript_expression object: (_) @from index: (string . (string_fragment) @use.value .)
  (#match? @use.value "^[A-Za-z_$][A-Za-z0-9_$]*$"))
(binary_expression left: (private_property_identifier) @use.value right: (_) @from)
(binary_expression left: (string (string_fragment) @use.value) operator: "in" right: (_) @from)
(call_expression function: (subscript_expression object: (_) @from index: [(identifier) (member_expression)
  (template_string) (call_expression)] @use.indexed.call))
(assignment_expression left: (subscript_expression object: (_) @from index: [(identifier) (member_expression)
  (template_string) (call_expression)] @use.indexed.write))
(subscript_expression object: (_) @from index: [(identifier) (member_expression) (template_string) (call_expression)]
  @use.indexed.value)
(call_expression function: (member_expression object: (identifier) @_o property: (property_identifier) @_p)
  arguments: (arguments . (_) @from) @use.indexed.write (#eq? @_o "Object") (#eq? @_p "assign"))
(object_pattern (shorthand_property_identifier_pattern) @use.value) @from
(object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @use.value)) @from
(object_pattern (pair_pattern key: (property_identifier) @use.value)) @from
([(import_statement source: (_) @use.module) (export_statement source: (_) @use.module)])
(call_expression function: [(identifier) @from.other (import)] arguments: (arguments . (string) @use.module .)
  (#eq? @from.other "require"))
(import_specifier name: (identifier) @use.import) @from.around
(import_specifier alias: (identifier) @use.import)
(import_clause (identifier) @use.import)
(namespace_import (identifier) @use.import)
(export_specifier name: (identifier) @use.import) @from.around
(export_specifier alias: (identifier) @use.none)
(namespace_export (identifier) @use.none)
(object (pair key: (property_identifier) @use.key))
(object (pair key: (string (string_fragment) @use.key)))
(object (shorthand_property_identifier) @use.key)
(object (method_definition name: (property_identifier) @use.key))
(shorthand_property_identifier) @use.value
(identifier) @use.value
