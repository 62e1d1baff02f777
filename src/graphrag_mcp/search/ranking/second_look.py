"""A second look at the first candidates of a question in words, by a model that reads more than single words."""

import numpy as np

from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Factor, FactorKind, ListSource, Ranked
from graphrag_mcp.ports import SecondLook
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking.candidates import Candidates
from graphrag_mcp.search.ranking.fusion import RankedList
from graphrag_mcp.search.ranking.scored import Scored
from graphrag_mcp.search.retrieval import Lookups

LOOKED_AT = 30  # Of the first candidates; most of the gain is in the first ten.
LEAST = 5  # Cosines have another scale for each model; of fewer, it is not known.
WEIGHT = 0.4  # What the best of them can gain over the worst; with more, functions of one topic are confused.
SPREAD = 2.0  # Standard deviations from the mean; beyond, a cosine counts no more.
LIST_WEIGHT = 2.0  # Of the further list in the fusion, where the others are of the words that it does not share.
SHARED = 0.34  # Of the terms of a question; where the repository has more of them, a further list only costs places.


def expect_look(query: Query, second: SecondLook | None) -> None:
    """Have the question embedded while its candidates are looked up."""
    if second is not None and _applies(query):
        second.expect(query.text)


def look_again(order: list[Scored], query: Query, candidates: Candidates, second: SecondLook | None) -> list[Scored]:
    """Return the candidates with the first ones judged again, as far as their vectors are there.

    The mean of the cosines adds nothing, so that a candidate without one, or behind them, is as good as the mean.
    """
    if second is None or not candidates.is_hybrid or not _applies(query):
        return order
    if candidates.retrieved.literals or candidates.related:
        return order
    first = order[:LOOKED_AT]
    cosines = second.similarities(query.text, [scored.fused.chunk_id for scored in first])
    if len(cosines) < LEAST:
        return order
    known = np.array(list(cosines.values()))
    mean, deviation = float(known.mean()), float(known.std()) or 1.0
    judged = [_judged(scored, cosines.get(scored.fused.chunk_id), mean, deviation) for scored in first]
    return sorted([*judged, *order[LOOKED_AT:]], key=lambda scored: -scored.score)


def further_list(query: Query, pool: int, scope: Scope, lookups: Lookups) -> list[RankedList]:
    """Return the list of the second model, for a question in words that the repository does not have.

    There is none until all chunks have its vectors. Its last cosine counts as zero: models differ in the cosine of
    what has nothing in common.
    """
    second = lookups.stores.second
    if second is None or not _applies(query):
        return []
    frequencies = lookups.frequencies(query.terms)
    known = [term for term in query.terms if frequencies is not None and frequencies.of_terms.get(term)]
    items = second.nearest(query.text, pool, scope) if len(known) <= SHARED * len(query.terms) else []
    least = items[-1].score if items else 0.0
    shifted = [Ranked(item.chunk_id, item.score - least) for item in items]
    return [RankedList(ListSource.SECOND, shifted, LIST_WEIGHT)] if shifted else []


def _applies(query: Query) -> bool:
    """Return whether a question is in words: names, places and relations are found exactly."""
    return query.intent is Intent.NATURAL and not (query.relations or query.locations)


def _judged(scored: Scored, cosine: float | None, mean: float, deviation: float) -> Scored:
    if cosine is None:
        return scored
    distance = max(-SPREAD, min(SPREAD, (cosine - mean) / deviation))
    value = WEIGHT * distance / (2 * SPREAD)
    return scored.after(Factor("second look", value, FactorKind.BONUS, f"cosine {cosine:.2f}"))
