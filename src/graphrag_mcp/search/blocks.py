"""What stands beside the results and is never counted among them: related code, and approaches that were rejected."""

from collections.abc import Collection, Sequence

from graphrag_mcp.model.files import DocumentStatus
from graphrag_mcp.model.search import Factor, GraphNeighbour, Hit, SearchRequest
from graphrag_mcp.search.retrieval import Found, Retriever, Stores
from graphrag_mcp.settings import RetrievalSettings

GRAPH_SEEDS = 2  # Results whose neighbours are shown; a dozen of them are soon found.
REJECTED_READ = 200  # Rejected documents that are compared with the query.


def expanded(
    request: SearchRequest,
    hits: Sequence[Hit],
    stores: Stores,
    found: Found,
    retriever: Retriever,
    settings: RetrievalSettings,
) -> list[GraphNeighbour]:
    """Return what the best results call, are called by, test, …: of the allowed relations, so many at most."""
    limit = settings.graph_expansion_max_nodes
    if not (request.include_graph_context and request.max_hops and hits and limit):
        return []
    seeds = [hit.chunk.chunk_id for hit in hits[:GRAPH_SEEDS]]
    shown = {hit.chunk.chunk_id for hit in hits}
    kinds = settings.graph_expansion_edge_types
    related = retriever.ask_graph(
        stores.graph, lambda graph: graph.neighbours(seeds, request.max_hops, limit, request.scope, kinds), found
    )
    return [neighbour for neighbour in related if neighbour.chunk.chunk_id not in shown]


def rejected(
    request: SearchRequest,
    shown: Collection[int],
    stores: Stores,
    found: Found,
    retriever: Retriever,
    settings: RetrievalSettings,
) -> list[Hit]:
    """Return the beginnings of documents whose approach was rejected, nearest to the query first.

    They keep an agent from proposing again what was turned down; `shown` are the chunks that the results hold already.
    """
    limit = settings.rejected_injection_max_docs
    if not limit or found.vector_of_query is None:
        return []
    documents = retriever.documents(DocumentStatus.REJECTED, REJECTED_READ, request.scope, stores, found)
    near = retriever.similarities([one for one in documents if one not in shown], stores, found)
    best = sorted((one for one in near if near[one] >= settings.rejected_min_similarity), key=lambda one: -near[one])
    chunks = stores.catalog.chunks(best[:limit])
    return [
        Hit(chunks[one], near[one], 0.0, {}, (Factor("similarity", near[one], "term"),), origin="rejected")
        for one in best[:limit]
        if one in chunks
    ]
