"""Sums a static model's vectors over the word pieces of texts, splitting each distinct word only once.

A static model has no context: a piece has the same vector wherever it stands, and a text's vector is a weighted sum.
Splitting words into pieces is most of the work, and a repository says the same words over and over, so each word's
pieces are kept.
"""

import string
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.ports import Matrix

# Punctuation is half of the tokens of code and says nothing about what the code is for: measured, it changes nothing.
_SPACED = "".join(" " if chr(code) in string.punctuation else chr(code) for code in range(128))

MAX_CHARACTERS = 20_000  # Of one text: the mean of more words than that says nothing any more.
_BATCH_TEXTS = 256
_BATCH_CHARACTERS = 65_536
_FEW_WORDS = 64
_KEPT_WORDS = _BATCH_CHARACTERS  # A word takes a character and a separator, so the texts of one batch always fit.
_LOG_COUNTS = np.log1p(np.arange(2 * MAX_CHARACTERS + 1, dtype=np.float32))


def split_words(text: str) -> list[str]:
    """Return the words that count, as they are written."""
    return text[:MAX_CHARACTERS].translate(_SPACED).split()


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A tokenizer and the vectors of its pieces, as model2vec's files hold them.

    embeddings: (rows, dimensions), integers too. weights: of each piece, by which its row is multiplied. mapping: the
    row of each piece, where pieces share rows. damped: a piece that a text says n times counts log(1 + n) and not n.
    """

    tokenizer: Any
    embeddings: NDArray[Any]
    weights: NDArray[Any] | None = None
    mapping: NDArray[Any] | None = None
    damped: bool = False

    @property
    def size(self) -> int:
        """The number of pieces."""
        return len(self.embeddings if self.mapping is None else self.mapping)

    def vectors(self, pieces: NDArray[np.int64]) -> Matrix:
        """Return the vectors of pieces, shape (len(pieces), dimensions)."""
        rows = pieces if self.mapping is None else self.mapping[pieces]
        vectors = self.embeddings[rows].astype(np.float32)
        return np.asarray(vectors if self.weights is None else vectors * self.weights[pieces, None].astype(np.float32))


class TokenSums:
    """Sums over texts; remembers the pieces of at most 65,536 words, then starts anew."""

    def __init__(self, model: StaticModel) -> None:
        self._model = model
        self._dimensions = model.embeddings.shape[1]
        self._unknown = model.tokenizer.token_to_id(getattr(model.tokenizer.model, "unk_token", None) or "[UNK]")
        self._lock = threading.Lock()
        self._forget()

    def of(self, texts: Sequence[str]) -> Matrix:
        """Return the sum of each text, shape (len(texts), dimensions)."""
        result = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start, stop in _batches([len(text) for text in texts]):
            counts, vectors = self._count(texts[start:stop])
            result[start:stop] = self._damp(counts) @ vectors
        return result

    def of_extended(self, heads: Sequence[str], rests: Sequence[str]) -> tuple[Matrix, Matrix]:
        """Return the sums of the heads, and those of each head with its rest: the words of both are counted once."""
        short = np.empty((len(heads), self._dimensions), dtype=np.float32)
        whole = np.empty_like(short)
        for start, stop in _batches([len(head) + len(rest) for head, rest in zip(heads, rests, strict=True)]):
            counts, vectors = self._count([*heads[start:stop], *rests[start:stop]])
            of_heads, of_rests = np.split(counts, 2)
            short[start:stop] = self._damp(of_heads) @ vectors
            whole[start:stop] = self._damp(of_heads + of_rests) @ vectors
        return short, whole

    def _damp(self, counts: NDArray[np.int64]) -> Matrix:
        return np.asarray(_LOG_COUNTS[counts] if self._model.damped else counts.astype(np.float32))

    def _count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], Matrix]:
        """Return how often each text says each piece, shape (texts, distinct pieces), and the vectors of the pieces."""
        words = [split_words(text) for text in texts]
        with self._lock:
            self._learn(set(chain.from_iterable(words)))
            known = np.fromiter(map(self._rows.__getitem__, chain.from_iterable(words)), np.int64)
            lengths = self._lengths[known]
            # Word k's pieces stand at starts[k] … starts[k] + lengths[k]: all of them, one after the other.
            ends = np.cumsum(lengths)
            offsets = np.repeat(self._starts[known] - ends + lengths, lengths)
            pieces = self._pieces[np.arange(len(offsets)) + offsets]
        owners = np.repeat(np.repeat(np.arange(len(texts)), [len(one) for one in words]), lengths)
        is_said = np.zeros(self._model.size, dtype=np.bool_)
        is_said[pieces] = True
        distinct = np.flatnonzero(is_said)
        columns = (np.cumsum(is_said) - 1)[pieces]
        cells = np.bincount(owners * len(distinct) + columns, minlength=len(texts) * len(distinct))
        return cells.reshape(len(texts), len(distinct)), self._model.vectors(distinct)

    def _forget(self) -> None:
        self._rows: dict[str, int] = {}
        self._pieces = self._starts = self._lengths = np.empty(0, dtype=np.int64)

    def _learn(self, words: set[str]) -> None:
        new = sorted(word for word in words if word not in self._rows)
        if len(self._rows) + len(new) > _KEPT_WORDS:
            self._forget()
            new = sorted(words)
        if new:
            pieces = self._split(new)
            lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
            self._starts = np.concatenate([self._starts, len(self._pieces) + np.cumsum(lengths) - lengths])
            self._lengths = np.concatenate([self._lengths, lengths])
            self._pieces = np.concatenate([self._pieces, np.fromiter(chain.from_iterable(pieces), np.int64)])
            self._rows.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))

    def _split(self, words: list[str]) -> list[list[int]]:
        """Return the pieces of each word; of one with a character that no piece has, those of its other characters."""
        pieces: list[list[int]] = [encoding.ids for encoding in self._encode(words)]
        strange = [place for place, ids in enumerate(pieces) if self._unknown in ids]
        again = self._encode([self._known_part(words[place]) for place in strange])
        for place, encoding in zip(strange, again, strict=True):
            pieces[place] = [one for one in encoding.ids if one != self._unknown]
        return pieces

    def _known_part(self, word: str) -> str:
        tokenizer = self._model.tokenizer
        continued = getattr(tokenizer.model, "continuing_subword_prefix", "")

        def is_known(character: str) -> bool:
            return all(tokenizer.token_to_id(prefix + character) is not None for prefix in ("", continued))

        plain = tokenizer.normalizer.normalize_str(word) if tokenizer.normalizer else word
        return "".join(one if is_known(one) else " " for one in plain)

    def _encode(self, words: list[str]) -> Sequence[Any]:
        """Split words into pieces: many on all cores, and a query's few without waking a thread for them."""
        tokenizer = self._model.tokenizer
        if len(words) > _FEW_WORDS:
            return list(tokenizer.encode_batch_fast(words, add_special_tokens=False))
        return [tokenizer.encode(word, add_special_tokens=False) for word in words]


def _batches(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of runs of texts, bounded in number and in characters."""
    start = characters = 0
    for index, length in enumerate(lengths):
        length = min(length, 2 * MAX_CHARACTERS) + 1
        if index - start == _BATCH_TEXTS or (characters + length > _BATCH_CHARACTERS and index > start):
            yield start, index
            start, characters = index, 0
        characters += length
    if start < len(lengths):
        yield start, len(lengths)
