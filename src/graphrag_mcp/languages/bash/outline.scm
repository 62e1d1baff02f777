(function_definition name: (word) @name body: (_) @body) @function
(program (variable_assignment name: (variable_name) @name) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name) @constant))
(command name: (command_name (word) @call))
(command name: (command_name (word) @_runs) . argument: (word) @call (#any-of? @_runs
  "time" "trap" "command" "coproc" "eval" "xargs" "exec" "nohup" "sudo" "builtin" "nice" "timeout" "env" "retry" "parallel"))
(command name: (command_name (word) @_source) . argument: (_) @source (#any-of? @_source "source" "." "load")) @import
(comment) @comment
