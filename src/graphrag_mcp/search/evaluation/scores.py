"""Queries with known answers: reads them, scores ranked results against them, and explains the misses."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, fields

from graphrag_mcp.errors import RequestError
from graphrag_mcp.languages.registry import detect_language

CUTOFF = 10

# A location is a path, its first and its last line; None stands for the whole file.
Location = tuple[str, int | None, int | None]


class Target(Struct, frozen=True):
    """One right answer: any of `paths`; where the lines are known, any location that overlaps them."""

    paths: tuple[str, ...]
    start_line: int | None = None
    end_line: int | None = None


class JudgedQuery(Struct, frozen=True):
    """A query and its right answers. relevant: their files. language: that of the files."""

    id: str
    query: str
    category: str
    relevant: frozenset[str]
    targets: tuple[Target, ...]
    repo: str = ""
    language: str = ""


FindReason = Callable[[str], str]


class Scores(Struct, frozen=True):
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


class Miss(Struct, frozen=True):
    """A query without a relevant file among the first ten, with the reason for each relevant file."""

    query: JudgedQuery
    reasons: tuple[str, ...]


def read_queries(path: Path) -> list[JudgedQuery]:
    """Return the queries of a file; raises RequestError when it is not a list of queries."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return [_read_query(entry) for entry in entries if entry.get("usable", True)]
    except OSError as error:
        raise RequestError("QUERIES.json", f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        needed = "a list of objects with id, query, category, and targets with paths"
        raise RequestError("QUERIES.json", f"{path}: {type(error).__name__} {error}; expected {needed}") from None


def _read_query(entry: Mapping[str, Any]) -> JudgedQuery:
    targets = tuple(
        Target(tuple(target["paths"]), target.get("start_line"), target.get("end_line")) for target in entry["targets"]
    )
    relevant = entry.get("relevant") or [path for target in targets for path in target.paths]
    return JudgedQuery(
        id=entry["id"],
        query=entry["query"],
        category=entry["category"],
        relevant=frozenset(relevant),
        targets=targets,
        repo=entry.get("repo", ""),
        language=entry.get("language") or detect_language(relevant[0]) or "other",
    )


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


def diagnose(query: JudgedQuery, why_absent: FindReason, candidates: Iterable[str]) -> Miss:
    """Explain a miss.

    why_absent: returns why a file cannot be found, "" when it can. candidates: the paths of all, best first.
    """
    ranked = list(dict.fromkeys(candidates))
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
