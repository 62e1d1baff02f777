(function_definition name: (word) @name body: (_) @body) @function
(program (variable_assignment name: (variable_name) @name) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name) @constant))
(command name: (command_name (word) @call))
(command name: (command_name (word) @_source) . argument: (_) @source (#any-of? @_source "source" "." "load")) @import
(comment) @comment
