"""The ranked lists that are merged, and the merged one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrag_mcp.model.search import ListSource, Ranked


@dataclass(frozen=True, slots=True)
class RankedList:
    """The chunks that one source proposes, best first.

    weight: of the source in the fusion. others: its scores of chunks that it does not propose, where they are known.
    """

    source: ListSource
    items: Sequence[Ranked]
    weight: float = 1.0
    others: Mapping[int, float] = field(default_factory=dict)

    @property
    def scores(self) -> dict[int, float]:
        """All known scores of the source, by chunk id."""
        return {**dict(self.items), **self.others}


class Fused(NamedTuple):
    """A chunk's score after fusion, 0 to 1, with its rank in each list that has it."""

    chunk_id: int
    score: float
    ranks: Mapping[ListSource, int]


def ranks_of(lists: Sequence[RankedList]) -> dict[int, dict[ListSource, int]]:
    """Return the rank of each chunk in each list that has it, from 1."""
    ranks: dict[int, dict[ListSource, int]] = {}
    for ranked in lists:
        for rank, item in enumerate(ranked.items, 1):
            ranks.setdefault(item.chunk_id, {}).setdefault(ranked.source, rank)
    return ranks


def best_first(fused: list[Fused]) -> list[Fused]:
    """Return the chunks in the order of their scores; ties: more sources first, then the smaller id."""
    return sorted(fused, key=lambda candidate: (-candidate.score, -len(candidate.ranks), candidate.chunk_id))


def normalised(scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores stretched to 0 to 1; where all are equal, each is 1."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}
