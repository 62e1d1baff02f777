"""Receives what the payment provider tells us later: captures that failed, and chargebacks."""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping

from stockroom.errors import PermissionDenied

MAX_AGE_SECONDS = 300

Handler = Callable[[Mapping[str, object]], None]


def verify_signature(secret: bytes, body: bytes, timestamp: int, signature: str, now: int) -> None:
    """Raise PermissionDenied unless the provider signed this body in the last five minutes."""
    if abs(now - timestamp) > MAX_AGE_SECONDS:
        raise PermissionDenied("the webhook is too old")
    expected = hmac.new(secret, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, signature):
        raise PermissionDenied("the webhook's signature is wrong")


def handle_webhook(body: bytes, handlers: Mapping[str, Handler], seen: set[str]) -> bool:
    """Pass the message to the handler of its type; False for one that has been delivered before or is unknown."""
    message = json.loads(body)
    if message["id"] in seen:
        return False
    seen.add(message["id"])
    handler = handlers.get(message["type"])
    if handler is None:
        return False
    handler(message["data"])
    return True
