"""A candidate with its final score, as the phases after ranking read it."""

from typing import NamedTuple

from graphrag_mcp.model.search import Factor, StoredFile
from graphrag_mcp.search.ranking.ranked_lists import Fused


class Scored(NamedTuple):
    """A candidate with its final score.

    rank_in_file: the number of better candidates of the same file. moved_by: the definition by which it got its place
    among them, "" where it shows none; None where its own score gave it that place. moved_as: by what order.
    terms: of a reranker or of several phrasings; they replace all other terms. phrasings: those that found it, from 1.
    """

    score: float
    fused: Fused
    file: StoredFile
    rank_in_file: int
    moved_by: str | None = None
    moved_as: str = "order in file"
    terms: tuple[Factor, ...] | None = None
    phrasings: tuple[int, ...] = ()
