"""What the service does when something happened."""

from collections.abc import Mapping
from typing import Any

from stockroom._generated.event_types import ORDER_CANCELLED, ORDER_PLACED, ORDER_SHIPPED
from stockroom.events.bus import EventBus


class Mailer:
    """Sends the letters that customers get."""

    def __init__(self, transport: Any, sender: str) -> None:
        self._transport = transport
        self._sender = sender

    def confirm_order(self, event: Mapping[str, object]) -> None:
        self._send(event, "We have your order", "Thank you. We will write again when it leaves the house.")

    def announce_shipment(self, event: Mapping[str, object]) -> None:
        self._send(event, "Your order is on its way", f"Follow it under the number {event['tracking']}.")

    def confirm_cancellation(self, event: Mapping[str, object]) -> None:
        self._send(event, "Your order is cancelled", "What you paid is on its way back to you.")

    def _send(self, event: Mapping[str, object], subject: str, text: str) -> None:
        self._transport.send(self._sender, event["order_id"], subject, text)


def wire_handlers(bus: EventBus, mailer: Mailer) -> None:
    """Subscribe every handler; called once at start-up."""
    bus.subscribe(ORDER_PLACED, mailer.confirm_order)
    bus.subscribe(ORDER_SHIPPED, mailer.announce_shipment)
    bus.subscribe(ORDER_CANCELLED, mailer.confirm_cancellation)
