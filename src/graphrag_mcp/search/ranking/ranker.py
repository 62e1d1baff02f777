"""Scores the candidates of a query by (fused score + bonuses) · factors, with further hits of a file damped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphrag_mcp.model.files import NO_FACTS, Category
from graphrag_mcp.model.search import Factor, ListSource, StoredFile
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking import backlinks, multipliers
from graphrag_mcp.search.ranking.bonuses import (
    Agreement,
    by_chunk,
    coherence_by_file,
    definition_bonuses,
    file_bonuses,
    literal_bonuses,
    location_bonuses,
    path_words,
    relation_bonuses,
    wording_bonuses,
)
from graphrag_mcp.search.ranking.evidence import Candidates, Evidence
from graphrag_mcp.search.ranking.fact_place import with_fact_document
from graphrag_mcp.search.ranking.ranked_lists import Fused
from graphrag_mcp.search.ranking.scored import (
    FileFactors,
    FileScore,
    PlaceInFile,
    Scored,
    base_score,
    damped_with,
)
from graphrag_mcp.search.ranking.weights import Weights, weights_of
from graphrag_mcp.settings import RetrievalSettings

MAX_RANKED = 200  # Candidates whose full score is computed; by fused score times prior, later ones never win.
COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are listed by chance.


def score_candidates(
    query: Query, candidates: Candidates, settings: RetrievalSettings, now: float, *, with_archived: bool = False
) -> list[Scored]:
    """Return the candidates, best first. now: seconds since 1970. with_archived: whether archived files are shown."""
    scorer = _scorer(query, candidates, settings, now, with_archived)
    files = candidates.files
    likely = scorer.likely([(hit, files[hit.chunk_id]) for hit in candidates.fused if hit.chunk_id in files])
    coherence = coherence_by_file((file.file_id, candidate.score) for candidate, file in likely[:COHERENCE_POOL])
    shared: dict[tuple[int, Category], FileScore] = {}  # Tests may be in the file of what they test.
    groups: dict[int | str, list[tuple[Fused, FileScore]]] = {}
    for candidate, file in likely:
        of = (file.file_id, file.category)
        if of not in shared:
            shared[of] = scorer.of_file(file, coherence.get(file.file_id, 0.0))
        groups.setdefault(damped_with(file), []).append((candidate, shared[of]))
    ranked = [scored for hits in groups.values() for scored in scorer.of_hits(hits)]
    ranked.sort(key=_best_first)
    return with_fact_document(query, ranked) if candidates.is_hybrid else ranked


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores the files and hits of one query.

    is_hybrid: False when vectors alone rank; only age and status count then. own: the bonuses of single chunks.
    """

    query: Query
    settings: RetrievalSettings
    weights: Weights
    now: float
    is_hybrid: bool
    with_archived: bool
    evidence: Evidence
    agreement: Agreement
    priors: Mapping[Category, float]
    own: Mapping[int, tuple[Factor, ...]]

    def likely(self, candidates: list[tuple[Fused, StoredFile]]) -> list[tuple[Fused, StoredFile]]:
        """Return the candidates that can reach the top, in their order, and those that the query names."""
        if len(candidates) <= MAX_RANKED or not self.is_hybrid:
            return candidates
        weighed = [candidate.score * self.priors[file.category] for candidate, file in candidates]
        least = sorted(weighed, reverse=True)[MAX_RANKED - 1]
        return [
            (candidate, file)
            for (candidate, file), weight in zip(candidates, weighed, strict=True)
            if weight >= least or candidate.chunk_id in self.own or not candidate.ranks
        ]

    def of_hits(self, hits: Sequence[tuple[Fused, FileScore]]) -> Iterator[Scored]:
        """Yield the hits of a group, best first: (fused + own bonuses + share · file's bonus) · factors.

        Its second, third, … hit is damped, and only its first gets the file's bonus in full.
        """
        weighed = []
        for fused, shared in hits:
            own = self.own.get(fused.chunk_id, ())
            source, multiplier = self._multiplier(fused, shared)
            weighed.append((base_score(fused, own), shared, multiplier, source, own, fused))
        if len(weighed) > 1:
            weighed.sort(key=lambda part: -(part[0] + part[1].bonus) * part[2])
        share = damping = 1.0
        for rank, (base, shared, multiplier, source, own, fused) in enumerate(weighed):
            score = (base + share * shared.bonus) * multiplier * damping
            yield Scored(score, fused, shared, PlaceInFile(rank, share, damping), own, source, multiplier)
            share *= self.weights.file_decay
            damping *= self.weights.saturation

    def of_file(self, file: StoredFile, coherence: float) -> FileScore:
        """Return what all hits of a file share."""
        age = multipliers.age_days(file.modified_at, self.now) if file.modified_at is not None else None
        linking = self.evidence.backlinks.get(file.file_id, 0)
        factors = FileFactors(
            retirement=self._retirement(file),
            standing=1.0 if file.facts is NO_FACTS else multipliers.standing(file, self.settings),
            backlinks=backlinks.boost(linking, self.settings) if linking else 1.0,
            recency=multipliers.recency(age, self.settings),
            category=self._prior(file) if self.is_hybrid else 1.0,
        )
        memory = self.evidence.history.get(file.file_id)
        bonuses: dict[str, float] = {}
        if self.is_hybrid:
            votes, remembered = self.evidence.votes.get(file.file_id, 0.0), memory.score if memory else 0.0
            bonuses = file_bonuses(self.query, file.path, coherence, votes, remembered, self.agreement, self.weights)
        return FileScore(
            file,
            bonuses,
            factors,
            sum(bonuses.values()),
            multipliers.clamped_product(factors),
            age_days=age,
            backlinks=linking,
            rare_words=self.agreement.rare(path_words(file.path).stem) if bonuses.get("stem") else (),
            memory=memory.note if memory else "",
        )

    def _multiplier(self, fused: Fused, shared: FileScore) -> tuple[float, float]:
        """Return the factor for the list that found a candidate, and the product of it and the file's."""
        if not self.is_hybrid or (self.settings.confidence_vector == 1.0 and ListSource.GRAPH not in fused.ranks):
            return 1.0, shared.multiplier
        source = multipliers.source_confidence(fused.ranks, self.settings)
        return source, multipliers.clamped_product((*shared.factors, source))

    def _prior(self, file: StoredFile) -> float:
        """Return how likely a file of its kind is looked for."""
        prior = self.priors[file.category]
        is_passed_over = not self.query.wants_changes and multipliers.is_change_log(file)
        return prior * multipliers.CHANGE_LOG if is_passed_over else prior

    def _retirement(self, file: StoredFile) -> float:
        """Return the factor for retired files, or for all others if the query asks for retired files."""
        is_current = file.archive is None and file.facts is NO_FACTS
        retired = 1.0 if is_current else multipliers.retirement(file, self.settings)
        if not self.query.wants_retired:
            return retired
        return self.weights.unasked if self.with_archived and retired == 1.0 else 1.0


