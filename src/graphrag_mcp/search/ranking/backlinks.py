"""A boost for files that many others refer to, off by default; `backlink_boost_weight` turns it on."""

from collections.abc import Mapping, Sequence

from graphrag_mcp.model.search import StoredFile
from graphrag_mcp.search.retrieval import Lookups
from graphrag_mcp.settings import RetrievalSettings


def count(
    chunk_ids: Sequence[int], files: Mapping[int, StoredFile], lookups: Lookups, settings: RetrievalSettings
) -> Mapping[int, int]:
    """Return by file id how many other files call, import or link to the chunks' files; empty when the boost is off."""
    if not settings.backlink_boost_weight:
        return {}
    counts = dict(lookups.in_graph(lambda graph: list(graph.backlinks(chunk_ids).items())))
    return {files[chunk_id].file_id: number for chunk_id, number in counts.items() if chunk_id in files}


def boost(number: int, settings: RetrievalSettings) -> float:
    """Return the factor of a file with this number of backlinks: 1 + weight · min(number, cap)."""
    return 1.0 + settings.backlink_boost_weight * min(number, settings.backlink_boost_cap)
