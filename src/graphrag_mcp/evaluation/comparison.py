"""Compares two runs query by query: which won, which lost, and whether the difference is more than chance."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from graphrag_mcp.evaluation.scores import Scores
from graphrag_mcp.evaluation.statistics import Interval, bootstrap

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """One query's measure in both runs."""

    id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
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
    won = sorted((one for one in changes if one.after > one.before + _SAME), key=lambda one: one.before - one.after)
    lost = sorted((one for one in changes if one.after < one.before - _SAME), key=lambda one: one.after - one.before)
    return Comparison(differences, tuple(won), tuple(lost))
