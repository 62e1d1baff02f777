"""A candidate of a query: what is gathered about it, its final score, its place, and the terms that explain them.

The rankings of several phrasings become one. Each phrasing is a search of its own. The share of a hit is its score by
the best score of its ranking: so each phrasing counts alike, and it still counts by how much its first hits are better
than the others. A file has the sum over the phrasings of its best share, T. Of a chunk, s is the sum of its own shares,
and f that of its scores by the lists alone, by the best of each ranking: bonuses belong to files, and lift all of their
chunks.

    score(chunk) = (T + FUSED · f) · √(s / T)

Of 92 questions with two more phrasings by a language model, the wanted place is first, among three and among five for
.565, .859 and .902 by this, and for .522, .815 and .902 by T · √(s / max s of the file).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from msgspec import Struct, field

from graphrag_mcp.history.recall import Memory
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import Factor, FactorKind, FusionMethod, Hit, ListSource, Ranked, StoredChunk, StoredFile
from graphrag_mcp.search.ranking.bonuses import Wording
from graphrag_mcp.search.ranking.fusion import Fused, RankedList
from graphrag_mcp.search.retrieval import Retrieved
from graphrag_mcp.text.counts import counted

_REPEATED = (Category.CONFIG, Category.DOCUMENTATION)
DEPTH = 50  # Hits of each phrasing that count.
FUSED = 0.25  # From .2 to .3 the same.


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


class Candidates(Struct, frozen=True):
    """All that is known about the chunks that may be shown.

    files: by chunk id; a chunk without a file has left the index. method: how the lists were fused. located: chunks at
    the locations that the query names, with the line. wording: of the first candidates, by chunk id. rarity: idf of the
    query's terms, 0 for the project's own name; empty where it is not known. By file id: votes of the best candidates,
    0 to 1 (see `bonuses.graph_votes`); history, what past commits say; backlinks, how many other files refer to it.
    """

    fused: Sequence[Fused]
    files: Mapping[int, StoredFile]
    method: FusionMethod = FusionMethod.RELATIVE
    retrieved: Retrieved = field(default_factory=Retrieved)
    lists: Sequence[RankedList] = ()
    located: Mapping[int, int] = field(default_factory=dict)
    wording: Mapping[int, Wording] = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)
    votes: Mapping[int, float] = field(default_factory=dict)
    history: Mapping[int, Memory] = field(default_factory=dict)
    backlinks: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_hybrid(self) -> bool:
        """Whether keywords and bonuses count, or vectors alone."""
        return self.method is not FusionMethod.SEMANTIC_ONLY

    @property
    def related(self) -> Sequence[Ranked]:
        """The chunks that have the relation that the query asks for to the definitions that it names."""
        return next((ranked.items for ranked in self.lists if ranked.source is ListSource.GRAPH), ())

    def scores(self, source: ListSource) -> Mapping[int, float]:
        """Return all known scores of a source, by chunk id."""
        return next(({**dict(ranked.items), **ranked.others} for ranked in self.lists if ranked.source is source), {})


class _File(Struct):
    """What the phrasings found of a file. best: its best share by phrasing. hits, shares, fused: by chunk id."""

    best: dict[int, float] = field(default_factory=dict)
    hits: dict[int, dict[int, Scored]] = field(default_factory=dict)
    shares: dict[int, float] = field(default_factory=dict)
    fused: dict[int, float] = field(default_factory=dict)

    def add(self, number: int, scored: Scored, share: float, fused: float) -> None:
        """Add a hit of a phrasing with its two shares; its hits come best first."""
        chunk_id = scored.fused.chunk_id
        self.best.setdefault(number, share)
        self.hits.setdefault(chunk_id, {})[number] = scored
        self.shares[chunk_id] = self.shares.get(chunk_id, 0.0) + share
        self.fused[chunk_id] = self.fused.get(chunk_id, 0.0) + fused


def fuse_phrasings(orders: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Return the hits of all phrasings, best first. orders: of each phrasing, best first."""
    files: dict[int, _File] = {}
    for number, order in enumerate(orders, 1):
        best = order[0].score if order else 0.0
        most = max((scored.fused.score for scored in order), default=0.0) or 1.0
        for scored in order[:DEPTH] if best > 0 else ():
            file = files.setdefault(scored.file.file_id, _File())
            file.add(number, scored, scored.score / best, scored.fused.score / most)
    fused = [scored for file in files.values() for scored in _score(file)]
    return sorted(fused, key=lambda scored: (-scored.score, scored.file.path, scored.fused.chunk_id))


def interleave(orders: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Return the first hits of each ranking in turn."""
    merged: dict[int, Scored] = {}
    for together in zip_longest(*(order[:DEPTH] for order in orders)):
        for scored in together:
            if scored is not None:
                merged.setdefault(scored.fused.chunk_id, scored)
    return list(merged.values())


def _score(file: _File) -> list[Scored]:
    terms = [Factor(f"phrasing {number}", share, FactorKind.TERM) for number, share in sorted(file.best.items())]
    total = sum(file.best.values())
    scored = []
    for chunk_id, hit in file.hits.items():
        lists, place = FUSED * file.fused[chunk_id], math.sqrt(file.shares[chunk_id] / total)
        explained = (*terms, Factor("lists", lists, FactorKind.TERM), Factor("place in the file", place))
        fused, shared = _merge(chunk_id, hit), next(iter(hit.values())).shared
        value = (total + lists) * place
        scored.append(Scored(value, fused, shared, terms=explained, phrasings=tuple(hit)))
    return scored


def _merge(chunk_id: int, hits: Mapping[int, Scored]) -> Fused:
    """Return a chunk's best fused score, and its best rank in each source's list."""
    ranks: dict[ListSource, int] = {}
    for scored in hits.values():
        for source, rank in scored.fused.ranks.items():
            ranks[source] = min(rank, ranks.get(source, rank))
    return Fused(chunk_id, max(scored.fused.score for scored in hits.values()), ranks)
