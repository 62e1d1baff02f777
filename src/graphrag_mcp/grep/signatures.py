"""Which trigrams texts have, so that a file which lacks a text is not read for it.

A signature is a Bloom filter with one hash function, two to four bits for each distinct trigram of a text: 9 MB for
300 MB of files.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate, compress
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.grep.needles import Required, has_folded

_Text = TypeVar("_Text")
_LARGEST = 16  # With 16 bits, a file with more than 30,000 trigrams is ruled out less and less often.
_SMALLEST = 9
_FACTORS = (np.uint16(0x9E35), np.uint16(0x79B1), np.uint16(0x85EB))


class Signatures(Generic[_Text]):
    """The signatures of many texts, as arrays."""

    def __init__(self, signatures: Mapping[_Text, bytes]) -> None:
        self._texts = tuple(signatures)
        sizes = list(map(len, signatures.values()))
        self._bytes = np.frombuffer(b"".join(signatures.values()), np.uint8)
        self._starts = np.array([0, *accumulate(sizes)], np.int64)
        self._masks = 8 * np.array(sizes, np.int64) - 1

    def without(self, required: Required) -> Iterator[_Text]:
        """Yield the texts that lack something required."""
        lacks = np.zeros(len(self._texts), np.bool_)
        for alternatives in required:
            lacks |= ~self._may_contain(alternatives)
        return compress(self._texts, lacks.tolist())

    def _may_contain(self, alternatives: Collection[str]) -> NDArray[np.bool_]:
        """Return for each text whether it may contain one of the alternatives."""
        may = np.zeros(len(self._texts), np.bool_)
        for text in alternatives:
            left = np.arange(len(self._texts))
            for code in set(_hashes(np.frombuffer(text.encode(), np.uint8)).tolist()):
                position = code & self._masks[left]
                left = left[self._bytes[self._starts[left] + (position >> 3)] >> (position & 7) & 1 > 0]
            may[left] = True
        return may


def sign(text: bytes) -> bytes:
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
