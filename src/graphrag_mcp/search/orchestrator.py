"""Answers one request: understand, retrieve, fuse, rank, thin out, and add what stands beside the results."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.model.reports import IndexState
from graphrag_mcp.model.search import (
    CompressionStats,
    Hit,
    Mention,
    Ranked,
    RetrievalStats,
    Scope,
    SearchMeta,
    SearchRequest,
    SearchResult,
    SearchStrategy,
    StoredChunk,
)
from graphrag_mcp.ports import ChunkStore, Matrix, VectorIndex
from graphrag_mcp.search import blocks
from graphrag_mcp.search.confidence import NO_JUDGEMENT, Judgement, judge
from graphrag_mcp.search.filters import check_filters
from graphrag_mcp.search.pipeline import Pipeline, archived_copies
from graphrag_mcp.search.query.understand import Query, understand
from graphrag_mcp.search.ranking.bonuses import graph_votes
from graphrag_mcp.search.ranking.fusion import (
    EVEN,
    Fused,
    RankedList,
    Share,
    balanced,
    fuse_relative,
    fuse_rrf,
    fuse_weighted,
)
from graphrag_mcp.search.ranking.ranker import Evidence, Ranker, Scored
from graphrag_mcp.search.ranking.reranking import Reranked, Reranker, unavailable
from graphrag_mcp.search.ranking.weighted_sum import Scores
from graphrag_mcp.search.retrieval import REMOTE_TIMEOUT_SECONDS, Found, Retriever, Stores
from graphrag_mcp.settings import RetrievalSettings

MAX_CANDIDATES = 200  # Per list.
MAX_NEIGHBOURS = 20  # In the graph's list.
VOTERS = 20  # Candidates whose mentions count for the files they lead to.
RUNNERS_UP = 3


@dataclass(frozen=True, slots=True)
class _Selection:
    hits: Sequence[Hit]
    runners_up: Sequence[Hit]
    stats: CompressionStats
    method: str
    floor: float
    best: float
    reranked: Reranked
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
        self._retriever = Retriever(remote_timeout_seconds, settings.expansion_weight)

    def search(self, request: SearchRequest, stores: Stores, index: IndexState) -> SearchResult:
        """Return the answer; a store that fails is named in `meta.unavailable`, and the rest answer.

        Raises RequestError for a language that there is not.
        """
        started = time.perf_counter()
        settings = self._settings
        query = understand(request.query, settings)
        request = check_filters(request, stores.catalog)
        pool = min(max(settings.candidate_multiplier * request.limit, settings.candidate_minimum), MAX_CANDIDATES)
        found = self._retriever.retrieve(query, request.scope, pool, stores)
        selection = self._select(query, request, found, stores)
        too_alike = len(selection.hits) < request.limit <= selection.stats.after_threshold
        if too_alike and any(len(one.items) == pool for one in selection.lists):
            # Duplicates ate the pool while the stores had more: ask once for twice as many.
            found = self._retriever.retrieve(query, request.scope, 2 * pool, stores)
            selection = self._select(query, request, found, stores)
        hits = selection.hits
        shown = {hit.chunk.chunk_id for hit in hits}
        expanded = blocks.expanded(request, hits, stores, found, self._retriever, settings)
        rejected = blocks.rejected(request, shown, stores, found, self._retriever, settings)
        judgement = self._judge(query, found, stores, index)
        meta = SearchMeta(
            retrieval_ms=(time.perf_counter() - started) * 1000,
            strategy=SearchStrategy(
                fusion_method=selection.method,
                semantic_enabled="vector" not in found.unavailable,
                fts_enabled="keyword" not in found.unavailable and self._is_hybrid(request, found),
                graph_expansion_enabled=request.include_graph_context and "graph" not in found.unavailable,
                reranker=selection.reranked.reranker,
                rejected_injection_enabled=settings.rejected_injection_max_docs > 0,
                intent=query.intent.value,
                filters_applied=_filters(request.scope),
            ),
            compression=selection.stats,
            index=index,
            retrieval_stats=RetrievalStats(
                primary_count=len(hits),
                expanded_count=len(expanded),
                rejected_count=len(rejected),
                runner_up_count=len(selection.runners_up),
                candidates_pre_threshold=selection.stats.original_count,
                candidates_post_threshold=selection.stats.after_threshold,
                min_score_used=selection.floor,
                max_score_used=selection.best,
            ),
            unavailable=found.unavailable,
            warnings=request.warnings + ((selection.reranked.warning,) if selection.reranked.warning else ()),
            confidence=judgement.confidence,
            nothing_matches=judgement.is_low,
            missing_words=judgement.missing,
        )
        return SearchResult(
            request.query, tuple(hits), tuple(expanded), meta, tuple(rejected), tuple(selection.runners_up)
        )

    def close(self) -> None:
        """Stop the threads."""
        self._retriever.close()

    def _judge(self, query: Query, found: Found, stores: Stores, index: IndexState) -> Judgement:
        """Judge what was found; what is not indexed yet may still match."""
        if not (self._settings.judge_confidence and stores.knows_cosines and index.state == "ready"):
            return NO_JUDGEMENT
        return judge(query, found, stores.keywords)

    # ------------------------------------------------------------ from candidates to hits

    def _select(self, query: Query, request: SearchRequest, found: Found, stores: Stores) -> _Selection:
        """Turn candidates into the hits to show."""
        lists = self._lists(query, request, found, stores)
        fused, method = self._fuse(request, lists, found, stores)
        hybrid = self._is_hybrid(request, found)
        if hybrid:
            fused += _unlisted(fused, [match.chunk_id for match in found.definitions], found.paths)
        ranker = Ranker(
            query,
            self._settings,
            self._clock(),
            with_recency=request.rerank_with_recency,
            with_bonuses=hybrid,
            with_archived=not request.scope.exclude_archived or bool(request.scope.include_patterns),
        )
        ranked = self._rank(ranker, request, fused, lists, found, stores)
        reranked = self._rerank(query, request, ranker, ranked, lists, found, stores)
        floor = request.min_score if request.min_score is not None else self._settings.min_score or 0.0
        above = [scored for scored in reranked.order if scored.fused.score >= floor]
        copies = _archived_copies(above, stores.catalog)
        pipeline = Pipeline(self._settings, request.limit + RUNNERS_UP, request.chunks_per_document, copies)
        vectors = stores.vectors if found.vector else None
        hits = _hits(ranker, above, stores.catalog, vectors, 2 * request.limit)
        stats = pipeline.run(hits, len(ranked), len(above), request.limit)
        best = max((one.score for one in fused), default=0.0)
        kept = pipeline.kept
        return _Selection(kept[: request.limit], kept[request.limit :], stats, method, floor, best, reranked, lists)

    def _is_hybrid(self, request: SearchRequest, found: Found) -> bool:
        """Tell whether words count too; where there are no vectors they have to."""
        return (request.use_rrf and self._settings.hybrid_search_enabled) or not found.vector

    def _lists(self, query: Query, request: SearchRequest, found: Found, stores: Stores) -> list[RankedList]:
        """Return the lists to fuse; the graph's is one when the query asks for a relation of what it names."""
        settings = self._settings
        lists = []
        if "vector" not in found.unavailable:
            by_score = settings.fusion_algorithm == "relative" and self._is_hybrid(request, found)
            others = self._similar(found, stores) if by_score else {}
            lists.append(RankedList("vector", found.vector, settings.vector_weight, others))
        if "keyword" not in found.unavailable:
            lists.append(RankedList("keyword", found.keyword, settings.keyword_weight, found.keyword_beyond))
        if query.relations and found.definitions and request.include_graph_context and request.max_hops:
            seeds = [match.chunk_id for match in found.definitions]
            kinds = [kind for kind, _ in query.relations]
            related = self._retriever.ask_graph(
                stores.graph,
                lambda graph: graph.neighbours(seeds, request.max_hops, MAX_NEIGHBOURS, request.scope, kinds),
                found,
            )
            asked = [one for one in related if (one.relation, one.direction) in query.relations]
            items = [Ranked(one.chunk.chunk_id, one.confidence) for one in asked]
            lists.append(RankedList("graph", items, settings.graph_weight))
        return lists

    def _similar(self, found: Found, stores: Stores) -> Mapping[int, float]:
        """Return the cosines of what the keyword list alone proposed: a missing score would count as none."""
        nearest = {one.chunk_id for one in found.vector}
        rest = [one.chunk_id for one in found.keyword if one.chunk_id not in nearest]
        return self._retriever.similarities(rest, stores, found)

    def _fuse(
        self, request: SearchRequest, lists: Sequence[RankedList], found: Found, stores: Stores
    ) -> tuple[list[Fused], str]:
        """Fuse, and name what ran: the argument may ask for vectors alone, the setting for another way."""
        settings = self._settings
        if not self._is_hybrid(request, found):
            return fuse_rrf([one for one in lists if one.source == "vector"], settings.rrf_k), "semantic_only"
        if settings.fusion_algorithm == "weighted":
            legacy = {"vector": settings.legacy_vector_weight, "keyword": settings.legacy_keyword_weight}
            weighed = [RankedList(one.source, one.items, legacy.get(one.source, one.weight)) for one in lists]
            return fuse_weighted(weighed), "weighted"
        share = _shares(lists, stores.catalog, settings) if settings.category_weights else balanced
        if settings.fusion_algorithm == "rrf":
            return fuse_rrf(lists, settings.rrf_k, share), "rrf"
        return fuse_relative(lists, share), "relative"

    def _rank(
        self,
        ranker: Ranker,
        request: SearchRequest,
        fused: Sequence[Fused],
        lists: Sequence[RankedList],
        found: Found,
        stores: Stores,
    ) -> list[Scored]:
        """Order the candidates by all that is known of them."""
        settings = self._settings
        voters = fused[:VOTERS]
        mentions: Sequence[Mention] = ()
        if ranker.with_bonuses and settings.vote_bonus:
            ids = [one.chunk_id for one in voters]
            mentions = self._retriever.ask_graph(stores.graph, lambda graph: graph.mentions(ids, request.scope), found)
        targets = {one.definition_chunk_id for one in mentions}
        files = stores.catalog.files([*(one.chunk_id for one in fused), *targets])
        backlinks: Mapping[int, int] = {}
        if settings.backlink_boost_weight:
            by_chunk = self._retriever.backlinks([one.chunk_id for one in fused], stores, found)
            backlinks = {files[chunk_id].file_id: count for chunk_id, count in by_chunk.items() if chunk_id in files}
        evidence = Evidence(
            definitions=found.definitions,
            related=next((one.items for one in lists if one.source == "graph"), ()),
            keyword=_scores(lists, "keyword"),
            votes=graph_votes(voters, mentions, files),
            backlinks=backlinks,
        )
        return ranker.order(fused, files, evidence)

    def _rerank(
        self,
        query: Query,
        request: SearchRequest,
        ranker: Ranker,
        ranked: Sequence[Scored],
        lists: Sequence[RankedList],
        found: Found,
        stores: Stores,
    ) -> Reranked:
        """Look at the best candidates once more, when the settings ask for it."""
        reranker = Reranker(query, self._settings, request.limit)
        if self._settings.rerank == "weighted_sum":
            named = frozenset(match.chunk_id for match in found.definitions)
            scores = Scores(_scores(lists, "vector"), _scores(lists, "keyword"), named)
            return reranker.by_weighted_sum(ranked, ranker, stores.catalog, scores)
        if self._settings.rerank == "cross_encoder":
            try:
                model = stores.cross_encoder()
            except ModelUnavailableError as error:
                return unavailable(error, ranked)
            return reranker.by_cross_encoder(ranked, ranker, stores.catalog, model)
        return Reranked(ranked)


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


