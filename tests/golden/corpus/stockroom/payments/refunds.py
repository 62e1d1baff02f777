"""Gives money back: all of it when an order is cancelled, a share of it when something is returned."""

from stockroom.money import Money
from stockroom.orders.models import Order, OrderStatus, ReturnRequest
from stockroom.payments.gateway import PaymentGateway

RETURN_FEE = Money(490)


def refund_order(gateway: PaymentGateway, order: Order, reason: str) -> str:
    """Undo the payment of an order: unblock what was only authorised, pay back what was captured."""
    if order.status in (OrderStatus.PLACED, OrderStatus.PAID, OrderStatus.PICKING):
        gateway.void(order.payment_reference)
        return order.payment_reference
    if not reason:
        raise ValueError("a refund after shipping needs a reason")
    return gateway.refund(order.payment_reference, order.subtotal)


def refund_amount(order: Order, request: ReturnRequest, days_since_delivery: int) -> Money:
    """Return what a customer gets back for a return: the price of the units, less the fee when it comes late."""
    line = order.line_for(request.sku)
    if line is None or request.quantity > line.quantity:
        raise ValueError(f"order {order.order_id} has no {request.quantity} units of {request.sku}")
    amount = line.unit_price.times(request.quantity)
    if days_since_delivery <= 30:
        return amount
    return Money(max(0, amount.minor - RETURN_FEE.minor), amount.currency)
