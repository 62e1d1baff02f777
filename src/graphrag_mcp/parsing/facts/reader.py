"""Reads the facts of a file from its syntax tree.

The vocabulary of `queries/*.facts.scm`; names of captures that begin with "_" serve predicates:

    @unit        the package or namespace that the file says to be in
    @scope       a block: what is bound in it ends with it
    @function    a function, whether it has a name or not
    @nameless    a type without a name; @own is one that belongs to the declaration called @name
    @interface   a type with abstract members, with @name
    @stands      a declaration with @name that stands for @type, optionally with @type_parameters; @renames one that is
                 the same type
    @bind        names (@name) that hold a @type or @value, or what a loop over @loop gives; visible from its end to the
                 end of its scope, @bind.block in all of its scope, @bind.function in all of its function
    @within      the block in which @name holds @type or @value
    @embeds @extends @implements   a type on which the declaration around it is based
    @import      an import of @module, optionally with @item and @alias
    @into        a field that is @given a value; @into.type and @into.field, or @into.function, likewise
    @use.*       a mention, of the use after the dot (`model.facts.Use`), with @from (the value before the dot) or
                 @from.type (the type whose member it is); the first pattern that fits a name decides
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor, Tree

from graphrag_mcp.model.facts import BaseType, Bound, Declared, FileFacts, Flow, Imported, Mark, Mention, Parameter, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.parsing.code.syntax import SourceCode
from graphrag_mcp.parsing.facts.expressions import LITERAL, UNKNOWN, Shapes, Writer, arguments, instance
from graphrag_mcp.parsing.outline import Definition

_Captures = dict[str, list[Node]]
_BASES = ("embeds", "extends", "implements")
_BINDERS = ("bind", "bind.block", "bind.function", "within")


@dataclass(slots=True)
class _Draft:
    """A declaration while it is read."""

    name: str
    qualified: str
    kind: str
    owner: int
    line: int
    start: int
    stop: int
    at: int
    value: str = ""
    returns: list[tuple[int, str]] = field(default_factory=list)
    parameters: tuple[Parameter, ...] | None = None
    type_parameters: tuple[str, ...] = ()
    bases: list[BaseType] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    def done(self) -> Declared:
        return Declared(
            self.name,
            self.qualified,
            self.kind,
            self.owner,
            self.line,
            self.start,
            self.stop,
            self.at,
            self.value,
            tuple(self.returns),
            self.parameters,
            self.type_parameters,
            tuple(self.bases),
            tuple(self.marks),
        )


@dataclass(slots=True)
class _Binding:
    """Names that a node binds, before its scope is known."""

    node: Node
    role: str
    names: list[tuple[str, str]]  # Each with its value.


class FactReader:
    """Collects the facts of one file."""

    def __init__(self, code: SourceCode, shapes: Shapes, definitions: Sequence[Definition]) -> None:
        self._code, self._shapes = code, shapes
        self._drafts = [_draft(definition, code) for definition in definitions]
        self._definitions = definitions
        self._by_name = {definition.name_start: index for index, definition in enumerate(definitions)}
        self._numbers: dict[int, int] = {}
        self._writer = Writer(shapes, code, self._numbers)
        self._unit = ""
        self._scopes: set[tuple[int, int]] = set()
        self._functions: list[tuple[Node, int]] = []
        self._bindings: list[_Binding] = []
        self._bound: list[Bound] = []
        self._imports: list[Imported] = []
        self._flows: list[Flow] = []
        self._uses: dict[int, tuple[int, str, Node, _Captures]] = {}  # by the start of the name
        self._named: set[int] = set(self._by_name)  # starts of names that are declared, not mentioned
        self._repeated: tuple[str, str] = ("", "")
        self._variables: dict[str, list[tuple[int, int]]] = {}

    def read(self, query: Query, tree: Tree, path: str, language: str) -> FileFacts:
        """Return the facts that the query finds in the tree of a file."""
        matches = self._sorted_matches(query, tree)
        for captures in matches["own"]:
            self._numbers[captures["own"][0].id] = self._by_name[captures["name"][0].start_byte]
        for role in ("function", "nameless"):
            for captures in matches[role]:
                self._number(captures[role][0], role)
        for role, found in matches.items():
            for captures in found:
                self._add(role, captures)
        for node, index in self._functions:
            self._read_function(node, index)
        self._own_members()
        self._bind_own_instances()
        self._bind_all(tree)
        for bound in self._bound:
            if bound.kind != "declared":
                self._variables.setdefault(bound.name, []).append((bound.start, bound.stop))
        return FileFacts(
            language,
            self._shapes.unit(path, self._unit),
            tree.root_node.has_error,
            [draft.done() for draft in self._drafts],
            self._imports,
            [],
            sorted(self._bound, key=lambda bound: (bound.name, bound.start, -bound.stop)),
            sorted(self._mentions()),
            self._flows,
        )

    # ------------------------------------------------------------ matches

    def _sorted_matches(self, query: Query, tree: Tree) -> dict[str, list[_Captures]]:
        """Return the matches by their role; of mentions only the first for each name."""
        roles: dict[int, str] = {}
        found: dict[str, list[_Captures]] = {"own": [], "function": [], "nameless": []}
        for pattern, captures in QueryCursor(query).matches(tree.root_node):
            role = roles.get(pattern)
            if role is None:
                role = roles[pattern] = _role(captures)
            if role.startswith("use."):
                node = captures[role][0]
                known = self._uses.get(node.start_byte)
                if known is None or pattern < known[0]:
                    self._uses[node.start_byte] = (pattern, role[4:], node, captures)
            else:
                found.setdefault(role, []).append(captures)
        return found

    def _number(self, node: Node, role: str) -> None:
        """Give a nameless function or type a place among the declarations."""
        name = node.child_by_field_name("name")
        index = self._by_name.get(name.start_byte, -1) if name else -1
        if index < 0 and node.id in self._numbers:  # The type of a declaration with a name.
            return
        if index < 0:
            index = self._numbers[node.id] = len(self._drafts)
            kind = SymbolKind.FUNCTION if role == "function" else SymbolKind.TYPE
            start = node.start_byte
            line = self._code.row(start) + 1
            self._drafts.append(_Draft("", "", kind.value, -1, line, start, node.end_byte, start))
            if node.type == "interface_type":
                self._drafts[-1].marks.append(Mark.INTERFACE)
        if role == "function":
            self._functions.append((node, index))

    def _add(self, role: str, captures: _Captures) -> None:
        if role == "unit":
            self._unit = self._writer.text(captures[role][0])
        elif role == "scope":
            self._scopes.update(node.byte_range for node in captures[role])
        elif role in _BINDERS:
            self._add_binding(role, captures)
        elif role in ("stands", "renames", "interface"):
            self._add_type(role, captures)
        elif role in _BASES:
            for node in captures[role]:
                self._add_base(node, role)
        elif role == "import":
            self._add_import(captures)
        elif role == "given":
            self._add_flow(captures)

    # ------------------------------------------------------------ declarations

    def _add_type(self, role: str, captures: _Captures) -> None:
        index = self._by_name.get(captures["name"][0].start_byte, -1)
        if index < 0:
            return
        draft = self._drafts[index]
        if role == "interface":
            draft.marks.append(Mark.INTERFACE)
            return
        kind = captures["type"][0]
        if kind.id not in self._numbers:
            draft.value = self._writer.type(kind)
        if role == "renames":
            draft.marks.append(Mark.ALIAS)
        if parameters := captures.get("type_parameters"):
            draft.type_parameters = self._type_parameters(parameters[0], draft.start, draft.stop)

    def _type_parameters(self, node: Node, start: int, stop: int) -> tuple[str, ...]:
        nodes = [name for child in arguments(node) for name in child.children_by_field_name("name") or [child]]
        names = [self._writer.text(name) for name in nodes]
        self._named.update(name.start_byte for name in nodes)
        self._bound += [Bound(name, start, stop, "", start, "type") for name in names]
        return tuple(names)

    def _add_base(self, node: Node, role: str) -> None:
        index = self._innermost_declaration(node.start_byte)
        if index >= 0:
            self._drafts[index].bases.append(BaseType(self._writer.type(node), role))

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
        fields = [(kind, node.child_by_field_name(kind)) for kind in ("receiver", "parameters", self._shapes.result)]
        start = max((child.end_byte for _, child in fields if child), default=node.start_byte)
        draft.value = self._shapes.results(self._writer, fields[-1][1])
        draft.at = node.start_byte
        for kind, child in fields:
            found = self._writer.parameters(child) if child else []
            if kind == "receiver" and found:  # Its type arguments are names for those of the type.
                named = found[0][0].value.partition("<")[2].rstrip("!>")
                draft.type_parameters = tuple(named.split(",")) if named else ()
                self._bound += [
                    Bound(one, node.start_byte, node.end_byte, "", node.start_byte, "type")
                    for one in draft.type_parameters
                ]
            if kind == "parameters":
                draft.parameters = tuple(parameter for parameter, _ in found)
            for parameter, name in found:
                if name is not None:
                    self._named.add(name.start_byte)
                    self._bound.append(
                        Bound(parameter.name, start, node.end_byte, parameter.value, node.start_byte, "parameter")
                    )
        if parameters := node.child_by_field_name("type_parameters"):
            draft.type_parameters = self._type_parameters(parameters, node.start_byte, node.end_byte)
        self._scopes.add(node.byte_range)

    def _bind_own_instances(self) -> None:
        for index, draft in enumerate(self._drafts):
            if draft.kind == SymbolKind.TYPE:
                for name, value in ((self._shapes.this, f"#{index}!"), (self._shapes.above, f"%{index}")):
                    if name:
                        self._bound.append(Bound(name, draft.start, draft.stop, value, draft.start))

    def _own_members(self) -> None:
        """Give the members of nameless types their owner, and bind what functions declare."""
        nameless = [
            (draft.start, draft.stop, index)
            for index, draft in enumerate(self._drafts)
            if index >= len(self._definitions) and draft.kind == SymbolKind.TYPE
        ]
        for draft in self._drafts[: len(self._definitions)]:
            around = [
                (stop - start, index) for start, stop, index in nameless if start < draft.start and draft.stop <= stop
            ]
            owner = self._drafts[draft.owner] if draft.owner >= 0 else None
            if around and (owner is None or min(around)[0] < owner.stop - owner.start):
                draft.owner = min(around)[1]

    # ------------------------------------------------------------ names

    def _add_binding(self, role: str, captures: _Captures) -> None:
        names = [name for node in captures["name"] for name in self._listed(node)]
        node = captures[role][0]
        values = self._values(node, captures, len(names))
        bound: list[tuple[str, str]] = []
        for name, value in zip(names, values, strict=True):
            index = self._by_name.get(name.start_byte)
            if index is not None:
                self._drafts[index].value, self._drafts[index].at = value, node.start_byte
            elif name.type not in ("identifier",):
                continue
            else:
                bound.append((self._writer.text(name), value))
            self._named.add(name.start_byte)
        if bound:
            self._bindings.append(_Binding(node, role, bound))

    def _values(self, node: Node, captures: _Captures, count: int) -> list[str]:
        """Return what each of the names holds."""
        if kinds := captures.get("type"):
            found = [self._writer.typed(kinds[0])] * count
        elif loop := captures.get("loop"):
            value = self._writer.value(loop[0])
            found = [value if value == UNKNOWN else f"{value}{step}" for step in ("[@]", "[*]")[:count]]
        elif values := captures.get("value"):
            given = [value for one in values for value in self._listed(one)]
            if len(given) == count:
                found = [self._writer.value(value) for value in given]
            else:
                found = self._unpacked(given[0], count)
        elif node.type in self._shapes.repeated:
            return [self._repeated[0] or LITERAL] * count
        else:
            found = [UNKNOWN] * count
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
        scopes = sorted(self._scopes | {(0, tree.root_node.end_byte + 1)}, key=lambda span: (span[0], -span[1]))
        self._bindings.sort(key=lambda binding: binding.node.start_byte)
        around = _innermost(scopes, [binding.node for binding in self._bindings])
        for binding, (start, stop) in zip(self._bindings, around, strict=True):
            at = binding.node.start_byte
            first = binding.node.end_byte
            if binding.role == "within":
                first, stop = binding.node.byte_range
            elif binding.role != "bind":
                first = start
            self._bound += [Bound(name, first, stop, value, at) for name, value in binding.names if name != "_"]
        callables = (SymbolKind.FUNCTION, SymbolKind.METHOD)
        for index, draft in enumerate(self._drafts[: len(self._definitions)]):
            if draft.owner >= 0 and self._drafts[draft.owner].kind in callables and draft.kind != SymbolKind.FIELD:
                owner = self._drafts[draft.owner]
                self._bound.append(Bound(draft.name, owner.start, owner.stop, f"#{index}", draft.start, "declared"))

    def _add_import(self, captures: _Captures) -> None:
        module = self._writer.text(captures["module"][0]).strip("\"'`")
        alias = self._writer.text(captures["alias"][0]) if "alias" in captures else ""
        node = captures["import"][0]
        item = "*" if alias == "." else ""
        self._imports.append(Imported("" if item else alias, module, item, 0, len(self._code.data) + 1))
        del node

    def _add_flow(self, captures: _Captures) -> None:
        given = captures["given"][0]
        value = self._writer.value(given)
        if value in (UNKNOWN, LITERAL):
            return
        argument = -1
        if function := captures.get("into.function"):
            into = self._writer.value(function[0])
            parent = given.parent
            argument = [child.id for child in arguments(parent)].index(given.id) if parent else 0
        elif kind := captures.get("into.type"):
            into = f"{instance(self._writer.type(kind[0]))}.{self._writer.text(captures['into.field'][0])}"
        else:
            into = self._writer.value(captures["into"][0])
        if not into.startswith(UNKNOWN):
            self._flows.append(Flow(given.start_byte, into, argument, value))

    def _mentions(self) -> Iterable[Mention]:
        """Yield the mentions, without reads and writes of variables; a call of a variable may reach what it holds."""
        for start, (_, use, node, captures) in self._uses.items():
            if start in self._named or use == "none":
                continue
            name, before, kind = self._writer.text(node), captures.get("from"), captures.get("from.type")
            if before:
                receiver = self._writer.value(before[0])
            elif kind:
                receiver = instance(self._writer.type(kind[0]))
            elif use == "field":
                receiver, use = UNKNOWN, Use.WRITE.value
            elif use in (Use.VALUE, Use.WRITE) and self._is_variable(name, start):
                continue
            else:
                receiver = ""
            yield Mention(start, self._code.row(start) + 1, name, use, receiver)

    def _is_variable(self, name: str, at: int) -> bool:
        return any(start <= at < stop for start, stop in self._variables.get(name, ()))


def _role(captures: _Captures) -> str:
    """Return the role of a match: the mention, or what is not only a part of another."""
    for name in captures:
        if name.startswith("use."):
            return name
    roles = (
        "own", "function", "nameless", "interface", "stands", "renames", "unit", "scope", *_BINDERS, *_BASES, "import",
        "given",
    )  # fmt: skip
    return next(role for role in roles if role in captures)


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
        marks=[Mark.ABSTRACT] if definition.is_declared else [],
    )


def _innermost(scopes: Sequence[tuple[int, int]], nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """Return the smallest scope around each node, which is not the node itself; all in the order of the file."""
    found: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []
    following = 0
    for node in nodes:
        start, stop = node.byte_range
        while following < len(scopes) and scopes[following][0] <= start:
            while stack and stack[-1][1] <= scopes[following][0]:
                stack.pop()
            stack.append(scopes[following])
            following += 1
        while stack and stack[-1][1] <= start:
            stack.pop()
        found.append(next(scope for scope in reversed(stack) if scope[1] >= stop and scope != (start, stop)))
    return found
