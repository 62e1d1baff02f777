"""Proposes what to buy, from what was sold and how long each supplier takes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stockroom.inventory.levels import StockLevel, low_stock

SERVICE_FACTOR = 1.65  # 95 % of the weeks without a gap


@dataclass(frozen=True)
class PurchaseProposal:
    sku: str
    units: int
    supplier: str


def safety_stock(daily_sales: Sequence[int], lead_days: int) -> int:
    """Return the units that cover an unusually good week while a delivery is under way."""
    if len(daily_sales) < 2:
        return 0
    mean = sum(daily_sales) / len(daily_sales)
    variance = sum((sold - mean) ** 2 for sold in daily_sales) / (len(daily_sales) - 1)
    return math.ceil(SERVICE_FACTOR * math.sqrt(variance * lead_days))


def suggest_reorders(
    levels: Iterable[StockLevel], sales: Mapping[str, Sequence[int]], lead_days: Mapping[str, int], supplier: str
) -> list[PurchaseProposal]:
    """Return one proposal per article that runs low: up to its target, plus the safety stock."""
    proposals = []
    for level in low_stock(levels):
        extra = safety_stock(sales.get(level.sku, ()), lead_days.get(level.sku, 7))
        proposals.append(PurchaseProposal(level.sku, level.target - level.on_hand + extra, supplier))
    return proposals
