"""Reads the facts of a file from its syntax tree.

The vocabulary of `queries/*.facts.scm`; names of captures that begin with "_" serve predicates:

    @unit        the package or namespace that the file says to be in
    @scope       a block: what is bound in it ends with it
    @function    a function, whether it has a name or not; @name is that of what it is given to, @of the value whose
                 member that is
    @indexed     an index signature of the type around it
    @returned @yielded   what the function around it gives, or gives one after the other
    @mark.*      a declaration with @name is so marked (`model.facts.Mark`)
    @listed      a function called @name, of whose parameters those in @words are given from a list
    @decorator   what is called with the declaration called @name, and gives what the name means
    @global @nonlocal   a name that is bound in the file, or in the function around
    @nameless    a type without a name, optionally with its base (@extends); @own is one that belongs to the declaration
                 called @name
    @open        the block in which the members of a @value, or of the type called @name, are known by their names alone
    @object      a literal with members; @handed is one that is an argument
    @member      a member of a nameless type or an object, with @name, @value or @type
    @interface   a type with abstract members, with @name
    @stands      a declaration with @name that stands for @type, optionally with @type_parameters; @renames one that is
                 the same type
    @type_parameters   of the declaration with @name
    @marked      a declaration with @name, and words before it that may say what else it is (@words)
    @bind        names (@name) that hold a @type or @value, or what a loop over @loop gives; visible from its end to the
                 end of its scope, @bind.block in all of its scope, @bind.function in all of its function; @bind.type
                 names a type, @bind.accessor a field that is also a function without parameters
                 @part: the name is part of a pattern; @enter and @enter.later: the value that a block enters;
                 @bind.member: the name is a field of the type whose function has it
    @aliased     a constant with @name may stand for a @type
    @within      the block in which @name holds @type or @value
    @narrows     the same, unless it is bound anew there; of what stands in it behind @after
    @embeds @extends @implements   a type on which the declaration around it is based
    @import      an import of @module, or of the `source` around it, with @item and @alias; @import.default of what it
                 exports by default
    @export      an export of @name, optionally as @alias or from @module; @export.default of a @value or name,
                 @export.all of all names of @module, @export.whole of the @value that the module is
    @into        a field that is @given a value; @into.type and @into.field likewise; without any of them it is given to
                 what its place expects
    @passed      the arguments of a call of @into.function
    @use.*       a mention, of the use after the dot (`model.facts.Use`), with @from (the value before the dot) or
                 @from.type (the type whose member it is), @use.called a call of @from itself; of a call with its
                 @arguments; @named has its name, where it is another; the first pattern that fits a name decides
    @as.*        an expression whose last name is so used; another pattern says what is before it
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import astuple
from tree_sitter import Node, Tree

from graphrag_mcp.model.facts import (
    GIVEN,
    NO_OWNER,
    BaseType,
    Bound,
    Declared,
    Exported,
    FileFacts,
    Flow,
    Imported,
    Mark,
    Mention,
    Parameter,
    Use,
)
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.parsing.code.syntax import SourceCode
from graphrag_mcp.parsing.facts.expressions import LITERAL, UNKNOWN, Shapes, Writer, arguments, instance, leaf, module
from graphrag_mcp.parsing.languages import Captures, Match, Matches
from graphrag_mcp.parsing.outline import Definition

_BASES = ("embeds", "extends", "implements")
_NUMBERED = ("own", "function", "nameless", "object")
_TYPES = ("interface", "stands", "renames", "type_parameters", "aliased", "marked")
_IMPORTS = {"import": "", "import.default": "default"}  # What is imported where no item is named.
_EXPORTS = {"export": "", "export.default": "default", "export.all": "*", "export.whole": "="}
_KINDS = {"function": SymbolKind.FUNCTION, "field": SymbolKind.FIELD}
_DEFINED = (*CALLABLE, SymbolKind.TYPE)  # These hold no value besides what they are.
_BLOCKS = (*CALLABLE, SymbolKind.MODULE)
_AROUND = (*_BLOCKS, SymbolKind.TYPE)
_NAMES = frozenset(("identifier", "shorthand_property_identifier_pattern"))
_BINDERS = ("bind", "bind.block", "bind.function", "bind.type", "bind.accessor", "bind.member", "within", "narrows")
_MARKS = {f"mark.{mark}": mark for mark in Mark}
_OUTER = ("global", "nonlocal")
_MENTIONS = ("use.", "as.")
_Used = tuple[int, str, Node, Captures]  # The pattern, the use, and the node of the name.
_READ_OR_WRITTEN = frozenset((Use.VALUE, Use.WRITE, Use.FILL))
_RESULTS = ("yielded", "returned")


class _Draft(Struct):
    """A declaration while it is read: the fields of `Declared`."""

    name: str
    qualified: str
    kind: str
    owner: int
    line: int
    start: int
    stop: int
    at: int
    value: str = ""
    returns: tuple[tuple[int, str], ...] = ()
    parameters: tuple[Parameter, ...] | None = None
    type_parameters: tuple[str, ...] = ()
    bases: tuple[BaseType, ...] = ()
    marks: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()


@dataclass(slots=True)
class _Binding:
    """Names that a node binds, before its scope is known."""

    node: Node
    role: str
    names: list[tuple[str, str]]  # Each with its value.
    at: int
    first: int  # Where it begins to be visible, unless it is in all of its scope.
    is_part: bool = False  # Of what a pattern takes apart.
    of: str = ""  # The name of the value whose member is bound.

    def kind(self, value: str) -> str:
        """Return the kind of the binding: what is imported, or taken out of another value, is an alias."""
        if self.role == "bind.type":
            return "type"
        return "alias" if self.is_part or value[:1] == '"' else "variable"


class FactReader:
    """Collects the facts of one file."""

    def __init__(self, code: SourceCode, shapes: Shapes, definitions: Sequence[Definition]) -> None:
        self._code, self._shapes = code, shapes
        self._drafts = [_draft(definition, code) for definition in definitions]
        self._definitions = definitions
        self._by_name = {definition.name_start: index for index, definition in enumerate(definitions)}
        self._numbers: dict[int, str] = {}
        self._index_of: dict[int, int] = {}  # by the id of the node
        self._writer = Writer(shapes, code, self._numbers)
        self._unit = ""
        self._scopes: set[tuple[int, int]] = set()
        self._opened: dict[int, tuple[int, int]] = {}  # Of types whose members are known by their names alone.
        self._functions: list[tuple[Node, int]] = []
        self._bindings: list[_Binding] = []
        self._bound: list[Bound] = []
        self._imports: list[Imported] = []
        self._exports: list[Exported] = []
        self._objects: set[int] = set()  # Declarations of literals, which are instances.
        self._handed: set[int] = set()  # Objects of which others decide what their functions see as the own instance.
        self._selves: dict[int, Node] = {}  # By the function whose own instance it is.
        self._listed_names: set[tuple[int, str]] = set()  # Parameters of a function that are given from a list.
        self._nodes: dict[str, list[Node]] = {role: [] for role in (*_RESULTS, *_OUTER)}
        self._types: dict[tuple[int, int], int] = {}  # Scopes whose names are members.
        self._bodies: dict[tuple[int, int], int] = {}  # What is inside of functions.
        self._flows: list[Flow] = []
        self._gifts: list[Mention] = []
        self._written: list[tuple[Node, str]] = []  # Names that are written to where they are something else besides.
        self._uses: dict[int, _Used] = {}  # by the end of the name
        self._named: set[int] = set(self._by_name)  # starts of names that are declared, not mentioned
        self._repeated: tuple[str, str] = ("", "")
        self._variables: dict[str, list[int]] = {}

    def read(self, matches: Matches, path: str, language: str) -> FileFacts:
        """Return the facts of a file by what is found in its tree."""
        tree, by_role = matches.tree, self._sorted_matches(matches.facts)
        for role in _NUMBERED:
            for captures in sorted(by_role[role], key=lambda captures: "name" not in captures):
                self._number(role, captures)
        for role, found in by_role.items():
            if add := _ADD.get(role):
                for captures in found:
                    add(self, role, captures)
        for node, index in self._functions:
            self._read_function(node, index)
        self._add_results(tree)
        self._own_members()
        self._bind_own_instances()
        self._bind_all(tree)
        self._bound.sort(key=lambda bound: (bound.name, bound.start, -bound.stop))
        self._find_variables()
        return FileFacts(
            language,
            self._shapes.unit(path, self._unit),
            tree.root_node.has_error,
            [Declared(*astuple(draft)) for draft in self._drafts],
            self._imports,
            self._exports,
            self._bound,
            sorted([*self._mentions(), *self._gifts]),
            self._flows,
        )

    # ------------------------------------------------------------ matches

    def _sorted_matches(self, matches: Iterable[Match]) -> dict[str, list[Captures]]:
        """Return the matches by their role; of mentions only the first for each name."""
        roles: dict[int, tuple[str, str]] = {}  # Each with the use.
        stated: dict[int, _Used] = {}
        found: dict[str, list[Captures]] = {role: [] for role in _NUMBERED}
        for pattern, captures in matches:
            if pattern not in roles:
                role = _role(captures)
                roles[pattern] = (role, role.partition(".")[2] if role.startswith(_MENTIONS) else "")
            role, use = roles[pattern]
            if use:
                node = captures[role][0]
                end = node.end_byte
                uses = self._uses if role[0] == "u" else stated
                if end not in uses or pattern < uses[end][0]:
                    uses[end] = (pattern, use, node, captures)
            else:
                found.setdefault(role, []).append(captures)
        for end, (pattern, use, *_) in stated.items():
            if end in self._uses and pattern < self._uses[end][0]:
                self._uses[end] = (pattern, use, *self._uses[end][2:])
        return found

    def _number(self, role: str, captures: Captures) -> None:
        """Find the declaration of a function, type or object; a nameless one gets a place of its own."""
        node = captures[role][0]
        if node.id in self._index_of:
            return
        own = captures["name"][0] if "name" in captures else node.child_by_field_name("name")
        index = self._by_name.get(own.start_byte, -1) if own else -1
        if index < 0 or role == "object":
            index = len(self._drafts)
            self._drafts.append(self._nameless(node, role, own if role == "function" else None))
            if own and "name" not in captures:
                self._bound.append(Bound(self._writer.text(own), *node.byte_range, f"#{index}", index, "declared"))
        self._index_of[node.id] = index
        self._numbers[node.id] = f"#{index}!" if role == "object" else f"#{index}"
        if role == "object":
            self._objects.add(index)
        if bases := captures.get("extends"):
            draft = self._drafts[index]
            draft.bases += (BaseType(self._writer.type(bases[0]), "extends"),)
            draft.start, draft.at = node.parent.start_byte if node.parent else draft.start, bases[0].start_byte
            draft.line = self._code.row(draft.start) + 1
            self._opened[index] = node.byte_range
        if "of" in captures:
            self._drafts[index].owner = NO_OWNER
            self._selves[index] = captures["of"][0]
        if role == "function":
            self._functions.append((node, index))

    def _nameless(self, node: Node, role: str, own: Node | None) -> _Draft:
        kind = _KINDS.get(role, SymbolKind.TYPE)
        start = node.start_byte
        name = self._writer.text(own) if own else self._shapes.signatures.get(node.type, "")
        line = self._code.row(own.start_byte if own else start) + 1
        marks: tuple[str, ...] = (Mark.INTERFACE,) if node.type == "interface_type" else ()
        name = name.strip("'\"")
        return _Draft(name, "", kind.value, NO_OWNER, line, start, node.end_byte, start, marks=marks)

    def _add_unit(self, role: str, captures: Captures) -> None:
        self._unit = self._writer.text(captures[role][0])

    def _add_scope(self, role: str, captures: Captures) -> None:
        for node in captures[role]:
            self._scopes.add(node.byte_range)
            name = node.child_by_field_name("name") if self._shapes.passes_self else None
            if name and name.start_byte in self._by_name:
                self._types[node.byte_range] = self._by_name[name.start_byte]

    def _add_handed(self, role: str, captures: Captures) -> None:
        self._handed.add(self._index_of[captures[role][0].id])

    def _add_indexed(self, role: str, captures: Captures) -> None:
        node = captures[role][0]
        if node.parent and (index := self._index_of.get(node.parent.id)) is not None:
            self._drafts[index].value = self._writer.type(node)

    def _add_nodes(self, role: str, captures: Captures) -> None:
        self._nodes[role] += captures[role]

    # ------------------------------------------------------------ declarations

    def _add_type(self, role: str, captures: Captures) -> None:
        index = self._by_name.get(captures["name"][0].start_byte, -1)
        if index < 0:
            return
        draft = self._drafts[index]
        if role == "interface":
            draft.marks += (Mark.INTERFACE,)
            return
        if role == "aliased":
            draft.bases += (BaseType(self._writer.type(captures["type"][0]), role),)
            return
        if role == "marked":
            words = [word for one in captures["words"] for word in one.children]
            draft.marks += self._marks(words)
            return
        is_own = "type" in captures and self._index_of.get(captures["type"][0].id) == index
        if "type" in captures and not is_own:
            draft.value = self._writer.type(captures["type"][0])
        if role == "renames":
            draft.marks += (Mark.INTERFACE if is_own else Mark.ALIAS,)
        if parameters := captures.get("type_parameters"):
            draft.type_parameters = self._type_parameters(parameters[0], draft.start, draft.stop)

    def _add_mark(self, role: str, captures: Captures) -> None:
        index = self._by_name[captures["name"][0].start_byte]
        draft = self._drafts[index]
        if role == "listed":
            texts = map(self._writer.text, captures["words"])
            self._listed_names |= {(index, name.strip()) for text in texts for name in text.split(",")}
        elif role in _MARKS:
            draft.marks += tuple(mark for role, mark in _MARKS.items() if role in captures)
        else:
            draft.decorators += (self._writer.value(captures[role][0]),)

    def _marks(self, words: Iterable[Node]) -> tuple[str, ...]:
        marks = self._shapes.marks
        return tuple(marks[kind] for kind in [word.type for word in words] if kind in marks)

    def _type_parameters(self, node: Node, start: int, stop: int) -> tuple[str, ...]:
        names: list[str] = []
        for child in arguments(node):
            above = self._least(child)
            for name in child.children_by_field_name("name") or [leaf(child)]:
                self._named.add(name.start_byte)
                names.append(self._writer.text(name))
                self._bound.append(Bound(names[-1], start, stop, above, start, "type"))
        return tuple(names)

    def _least(self, node: Node) -> str:
        """Return what a type parameter is at least."""
        rule = self._shapes.bound
        if not isinstance(rule, str):
            return rule(self._writer, node)
        bound = node.child_by_field_name(rule) if rule else None
        return self._writer.type(bound) if bound else ""

    def _add_open(self, role: str, captures: Captures) -> None:
        body = captures[role][0].byte_range
        if given := captures.get("value"):
            self._bound.append(Bound("", *body, self._writer.value(given[0]), given[0].start_byte, "open"))
        else:
            self._opened[self._by_name[captures["name"][0].start_byte]] = body

    def _add_bases(self, role: str, captures: Captures) -> None:
        for node in captures[role]:
            index = self._innermost_declaration(node.start_byte)
            if index >= 0:
                self._drafts[index].bases += (BaseType(self._writer.type(node), role),)

    def _innermost_declaration(self, at: int) -> int:
        """Return the smallest declaration around a byte."""
        around = [
            (draft.stop - draft.start, index)
            for index, draft in enumerate(self._drafts)
            if draft.start <= at < draft.stop
        ]
        return min(around)[1] if around else -1

    def _read_function(self, node: Node, index: int) -> None:
        draft = self._drafts[index]
        kinds = ("receiver", "parameter", "parameters", self._shapes.result)
        fields = [(kind, node.child_by_field_name(kind)) for kind in kinds]
        start = max((child.end_byte for _, child in fields if child), default=node.start_byte)
        draft.value = self._shapes.results(self._writer, fields[-1][1])
        draft.at = node.start_byte
        draft.parameters = ()
        draft.marks += self._marks(node.children)
        for kind, child in fields:
            has_names = child is not None and (kind != self._shapes.result or child.type == "parameter_list")
            found = self._writer.parameters(child) if has_names else []
            if kind == "receiver" and found:  # Its type arguments are names for those of the type.
                named = found[0][0].value.partition("<")[2].rstrip("!>")
                draft.type_parameters = tuple(named.split(",")) if named else ()
                self._bound += [
                    Bound(one, node.start_byte, node.end_byte, "", node.start_byte, "type")
                    for one in draft.type_parameters
                ]
            if child and kind.startswith("parameter"):
                draft.parameters = tuple(parameter for parameter, _ in found)
            for place, (parameter, name) in enumerate(found):
                if name is not None and name.type in _NAMES:
                    self._named.add(name.start_byte)
                    value = (place == 0 and self._self_of(draft)) or self._given(index, parameter, name)
                    self._bound.append(Bound(parameter.name, start, node.end_byte, value, node.start_byte, "parameter"))
        if parameters := node.child_by_field_name("type_parameters"):
            draft.type_parameters = self._type_parameters(parameters, node.start_byte, node.end_byte)
        body = (start, node.end_byte) if self._shapes.passes_self else node.byte_range
        self._scopes.add(body)
        self._bodies[body] = index
        if node.type in self._shapes.selves:
            self._bind_self(node, index)

    def _given(self, index: int, parameter: Parameter, name: Node) -> str:
        """Return what a parameter holds: that of a test what the function of its name gives, which it mentions."""
        is_listed = parameter.optional or parameter.rest or (index, parameter.name) in self._listed_names
        if is_listed or Mark.GIVEN not in self._drafts[index].marks:
            return parameter.value
        at = name.start_byte
        self._gifts.append(Mention(at, self._code.row(at) + 1, parameter.name, Use.CALL, module(GIVEN)))
        return f"{module(GIVEN)}.{parameter.name}()" if parameter.value == UNKNOWN else parameter.value

    def _self_of(self, draft: _Draft) -> str:
        """Return what the first parameter of a method is, where the language passes the own instance so."""
        is_method = draft.kind == SymbolKind.METHOD and draft.owner >= 0 and self._shapes.passes_self
        if not is_method or Mark.STATIC in draft.marks:
            return ""
        return f"^#{draft.owner}" if Mark.CLASS in draft.marks else f"#{draft.owner}!"

    def _bind_self(self, node: Node, index: int) -> None:
        """Bind the name of the own instance in a function: the object or type whose member it is, or its own."""
        owner = self._drafts[index].owner
        if index in self._selves:
            value = self._writer.value(self._selves[index])
        elif owner in self._handed:
            value = UNKNOWN
        elif owner >= 0 and self._drafts[owner].kind == SymbolKind.TYPE:
            value = f"#{owner}" if Mark.STATIC in self._drafts[index].marks else f"#{owner}!"
        else:
            value = f"#{index}+()"
        self._bound.append(Bound(self._shapes.this, *node.byte_range, value, node.start_byte))

    def _add_results(self, tree: Tree) -> None:
        """Give functions without a declared result what they return."""
        spans = {node.byte_range: index for node, index in self._functions}
        for role in _RESULTS:
            nodes = sorted(self._nodes[role], key=lambda node: node.start_byte)
            around = _innermost(_by_place({*spans, _whole(tree)}), [node.byte_range for node in nodes])
            for node, span in zip(nodes, around, strict=True):
                draft = self._drafts[spans[span]] if span in spans else None
                if draft and role == "yielded" and Mark.GENERATOR not in draft.marks:
                    draft.marks += (Mark.GENERATOR,)
                if draft is None or draft.value:
                    continue
                if role == "yielded" or not self._nodes["yielded"] or Mark.GENERATOR not in draft.marks:
                    draft.returns += ((node.start_byte, self._writer.value(node)),)

    def _add_member(self, role: str, captures: Captures) -> None:
        """Give a member of a nameless type or an object its owner; it may be declared by nothing else."""
        node, name = captures[role][0], captures["name"][0]
        owner = self._index_of.get(node.parent.id, NO_OWNER) if node.parent else NO_OWNER
        value = captures.get("value", [name])[0]
        index = self._index_of.get(value.id, self._by_name.get(name.start_byte, self._index_of.get(node.id, -1)))
        if index < 0 or index in self._objects:
            index = len(self._drafts)
            self._drafts.append(self._nameless(node, "field", name))
            if name not in captures.get("value", ()):
                self._named.add(name.start_byte)
            self._add_held(index, node, captures)
        self._drafts[index].owner = owner

    def _add_held(self, index: int, node: Node, captures: Captures) -> None:
        """Say what a field holds; one that holds what a name means is another name for it."""
        draft = self._drafts[index]
        draft.value = self._values(node, captures, 1)[0]
        if "value" in captures and captures["value"][0].type.endswith("identifier"):
            draft.marks += (Mark.ALIAS,)

    def _bind_own_instances(self) -> None:
        for index, draft in enumerate(self._drafts):
            if draft.kind == SymbolKind.TYPE and index not in self._objects:
                start, stop = self._opened.get(index, (draft.start, draft.stop))
                for name, value in ((self._shapes.this, f"#{index}!"), (self._shapes.above, f"%{index}")):
                    if name:
                        self._bound.append(Bound(name, start, stop, value, draft.start))
                if index in self._opened:
                    self._bound.append(Bound("", start, stop, f"#{index}!", draft.start, "open"))

    def _own_members(self) -> None:
        """Give what is declared inside nameless functions and types its owner."""
        inside: list[int] = []
        spans = [(draft.start, -draft.stop, index) for index, draft in enumerate(self._drafts)]
        for _, _, index in sorted(spans):
            draft = self._drafts[index]
            while inside and self._drafts[inside[-1]].stop < draft.stop:
                inside.pop()
            is_named = index < len(self._definitions) and draft.owner != NO_OWNER
            if is_named and inside and inside[-1] >= len(self._definitions) and inside[-1] not in self._objects:
                draft.owner = inside[-1]
            if draft.kind in _AROUND:
                inside.append(index)

    # ------------------------------------------------------------ names

    def _add_binding(self, role: str, captures: Captures) -> None:
        names = [name for node in captures["name"] for name in self._listed(node)]
        node = captures[role][0]
        if "part" in captures and self._is_assigned(node):
            self._written += [(one, self._writer.text(one)) for one in names if one.type != "identifier"]
            return
        at = captures["name"][0].start_byte if role == "narrows" else node.start_byte
        values = self._values(node, captures, len(names))
        bound: list[tuple[str, str]] = []
        for name, value in self._taken_apart(zip(names, values, strict=True)):
            index = self._by_name.get(name.start_byte)
            if index is not None:
                if self._drafts[index].kind not in _DEFINED:
                    self._drafts[index].value, self._drafts[index].at = value, node.start_byte
                    self._drafts[index].parameters = () if role == "bind.accessor" else None
            elif name.type in self._shapes.members and role == "bind.block":
                of, own = (name.child_by_field_name(part) for part in self._shapes.members[name.type])
                if of and own and of.type in _NAMES:
                    named = [(self._writer.text(own), value)]
                    self._bindings.append(_Binding(node, "bind.member", named, at, at, of=self._writer.text(of)))
                continue
            elif name.type not in _NAMES and role != "bind.type":
                continue
            else:
                bound.append((self._writer.text(name), value))
            if role != "narrows":
                self._named.add(name.start_byte)
        if bound:
            first = captures["after"][0].end_byte if "after" in captures else node.start_byte
            first = node.end_byte if role == "bind" else first
            self._bindings.append(_Binding(node, role, bound, at, first, "part" in captures))

    def _is_assigned(self, pattern: Node) -> bool:
        """Return whether a pattern stands in an assignment: it binds no names."""
        around = pattern.parent
        while around is not None and around.type.endswith("_pattern"):
            around = around.parent
        return around is not None and around.type == self._shapes.assigning

    def _taken_apart(self, pairs: Iterable[tuple[Node, str]]) -> Iterator[tuple[Node, str]]:
        """Yield the names of patterns, each with its part of the value."""
        for name, value in pairs:
            if name.type in self._shapes.patterns:
                parts = arguments(name)
                is_known = value != UNKNOWN and not any(part.type in self._shapes.spreads for part in parts)
                values = [f"{value}[{place}]" if is_known else UNKNOWN for place in range(len(parts))]
                yield from self._taken_apart(zip(parts, values, strict=True))
            elif name.type in self._shapes.spreads:
                yield arguments(name)[0], UNKNOWN
            else:
                yield name, value

    def _values(self, node: Node, captures: Captures, count: int) -> list[str]:
        """Return what each of the names holds."""
        if "part" in captures and self._shapes.taken:
            return [self._shapes.taken(self._writer, captures["part"][0])]
        kinds = captures.get("type", ())
        if kinds and self._writer.text(kinds[0]) not in self._shapes.inferred:
            found = [self._writer.typed(kinds[0])] * count
        elif loop := captures.get("loop"):
            value = self._writer.value(loop[0])
            found = [value if value == UNKNOWN else f"{value}{step}" for step in self._shapes.loops[:count]]
        elif entered := next((role for role in self._shapes.enter if role in captures), ""):
            value = self._writer.value(captures[entered][0])
            found = [value if value == UNKNOWN else f"{value}{self._shapes.enter[entered]}"]
        elif values := captures.get("value"):
            given = [value for one in values for value in self._listed(one)]
            if len(given) == count:
                found = [self._writer.value(value) for value in given]
            else:
                found = self._unpacked(given[0], count)
        elif node.type in self._shapes.repeated:
            return [self._repeated[0] or LITERAL] * count
        else:
            found = [self._shapes.unset] * count
        if node.type in self._shapes.repeated:
            self._repeated = (found[0], "")
        return found

    def _unpacked(self, value: Node, count: int) -> list[str]:
        text = self._writer.value(value)
        if value.type in self._shapes.alone:
            return [text, *[LITERAL] * (count - 1)]
        return [UNKNOWN if text == UNKNOWN else f"{text}[{place}]" for place in range(count)]

    def _listed(self, node: Node) -> list[Node]:
        return arguments(node) if node.type in self._shapes.lists else [node]

    def _bind_all(self, tree: Tree) -> None:
        """Bind names from where they are visible to the end of their scope."""
        scopes = _by_place(self._scopes | {_whole(tree)})
        self._bindings.sort(key=lambda binding: binding.node.start_byte)
        around = _innermost(scopes, [binding.node.byte_range for binding in self._bindings])
        elsewhere = self._bound_elsewhere(scopes)
        for binding, (start, stop) in zip(self._bindings, around, strict=True):
            owner = self._types.get((start, stop), -1) if binding.role == "bind.block" else -1
            if binding.role == "bind.member":
                owner = self._type_of_self(scopes, (start, stop), binding.of)
            self._written += [
                (binding.node, name) for name, _ in binding.names if elsewhere.get((start, stop, name), (1, 0))[0] == 0
            ]
            if owner >= 0 or binding.role == "bind.member":
                self._add_fields(owner, binding)
                continue
            first = binding.first
            if binding.role in ("within", "narrows"):
                stop = binding.node.end_byte
            elif binding.role != "bind":
                first = start
            self._bound += [
                Bound(name, *elsewhere.get((start, stop, name), (first, stop)), value, binding.at, binding.kind(value))
                for name, value in binding.names
                if name != "_" and not (binding.role == "narrows" and self._is_bound(name, first, stop))
            ]
        self._bind_declared(scopes)

    def _is_bound(self, name: str, start: int, stop: int) -> bool:
        """Return whether a name is bound between two offsets, for whatever follows."""
        return any(
            start <= one.node.start_byte < stop
            and one.role != "narrows"
            and any(name == other for other, _ in one.names)
            for one in self._bindings
        )

    def _bound_elsewhere(self, scopes: Sequence[tuple[int, int]]) -> dict[tuple[int, int, str], tuple[int, int]]:
        """Return the scopes of the names that a function says to be of another one."""
        found = {}
        for role in _OUTER:
            nodes = sorted(self._nodes[role], key=lambda node: node.start_byte)
            for node, span in zip(nodes, _innermost(scopes, [node.byte_range for node in nodes]), strict=True):
                around = [one for one in scopes if one[0] <= span[0] and span[1] <= one[1] and one != span] or [span]
                found[*span, self._writer.text(node)] = around[0] if role == "global" else around[-1]
        return found

    def _type_of_self(self, scopes: Sequence[tuple[int, int]], inside: tuple[int, int], name: str) -> int:
        """Return the type whose own instance a name is inside of a scope, -1 if it is none; "" is the nearest type."""
        for span in reversed(scopes):
            index = self._bodies.get(span, -1)
            if index < 0 or not (span[0] <= inside[0] and inside[1] <= span[1]):
                continue
            draft = self._drafts[index]
            if not name:
                return draft.owner
            if draft.parameters and draft.parameters[0].name == name:
                return draft.owner if self._self_of(draft) else -1
        return -1

    def _add_fields(self, owner: int, binding: _Binding) -> None:
        """Declare what is bound as a member of a type."""
        at = binding.node.start_byte
        for name, value in binding.names if owner >= 0 else ():
            qualified, line = f"{self._drafts[owner].qualified}.{name}", self._code.row(at) + 1
            self._drafts.append(_Draft(name, qualified, SymbolKind.FIELD.value, owner, line, at, at, at, value))

    def _bind_declared(self, scopes: Sequence[tuple[int, int]]) -> None:
        """Bind what is declared inside functions and modules, in the blocks where it is."""
        inner = [
            (draft.start, draft.stop, index)
            for index, draft in enumerate(self._drafts[: len(self._definitions)])
            if draft.owner >= 0 and self._drafts[draft.owner].kind in _BLOCKS and draft.kind != SymbolKind.FIELD
        ]
        inner.sort()
        for (at, _, index), (start, stop) in zip(inner, _innermost(scopes, [one[:2] for one in inner]), strict=True):
            self._bound.append(Bound(self._drafts[index].name, start, stop, f"#{index}", at, "declared"))

    def _texts_of(self, role: str, captures: Captures) -> dict[str, str]:
        """Return the texts of the parts of an import or export, with the module of the statement around it."""
        texts = {kind: self._writer.text(nodes[0]) for kind, nodes in captures.items() if kind != role}
        if "module" not in texts and (source := self._source_around(captures[role])):
            texts["module"] = self._writer.text(source[0])
        return texts

    def _add_import(self, role: str, captures: Captures) -> None:
        texts = self._texts_of(role, captures)
        if "module" not in texts:  # A statement with errors.
            return
        item = texts.get("item", "").strip("'\"") or _IMPORTS[role]
        name = texts.get("alias") or texts.get("item", "")
        if name in (".", "*"):
            name, item = "", "*"
        self._imports.append(Imported(name, texts["module"].strip("\"'`"), item, 0, len(self._code.data) + 1))
        if name and self._shapes.binds_imports:
            value = f"{module(texts['module'])}.{item}" if item else module(texts["module"])
            node = captures[role][0]
            self._bindings.append(_Binding(node, "bind.block", [(name, value)], node.start_byte, node.start_byte))

    def _add_export(self, role: str, captures: Captures) -> None:
        texts = self._texts_of(role, captures)
        name = texts.get("alias") or texts.get("name", "")
        value = self._writer.value(captures["value"][0]) if "value" in captures else texts.get("name", "")
        module = texts.get("module", "").strip("\"'`")
        item = texts.get("name", "") if module else ""
        self._exports.append(
            Exported(_EXPORTS[role] or name, "" if module else value, module, item, captures[role][0].start_byte)
        )

    def _add_flow(self, role: str, captures: Captures) -> None:
        given = captures[role][0]
        value, argument = self._writer.value(given), -1
        if value == LITERAL:
            return
        if kind := captures.get("into.type"):
            into = f"{instance(self._writer.type(kind[0]))}.{self._writer.text(captures['into.field'][0])}"
        elif "into" in captures:
            into = self._writer.value(captures["into"][0])
        else:
            into, argument = self._place(given)
        self._flow(given, into, argument, value)

    def _add_passed(self, role: str, captures: Captures) -> None:
        for place, given in enumerate(arguments(captures[role][0])):
            value = self._writer.value(given) if given.type in self._shapes.passed else UNKNOWN
            if value not in (LITERAL, UNKNOWN):
                self._flow(given, self._writer.value(captures["into.function"][0]), place, value)

    def _flow(self, given: Node, into: str, argument: int, value: str) -> None:
        if not into.startswith(UNKNOWN):
            self._flows.append(Flow(given.start_byte, into, argument, value))

    def _place(self, node: Node) -> tuple[str, int]:
        """Return what the place of a value expects: a function and the number of the argument, or a value and -1."""
        expected = self._writer.expected(node)
        function, _, number = expected.rpartition("@")
        return (function, int(number)) if function and number.isdecimal() else (expected, -1)

    def _mentions(self) -> Iterable[Mention]:
        """Yield the mentions, without reads and writes of variables; a call of a variable may reach what it holds."""
        for node, name in self._written:
            if not self._is_variable(name, node.start_byte):
                yield Mention(node.start_byte, self._code.row(node.start_byte) + 1, name, Use.WRITE, "")
        inferred, unmentioned = self._shapes.inferred, self._shapes.unmentioned
        for _, use, node, captures in self._uses.values():
            start = node.start_byte
            is_declared = start in self._named and (start in self._by_name or "from" not in captures)
            if use == "none" or (is_declared and "named" not in captures):
                continue
            name = self._writer.text(captures["named"][0] if "named" in captures else node)
            if len(captures) == 1 and use in _READ_OR_WRITTEN and self._is_variable(name, start):
                continue
            if name in inferred:
                continue
            if use == "called":
                name, use = "", Use.CALL.value
            before, kind = captures.get("from"), captures.get("from.type")
            if before:
                receiver = self._writer.value(before[0])
            elif kind:
                receiver = instance(self._writer.type(kind[0]))
            elif before := captures.get("from.module") or self._source_around(captures.get("from.around")):
                receiver = module(self._writer.text(before[0]))
            elif use == "field":
                receiver, use = UNKNOWN, Use.WRITE.value
            elif "from.other" in captures:
                receiver = UNKNOWN
            elif use in _READ_OR_WRITTEN and self._is_variable(name, start):
                continue
            else:
                receiver = ""
            if receiver in unmentioned.get(name, ()):
                continue
            given = self._arguments(captures["arguments"][0]) if "arguments" in captures else (-1, "")
            yield Mention(start, self._code.row(start) + 1, name, use, receiver, *given)

    def _arguments(self, node: Node) -> tuple[int, str]:
        """Return the number of the arguments of a call, and what they are where functions are told apart by them."""
        given = arguments(node)
        values = self._writer.given(given) if self._shapes.overloads else []
        return len(given), f"({';'.join(values)})" if set(values) - {UNKNOWN} else ""

    def _source_around(self, nodes: Sequence[Node] | None) -> list[Node]:
        """Return the module of the statement around a name that it imports or exports, if it has one."""
        node = nodes[0] if nodes else None
        for _ in range(4):
            if node is None:
                break
            if source := node.child_by_field_name("source"):
                return [source]
            node = node.parent
        return []

    def _find_variables(self) -> None:
        """Collect for each name where it holds a value: the offsets at which that begins and ends, in turn."""
        named = {(bound.name, bound.stop) for bound in self._bound if bound.kind in ("declared", "alias")}
        for bound in self._bound:
            if (bound.name, bound.stop) not in named and (bound.start or not self._shapes.binds_imports):
                ends = self._variables.setdefault(bound.name, [])
                if not ends or bound.start > ends[-1]:
                    ends += (bound.start, bound.stop)
                ends[-1] = max(ends[-1], bound.stop)

    def _is_variable(self, name: str, at: int) -> bool:
        return bisect_right(self._variables.get(name, ()), at) % 2 == 1


def _role(captures: Captures) -> str:
    """Return the role of a match: the mention, or what is not only a part of another."""
    for name in captures:
        if name.startswith(_MENTIONS):
            return name
    return next(role for role in (*_NUMBERED, *_ADD) if role in captures)


_ADD: Mapping[str, Callable[[FactReader, str, Captures], None]] = {  # A match is of the first role that it has.
    "handed": FactReader._add_handed,
    "member": FactReader._add_member,
    "indexed": FactReader._add_indexed,
    **dict.fromkeys(_RESULTS, FactReader._add_nodes),
    **dict.fromkeys((*_MARKS, "listed", "decorator"), FactReader._add_mark),
    **dict.fromkeys(_OUTER, FactReader._add_nodes),
    **dict.fromkeys(_BINDERS, FactReader._add_binding),
    **dict.fromkeys(_TYPES, FactReader._add_type),
    "open": FactReader._add_open,
    "unit": FactReader._add_unit,
    "scope": FactReader._add_scope,
    **dict.fromkeys(_BASES, FactReader._add_bases),
    **dict.fromkeys(_IMPORTS, FactReader._add_import),
    **dict.fromkeys(_EXPORTS, FactReader._add_export),
    "given": FactReader._add_flow,
    "passed": FactReader._add_passed,
}


def _draft(definition: Definition, code: SourceCode) -> _Draft:
    kind = definition.kind.value if definition.kind else "scope"
    return _Draft(
        definition.name,
        definition.qualified_name,
        kind,
        definition.parent,
        code.row(definition.name_start) + 1,
        definition.start,
        definition.end,
        definition.start,
        marks=(Mark.ABSTRACT,) if definition.is_declared else (),
    )


def _by_place(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in the order of the file, outer ones first."""
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _whole(tree: Tree) -> tuple[int, int]:
    return (0, tree.root_node.end_byte + 1)


def _innermost(scopes: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the smallest scope around each span, which is not the span itself; all in the order of the file."""
    found: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []
    following = 0
    for start, stop in spans:
        while following < len(scopes) and scopes[following][0] <= start:
            while stack and stack[-1][1] <= scopes[following][0]:
                stack.pop()
            stack.append(scopes[following])
            following += 1
        while stack and stack[-1][1] <= start:
            stack.pop()
        found.append(next(scope for scope in reversed(stack) if scope[1] >= stop and scope != (start, stop)))
    return found
