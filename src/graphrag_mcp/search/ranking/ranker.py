"""Orders the candidates of one query by (fused score + bonuses) · factors, with further hits of a file damped.

Scores are plain numbers while ranking; their terms are listed only for the hits that are explained.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrag_mcp.history.recall import Memory
from graphrag_mcp.model.files import NO_FACTS, Category
from graphrag_mcp.model.search import (
    Factor,
    FactorKind,
    Hit,
    ListSource,
    LiteralPlace,
    Ranked,
    StoredChunk,
    StoredFile,
    SymbolMatch,
)
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking import backlinks, multipliers
from graphrag_mcp.search.ranking.bonuses import (
    FILE_BONUSES,
    Agreement,
    by_chunk,
    coherence_by_file,
    definition_bonuses,
    file_bonuses,
    literal_bonuses,
    location_bonuses,
    path_words,
    relation_bonuses,
)
from graphrag_mcp.search.ranking.fact_place import FACT_PLACE, fact_document
from graphrag_mcp.search.ranking.ranked_lists import Fused, Scored
from graphrag_mcp.settings import RetrievalSettings
from graphrag_mcp.text.counts import counted

MAX_RANKED = 200  # Candidates whose full score is computed; by fused score times prior, later ones never win.
_REPEATED = (Category.CONFIG, Category.DOCUMENTATION)
COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are listed by chance.


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the stores hold about the candidates besides their ranks.

    definitions: those that the query names. literals: where its literals stand. located: chunks at the
    locations that it names, with the line. related: chunks that have the relation
    that the query asks for to the definitions. keyword: BM25 by chunk id. By file id: votes of the best candidates, 0
    to 1 (see `bonuses.graph_votes`); history, what past commits say; backlinks, how many other files refer to it.
    rarity: idf of the query's terms, 0 for the project's own name; empty where it is not known.
    """

    definitions: Sequence[SymbolMatch] = ()
    literals: Sequence[LiteralPlace] = ()
    located: Mapping[int, int] = field(default_factory=dict)
    related: Sequence[Ranked] = ()
    keyword: Mapping[int, float] = field(default_factory=dict)
    votes: Mapping[int, float] = field(default_factory=dict)
    history: Mapping[int, Memory] = field(default_factory=dict)
    backlinks: Mapping[int, int] = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)


_NO_EVIDENCE = Evidence()


class _FileScore(NamedTuple):
    """What all chunks of a file share: bonuses to add and factors to multiply, with their sum and product."""

    bonuses: Sequence[float]
    factors: Sequence[float]
    bonus: float
    multiplier: float


