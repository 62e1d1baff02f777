"""Leaves out of the pairs what repeats: copies of one repository in another, and texts that everybody says."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from training.pairs import Kind, Pair

TELLING_CHARACTERS = 20  # Of a line: shorter ones (`return None`) are alike everywhere.
MOST_COPIED = 0.5  # The share of a document's telling lines that stand in another repository too.
MOST_SAID = 3  # Pairs of one repository that ask for different documents with the same words.


def clean(pairs: Iterable[Pair], held_out: Iterable[str] = ()) -> Iterator[Pair]:
    """Yield the pairs that are worth training on, in their order.

    held_out: texts that no training text may copy; their lines count as those of another repository.
    """
    kept = list(pairs)
    owners: dict[bytes, str] = {}
    copied = {line for text in held_out for line in _lines(text)}
    for pair in kept:
        for line in _lines(pair.document):
            if owners.setdefault(line, pair.repository) != pair.repository:
                copied.add(line)
    said: Counter[tuple[str, Kind, str]] = Counter()
    seen: set[tuple[Kind, str, bytes]] = set()
    for pair in kept:
        lines = _lines(pair.document)
        if sum(line in copied for line in lines) > MOST_COPIED * max(len(lines), 1):
            continue
        asked = (pair.repository, pair.kind, pair.query.lower())
        whole = (pair.kind, pair.query.lower(), _digest(" ".join(pair.document.split())))
        said[asked] += 1
        if said[asked] <= MOST_SAID and whole not in seen:
            seen.add(whole)
            yield pair


def labels(texts: Sequence[str]) -> list[int]:
    """Return a number for each text, the same for the same words."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(" ".join(text.lower().split()), len(numbers)) for text in texts]


def _lines(text: str) -> list[bytes]:
    stripped = (line.strip() for line in text.splitlines())
    return [_digest(line) for line in stripped if len(line) >= TELLING_CHARACTERS]


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
