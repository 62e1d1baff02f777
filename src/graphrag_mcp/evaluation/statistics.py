"""How sure a mean is: percentile bootstrap intervals (Efron, 1979)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 2_000
CONFIDENCE = 0.95
_SEED = 0  # The same run prints the same figures.


class Interval(NamedTuple):
    """A mean with the ends of its interval of 95 %."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float]) -> Interval:
    """Return the mean of some values and how far it may be off; of differences, whether it may be zero."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    given = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(_SEED).integers(0, given.size, (RESAMPLES, given.size))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(given[drawn].mean(axis=1), (tail, 1 - tail))
    return Interval(float(given.mean()), float(low), float(high))
