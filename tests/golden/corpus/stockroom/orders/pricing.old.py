"""What an order costs: tax first, then discounts, then shipping."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from stockroom.money import Money
from stockroom.orders.models import Discount, DiscountKind, Order, OrderLine

FREE_SHIPPING_FROM = 7_500  # minor units
SHIPPING_FEE = 590

TaxRates = Mapping[str, Decimal]


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
    """Return what the order costs; the discount is taken off the taxed sum, whatever the rates of its lines."""
    net = order.subtotal
    tax = Money(0, order.currency)
    for line in order.lines:
        tax += tax_for_line(order, line, rates)
    discount = discount_for(order, now)
    return PriceBreakdown(net, discount, tax, shipping_fee(net))


def discount_for(order: Order, now: datetime) -> Money:
    """Return how much the discount code takes off the order."""
    discount = order.discount
    if discount is None or not discount.is_usable(order.subtotal, now):
        return Money(0, order.currency)
    return _amount_off(discount, order)


def tax_for_line(order: Order, line: OrderLine, rates: TaxRates) -> Money:
    """Return the value added tax on one line, by the country it is shipped to; exempt customers pay none."""
    if order.customer.tax_exempt or order.shipping_address is None:
        return Money(0, order.currency)
    percent = rates.get(order.shipping_address.country, Decimal(0))
    return line.net.times(percent / 100)


def shipping_fee(net: Money) -> Money:
    return Money(0 if net.minor >= FREE_SHIPPING_FROM else SHIPPING_FEE, net.currency)


def _amount_off(discount: Discount, order: Order) -> Money:
    if discount.kind is DiscountKind.PERCENT:
        return order.subtotal.times(discount.value / 100)
    return Money(int(discount.value), order.currency)
