"""Selects the hits to show from the ranked candidates: threshold, duplicates, cap per document, limit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphrag_mcp.model.search import CompressionStats, Hit, SearchRequest, StoredChunk
from graphrag_mcp.ports import Matrix
from graphrag_mcp.search.pipeline import Pipeline, archived_copies
from graphrag_mcp.search.ranking.ranker import Ranker, Scored
from graphrag_mcp.search.retrieval import Content

RUNNERS_UP = 3

ReadContents = Callable[[Sequence[int]], Mapping[int, Content]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The hits to show, the next best after them, and how many each stage left. floor: the lowest score allowed."""

    hits: Sequence[Hit]
    runners_up: Sequence[Hit]
    stats: CompressionStats
    floor: float


def select(ranker: Ranker, order: Sequence[Scored], request: SearchRequest, read: ReadContents) -> Selection:
    """Return the hits to show. read: returns chunks by id with their vectors; called for no more than needed."""
    settings = ranker.settings
    floor = request.min_score if request.min_score is not None else settings.min_score or 0.0
    above = [scored for scored in order if scored.fused.score >= floor]
    pipeline = Pipeline(settings, request.limit + RUNNERS_UP, request.chunks_per_document, _copies(above, read))
    stats = pipeline.run(_hits(ranker, above, read, 2 * request.limit), len(order), len(above), request.limit)
    return Selection(pipeline.kept[: request.limit], pipeline.kept[request.limit :], stats, floor)


def _hits(
    ranker: Ranker, order: Sequence[Scored], read: ReadContents, block: int
) -> Iterator[tuple[Hit, Matrix | None]]:
    """Read the ranked candidates a block at a time: few of them are needed."""
    for start in range(0, len(order), block):
        wanted = order[start : start + block]
        contents = read([scored.fused.chunk_id for scored in wanted])
        for scored in wanted:
            if scored.fused.chunk_id in contents:
                chunk, vector = contents[scored.fused.chunk_id]
                yield ranker.explain(scored, chunk), vector


def _copies(order: Sequence[Scored], read: ReadContents) -> dict[int, tuple[StoredChunk, ...]]:
    """Return the archived copies among the candidates; nothing is read unless one is archived."""
    if not any(scored.file.archive for scored in order):
        return {}
    contents = read([scored.fused.chunk_id for scored in order])
    ids = (scored.fused.chunk_id for scored in order)
    return archived_copies(contents[chunk_id][0] for chunk_id in ids if chunk_id in contents)
