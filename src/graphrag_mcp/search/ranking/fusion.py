"""Merges ranked lists into one score per chunk: by relative score, by reciprocal rank, or by weighted score."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from graphrag_mcp.model.search import FusionMethod, ListSource, Ranked
from graphrag_mcp.settings import RetrievalSettings

EVEN = 0.5  # The share of the vectors in a chunk's score where its category has no weight.
# Those of the design of `fusion_algorithm = "weighted"`, for indexes that were tuned with it.
_WEIGHTS = {ListSource.VECTOR: 1.0, ListSource.KEYWORD: 0.5}
_NO_SHARES: Mapping[int, float] = {}


class RankedList(Struct, frozen=True):
    """The chunks that one source proposes, best first.

    weight: of the source in the fusion. others: its scores of chunks that it does not propose, where they are known.
    """

    source: ListSource
    items: Sequence[Ranked]
    weight: float = 1.0
    others: Mapping[int, float] = field(default_factory=dict)


class Fused(NamedTuple):
    """A chunk's score after fusion, 0 to 1, with its rank in each list that has it."""

    chunk_id: int
    score: float
    ranks: Mapping[ListSource, int]


def fuse(
    lists: Sequence[RankedList], method: FusionMethod, settings: RetrievalSettings, shares: Mapping[int, float]
) -> list[Fused]:
    """Merge the lists by a method, or rank by vectors alone. shares: see `fuse_rrf`."""
    match method:
        case FusionMethod.SEMANTIC_ONLY:
            vectors = [ranked for ranked in lists if ranked.source is ListSource.VECTOR]
            return fuse_rrf(vectors, settings.rrf_k)
        case FusionMethod.WEIGHTED:
            return fuse_weighted(lists)
        case FusionMethod.RRF:
            return fuse_rrf(lists, settings.rrf_k, shares)
        case FusionMethod.RELATIVE:
            return fuse_relative(lists, shares)


def fuse_rrf(lists: Sequence[RankedList], k: int, shares: Mapping[int, float] = _NO_SHARES) -> list[Fused]:
    """Fuse by rank alone: score(d) = Σ_s 2·c_s(d)·w_s / (k + rank_s(d)), ranks from 1 (Cormack et al., SIGIR 2009).

    c is the part of the weight that the chunk's category gives to the source, 0.5 for plain RRF. shares: c of the
    vectors by chunk id; the keywords get the rest. The score is divided by that of a chunk that is first in every list,
    so that 1 means "first everywhere", whatever the query. Ties: more sources first, then the smaller id.
    """
    best_possible = sum(ranked.weight for ranked in lists) / (k + 1) or 1.0
    weights = {ranked.source: ranked.weight for ranked in lists}
    fused = []
    for chunk_id, ranks in _ranks(lists).items():
        vectors = shares.get(chunk_id, EVEN)
        total = sum(_part(vectors, source) * weights[source] / (k + rank) for source, rank in ranks.items())
        fused.append(Fused(chunk_id, total / best_possible, ranks))
    return _best_first(fused)


def fuse_relative(lists: Sequence[RankedList], shares: Mapping[int, float] = _NO_SHARES) -> list[Fused]:
    """Fuse relative scores: score(d) = Σ_s 2·c_s(d)·w_s·max(0, s(d)) / best_s, divided by Σ w; 1 is best everywhere.

    Both cosines and BM25 have a zero that means "nothing in common", so a score relative to the best one keeps what a
    rank discards: by how much the first is better than the second. c, shares: those of `fuse_rrf`.
    """
    total_weight = sum(ranked.weight for ranked in lists if ranked.items) or 1.0
    ranks = _ranks(lists)
    totals = dict.fromkeys(ranks, 0.0)
    for ranked in lists:
        best = max((item.score for item in ranked.items), default=0.0)
        if best <= 0:
            continue
        scale = ranked.weight / (best * total_weight)
        for scores in (ranked.items, ranked.others.items()):
            for chunk_id, score in scores:
                if score > 0 and chunk_id in totals:
                    part = _part(shares.get(chunk_id, EVEN), ranked.source) if shares else 1.0
                    totals[chunk_id] += part * scale * score
    return _best_first([Fused(chunk_id, total, ranks[chunk_id]) for chunk_id, total in totals.items()])


def fuse_weighted(lists: Sequence[RankedList]) -> list[Fused]:
    """Fuse by score: each list min-max normalised to 0 to 1, then summed by weight. A flat list counts as 1."""
    ranks = _ranks(lists)
    total_weight = sum(_WEIGHTS.get(ranked.source, ranked.weight) for ranked in lists) or 1.0
    scores = dict.fromkeys(ranks, 0.0)
    for ranked in lists:
        weight = _WEIGHTS.get(ranked.source, ranked.weight)
        for chunk_id, share in normalised(dict(ranked.items)).items():
            scores[chunk_id] += weight * share
    return _best_first([Fused(chunk_id, score / total_weight, ranks[chunk_id]) for chunk_id, score in scores.items()])


def normalised(scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores stretched to 0 to 1; where all are equal, each is 1."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def relative(scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores by the best one; none where that is not above 0."""
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}


def _part(vectors: float, source: ListSource) -> float:
    """Return twice the share of a list in a chunk's score. vectors: that of the vectors, 0 to 1."""
    return 2 * {ListSource.VECTOR: vectors, ListSource.KEYWORD: 1 - vectors}.get(source, EVEN)


def _ranks(lists: Sequence[RankedList]) -> dict[int, dict[ListSource, int]]:
    ranks: dict[int, dict[ListSource, int]] = {}
    for ranked in lists:
        for rank, item in enumerate(ranked.items, 1):
            ranks.setdefault(item.chunk_id, {}).setdefault(ranked.source, rank)
    return ranks


def _best_first(fused: list[Fused]) -> list[Fused]:
    """Return the chunks in the order of their scores; ties: more sources first, then the smaller id."""
    return sorted(fused, key=lambda candidate: (-candidate.score, -len(candidate.ranks), candidate.chunk_id))
