"""Finds the document that answers a question about a fact, which a prior for code would hide.

"what is the default of X" and "can I use it with Y" are answered by documents and configuration as often as by code.
"""

from collections.abc import Sequence

from graphrag_mcp.model.files import Category
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking.ranked_lists import Scored

FACT_PLACE = 3  # The place of the document: behind two results that may be right.
NEARLY_BEST = 0.95  # Of the best fused score, which is before all priors and bonuses.
_STATING = (Category.DOCUMENTATION, Category.CONFIG)


def fact_document(query: Query, ranked: Sequence[Scored]) -> Scored | None:
    """Return the document or configuration to move up to FACT_PLACE; None if one is there or none matches well.

    ranked: best first.
    """
    if not query.wants_fact or query.categories or query.intent is not Intent.NATURAL or len(ranked) <= FACT_PLACE:
        return None
    if any(scored.file.category in _STATING for scored in ranked[:FACT_PLACE]):
        return None
    best = max(ranked, key=lambda scored: scored.fused.score).fused.score
    documents = (scored for scored in ranked[FACT_PLACE:] if scored.file.category in _STATING)
    document = max(documents, key=lambda scored: scored.fused.score, default=None)
    return document if document is not None and document.fused.score >= NEARLY_BEST * best else None
