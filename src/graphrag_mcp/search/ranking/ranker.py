"""Scores the candidates of a query by (fused score + bonuses) · factors, with further hits of a file damped."""

from collections.abc import Iterator, Mapping, Sequence

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import Factor, ListSource, StoredFile
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.ranking import multipliers
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
from graphrag_mcp.search.ranking.candidates import Candidates
from graphrag_mcp.search.ranking.fusion import Fused
from graphrag_mcp.search.ranking.scored import (
    FileFactors,
    FileScore,
    Move,
    PlaceInFile,
    Scored,
    base_score,
    damped_with,
)
from graphrag_mcp.search.ranking.weights import Weights, weights_of
from graphrag_mcp.settings import RetrievalSettings

MAX_RANKED = 200  # Candidates whose full score is computed; by fused score times prior, later ones never win.
COHERENCE_POOL = 100  # Candidates whose files are counted; later ones are listed by chance.
FACT_PLACE = 3  # The place of a document that states a fact: behind two results that may be right.
NEARLY_BEST = 0.95  # A share of the best fused score, which is before all priors and bonuses.
_STATING = (Category.DOCUMENTATION, Category.CONFIG)


def score_candidates(
    query: Query, candidates: Candidates, settings: RetrievalSettings, now: float, *, with_archived: bool = False
) -> list[Scored]:
    """Return the candidates, best first. now: seconds since 1970. with_archived: whether archived files are shown."""
    scorer = _Scorer(query, candidates, settings, now, with_archived)
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
    return _with_fact_document(query, ranked) if candidates.is_hybrid else ranked


class _Scorer:
    """Scores the files and hits of one query; when vectors alone rank, only age and status count."""

    def __init__(
        self, query: Query, candidates: Candidates, settings: RetrievalSettings, now: float, with_archived: bool
    ) -> None:
        self.query = query
        self.candidates = candidates
        self.settings = settings
        self.now = now
        self.with_archived = with_archived
        self.weights = weights_of(settings)
        self.is_hybrid = candidates.is_hybrid
        self.agreement = Agreement(query.terms, candidates.rarity)
        self.own = _own_bonuses(query, candidates, self.weights) if self.is_hybrid else {}
        self.priors = multipliers.priors(query, settings)
        if not query.categories and query.intent is not Intent.SYMBOL:
            self.priors = multipliers.lifted(self.priors, candidates.scores(ListSource.KEYWORD), candidates.files)

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
        linking = self.candidates.backlinks.get(file.file_id, 0)
        factors = FileFactors(
            retirement=self._retirement(file),
            standing=multipliers.standing(file, self.settings),
            backlinks=multipliers.backlinks(linking, self.settings),
            recency=multipliers.recency(age, self.settings),
            category=self._prior(file) if self.is_hybrid else 1.0,
        )
        memory = self.candidates.history.get(file.file_id)
        bonuses: dict[str, float] = {}
        if self.is_hybrid:
            votes, remembered = self.candidates.votes.get(file.file_id, 0.0), memory.score if memory else 0.0
            bonuses = file_bonuses(
                self.query,
                file.path,
                coherence,
                votes,
                remembered,
                self.agreement,
                self.weights,
                is_document=file.category in _STATING,
            )
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
        retired = multipliers.retirement(file, self.settings)
        if not self.query.wants_retired:
            return retired
        return self.weights.unasked if self.with_archived and retired == 1.0 else 1.0


def _own_bonuses(query: Query, candidates: Candidates, weights: Weights) -> Mapping[int, tuple[Factor, ...]]:
    """Return the bonuses of single chunks; a query for the callers of a definition does not look for the definition."""
    if related := candidates.related:
        return by_chunk(relation_bonuses(related, weights))
    retrieved = candidates.retrieved
    names = {match.symbol.name for match in retrieved.definitions}
    return by_chunk(
        definition_bonuses(query, retrieved.definitions, weights),
        literal_bonuses(query, retrieved.literals, names, weights),
        location_bonuses(candidates.located),
        wording_bonuses(candidates.wording, weights),
    )


def _best_first(scored: Scored) -> tuple[float, int, str, int]:
    """Return what orders the candidates; ties: more sources first, then path, then line, the order of chunk ids."""
    return -scored.score, -len(scored.fused.ranks), scored.file.path, scored.fused.chunk_id


def _with_fact_document(query: Query, ranked: list[Scored]) -> list[Scored]:
    """Return the hits, best first, with the document that answers a question about a fact at FACT_PLACE, if one does.

    "what is the default of X" is answered by documents and configuration as often as by code, which their prior would
    hide. It gets the score of the hit that it displaces.
    """
    document = _fact_document(query, ranked)
    if document is None:
        return ranked
    others = [scored for scored in ranked if scored is not document]
    above, below = others[: FACT_PLACE - 1], others[FACT_PLACE - 1 :]
    return [*above, document._replace(score=below[0].score, moved=Move("fact", "")), *below]


def _fact_document(query: Query, ranked: Sequence[Scored]) -> Scored | None:
    """Return the hit to move up; None if one of its kind is there, or none matches well."""
    if not query.wants_fact or query.categories or query.intent is not Intent.NATURAL or len(ranked) <= FACT_PLACE:
        return None
    if any(scored.file.category in _STATING for scored in ranked[:FACT_PLACE]):
        return None
    best = max(scored.fused.score for scored in ranked)
    documents = (scored for scored in ranked[FACT_PLACE:] if scored.file.category in _STATING)
    document = max(documents, key=lambda scored: scored.fused.score, default=None)
    return document if document is not None and document.fused.score >= NEARLY_BEST * best else None
