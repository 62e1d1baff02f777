"""Scores and orders the candidates of a query from what was gathered; no store is read."""

from collections.abc import Sequence
from typing import NamedTuple

from graphrag_mcp.model.search import ListSource, SearchRequest
from graphrag_mcp.search.gather import Candidates
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.ranked_lists import Scored
from graphrag_mcp.search.ranking.ranker import Ranker
from graphrag_mcp.search.ranking.weighted_sum import Scores
from graphrag_mcp.settings import RetrievalSettings


class Ordered(NamedTuple):
    """Candidates in their order, best first, and the ranker that explains their scores."""

    ranker: Ranker
    order: Sequence[Scored]


def score(
    query: Query, request: SearchRequest, candidates: Candidates, settings: RetrievalSettings, now: float
) -> Ordered:
    """Return the candidates, best first. now: seconds since 1970."""
    ranker = Ranker(
        query,
        settings,
        now,
        with_recency=request.rerank_with_recency,
        with_bonuses=candidates.is_hybrid,
        with_archived=not request.scope.exclude_archived or bool(request.scope.include_patterns),
    )
    return Ordered(ranker, ranker.order(candidates.fused, candidates.files, candidates.evidence))


def reranking_scores(candidates: Candidates) -> Scores:
    """Return the scores that the linear reranker reads."""
    by_source = {ranked.source: ranked.scores for ranked in candidates.lists}
    named = frozenset(match.chunk_id for match in candidates.found.definitions)
    return Scores(by_source.get(ListSource.VECTOR, {}), by_source.get(ListSource.KEYWORD, {}), named)
