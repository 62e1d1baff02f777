"""Looks a second time at the first candidates of a question: by a model, or as the setting `rerank` says."""

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.model.files import DocumentStatus
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Factor, FactorKind, ListSource, Ranked, RerankMethod, StoredChunk, StoredFile
from graphrag_mcp.ports import CrossEncoder, SecondLook
from graphrag_mcp.search.query.literals import names_path
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking.bonuses import Agreement
from graphrag_mcp.search.ranking.fusion import RankedList, normalised, relative
from graphrag_mcp.search.ranking.ranker import AUTO_TIERS, age_days, status_penalty
from graphrag_mcp.search.ranking.scored import Candidates, Scored
from graphrag_mcp.search.retrieval import Lookups, Stores
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.words import query_words

RERANKED = 30  # Candidates: three times the places of an answer.
RECENCY_DAYS = 365.0  # The signal of recency in the weighted sum falls to 1/e in this time.

logger = logging.getLogger(__name__)
LOOKED_AT = 30  # Later candidates are not looked at; most of the gain is in the first ten.
LEAST_LOOKED = 5  # Cosines have another scale for each model; of fewer, it is not known.
LOOK_WEIGHT = 0.4  # What the best of them can gain over the worst; with more, functions of one topic are confused.
LOOK_SPREAD = 2.0  # Standard deviations from the mean; beyond, a cosine counts no more.
LIST_WEIGHT = 2.0  # The further list counts so much in the fusion: it has no words in common with the question.
MOST_SHARED = 0.34  # Where the repository has a larger share of a question's terms, a further list only costs places.


class Reranked(Struct, frozen=True):
    """The new order, the method that made it, and a warning when the method that the settings ask for failed."""

    order: Sequence[Scored]
    method: RerankMethod = RerankMethod.NONE
    warning: str = ""


def rerank(
    order: Sequence[Scored],
    query: Query,
    candidates: Candidates,
    stores: Stores,
    settings: RetrievalSettings,
    now: float,
) -> Reranked:
    """Return the candidates with the top ones in the order of the method that the settings name."""
    method = RerankMethod(settings.rerank)
    if method is RerankMethod.NONE:
        return Reranked(order)
    chunks = stores.catalog.chunks([scored.fused.chunk_id for scored in order[:RERANKED]])
    top = [scored for scored in order[:RERANKED] if scored.fused.chunk_id in chunks]
    if method is RerankMethod.CROSS_ENCODER:
        return _by_cross_encoder(order, top, chunks, query, stores.cross_encoder)
    weigh = WeightedSum(query, candidates, settings, now)
    rescored = [weigh.rescore(scored, chunks[scored.fused.chunk_id]) for scored in top]
    return Reranked(_followed_by(rescored, order), method)


def _by_cross_encoder(
    order: Sequence[Scored],
    top: Sequence[Scored],
    chunks: Mapping[int, StoredChunk],
    query: Query,
    load_model: Callable[[], CrossEncoder],
) -> Reranked:
    """Return the candidates with a cross-encoder's scores added; when it fails, in the order that they had."""
    try:
        read = [chunks[scored.fused.chunk_id] for scored in top]
        texts = [f"{chunk.path} {chunk.symbol}\n{chunk.text}" for chunk in read]  # The former tell as much.
        scores = load_model().scores(query.text, texts)
    except ModelUnavailableError as error:
        return Reranked(order, warning=f"not reranked: {error}")
    except Exception as error:
        # A failure inside a model must not lose the answer.
        logger.warning("the cross-encoder failed", exc_info=logger.isEnabledFor(logging.DEBUG))
        return Reranked(order, warning=f"not reranked: the cross-encoder failed ({error})")
    looks = [Factor("cross-encoder", score, FactorKind.BONUS) for score in scores]
    rescored = [scored.after(look) for scored, look in zip(top, looks, strict=True)]
    return Reranked(_followed_by(rescored, order), RerankMethod.CROSS_ENCODER)


def _followed_by(rescored: Sequence[Scored], ranked: Sequence[Scored]) -> list[Scored]:
    """Return the rescored candidates by their new score, then the rest; ties keep their order."""
    done = {scored.fused.chunk_id for scored in rescored}
    rest = [scored for scored in ranked if scored.fused.chunk_id not in done]
    return sorted(rescored, key=lambda scored: -scored.score) + rest


