"""Merges ranked lists into one score per chunk: by relative score, by reciprocal rank, or the legacy weighted sum."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrag_mcp.model.search import Ranked


@dataclass(frozen=True, slots=True)
class RankedList:
    """One source's answer. `weight`: its say in the fusion.

    others: the source's scores of chunks that it did not propose itself, where they are known.
    """

    source: str
    items: Sequence[Ranked]
    weight: float = 1.0
    others: Mapping[int, float] = field(default_factory=dict)


class Fused(NamedTuple):
    """A chunk's score after fusion, 0 to 1, with its place in each list that has it."""

    chunk_id: int
    score: float
    ranks: Mapping[str, int]


EVEN = 0.5

Share = Callable[[int, str], float]


def balanced(_chunk_id: int, _source: str) -> float:
    """Give every list the same say, whatever the chunk's category."""
    return EVEN


def fuse_rrf(lists: Sequence[RankedList], k: int, share: Share = balanced) -> list[Fused]:
    """Fuse by rank alone: score(d) = Σ_s 2·c_s(d)·w_s / (k + rank_s(d)), ranks from 1 (Cormack et al., SIGIR 2009).

    `share(chunk_id, source)` is c: the part of the say that the chunk's category gives to the source, 0.5 for plain
    RRF. The score is divided by what the first place in every list would give, so that 1 means "first everywhere",
    whatever the query. Ties: more sources first, then the smaller id.
    """
    best_possible = sum(one.weight for one in lists) / (k + 1) or 1.0
    ranks: dict[int, dict[str, int]] = {}
    totals: dict[int, float] = {}
    for one in lists:
        for rank, (chunk_id, _) in enumerate(one.items, 1):
            places = ranks.setdefault(chunk_id, {})
            if one.source not in places:
                places[one.source] = rank
                part = 1.0 if share is balanced else 2 * share(chunk_id, one.source)
                totals[chunk_id] = totals.get(chunk_id, 0.0) + part * one.weight / (k + rank)
    return _in_order([Fused(chunk_id, total / best_possible, ranks[chunk_id]) for chunk_id, total in totals.items()])


def fuse_relative(lists: Sequence[RankedList], share: Share = balanced) -> list[Fused]:
    """Fuse by score: score(d) = Σ_s 2·c_s(d)·w_s·max(0, s(d)) / best_s, divided by Σ w, so that 1 is best everywhere.

    Both cosines and BM25 have a zero that means "nothing in common", so a share of the best score keeps what a rank
    throws away: by how much the first is better than the second. `share` is that of `fuse_rrf`.
    """
    total_weight = sum(one.weight for one in lists if one.items) or 1.0
    ranks = _ranks(lists)
    totals = dict.fromkeys(ranks, 0.0)
    for one in lists:
        best = max((item.score for item in one.items), default=0.0)
        if best <= 0:
            continue
        scale = one.weight / (best * total_weight)
        for scores in (one.items, one.others.items()):
            for chunk_id, score in scores:
                if score > 0 and chunk_id in totals:
                    part = 1.0 if share is balanced else 2 * share(chunk_id, one.source)
                    totals[chunk_id] += part * scale * score
    return _in_order([Fused(chunk_id, total, ranks[chunk_id]) for chunk_id, total in totals.items()])


def fuse_weighted(lists: Sequence[RankedList]) -> list[Fused]:
    """Fuse by score: each list min-max normalised to 0 to 1, then summed by weight. A flat list counts 1."""
    ranks = _ranks(lists)
    total_weight = sum(one.weight for one in lists) or 1.0
    scores = dict.fromkeys(ranks, 0.0)
    for one in lists:
        if not one.items:
            continue
        high, low = max(item.score for item in one.items), min(item.score for item in one.items)
        for item in one.items:
            scores[item.chunk_id] += one.weight * ((item.score - low) / (high - low) if high > low else 1.0)
    return _in_order([Fused(chunk_id, scores[chunk_id] / total_weight, ranks[chunk_id]) for chunk_id in ranks])


def _ranks(lists: Sequence[RankedList]) -> dict[int, dict[str, int]]:
    ranks: dict[int, dict[str, int]] = {}
    for one in lists:
        for rank, item in enumerate(one.items, 1):
            ranks.setdefault(item.chunk_id, {}).setdefault(one.source, rank)
    return ranks


def _in_order(fused: list[Fused]) -> list[Fused]:
    return sorted(fused, key=lambda one: (-one.score, -len(one.ranks), one.chunk_id))
