"""Scores the top candidates a second time, if the setting `rerank` names a method."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.model.search import Factor, FactorKind, RerankMethod, StoredChunk
from graphrag_mcp.ports import CrossEncoder
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.evidence import Candidates
from graphrag_mcp.search.ranking.scored import Scored
from graphrag_mcp.search.ranking.weighted_sum import Scores, WeightedSum, total
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.settings import RetrievalSettings

RERANKED = 30  # Candidates: three times the places of an answer.

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranked:
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
    weigh = WeightedSum(query, Scores.of(candidates), settings, now)
    rescored = [_by_weighted_sum(scored, chunks[scored.fused.chunk_id], weigh) for scored in top]
    return Reranked(_followed_by(rescored, order), method)


def _by_weighted_sum(scored: Scored, chunk: StoredChunk, weigh: WeightedSum) -> Scored:
    """Return a candidate with the linear sum as its score; the boost for backlinks is applied to it."""
    terms = weigh.terms(chunk, scored.file)
    return scored._replace(score=total(terms) * scored.shared.factors.backlinks, terms=terms)


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
