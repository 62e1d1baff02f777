"""Moves up the document that answers a question about a fact, which a prior for code would hide.

"what is the default of X" and "can I use it with Y" are answered by documents and configuration as often as by code.
"""

from collections.abc import Sequence

from graphrag_mcp.model.files import Category
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking.scored import Move, Scored

FACT_PLACE = 3  # The place of the document: behind two results that may be right.
NEARLY_BEST = 0.95  # A share of the best fused score, which is before all priors and bonuses.
_STATING = (Category.DOCUMENTATION, Category.CONFIG)


def with_fact_document(query: Query, ranked: Sequence[Scored]) -> list[Scored]:
    """Return the hits, best first, with the document or configuration that states a fact at FACT_PLACE, if one does.

    It gets the score of the hit that it displaces.
    """
    document = _fact_document(query, ranked)
    if document is None:
        return list(ranked)
    others = [scored for scored in ranked if scored is not document]
    above, below = others[: FACT_PLACE - 1], others[FACT_PLACE - 1 :]
    return [*above, document._replace(score=below[0].score, moved=Move("fact", "")), *below]


def _fact_document(query: Query, ranked: Sequence[Scored]) -> Scored | None:
    """Return the hit to move up; None if one of its kind is there, or none matches well."""
    if not query.wants_fact or query.categories or query.intent is not Intent.NATURAL or len(ranked) <= FACT_PLACE:
        return None
    if any(scored.file.category in _STATING for scored in ranked[:FACT_PLACE]):
        return None
    best = max(ranked, key=lambda scored: scored.fused.score).fused.score
    documents = (scored for scored in ranked[FACT_PLACE:] if scored.file.category in _STATING)
    document = max(documents, key=lambda scored: scored.fused.score, default=None)
    return document if document is not None and document.fused.score >= NEARLY_BEST * best else None
