"""Orders the candidates of one query: fused score, plus what agrees, times what each is, with further hits damped.

Scores are plain numbers until the order stands; the reasons are written out only for the hits that are looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrag_mcp.model import Category, Factor, Hit, StoredChunk, StoredFile, SymbolMatch
from graphrag_mcp.search import boosts
from graphrag_mcp.search.fusion import Fused
from graphrag_mcp.search.query import Query
from graphrag_mcp.settings import RetrievalSettings

COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are in the lists by chance.

_NO_VOTES: Mapping[int, float] = {}


class Scored(NamedTuple):
    """A candidate in its place; `place` counts the better ones of the same file."""

    score: float
    fused: Fused
    file: StoredFile
    place: int


class _FileScore(NamedTuple):
    """What all chunks of a file share: bonuses to add, factors to multiply, and what they come to."""

    bonuses: Sequence[float]
    factors: Sequence[float]
    bonus: float
    multiplier: float


@dataclass(slots=True)
class Ranker:
    """Ranks the candidates of one query.

    now: seconds since 1970. with_bonuses: off, only recency and archive status count, as when vectors alone rank.
    """

    query: Query
    settings: RetrievalSettings
    now: float
    with_recency: bool = True
    with_bonuses: bool = True
    _definitions: Mapping[int, Factor] = field(init=False, default_factory=dict)
    _files: dict[int, _FileScore] = field(init=False, default_factory=dict)
    _agreement: boosts.Agreement = field(init=False)
    _priors: Mapping[Category, float] = field(init=False)

    def __post_init__(self) -> None:
        self._agreement = boosts.Agreement(self.query.terms)
        self._priors = boosts.priors(self.query, self.settings)

    def order(
        self,
        fused: Sequence[Fused],
        files: Mapping[int, StoredFile],
        definitions: Iterable[SymbolMatch],
        votes: Mapping[int, float] = _NO_VOTES,
    ) -> list[Scored]:
        """Return the candidates, best first; `files` maps chunk ids, and what it lacks is gone from the index.

        votes: of the graph, 0 to 1, by file id (see `boosts.graph_votes`).
        """
        known = [(one, files[one.chunk_id]) for one in fused if one.chunk_id in files]
        if self.with_bonuses:
            self._definitions = boosts.definition_bonuses(self.query, definitions, self.settings)
        coherence = boosts.coherence_by_file((file.file_id, one.score) for one, file in known[:COHERENCE_POOL])
        by_file: dict[int, tuple[StoredFile, list[Fused]]] = {}
        for one, file in known:
            by_file.setdefault(file.file_id, (file, []))[1].append(one)
        ranked: list[Scored] = []
        for file_id, (file, hits) in by_file.items():
            self._files[file_id] = self._score_file(file, coherence.get(file_id, 0.0), votes.get(file_id, 0.0))
            ranked += self._saturate(file, hits)
        return sorted(ranked, key=_best_first)

    def explain(self, scored: Scored, chunk: StoredChunk) -> Hit:
        """Return the hit with every term of its score."""
        shared = self._files[scored.file.file_id]
        share = self.settings.file_bonus_decay**scored.place
        own = self._definitions.get(chunk.chunk_id)
        terms = [own] if own else []
        terms += (
            Factor(name, value * share, "bonus")
            for name, value in zip(boosts.FILE_BONUSES, shared.bonuses, strict=False)
            if value
        )
        terms += (Factor(name, value, note=note) for name, value, note in self._named_factors(scored) if value != 1.0)
        return Hit(chunk, scored.score, scored.fused.score, scored.fused.ranks, tuple(terms))

    def _named_factors(self, scored: Scored) -> Iterable[tuple[str, float, str]]:
        file = scored.file
        archive, recency, prior = self._files[file.file_id].factors
        age = f"{boosts.age_days(file.modified_at, self.now):.0f} days" if file.modified_at is not None else ""
        yield "archive", archive, file.archive.reason if file.archive else ""
        yield "recency", recency, age
        yield f"category {file.category.value}", prior, ""
        yield "source", self._confidence(scored.fused), "graph" if "graph" in scored.fused.ranks else "vector"
        yield "saturation", self.settings.saturation**scored.place, f"hit {scored.place + 1} of the file"

    def _saturate(self, file: StoredFile, hits: list[Fused]) -> list[Scored]:
        """Damp the second, third, … hit of a file, and let only its first carry the whole of the file's bonuses."""
        best_first = sorted(hits, key=lambda one: -self._score(one, file, 0)) if len(hits) > 1 else hits
        return [
            Scored(self._score(one, file, place) * self.settings.saturation**place, one, file, place)
            for place, one in enumerate(best_first)
        ]

    def _score(self, fused: Fused, file: StoredFile, place: int) -> float:
        """Return (fused + own bonus + share · file's bonuses) · factors."""
        shared = self._files[file.file_id]
        own = self._definitions.get(fused.chunk_id)
        base = fused.score + (own.value if own else 0.0) + self.settings.file_bonus_decay**place * shared.bonus
        confidence = self._confidence(fused)
        if confidence == 1.0:
            return base * shared.multiplier
        return base * boosts.clamped_product((*shared.factors, confidence), self.settings)

    def _score_file(self, file: StoredFile, coherence: float, votes: float) -> _FileScore:
        recency = boosts.recency(file, self.now, self.settings) if self.with_recency else 1.0
        prior = self._priors[file.category] if self.with_bonuses else 1.0
        factors = (boosts.archive_penalty(file), recency, prior)
        bonuses: tuple[float, ...] = ()
        if self.with_bonuses:
            bonuses = boosts.file_bonuses(self.query, file.path, coherence, votes, self._agreement, self.settings)
        return _FileScore(bonuses, factors, sum(bonuses), boosts.clamped_product(factors, self.settings))

    def _confidence(self, fused: Fused) -> float:
        if not self.with_bonuses or (self.settings.confidence_vector == 1.0 and "graph" not in fused.ranks):
            return 1.0
        return boosts.source_confidence(fused.ranks, self.settings)


def _best_first(scored: Scored) -> tuple[float, int, str, int]:
    """Ties: more sources, then path, then line, in the order of which a file's chunks are numbered (K-01)."""
    return -scored.score, -len(scored.fused.ranks), scored.file.path, scored.fused.chunk_id
