"""Opens a project once, on the first request, so that the server answers before any heavy import."""

import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import Generic, TypeGuard, TypeVar, TypeVarTuple

from graphrag_mcp.app.protocol import Capability, CodeBackend, SearchBackend
from graphrag_mcp.errors import GraphragError

OPEN_DELAY_SECONDS = 0.2  # After the first tools/list: a client sends its other opening requests right after it.

logger = logging.getLogger(__name__)
Opened = TypeVar("Opened", bound=SearchBackend, covariant=True)
_Answer = TypeVar("_Answer")
_Arguments = TypeVarTuple("_Arguments")


class LazyBackend(Generic[Opened]):
    """A project that is opened by the first request, or shortly after a client has listed the tools.

    While it cannot be opened (no such root, wrong settings), each request tries again and raises the error.
    """

    def __init__(self, open_backend: Callable[[], Opened], capabilities: frozenset[Capability]) -> None:
        """`open_backend` returns a backend that is not started; it may raise GraphragError.

        capabilities: those of the backend, which are needed before it is opened.
        """
        self.capabilities = capabilities
        self._open_backend = open_backend
        self._opening = threading.Lock()
        self._backend: Opened | None = None
        self._timer: threading.Timer | None = None

    def open(self) -> Opened:
        """Return the started backend; raises GraphragError when it cannot be opened."""
        with self._opening:
            if self._backend is None:
                backend = self._open_backend()
                backend.start()
                self._backend = backend
            return self._backend

    def ask(self, question: Callable[[Opened, *_Arguments], _Answer], *arguments: *_Arguments) -> _Answer:
        """Return the answer of the opened backend; it is asked twice if its index file was closed in between.

        Raises IndexStoreError when the index file cannot be read; the file is then examined.
        """
        backend = self.open()
        try:
            try:
                return question(backend, *arguments)
            except sqlite3.ProgrammingError:  # The file was closed to be examined.
                return question(backend, *arguments)
        except sqlite3.Error as error:
            logger.warning("The index file cannot be read: %s", error)
            raise backend.doubt(error) from error

    def close(self) -> None:
        with self._opening:
            if self._backend is not None:
                self._backend.close()
                self._backend = None

    def open_soon(self) -> None:
        """Open the backend in the background, once, after the client's opening requests are answered."""
        if self._timer is None:
            self._timer = threading.Timer(OPEN_DELAY_SECONDS, self._open_quietly)
            self._timer.daemon = True
            self._timer.start()

    def _open_quietly(self) -> None:
        try:
            self.open()
        except GraphragError as error:
            logger.warning("%s", error)
        except Exception:
            logger.exception("The index could not be opened")


def answers_code(backend: LazyBackend[SearchBackend]) -> TypeGuard[LazyBackend[CodeBackend]]:
    """Return whether the backend answers from the code graph and the files."""
    return Capability.CODE in backend.capabilities
