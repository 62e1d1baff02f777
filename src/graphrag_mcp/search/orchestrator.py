"""Answers one request: retrieve, fuse, rank, thin out, add the graph's context."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphrag_mcp.model import (
    CompressionStats,
    GraphNeighbour,
    Hit,
    Mention,
    Ranked,
    Scope,
    SearchMeta,
    SearchRequest,
    SearchResult,
    SearchStrategy,
)
from graphrag_mcp.ports import ChunkStore, Matrix, VectorIndex
from graphrag_mcp.reports import IndexState
from graphrag_mcp.search.boosts import graph_votes
from graphrag_mcp.search.fusion import Fused, RankedList, fuse_rrf, fuse_weighted
from graphrag_mcp.search.pipeline import Pipeline
from graphrag_mcp.search.query import Query, understand
from graphrag_mcp.search.ranking import Ranker, Scored
from graphrag_mcp.search.retrieval import REMOTE_TIMEOUT_SECONDS, Found, Retriever, Stores
from graphrag_mcp.settings import RetrievalSettings

MAX_CANDIDATES = 200  # K-10: per list.
MAX_NEIGHBOURS = 20  # K-11: in the graph's list.
VOTERS = 20  # Candidates whose mentions count for the files they lead to.
MAX_CONTEXT = 12  # Neighbours shown beside the results.
GRAPH_SEEDS = 2  # Results whose neighbours are shown; a dozen of them are soon found.
RELATION_SEEDS = 10  # Candidates whose neighbours form the third list, when the query asks for a relation.


@dataclass(frozen=True, slots=True)
class _Selection:
    hits: Sequence[Hit]
    stats: CompressionStats
    method: str
    lists: Sequence[RankedList]


class SearchOrchestrator:
    """Runs searches; safe to call from several threads at once."""

    def __init__(
        self,
        settings: RetrievalSettings,
        clock: Callable[[], float] = time.time,
        remote_timeout_seconds: float = REMOTE_TIMEOUT_SECONDS,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._retriever = Retriever(remote_timeout_seconds)

    def search(self, request: SearchRequest, stores: Stores, index: IndexState) -> SearchResult:
        """Return the answer; a store that fails is named in `meta.unavailable`, and the rest answer."""
        started = time.perf_counter()
        query = understand(request.query)
        pool = min(
            max(self._settings.candidate_multiplier * request.limit, self._settings.candidate_minimum), MAX_CANDIDATES
        )
        found = self._retriever.retrieve(query, request.scope, pool, stores)
        selection = self._select(query, request, found, stores)
        if len(selection.hits) < request.limit and any(len(one.items) == pool for one in selection.lists):
            # Duplicates ate the pool while the stores had more: ask once for twice as many (K-10).
            found = self._retriever.retrieve(query, request.scope, 2 * pool, stores)
            selection = self._select(query, request, found, stores)
        neighbours = self._context(request, selection.hits, stores, found)
        meta = SearchMeta(
            retrieval_ms=(time.perf_counter() - started) * 1000,
            strategy=SearchStrategy(
                fusion_method=selection.method,
                semantic_enabled="vector" not in found.unavailable,
                fts_enabled="keyword" not in found.unavailable,
                graph_expansion_enabled=request.include_graph_context and "graph" not in found.unavailable,
                intent=query.intent.value,
                filters_applied=_filters(request.scope),
            ),
            compression=selection.stats,
            index=index,
            unavailable=found.unavailable,
            warnings=request.warnings,
        )
        return SearchResult(request.query, tuple(selection.hits), tuple(neighbours), meta)

    def close(self) -> None:
        """Stop the threads."""
        self._retriever.close()

    def _select(self, query: Query, request: SearchRequest, found: Found, stores: Stores) -> _Selection:
        """Turn candidates into the hits to show."""
        lists = self._lists(query, request, found, stores)
        fused, method = self._fuse(request, lists)
        hybrid = request.use_rrf or not found.vector
        if hybrid:
            fused += _unlisted(fused, [match.chunk_id for match in found.definitions], found.paths)
        ranker = Ranker(query, self._settings, self._clock(), request.rerank_with_recency, with_bonuses=hybrid)
        mentions = self._mentions(request, fused, found, stores) if hybrid and self._settings.vote_bonus else ()
        targets = {one.definition_chunk_id for one in mentions}
        files = stores.catalog.files([*(one.chunk_id for one in fused), *targets])
        votes = graph_votes(fused[:VOTERS], mentions, files)
        ranked = ranker.order(fused, files, found.definitions, votes)
        floor = request.min_score if request.min_score is not None else self._settings.min_score or 0.0
        above = [scored for scored in ranked if scored.fused.score >= floor]
        pipeline = Pipeline(self._settings, request.limit, request.chunks_per_document)
        vectors = stores.vectors if found.vector else None
        hits = _hits(ranker, above, stores.catalog, vectors, 2 * request.limit)
        stats = pipeline.run(hits, len(ranked), len(above))
        return _Selection(pipeline.kept, stats, method, lists)

    def _lists(self, query: Query, request: SearchRequest, found: Found, stores: Stores) -> list[RankedList]:
        """Return the lists to fuse; the graph's is one of them only when the query asks for a relation."""
        settings = self._settings
        lists = []
        if "vector" not in found.unavailable:
            lists.append(RankedList("vector", found.vector, settings.vector_weight))
        if "keyword" not in found.unavailable:
            lists.append(RankedList("keyword", found.keyword, settings.keyword_weight))
        if query.relations and request.include_graph_context and request.max_hops:
            seeds = [match.chunk_id for match in found.definitions]
            if not seeds:
                seeds = [one.chunk_id for one in fuse_rrf(lists, settings.rrf_k)[:RELATION_SEEDS]]
            related = self._retriever.ask_graph(
                stores.graph,
                lambda graph: graph.neighbours(seeds, request.max_hops, MAX_NEIGHBOURS, request.scope, query.relations),
                found,
            )
            items = [Ranked(neighbour.chunk.chunk_id, neighbour.confidence) for neighbour in related]
            lists.append(RankedList("graph", items, settings.graph_weight))
        return lists

    def _mentions(
        self, request: SearchRequest, fused: Sequence[Fused], found: Found, stores: Stores
    ) -> Sequence[Mention]:
        """Return what the best candidates mention."""
        voters = [one.chunk_id for one in fused[:VOTERS]]
        return self._retriever.ask_graph(stores.graph, lambda graph: graph.mentions(voters, request.scope), found)

    def _fuse(self, request: SearchRequest, lists: Sequence[RankedList]) -> tuple[list[Fused], str]:
        """Fuse, and name what ran: the argument may ask for vectors alone, the setting for the legacy sum (K-07)."""
        settings = self._settings
        if not request.use_rrf and any(one.source == "vector" for one in lists):
            return fuse_rrf([one for one in lists if one.source == "vector"], settings.rrf_k), "semantic_only"
        if settings.fusion_algorithm == "weighted":
            legacy = {"vector": settings.legacy_vector_weight, "keyword": settings.legacy_keyword_weight}
            weighed = [RankedList(one.source, one.items, legacy.get(one.source, one.weight)) for one in lists]
            return fuse_weighted(weighed), "weighted"
        return fuse_rrf(lists, settings.rrf_k), "rrf"

    def _context(
        self, request: SearchRequest, hits: Sequence[Hit], stores: Stores, found: Found
    ) -> list[GraphNeighbour]:
        """Return what the results call, are called by, test, … beside the results and never counted among them."""
        if not (request.include_graph_context and request.max_hops and hits):
            return []
        seeds = [hit.chunk.chunk_id for hit in hits[:GRAPH_SEEDS]]
        shown = {hit.chunk.chunk_id for hit in hits}
        related = self._retriever.ask_graph(
            stores.graph, lambda graph: graph.neighbours(seeds, request.max_hops, MAX_CONTEXT, request.scope), found
        )
        return [neighbour for neighbour in related if neighbour.chunk.chunk_id not in shown]


