"""The vocabulary of orders: customers, addresses, lines, orders, shipments and returns.

Everything here is a plain value. What happens to an order is decided in `state` and `service`, what it costs in
`pricing`.
"""

import enum
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from stockroom.money import Money

_SKU = re.compile(r"^[A-Z]{3}-\d{4,6}(?:-[A-Z0-9]{1,4})?$")
_POSTCODE = {"DE": re.compile(r"^\d{5}$"), "GB": re.compile(r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$")}

MAX_LINES = 200
FREE_RETURN_DAYS = 30


class OrderStatus(enum.Enum):
    """The states of an order; `state.ALLOWED` says which follows which."""

    DRAFT = "draft"
    PLACED = "placed"
    PAID = "paid"
    PICKING = "picking"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"
    RETURNED = "returned"


class DiscountKind(enum.Enum):
    PERCENT = "percent"
    FIXED = "fixed"
    BUY_X_GET_Y = "buy_x_get_y"


@dataclass(frozen=True)
class Address:
    name: str
    street: str
    city: str
    postcode: str
    country: str

    def is_complete(self) -> bool:
        return all((self.name, self.street, self.city, self.postcode, self.country))

    def has_valid_postcode(self) -> bool:
        """Tell whether the postcode has the form of its country; countries we do not know are believed."""
        pattern = _POSTCODE.get(self.country)
        return pattern is None or bool(pattern.match(self.postcode.upper()))

    def one_line(self) -> str:
        return f"{self.name}, {self.street}, {self.postcode} {self.city}, {self.country}"


@dataclass(frozen=True)
class Customer:
    customer_id: int
    email: str
    default_address: Address | None = None
    tax_exempt: bool = False
    blocked_until: datetime | None = None

    def may_order(self, now: datetime) -> bool:
        return self.blocked_until is None or self.blocked_until <= now


@dataclass(frozen=True)
class Discount:
    code: str
    kind: DiscountKind
    value: Decimal
    minimum_total: Money | None = None
    expires_at: datetime | None = None

    def is_usable(self, total: Money, now: datetime) -> bool:
        if self.expires_at is not None and self.expires_at < now:
            return False
        return self.minimum_total is None or total.minor >= self.minimum_total.minor


@dataclass(frozen=True)
class TaxRate:
    country: str
    category: str
    percent: Decimal


@dataclass(frozen=True)
class OrderLine:
    """One article of an order. `allocated` counts the units that a bin has been found for."""

    sku: str
    quantity: int
    unit_price: Money
    tax_category: str = "standard"
    allocated: int = 0

    def __post_init__(self) -> None:
        if not is_sku(self.sku):
            raise ValueError(f"{self.sku!r} is not a stock keeping unit")
        if self.quantity < 1:
            raise ValueError("a line needs at least one unit")

    @property
    def net(self) -> Money:
        return self.unit_price.times(self.quantity)

    @property
    def missing(self) -> int:
        return self.quantity - self.allocated

    def allocate(self, units: int) -> "OrderLine":
        if not 0 <= units <= self.missing:
            raise ValueError(f"{units} units do not fit into {self.missing} missing ones")
        return replace(self, allocated=self.allocated + units)


@dataclass(frozen=True)
class Parcel:
    parcel_id: str
    weight_grams: int
    length_mm: int
    width_mm: int
    height_mm: int

    @property
    def volume_litres(self) -> Decimal:
        return Decimal(self.length_mm * self.width_mm * self.height_mm) / Decimal(1_000_000)


@dataclass(frozen=True)
class Shipment:
    shipment_id: str
    order_id: int
    carrier: str
    parcels: tuple[Parcel, ...]
    tracking_number: str = ""
    shipped_at: datetime | None = None

    @property
    def weight_grams(self) -> int:
        return sum(parcel.weight_grams for parcel in self.parcels)


@dataclass(frozen=True)
class ReturnRequest:
    order_id: int
    sku: str
    quantity: int
    reason: str
    requested_at: datetime

    def is_free(self, delivered_at: datetime) -> bool:
        """Tell whether the customer may send it back at our cost."""
        return (self.requested_at - delivered_at).days <= FREE_RETURN_DAYS


@dataclass(frozen=True)
class Order:
    """An order as it is stored. It never changes: a change returns a new one with a higher version."""

    order_id: int
    customer: Customer
    lines: tuple[OrderLine, ...]
    status: OrderStatus = OrderStatus.DRAFT
    shipping_address: Address | None = None
    discount: Discount | None = None
    payment_reference: str = ""
    version: int = 1
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        if len(self.lines) > MAX_LINES:
            raise ValueError(f"an order has at most {MAX_LINES} lines")

    @property
    def subtotal(self) -> Money:
        total = Money(0, self.currency)
        for line in self.lines:
            total += line.net
        return total

    @property
    def currency(self) -> str:
        return self.lines[0].unit_price.currency if self.lines else "EUR"

    @property
    def is_fully_allocated(self) -> bool:
        return all(line.missing == 0 for line in self.lines)

    def with_status(self, status: OrderStatus) -> "Order":
        return replace(self, status=status, version=self.version + 1)

    def with_lines(self, lines: Iterable[OrderLine]) -> "Order":
        return replace(self, lines=tuple(lines), version=self.version + 1)

    def line_for(self, sku: str) -> OrderLine | None:
        return next((line for line in self.lines if line.sku == sku), None)


def is_sku(text: str) -> bool:
    """Tell whether a text is a stock keeping unit: three letters, a number and perhaps a variant."""
    return bool(_SKU.match(text))


def merge_lines(lines: Iterable[OrderLine]) -> tuple[OrderLine, ...]:
    """Join lines of the same article and price, in the order in which they first appear."""
    merged: dict[tuple[str, Money], OrderLine] = {}
    for line in lines:
        key = (line.sku, line.unit_price)
        known = merged.get(key)
        merged[key] = line if known is None else replace(known, quantity=known.quantity + line.quantity)
    return tuple(merged.values())


def split_backorder(order: Order) -> tuple[tuple[OrderLine, ...], tuple[OrderLine, ...]]:
    """Return the lines that can be shipped now and those that have to wait for a delivery."""
    ready: list[OrderLine] = []
    waiting: list[OrderLine] = []
    for line in order.lines:
        if line.allocated:
            ready.append(replace(line, quantity=line.allocated))
        if line.missing:
            waiting.append(replace(line, quantity=line.missing, allocated=0))
    return tuple(ready), tuple(waiting)


def overdue(orders: Iterable[Order], now: datetime, days: int) -> Iterator[Order]:
    """Yield the orders that were placed too long ago and have not left the house."""
    open_states = {OrderStatus.PLACED, OrderStatus.PAID, OrderStatus.PICKING}
    for order in orders:
        if order.status in open_states and (now - order.created_at).days >= days:
            yield order
