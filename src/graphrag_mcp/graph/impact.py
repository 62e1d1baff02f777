"""What a change may reach: everything that leads to the changed code, the surest first, and the tests to run."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag_mcp.graph.tracing import MAX_NODES
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import CodeEdge, CodeNode
from graphrag_mcp.model.search import Scope
from graphrag_mcp.ports import SymbolGraph

LEADING = (
    RelationKind.CALLS,
    RelationKind.INHERITS,
    RelationKind.USES,
    RelationKind.TESTS,
    RelationKind.IMPORTS,
    RelationKind.LINKS_TO,
)


@dataclass(frozen=True, slots=True)
class Reached:
    """A definition or file that the change may reach, by its surest way: `via` is the node before it on that way.

    confidence: the product of the confidences on the way, 0 to 1.
    """

    node: CodeNode
    via: CodeNode
    edge: CodeEdge
    hops: int
    confidence: float

    @property
    def is_guess(self) -> bool:
        """Whether the last step may mean something else of the same name."""
        return self.edge.resolution.is_guess


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of the starts reaches, nearest and surest first; tests are in `tests` and not in `reached`.

    undecided: lines besides that contain the name of a start, or of what it defines, and may mean it.
    """

    starts: tuple[CodeNode, ...]
    reached: tuple[Reached, ...]
    tests: tuple[Reached, ...]
    undecided: int = 0
    is_cut: bool = False


def find_impact(graph: SymbolGraph, starts: Sequence[CodeNode], hops: int, scope: Scope) -> Impact:
    """Follow everything that leads to the starts and to what is defined inside them.

    Guesses are shown and not followed. A file that merely imports something is reached, and what imports that file is
    not: what its functions do with it is followed by their calls.
    """
    inside = {one.node_id: one for node in starts for one in _with_members(graph, node)}
    best: dict[int, Reached] = {}
    frontier = [(node, 1.0) for node in inside.values()]
    for hop in range(1, hops + 1):
        ways = [
            (edge, node, confidence * edge.confidence)
            for node, confidence in frontier
            for edge in graph.incoming(node, LEADING, scope)
            if edge.source_id not in inside
        ]
        nodes = graph.nodes(edge.source_id for edge, _, _ in ways)
        fresh: dict[int, Reached] = {}
        for edge, via, confidence in ways:
            if edge.source_id not in nodes:
                continue
            way = Reached(nodes[edge.source_id], via, edge, hop, confidence)
            if _is_better(way, fresh.get(edge.source_id) or best.get(edge.source_id)):
                fresh[edge.source_id] = way
        best |= fresh
        frontier = [(one.node, one.confidence) for one in fresh.values() if not one.is_guess and not one.node.is_file]
        if not frontier or len(best) > MAX_NODES:
            break
    ordered = sorted(best.values(), key=_order)
    return Impact(
        tuple(starts),
        tuple(one for one in ordered if one.node.category is not Category.TESTS),
        tuple(one for one in ordered if one.node.category is Category.TESTS),
        graph.undecided(tuple(inside.values()), LEADING, scope, {one.edge.relation_id for one in ordered}),
        bool(frontier) and hop < hops,
    )


def _is_better(way: Reached, known: Reached | None) -> bool:
    """Tell whether a way is to be kept: the first, a sure one where the other is a guess, the surer of as many hops."""
    if known is None:
        return True
    if way.is_guess != known.is_guess:
        return known.is_guess
    return way.hops == known.hops and way.confidence > known.confidence


def _order(one: Reached) -> tuple[bool, int, float, str, int]:
    return one.is_guess, one.hops, -one.confidence, one.edge.path, one.edge.line


def _with_members(graph: SymbolGraph, node: CodeNode) -> list[CodeNode]:
    if node.is_file:
        return [node, *graph.in_file(node.path)]
    if node.kind not in (SymbolKind.TYPE, SymbolKind.MODULE):
        return [node]
    return [node] + [
        one
        for one in graph.in_file(node.path)
        if one.node_id != node.node_id and node.start_line <= one.start_line and one.end_line <= node.end_line
    ]
