"""Turns texts into sparse vectors of their word pieces, as the product counts them."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer

from graphrag_mcp.embedding.token_sums import split_words

_BATCH = 100_000  # Words a call of the tokenizer.


class Encoder:
    """Counts the pieces of a tokenizer's vocabulary in texts; each distinct word is split only once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._unknown = tokenizer.token_to_id(tokenizer.model.unk_token)
        self.size = tokenizer.get_vocab_size()

    def encode(self, texts: Sequence[str]) -> csr_matrix:
        """Return log(1 + count) of each piece, shape (len(texts), size)."""
        words: dict[str, int] = {}
        columns: list[int] = []
        ends = [0]
        for text in texts:
            columns += [words.setdefault(word, len(words)) for word in split_words(text)]
            ends.append(len(columns))
        counts = csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=(len(texts), len(words)))
        pieces = counts @ self._pieces(list(words))
        pieces.data = np.log1p(pieces.data, dtype=np.float32)
        return pieces

    def _pieces(self, words: Sequence[str]) -> csr_matrix:
        rows: list[int] = []
        ids: list[int] = []
        for start in range(0, len(words), _BATCH):
            encodings = self._tokenizer.encode_batch_fast(words[start : start + _BATCH], add_special_tokens=False)
            for row, encoding in enumerate(encodings, start):
                known = [one for one in encoding.ids if one != self._unknown]
                ids += known
                rows += [row] * len(known)
        return csr_matrix((np.ones(len(ids), np.float32), (rows, ids)), shape=(len(words), self.size))
