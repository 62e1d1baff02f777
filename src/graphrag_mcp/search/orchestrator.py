"""Answers one request: understand the query, then gather -> score -> select -> enrich, which are timed."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from msgspec import Struct, field
from msgspec.structs import fields, replace

from graphrag_mcp.errors import RequestError, ServerError
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import (
    Hit,
    PhaseTimes,
    RetrievalStats,
    SearchMeta,
    SearchRequest,
    SearchResult,
    SearchStrategy,
)
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.confidence import NO_JUDGEMENT, Judgement, best_of, judge, judge_together
from graphrag_mcp.search.enrich import near_names, rejected_approaches, related_code
from graphrag_mcp.search.filters import check_filters
from graphrag_mcp.search.focus import Gains, Terms, focus_hits, whole_definitions
from graphrag_mcp.search.gather import gather
from graphrag_mcp.search.query.restrictions import find_restriction
from graphrag_mcp.search.query.understand import Query, clauses, joined, respell, understand, understand_apart
from graphrag_mcp.search.ranking.definitions import order_definitions
from graphrag_mcp.search.ranking.ranker import score_candidates
from graphrag_mcp.search.ranking.reranking import Reranked, expect_look, look_again, rerank
from graphrag_mcp.search.ranking.scored import Candidates, Scored, fuse_phrasings, interleave
from graphrag_mcp.search.retrieval import REMOTE_TIMEOUT_SECONDS, Lookups, Retriever, Stores
from graphrag_mcp.search.select import Selection, select
from graphrag_mcp.settings import RetrievalSettings

POOL = 120  # Candidates of each list, whatever the limit is: it decides how many are shown, not which.
WIDER = 3  # Times the pool, where it has too few hits for the limit.
OFF_TOPIC = 1.2  # The score of the best hit that 15 of 16 questions about something else do not reach.


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
        self.retriever = Retriever(remote_timeout_seconds)

    def search(self, request: SearchRequest, stores: Stores, index: IndexState) -> SearchResult:
        """Return the answer; a store that fails is named in `meta.unavailable`, and the others are used.

        A restriction in the words of the question is a filter, unless nothing is found there. Raises RequestError for a
        language that is not known, or a path that matches nothing.
        """
        request = check_filters(request, stores.catalog)
        texts = (request.query, *request.also)
        read = [find_restriction(text, partial(_exists, stores.catalog)) for text in texts]
        restriction = read[0]
        scope = restriction.narrow(request.scope) if restriction else None
        if restriction is None or scope is None:
            return self._search(request, texts, stores, index)
        plain = [part.question if part else text for part, text in zip(read, texts, strict=True)]
        result = self._search(replace(request, scope=scope), plain, stores, index)
        note = f"Restricted to {restriction.place}, as the question says; leave that out to search everywhere."
        if result.meta.nothing_matches and result.primary and result.primary[0].score >= OFF_TOPIC:
            result = replace(result, meta=replace(result.meta, nothing_matches=False))
        if not result.primary or (result.meta.nothing_matches and not restriction.paths):  # A path means one place.
            everywhere = self._search(request, plain, stores, index)
            if everywhere.primary and not everywhere.meta.nothing_matches:
                how = "Nothing matches well" if result.primary else "Nothing matches"
                note = f"{how} in {restriction.place}, as the question restricts it; this is from the whole repository."
                result = everywhere
        return replace(result, meta=replace(result.meta, restriction=note))

    def close(self) -> None:
        """Stop the threads."""
        self.retriever.close()

    def _search(self, request: SearchRequest, texts: Sequence[str], stores: Stores, index: IndexState) -> SearchResult:
        """Return the answer; texts: the phrasings without their restrictions."""
        settings = _settings_of(request, self._settings)
        return _Search(request, settings, stores, self.retriever, self._clock()).answer(texts, index)


def _settings_of(request: SearchRequest, settings: RetrievalSettings) -> RetrievalSettings:
    """Return the settings with what the arguments of a call switch off."""
    changes: dict[str, str] = {}
    if not request.use_rrf:
        changes["fusion_algorithm"] = "semantic_only"
    if not request.rerank_with_recency:
        changes["recency_profile"] = "off"
    return replace(settings, **changes) if changes else settings


def _exists(catalog: ChunkStore, glob: str) -> bool:
    """Return whether a glob matches an indexed file; False while a server fails, and for words that are no glob."""
    try:
        return not catalog.scope_paths.chosen((glob,)).is_empty
    except (RequestError, ServerError):
        return False


class _Search(Struct, frozen=True):
    """One search of one scope. now: seconds since 1970."""

    request: SearchRequest
    settings: RetrievalSettings
    stores: Stores
    retriever: Retriever
    now: float
    watch: "_Stopwatch" = field(default_factory=lambda: _Stopwatch())

    def answer(self, texts: Sequence[str], index: IndexState) -> SearchResult:
        """Return the answer. texts: phrasings of one question."""
        request, settings = self.request, self.settings
        texts = [self._respell(text) for text in texts]
        parts = clauses(texts[0]) if len(texts) == 1 else ()
        queries = understand_apart(parts, settings) if parts else [understand(text, settings) for text in texts]
        ranked = self._rank(queries, POOL)
        if _ran_short(ranked, request):
            ranked = self._rank(queries, WIDER * POOL, ranked.orders)
        hits, further = _focus(ranked)
        related = related_code(request, hits, ranked.lookups, settings)
        rejected = rejected_approaches(request, {hit.chunk.chunk_id for hit in hits}, ranked.lookups, settings)
        judgement = self._judge(ranked, index)
        shown = {hit.chunk.chunk_id for hit in (*hits, *further)}
        catalog = self.stores.catalog
        names = near_names(ranked.query, ranked.orders[-1], shown, catalog) if judgement.is_unsure else {}
        self.watch.end("enrich")
        meta = SearchMeta(
            retrieval_ms=self.watch.total,
            search_strategy=_strategy(request, ranked, settings),
            compression=ranked.selection.stats,
            index=index,
            retrieval_stats=replace(_counts(ranked), expanded_count=len(related), rejected_count=len(rejected)),
            phases_ms=self.watch.times,
            unavailable=ranked.unavailable,
            warnings=request.warnings + ranked.warnings,
            confidence=judgement.confidence,
            nothing_matches=judgement.is_low,
            is_weak=judgement.is_weak,
            missing_words=judgement.missing,
            clauses=parts,
            near_names=names,
        )
        return SearchResult(request.query, tuple(hits), tuple(related), meta, tuple(rejected), tuple(further))

    def _respell(self, text: str) -> str:
        keywords = self.stores.keywords

        def is_known(word: str) -> bool:
            frequencies = keywords.frequencies([word])
            return frequencies is None or bool(frequencies.of_terms[word])

        return respell(text, is_known)

    def _rank(self, queries: Sequence[Query], pool: int, before: Sequence[Sequence[Scored]] = ()) -> "_Ranked":
        """Return the results of the first three phases. before: the ranking of a smaller pool, which stays in front.

        queries: phrasings of one question, or the clauses of one that asks for two things.
        """
        phrasings = [self._rank_phrasing(query, pool) for query in queries]
        orders = [phrasing.reranked.order for phrasing in phrasings]
        if len(orders) == 1:
            (order,) = orders
        else:
            order = fuse_phrasings(orders) if self.request.also else interleave(orders)
        first = phrasings[0]
        of_one_file = len({scored.file.file_id for scored in order}) == 1  # No other has to have room.
        selection = select(
            [*before, order],
            replace(self.request, chunks_per_document=0) if of_one_file else self.request,
            self.settings,
            first.lookups.contents,
            # A question for what imports or uses a definition looks for what names it.
            wants_definitions=not first.query.relations,
        )
        self.watch.end("select")
        return _Ranked(phrasings, [*before, order], selection, pool)

    def _rank_phrasing(self, query: Query, pool: int) -> "_Phrasing":
        request, settings = self.request, self.settings
        lookups = Lookups(self.retriever, self.stores)
        expect_look(query, self.stores.second)
        candidates = gather(query, request, pool, lookups, settings)
        self.watch.end("gather")
        with_archived = not request.scope.exclude_archived or bool(request.scope.include_patterns)
        order = score_candidates(query, candidates, settings, self.now, with_archived=with_archived)
        order = look_again(order, query, candidates, self.stores.second)
        order = order_definitions(query, order, candidates, self.stores)
        reranked = rerank(order, query, candidates, self.stores, settings, self.now)
        self.watch.end("score")
        return _Phrasing(query, lookups, candidates, reranked)

    def _judge(self, ranked: "_Ranked", index: IndexState) -> Judgement:
        """Judge whether anything matches; not before the index is complete, since the rest may still match."""
        stores = self.stores
        if not (self.settings.judge_confidence and stores.has_calibrated_cosines and index.state is IndexPhase.READY):
            return NO_JUDGEMENT
        judgements = [
            judge(phrasing.query, phrasing.candidates.retrieved, ranked.unavailable, stores.keywords)
            for phrasing in ranked.phrasings
        ]
        if len(judgements) == 1:
            return judgements[0]
        return judge_together(judgements) if self.request.also else best_of(judgements)


class _Phrasing(Struct, frozen=True):
    """The candidates of one phrasing and their order."""

    query: Query
    lookups: Lookups
    candidates: Candidates
    reranked: Reranked


class _Ranked(Struct, frozen=True):
    """The results of the first three phases for one pool of candidates.

    phrasings: what was found for each. orders: the ranking of a smaller pool, if there was one, and this one's.
    """

    phrasings: Sequence[_Phrasing]
    orders: Sequence[Sequence[Scored]]
    selection: Selection
    pool: int

    @property
    def query(self) -> Query:
        """All phrasings as one."""
        return joined([phrasing.query for phrasing in self.phrasings])

    @property
    def lookups(self) -> Lookups:
        """Those of the first phrasing."""
        return self.phrasings[0].lookups

    @property
    def unavailable(self) -> Mapping[str, str]:
        """The stores that failed for any phrasing, each with its first reason."""
        return {
            store: why for phrasing in reversed(self.phrasings) for store, why in phrasing.lookups.unavailable.items()
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the rerankers warn of, once each."""
        return tuple(dict.fromkeys(filter(None, (phrasing.reranked.warning for phrasing in self.phrasings))))


