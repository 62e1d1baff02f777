"""How much of a question's own wording a chunk has: its words as they are written, and neighbours that stay together.

BM25 compares stems, and a rare word that is repeated outweighs three that occur once. A question for what is done gives
both to functions alone; any other question, which may mean a type or a file, gives neighbours alone to all chunks.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from graphrag_mcp.model.files import CALLABLE
from graphrag_mcp.model.search import StoredChunk
from graphrag_mcp.text.words import identifier_parts, is_telling, query_words

WORDING = "wording"  # The bonus.
COMPARED = 80  # Candidates whose text is read.
ENOUGH = 4  # Of fewer words, the share says less: two are there in one of their forms by chance.
MOST_WORDS = 32  # The first ones of a pasted text.
MOST_PLACES = 20  # Of a word in a chunk.
NEAR = 12  # Characters between neighbours.
_APART = 3  # Words from one to the next, with those that are not telling.
_WORD = re.compile(r"\w+")


class Wording(NamedTuple):
    """The share of a question's words, and of its neighbours, that a chunk has, each weighed by its rarity: 0 to 1.

    Of a question of less than ENOUGH words it is a part of that.
    """

    words: float
    pairs: float


def compare_wording(
    text: str, rarity: Mapping[str, float], chunks: Mapping[int, StoredChunk], *, asks_for_behaviour: bool
) -> dict[int, Wording]:
    """Return the wording of each chunk; {} for a question with less than two telling words. rarity: idf by stem."""
    words, pairs = _weigh(text, rarity)
    if len(words) < 2:
        return {}
    of_words, of_pairs = sum(words.values()), sum(pairs.values()) or 1.0
    telling = min(1.0, len(words) / ENOUGH)
    compared = {}
    for chunk_id, chunk in chunks.items():
        if asks_for_behaviour and chunk.kind not in CALLABLE:
            continue
        places = _places(words, f"{chunk.symbol} {chunk.signature}\n{chunk.text}")
        together = sum(weight for (one, other), weight in pairs.items() if _are_near(one, other, places))
        covered = sum(words[word] for word in places) if asks_for_behaviour else 0.0
        compared[chunk_id] = Wording(telling * covered / of_words, telling * together / of_pairs)
    return compared


def _weigh(text: str, rarity: Mapping[str, float]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Return the rarity of the telling words of a text, and of those that follow each other."""
    parts = [part for word in _WORD.findall(text) for part in identifier_parts(word)]
    telling = [(place, part) for place, part in enumerate(parts) if len(part) > 1 and is_telling(part)]
    telling = [(place, part) for place, part in telling if not part.isdigit()][:MOST_WORDS]
    idf = {part: max((rarity.get(stem, 0.0) for stem in query_words(part)), default=0.0) for _, part in telling}
    words = {part: weight for part, weight in idf.items() if weight > 0}
    pairs = {
        (one, other): min(words[one], words[other])
        for (first, one), (second, other) in pairwise(telling)
        if one != other and second - first <= _APART and one in words and other in words
    }
    return words, pairs


def _places(words: Mapping[str, float], text: str) -> dict[str, list[int]]:
    """Return where the words begin, as parts of identifiers too; without those that do not occur."""
    lower = text.lower()
    if len(lower) != len(text):  # A few letters are longer in lower case.
        text = lower
    return {word: places for word in words if word in lower and (places := _parts(word, lower, text))}


def _parts(word: str, lower: str, text: str) -> list[int]:
    """Return where a word is a part of an identifier: "port" of `portOf` and `get_port`, not of `import` or `ports`."""
    places: list[int] = []
    start = lower.find(word)
    while start >= 0 and len(places) < MOST_PLACES:
        end = start + len(word)
        if _begins(text, start) and _begins(text, end):
            places.append(start)
        start = lower.find(word, end)
    return places


def _begins(text: str, place: int) -> bool:
    """Return whether a part of an identifier, or something else, begins at a place."""
    before, at = text[place - 1 : place], text[place : place + 1]  # Nothing stands before the first place.
    if not (before.isalpha() and at.isalpha()):
        return True
    return at.isupper() and (before.islower() or text[place + 1 : place + 2].islower())


def _are_near(one: str, other: str, places: Mapping[str, list[int]]) -> bool:
    return any(
        0 <= second - first - len(one) <= NEAR or 0 <= first - second - len(other) <= NEAR
        for first in places.get(one, ())
        for second in places.get(other, ())
    )
