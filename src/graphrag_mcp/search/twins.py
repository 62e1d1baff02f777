"""Twins: the same code in another place, of which one is shown and the others are named with it.

Two chunks are twins if their words are the same, or if they are of symbols with the same name and share nine tenths of
their lines (Jaccard); `async` and `await` do not count. So the copies of a vendored library, of a folder of a version,
of a generator, and of a synchronous and an asynchronous class become one result.
"""

import re
from dataclasses import dataclass, field, replace
from typing import TypeVar

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import Hit, StoredChunk

ALIKE = 0.9
_Part = TypeVar("_Part")
_ASYNCHRONOUS = re.compile(r"\b(?:async|await)\b|Async(?=[A-Z])|_?\basync_|_async\b")


@dataclass(slots=True)
class Twins:
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
