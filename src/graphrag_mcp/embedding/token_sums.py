"""The vector of a text in a static model.

A token has the same vector everywhere, and a text's vector is a weighted sum. Tokenizing is most of the work, and a
repository repeats its words, so the tokens of each word are cached.
"""

import string
import threading
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from graphrag_mcp.ports import Matrix

# Punctuation is half of the tokens of code. Measured: leaving it out does not change the quality.
_SPACED = "".join(" " if chr(code) in string.punctuation else chr(code) for code in range(128))

MAX_CHARACTERS = 20_000  # The mean of more words of a text has no meaning.
_BATCH_TEXTS = 256
_BATCH_CHARACTERS = 65_536
_FEW_WORDS = 64
_KEPT_WORDS = _BATCH_CHARACTERS  # A word takes a character and a separator, so the texts of one batch always fit.
_LOG_COUNTS = np.log1p(np.arange(2 * MAX_CHARACTERS + 1, dtype=np.float32))


def split_words(text: str) -> list[str]:
    """Return the words of a text, without punctuation."""
    return text[:MAX_CHARACTERS].translate(_SPACED).split()


class StaticModel(Struct, frozen=True):
    """A tokenizer and the vectors of its tokens, as in model2vec's files.

    embeddings: (rows, dimensions), also of integers. weights: the factor of each token's row. mapping: the row of each
    token, where tokens share rows. log_tf: whether a token that occurs n times counts log(1 + n) instead of n.
    """

    tokenizer: Any
    embeddings: NDArray[Any]
    weights: NDArray[Any] | None = None
    mapping: NDArray[Any] | None = None
    log_tf: bool = False

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.embeddings if self.mapping is None else self.mapping)

    def vectors(self, tokens: NDArray[np.int64]) -> Matrix:
        """Return the vectors of tokens, shape (len(tokens), dimensions)."""
        rows = tokens if self.mapping is None else self.mapping[tokens]
        vectors = self.embeddings[rows].astype(np.float32)
        return np.asarray(vectors if self.weights is None else vectors * self.weights[tokens, None].astype(np.float32))


class TokenSums:
    """Sums over texts; caches the tokens of at most 65,536 words, then empties the cache."""

    def __init__(self, model: StaticModel) -> None:
        self._model = model
        self._dimensions = model.embeddings.shape[1]
        self._unknown = model.tokenizer.token_to_id(getattr(model.tokenizer.model, "unk_token", None) or "[UNK]")
        self._lock = threading.Lock()
        self._forget()

    def of(self, texts: Sequence[str]) -> Matrix:
        """Return the sum of each text as a unit vector, shape (len(texts), dimensions)."""
        result = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start, stop in _batches([len(text) for text in texts]):
            counts, vectors = self._count(texts[start:stop])
            result[start:stop] = self._weigh(counts) @ vectors
        return normalise(result)

    def of_extended(self, starts: Sequence[str], ends: Sequence[str]) -> tuple[Matrix, Matrix]:
        """Return the unit vectors of the first parts of texts, and of the whole texts (first and second part)."""
        short = np.empty((len(starts), self._dimensions), dtype=np.float32)
        whole = np.empty_like(short)
        for start, stop in _batches([len(first) + len(second) for first, second in zip(starts, ends, strict=True)]):
            counts, vectors = self._count([*starts[start:stop], *ends[start:stop]])
            of_starts, of_ends = np.split(counts, 2)
            short[start:stop] = self._weigh(of_starts) @ vectors
            whole[start:stop] = self._weigh(of_starts + of_ends) @ vectors
        return normalise(short), normalise(whole)

    def _weigh(self, counts: NDArray[np.int64]) -> Matrix:
        return np.asarray(_LOG_COUNTS[counts] if self._model.log_tf else counts.astype(np.float32))

    def _count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], Matrix]:
        """Return the token counts of each text, shape (texts, distinct tokens), and the vectors of these tokens."""
        words = [split_words(text) for text in texts]
        with self._lock:
            self._learn(set(chain.from_iterable(words)))
            known = np.fromiter(map(self._rows.__getitem__, chain.from_iterable(words)), np.int64)
            lengths = self._lengths[known]
            # The tokens of word k are at firsts[k] … firsts[k] + lengths[k]; here for all words, one after the other.
            ends = np.cumsum(lengths)
            offsets = np.repeat(self._firsts[known] - ends + lengths, lengths)
            tokens = self._tokens[np.arange(len(offsets)) + offsets]
        owners = np.repeat(np.repeat(np.arange(len(texts)), [len(split) for split in words]), lengths)
        is_present = np.zeros(self._model.size, dtype=np.bool_)
        is_present[tokens] = True
        distinct = np.flatnonzero(is_present)
        columns = (np.cumsum(is_present) - 1)[tokens]
        cells = np.bincount(owners * len(distinct) + columns, minlength=len(texts) * len(distinct))
        return cells.reshape(len(texts), len(distinct)), self._model.vectors(distinct)

    def _forget(self) -> None:
        self._rows: dict[str, int] = {}
        self._tokens = self._firsts = self._lengths = np.empty(0, dtype=np.int64)

    def _learn(self, words: set[str]) -> None:
        new = sorted(word for word in words if word not in self._rows)
        if len(self._rows) + len(new) > _KEPT_WORDS:
            self._forget()
            new = sorted(words)
        if new:
            tokens = self._split(new)
            lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
            self._firsts = np.concatenate([self._firsts, len(self._tokens) + np.cumsum(lengths) - lengths])
            self._lengths = np.concatenate([self._lengths, lengths])
            self._tokens = np.concatenate([self._tokens, np.fromiter(chain.from_iterable(tokens), np.int64)])
            self._rows.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))

    def _split(self, words: list[str]) -> list[list[int]]:
        """Return the tokens of each word; characters that are in no token are left out."""
        tokens: list[list[int]] = [encoding.ids for encoding in self._encode(words)]
        unknown = [index for index, ids in enumerate(tokens) if self._unknown in ids]
        again = self._encode([self._known_part(words[index]) for index in unknown])
        for index, encoding in zip(unknown, again, strict=True):
            tokens[index] = [token for token in encoding.ids if token != self._unknown]
        return tokens

    def _known_part(self, word: str) -> str:
        tokenizer = self._model.tokenizer
        continued = getattr(tokenizer.model, "continuing_subword_prefix", "")

        def is_known(character: str) -> bool:
            return all(tokenizer.token_to_id(prefix + character) is not None for prefix in ("", continued))

        plain = tokenizer.normalizer.normalize_str(word) if tokenizer.normalizer else word
        return "".join(character if is_known(character) else " " for character in plain)

    def _encode(self, words: list[str]) -> Sequence[Any]:
        """Tokenize words: many on all cores, the few of a query in this thread."""
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


def normalise(vectors: NDArray[Any]) -> Matrix:
    """Return the vectors as contiguous float32 of length 1; zeros stay zeros."""
    rows: Matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))
