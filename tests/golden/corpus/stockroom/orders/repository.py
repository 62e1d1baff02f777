"""Loads and saves orders in Postgres, and notices when two people change the same one."""

from collections.abc import Sequence
from typing import Any

from stockroom.errors import StockroomError
from stockroom.orders.models import Order, OrderStatus


class ConcurrentChange(StockroomError):
    """Somebody saved a newer version in the meantime."""

    code = "conflict"
    http_status = 409


class OrderRepository:
    """Orders by id. Optimistic locking: a save names the version that it read."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def next_id(self) -> int:
        return int(self._connection.fetch_value("SELECT nextval('order_ids')"))

    def get(self, order_id: int) -> Order | None:
        row = self._connection.fetch_one("SELECT body FROM orders WHERE order_id = %s", (order_id,))
        return _decode(row["body"]) if row else None

    def save(self, order: Order, payment_reference: str = "") -> None:
        """Write the order; raises ConcurrentChange when the stored version is not the one before."""
        changed = self._connection.execute(
            "UPDATE orders SET body = %s, status = %s, version = %s, payment_reference = %s"
            " WHERE order_id = %s AND version = %s",
            (_encode(order), order.status.value, order.version, payment_reference, order.order_id, order.version - 1),
        )
        if changed == 0 and not self._insert(order, payment_reference):
            raise ConcurrentChange(f"order {order.order_id} was changed by someone else", version=order.version)

    def by_status(self, status: OrderStatus, limit: int = 100) -> Sequence[Order]:
        rows = self._connection.fetch_all(
            "SELECT body FROM orders WHERE status = %s ORDER BY order_id LIMIT %s", (status.value, limit)
        )
        return [_decode(row["body"]) for row in rows]

    def _insert(self, order: Order, payment_reference: str) -> bool:
        inserted = self._connection.execute(
            "INSERT INTO orders (order_id, body, status, version, payment_reference) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (order_id) DO NOTHING",
            (order.order_id, _encode(order), order.status.value, order.version, payment_reference),
        )
        return bool(inserted)


def _encode(order: Order) -> bytes:
    from stockroom.api.serializers import order_to_json

    return order_to_json(order)


def _decode(body: bytes) -> Order:
    from stockroom.api.serializers import order_from_json

    return order_from_json(body)
