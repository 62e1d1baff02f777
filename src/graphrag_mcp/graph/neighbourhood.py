"""The neighbourhood of one definition, to be drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphrag_mcp.graph.steps import Step
from graphrag_mcp.graph.tracing import Trace
from graphrag_mcp.graph.walk import Walk
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Direction


@dataclass(frozen=True, slots=True)
class Neighbourhood:
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