def _scorer(
    query: Query, candidates: Candidates, settings: RetrievalSettings, now: float, with_archived: bool
) -> _Scorer:
    evidence, weights = candidates.evidence, weights_of(settings)
    priors = multipliers.priors(query, settings)
    if not query.categories and query.intent is not Intent.SYMBOL:
        priors = multipliers.lifted(priors, evidence.keyword, candidates.files)
    return _Scorer(
        query,
        settings,
        weights,
        now,
        candidates.is_hybrid,
        with_archived,
        evidence,
        Agreement(query.terms, evidence.rarity),
        priors,
        _own_bonuses(query, evidence, weights) if candidates.is_hybrid else {},
    )


def _own_bonuses(query: Query, evidence: Evidence, weights: Weights) -> Mapping[int, tuple[Factor, ...]]:
    """Return the bonuses of single chunks; a query for the callers of a definition does not look for the definition."""
    related = relation_bonuses(evidence.related, weights)
    if related:
        return by_chunk(related)
    names = {match.symbol.name for match in evidence.definitions}
    return by_chunk(
        definition_bonuses(query, evidence.definitions, weights),
        literal_bonuses(query, evidence.literals, names, weights),
        location_bonuses(evidence.located),
        wording_bonuses(evidence.wording, weights),
    )


def _best_first(scored: Scored) -> tuple[float, int, str, int]:
    """Return what orders the candidates; ties: more sources first, then path, then line, the order of chunk ids."""
    return -scored.score, -len(scored.fused.ranks), scored.file.path, scored.fused.chunk_id