class _Stopwatch:
    """Adds up how long each phase takes."""

    def __init__(self) -> None:
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._started = self._last = time.perf_counter()

    def end(self, phase: str) -> None:
        """Add the time since the last phase ended to this one."""
        now = time.perf_counter()
        self._spent[phase] += (now - self._last) * 1000
        self._last = now

    @property
    def times(self) -> PhaseTimes:
        """The time of each phase, in milliseconds."""
        return PhaseTimes(**{phase: round(spent, 3) for phase, spent in self._spent.items()})

    @property
    def total(self) -> float:
        """The time until the last phase ended, in milliseconds."""
        return (self._last - self._started) * 1000


def _focus(ranked: _Ranked) -> tuple[list[Hit], list[Hit]]:
    """Return the hits and the runners-up, each with what of it matched."""
    selection, lookups, query = ranked.selection, ranked.lookups, ranked.query
    catalog = lookups.stores.catalog
    definitions = catalog.definitions({hit.chunk.file_id for hit in (*selection.hits, *selection.runners_up)})
    hits = [*whole_definitions(selection.hits, definitions, catalog), *selection.runners_up]
    focused = focus_hits(hits, Terms(query, lookups.frequencies(query.terms)), definitions, _gains(ranked))
    shown = len(selection.hits)
    return focused[:shown], focused[shown:]


