"""Scores the top candidates a second time, if the setting `rerank` names a method."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.model.search import Factor, FactorKind, RerankMethod, StoredChunk
from graphrag_mcp.ports import CrossEncoder
from graphrag_mcp.search.ranking.ranked_lists import Scored
from graphrag_mcp.search.ranking.ranker import Ranker
from graphrag_mcp.search.ranking.weighted_sum import Scores, WeightedSum, total

RERANKED = 30  # Candidates: three times the places of an answer.

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The new order, the method that made it, and a warning when the method that the settings ask for failed."""

    order: Sequence[Scored]
    method: RerankMethod = RerankMethod.NONE
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Top:
    """The candidates that are scored again, best first, and their chunks by id."""

    scored: Sequence[Scored]
    chunks: Mapping[int, StoredChunk]


def by_weighted_sum(ranked: Sequence[Scored], top: Top, ranker: Ranker, scores: Scores) -> Reranked:
    """Return the candidates in the order of the linear sum; the boost for backlinks is applied to it."""
    weigh = WeightedSum(ranker.query, scores, ranker.settings, ranker.now)
    rescored = []
    for candidate in top.scored:
        terms = weigh.terms(top.chunks[candidate.fused.chunk_id], candidate.file)
        score = total(terms) * ranker.backlink_boost(candidate.file)
        rescored.append(candidate._replace(score=score, terms=terms))
    return Reranked(_followed_by(rescored, ranked), RerankMethod.WEIGHTED_SUM)


def by_cross_encoder(
    ranked: Sequence[Scored], top: Top, ranker: Ranker, load_model: Callable[[], CrossEncoder]
) -> Reranked:
    """Return the candidates in the order of a cross-encoder; when it fails, in the order that they had.

    The boosts of age, status and backlinks are applied to its scores, since it reads the text alone.
    """
    try:
        chunks = [top.chunks[candidate.fused.chunk_id] for candidate in top.scored]
        texts = [f"{chunk.path} {chunk.symbol}\n{chunk.text}" for chunk in chunks]  # The former tell as much.
        scores = load_model().scores(ranker.query.text, texts)
    except ModelUnavailableError as error:
        return Reranked(ranked, warning=f"not reranked: {error}")
    except Exception as error:
        # A failure inside a model must not lose the answer.
        logger.warning("the cross-encoder failed", exc_info=logger.isEnabledFor(logging.DEBUG))
        return Reranked(ranked, warning=f"not reranked: the cross-encoder failed ({error})")
    rescored = [
        candidate._replace(
            score=score * ranker.boost(candidate.file), terms=(Factor("cross-encoder", score, FactorKind.TERM),)
        )
        for candidate, score in zip(top.scored, scores, strict=True)
    ]
    return Reranked(_followed_by(rescored, ranked), RerankMethod.CROSS_ENCODER)


def _followed_by(rescored: Sequence[Scored], ranked: Sequence[Scored]) -> list[Scored]:
    """Return the rescored candidates by their new score, then the rest; ties keep their order."""
    done = {scored.fused.chunk_id for scored in rescored}
    rest = [scored for scored in ranked if scored.fused.chunk_id not in done]
    return sorted(rescored, key=lambda scored: -scored.score) + rest
