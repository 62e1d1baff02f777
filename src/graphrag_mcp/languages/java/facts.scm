(package_declaration [(identifier) (scoped_identifier)] @unit)
(import_declaration (scoped_identifier scope: (_) @module name: (_) @item) .) @import
(import_declaration (_) @module (asterisk) @item) @import

[(block) (constructor_body) (for_statement) (enhanced_for_statement) (while_statement) (try_with_resources_statement)
 (switch_block_statement_group) (switch_rule)] @scope
(lambda_expression body: (expression) @returned)
(return_statement (_) @returned)
[(method_declaration) (constructor_declaration) (annotation_type_element_declaration) (lambda_expression)] @function
(object_creation_expression type: (_) @extends (class_body) @nameless)
(enum_declaration name: (_) @extends body: (enum_body (enum_constant body: (_) @nameless)))

(class_declaration name: (_) @name body: (_) @open)
(interface_declaration name: (_) @name body: (_) @open)
(enum_declaration name: (_) @name body: (_) @open)
(record_declaration name: (_) @name body: (_) @open)
(annotation_type_declaration name: (_) @name body: (_) @open)
(switch_expression condition: (_) @value body: (switch_block [
  (switch_block_statement_group (switch_label (identifier)) @open) (switch_rule (switch_label (identifier)) @open)]))

(enum_declaration name: (_) @name) @mark.enumeration
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(class_declaration name: (_) @name type_parameters: (_) @type_parameters)
(interface_declaration name: (_) @name type_parameters: (_) @type_parameters)
(record_declaration name: (_) @name type_parameters: (_) @type_parameters)
(class_declaration (modifiers) @words name: (_) @name) @marked
(interface_declaration (modifiers) @words name: (_) @name) @marked
(enum_declaration (modifiers) @words name: (_) @name) @marked
(record_declaration (modifiers) @words name: (_) @name) @marked
(method_declaration (modifiers) @words name: (_) @name) @marked
(constructor_declaration (modifiers) @words name: (_) @name) @marked
(field_declaration (modifiers) @words declarator: (variable_declarator name: (_) @name)) @marked

(superclass (_) @extends)
(extends_interfaces (type_list (_) @extends))
(super_interfaces (type_list (_) @implements))
(enum_declaration "enum" @extends)
(record_declaration "record" @extends)
(annotation_type_declaration "@interface" @extends)

; What names hold.
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @name)) @bind
(constant_declaration type: (_) @type declarator: (variable_declarator name: (_) @name)) @bind
(enum_declaration name: (_) @type body: (enum_body (enum_constant name: (_) @name) @bind))
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (_) @name) @bind.accessor))
(record_declaration
  parameters: (formal_parameters (spread_parameter (_) @type (variable_declarator name: (_) @name)) @bind.accessor))
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @name value: (_)? @value) @bind)
(enhanced_for_statement type: (_) @type name: (_) @name value: (_) @loop body: (_) @within)
(catch_clause (catch_formal_parameter (catch_type) @type name: (_) @name) body: (_) @within)
(resource type: (_) @type name: (_) @name value: (_) @value) @bind
(instanceof_expression right: (_) @type name: (_) @name) @bind
(type_pattern (_) @type (identifier) @name) @bind
(record_pattern_component (_) @type (identifier) @name) @bind

; What a place that expects a function is given.
[(lambda_expression) (method_reference)] @given

; Mentions: the first pattern that fits a name decides.
(import_declaration (scoped_identifier scope: (_) @from name: (_) @use.import))
(import_declaration "static" (scoped_identifier scope: (scoped_identifier scope: (_) @from name: (_) @use.import)))
(marker_annotation name: [(identifier) @use.type (scoped_identifier scope: (_) @from name: (_) @use.type)])
(annotation name: [(identifier) @use.type (scoped_identifier scope: (_) @from name: (_) @use.type)])
([(marker_annotation name: (scoped_identifier scope: (identifier) @use.value))
  (annotation name: (scoped_identifier scope: (identifier) @use.value))])
