"""One business transaction: opened, worked in, and committed as a whole or not at all."""

from types import TracebackType
from typing import Any, Self

from stockroom.db.pool import ConnectionPool
from stockroom.orders.repository import OrderRepository


class UnitOfWork:
    """Gives a use case its repositories, all on one connection. Leaving without `commit` rolls everything back."""

    orders: OrderRepository
    stock: Any
    taxes: Any

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._connection: Any = None
        self._committed = False

    def __enter__(self) -> Self:
        self._connection = self._pool.acquire()
        self._connection.execute("BEGIN")
        self._committed = False
        self.orders = OrderRepository(self._connection)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._committed:
            self._connection.execute("ROLLBACK")
        self._pool.release(self._connection)
        self._connection = None

    @property
    def connection(self) -> Any:
        if self._connection is None:
            raise RuntimeError("there is no transaction outside of the with block")
        return self._connection

    def commit(self) -> None:
        self.connection.execute("COMMIT")
        self._committed = True