def _gains(ranked: _Ranked) -> Gains | None:
    """Return what tells how much the definitions of files speak for themselves: by the mean of the phrasings."""
    sketches = ranked.lookups.stores.measured_sketches
    vectors = [phrasing.candidates.retrieved.query_vector for phrasing in ranked.phrasings]
    known = [vector for vector in vectors if vector is not None]
    if sketches is None or not known:
        return None
    return partial(sketches.gains, query=np.mean(known, axis=0))


def _ran_short(ranked: _Ranked, request: SearchRequest) -> bool:
    """Return whether there are too few hits while a store has more candidates that may be above the threshold."""
    selection = ranked.selection
    too_few = len(selection.hits) < request.limit
    threshold_decides = selection.stats.after_threshold < min(request.limit, selection.stats.original_count)
    proposed = (ranked_list for phrasing in ranked.phrasings for ranked_list in phrasing.candidates.lists)
    is_cut = any(len(ranked_list.items) == ranked.pool for ranked_list in proposed)
    return too_few and is_cut and not threshold_decides


def _strategy(request: SearchRequest, ranked: _Ranked, settings: RetrievalSettings) -> SearchStrategy:
    first, unavailable = ranked.phrasings[0], ranked.unavailable
    return SearchStrategy(
        fusion_method=first.candidates.method,
        semantic_enabled="vector" not in unavailable,
        fts_enabled="keyword" not in unavailable and first.candidates.is_hybrid,
        graph_expansion_enabled=request.include_graph_context and "graph" not in unavailable,
        reranker=first.reranked.method,
        rejected_injection_enabled=settings.rejected_injection_max_docs > 0,
        intent=first.query.intent.value,
        filters_applied=_filters(request.scope),
    )


def _counts(ranked: _Ranked) -> RetrievalStats:
    selection = ranked.selection
    return RetrievalStats(
        primary_count=len(selection.hits),
        runner_up_count=len(selection.runners_up),
        candidates_pre_threshold=selection.stats.original_count,
        candidates_post_threshold=selection.stats.after_threshold,
        min_score_used=selection.floor,
        max_score_used=max(
            (hit.score for phrasing in ranked.phrasings for hit in phrasing.candidates.fused), default=0.0
        ),
    )


def _filters(scope: Scope) -> tuple[str, ...]:
    names = [field.name for field in fields(scope) if getattr(scope, field.name)]
    return tuple("excluded_files" if name == "excluded_keys" else name for name in names)
