"""Placing and cancelling an order against a real database."""

import pytest

from stockroom.db.unit_of_work import UnitOfWork
from stockroom.errors import OutOfStock
from stockroom.orders.models import OrderLine, OrderStatus
from stockroom.orders.service import OrderService

pytestmark = pytest.mark.database


@pytest.fixture
def service(pool, gateway):
    return OrderService(UnitOfWork(pool), gateway)


def test_place_order_reserves_prices_and_authorises(service, gateway, customer, tea):
    order = service.place_order(customer, [tea])
    assert order.status is OrderStatus.PLACED
    assert [name for name, _ in gateway.calls] == ["authorise"]


def test_nothing_is_left_behind_when_one_article_is_missing(service, pool, gateway, customer, tea):
    too_many = OrderLine("MUG-2002", 99, tea.unit_price)
    with pytest.raises(OutOfStock):
        service.place_order(customer, [tea, too_many])
    assert gateway.calls == []
    with pool.connection() as connection:
        assert connection.fetch_value("SELECT count(*) FROM reservations") == 0


def test_cancel_order_releases_the_stock_and_voids_the_payment(service, gateway, customer, tea):
    order = service.place_order(customer, [tea])
    assert service.cancel_order(order.order_id, "changed my mind").status is OrderStatus.CANCELLED
    assert gateway.calls[-1][0] == "void"
