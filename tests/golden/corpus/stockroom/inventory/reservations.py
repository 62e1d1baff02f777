"""Promises of stock: a reservation holds units for an order until it is picked, released or runs out.

Reservations are taken when an order is placed, not when something lands in a basket (ADR 7).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from stockroom.inventory.levels import available_to_promise

DEFAULT_MINUTES = 20


@dataclass(frozen=True)
class Reservation:
    order_id: int
    sku: str
    units: int
    expires_at: datetime

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at <= now


class StockStore(Protocol):
    """What reservations need of the tables; `lock` holds the row of an article until the transaction ends."""

    def lock(self, sku: str) -> None: ...
    def on_hand(self, sku: str) -> int: ...
    def reservations(self, sku: str) -> list[Reservation]: ...
    def put(self, reservation: Reservation) -> None: ...
    def remove(self, order_id: int, sku: str) -> bool: ...


def reserve_stock(
    store: StockStore, order_id: int, sku: str, units: int, minutes: int = DEFAULT_MINUTES, now: datetime | None = None
) -> bool:
    """Promise units of an article to an order; False when there are not enough.

    The article's row is locked first, so two orders that want the last unit cannot both have it.
    """
    now = now or datetime.now(UTC)
    store.lock(sku)
    held = [one for one in store.reservations(sku) if not one.is_expired(now)]
    if available_to_promise(store.on_hand(sku), (one.units for one in held)) < units:
        return False
    store.put(Reservation(order_id, sku, units, now + timedelta(minutes=minutes)))
    return True


def release_reservation(store: StockStore, order_id: int, sku: str) -> bool:
    """Give the units of an order back; False when it held none, which is no error: it may have run out."""
    store.lock(sku)
    return store.remove(order_id, sku)


def extend_reservation(store: StockStore, order_id: int, sku: str, minutes: int) -> Reservation | None:
    """Let a reservation last longer, for a customer who is typing in a card number."""
    store.lock(sku)
    for held in store.reservations(sku):
        if held.order_id == order_id:
            longer = replace(held, expires_at=held.expires_at + timedelta(minutes=minutes))
            store.put(longer)
            return longer
    return None


def expire_reservations(store: StockStore, skus: Iterable[str], now: datetime) -> int:
    """Remove the reservations that have run out, and return how many there were."""
    removed = 0
    for sku in skus:
        store.lock(sku)
        for held in store.reservations(sku):
            if held.is_expired(now):
                removed += store.remove(held.order_id, sku)
    return removed
