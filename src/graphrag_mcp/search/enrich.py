"""Finds what is shown next to the results without being one: related code, rejected approaches, names to ask with."""

from collections.abc import Collection, Iterable, Sequence

from graphrag_mcp.model.files import DocumentStatus, Symbol, SymbolKind
from graphrag_mcp.model.search import Factor, FactorKind, GraphNeighbour, Hit, HitOrigin, SearchRequest, StoredChunk
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.scored import Scored
from graphrag_mcp.search.retrieval import Lookups
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.words import words_of

REJECTED_READ = 200  # Rejected documents that are compared with the query.
NAMES = 6  # Of 118 questions missed in ten, 12 had the wanted name among ten, 8 among these.
FEWEST = 5  # Fewer give nothing to choose from.
_CANDIDATES = 40  # Some have no name, and some have the same.


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


def near_names(query: Query, order: Sequence[Scored], shown: Collection[int], catalog: ChunkStore) -> dict[str, str]:
    """Return 5 or 6 names of the best candidates that are not shown, with their places, or none.

    Each says more than the question: what an unsure one lacks is the code's words. Measured on the descriptions of 157
    commits whose answer was unsure: fifteen names hold a word of the right file's name that the question lacks for .41
    of them; with the names that the model's table puts nearest to the question it was at most .30.
    """
    wanted = [scored.fused.chunk_id for scored in order if scored.fused.chunk_id not in shown][:_CANDIDATES]
    chunks = catalog.chunks(wanted)
    terms = frozenset(query.terms)
    named: dict[str, StoredChunk] = {}
    for chunk in (chunks[chunk_id] for chunk_id in wanted if chunk_id in chunks):
        if (name := _name(chunk, terms)) and len(named) < NAMES:
            named.setdefault(name, chunk)
    if len(named) < FEWEST:
        return {}
    definitions = catalog.definitions({chunk.file_id for chunk in named.values()})
    return {name: f"{chunk.path}:{_line(chunk, definitions.get(chunk.file_id, ()))}" for name, chunk in named.items()}


def _line(chunk: StoredChunk, definitions: Iterable[Symbol]) -> int:
    """Return the line of the definition that a chunk is a part of."""
    lines = (symbol.start_line for symbol in definitions if symbol.qualified_name == chunk.symbol)
    return max((line for line in lines if line <= chunk.end_line), default=chunk.start_line)


def _name(chunk: StoredChunk, terms: frozenset[str]) -> str:
    name = chunk.symbol.rpartition(".")[2]
    words = words_of(name)
    return name if name.isidentifier() and not terms.issuperset(words[1:] or words) else ""
