"""A definition as it is in its file now, with what calls it, what it calls, what tests it, and its last change."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag_mcp.graph.tracing import Trace, trace
from graphrag_mcp.grep.occurrences import Files
from graphrag_mcp.history.find import Past
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.graph import CodeNode, Direction
from graphrag_mcp.model.history import Told
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.parsing.code.parts import documentation_rows
from graphrag_mcp.ports import CodeRelations, SymbolGraph


@dataclass(frozen=True, slots=True)
class Body:
    """A definition or a file, with its lines as they are now.

    first: the number of the first of `lines`, which begin with the comment above the definition. documentation: which
    of the lines, from 0, are that comment and the docstring. members: what is defined in it. users: its callers, of a
    type its users, of a file its importers. uses: what it calls or imports. change: the commit that changed it last, or
    why that is not known.
    """

    node: CodeNode
    first: int
    lines: Sequence[str]
    documentation: frozenset[int]
    members: Sequence[CodeNode]
    users: Trace
    uses: Trace
    tests: Trace
    change: Told

    @property
    def has_outline(self) -> bool:
        """Whether its members say what it is."""
        return bool(self.members) and (self.node.is_file or self.node.kind in (SymbolKind.TYPE, SymbolKind.MODULE))


def read_body(
    graph: SymbolGraph,
    relations: CodeRelations,
    files: Files,
    past: Past | None,
    node: CodeNode,
    scope: Scope,
    until: float,
) -> Body:
    """Read a definition, follow the relations to it and from it, and find its last change."""

    def follow(direction: Direction) -> Trace:
        return trace(graph, relations, [node], direction, 1, scope, with_members=True)

    definitions = graph.in_file(node.path)
    members = [other for other in definitions if other.node_id != node.node_id and _is_inside(other, node)]
    ((_, data),) = files.read([node.path])
    lines = (data or b"").decode().split("\n")
    first = 1 if node.is_file else _first_line(node, definitions, lines)
    users, uses = Direction.CALLERS, Direction.CALLEES
    if node.is_file:
        users, uses = Direction.IMPORTERS, Direction.IMPORTS
    elif node.kind is SymbolKind.TYPE:
        users = Direction.USERS
    shown = lines[first - 1 : node.end_line]
    language = detect_language(node.path)
    documentation = frozenset[int]() if node.is_file else documentation_rows("\n".join(shown), language)
    around = (follow(users), follow(uses), follow(Direction.TESTS))
    change = past.last_change(node, until) if past else Told((), "the history needs a local index")
    return Body(node, first, shown, documentation, members, *around, change)


def _is_inside(inner: CodeNode, outer: CodeNode) -> bool:
    return outer.is_file or (outer.start_line <= inner.start_line and inner.end_line <= outer.end_line)


def _first_line(node: CodeNode, definitions: Sequence[CodeNode], lines: Sequence[str]) -> int:
    """Return the first line of a definition, with the lines right above it that are of no other one."""
    taken = {line for node in definitions for line in (node.start_line, node.end_line)}
    first = node.start_line
    while 1 < first <= len(lines) and lines[first - 2].strip() and first - 1 not in taken:
        first -= 1
    return first
