"""The weighted sum of normalised scores, for indexes that were tuned with it: `fusion_algorithm = "weighted"`."""

from collections.abc import Sequence

from graphrag_mcp.model.search import ListSource
from graphrag_mcp.search.ranking.ranked_lists import Fused, RankedList, best_first, normalised, ranks_of

_WEIGHTS = {ListSource.VECTOR: 1.0, ListSource.KEYWORD: 0.5}  # Those of its design.


def fuse_weighted(lists: Sequence[RankedList]) -> list[Fused]:
    """Fuse by score: each list min-max normalised to 0 to 1, then summed by weight. A flat list counts as 1."""
    ranks = ranks_of(lists)
    total_weight = sum(_WEIGHTS.get(ranked.source, ranked.weight) for ranked in lists) or 1.0
    scores = dict.fromkeys(ranks, 0.0)
    for ranked in lists:
        weight = _WEIGHTS.get(ranked.source, ranked.weight)
        for chunk_id, share in normalised({item.chunk_id: item.score for item in ranked.items}).items():
            scores[chunk_id] += weight * share
    return best_first([Fused(chunk_id, scores[chunk_id] / total_weight, ranks[chunk_id]) for chunk_id in ranks])
