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

(extends_clause [(type_identifier) @base (generic_type type: (type_identifier) @base)
  (stable_type_identifier (type_identifier) @base .)])

(call_expression function: [
  (identifier) @call
  (field_expression value: (_) @receiver field: (identifier) @call)
  (generic_function function: [(identifier) @call (field_expression value: (_) @receiver field: (identifier) @call)])])
(instance_expression (type_identifier) @call)
(instance_expression (generic_type type: (type_identifier) @call))
(type_identifier) @reference

(import_declaration) @import @source
(comment) @comment
(block_comment) @comment
