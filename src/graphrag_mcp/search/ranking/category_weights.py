"""Weights of the lists by the kind of a chunk's file, off by default; the setting `category_weights` turns them on."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from graphrag_mcp.model.search import ListSource
from graphrag_mcp.search.ranking.ranked_lists import RankedList
from graphrag_mcp.search.retrieval import Lookups
from graphrag_mcp.settings import RetrievalSettings

EVEN = 0.5

Share: TypeAlias = Callable[[int, ListSource], float]  # The share of a list in the score of a chunk, 0 to 1.


def balanced(_chunk_id: int, _source: ListSource) -> float:
    """Weigh every list alike, whatever the chunk's category."""
    return EVEN


def share_by_category(lists: Sequence[RankedList], lookups: Lookups, settings: RetrievalSettings) -> Share:
    """Return the share of each list in a chunk's score by its file's category; balanced without such weights."""
    if not settings.category_weights:
        return balanced
    files = lookups.stores.catalog.files([item.chunk_id for ranked in lists for item in ranked.items])

    def share(chunk_id: int, source: ListSource) -> float:
        file = files.get(chunk_id)
        vectors = settings.category_weights.get(file.category, EVEN) if file is not None else EVEN
        return {ListSource.VECTOR: vectors, ListSource.KEYWORD: 1 - vectors}.get(source, EVEN)

    return share
