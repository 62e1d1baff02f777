"""HTTP routes of orders."""

from typing import Any

from stockroom.api.serializers import line_from_json, order_to_dict
from stockroom.auth.permissions import requires
from stockroom.errors import NotFound


@requires("order.place")
def create_order(request: Any) -> dict[str, Any]:
    """Place an order with the lines of the body for the customer who is logged in."""
    lines = [line_from_json(line) for line in request.json["lines"]]
    customer = request.customers.get(request.claims.user_id)
    return order_to_dict(request.orders.place_order(customer, lines))


@requires("order.read")
def show_order(request: Any) -> dict[str, Any]:
    order = request.work.orders.get(int(request.params["order_id"]))
    if order is None:
        raise NotFound("there is no such order", order_id=request.params["order_id"])
    return order_to_dict(order)


@requires("order.cancel")
def cancel_order(request: Any) -> dict[str, Any]:
    """Cancel an order; the body may say why."""
    reason = str(request.json.get("reason", "cancelled by the customer"))
    return order_to_dict(request.orders.cancel_order(int(request.params["order_id"]), reason))


ROUTES = (
    ("POST", "orders", create_order),
    ("GET", "orders/{order_id}", show_order),
    ("POST", "orders/{order_id}/cancel", cancel_order),
)
