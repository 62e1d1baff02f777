(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body (#eq? @_define "defmodule")) @module
(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body (#eq? @_define "defprotocol")) @type
(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body (#eq? @_define "defimpl")) @scope
(call target: (identifier) @_define
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)])])
  (do_block)? @body
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @function
(call target: (identifier) @_test (arguments . (string) @name) (do_block) @body
  (#any-of? @_test "test" "property" "feature")) @test
(unary_operator operand: (call target: (identifier) @_define
  (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)]))
  (#any-of? @_define "type" "typep" "opaque"))) @type
(unary_operator operand: (call target: (identifier) @_define
  (arguments . (binary_operator left: (call target: (identifier) @name)))
  (#any-of? @_define "callback" "macrocallback"))) @function
(unary_operator operand: (call target: (identifier) @name
  (arguments . [(integer) (float) (string) (charlist) (atom) (list) (map) (tuple) (sigil) (boolean) (binary_operator)] .)
  (#not-match? @name
    "^((module|type|short)?doc|spec|typep?|opaque|(macro)?callback|impl|(module|describe)?tag|since|deprecated|derive)$"))
  ) @constant
; The name in a @spec is no call.
(unary_operator operand: (call target: (identifier) @_define
  (arguments . (binary_operator left: (call target: (identifier) @name))) (#eq? @_define "spec"))) @prototype
(unary_operator operand: (call target: (identifier) @_spec (#any-of? @_spec "spec" "impl" "deprecated" "dialyzer"))) @decorator
(unary_operator operand: (call target: (identifier) @_doc (#any-of? @_doc "doc" "typedoc" "shortdoc"))) @comment
(unary_operator operand: (call target: (identifier) @_doc (arguments (string (quoted_content) @doc)) (#eq? @_doc "moduledoc")))

(unary_operator operand: (call target: (identifier) @_behaviour (arguments (alias) @base) (#eq? @_behaviour "behaviour")))
(call target: (identifier) @_define (arguments . (alias) @base) (#eq? @_define "defimpl"))

(call target: [(identifier) @call (dot left: (_) @receiver right: (identifier) @call)])
(binary_operator operator: "|>" right: (identifier) @call)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @handed operator: "/" right: (integer)))
(call target: (identifier) @_apply (arguments (_) @receiver . (atom) @call . (_) .) (#any-of? @_apply "apply" "spawn" "spawn_link"))
(struct (alias) @reference)

(call target: (identifier) @_import (arguments . [(alias) (dot)] @source)
  (#any-of? @_import "alias" "import" "use" "require")) @import
(call target: (identifier) @_import
  (arguments . (alias) @source (keywords (pair key: (keyword) @_as value: (alias) @alias)))
  (#eq? @_import "alias")) @import
(comment) @comment