class WeightedSum:
    """The linear reranker: score = Σ weight · signal + priority_weight · priority − penalties; signals are from 0 to 1.

    Every score can be added up by hand.
    """

    def __init__(self, query: Query, candidates: Candidates, settings: RetrievalSettings, now: float) -> None:
        self._query = query
        self._settings = settings
        self._now = now
        self._agreement = Agreement(query.terms)
        self._named = {match.chunk_id for match in candidates.retrieved.definitions}
        cosines, self._keyword = candidates.scores(ListSource.VECTOR), relative(candidates.scores(ListSource.KEYWORD))
        self._vector = normalised(cosines) if settings.rerank_normalize_scores else clipped(cosines)

    def rescore(self, scored: Scored, chunk: StoredChunk) -> Scored:
        """Return a candidate with the sum as its score; the boost for backlinks is applied to it."""
        terms = self.terms(chunk, scored.file)
        return scored._replace(score=sum(term.value for term in terms) * scored.shared.factors.backlinks, terms=terms)

    def terms(self, chunk: StoredChunk, file: StoredFile) -> tuple[Factor, ...]:
        """Return the terms of a candidate's score, those that are not zero."""
        settings, weights, documents = self._settings, self._settings.rerank_weights, self._settings.document_weights
        penalty = max(status_penalty(file, settings), documents["archived"] if file.archive else 0.0)
        mention = weights["mention_boost"] * self._is_mentioned(chunk)
        if penalty:
            mention = min(mention, penalty)  # A superseded document is never lifted above the one that supersedes it.
        signals = {
            "vector": weights["vector"] * self._vector.get(chunk.chunk_id, 0.0),
            "keyword": weights["keyword"] * self._keyword.get(chunk.chunk_id, 0.0),
            "heading": weights["heading"] * self._agreed([*chunk.enclosing, *chunk.names]),
            "tags": weights["tag_overlap"] * self._agreed(file.facts.tags),
            "preamble": weights["preamble"] * (chunk.start_line == 1),
            "recency": weights["recency"] * self._recency(file),
            "active": weights["status"] * (file.facts.status is DocumentStatus.ACTIVE),
            "mention": mention,
            "priority": documents["priority"] * (file.facts.priority or 0),
            "status": -penalty,
            "auto tier": -documents["auto_tier"] * (file.facts.type.lower() in AUTO_TIERS),
        }
        return tuple(Factor(name, value, FactorKind.TERM) for name, value in signals.items() if value)

    def _is_mentioned(self, chunk: StoredChunk) -> bool:
        return chunk.chunk_id in self._named or any(names_path(name, chunk.path) for name in self._query.paths)

    def _agreed(self, texts: Iterable[str]) -> float:
        """Return the share of the query's terms that the texts cover."""
        words = dict.fromkeys(word for text in texts for word in query_words(text))
        return self._agreement.of(tuple(words)).terms

    def _recency(self, file: StoredFile) -> float:
        if file.modified_at is None:
            return 0.0
        return math.exp(-age_days(file.modified_at, self._now) / RECENCY_DAYS)


def clipped(scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores, each at least 0 and at most 1."""
    return {key: min(1.0, max(0.0, score)) for key, score in scores.items()}


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
    if len(cosines) < LEAST_LOOKED:
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
    items = second.nearest(query.text, pool, scope) if len(known) <= MOST_SHARED * len(query.terms) else []
    least = items[-1].score if items else 0.0
    shifted = [Ranked(item.chunk_id, item.score - least) for item in items]
    return [RankedList(ListSource.SECOND, shifted, LIST_WEIGHT)] if shifted else []


def _applies(query: Query) -> bool:
    """Return whether a question is in words: names, places and relations are found exactly."""
    return query.intent is Intent.NATURAL and not (query.relations or query.locations)


def _judged(scored: Scored, cosine: float | None, mean: float, deviation: float) -> Scored:
    if cosine is None:
        return scored
    distance = max(-LOOK_SPREAD, min(LOOK_SPREAD, (cosine - mean) / deviation))
    value = LOOK_WEIGHT * distance / (2 * LOOK_SPREAD)
    return scored.after(Factor("second look", value, FactorKind.BONUS, f"cosine {cosine:.2f}"))
