"""Compares two runs query by query, with bootstrap confidence intervals (Efron, 1979) of the differences."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import fields

from graphrag_mcp.search.evaluation.scores import Scores

RESAMPLES = 2_000
CONFIDENCE = 0.95
_SEED = 0  # The same run prints the same figures.
_SAME = 1e-9


class Interval(NamedTuple):
    """A mean with the ends of its interval of 95 %."""

    mean: float
    low: float
    high: float


class Change(Struct, frozen=True):
    """One query's measure in both runs."""

    id: str
    before: float
    after: float


class Comparison(Struct, frozen=True):
    """What the second run changed: the difference of each measure, and the queries won and lost, largest first."""

    differences: Mapping[str, Interval]
    won: tuple[Change, ...]
    lost: tuple[Change, ...]


def compare(before: Mapping[str, Scores], after: Mapping[str, Scores], measure: str = "file_ndcg") -> Comparison:
    """Compare the queries that both runs have; `measure` decides which of them won."""
    shared = [name for name in before if name in after]
    differences = {
        field.name: bootstrap([getattr(after[name], field.name) - getattr(before[name], field.name) for name in shared])
        for field in fields(Scores)
    }
    changes = [Change(name, getattr(before[name], measure), getattr(after[name], measure)) for name in shared]
    changes.sort(key=lambda change: -abs(change.after - change.before))
    won = tuple(change for change in changes if change.after > change.before + _SAME)
    lost = tuple(change for change in changes if change.after < change.before - _SAME)
    return Comparison(differences, won, lost)


def bootstrap(values: Sequence[float]) -> Interval:
    """Return the mean of some values and how far it may be off; of differences, whether it may be zero."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(_SEED).integers(0, sample.size, (RESAMPLES, sample.size))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(sample[drawn].mean(axis=1), (tail, 1 - tail))
    return Interval(float(sample.mean()), float(low), float(high))
