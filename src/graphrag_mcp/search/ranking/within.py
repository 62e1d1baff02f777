"""Orders the hits of one file by the definitions that they show.

A file's hits share its bonuses, and their texts repeat each other's words: which of its functions is meant, their
names, signatures and callees decide best; the question's wording, which chose the file, would repeat its texts. The
k-th best hit takes the k-th place that the file has already, so the order of files cannot change.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.ranking.scored import Move, Scored
from graphrag_mcp.search.ranking.sketches import FileSketches
from graphrag_mcp.search.ranking.wording import WORDING

FILES = 10  # The first ones of a search are put in order.
_NO_DEFINITION = (0.0, "")

ReadSketches = Callable[[Collection[int]], Mapping[int, FileSketches]]


def order_within_files(
    order: Sequence[Scored], query: Matrix, read: ReadSketches, *, asks_for_behaviour: bool = False
) -> list[Scored]:
    """Return the hits with those of each of the first files in the order of their definitions.

    query: its vector. asks_for_behaviour: whether types come after functions. A hit that was moved to its place stays
    before the others of its file.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, scored in enumerate(order):
        places[scored.file.file_id].append(place)
    several = [file_id for file_id in list(places)[:FILES] if len(places[file_id]) > 1]
    changed = list(order)
    for file_id, sketches in read(several).items():
        hits = [order[place] for place in places[file_id]]
        gains = _gains(hits, sketches, sketches.gains(query, asks_for_behaviour=asks_for_behaviour))
        shown = [(hit, *gains.get(hit.fused.chunk_id, _NO_DEFINITION)) for hit in hits]
        shown.sort(key=lambda row: (row[0].moved is None, -(_without_wording(row[0]) + row[1])))
        for place, before, (hit, _, name) in zip(places[file_id], hits, shown, strict=True):
            if hit is not before:
                changed[place] = hit._replace(score=before.score, place=before.place, moved=Move("order in file", name))
    return changed


def _without_wording(hit: Scored) -> float:
    return hit.base - sum(factor.value for factor in hit.own if factor.name == WORDING)


def _gains(hits: Sequence[Scored], sketches: FileSketches, gains: Matrix) -> dict[int, tuple[float, str]]:
    """Return gain and name of the best definition that each hit shows, by chunk id.

    Of a definition that was cut into several chunks, only the best of them shows it.
    """
    fused = {hit.fused.chunk_id: hit.fused.score for hit in hits}
    best: dict[int, tuple[float, str]] = {}
    for definition, shown, gain in zip(sketches.sketches, sketches.shown, gains.tolist(), strict=True):
        known = [chunk_id for chunk_id in shown if chunk_id in fused]
        if known:
            chunk_id = max(known, key=fused.__getitem__)
            if gain > best.get(chunk_id, _NO_DEFINITION)[0]:
                best[chunk_id] = (gain, definition.symbol.name)
    return best
