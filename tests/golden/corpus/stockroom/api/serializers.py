"""Orders as JSON, for the API and for the database; the two are the same on purpose."""

import json
from datetime import datetime
from typing import Any

from stockroom.money import Money
from stockroom.orders.models import Address, Customer, Order, OrderLine, OrderStatus


def order_to_dict(order: Order) -> dict[str, Any]:
    return {
        "id": order.order_id,
        "status": order.status.value,
        "version": order.version,
        "created_at": order.created_at.isoformat(),
        "customer": {"id": order.customer.customer_id, "email": order.customer.email},
        "address": order.shipping_address.__dict__ if order.shipping_address else None,
        "lines": [
            {"sku": line.sku, "quantity": line.quantity, "price": line.unit_price.minor, "tax": line.tax_category}
            for line in order.lines
        ],
    }


def order_to_json(order: Order) -> bytes:
    return json.dumps(order_to_dict(order), sort_keys=True).encode()


def order_from_json(body: bytes) -> Order:
    """Return the order that `order_to_json` wrote."""
    data = json.loads(body)
    return Order(
        order_id=data["id"],
        customer=Customer(data["customer"]["id"], data["customer"]["email"]),
        lines=tuple(line_from_json(line) for line in data["lines"]),
        status=OrderStatus(data["status"]),
        shipping_address=Address(**data["address"]) if data["address"] else None,
        version=data["version"],
        created_at=datetime.fromisoformat(data["created_at"]),
    )


def line_from_json(data: dict[str, Any]) -> OrderLine:
    """Read one line; raises ValueError when the quantity is not a whole number, which clients get wrong."""
    quantity = data["quantity"]
    if isinstance(quantity, bool) or not isinstance(quantity, int):
        raise ValueError(f"quantity {quantity!r} is not a whole number")
    return OrderLine(data["sku"], quantity, Money(int(data["price"])), data.get("tax", "standard"))
