"""Orders the candidates of one query: fused score, plus what agrees, times what each is, with further hits damped.

Scores are plain numbers until the order stands; the reasons are written out only for the hits that are looked at.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrag_mcp.model.files import NO_FACTS, Category
from graphrag_mcp.model.search import Factor, FactorKind, Hit, Ranked, StoredChunk, StoredFile, SymbolMatch
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking import backlinks, multipliers
from graphrag_mcp.search.ranking.bonuses import (
    FILE_BONUSES,
    Agreement,
    coherence_by_file,
    definition_bonuses,
    file_bonuses,
    relation_bonuses,
)
from graphrag_mcp.search.ranking.ranked_lists import Fused
from graphrag_mcp.settings import RetrievalSettings

MAX_RANKED = 200  # Candidates whose whole score is worked out; with their category's prior, later ones never win.
COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are in the lists by chance.


class Scored(NamedTuple):
    """A candidate in its place; `place` counts the better ones of the same file."""

    score: float
    fused: Fused
    file: StoredFile
    place: int
    terms: tuple[Factor, ...] | None = None  # Of a reranker, in the place of all other terms.


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the stores say of the candidates beside their ranks.

    definitions: those that the query names. related: what has to them the relation that the query asks for. keyword:
    BM25 by chunk id. By file id: votes, what the best candidates mention, 0 to 1 (see `bonuses.graph_votes`);
    backlinks, how many other files lead to it.
    """

    definitions: Sequence[SymbolMatch] = ()
    related: Sequence[Ranked] = ()
    keyword: Mapping[int, float] = field(default_factory=dict)
    votes: Mapping[int, float] = field(default_factory=dict)
    backlinks: Mapping[int, int] = field(default_factory=dict)


_NO_EVIDENCE = Evidence()


class _FileScore(NamedTuple):
    """What all chunks of a file share: bonuses to add, factors to multiply, and what they come to."""

    bonuses: Sequence[float]
    factors: Sequence[float]
    bonus: float
    multiplier: float