(annotation name: (_) @from.type arguments: (_ (element_value_pair key: (identifier) @use.element)))
(method_invocation object: (class_literal (_) @from.type) name: (_) @from.other
  arguments: (argument_list (string_literal (string_fragment) @use.reflected))
  (#match? @from.other "^get(Declared)?(Method|Field)$"))
(method_invocation name: (_) @from.other arguments: (argument_list (string_literal (string_fragment) @use.reflected))
  (#match? @from.other "^(get|find)(Declared)?(Method|Field|Virtual|Static|Getter|Setter|VarHandle)$"))
((method_invocation object: (_) @from name: (_) @_name arguments: (argument_list . (string_literal (string_fragment) @use.reflected) .))
  (#eq? @_name "valueOf") (#match? @use.reflected "^\\w+$"))
((annotation name: (_) @from.other arguments: (annotation_argument_list [(string_literal (string_fragment) @use.addressed)
    (element_value_pair value: (string_literal (string_fragment) @use.addressed))
    (element_value_array_initializer (string_literal (string_fragment) @use.addressed))
    (element_value_pair value: (element_value_array_initializer (string_literal (string_fragment) @use.addressed)))]))
  (#match? @use.addressed "^(([\\w$]+\\.){0,20}[\\w$]*#)?[A-Za-z_$][\\w$]*(\\(.*\\))?$"))
(method_declaration (modifiers (marker_annotation name: (identifier) @_a)) name: (identifier) @named @use.function
  (#any-of? @_a "MethodSource" "FieldSource"))
(package_declaration (identifier) @use.none)
(scoped_identifier (identifier) @use.none)
(labeled_statement . (identifier) @use.none)
(break_statement (identifier) @use.none)
(continue_statement (identifier) @use.none)
(class_declaration name: (_) @named body: (class_body (constructor_declaration body: (constructor_body
  (explicit_constructor_invocation constructor: (this) @from @use.call arguments: (_) @arguments)))))
(enum_declaration name: (_) @named body: (enum_body (enum_body_declarations (constructor_declaration
  body: (constructor_body (explicit_constructor_invocation constructor: (this) @from @use.call arguments: (_) @arguments))))))
(class_declaration
  superclass: (superclass [(type_identifier) @named (generic_type . (type_identifier) @named)
    (scoped_type_identifier (type_identifier) @named .)
    (generic_type . (scoped_type_identifier (type_identifier) @named .))])
  body: (class_body (constructor_declaration body: (constructor_body
    (explicit_constructor_invocation constructor: (super) @from @use.call arguments: (_) @arguments)))))
(enum_declaration name: (_) @named body: (enum_body (enum_constant name: (_) @use.create arguments: (_) @arguments)))
(enum_declaration name: (_) @named body: (enum_body (enum_constant name: (_) @use.create) @unargued))
(method_invocation object: (_) @from.other (super) name: (_) @use.call arguments: (_) @arguments)
(method_invocation object: (_)? @from name: (_) @use.call arguments: (_) @arguments)
(method_reference . [(identifier) @use.create (generic_type . (type_identifier) @use.create)
  (field_access object: (_) @from field: (identifier) @use.create)] "new" .)
(method_reference . (_) @from (identifier) @use.function .)
(object_creation_expression . (_) @from . "." type: (type_identifier) @use.create arguments: (_) @arguments)
(object_creation_expression type: [(type_identifier) @use.create (generic_type . (type_identifier) @use.create)
    (scoped_type_identifier . (_) @from (type_identifier) @use.create .)
    (generic_type . (scoped_type_identifier . (_) @from (type_identifier) @use.create .))]
  arguments: (_) @arguments)
(permits (type_list (type_identifier) @use.type))
(permits (type_list (scoped_type_identifier . (_) @from (type_identifier) @use.type .)))
(superclass [(type_identifier) @use.base (generic_type . (type_identifier) @use.base)
  (scoped_type_identifier . (_) @from (type_identifier) @use.base .)
  (generic_type . (scoped_type_identifier . (_) @from (type_identifier) @use.base .))])
(type_list [(type_identifier) @use.base (generic_type . (type_identifier) @use.base)
  (scoped_type_identifier . (_) @from (type_identifier) @use.base .)
  (generic_type . (scoped_type_identifier . (_) @from (type_identifier) @use.base .))])
(scoped_type_identifier . (_) @from (type_identifier) @use.type .)
(assignment_expression left: [(identifier) @use.write (field_access object: (_) @from field: (identifier) @use.write)])
(update_expression [(identifier) @use.write (field_access object: (_) @from field: (identifier) @use.write)
  (parenthesized_expression [(identifier) @use.write (field_access object: (_) @from field: (identifier) @use.write)])])
[(assignment_expression left: (array_access) @as.fill) (update_expression (array_access) @as.fill)]
(field_access object: (_) @from field: (identifier) @use.value)
(type_identifier) @use.type
(identifier) @use.value
