"""What a customer or a clerk can do with an order; each method is one transaction."""

from collections.abc import Iterable
from datetime import UTC, datetime

from stockroom.db.unit_of_work import UnitOfWork
from stockroom.errors import NotFound, OutOfStock, PermissionDenied
from stockroom.events.outbox import append_event
from stockroom.inventory.allocation import choose_allocator
from stockroom.inventory.reservations import release_reservation, reserve_stock
from stockroom.orders.models import Customer, Order, OrderLine, OrderStatus, merge_lines
from stockroom.orders.pricing import price_order
from stockroom.orders.state import transition
from stockroom.payments.gateway import PaymentGateway
from stockroom.payments.refunds import refund_order


class OrderService:
    """The use cases of ordering. `gateway` is where the money moves."""

    def __init__(self, work: UnitOfWork, gateway: PaymentGateway, reservation_minutes: int = 20) -> None:
        self._work = work
        self._gateway = gateway
        self._reservation_minutes = reservation_minutes

    def place_order(self, customer: Customer, lines: Iterable[OrderLine]) -> Order:
        """Reserve the stock, price the order and authorise the payment, or do none of the three."""
        now = datetime.now(UTC)
        if not customer.may_order(now):
            raise PermissionDenied("this customer is blocked", customer=customer.customer_id)
        with self._work as work:
            order = Order(work.orders.next_id(), customer, merge_lines(lines))
            for line in order.lines:
                if not reserve_stock(work.stock, order.order_id, line.sku, line.quantity, self._reservation_minutes):
                    raise OutOfStock(f"not enough of {line.sku}", sku=line.sku, wanted=line.quantity)
            total = price_order(order, work.taxes.rates(), now).total
            reference = self._gateway.authorise(total, idempotency_key=f"order-{order.order_id}")
            placed = transition(order, OrderStatus.PLACED)
            work.orders.save(placed, payment_reference=reference)
            append_event(work, "order.placed", {"order_id": placed.order_id, "total": total.minor})
            work.commit()
            return placed

    def cancel_order(self, order_id: int, reason: str) -> Order:
        """Cancel an order that has not left the house, give its stock back and refund what was paid."""
        with self._work as work:
            order = self._load(work, order_id)
            cancelled = transition(order, OrderStatus.CANCELLED)
            for line in order.lines:
                release_reservation(work.stock, order_id, line.sku)
            if order.status is not OrderStatus.DRAFT:
                refund_order(self._gateway, order, reason)
            work.orders.save(cancelled)
            append_event(work, "order.cancelled", {"order_id": order_id, "reason": reason})
            work.commit()
            return cancelled

    def start_picking(self, order_id: int) -> Order:
        """Find a bin for every unit and hand the order to the pickers."""
        with self._work as work:
            order = self._load(work, order_id)
            allocator = choose_allocator(order)
            allocated = order.with_lines(
                line.allocate(sum(pick.units for pick in allocator.allocate(work.stock.bins(line.sku), line.quantity)))
                for line in order.lines
            )
            picking = transition(allocated, OrderStatus.PICKING)
            work.orders.save(picking)
            append_event(work, "order.picking", {"order_id": order_id})
            work.commit()
            return picking

    def mark_shipped(self, order_id: int, tracking_number: str) -> Order:
        with self._work as work:
            order = self._load(work, order_id)
            shipped = transition(order, OrderStatus.SHIPPED)
            self._gateway.capture(order.payment_reference)
            work.orders.save(shipped)
            append_event(work, "order.shipped", {"order_id": order_id, "tracking": tracking_number})
            work.commit()
            return shipped

    @staticmethod
    def _load(work: UnitOfWork, order_id: int) -> Order:
        order = work.orders.get(order_id)
        if order is None:
            raise NotFound(f"there is no order {order_id}")
        return order
