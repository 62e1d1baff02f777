"""Decides which bins an article is picked from. One strategy per class; `choose_allocator` knows when each applies."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from stockroom.orders.models import Order

SMALL_ORDER_LINES = 3


@dataclass(frozen=True)
class Bin:
    """A place on a shelf. `distance` is metres of walking from the packing table."""

    bin_id: str
    sku: str
    units: int
    distance: float
    best_before: date | None = None


@dataclass(frozen=True)
class Pick:
    bin_id: str
    units: int


class Allocator(ABC):
    """Takes units from bins in an order that the strategy decides."""

    def allocate(self, bins: Sequence[Bin], wanted: int) -> list[Pick]:
        """Return the picks; together they may be fewer than wanted when the shelves are empty."""
        picks: list[Pick] = []
        for one in self.arrange(bins, wanted):
            if wanted <= 0:
                break
            taken = min(one.units, wanted)
            if taken:
                picks.append(Pick(one.bin_id, taken))
                wanted -= taken
        return picks

    @abstractmethod
    def arrange(self, bins: Sequence[Bin], wanted: int) -> list[Bin]:
        """Return the bins in the order in which they are emptied."""


class FirstExpiredAllocator(Allocator):
    """Empties what spoils first; bins without a date come last."""

    def arrange(self, bins: Sequence[Bin], wanted: int) -> list[Bin]:
        return sorted(bins, key=lambda one: (one.best_before or date.max, one.distance))


class NearestBinAllocator(Allocator):
    """Walks as little as possible."""

    def arrange(self, bins: Sequence[Bin], wanted: int) -> list[Bin]:
        return sorted(bins, key=lambda one: one.distance)


class FewestStopsAllocator(Allocator):
    """Prefers one bin that has everything to several near ones."""

    def arrange(self, bins: Sequence[Bin], wanted: int) -> list[Bin]:
        enough = [one for one in bins if one.units >= wanted]
        if enough:
            return [min(enough, key=lambda one: (one.units, one.distance))]
        return sorted(bins, key=lambda one: (-one.units, one.distance))


def choose_allocator(order: Order) -> Allocator:
    """Return the strategy for an order: food by date, small orders by distance, large ones by stops."""
    if any(line.tax_category == "food" for line in order.lines):
        return FirstExpiredAllocator()
    if len(order.lines) <= SMALL_ORDER_LINES:
        return NearestBinAllocator()
    return FewestStopsAllocator()