def _hits(
    ranker: Ranker, ranked: Sequence[Scored], catalog: ChunkStore, vectors: VectorIndex | None, block: int
) -> Iterator[tuple[Hit, Matrix | None]]:
    """Read the chunks and vectors of the ranked candidates, a block at a time: few of them are ever looked at."""
    for start in range(0, len(ranked), block):
        wanted = ranked[start : start + block]
        ids = [scored.fused.chunk_id for scored in wanted]
        chunks = catalog.chunks(ids)
        known = vectors.vectors(ids) if vectors is not None else {}
        for scored in wanted:
            chunk_id = scored.fused.chunk_id
            if chunk_id in chunks:
                yield ranker.explain(scored, chunks[chunk_id]), known.get(chunk_id)


def _unlisted(fused: Sequence[Fused], definitions: Sequence[int], paths: Sequence[Ranked]) -> list[Fused]:
    """Return the candidates that no list proposed: definitions and files that the query names."""
    listed = {one.chunk_id for one in fused}
    named = dict.fromkeys([*definitions, *(one.chunk_id for one in paths)])
    return [Fused(chunk_id, 0.0, {}) for chunk_id in named if chunk_id not in listed]


def _filters(scope: Scope) -> tuple[str, ...]:
    """Name the filters that the search applied."""
    filters = {
        "excluded_files": scope.excluded_keys,
        "exclude_archived": scope.exclude_archived,
        "include_patterns": scope.include_patterns,
        "categories": scope.categories,
        "languages": scope.languages,
        "paths": scope.paths,
    }
    return tuple(name for name, value in filters.items() if value)
