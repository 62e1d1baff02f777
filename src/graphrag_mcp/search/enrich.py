"""Finds what is shown next to the results without being one: related code and rejected approaches."""

from collections.abc import Collection, Sequence

from graphrag_mcp.model.files import DocumentStatus, SymbolKind
from graphrag_mcp.model.search import Factor, FactorKind, GraphNeighbour, Hit, HitOrigin, SearchRequest
from graphrag_mcp.search.retrieval import Lookups
from graphrag_mcp.settings import RetrievalSettings

REJECTED_READ = 200  # Rejected documents that are compared with the query.


def related_code(
    request: SearchRequest, hits: Sequence[Hit], lookups: Lookups, settings: RetrievalSettings
) -> list[GraphNeighbour]:
    """Return the neighbours of what matched in the first results, in the code graph: callers, callees, tests, …"""
    limit = settings.graph_expansion_max_nodes
    if not (request.include_graph_context and request.related_hops and request.related_results and hits and limit):
        return []
    seeds = hits[: request.related_results]
    shown = {hit.chunk.chunk_id for hit in hits}
    kinds = settings.graph_expansion_edge_types
    symbols, numbers = _matched(seeds), [hit.chunk.chunk_id for hit in seeds]
    related = lookups.in_graph(
        lambda graph: graph.neighbours(numbers, request.related_hops, limit, request.scope, kinds, symbols)
    )
    return [neighbour for neighbour in related if neighbour.chunk.chunk_id not in shown]


def _matched(hits: Sequence[Hit]) -> set[str]:
    """Return the names of what matched; "" for a file without definitions. The links of a section have its own name."""
    names: set[str] = set()
    for hit in hits:
        symbol = hit.focus.symbol if hit.focus is not None else None
        names.add(symbol.qualified_name if symbol is not None else hit.chunk.symbol)
        if symbol is not None and symbol.kind is SymbolKind.SECTION:
            names.add(symbol.name)
    return names


def rejected_approaches(
    request: SearchRequest, shown: Collection[int], lookups: Lookups, settings: RetrievalSettings
) -> list[Hit]:
    """Return the beginnings of documents whose approach was rejected, nearest to the query first.

    They keep an agent from proposing a rejected approach again. shown: the ids of the chunks that are results already.
    """
    limit = settings.rejected_injection_max_docs
    if not limit or not lookups.has_query_vector:
        return []
    documents = lookups.documents(DocumentStatus.REJECTED, REJECTED_READ, request.scope)
    near = lookups.similarities([chunk_id for chunk_id in documents if chunk_id not in shown])
    similar = (chunk_id for chunk_id, cosine in near.items() if cosine >= settings.rejected_min_similarity)
    best = sorted(similar, key=lambda chunk_id: -near[chunk_id])
    chunks = lookups.stores.catalog.chunks(best[:limit])
    return [
        Hit(
            chunks[chunk_id],
            near[chunk_id],
            0.0,
            factors=(Factor("similarity", near[chunk_id], FactorKind.TERM),),
            origin=HitOrigin.REJECTED,
        )
        for chunk_id in best[:limit]
        if chunk_id in chunks
    ]
