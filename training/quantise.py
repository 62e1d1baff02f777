"""Makes the trained table small: rows of bytes, or fewer rows that pieces share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT8_MAX = 127
_ROUNDS = 12
_BLOCK = 4_096

FORMS = ("float32", "float16", "int8", "shared")
SHARED_ROWS = 8_192

Tensors = Mapping[str, NDArray[Any]]


def small_form(table: NDArray[np.float32], form: str, counts: NDArray[np.float64]) -> Tensors:
    """Return the table in one of FORMS; `counts` is how often each piece is said."""
    if form == "shared":
        return as_shared_bytes(table, min(SHARED_ROWS, len(table)), counts)
    return as_bytes(table) if form == "int8" else {"embeddings": table.astype(form)}


def as_bytes(table: NDArray[np.float32]) -> Tensors:
    """Return int8 rows and each row's scale; one scale for all would leave the short rows two or three bits."""
    scales = np.maximum(np.abs(table).max(axis=1), 1e-9) / INT8_MAX
    return {
        "embeddings": np.rint(table / scales[:, None]).astype(np.int8),
        "weights": scales.astype(np.float32),
    }


def as_shared_bytes(table: NDArray[np.float32], rows: int, counts: NDArray[np.float64], seed: int = 0) -> Tensors:
    """Return so many int8 rows, which of them each piece uses, and each piece's length.

    The rows are the centres of spherical k-means over the pieces' directions (Dhillon & Modha, 2001); a piece weighs
    what `counts` says, so that frequent words lose least. Known to model2vec as vocabulary quantisation.
    """
    lengths = np.maximum(np.linalg.norm(table, axis=1), 1e-9)
    units = table / lengths[:, None]
    importance = np.log1p(counts) + 1
    chance = np.random.default_rng(seed)
    frequent = np.argsort(-counts, kind="stable")[: rows // 2]  # Half of the rows belong to one word alone.
    drawn = chance.choice(np.setdiff1d(np.arange(len(table)), frequent), rows - len(frequent), replace=False)
    centres = units[np.concatenate([frequent, drawn])].copy()
    mapping = np.zeros(len(table), np.int64)
    for _ in range(_ROUNDS):
        for start in range(0, len(units), _BLOCK):
            mapping[start : start + _BLOCK] = (units[start : start + _BLOCK] @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, mapping, units * importance[:, None].astype(np.float32))
        used = np.linalg.norm(sums, axis=1) > 0
        centres[used] = sums[used] / np.linalg.norm(sums[used], axis=1, keepdims=True)
    packed = as_bytes(centres)
    nearness = (units * centres[mapping]).sum(axis=1)
    weights = packed["weights"][mapping] * (lengths * nearness).astype(np.float32)
    return {"embeddings": packed["embeddings"], "weights": weights, "mapping": mapping.astype(np.int32)}


def restore(tensors: Tensors) -> NDArray[np.float32]:
    """Return the table that the tensors stand for, as the product reads it."""
    table = np.asarray(tensors["embeddings"], np.float32)
    if "mapping" in tensors:
        table = table[np.asarray(tensors["mapping"], np.int64)]
    return np.asarray(table * np.asarray(tensors["weights"])[:, None] if "weights" in tensors else table, np.float32)
