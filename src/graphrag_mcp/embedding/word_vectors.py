"""Sums a static model's vectors over the words of texts, sending each distinct word through its tokenizer only once.

A static model has no context: a word has the same vector wherever it stands, and a text's vector is the sum. Splitting
words into pieces is nine tenths of the work, and a repository says the same words over and over, so keeping each word's
vector makes embedding about five times faster than asking the model for each text.
"""

import string
import threading
from collections.abc import Iterator, Sequence
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
_KEPT_WORDS = _BATCH_CHARACTERS // 2  # A word takes a character and a separator, so one batch always fits.


def split_words(text: str) -> list[str]:
    """Return the words that count, as they are written."""
    return text[:MAX_CHARACTERS].translate(_SPACED).split()


class WordVectors:
    """The vectors of the words met so far: at most 32,768 of them, then it starts anew.

    `model` is a loaded StaticTextEmbedding of fastembed, which types its tokenizer and tensors as optional.
    """

    def __init__(self, model: Any, dimensions: int) -> None:
        self._model = model
        self._vectors = np.empty((_KEPT_WORDS, dimensions), dtype=np.float32)
        self._rows: dict[str, int] = {}
        self._lock = threading.Lock()

    def sums(self, texts: Sequence[str]) -> Matrix:
        """Return the sum of each text's word vectors, shape (len(texts), dimensions)."""
        result = np.empty((len(texts), self._vectors.shape[1]), dtype=np.float32)
        with self._lock:
            for start, stop in _batches(texts):
                result[start:stop] = self._sum_batch([split_words(text) for text in texts[start:stop]])
        return result

    def _sum_batch(self, texts: list[list[str]]) -> Matrix:
        """Multiply a (texts x distinct words) matrix of counts with the words' vectors."""
        self._learn(set(chain.from_iterable(texts)))
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        rows = np.fromiter(map(self._rows.__getitem__, chain.from_iterable(texts)), np.int64, int(lengths.sum()))
        distinct, columns = np.unique(rows, return_inverse=True)
        cells = np.repeat(np.arange(len(texts)), lengths) * len(distinct) + columns
        counts = np.bincount(cells, minlength=len(texts) * len(distinct)).reshape(len(texts), len(distinct))
        return np.asarray(counts.astype(np.float32) @ self._vectors[distinct])

    def _learn(self, words: set[str]) -> None:
        new = sorted(word for word in words if word not in self._rows)
        if len(self._rows) + len(new) > _KEPT_WORDS:
            self._rows.clear()
            new = sorted(words)
        if new:
            first = len(self._rows)
            self._vectors[first : first + len(new)] = self._embed_words(new)
            self._rows.update(zip(new, range(first, first + len(new)), strict=True))

    def _embed_words(self, words: list[str]) -> Matrix:
        """Return each word's vector, the sum over its pieces; a word of which no piece is known gets zeros."""
        pieces = [encoding.ids for encoding in self._encode(words)]
        owners = np.repeat(np.arange(len(words)), [len(ids) for ids in pieces])
        ids = np.fromiter(chain.from_iterable(pieces), dtype=np.int64, count=len(owners))
        known = ids != self._model.unk_token_id
        owners, ids = owners[known], ids[known]

        result = np.zeros((len(words), self._vectors.shape[1]), dtype=np.float32)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        rows, lengths = owners[starts], np.diff(starts, append=len(owners))
        while len(starts):  # The words' next piece, of those that have one: three times as fast as `add.reduceat`.
            result[rows] += self._piece_vectors(ids[starts])
            longer = lengths > 1
            starts, rows, lengths = starts[longer] + 1, rows[longer], lengths[longer] - 1
        return result

    def _encode(self, words: list[str]) -> Sequence[Any]:
        """Split words into pieces: many on all cores, and a query's few without waking a thread for them."""
        tokenizer = self._model.tokenizer
        if len(words) > _FEW_WORDS:
            return list(tokenizer.encode_batch_fast(words, add_special_tokens=False))
        return [tokenizer.encode(word, add_special_tokens=False) for word in words]

    def _piece_vectors(self, ids: NDArray[np.int64]) -> Matrix:
        mapping, weights = self._model.token_mapping, self._model.weights
        vectors = self._model.embeddings[ids if mapping is None else mapping[ids]].astype(np.float32)
        return np.asarray(vectors if weights is None else vectors * weights[ids, None].astype(np.float32))


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of runs of texts, bounded in number and in characters."""
    start = characters = 0
    for index, text in enumerate(texts):
        length = min(len(text), MAX_CHARACTERS) + 1
        if index - start == _BATCH_TEXTS or characters + length > _BATCH_CHARACTERS:
            yield start, index
            start, characters = index, 0
        characters += length
    if start < len(texts):
        yield start, len(texts)
