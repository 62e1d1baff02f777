"""The state machine of an order."""

from stockroom.errors import InvalidTransition
from stockroom.orders.models import Order, OrderStatus

ALLOWED: dict[OrderStatus, frozenset[OrderStatus]] = {
    OrderStatus.DRAFT: frozenset({OrderStatus.PLACED, OrderStatus.CANCELLED}),
    OrderStatus.PLACED: frozenset({OrderStatus.PAID, OrderStatus.CANCELLED}),
    OrderStatus.PAID: frozenset({OrderStatus.PICKING, OrderStatus.CANCELLED}),
    OrderStatus.PICKING: frozenset({OrderStatus.SHIPPED, OrderStatus.CANCELLED}),
    OrderStatus.SHIPPED: frozenset({OrderStatus.DELIVERED, OrderStatus.RETURNED}),
    OrderStatus.DELIVERED: frozenset({OrderStatus.RETURNED}),
    OrderStatus.CANCELLED: frozenset(),
    OrderStatus.RETURNED: frozenset(),
}


def can_transition(current: OrderStatus, wanted: OrderStatus) -> bool:
    return wanted in ALLOWED[current]


def transition(order: Order, wanted: OrderStatus) -> Order:
    """Return the order in the wanted state; raises InvalidTransition when the machine has no such edge."""
    if not can_transition(order.status, wanted):
        raise InvalidTransition(
            f"order {order.order_id} is {order.status.value} and cannot become {wanted.value}",
            allowed=sorted(status.value for status in ALLOWED[order.status]),
        )
    return order.with_status(wanted)


def is_final(status: OrderStatus) -> bool:
    """Tell whether nothing can happen to an order in this state any more."""
    return not ALLOWED[status]