@dataclass(slots=True)
class Ranker:
    """Ranks the candidates of one query.

    now: seconds since 1970. with_bonuses: off, only age and status count, as when vectors alone rank. with_archived:
    whether the request shows archived files.
    """

    query: Query
    settings: RetrievalSettings
    now: float
    with_recency: bool = True
    with_bonuses: bool = True
    with_archived: bool = False
    _evidence: Evidence = field(init=False, default=_NO_EVIDENCE)
    _own: Mapping[int, Factor] = field(init=False, default_factory=dict)
    _files: dict[int, _FileScore] = field(init=False, default_factory=dict)
    _agreement: Agreement = field(init=False)
    _priors: Mapping[Category, float] = field(init=False)

    def __post_init__(self) -> None:
        self._agreement = Agreement(self.query.terms)
        self._priors = multipliers.priors(self.query, self.settings)

    def order(
        self, fused: Sequence[Fused], files: Mapping[int, StoredFile], evidence: Evidence = _NO_EVIDENCE
    ) -> list[Scored]:
        """Return the candidates, best first; `files` maps chunk ids, and what it lacks is gone from the index."""
        self._evidence = evidence
        if not self.query.categories and self.query.intent is not Intent.SYMBOL:
            self._priors = multipliers.lifted(self._priors, evidence.keyword, files)
        if self.with_bonuses:
            # Who asks for the callers of a thing knows the thing.
            self._own = relation_bonuses(evidence.related, self.settings) or definition_bonuses(
                self.query, evidence.definitions, self.settings
            )
        known = self._likely([(one, files[one.chunk_id]) for one in fused if one.chunk_id in files])
        coherence = coherence_by_file((file.file_id, one.score) for one, file in known[:COHERENCE_POOL])
        by_file: dict[int, tuple[StoredFile, list[Fused]]] = {}
        for one, file in known:
            by_file.setdefault(file.file_id, (file, []))[1].append(one)
        ranked: list[Scored] = []
        for file_id, (file, hits) in by_file.items():
            self._files[file_id] = self._score_file(file, coherence.get(file_id, 0.0))
            ranked += self._saturate(file, hits)
        return sorted(ranked, key=_best_first)

    def _likely(self, candidates: list[tuple[Fused, StoredFile]]) -> list[tuple[Fused, StoredFile]]:
        """Keep as many candidates as can matter, in their order, and whatever the query names."""
        if len(candidates) <= MAX_RANKED or not self.with_bonuses:
            return candidates
        weighed = [one.score * self._priors[file.category] for one, file in candidates]
        least = sorted(weighed, reverse=True)[MAX_RANKED - 1]
        kept = zip(candidates, weighed, strict=True)
        return [one for one, weight in kept if weight >= least or one[0].chunk_id in self._own or not one[0].ranks]

    def explain(self, scored: Scored, chunk: StoredChunk) -> Hit:
        """Return the hit with every term of its score."""
        if scored.terms is not None:
            return Hit(chunk, scored.score, scored.fused.score, scored.fused.ranks, scored.terms)
        shared = self._files[scored.file.file_id]
        share = self.settings.file_bonus_decay**scored.place
        own = self._own.get(chunk.chunk_id)
        terms = [own] if own else []
        terms += (
            Factor(name, value * share, FactorKind.BONUS)
            for name, value in zip(FILE_BONUSES, shared.bonuses, strict=False)
            if value
        )
        terms += (Factor(name, value, note=note) for name, value, note in self._named_factors(scored) if value != 1.0)
        return Hit(chunk, scored.score, scored.fused.score, scored.fused.ranks, tuple(terms))

    def backlink_boost(self, file: StoredFile) -> float:
        """Return the factor for the files that lead to this one."""
        return backlinks.boost(self._evidence.backlinks.get(file.file_id, 0), self.settings)

    def boost(self, file: StoredFile) -> float:
        """Return the factor for a file's status, standing, backlinks and age, without its category's."""
        return multipliers.clamped_product(self._files[file.file_id].factors[:-1], self.settings)

    def _named_factors(self, scored: Scored) -> Iterable[tuple[str, float, str]]:
        file = scored.file
        retirement, standing, linked, recency, prior = self._files[file.file_id].factors
        status = file.facts.status.value if file.facts.status is not None else ""
        age = f"{multipliers.age_days(file.modified_at, self.now):.0f} days" if file.modified_at is not None else ""
        if file.archive:
            yield "archive", retirement, file.archive.reason
        else:
            yield "status", retirement, status or "in force, but the query asks for archived or superseded files"
        yield "standing", standing, f"priority {file.facts.priority}" if file.facts.priority is not None else ""
        yield "backlinks", linked, f"{self._evidence.backlinks.get(file.file_id, 0)} backlinks"
        yield "recency", recency, age
        yield f"category {file.category.value}", prior, ""
        yield "source", self._confidence(scored.fused), "graph" if "graph" in scored.fused.ranks else "vector"
        yield "saturation", self.settings.saturation**scored.place, f"hit {scored.place + 1} of the file"

    def _saturate(self, file: StoredFile, hits: Sequence[Fused]) -> Iterator[Scored]:
        """Yield the hits of a file, best first: (fused + own bonus + share · file's bonuses) · factors.

        Its second, third, … hit is damped, and only its first carries the whole of the file's bonuses.
        """
        shared = self._files[file.file_id]
        weighed = [(self._base(one), self._multiplier(one, shared), one) for one in hits]
        if len(weighed) > 1:
            weighed.sort(key=lambda part: -(part[0] + shared.bonus) * part[1])
        share = damping = 1.0
        for place, (base, multiplier, one) in enumerate(weighed):
            yield Scored((base + share * shared.bonus) * multiplier * damping, one, file, place)
            share *= self.settings.file_bonus_decay
            damping *= self.settings.saturation

    def _base(self, fused: Fused) -> float:
        own = self._own.get(fused.chunk_id)
        return fused.score + own.value if own is not None else fused.score

    def _multiplier(self, fused: Fused, shared: _FileScore) -> float:
        confidence = self._confidence(fused)
        if confidence == 1.0:
            return shared.multiplier
        return multipliers.clamped_product((*shared.factors, confidence), self.settings)

    def _score_file(self, file: StoredFile, coherence: float) -> _FileScore:
        settings = self.settings
        factors = (
            self._retirement(file),
            1.0 if file.facts is NO_FACTS else multipliers.standing(file, settings),
            self.backlink_boost(file),
            multipliers.recency(file, self.now, settings) if self.with_recency else 1.0,
            self._priors[file.category] if self.with_bonuses else 1.0,
        )
        agreeing: tuple[float, ...] = ()
        if self.with_bonuses:
            votes = self._evidence.votes.get(file.file_id, 0.0)
            agreeing = file_bonuses(self.query, file.path, coherence, votes, self._agreement, settings)
        return _FileScore(agreeing, factors, sum(agreeing), multipliers.clamped_product(factors, settings))

    def _retirement(self, file: StoredFile) -> float:
        """Return the factor for being set aside; who asks for what was, and lets it be shown, gets it first."""
        is_living = file.archive is None and file.facts is NO_FACTS
        retired = 1.0 if is_living else multipliers.retirement(file, self.settings)
        if not self.query.wants_retired:
            return retired
        return self.settings.prior_unasked if self.with_archived and retired == 1.0 else 1.0

    def _confidence(self, fused: Fused) -> float:
        if not self.with_bonuses or (self.settings.confidence_vector == 1.0 and "graph" not in fused.ranks):
            return 1.0
        return multipliers.source_confidence(fused.ranks, self.settings)


def _best_first(scored: Scored) -> tuple[float, int, str, int]:
    """Ties: more sources, then path, then line, in the order of which a file's chunks are numbered."""
    return -scored.score, -len(scored.fused.ranks), scored.file.path, scored.fused.chunk_id
