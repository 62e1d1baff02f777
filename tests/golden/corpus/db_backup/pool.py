"""A bounded pool of database connections (before the condition variable: it polled)."""

import time
from collections.abc import Callable
from typing import Any


class PoolExhausted(TimeoutError):
    """No connection became free in time."""


class ConnectionPool:
    """Opens all connections at once and lends them one by one."""

    def __init__(self, url: str, size: int, connect: Callable[[str], Any], patience: float = 5.0) -> None:
        self._patience = patience
        self._size = size
        self._idle = [connect(url) for _ in range(size)]

    def acquire(self) -> Any:
        """Return an idle connection or wait; raises PoolExhausted when patience runs out."""
        deadline = time.monotonic() + self._patience
        while not self._idle:
            if time.monotonic() > deadline:
                raise PoolExhausted(f"all {self._size} connections were busy for {self._patience} seconds")
            time.sleep(0.05)
        return self._idle.pop()

    def release(self, connection: Any) -> None:
        self._idle.append(connection)

    def health_check(self) -> bool:
        """Tell whether the database answers; used by the readiness probe."""
        connection = self.acquire()
        try:
            return bool(connection.fetch_value("SELECT 1") == 1)
        finally:
            self.release(connection)
