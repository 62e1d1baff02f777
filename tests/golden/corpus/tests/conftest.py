"""What all tests share: a stock store in memory, a payment gateway that says yes, and some articles."""

from datetime import UTC, datetime

import pytest

from stockroom.inventory.reservations import Reservation
from stockroom.money import Money
from stockroom.orders.models import Address, Customer, OrderLine


class MemoryStock:
    """A StockStore without a database; it remembers which rows were locked."""

    def __init__(self, on_hand: dict[str, int]) -> None:
        self._on_hand = on_hand
        self._held: dict[tuple[int, str], Reservation] = {}
        self.locked: list[str] = []

    def lock(self, sku: str) -> None:
        self.locked.append(sku)

    def on_hand(self, sku: str) -> int:
        return self._on_hand.get(sku, 0)

    def reservations(self, sku: str) -> list[Reservation]:
        return [one for one in self._held.values() if one.sku == sku]

    def put(self, reservation: Reservation) -> None:
        self._held[reservation.order_id, reservation.sku] = reservation

    def remove(self, order_id: int, sku: str) -> bool:
        return self._held.pop((order_id, sku), None) is not None


class FakeGateway:
    """Approves everything and keeps a list of what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def authorise(self, amount: Money, idempotency_key: str) -> str:
        self.calls.append(("authorise", amount))
        return f"ref-{idempotency_key}"

    def void(self, reference: str) -> None:
        self.calls.append(("void", reference))


@pytest.fixture
def stock() -> MemoryStock:
    return MemoryStock({"TEA-1001": 5, "MUG-2002": 1})


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def now() -> datetime:
    return datetime(2024, 5, 17, 12, 0, tzinfo=UTC)


@pytest.fixture
def customer() -> Customer:
    home = Address("Ada Brook", "Mill Lane 4", "Hamburg", "20095", "DE")
    return Customer(7, "ada@example.test", home)


@pytest.fixture
def tea() -> OrderLine:
    return OrderLine("TEA-1001", 2, Money(899), "food")
