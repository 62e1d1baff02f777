"""Scores ranked results against queries whose answers are known, and explains the misses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields

from graphrag_mcp.evaluation.judged import JudgedQuery, Place, Target

CUTOFF = 10

FindReason = Callable[[str], str]
AskDeep = Callable[[JudgedQuery], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Scores:
    """Measures of one answer, or their means; each from 0 to 1, over the first ten places.

    chunk_ndcg: NDCG over the list of chunks, where a target counts at the first chunk that shows it.
    file_ndcg: NDCG over the list of distinct files. mrr, precision3, hit1, hit5: on that list too.
    span10: whether one of the first ten chunks shows a target.
    """

    chunk_ndcg: float
    file_ndcg: float
    mrr: float
    precision3: float
    hit1: float
    hit5: float
    span10: float


@dataclass(frozen=True, slots=True)
class Miss:
    """A query of which no relevant file is among the first ten, with the reason for each of those files."""

    query: JudgedQuery
    reasons: tuple[str, ...]


def score(query: JudgedQuery, places: Sequence[Place]) -> Scores:
    """Score one ranked list, best first."""
    target_ranks = [rank for rank in (_rank(target, places[:CUTOFF]) for target in query.targets) if rank]
    files = list(dict.fromkeys(path for path, _, _ in places))[:CUTOFF]
    file_ranks = [rank for rank, path in enumerate(files, 1) if path in query.relevant]
    first = min(file_ranks, default=0)
    return Scores(
        chunk_ndcg=_ndcg(target_ranks, len(query.targets)),
        file_ndcg=_ndcg(file_ranks, len(query.relevant)),
        mrr=1 / first if first else 0.0,
        precision3=sum(rank <= 3 for rank in file_ranks) / min(3, len(query.relevant) or 1),
        hit1=float(first == 1),
        hit5=float(1 <= first <= 5),
        span10=float(bool(target_ranks)),
    )


def mean(scores: Sequence[Scores]) -> Scores:
    """Return the mean of each measure; all are 0 when there is nothing to average."""
    if not scores:
        return Scores(*[0.0] * len(fields(Scores)))
    return Scores(*(sum(column) / len(scores) for column in zip(*map(astuple, scores), strict=True)))


def diagnose(query: JudgedQuery, why_absent: FindReason, ask_deep: AskDeep) -> Miss:
    """Explain a miss.

    why_absent: why a file cannot be found, "" when it can. ask_deep: the paths of all candidates, best first.
    """
    ranked = list(dict.fromkeys(ask_deep(query)))
    return Miss(query, tuple(f"{path}: {_reason(path, ranked, why_absent)}" for path in sorted(query.relevant)))


def _rank(target: Target, places: Sequence[Place]) -> int:
    """Return the place of the first chunk that shows the target, from 1; 0 when none does."""
    for rank, (path, start, end) in enumerate(places, 1):
        if path in target.paths and _overlaps(target, start, end):
            return rank
    return 0


def _overlaps(target: Target, start: int | None, end: int | None) -> bool:
    if target.start_line is None or target.end_line is None or start is None or end is None:
        return True
    return start <= target.end_line and end >= target.start_line


def _ndcg(ranks: Sequence[int], right: int) -> float:
    """Two targets in one chunk gain once: a place in the list is one place."""
    ideal = sum(_gain(rank) for rank in range(1, min(CUTOFF, right) + 1))
    return sum(_gain(rank) for rank in set(ranks)) / ideal if ideal else 0.0


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _reason(path: str, ranked: Sequence[str], why_absent: FindReason) -> str:
    if absent := why_absent(path):
        return absent
    if path not in ranked:
        return "never a candidate: neither its words nor its meaning came near"
    place = ranked.index(path) + 1
    if place <= CUTOFF:
        return f"file {place}, behind several chunks of other files"
    return f"ranked low: file {place} of {len(ranked)} candidates"
