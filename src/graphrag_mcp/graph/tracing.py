"""Follows the code graph from a definition, hop by hop, and reports where it stops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Direction, Mentioned
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph

_TESTS = frozenset({Category.TESTS})
MAX_NODES = 400  # A longer answer is not read; `is_cut` reports it.

INCOMING: Mapping[Direction, tuple[RelationKind, ...]] = {
    Direction.CALLERS: (RelationKind.CALLS, RelationKind.USES),
    Direction.IMPORTERS: (RelationKind.IMPORTS, RelationKind.LINKS_TO),
    Direction.SUBCLASSES: (RelationKind.INHERITS,),
    Direction.TESTS: (RelationKind.TESTS, RelationKind.CALLS, RelationKind.USES),
}
_OUTGOING: Mapping[Direction, tuple[RelationKind, ...]] = {
    Direction.CALLEES: (RelationKind.CALLS,),
    Direction.IMPORTS: (RelationKind.IMPORTS, RelationKind.LINKS_TO),
    Direction.SUPERCLASSES: (RelationKind.INHERITS,),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One relation of a trace, with the nodes at its ends and its distance from the start in hops."""

    hop: int
    source: CodeNode
    target: CodeNode
    edge: CodeEdge

    @property
    def is_guess(self) -> bool:
        """Whether the reference may mean another definition of the same name."""
        return self.edge.resolution.is_guess


@dataclass(frozen=True, slots=True)
class Trace:
    """The relations found from the starts.

    steps: in the order (hop, certain before guessed, confidence, location). stops: names that were not resolved.
    guessed: the number of definitions not followed because only guesses lead to them. undecided: the number of other
    lines with the name of a start that may refer to it. is_cut: whether hops were left out after MAX_NODES.
    """

    starts: tuple[CodeNode, ...]
    direction: Direction
    steps: tuple[Step, ...]
    stops: tuple[Mentioned, ...] = ()
    guessed: int = 0
    undecided: int = 0
    is_cut: bool = False


def trace(
    graph: SymbolGraph,
    starts: Sequence[CodeNode],
    direction: Direction,
    hops: int,
    scope: Scope,
    *,
    with_members: bool = False,
) -> Trace:
    """Follow one kind of relation from the starts for at most `hops`; guesses are reported but not followed.

    with_members: a relation from another file to a definition in a start file counts as one to the file.
    """
    frontier = list(starts)
    inside: set[int] = set()
    if with_members and direction in INCOMING:
        files = [node for node in starts if node.is_file]
        frontier += [member for file in files for member in graph.in_file(file.path)]
        inside = {file.file_id for file in files}
    seen = {node.node_id for node in frontier}
    steps: list[Step] = []
    stops: dict[tuple[str, str], Mentioned] = {}
    guessed: set[int] = set()
    for hop in range(1, hops + 1):
        edges: list[CodeEdge] = []
        for node in frontier:
            found, unknown = _edges(graph, node, direction, scope)
            edges += found
            for reference in unknown:
                stops.setdefault((reference.name, reference.module), reference)
        fresh = [step for step in _steps(graph, edges, hop, direction) if step.source.file_id not in inside]
        steps += _each_once(fresh, direction)
        guessed |= {_far_end(step, direction).node_id for step in fresh if step.is_guess}
        reached = {_far_end(step, direction).node_id: _far_end(step, direction) for step in fresh if not step.is_guess}
        frontier = [node for node_id, node in reached.items() if node_id not in seen]
        seen |= reached.keys()
        if not frontier or len(seen) > MAX_NODES:
            break
    is_cut = bool(frontier) and hop < hops
    undecided = 0
    if direction in INCOMING:
        asked = replace(scope, categories=_TESTS) if direction is Direction.TESTS else scope
        shown = {step.edge.relation_id for step in steps}
        undecided = graph.undecided(starts, INCOMING[direction], asked, shown)
    return Trace(tuple(starts), direction, tuple(steps), tuple(stops.values()), len(guessed - seen), undecided, is_cut)


def _edges(
    graph: SymbolGraph, node: CodeNode, direction: Direction, scope: Scope
) -> tuple[list[CodeEdge], list[Mentioned]]:
    if direction in _OUTGOING:
        return graph.outgoing(node, _OUTGOING[direction], scope)
    return graph.incoming(node, INCOMING[direction], scope), []


def _steps(graph: SymbolGraph, edges: Sequence[CodeEdge], hop: int, direction: Direction) -> list[Step]:
    nodes = graph.nodes(end for edge in edges for end in (edge.source_id, edge.target_id))
    unique = {(edge.source_id, edge.target_id, edge.kind): edge for edge in reversed(edges)}
    steps = [
        Step(hop, nodes[edge.source_id], nodes[edge.target_id], edge)
        for edge in unique.values()
        if edge.source_id in nodes and edge.target_id in nodes
    ]
    if direction is Direction.TESTS:
        steps = [step for step in steps if step.source.category is Category.TESTS]
    return sorted(steps, key=_order)


def _order(step: Step) -> tuple[bool, float, str, int]:
    return step.is_guess, -step.edge.confidence, step.edge.path, step.edge.line


def _each_once(steps: Sequence[Step], direction: Direction) -> list[Step]:
    """Drop repeated relations: a reference to an overload or declaration refers to all the others too."""
    if direction in _OUTGOING:
        last = sorted(steps, key=lambda step: step.target.start_line)  # The last has the body.
        kept = {(step.source, step.target.file_id, step.target.qualified_name, step.edge.kind): step for step in last}
    else:
        kept = {(step.source, 0, step.target.qualified_name, step.edge.kind): step for step in reversed(steps)}
    return sorted(kept.values(), key=_order)


def _far_end(step: Step, direction: Direction) -> CodeNode:
    return step.target if direction in _OUTGOING else step.source