def _archived_copies(ranked: Sequence[Scored], catalog: ChunkStore) -> dict[int, tuple[StoredChunk, ...]]:
    """Look for copies among the candidates where some are archived, which is seldom asked for."""
    if not any(scored.file.archive for scored in ranked):
        return {}
    chunks = catalog.chunks([scored.fused.chunk_id for scored in ranked])
    return archived_copies(chunks[one.fused.chunk_id] for one in ranked if one.fused.chunk_id in chunks)


def _unlisted(fused: Sequence[Fused], definitions: Sequence[int], paths: Sequence[Ranked]) -> list[Fused]:
    """Return the candidates that no list proposed: definitions and files that the query names."""
    listed = {one.chunk_id for one in fused}
    named = dict.fromkeys([*definitions, *(one.chunk_id for one in paths)])
    return [Fused(chunk_id, 0.0, {}) for chunk_id in named if chunk_id not in listed]


def _shares(lists: Sequence[RankedList], catalog: ChunkStore, settings: RetrievalSettings) -> Share:
    """Return how much of the say each list has on a chunk, by the kind of its file."""
    files = catalog.files([item.chunk_id for one in lists for item in one.items])

    def share(chunk_id: int, source: str) -> float:
        file = files.get(chunk_id)
        vectors = settings.category_weights.get(file.category, EVEN) if file is not None else EVEN
        return {"vector": vectors, "keyword": 1 - vectors}.get(source, EVEN)

    return share


def _scores(lists: Sequence[RankedList], source: str) -> dict[int, float]:
    """Return all that one source said of the candidates, by chunk id."""
    return {
        chunk_id: score
        for one in lists
        if one.source == source
        for chunk_id, score in (*one.items, *one.others.items())
    }


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
