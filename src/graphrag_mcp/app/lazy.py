"""Opens a project once, on the first request, so that the server answers before any heavy import."""

import logging
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from graphrag_mcp.app.session import Capability, Session
from graphrag_mcp.errors import GraphragError

OPEN_DELAY_SECONDS = 0.2  # After the first tools/list: a client sends its other opening requests right after it.

logger = logging.getLogger(__name__)
Opened = TypeVar("Opened", bound=Session[Any], covariant=True)


class LazySession(Generic[Opened]):
    """A project that is opened by the first request, or shortly after a client has listed the tools.

    While it cannot be opened (no such root, wrong settings), each request tries again and raises the error.
    """

    def __init__(self, open_session: Callable[[], Opened], capabilities: frozenset[Capability]) -> None:
        """`open_session` returns a session that is not started; it may raise GraphragError.

        capabilities: those of the session, which are needed before it is opened.
        """
        self.capabilities = capabilities
        self._open_session = open_session
        self._opening = threading.Lock()
        self._session: Opened | None = None
        self._timer: threading.Timer | None = None

    def open(self) -> Opened:
        """Return the started session; raises GraphragError when it cannot be opened."""
        with self._opening:
            if self._session is None:
                session = self._open_session()
                session.start()
                self._session = session
            return self._session

    def open_soon(self) -> None:
        """Open the session in the background, once, after the client's opening requests are answered."""
        if self._timer is None:
            self._timer = threading.Timer(OPEN_DELAY_SECONDS, self._open_quietly)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        with self._opening:
            if self._session is not None:
                self._session.close()
                self._session = None

    def _open_quietly(self) -> None:
        try:
            self.open()
        except GraphragError as error:
            logger.warning("%s", error)
        except Exception:
            logger.exception("The index could not be opened")
