"""The optional second look at the first candidates: by the linear sum, or by a cross-encoder."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from graphrag_mcp.errors import ModelUnavailableError
from graphrag_mcp.model.search import Factor, StoredChunk
from graphrag_mcp.ports import ChunkStore, CrossEncoder
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.ranker import Ranker, Scored
from graphrag_mcp.search.ranking.weighted_sum import Scores, WeightedSum, total
from graphrag_mcp.settings import RetrievalSettings

LEAST_RERANKED = 20

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The new order, what made it ("none" when nothing did), and a warning when what was wanted failed."""

    order: Sequence[Scored]
    reranker: str = "none"
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Reranker:
    """Scores the first candidates anew; the others follow them in their order.

    The boosts of age, status and backlinks come after a cross-encoder, which knows nothing of them; the linear sum has
    them as terms, and only the backlinks' comes after it.
    """

    query: Query
    settings: RetrievalSettings
    limit: int

    def by_weighted_sum(
        self, ranked: Sequence[Scored], ranker: Ranker, catalog: ChunkStore, scores: Scores
    ) -> Reranked:
        """Return the candidates in the order of the linear sum."""
        first, chunks = self._first(ranked, catalog)
        weigh = WeightedSum(self.query, scores, self.settings, ranker.now)
        rescored = []
        for one in first:
            terms = weigh.terms(chunks[one.fused.chunk_id], one.file)
            rescored.append(one._replace(score=total(terms) * ranker.backlink_boost(one.file), terms=terms))
        return Reranked(_followed_by(rescored, ranked), "weighted_sum")

    def by_cross_encoder(
        self, ranked: Sequence[Scored], ranker: Ranker, catalog: ChunkStore, model: CrossEncoder
    ) -> Reranked:
        """Return the candidates in the order of a cross-encoder; when it fails, in the order that they had."""
        first, chunks = self._first(ranked, catalog)
        try:
            scores = model.scores(self.query.text, [_shown(chunks[one.fused.chunk_id]) for one in first])
        except Exception as error:
            # Whatever breaks inside a model must not cost the answer.
            logger.warning("the cross-encoder failed", exc_info=logger.isEnabledFor(logging.DEBUG))
            return Reranked(ranked, warning=f"not reranked: the cross-encoder failed ({error})")
        rescored = [
            one._replace(score=score * ranker.boost(one.file), terms=(Factor("cross-encoder", score, "term"),))
            for one, score in zip(first, scores, strict=True)
        ]
        return Reranked(_followed_by(rescored, ranked), "cross_encoder")

    def _first(self, ranked: Sequence[Scored], catalog: ChunkStore) -> tuple[Sequence[Scored], dict[int, StoredChunk]]:
        wanted = ranked[: max(LEAST_RERANKED, self.settings.candidate_multiplier * self.limit)]
        chunks = dict(catalog.chunks([one.fused.chunk_id for one in wanted]))
        return [one for one in wanted if one.fused.chunk_id in chunks], chunks


def unavailable(error: ModelUnavailableError, ranked: Sequence[Scored]) -> Reranked:
    """Return the order as it was, with the reason why no model looked at it."""
    return Reranked(ranked, warning=f"not reranked: {error}")


def _shown(chunk: StoredChunk) -> str:
    """Return what the model reads: where the text stands says as much as the text."""
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"


def _followed_by(rescored: Sequence[Scored], ranked: Sequence[Scored]) -> list[Scored]:
    """Return the rescored ones by their new score, then the rest; ties keep the order that was."""
    done = {one.fused.chunk_id for one in rescored}
    rest = [one for one in ranked if one.fused.chunk_id not in done]
    return sorted(rescored, key=lambda one: -one.score) + rest
