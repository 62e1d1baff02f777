"""Prices: discounts, taxes and the shipping fee."""

from dataclasses import replace
from decimal import Decimal

import pytest

from stockroom.money import Money
from stockroom.orders.models import Discount, DiscountKind, Order, OrderLine
from stockroom.orders.pricing import discount_for, price_order, shipping_fee, tax_for_line

RATES = {("DE", "standard"): Decimal(19), ("DE", "food"): Decimal(7)}


def an_order(customer, *lines):
    return Order(1, customer, lines, shipping_address=customer.default_address)


def test_discount_is_spread_over_the_lines_before_each_is_taxed(customer, tea, now):
    mug = OrderLine("MUG-2002", 1, Money(1202))
    order = an_order(customer, tea, mug)
    order = replace(order, discount=Discount("SPRING", DiscountKind.PERCENT, Decimal(10)))
    priced = price_order(order, RATES, now)
    assert priced.discount == Money(300)
    assert priced.tax == Money(113 + 206)


def test_a_discount_never_exceeds_the_subtotal(customer, tea, now):
    order = replace(an_order(customer, tea), discount=Discount("GIFT", DiscountKind.FIXED, Decimal(100_000)))
    assert discount_for(order, now) == order.subtotal


def test_exempt_customers_pay_no_tax(customer, tea):
    order = an_order(replace(customer, tax_exempt=True), tea)
    assert tax_for_line(order, tea, tea.net, RATES) == Money(0)


@pytest.mark.parametrize(("net", "fee"), [(0, 490), (4_999, 490), (5_000, 0)])
def test_shipping_is_free_from_fifty_euros(net, fee):
    assert shipping_fee(Money(net)) == Money(fee)
