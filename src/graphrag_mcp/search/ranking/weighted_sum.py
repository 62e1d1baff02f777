"""The linear reranker, `rerank = "weighted_sum"`: signals from 0 to 1, times their weights.

Every score can be added up by hand.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphrag_mcp.model.files import DocumentStatus
from graphrag_mcp.model.search import Factor, FactorKind, ListSource, StoredChunk, StoredFile
from graphrag_mcp.search.query.locations import names_path
from graphrag_mcp.search.query.understand import Query
from graphrag_mcp.search.ranking.bonuses import Agreement
from graphrag_mcp.search.ranking.evidence import Candidates
from graphrag_mcp.search.ranking.multipliers import AUTO_TIERS, age_days, status_penalty
from graphrag_mcp.search.ranking.ranked_lists import normalised
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.words import query_words

RECENCY_DAYS = 365.0  # The signal of recency falls to 1/e in this time.


@dataclass(frozen=True, slots=True)
class Scores:
    """The candidates' cosines and BM25 scores by chunk id, and the chunks that the query names."""

    vector: Mapping[int, float] = field(default_factory=dict)
    keyword: Mapping[int, float] = field(default_factory=dict)
    named: frozenset[int] = frozenset()

    @classmethod
    def of(cls, candidates: Candidates) -> "Scores":
        """Return those of the gathered lists."""
        by_source = {ranked.source: ranked.scores for ranked in candidates.lists}
        named = frozenset(match.chunk_id for match in candidates.retrieved.definitions)
        return cls(by_source.get(ListSource.VECTOR, {}), by_source.get(ListSource.KEYWORD, {}), named)


class WeightedSum:
    """score = Σ weight · signal + priority_weight · priority − penalties."""

    def __init__(self, query: Query, scores: Scores, settings: RetrievalSettings, now: float) -> None:
        self._query = query
        self._settings = settings
        self._now = now
        self._agreement = Agreement(query.terms)
        self._named = scores.named
        self._vector = normalised(scores.vector) if settings.rerank_normalize_scores else clipped(scores.vector)
        best = max(scores.keyword.values(), default=0.0)
        self._keyword = {key: score / best for key, score in scores.keyword.items()} if best > 0 else {}

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
        words = tuple(dict.fromkeys(word for text in texts for word in query_words(text)))
        return self._agreement.of(words).terms if words else 0.0

    def _recency(self, file: StoredFile) -> float:
        if file.modified_at is None:
            return 0.0
        return math.exp(-age_days(file.modified_at, self._now) / RECENCY_DAYS)


def total(terms: Sequence[Factor]) -> float:
    return sum(term.value for term in terms)


def clipped(scores: Mapping[int, float]) -> dict[int, float]:
    return {key: min(1.0, max(0.0, score)) for key, score in scores.items()}
