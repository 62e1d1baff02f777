"""A candidate with its final score, its place, and the terms that explain them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import Factor, FactorKind, Hit, ListSource, StoredChunk, StoredFile
from graphrag_mcp.search.ranking.fusion import Fused
from graphrag_mcp.text.counts import counted

_REPEATED = (Category.CONFIG, Category.DOCUMENTATION)


class FileFactors(NamedTuple):
    """What each hit of a file is multiplied by, for what the file is."""

    retirement: float = 1.0
    standing: float = 1.0
    backlinks: float = 1.0
    recency: float = 1.0
    category: float = 1.0


class FileScore(NamedTuple):
    """What all hits of a file share.

    bonuses: what is added, by signal. bonus, multiplier: the sum, and the clamped product of factors. age_days: None
    where it is not known. rare_words: those of the query in the file's name that are rare in the project. memory: what
    past commits say, in words.
    """

    file: StoredFile
    bonuses: Mapping[str, float] = {}
    factors: FileFactors = FileFactors()
    bonus: float = 0.0
    multiplier: float = 1.0
    age_days: float | None = None
    backlinks: int = 0
    rare_words: tuple[str, ...] = ()
    memory: str = ""


class PlaceInFile(NamedTuple):
    """The number of better hits of the file, the share of its bonus that is left, and what damps the score."""

    rank: int
    share: float
    damping: float


class Move(NamedTuple):
    """Why a hit has another place than its own score gives it: the order, and the definition that decided or ""."""

    order: str
    by: str


class Scored(NamedTuple):
    """A candidate with its final score: (fused + own bonuses + share · file's bonus) · multiplier · damping.

    own: the bonuses of this chunk alone. source: the factor for the list that found it. multiplier: of the file and the
    source. moved: why it has the place, and so the score, of another hit. terms: of a reranker or of several phrasings;
    they replace all other terms. phrasings: those that found it, from 1. looks: what second looks add to the sum.
    """

    score: float
    fused: Fused
    shared: FileScore
    place: PlaceInFile = PlaceInFile(0, 1.0, 1.0)
    own: tuple[Factor, ...] = ()
    source: float = 1.0
    multiplier: float = 1.0
    moved: Move | None = None
    terms: tuple[Factor, ...] | None = None
    phrasings: tuple[int, ...] = ()
    looks: tuple[Factor, ...] = ()

    @property
    def file(self) -> StoredFile:
        """The file of the chunk."""
        return self.shared.file

    @property
    def base(self) -> float:
        """The score before what the file adds: the fused score and the chunk's own bonuses."""
        return base_score(self.fused, self.own)

    def after(self, look: Factor) -> "Scored":
        """Return the candidate with what a second look adds; the file and its place count for it, too."""
        gained = look.value * self.multiplier * self.place.damping
        return self._replace(score=self.score + gained, looks=(*self.looks, look))


def base_score(fused: Fused, own: tuple[Factor, ...]) -> float:
    """Return the fused score and the bonuses of the chunk."""
    return fused.score + sum(bonus.value for bonus in own) if own else fused.score


def damped_with(file: StoredFile) -> int | str:
    """Return what damps further hits: the file, or the name of a document or manifest, which every package repeats."""
    return file.path.rpartition("/")[2] if file.category in _REPEATED else file.file_id


def explain(scored: Scored, chunk: StoredChunk) -> Hit:
    """Return the result for a candidate, with the terms of its score."""
    terms = scored.terms if scored.terms is not None else tuple(_terms(scored))
    return Hit(chunk, scored.score, scored.fused.score, scored.fused.ranks, terms, phrasings=scored.phrasings)


def _terms(scored: Scored) -> Iterator[Factor]:
    """Yield what was added, and what the sum was multiplied by; what changed nothing is left out."""
    yield from scored.own
    shared = scored.shared
    notes = {"stem": ", ".join(shared.rare_words), "history": shared.memory}
    for name, value in shared.bonuses.items():
        if value:
            yield Factor(name, value * scored.place.share, FactorKind.BONUS, notes.get(name, ""))
    if scored.moved is not None:
        yield Factor(scored.moved.order, _gained(scored), FactorKind.BONUS, scored.moved.by)
    yield from scored.looks
    yield from (factor for factor in _factors(scored) if factor.value != 1.0)


def _gained(scored: Scored) -> float:
    """Return what the place of another hit adds to a hit's own score."""
    own = scored.base + scored.place.share * scored.shared.bonus + sum(look.value for look in scored.looks)
    return scored.score / (scored.multiplier * scored.place.damping) - own


def _factors(scored: Scored) -> Iterator[Factor]:
    file, factors = scored.file, scored.shared.factors
    if file.archive:
        yield Factor("archive", factors.retirement, note=file.archive.reason)
    else:
        status = file.facts.status.value if file.facts.status is not None else ""
        reason = "in force, but the query asks for archived or superseded files"
        yield Factor("status", factors.retirement, note=status or reason)
    priority = file.facts.priority
    yield Factor("standing", factors.standing, note=f"priority {priority}" if priority is not None else "")
    yield Factor("backlinks", factors.backlinks, note=counted(scored.shared.backlinks, "backlink"))
    days = scored.shared.age_days
    yield Factor("recency", factors.recency, note=counted(round(days), "day") if days is not None else "")
    yield Factor(f"category {file.category.value}", factors.category)
    source = ListSource.GRAPH if ListSource.GRAPH in scored.fused.ranks else ListSource.VECTOR
    yield Factor("source", scored.source, note=source)
    group = damped_with(file)
    of = "the file" if group == file.file_id else f"files named {group}"
    yield Factor("saturation", scored.place.damping, note=f"hit {scored.place.rank + 1} of {of}")
