(import_statement name: (dotted_name) @module) @import
(import_statement name: (aliased_import name: (dotted_name) @module alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module name: [
  (dotted_name) @item
  (aliased_import name: (dotted_name) @item alias: (identifier) @alias)]) @import
(import_from_statement module_name: (_) @module (wildcard_import) @item) @import

(class_definition) @scope
[(list_comprehension (for_in_clause right: (_) @outside)) (set_comprehension (for_in_clause right: (_) @outside))
 (dictionary_comprehension (for_in_clause right: (_) @outside)) (generator_expression (for_in_clause right: (_) @outside))] @scope
[(function_definition) (lambda)] @function
(return_statement (_) @returned)
(lambda body: (_) @returned)
(yield (_) @yielded)
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @extends))
(call function: (identifier) @_t arguments: (argument_list . (_) . (tuple) . (_) .) @nameless (#eq? @_t "type"))
(call function: (identifier) @_t arguments: (argument_list . (_) . (tuple [(identifier) (attribute)] @extends) . (_) .)
  (#eq? @_t "type"))
(module (expression_statement (assignment left: (identifier) @name right: [(subscript) (binary_operator)
  (parenthesized_expression (binary_operator))] @type) @aliased))
(module (expression_statement (assignment left: (identifier) @name type: (type [(identifier) @_a (attribute attribute: (identifier) @_a)])
  right: (string) @type) @aliased (#eq? @_a "TypeAlias")))
(class_definition name: (_) @name superclasses: (argument_list
  (keyword_argument name: (identifier) @_k value: (_) @metaclass)) (#eq? @_k "metaclass"))
(class_definition name: (_) @name type_parameters: (_) @type_parameters)
(class_definition name: (_) @name superclasses: (argument_list
  (subscript value: [(identifier) @_g (attribute attribute: (identifier) @_g)]) @generic) (#any-of? @_g "Generic" "Protocol"))
(type_alias_statement left: (type (identifier) @name) right: (_) @type) @renames

(decorated_definition (decorator (_) @decorator) definition: (_ name: (identifier) @name))
(decorated_definition (decorator [(identifier) @_d (attribute attribute: (identifier) @_d)])
  definition: (function_definition name: (identifier) @name) @mark.property
  (#any-of? @_d "property" "cached_property" "setter" "deleter" "getter" "abstractproperty"))
(decorated_definition (decorator [(identifier) @_d (attribute attribute: (identifier) @_d)])
  definition: (function_definition name: (identifier) @name) @mark.static (#eq? @_d "staticmethod"))
(decorated_definition (decorator [(identifier) @_d (attribute attribute: (identifier) @_d)])
  definition: (function_definition name: (identifier) @name) @mark.class (#eq? @_d "classmethod"))
(class_definition body: (block (function_definition name: (identifier) @name) @mark.class)
  (#any-of? @name "__new__" "__init_subclass__" "__class_getitem__"))
(decorated_definition (decorator [(identifier) @_d (attribute attribute: (identifier) @_d)
    (call function: [(identifier) @_d (attribute attribute: (identifier) @_d)])])
  definition: (function_definition name: (identifier) @name) @mark.fixture @mark.given (#eq? @_d "fixture"))
(decorated_definition (decorator (call function: [(identifier) @_d (attribute attribute: (identifier) @_d)]
    arguments: (argument_list (keyword_argument name: (identifier) @_k))))
  definition: (function_definition name: (identifier) @name) @mark.automatic (#eq? @_d "fixture") (#eq? @_k "autouse"))
(function_definition name: (identifier) @name parameters: (parameters (_)) (#match? @name "^test")) @mark.given
(decorated_definition (decorator (call function: (attribute attribute: (identifier) @_d)
    arguments: (argument_list . [(string (string_content) @words) (_ (string (string_content) @words))])))
  definition: (function_definition name: (identifier) @name) @listed (#eq? @_d "parametrize"))

; What names hold.
(assignment left: [(identifier) (attribute) (pattern_list) (tuple_pattern) (list_pattern)] @name
  type: (_)? @type right: (_)? @value) @bind.block
(named_expression name: (identifier) @name value: (_) @value) @bind.outer
(for_statement left: (_) @name right: (_) @loop) @bind.block
(for_statement left: (_) @name right: (_) @loop body: (_) @narrows)
(for_in_clause left: (_) @name right: (_) @loop) @bind.each
(with_statement (with_clause [(with_item value: (as_pattern (_) @enter alias: (as_pattern_target (_) @name)))
  (with_item value: (parenthesized_expression (as_pattern (_) @enter alias: (as_pattern_target (_) @name))))])) @bind.block
(except_clause value: (as_pattern (_) @type alias: (as_pattern_target (identifier) @name))) @bind.block
(except_clause value: (as_pattern (_) @type alias: (as_pattern_target (identifier) @name)) (block) @narrows)
(_ condition: [(call function: (_) @_is arguments: (argument_list . (identifier) @name . (_) @type .))
    (boolean_operator left: (call function: (_) @_is arguments: (argument_list . (identifier) @name . (_) @type .)) operator: "and")]
  consequence: (_) @narrows (#eq? @_is "isinstance"))
(boolean_operator left: (call function: (_) @_is arguments: (argument_list . (identifier) @name . (_) @type .))
  operator: "and" right: (_) @narrows (#eq? @_is "isinstance"))
(conditional_expression . (_) @narrows . (call function: (_) @_is
  arguments: (argument_list . (identifier) @name . (_) @type .)) (#eq? @_is "isinstance"))
(_ (assert_statement . (call function: (_) @_is arguments: (argument_list . (identifier) @name . (_) @type .))) @after
  (#eq? @_is "isinstance")) @narrows
(_ (if_statement condition: (not_operator (call function: (_) @_is
      arguments: (argument_list . (identifier) @name . (_) @type .)))
    consequence: (block [(return_statement) (raise_statement) (continue_statement) (break_statement)] .) !alternative) @after
  (#eq? @_is "isinstance")) @narrows
(assignment left: (attribute) @into right: [(identifier) (attribute)] @given)
(assignment left: (attribute) @into right: (call function: [(identifier) @_partial (attribute attribute: (_) @_partial)])
  @given (#eq? @_partial "partial"))
(assignment left: (subscript) @into right: [(identifier) (attribute) (lambda)] @given)
(call function: (_) @into.function arguments: (argument_list) @passed)
(case_clause (case_pattern (as_pattern (case_pattern) (identifier) @name))) @bind.block
(case_clause (case_pattern (dotted_name . (identifier) @name .))) @bind.block
(global_statement (identifier) @global)
(nonlocal_statement (identifier) @nonlocal)

(decorated_definition (decorator (call function: [(identifier) @_d (attribute attribute: (identifier) @_d)]
    arguments: (argument_list (keyword_argument name: (identifier) @_k value: (string (string_content) @alias)))))
  definition: (function_definition name: (identifier) @name) (#eq? @_d "fixture") (#eq? @_k "name")) @export

; Mentions: the first pattern that fits decides.
(call function: (attribute attribute: (identifier) @from.other) arguments: (argument_list (string (string_content) @use.given))
  (#any-of? @from.other "usefixtures" "getfixturevalue"))
(import_statement name: [(dotted_name) @use.module (aliased_import name: (dotted_name) @use.module)])
(import_from_statement module_name: (_) @use.module)
(import_from_statement module_name: (_) @from.module name: [
  (dotted_name (identifier) @use.import) (aliased_import name: (dotted_name (identifier) @use.import))])
(import_statement (dotted_name (identifier) @use.none))
(import_from_statement module_name: (dotted_name (identifier) @use.none))
(relative_import (dotted_name (identifier) @use.none))
(aliased_import alias: (identifier) @use.none)
(aliased_import name: (dotted_name (identifier) @use.none))
(call function: [(identifier) @_made (attribute attribute: (identifier) @_made)] @from
  arguments: (argument_list (keyword_argument name: (identifier) @use.argument)) (#match? @_made "^(cls$|_*[A-Z])"))
(call function: [(identifier) @_made (attribute attribute: (identifier) @_made)] @from
  arguments: (argument_list (_) @use.set) (#match? @_made "^(cls$|_*[A-Z])"))
(keyword_argument name: (identifier) @use.none)
(class_pattern (dotted_name) @from.type (case_pattern (keyword_pattern . (identifier) @use.value)))
(keyword_pattern . (identifier) @use.none)
(class_pattern (dotted_name) @from.type (case_pattern) @_p (#not-match? @_p "^\\w+\\s*=[^=]")) @use.indexed.value
(global_statement (identifier) @use.none)
(nonlocal_statement (identifier) @use.none)
(lambda_parameters (identifier) @use.none)
(class_definition superclasses: (argument_list [
  (identifier) @use.base (attribute object: (_) @from attribute: (identifier) @use.base)
  (subscript value: [(identifier) @use.base (attribute object: (_) @from attribute: (identifier) @use.base)])]))
(call function: (identifier) @_t arguments: (argument_list . (_) . (tuple [
  (identifier) @use.base (attribute object: (_) @from attribute: (identifier) @use.base)]) . (_) .) (#eq? @_t "type"))
(call function: [(identifier) @use.call (attribute object: (_) @from attribute: (identifier) @use.call)])
(call function: [(call) (subscript) (parenthesized_expression)] @from arguments: (_) @use.called)
(decorator [(identifier) @use.call (attribute object: (_) @from attribute: (identifier) @use.call)])
([(generic_type (identifier) @_g (type_parameter (type (string (string_content) @use.none))))
 (subscript value: [(identifier) @_g (attribute attribute: (identifier) @_g)] subscript: (string (string_content) @use.none))]
 (#eq? @_g "Literal"))
([(generic_type (identifier) @_g (type_parameter . (_) (type (string (string_content) @use.none))))
 (subscript value: [(identifier) @_g (attribute attribute: (identifier) @_g)] subscript: (_) subscript: (string (string_content) @use.none))]
 (#eq? @_g "Annotated"))
(type [(string (string_content) @use.quoted) (binary_operator (string (string_content) @use.quoted))
  (list (string (string_content) @use.quoted))
  (subscript subscript: [(string (string_content) @use.quoted) (list (string (string_content) @use.quoted))
    (subscript subscript: (string (string_content) @use.quoted))])])
((subscript value: [(identifier) @_g (attribute attribute: (identifier) @_g)]
   subscript: [(string (string_content) @use.quoted) (list (string (string_content) @use.quoted))])
  (#any-of? @_g
    "AsyncGenerator" "AsyncIterable" "AsyncIterator" "Awaitable" "Callable" "ClassVar" "Collection" "Coroutine" "Deque"
    "Dict" "Final" "FrozenSet" "Generator" "Iterable" "Iterator" "List" "Mapping" "MutableMapping" "Optional" "Sequence"
    "Set" "Tuple" "Type" "Union" "dict" "frozenset" "list" "set" "tuple" "type"))
((assignment type: (type [(identifier) @_a (attribute attribute: (identifier) @_a)])
   right: (string (string_content) @use.quoted)) (#eq? @_a "TypeAlias"))
((call function: [(identifier) @_f (attribute attribute: (identifier) @_f)]
   arguments: (argument_list . (string (string_content) @use.quoted))) (#any-of? @_f "cast" "ForwardRef"))
((call function: [(identifier) @_f (attribute attribute: (identifier) @_f)]
   arguments: (argument_list . (_) (string (string_content) @use.quoted))) (#any-of? @_f "NewType" "TypeVar"))
((call function: [(identifier) @_f (attribute attribute: (identifier) @_f)]
   arguments: (argument_list (keyword_argument name: (identifier) @_k value: (string (string_content) @use.quoted))))
  (#any-of? @_f "cast" "TypeVar") (#any-of? @_k "bound" "default" "typ"))
(except_clause value: [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)
  (tuple [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)])
  (as_pattern [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)
    (tuple [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)])])])
(type [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)
  (generic_type (identifier) @use.type)
  (subscript value: [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)])
  (binary_operator [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)])])
(type (subscript subscript: [(identifier) @use.type (attribute object: (_) @from attribute: (identifier) @use.type)]))
([(assignment left: (attribute object: (_) @from attribute: (identifier) @use.write))
  (augmented_assignment left: [(identifier) @use.write (attribute object: (_) @from attribute: (identifier) @use.write)])
  (for_statement left: (attribute object: (_) @from attribute: (identifier) @use.write))
  (as_pattern_target [(attribute object: (_) @from attribute: (identifier) @use.write)
    (_ [(identifier) @use.write (attribute object: (_) @from attribute: (identifier) @use.write)])])
  (pattern_list (attribute object: (_) @from attribute: (identifier) @use.write))
  (tuple_pattern (attribute object: (_) @from attribute: (identifier) @use.write))
  (list_pattern (attribute object: (_) @from attribute: (identifier) @use.write))
  (list_splat_pattern (attribute object: (_) @from attribute: (identifier) @use.write))
  (delete_statement [(identifier) @use.write (attribute object: (_) @from attribute: (identifier) @use.write)
    (expression_list [(identifier) @use.write (attribute object: (_) @from attribute: (identifier) @use.write)])])])
[(assignment left: (subscript) @as.fill)
  (augmented_assignment left: (subscript) @as.fill)
  (for_statement left: (subscript) @as.fill)
  (as_pattern_target (subscript) @as.fill)
  (pattern_list (subscript) @as.fill)
  (tuple_pattern (subscript) @as.fill)
  (list_pattern (subscript) @as.fill)
  (list_splat_pattern (subscript) @as.fill)
  (delete_statement [(subscript) @as.fill (expression_list (subscript) @as.fill)])]
(attribute object: (_) @from attribute: (identifier) @use.value)
(_ (dotted_name . (identifier) @from . (identifier) @use.value))
(_ (dotted_name (identifier) @from.other . (identifier) @use.value))
(identifier) @use.value
