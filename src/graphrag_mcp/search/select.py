"""Selects the hits to show from the ranked candidates: threshold, duplicates and twins, cap per document, limit.

Two chunks are twins if their words are the same, or if they are of symbols with the same name and share nine tenths of
their lines (Jaccard); `async` and `await` do not count. So the copies of a vendored library, of a folder of a version,
of a generator, and of a synchronous and an asynchronous class become one result.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from graphrag_mcp.model.files import DECLARATION_SUFFIXES, DECLARATIONS, IMPORTS, Category
from graphrag_mcp.model.search import CompressionStats, Factor, Hit, SearchRequest, StoredChunk
from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.ranking.scored import Scored, explain
from graphrag_mcp.search.retrieval import ChunkAndVector
from graphrag_mcp.settings import RankingPart, RetrievalSettings
from graphrag_mcp.text.words import identifiers_by_line

ALIKE = 0.9
_Part = TypeVar("_Part")
_ASYNCHRONOUS = re.compile(r"\b(?:async|await)\b|Async(?=[A-Z])|_?\basync_|_async\b")
PLACES = 10  # The places of an answer: the results, and after them the further ones.
BLOCK = PLACES + 2  # Hits read, and compared as declarations and definitions, at a time: whatever the limit is.
NEAR_COPY = 0.9  # The share of its n-grams with a better text that makes a text a copy.
EQUAL_COSINE = 0.995  # The cosine of two vectors that say the same is higher.
_STAGES = ("content", "ngram", "semantic", "document")  # In the order in which they drop hits.
NGRAM = 5  # Words: long enough that two texts share one only when one was copied.
HitAndVector: TypeAlias = "tuple[Hit, Matrix | None]"  # A hit, and the vector of its chunk if it has one.
ReadContents = Callable[[Sequence[int]], Mapping[int, ChunkAndVector]]


class Twins(Struct):
    """The kept hits of one search, by what makes a twin."""

    _by_words: dict[tuple[str, ...], int] = field(default_factory=dict)
    _by_name: dict[str, list[tuple[int, StoredChunk]]] = field(default_factory=dict)

    def add(self, place: int, chunk: StoredChunk, words: tuple[str, ...]) -> None:
        self._by_words.setdefault(words, place)
        if name := _name(chunk):
            self._by_name.setdefault(name, []).append((place, chunk))

    def find(self, chunk: StoredChunk, words: tuple[str, ...]) -> int | None:
        """Return the place of the kept hit that is a twin of a chunk with these words."""
        place = self._by_words.get(words)
        if place is not None:
            return place
        named = self._by_name.get(_name(chunk), ())
        if not named:
            return None
        lines = _lines(chunk)
        return next((place for place, other in named if similarity(lines, _lines(other)) >= ALIKE), None)


def join(hit: Hit, twin: Hit) -> Hit:
    """Return the one that is shown for both: not archived, not vendored, then in the shorter path of the same kind."""
    if _standing(twin.chunk, hit.chunk) < _standing(hit.chunk, hit.chunk):
        hit, twin = twin, hit
    copies = (*hit.archived_copies, *twin.archived_copies)
    return replace(hit, twins=(*hit.twins, twin.chunk, *twin.twins), archived_copies=copies)


def words_of_chunk(chunk: StoredChunk) -> tuple[str, ...]:
    """Return the words of a chunk, in which white space does not count."""
    return tuple(chunk.text.split())


def _standing(chunk: StoredChunk, shown: StoredChunk) -> tuple[bool, bool, bool, int]:
    is_other_kind = chunk.category is not shown.category
    return chunk.archive is not None, chunk.category is Category.VENDORED, is_other_kind, len(chunk.path)


def _name(chunk: StoredChunk) -> str:
    return chunk.symbol.rpartition(".")[2]


def _lines(chunk: StoredChunk) -> frozenset[str]:
    """Return the lines without white space and without what makes code asynchronous."""
    text = _ASYNCHRONOUS.sub("", chunk.text)
    return frozenset(filter(None, ("".join(line.split()) for line in text.split("\n"))))


def similarity(first: frozenset[_Part], second: frozenset[_Part]) -> float:
    """Return the Jaccard similarity; nothing is similar to an empty set."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared or 1)


class Selection(Struct, frozen=True):
    """The hits to show, the next best up to place PLACES, and how many each stage left. floor: the lowest score."""

    hits: Sequence[Hit]
    runners_up: Sequence[Hit]
    stats: CompressionStats
    floor: float