@dataclass(slots=True)
class Ranker:
    """Ranks the candidates of one query.

    now: seconds since 1970. with_bonuses: False when vectors alone rank; only age and status count then. with_archived:
    whether the request shows archived files.
    """

    query: Query
    settings: RetrievalSettings
    now: float
    with_recency: bool = True
    with_bonuses: bool = True
    with_archived: bool = False
    _evidence: Evidence = field(init=False, default=_NO_EVIDENCE)
    _own: Mapping[int, Sequence[Factor]] = field(init=False, default_factory=dict)
    _files: dict[int, _FileScore] = field(init=False, default_factory=dict)
    _agreement: Agreement = field(init=False)
    _priors: Mapping[Category, float] = field(init=False)

    def __post_init__(self) -> None:
        self._agreement = Agreement(self.query.terms)
        self._priors = multipliers.priors(self.query, self.settings)

    def order(
        self, fused: Sequence[Fused], files: Mapping[int, StoredFile], evidence: Evidence = _NO_EVIDENCE
    ) -> list[Scored]:
        """Return the candidates, best first; files: by chunk id; a chunk without a file has left the index."""
        self._evidence = evidence
        self._agreement = Agreement(self.query.terms, evidence.rarity)
        if not self.query.categories and self.query.intent is not Intent.SYMBOL:
            self._priors = multipliers.lifted(self._priors, evidence.keyword, files)
        if self.with_bonuses:
            # A query for the callers of a definition does not look for the definition.
            related = relation_bonuses(evidence.related, self.settings)
            names = {match.symbol.name for match in evidence.definitions}
            self._own = (
                by_chunk(related)
                if related
                else by_chunk(
                    definition_bonuses(self.query, evidence.definitions, self.settings),
                    literal_bonuses(self.query, evidence.literals, names, self.settings),
                    location_bonuses(evidence.located),
                )
            )
        known = self._likely(
            [(candidate, files[candidate.chunk_id]) for candidate in fused if candidate.chunk_id in files]
        )
        coherence = coherence_by_file((file.file_id, candidate.score) for candidate, file in known[:COHERENCE_POOL])
        groups: dict[int | str, list[tuple[Fused, StoredFile]]] = {}
        for candidate, file in known:
            if file.file_id not in self._files:
                self._files[file.file_id] = self._score_file(file, coherence.get(file.file_id, 0.0))
            groups.setdefault(_group(file), []).append((candidate, file))
        ranked = [scored for hits in groups.values() for scored in self._saturate(hits)]
        ranked.sort(key=_best_first)
        document = fact_document(self.query, ranked) if self.with_bonuses else None
        return ranked if document is None else self._with_place_for(document, ranked)

    def _with_place_for(self, document: Scored, ranked: Sequence[Scored]) -> list[Scored]:
        """Return the candidates with a document moved up to FACT_PLACE, by a bonus that explains its score."""
        others = [scored for scored in ranked if scored is not document]
        above, below = others[: FACT_PLACE - 1], others[FACT_PLACE - 1 :]
        score = math.nextafter(below[0].score, math.inf)
        chunk_id, rank = document.fused.chunk_id, document.rank_in_file
        multiplier = self._multiplier(document.fused, self._files[document.file.file_id])
        bonus = (score - document.score) / (multiplier * self.settings.saturation**rank)
        own = (*self._own.get(chunk_id, ()), Factor("fact", bonus, FactorKind.BONUS))
        self._own = {**self._own, chunk_id: own}
        return [*above, document._replace(score=score), *below]

    def _likely(self, candidates: list[tuple[Fused, StoredFile]]) -> list[tuple[Fused, StoredFile]]:
        """Return the candidates that can reach the top, in their order, and those that the query names."""
        if len(candidates) <= MAX_RANKED or not self.with_bonuses:
            return candidates
        weighed = [candidate.score * self._priors[file.category] for candidate, file in candidates]
        least = sorted(weighed, reverse=True)[MAX_RANKED - 1]
        return [
            (candidate, file)
            for (candidate, file), weight in zip(candidates, weighed, strict=True)
            if weight >= least or candidate.chunk_id in self._own or not candidate.ranks
        ]

    def explain(self, scored: Scored, chunk: StoredChunk) -> Hit:
        fused = scored.fused
        return Hit(chunk, scored.score, fused.score, fused.ranks, self.terms(scored), phrasings=scored.phrasings)

    def terms(self, scored: Scored) -> tuple[Factor, ...]:
        """Return the terms of a score: what was added, and what it was multiplied by."""
        if scored.terms is not None:
            return scored.terms
        shared = self._files[scored.file.file_id]
        share = self.settings.file_bonus_decay**scored.rank_in_file
        terms = list(self._own.get(scored.fused.chunk_id, ()))
        memory = self._evidence.history.get(scored.file.file_id)
        notes = {"history": memory.note} if memory else {}
        notes["stem"] = ", ".join(self._agreement.rare(path_words(scored.file.path).stem))
        terms += (
            Factor(name, value * share, FactorKind.BONUS, notes.get(name, ""))
            for name, value in zip(FILE_BONUSES, shared.bonuses, strict=False)
            if value
        )
        if scored.moved_by is not None:
            terms.append(Factor(scored.moved_as, self._shift(scored), FactorKind.BONUS, scored.moved_by))
        terms += (Factor(name, value, note=note) for name, value, note in self._named_factors(scored) if value != 1.0)
        return tuple(terms)

    def backlink_boost(self, file: StoredFile) -> float:
        """Return the factor for the files that refer to this one."""
        if not self._evidence.backlinks:
            return 1.0
        return backlinks.boost(self._evidence.backlinks.get(file.file_id, 0), self.settings)

    def boost(self, file: StoredFile) -> float:
        """Return the factor for a file's status, priority, backlinks and age, without its category's."""
        return multipliers.clamped_product(self._files[file.file_id].factors[:-1], self.settings)

    def _shift(self, scored: Scored) -> float:
        """Return what the place in its file adds to a hit's own score."""
        shared, rank = self._files[scored.file.file_id], scored.rank_in_file
        own = self.base(scored.fused) + self.settings.file_bonus_decay**rank * shared.bonus
        return scored.score / (self._multiplier(scored.fused, shared) * self.settings.saturation**rank) - own

    def _named_factors(self, scored: Scored) -> Iterable[tuple[str, float, str]]:
        file = scored.file
        retirement, standing, linked, recency, prior = self._files[file.file_id].factors
        status = file.facts.status.value if file.facts.status is not None else ""
        modified = file.modified_at
        age = counted(round(multipliers.age_days(modified, self.now)), "day") if modified is not None else ""
        if file.archive:
            yield "archive", retirement, file.archive.reason
        else:
            yield "status", retirement, status or "in force, but the query asks for archived or superseded files"
        yield "standing", standing, f"priority {file.facts.priority}" if file.facts.priority is not None else ""
        yield "backlinks", linked, counted(self._evidence.backlinks.get(file.file_id, 0), "backlink")
        yield "recency", recency, age
        yield f"category {file.category.value}", prior, ""
        yield (
            "source",
            self._confidence(scored.fused),
            ListSource.GRAPH if ListSource.GRAPH in scored.fused.ranks else ListSource.VECTOR,
        )
        group = _group(file)
        of = "the file" if group == file.file_id else f"files named {group}"
        yield "saturation", self.settings.saturation**scored.rank_in_file, f"hit {scored.rank_in_file + 1} of {of}"

    def _saturate(self, hits: Sequence[tuple[Fused, StoredFile]]) -> Iterator[Scored]:
        """Yield the hits of a group, best first: (fused + own bonus + share · file's bonuses) · factors.

        Its second, third, … hit is damped, and only its first gets the file's bonuses in full.
        """
        weighed = []
        for hit, file in hits:
            shared = self._files[file.file_id]
            weighed.append((self.base(hit), shared.bonus, self._multiplier(hit, shared), hit, file))
        if len(weighed) > 1:
            weighed.sort(key=lambda part: -(part[0] + part[1]) * part[2])
        share = damping = 1.0
        for rank, (base, bonus, multiplier, hit, file) in enumerate(weighed):
            yield Scored((base + share * bonus) * multiplier * damping, hit, file, rank)
            share *= self.settings.file_bonus_decay
            damping *= self.settings.saturation

    def base(self, fused: Fused) -> float:
        """Return a candidate's score before what its file adds: the fused score and its own bonuses."""
        own = self._own.get(fused.chunk_id)
        return fused.score + sum(bonus.value for bonus in own) if own else fused.score

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
            self._prior(file) if self.with_bonuses else 1.0,
        )
        agreeing: tuple[float, ...] = ()
        if self.with_bonuses:
            votes = self._evidence.votes.get(file.file_id, 0.0)
            memory = self._evidence.history.get(file.file_id)
            remembered = memory.score if memory else 0.0
            agreeing = file_bonuses(self.query, file.path, coherence, votes, remembered, self._agreement, settings)
        return _FileScore(agreeing, factors, sum(agreeing), multipliers.clamped_product(factors, settings))

    def _prior(self, file: StoredFile) -> float:
        """Return how likely a file of its kind is looked for."""
        prior = self._priors[file.category]
        return (
            prior if self.query.wants_changes or not multipliers.is_change_log(file) else prior * multipliers.CHANGE_LOG
        )

    def _retirement(self, file: StoredFile) -> float:
        """Return the factor for retired files, or for all others if the query asks for retired files."""
        is_current = file.archive is None and file.facts is NO_FACTS
        retired = 1.0 if is_current else multipliers.retirement(file, self.settings)
        if not self.query.wants_retired:
            return retired
        return self.settings.prior_unasked if self.with_archived and retired == 1.0 else 1.0

    def _confidence(self, fused: Fused) -> float:
        if not self.with_bonuses or (self.settings.confidence_vector == 1.0 and ListSource.GRAPH not in fused.ranks):
            return 1.0
        return multipliers.source_confidence(fused.ranks, self.settings)


def _group(file: StoredFile) -> int | str:
    """Return what damps further hits: the file, or the name of a document or manifest, which every package repeats."""
    return file.path.rpartition("/")[2] if file.category in _REPEATED else file.file_id


def _best_first(scored: Scored) -> tuple[float, int, str, int]:
    """Ties: more sources first, then path, then line, which is the order of a file's chunk ids."""
    return -scored.score, -len(scored.fused.ranks), scored.file.path, scored.fused.chunk_id
