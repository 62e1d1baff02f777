"""Stops calls to a server for a few seconds after one failed, so that an outage slows one search and not all."""

import time
from collections.abc import Callable

from graphrag_mcp.errors import ServerError

COOLDOWN_SECONDS = 3.0  # A server that is back is used again after this time at most.


class CircuitBreaker:
    """Remembers the last failure of a server until the cooldown has passed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """clock: returns seconds and never goes back."""
        self._clock = clock
        self._closes_at = float("-inf")
        self._reason = ""

    @property
    def problem(self) -> str:
        """Why no call may be made now; "" when one may."""
        return self._reason if self._clock() < self._closes_at else ""

    def problem_since(self, moment: float) -> str:
        """Return why the server failed since then, or was in the cooldown of an earlier failure; "" if it did not."""
        return self._reason if self._closes_at > moment else ""

    def check(self) -> None:
        """Raise ServerError, with the reason of the failure, during the cooldown."""
        if problem := self.problem:
            raise ServerError(problem)

    def record_failure(self, reason: str) -> None:
        """Start the cooldown; a failure during one does not prolong it. reason: a sentence, never empty."""
        if not self.problem:
            self._closes_at = self._clock() + COOLDOWN_SECONDS
            self._reason = reason
