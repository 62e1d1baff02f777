"""Remembers what files contained when they were last read, so that most need not be read again for a needle.

Nothing of it is stored on disk. A signature shows which trigrams a file has: it is a Bloom filter with one hash
function, two to four bits for each distinct trigram, 9 MB for 300 MB of files. What is remembered of a file holds only
while its size and time are those that it had then.
"""

import os
import threading
from collections.abc import Callable, Collection, Mapping
from itertools import accumulate, compress
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.grep.needles import Required, has_folded

KEPT_BYTES = 64_000_000  # A repository of 18,000 files has 18 MB of text in files with secrets.
PLAIN_BYTES = 32_000_000  # The rest is for files with secrets, since masking takes longer than all other steps.
PART = 400  # A plain text that takes more than this part of the room left is not kept, so that many small ones are.

_LARGEST = 16  # With 16 bits, a file with more than 30,000 trigrams is ruled out less and less often.
_SMALLEST = 9
_FACTORS = (np.uint16(0x9E35), np.uint16(0x79B1), np.uint16(0x85EB))


# A stamp is the size and the times of a file: while they are the same, it was not written.
Stamp: TypeAlias = tuple[int, int, int]
stamp_of: Callable[[os.stat_result], Stamp] = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")


class Learnt(NamedTuple):
    """What is remembered of a file. is_plain: its bytes are searched as they are. text: what is searched, if kept."""

    stamp: Stamp
    is_plain: bool
    signature: bytes
    text: bytes | None


class LearntFiles:
    """What is remembered of files, by path; safe to use from several threads at once."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._learnt: dict[str, Learnt] = {}
        self._size = 0  # This is the size of the kept texts.
        self._table: _Table | None = None

    def get(self, path: str) -> Learnt | None:
        """Return what is remembered of a file."""
        return self._learnt.get(path)

    def learn(self, path: str, stamp: Stamp, searched: bytes, *, is_plain: bool) -> None:
        """Remember the trigrams of the text that was searched; also the text, if there is room."""
        signature = _sign(searched)
        most = PLAIN_BYTES if is_plain else KEPT_BYTES
        with self._guard:
            self._table = None
            old = self._learnt.get(path)
            self._size -= len(old.text or b"") if old else 0
            is_kept = len(searched) * (PART if is_plain else 1) <= most - self._size
            self._size += len(searched) if is_kept else 0
            self._learnt[path] = Learnt(stamp, is_plain, signature, searched if is_kept else None)

    def without(self, required: Required) -> Mapping[str, Stamp]:
        """Return the files that lack a required text, each with the stamp for which this holds."""
        if not required:
            return {}
        with self._guard:
            table = self._table = self._table or _Table(self._learnt)
        lacks = np.zeros(len(table.paths), np.bool_)
        for alternatives in required:
            lacks |= ~table.may_contain(alternatives)
        return dict(compress(zip(table.paths, table.stamps, strict=True), lacks.tolist()))


class _Table:
    """All signatures at one time, as arrays."""

    def __init__(self, learnt: Mapping[str, Learnt]) -> None:
        self.paths = tuple(learnt)
        self.stamps = tuple(file.stamp for file in learnt.values())
        signatures = [file.signature for file in learnt.values()]
        sizes = list(map(len, signatures))
        self._bytes = np.frombuffer(b"".join(signatures), np.uint8)
        self._starts = np.array([0, *accumulate(sizes)], np.int64)
        self._masks = 8 * np.array(sizes, np.int64) - 1

    def may_contain(self, alternatives: Collection[str]) -> NDArray[np.bool_]:
        """Return for each file whether it may contain one of the texts."""
        may = np.zeros(len(self.paths), np.bool_)
        for text in alternatives:
            left = np.arange(len(self.paths))
            for code in np.unique(_hashes(np.frombuffer(text.encode(), np.uint8))).tolist():
                position = code & self._masks[left]
                left = left[self._bytes[self._starts[left] + (position >> 3)] >> (position & 7) & 1 > 0]
            may[left] = True
        return may


def _sign(text: bytes) -> bytes:
    """Return the signature of a text; if it has letters that stand for those of ASCII, it has all trigrams."""
    if has_folded(text):
        return b"\xff" * (1 << _SMALLEST >> 3)
    flags: NDArray[np.bool_] = np.zeros(1 << _LARGEST, np.bool_)
    flags[_hashes(np.frombuffer(text.lower(), np.uint8))] = True
    bits = max(_SMALLEST, (2 * int(np.count_nonzero(flags)) - 1).bit_length())
    if bits < _LARGEST:  # The low bits of a hash are its position in the smaller table.
        flags = np.any(flags.reshape(-1, 1 << bits), axis=0)
    return np.packbits(flags, bitorder="little").tobytes()


def _hashes(text: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the hash of each trigram of a text in lower case."""
    if text.size < len(_FACTORS):
        return np.zeros(0, np.uint16)
    hashes = np.zeros(text.size - 2, np.uint16)
    for position, factor in enumerate(_FACTORS):
        hashes ^= text[position : text.size - 2 + position] * factor
    return hashes