def select(
    rankings: Sequence[Sequence[Scored]],
    request: SearchRequest,
    settings: RetrievalSettings,
    read: ReadContents,
    *,
    wants_definitions: bool,
) -> Selection:
    """Return the hits to show: those of the first ranking, then what the next ones have besides.

    So a hit keeps its place however many are asked for. read: returns chunks by id with their vectors; called for no
    more than needed. wants_definitions: whether what only names a definition goes behind it.
    """
    floor = request.min_score if request.min_score is not None else settings.min_score or 0.0
    distinct = list(_distinct(rankings))
    above = [[scored for scored in order if scored.fused.score >= floor] for order in distinct]
    copies = {copied: copies for order in reversed(above) for copied, copies in _copies(order, read).items()}
    places = max(request.limit, PLACES)
    pipeline = Pipeline(frozenset(settings.switched_off), places, request.chunks_per_document, copies)
    hits = chain.from_iterable(_hits(order, read, wants_definitions) for order in above)
    original, shown = (sum(map(len, orders)) for orders in (distinct, above))
    stats = pipeline.run(hits, original, shown, request.limit)
    return Selection(pipeline.kept[: request.limit], pipeline.kept[request.limit :], stats, floor)


def _distinct(rankings: Sequence[Sequence[Scored]]) -> Iterator[list[Scored]]:
    """Yield the candidates of each ranking that no ranking before it has."""
    seen: set[int] = set()
    for order in rankings:
        yield [scored for scored in order if scored.fused.chunk_id not in seen]
        seen.update(scored.fused.chunk_id for scored in order)


def _hits(order: Sequence[Scored], read: ReadContents, wants_definitions: bool) -> Iterator[HitAndVector]:
    """Read the ranked candidates a block at a time: few of them are needed."""
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        contents = read([scored.fused.chunk_id for scored in block])
        hits: list[HitAndVector] = []
        for scored in block:
            if scored.fused.chunk_id in contents:
                chunk, vector = contents[scored.fused.chunk_id]
                hits.append((explain(scored, chunk), vector))
        yield from behind_definitions(hits) if wants_definitions else hits


def _copies(order: Sequence[Scored], read: ReadContents) -> dict[int, tuple[StoredChunk, ...]]:
    """Return the archived copies among the candidates; nothing is read unless one is archived."""
    if not any(scored.file.archive for scored in order):
        return {}
    contents = read([scored.fused.chunk_id for scored in order])
    ids = (scored.fused.chunk_id for scored in order)
    return archived_copies(contents[chunk_id][0] for chunk_id in ids if chunk_id in contents)


# ---------------------------------------------------------------- what only names something: prototypes, imports


def behind_definitions(hits: Sequence[HitAndVector]) -> list[HitAndVector]:
    """Return the hits, best first, each that declares or imports right behind the first that defines one of its names.

    Only these hits are compared: where none defines a name, the declaration is the best answer there is.
    """
    order = list(hits)
    for entry in hits:
        if named := _named(entry[0].chunk):
            place = order.index(entry)
            first = next((at for at, (other, _) in enumerate(order) if _defines(other.chunk, named)), place)
            if first > place:
                order.insert(first + 1, (_lowered(entry[0], order[first][0]), entry[1]))
                del order[place]
    return order


def _named(chunk: StoredChunk) -> frozenset[str]:
    """Return the names that a chunk declares or imports; nothing for a chunk that defines."""
    if chunk.kind == DECLARATIONS or chunk.path.endswith(DECLARATION_SUFFIXES):
        return frozenset(chunk.names)
    return frozenset(chain(*identifiers_by_line(chunk.text))) if chunk.kind == IMPORTS else frozenset()


def _defines(chunk: StoredChunk, names: frozenset[str]) -> bool:
    return not names.isdisjoint(chunk.names) and not _named(chunk)


def _lowered(hit: Hit, definition: Hit) -> Hit:
    factor = Factor("only names", definition.score / hit.score if hit.score else 1.0, note=definition.chunk.symbol)
    return replace(hit, score=definition.score, factors=(*hit.factors, factor))


# ---------------------------------------------------------------- duplicates, cap, limit


