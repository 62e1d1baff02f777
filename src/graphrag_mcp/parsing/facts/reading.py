"""What the parts of a reader share while they read the facts of one file."""

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct
from tree_sitter import Node, Tree

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.shapes import LITERAL, UNKNOWN, Shapes, Writer, arguments
from graphrag_mcp.languages.syntax import SourceCode, outwards
from graphrag_mcp.model.facts import BaseType, Bound, Mark, Parameter
from graphrag_mcp.parsing.outline import Definition

NAMES = frozenset(("identifier", "shorthand_property_identifier_pattern"))  # Nodes that name a variable.


class Draft(Struct):
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


class Reading:
    """The declarations so far, and what is bound where."""

    def __init__(self, code: SourceCode, shapes: Shapes, definitions: Sequence[Definition]) -> None:
        self.code, self.shapes = code, shapes
        self.drafts = [_draft(definition, code) for definition in definitions]
        self.definitions = definitions
        self.by_name = {definition.name_start: index for index, definition in enumerate(definitions)}
        self.numbers: dict[int, str] = {}  # How expressions name functions, types and objects, by the id of the node.
        self.writer = Writer(shapes, code, self.numbers)
        self.scopes: set[tuple[int, int]] = set()
        self.outside: dict[tuple[int, int], tuple[int, int]] = {}  # Of some scopes the part that is in none of them.
        self.bound: list[Bound] = []
        self.named: set[int] = set(self.by_name)  # Starts of names that are declared, not mentioned.
        self.nodes: dict[str, list[Node]] = {}  # The key is their role.

    def add_nodes(self, role: str, captures: Captures) -> None:
        """Keep the nodes of a role for later."""
        self.nodes.setdefault(role, []).extend(captures[role])


class ReaderPart:
    """A part of a reader; all parts of one work on the same lists."""

    def __init__(self, reading: Reading) -> None:
        self._code, self._shapes, self._writer = reading.code, reading.shapes, reading.writer
        self._definitions, self._drafts, self._by_name = reading.definitions, reading.drafts, reading.by_name
        self._scopes, self._bound, self._named = reading.scopes, reading.bound, reading.named
        self._nodes, self._numbers, self._outside = reading.nodes, reading.numbers, reading.outside


def _draft(definition: Definition, code: SourceCode) -> Draft:
    kind = definition.kind.value if definition.kind else "scope"
    private, qualified = f"#{definition.name}", definition.qualified_name
    name = private if qualified.endswith(private) else definition.name
    line = code.row(definition.name_start) + 1
    span = (definition.start, definition.end, definition.start)
    marks = (Mark.ABSTRACT,) if definition.is_declared else ()
    return Draft(name, qualified, kind, definition.parent, line, *span, marks=marks)


def by_place(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in the order of the file, outer ones first."""
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def whole(tree: Tree) -> tuple[int, int]:
    return (0, tree.root_node.end_byte + 1)


def innermost(scopes: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the smallest scope around each span, which is not the span itself; all in the order of the file.

    scopes: the first is the whole file.
    """
    around: list[tuple[int, int]] = []
    stack = [scopes[0]]
    following = 1
    for start, stop in spans:
        while following < len(scopes) and scopes[following][0] <= start:
            while stack[-1][1] <= scopes[following][0]:
                stack.pop()
            stack.append(scopes[following])
            following += 1
        while stack[-1][1] <= start:
            stack.pop()
        around.append(next(scope for scope in reversed(stack) if scope[1] >= stop and scope != (start, stop)))
    return around


def source_around(nodes: Sequence[Node] | None) -> list[Node]:
    """Return the module of the statement around a name that it imports or exports, if it has one."""
    for node in islice(outwards(nodes[0] if nodes else None), 4):
        if source := node.child_by_field_name("source"):
            return [source]
    return []


def _step(value: str, mark: str) -> str:
    return value if value == UNKNOWN else f"{value}{mark}"


class Held(ReaderPart):
    """Writes what is held; a constant without a value repeats the one before, where the language says so."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._repeated = LITERAL

    def values(self, node: Node, captures: Captures, count: int) -> list[str]:
        """Return what each of the names holds."""
        if "part" in captures and self._shapes.taken:
            return [self._shapes.taken(self._writer, captures["part"][0])]
        kinds = captures.get("type", ())
        if kinds and self._writer.text(kinds[0]) not in self._shapes.inferred:
            types = [self._writer.typed(kinds[0])] * count
        elif loop := captures.get("loop"):
            value = self._writer.value(loop[0])
            types = [_step(value, step) for step in self._shapes.loops[:count]]
        elif entered := captures.get("enter"):
            types = [_step(self._writer.value(entered[0]), self._shapes.enter[node.children[0].type])]
        elif values := captures.get("value"):
            listed = [value for part in values for value in self.listed(part)]
            if len(listed) == count:
                types = [self._writer.value(value) for value in listed]
            else:
                types = self._unpacked(listed[0], count)
        elif node.type in self._shapes.repeated:
            return [self._repeated] * count
        else:
            types = [self._shapes.unset] * count
        if node.type in self._shapes.repeated:
            self._repeated = types[0]
        return types

    def _unpacked(self, value: Node, count: int) -> list[str]:
        text = self._writer.value(value)
        if value.type in self._shapes.alone:
            return [text, *[LITERAL] * (count - 1)]
        return [_step(text, f"[{place}]") for place in range(count)]

    def listed(self, node: Node) -> list[Node]:
        """Return the nodes of a list, or the node itself."""
        return arguments(node) if node.type in self._shapes.lists else [node]
