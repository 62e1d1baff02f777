"""Scores ranked results against queries whose answers are known, and explains the misses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields

from graphrag_mcp.evaluation.judged import JudgedQuery, Location, Target

CUTOFF = 10

FindReason = Callable[[str], str]
AskDeep = Callable[[JudgedQuery], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Scores:
    """Measures of one answer, or their means; each from 0 to 1, over the first ten results.

    chunk_ndcg: NDCG over the list of chunks, where a target counts at the first chunk that overlaps it.
    file_ndcg: NDCG over the list of distinct files. mrr, precision3, hit1, hit5: on that list too.
    span10: 1 when one of the first ten chunks overlaps a target, else 0.
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
    """A query without a relevant file among the first ten, with the reason for each relevant file."""

    query: JudgedQuery
    reasons: tuple[str, ...]


def score(query: JudgedQuery, locations: Sequence[Location]) -> Scores:
    """Score one ranked list, best first."""
    target_ranks = [rank for rank in (_rank(target, locations[:CUTOFF]) for target in query.targets) if rank]
    files = list(dict.fromkeys(path for path, _, _ in locations))[:CUTOFF]
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

    why_absent: returns why a file cannot be found, "" when it can. ask_deep: returns all candidates' paths, best first.
    """
    ranked = list(dict.fromkeys(ask_deep(query)))
    return Miss(query, tuple(f"{path}: {_reason(path, ranked, why_absent)}" for path in sorted(query.relevant)))


def _rank(target: Target, locations: Sequence[Location]) -> int:
    """Return the rank of the first chunk that overlaps the target, from 1; 0 when none does."""
    for rank, (path, start, end) in enumerate(locations, 1):
        if path in target.paths and _overlaps(target, start, end):
            return rank
    return 0


def _overlaps(target: Target, start: int | None, end: int | None) -> bool:
    if target.start_line is None or target.end_line is None or start is None or end is None:
        return True
    return start <= target.end_line and end >= target.start_line


def _ndcg(ranks: Sequence[int], right: int) -> float:
    """Return the NDCG; two targets in one chunk count once."""
    ideal = sum(_gain(rank) for rank in range(1, min(CUTOFF, right) + 1))
    return sum(_gain(rank) for rank in set(ranks)) / ideal if ideal else 0.0


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _reason(path: str, ranked: Sequence[str], why_absent: FindReason) -> str:
    if absent := why_absent(path):
        return absent
    if path not in ranked:
        return "not a candidate: neither its words nor its vector match"
    rank = ranked.index(path) + 1
    if rank <= CUTOFF:
        return f"file {rank}, behind several chunks of other files"
    return f"ranked low: file {rank} of {len(ranked)} candidates"