class Pipeline(Struct):
    """One pass over the hits of one search.

    Only hits that would be shown are compared, best first, so the cost depends on the limit and not on the number of
    candidates. Each stage counts what it dropped. copies: see `archived_copies`.
    """

    switched_off: Collection[RankingPart]
    limit: int
    chunks_per_document: int
    copies: Mapping[int, tuple[StoredChunk, ...]] = field(default_factory=dict)
    kept: list[Hit] = field(default_factory=list)
    _twins: Twins = field(default_factory=Twins)
    _dropped: Counter[str] = field(default_factory=Counter)
    _texts: dict[tuple[str, ...], None] = field(default_factory=dict)
    _kept_vectors: list[Matrix] = field(default_factory=list)

    def run(
        self, hits: Iterable[HitAndVector], original: int, above: int, shown: int | None = None
    ) -> CompressionStats:
        """Fill `kept` with at most `limit` hits, in order, and return how many each stage left.

        original, above: the number of candidates before and after the threshold. hits: the latter, best first, each
        with its vector if it has one. shown: how many of `kept` are results, all by default.
        """
        joins_twins = RankingPart.SAME_TEXT not in self.switched_off
        for hit, vector in hits:
            words = words_of_chunk(hit.chunk)
            place = self._twins.find(hit.chunk, words) if joins_twins else None
            if place is not None:
                self._name_twin(place, hit)
            elif stage := self._stage_that_drops(hit, words, vector):
                self._dropped[stage] += 1
            else:
                self._twins.add(len(self.kept), hit.chunk, words)
                copies = self.copies.get(hit.chunk.chunk_id)
                self.kept.append(replace(hit, archived_copies=copies) if copies else hit)
                if len(self.kept) == self.limit:
                    break
        left = accumulate((above, *(-self._dropped[stage] for stage in _STAGES)))
        return CompressionStats(*(original, *left, len(self.kept[:shown])))

    def _name_twin(self, place: int, hit: Hit) -> None:
        """Name a twin with the kept hit, unless that is said of it already as of an archived copy."""
        self._dropped["content"] += 1
        if self._is_archived_copy(hit.chunk):
            return
        joined = join(self.kept[place], hit)
        if joined.chunk is self.kept[place].chunk or not self._is_full(joined.chunk.path):
            self.kept[place] = joined

    def _stage_that_drops(self, hit: Hit, words: tuple[str, ...], vector: "Matrix | None") -> str:
        if RankingPart.SAME_TEXT not in self.switched_off and self._is_archived_copy(hit.chunk):
            return "content"
        if self._copies_a_kept_one(words):
            return "ngram"
        if self._is_near_a_kept_one(vector):
            return "semantic"
        if self._is_full(hit.chunk.path):
            return "document"
        self._texts[words] = None
        if vector is not None:
            self._kept_vectors.append(vector)
        return ""

    def _is_archived_copy(self, chunk: StoredChunk) -> bool:
        if chunk.archive is None:
            return False
        return any(chunk.chunk_id == copy.chunk_id for copies in self.copies.values() for copy in copies)

    def _copies_a_kept_one(self, words: tuple[str, ...]) -> bool:
        """Compare n-grams, but only with texts of about the same length: others cannot reach the threshold."""
        if RankingPart.NEAR_COPIES in self.switched_off:
            return False
        similar = [other for other in self._texts if _alike(len(words), len(other))]
        own = _ngrams(words) if similar else frozenset()
        return any(similarity(own, _ngrams(other)) >= NEAR_COPY for other in similar)

    def _is_near_a_kept_one(self, vector: "Matrix | None") -> bool:
        if vector is None or RankingPart.EQUAL_VECTORS in self.switched_off:
            return False
        return any(other @ vector >= EQUAL_COSINE for other in self._kept_vectors)

    def _is_full(self, path: str) -> bool:
        most = self.chunks_per_document
        return most > 0 and sum(hit.chunk.path == path for hit in self.kept) >= most


def archived_copies(ranked: Iterable[StoredChunk]) -> dict[int, tuple[StoredChunk, ...]]:
    """Return the archived chunks that have the same content as another, by the id of the chunk shown for all of them.

    ranked: best first. The best chunk that is not archived is shown, else the best.
    """
    groups: dict[tuple[str, ...], list[StoredChunk]] = {}
    for chunk in ranked:
        groups.setdefault(words_of_chunk(chunk), []).append(chunk)
    copies = {}
    for group in groups.values():
        shown = next((chunk for chunk in group if chunk.archive is None), group[0])
        if others := tuple(chunk for chunk in group if chunk.archive is not None and chunk is not shown):
            copies[shown.chunk_id] = others
    return copies


def _alike(length: int, other: int) -> bool:
    """Return whether texts of these lengths, in words, can be copies."""
    fewer, more = sorted((length - NGRAM + 1, other - NGRAM + 1))
    return fewer > 0 and fewer >= NEAR_COPY * more


def _ngrams(words: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(*(words[start:] for start in range(NGRAM)), strict=False))
