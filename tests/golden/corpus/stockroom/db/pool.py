"""A bounded pool of database connections."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stockroom.settings import DatabaseSettings


class PoolExhausted(TimeoutError):
    """No connection became free in time."""


class ConnectionPool:
    """Opens connections when they are needed, never more than `pool_max`, and keeps at least `pool_min` of them."""

    def __init__(self, settings: DatabaseSettings, connect: Callable[[str], Any], patience: float = 5.0) -> None:
        self._settings = settings
        self._connect = connect
        self._patience = patience
        self._idle: deque[Any] = deque()
        self._open = 0
        self._changed = threading.Condition()

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Lend a connection; one that fails is thrown away instead of being given back."""
        lent = self.acquire()
        try:
            yield lent
        except ConnectionError:
            self._discard(lent)
            raise
        except BaseException:
            self.release(lent)
            raise
        self.release(lent)

    def acquire(self) -> Any:
        """Return an idle connection, open another, or wait; raises PoolExhausted when patience runs out."""
        deadline = time.monotonic() + self._patience
        with self._changed:
            while True:
                if self._idle:
                    return self._idle.pop()
                if self._open < self._settings.pool_max:
                    self._open += 1
                    break
                if not self._changed.wait(deadline - time.monotonic()):
                    raise PoolExhausted(f"all {self._open} connections were busy for {self._patience} seconds")
        connection = self._connect(self._settings.url)
        connection.execute(f"SET statement_timeout = {self._settings.statement_timeout_ms}")
        return connection

    def release(self, connection: Any) -> None:
        with self._changed:
            self._idle.append(connection)
            self._changed.notify()

    def health_check(self) -> bool:
        """Tell whether the database answers; used by the readiness probe."""
        try:
            with self.connection() as connection:
                return bool(connection.fetch_value("SELECT 1") == 1)
        except (ConnectionError, PoolExhausted):
            return False

    def _discard(self, connection: Any) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify()
        connection.close()
