"""Orders the candidates of one query: fused score, plus what agrees, times what each is, with further hits damped.

Scores are numbers until the order stands; the reasons are written out only for the hits that are looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphrag_mcp.model import Category, Factor, Hit, StoredChunk, StoredFile, SymbolMatch
from graphrag_mcp.search import boosts
from graphrag_mcp.search.boosts import Agreement, Product
from graphrag_mcp.search.fusion import Fused
from graphrag_mcp.search.query import Query
from graphrag_mcp.settings import RetrievalSettings

COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are in the lists by chance.


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate in its place; `place` counts the better ones of the same file."""

    score: float
    fused: Fused
    file: StoredFile
    place: int


@dataclass(frozen=True, slots=True)
class _FileScore:
    """What all chunks of a file share: bonuses to add, factors to multiply, and what they come to."""

    bonuses: Sequence[float]
    factors: Sequence[Factor]
    bonus: float
    product: Product
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
    _agreement: Agreement = field(init=False)
    _priors: Mapping[Category, float] = field(init=False)

    def __post_init__(self) -> None:
        self._agreement = Agreement(self.query.terms)
        self._priors = boosts.priors(self.query, self.settings)

    def order(
        self, fused: Sequence[Fused], files: Mapping[int, StoredFile], definitions: Iterable[SymbolMatch]
    ) -> list[Scored]:
        """Return the candidates, best first; `files` maps chunk ids, and what it lacks is gone from the index."""
        known = [one for one in fused if one.chunk_id in files]
        if self.with_bonuses:
            self._definitions = boosts.definition_bonuses(self.query, definitions, self.settings)
        coherence = boosts.coherence_by_file((files[one.chunk_id].file_id, one.score) for one in known[:COHERENCE_POOL])
        for file in {files[one.chunk_id].file_id: files[one.chunk_id] for one in known}.values():
            self._files[file.file_id] = self._score_file(file, coherence.get(file.file_id, 0.0))
        alone = [Scored(self._score(one, files[one.chunk_id], 0), one, files[one.chunk_id], 0) for one in known]
        return self._saturate(sorted(alone, key=_best_first))

    def explain(self, scored: Scored, chunk: StoredChunk) -> Hit:
        """Return the hit with every term of its score."""
        file = self._files[scored.file.file_id]
        share = self.settings.file_bonus_decay**scored.place
        own = self._definitions.get(chunk.chunk_id)
        factors = [own] if own else []
        factors += (
            Factor(name, value * share, "bonus")
            for name, value in zip(boosts.FILE_BONUSES, file.bonuses, strict=False)
            if value
        )
        sure = boosts.source_confidence(scored.fused.ranks, self.settings) if self.with_bonuses else []
        factors += (factor for factor in (*file.factors, *sure) if factor.value != 1)
        if scored.place:
            damping = self.settings.saturation**scored.place
            factors.append(Factor("saturation", damping, note=f"hit {scored.place + 1} of the file"))
        return Hit(chunk, scored.score, scored.fused.score, scored.fused.ranks, tuple(factors))

    def _saturate(self, ordered: Iterable[Scored]) -> list[Scored]:
        """Damp the second, third, … hit of a file, and let only its first carry the whole of the file's bonuses."""
        seen: dict[int, int] = {}
        damped = []
        for one in ordered:
            place = seen[one.file.file_id] = seen.get(one.file.file_id, -1) + 1
            score = self._score(one.fused, one.file, place) * self.settings.saturation**place if place else one.score
            damped.append(Scored(score, one.fused, one.file, place))
        return sorted(damped, key=_best_first)

    def _score(self, fused: Fused, file: StoredFile, place: int) -> float:
        """Return (fused + own bonus + share · file's bonuses) · factors."""
        shared = self._files[file.file_id]
        own = self._definitions.get(fused.chunk_id)
        base = fused.score + (own.value if own else 0.0) + self.settings.file_bonus_decay**place * shared.bonus
        sure = boosts.source_confidence(fused.ranks, self.settings) if self.with_bonuses else ()
        if not sure:
            return base * shared.multiplier
        return base * shared.product.times(sure[0].value).clamped(self.settings)

    def _score_file(self, file: StoredFile, coherence: float) -> _FileScore:
        factors = [boosts.archive_penalty(file)]
        bonuses: tuple[float, ...] = ()
        if self.with_recency:
            factors.append(boosts.recency(file, self.now, self.settings))
        if self.with_bonuses:
            factors.append(Factor(f"category {file.category.value}", self._priors[file.category]))
            bonuses = boosts.file_bonuses(self.query, file.path, coherence, self._agreement, self.settings)
        product = Product()
        for factor in factors:
            product = product.times(factor.value)
        return _FileScore(bonuses, factors, sum(bonuses), product, product.clamped(self.settings))


def _best_first(scored: Scored) -> tuple[float, int, str, int]:
    """Ties: more sources, then path, then line, in the order of which a file's chunks are numbered (K-01)."""
    return -scored.score, -len(scored.fused.ranks), scored.file.path, scored.fused.chunk_id
