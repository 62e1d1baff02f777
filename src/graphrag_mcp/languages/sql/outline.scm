(create_table [(keyword_table) (keyword_exists)] . (object_reference schema: (identifier)? @owner name: (identifier) @name)
  [(column_definitions) (create_query)]? @body) @type
(create_view [(keyword_view) (keyword_exists)] . (object_reference schema: (identifier)? @owner name: (identifier) @name)
  (create_query)? @body) @type
(create_materialized_view [(keyword_view) (keyword_exists)] .
  (object_reference schema: (identifier)? @owner name: (identifier) @name) (create_query)? @body) @type
(create_type (object_reference schema: (identifier)? @owner name: (identifier) @name)) @type
(create_function [(keyword_function) (keyword_exists)] .
  (object_reference schema: (identifier)? @owner name: (identifier) @name) (function_body)? @body) @function
(create_procedure [(keyword_procedure) (keyword_exists)] .
  (object_reference schema: (identifier)? @owner name: (identifier) @name) (procedure_body)? @body) @function
(create_trigger [(keyword_trigger) (keyword_exists)] . (object_reference name: (identifier) @name)) @function
(create_index column: (identifier) @name) @constant
(create_sequence [(keyword_sequence) (keyword_exists)] .
  (object_reference schema: (identifier)? @owner name: (identifier) @name)) @constant
(create_schema (identifier) @name) @module
(create_table (column_definitions (column_definition name: (identifier) @name) @field))
(alter_table (keyword_table) . (object_reference name: (identifier) @owner)
  (add_column (column_definition name: (identifier) @name) @field))

(invocation (object_reference schema: (identifier)? @receiver name: (identifier) @call))
(create_trigger [(keyword_function) (keyword_procedure)] . (object_reference name: (identifier) @call))

(relation (object_reference name: (identifier) @reference))
(from (object_reference name: (identifier) @reference))
(insert (object_reference name: (identifier) @reference))
(column_definition (keyword_references) . (object_reference name: (identifier) @reference))
(constraint (keyword_references) . (object_reference name: (identifier) @reference))
(create_index (object_reference name: (identifier) @reference))
(create_trigger (keyword_on) . (object_reference name: (identifier) @reference))
(alter_table (keyword_table) . (object_reference name: (identifier) @reference))

[(comment) (marginalia)] @comment
