"""Finds the chunks at the locations that a question names."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from graphrag_mcp.model.search import Ranked
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.query.locations import Location
from graphrag_mcp.search.ranking.bonuses import names_path


def chunks_at(locations: Sequence[Location], paths: Sequence[Ranked], catalog: ChunkStore) -> Mapping[int, int]:
    """Return the named line of each chunk that contains one. paths: a chunk of each file that may be meant."""
    if not locations or not paths:
        return {}
    wanted: defaultdict[int, list[int]] = defaultdict(list)
    for file in catalog.files([item.chunk_id for item in paths]).values():
        wanted[file.file_id] += lines_in(locations, file.path)
    spans = catalog.spans([file_id for file_id, lines in wanted.items() if lines])
    return {
        chunk_id: line
        for file_id, chunks in spans.items()
        for chunk_id, (start, end) in chunks.items()
        for line in wanted[file_id]
        if start <= line <= end
    }


def lines_in(locations: Sequence[Location], path: str) -> list[int]:
    """Return the lines of a file that are named."""
    return [location.line for location in locations if names_path(location.path.lstrip("./"), path)]
