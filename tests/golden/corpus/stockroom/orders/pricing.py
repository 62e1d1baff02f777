"""What an order costs: discounts first, then tax on what is left, then shipping."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from stockroom.money import Money
from stockroom.orders.models import Discount, DiscountKind, Order, OrderLine

FREE_SHIPPING_FROM = 5_000  # minor units
SHIPPING_FEE = 490

TaxRates = Mapping[tuple[str, str], Decimal]


@dataclass(frozen=True)
class PriceBreakdown:
    net: Money
    discount: Money
    tax: Money
    shipping: Money

    @property
    def total(self) -> Money:
        return self.net - self.discount + self.tax + self.shipping


def price_order(order: Order, rates: TaxRates, now: datetime) -> PriceBreakdown:
    """Return what the order costs; the discount is spread over the lines before each is taxed at its own rate."""
    net = order.subtotal
    discount = discount_for(order, now)
    shares = discount.split([line.net.minor for line in order.lines]) if discount.minor else []
    tax = Money(0, order.currency)
    for index, line in enumerate(order.lines):
        taxable = line.net - shares[index] if shares else line.net
        tax += tax_for_line(order, line, taxable, rates)
    return PriceBreakdown(net, discount, tax, shipping_fee(net - discount))


def discount_for(order: Order, now: datetime) -> Money:
    """Return how much the discount code takes off; never more than the order costs."""
    discount = order.discount
    if discount is None or not discount.is_usable(order.subtotal, now):
        return Money(0, order.currency)
    off = _amount_off(discount, order)
    return Money(min(off.minor, order.subtotal.minor), order.currency)


def tax_for_line(order: Order, line: OrderLine, taxable: Money, rates: TaxRates) -> Money:
    """Return the value added tax on one line, by the country it is shipped to; exempt customers pay none."""
    if order.customer.tax_exempt or order.shipping_address is None:
        return Money(0, order.currency)
    percent = rates.get((order.shipping_address.country, line.tax_category), Decimal(0))
    return taxable.times(percent / 100)


def shipping_fee(net: Money) -> Money:
    return Money(0 if net.minor >= FREE_SHIPPING_FROM else SHIPPING_FEE, net.currency)


def _amount_off(discount: Discount, order: Order) -> Money:
    if discount.kind is DiscountKind.PERCENT:
        return order.subtotal.times(discount.value / 100)
    if discount.kind is DiscountKind.FIXED:
        return Money(int(discount.value), order.currency)
    free = Money(0, order.currency)
    for line in order.lines:
        free += line.unit_price.times(line.quantity // int(discount.value))
    return free
