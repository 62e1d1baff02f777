"""Merges ranked lists into one score per chunk: by relative score or by reciprocal rank."""

from collections.abc import Sequence

from graphrag_mcp.model.search import FusionMethod, ListSource
from graphrag_mcp.search.ranking.category_weights import Share, balanced
from graphrag_mcp.search.ranking.ranked_lists import Fused, RankedList, best_first, ranks_of
from graphrag_mcp.search.ranking.weighted_fusion import fuse_weighted
from graphrag_mcp.settings import RetrievalSettings


def fuse(
    lists: Sequence[RankedList], method: FusionMethod, settings: RetrievalSettings, share: Share = balanced
) -> list[Fused]:
    """Merge the lists by a method, or rank by vectors alone. share: see `fuse_rrf`."""
    match method:
        case FusionMethod.SEMANTIC_ONLY:
            vectors = [ranked for ranked in lists if ranked.source is ListSource.VECTOR]
            return fuse_rrf(vectors, settings.rrf_k)
        case FusionMethod.WEIGHTED:
            return fuse_weighted(lists)
        case FusionMethod.RRF:
            return fuse_rrf(lists, settings.rrf_k, share)
        case FusionMethod.RELATIVE:
            return fuse_relative(lists, share)


def fuse_rrf(lists: Sequence[RankedList], k: int, share: Share = balanced) -> list[Fused]:
    """Fuse by rank alone: score(d) = Σ_s 2·c_s(d)·w_s / (k + rank_s(d)), ranks from 1 (Cormack et al., SIGIR 2009).

    `share(chunk_id, source)` is c: the part of the weight that the chunk's category gives to the source, 0.5 for plain
    RRF. The score is divided by that of a chunk that is first in every list, so that 1 means "first everywhere",
    whatever the query. Ties: more sources first, then the smaller id.
    """
    best_possible = sum(ranked.weight for ranked in lists) / (k + 1) or 1.0
    weights = {ranked.source: ranked.weight for ranked in lists}
    fused = []
    for chunk_id, ranks in ranks_of(lists).items():
        total = sum(2 * share(chunk_id, source) * weights[source] / (k + rank) for source, rank in ranks.items())
        fused.append(Fused(chunk_id, total / best_possible, ranks))
    return best_first(fused)


def fuse_relative(lists: Sequence[RankedList], share: Share = balanced) -> list[Fused]:
    """Fuse relative scores: score(d) = Σ_s 2·c_s(d)·w_s·max(0, s(d)) / best_s, divided by Σ w; 1 is best everywhere.

    Both cosines and BM25 have a zero that means "nothing in common", so a score relative to the best one keeps what a
    rank discards: by how much the first is better than the second. `share` is that of `fuse_rrf`.
    """
    total_weight = sum(ranked.weight for ranked in lists if ranked.items) or 1.0
    ranks = ranks_of(lists)
    totals = dict.fromkeys(ranks, 0.0)
    for ranked in lists:
        best = max((item.score for item in ranked.items), default=0.0)
        if best <= 0:
            continue
        scale = ranked.weight / (best * total_weight)
        for scores in (ranked.items, ranked.others.items()):
            for chunk_id, score in scores:
                if score > 0 and chunk_id in totals:
                    part = 1.0 if share is balanced else 2 * share(chunk_id, ranked.source)
                    totals[chunk_id] += part * scale * score
    return best_first([Fused(chunk_id, total, ranks[chunk_id]) for chunk_id, total in totals.items()])
