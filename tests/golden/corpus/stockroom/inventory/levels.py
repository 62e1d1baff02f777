"""Stock levels: what is on hand, what may still be promised, and what has to be bought."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Movement(Enum):
    """Why a stock level changed."""

    RECEIPT = "receipt"
    PICK = "pick"
    COUNT = "count"
    DAMAGE = "damage"
    TRANSFER = "transfer"


@dataclass(frozen=True)
class StockLevel:
    sku: str
    on_hand: int
    reorder_point: int
    target: int

    @property
    def is_low(self) -> bool:
        return self.on_hand <= self.reorder_point


def available_to_promise(on_hand: int, reserved: Iterable[int]) -> int:
    """Return how many units nobody has been promised yet; never less than none."""
    return max(0, on_hand - sum(reserved))


def adjust_level(connection: Any, sku: str, change: int, movement: Movement, note: str = "") -> int:
    """Change what is on hand, write the movement to the ledger and return the new level.

    Raises ValueError rather than letting the level fall below zero: a shelf cannot owe us anything.
    """
    level = int(connection.fetch_value("SELECT on_hand FROM stock_levels WHERE sku = %s FOR UPDATE", (sku,)))
    if level + change < 0:
        raise ValueError(f"{sku}: {level} on hand, cannot take away {-change}")
    connection.execute("UPDATE stock_levels SET on_hand = on_hand + %s WHERE sku = %s", (change, sku))
    connection.execute(
        "INSERT INTO stock_movements (sku, change, movement, note) VALUES (%s, %s, %s, %s)",
        (sku, change, movement.value, note),
    )
    return level + change


def low_stock(levels: Iterable[StockLevel]) -> Iterator[StockLevel]:
    """Yield the articles at or below their reorder point, the emptiest shelf first."""
    yield from sorted((level for level in levels if level.is_low), key=lambda level: level.on_hand)
