"""What happens to every request before its route sees it."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stockroom.auth.tokens import verify_token
from stockroom.errors import TokenRejected, TooManyRequests
from stockroom.settings import AuthSettings

Route = Callable[..., Any]


@dataclass
class TokenBucket:
    """Lets `capacity` requests through at once and refills evenly over a minute."""

    capacity: float
    level: float
    updated: float

    def take(self, now: float) -> bool:
        self.level = min(self.capacity, self.level + (now - self.updated) * self.capacity / 60)
        self.updated = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


def limit_rate(route: Route, per_minute: int, clock: Callable[[], float] = time.monotonic) -> Route:
    """Refuse a client that asks too often; each user has a bucket of its own."""
    buckets: dict[int, TokenBucket] = {}

    def limited(request: Any) -> Any:
        now = clock()
        bucket = buckets.setdefault(request.claims.user_id, TokenBucket(per_minute, per_minute, now))
        if not bucket.take(now):
            raise TooManyRequests("too many requests, slow down", retry_after=60 / per_minute)
        return route(request)

    return limited


def authenticate_request(route: Route, settings: AuthSettings) -> Route:
    """Read the bearer token of a request and give the route its claims; raises TokenRejected without a valid one."""

    def authenticated(request: Any) -> Any:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise TokenRejected("a bearer token is required")
        request.claims = verify_token(token, settings.signing_keys, int(time.time()))
        return route(request)

    return authenticated


def with_request_id(route: Route) -> Route:
    """Give every request an id that appears in the logs and in the answer."""

    def identified(request: Any) -> Any:
        request.request_id = request.headers.get("X-Request-Id") or uuid.uuid4().hex
        return route(request)

    return identified
