"""Which methods must change with the one that they override, in languages without facts that check it."""

from collections.abc import Sequence

from graphrag_mcp.graph.definitions import ChangedDefinition
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import Dependant, dependant
from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.graph import Certainty, CodeNode
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph

_MOST = 20  # Methods whose calls are looked at.


def misfitting(
    graph: SymbolGraph,
    relations: Relations,
    definition: ChangedDefinition,
    node: CodeNode,
    places: Sequence[Dependant],
) -> list[Dependant]:
    """Return those places at which a method certainly overrides the changed one, and does not fit it any more."""
    owner = node.qualified_name.rpartition(".")[0]
    around = [each for each in graph.in_file(node.path) if each.qualified_name == owner]
    is_demanded = not definition.has_body and any(map(relations.is_interface, around))
    misfits = relations.misfits(node, definition.took, definition.takes, is_demanded=is_demanded)
    overriding = (place for place in places if place.relation is RelationKind.OVERRIDES)
    return [place for place in overriding if place.certainty is Certainty.CERTAIN and place.node.place in misfits]


def calls_of(graph: SymbolGraph, relations: Relations, misfits: Sequence[Dependant], scope: Scope) -> list[Dependant]:
    """Return the calls of such methods, where the block of a method says what it overrides: they call that one."""
    called: list[Dependant] = []
    for misfit in misfits[:_MOST]:
        node, is_said = misfit.node, describe(detect_language(misfit.path)).blocks_implement
        alike = [each for each in graph.in_file(node.path) if each.qualified_name == node.qualified_name]
        if is_said and len(alike) == 1:  # Else it may be one of the type itself that is called.
            edges = relations.decided(node, (RelationKind.CALLS,), scope)
            nodes = graph.nodes(edge.source_id for edge in edges)
            certain = (edge for edge in edges if edge.certainty is Certainty.CERTAIN and edge.source_id in nodes)
            called += [dependant(nodes[edge.source_id], edge) for edge in certain]
    return called
