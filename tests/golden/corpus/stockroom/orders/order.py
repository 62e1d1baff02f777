"""Sort keys for lists of orders on the screen."""

from stockroom.orders.models import Order

SORT_ORDER = ("created", "total", "status")


def sort_key(order: Order, column: str) -> tuple[object, int]:
    """Return what a list is sorted by; the order's number breaks ties."""
    if column == "total":
        return order.subtotal.minor, order.order_id
    if column == "status":
        return order.status.value, order.order_id
    return order.created_at, order.order_id
