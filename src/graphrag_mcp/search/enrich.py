"""Adds what is shown beside the results and never counted among them: related code, and rejected approaches."""

from collections.abc import Collection, Sequence

from graphrag_mcp.model.files import DocumentStatus
from graphrag_mcp.model.search import Factor, FactorKind, GraphNeighbour, Hit, HitOrigin, SearchRequest
from graphrag_mcp.search.retrieval import Lookups
from graphrag_mcp.settings import RetrievalSettings

GRAPH_SEEDS = 2  # Results whose neighbours are shown; a dozen of them are soon found.
REJECTED_READ = 200  # Rejected documents that are compared with the query.


def related_code(
    request: SearchRequest, hits: Sequence[Hit], lookups: Lookups, settings: RetrievalSettings
) -> list[GraphNeighbour]:
    """Return the neighbours of the first results in the code graph: callers, callees, tests, …"""
    limit = settings.graph_expansion_max_nodes
    if not (request.include_graph_context and request.max_hops and hits and limit):
        return []
    seeds = [hit.chunk.chunk_id for hit in hits[:GRAPH_SEEDS]]
    shown = {hit.chunk.chunk_id for hit in hits}
    kinds = settings.graph_expansion_edge_types
    related = lookups.in_graph(lambda graph: graph.neighbours(seeds, request.max_hops, limit, request.scope, kinds))
    return [neighbour for neighbour in related if neighbour.chunk.chunk_id not in shown]


def rejected_approaches(
    request: SearchRequest, shown: Collection[int], lookups: Lookups, settings: RetrievalSettings
) -> list[Hit]:
    """Return the beginnings of documents whose approach was rejected, nearest to the query first.

    They keep an agent from proposing again what was turned down. shown: the chunks that the results contain already.
    """
    limit = settings.rejected_injection_max_docs
    if not limit or not lookups.has_query_vector:
        return []
    documents = lookups.documents(DocumentStatus.REJECTED, REJECTED_READ, request.scope)
    near = lookups.similarities([one for one in documents if one not in shown])
    best = sorted((one for one in near if near[one] >= settings.rejected_min_similarity), key=lambda one: -near[one])
    chunks = lookups.stores.catalog.chunks(best[:limit])
    return [
        Hit(
            chunks[one],
            near[one],
            0.0,
            factors=(Factor("similarity", near[one], FactorKind.TERM),),
            origin=HitOrigin.REJECTED,
        )
        for one in best[:limit]
        if one in chunks
    ]
