"""One definition with what is around it: its code to read, and its neighbourhood to be drawn."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from graphrag_mcp.graph.tracing import Step, Trace, Walk, trace
from graphrag_mcp.grep.occurrences import Files, read_texts
from graphrag_mcp.history.find import Past
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Direction
from graphrag_mcp.model.history import Told
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.parsing.code.parts import documentation_rows
from graphrag_mcp.ports import CodeRelations, SymbolGraph


class Body(Struct, frozen=True):
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
    ((_, text),) = read_texts(files, [node.path])
    lines = text.split("\n")
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


class Neighbourhood(Struct, frozen=True):
    """The nodes around a start and the relations between them.

    others: other definitions of the same name. hops: the distance of each node from the start, by its id. hidden: the
    number of neighbours left out because of the limit.
    """

    start: CodeNode
    others: tuple[CodeNode, ...]
    nodes: tuple[CodeNode, ...]
    hops: Mapping[int, int]
    edges: tuple[CodeEdge, ...]
    hidden: int = 0


def find_neighbourhood(
    follow: Callable[[Sequence[CodeNode], Direction], Trace], starts: Sequence[CodeNode], hops: int, limit: int
) -> Neighbourhood:
    """Follow all relations from the first of the starts, one hop after another; guesses are reported but not followed.

    Of more than `limit` nodes, the nearest and most certain are kept.
    """
    start, *others = starts
    nodes, distance, hidden = {start.node_id: start}, {start.node_id: 0}, set[int]()
    edges: dict[tuple[int, int, str], CodeEdge] = {}
    walk = Walk([start], hops)
    for hop in walk:
        reached: dict[int, CodeNode] = {}
        for step in _steps(follow, walk.nodes):
            ends = (step.source, step.target)
            for node in ends:
                if node.node_id not in nodes and len(nodes) < limit:
                    nodes[node.node_id], distance[node.node_id] = node, hop
                if distance.get(node.node_id) == hop and not step.is_guess:
                    reached[node.node_id] = node
            missing = {node.node_id for node in ends} - nodes.keys()
            hidden |= missing
            if not missing:
                # The edge itself may name the method of an interface.
                source, target = step.source.node_id, step.target.node_id
                edge = step.edge._replace(source_id=source, target_id=target)
                edges.setdefault((source, target, edge.relation), edge)
        # Through a file, everything that it imports would be near.
        walk.go_on(node for node in reached.values() if not node.is_file)
    return Neighbourhood(start, tuple(others), tuple(nodes.values()), distance, tuple(edges.values()), len(hidden))


def _steps(follow: Callable[[Sequence[CodeNode], Direction], Trace], frontier: Sequence[CodeNode]) -> list[Step]:
    """Return every relation of the nodes of the frontier, the most certain first."""
    steps = [step for direction in Direction for step in follow(frontier, direction).steps]
    return sorted(steps, key=lambda step: (step.is_guess, -step.edge.confidence, step.edge.path, step.edge.line))
