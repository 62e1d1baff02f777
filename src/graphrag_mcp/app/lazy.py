"""Opens the application late and once, so that the server answers before anything heavy is imported."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from graphrag_mcp.errors import GraphragError

if TYPE_CHECKING:  # The application imports the model, the parsers and the stores: seconds that no client waits for.
    from graphrag_mcp.app.local import App
    from graphrag_mcp.app.remote import RemoteApp

OPEN_DELAY_SECONDS = 0.2  # After the first tools/list: a client sends its other opening requests right behind it.

logger = logging.getLogger(__name__)
Opened = TypeVar("Opened", bound="App | RemoteApp")


class Backend(Generic[Opened]):
    """The application behind the tools: opened by the first call, or shortly after a client has listed the tools.

    When it cannot be opened (no such root, wrong settings), every call says so and the next one tries again.
    """

    def __init__(self, open_app: Callable[[], Opened]) -> None:
        """`open_app` returns a new application that is not started; it may raise GraphragError."""
        self._open_app = open_app
        self._opening = threading.Lock()
        self._app: Opened | None = None
        self._timer: threading.Timer | None = None

    def app(self) -> Opened:
        """Return the started application; raises GraphragError when it cannot be opened."""
        with self._opening:
            if self._app is None:
                app = self._open_app()
                app.start()
                self._app = app
            return self._app

    def close(self) -> None:
        """Close the application, if it was opened."""
        with self._opening:
            if self._app is not None:
                self._app.close()
                self._app = None

    def open_soon(self) -> None:
        """Open the application in the background, once, after the client's opening requests are answered."""
        if self._timer is None:
            self._timer = threading.Timer(OPEN_DELAY_SECONDS, self._open_quietly)
            self._timer.daemon = True
            self._timer.start()

    def _open_quietly(self) -> None:
        try:
            self.app()
        except GraphragError as error:
            logger.warning("%s", error)
        except Exception:
            logger.exception("The index could not be opened")


AnyBackend: TypeAlias = "Backend[App | RemoteApp]"
