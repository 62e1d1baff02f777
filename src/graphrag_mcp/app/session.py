"""One project that is asked: opened at the first question, with the one loop between a question and its answer."""

import logging
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, TypeVarTuple

from graphrag_mcp.errors import GraphragError
from graphrag_mcp.model.reports import IndexState, Status
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.settings import Settings

logger = logging.getLogger(__name__)
OPEN_DELAY_SECONDS = 0.2  # After the first tools/list: a client sends its other opening requests right after it.


class Capability(Enum):
    """A kind of request that a project can answer."""

    SEARCH = "search"
    STATUS = "status"
    RELATIONS = "relations"  # Exact answers from the code graph.
    CODE = "code"  # Exact answers from the files.


WITH_INDEX = frozenset(Capability)
WITHOUT_INDEX = frozenset({Capability.SEARCH, Capability.STATUS})
WITH_GRAPH = WITHOUT_INDEX | {Capability.RELATIONS}  # Where servers hold the graph.


class View(ABC):
    """What one question sees of a project.

    stale: the files of its answer that changed since they were indexed.
    """

    capabilities: ClassVar[frozenset[Capability]] = WITHOUT_INDEX
    root: Path
    settings: Settings
    stale: Collection[str] = ()

    @property
    @abstractmethod
    def state(self) -> IndexState:
        """How complete the index is."""

    @abstractmethod
    def search(self, request: SearchRequest) -> SearchResult:
        """Answer from what is indexed now; the result has the state of the index."""

    @abstractmethod
    def status(self) -> Status:
        """Return what is indexed and what was left out."""


Seen = TypeVar("Seen", bound=View)
_Answer = TypeVar("_Answer")
_Arguments = TypeVarTuple("_Arguments")


class Session(ABC, Generic[Seen]):
    """One project that can be asked. root: its folder."""

    root: Path
    settings: Settings

    def ask(self, question: Callable[[Seen, *_Arguments], _Answer], *arguments: *_Arguments) -> _Answer:
        """Return the answer to a question from one commit of the index.

        It is asked once more when the file was closed meanwhile to be examined, and when changed files of the answer
        could be indexed. Raises IndexStoreError when the file cannot be read; it is then examined.
        """
        is_last = False
        while True:
            try:
                with self.view() as view:
                    answer = question(view, *arguments)
                if is_last or not view.stale or not self.refresh(view.stale):
                    return answer
            except sqlite3.Error as error:
                if is_last or not isinstance(error, sqlite3.ProgrammingError):
                    logger.warning("The index file cannot be read: %s", error)
                    raise self.suspect(error) from error
            is_last = True

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer from what is indexed now.

        A file that has changed since is indexed first if this process may write; else its hits are relocated to the
        current lines, or marked as stale.
        """
        return self.ask(lambda view: view.search(request))

    def status(self) -> Status:
        """Return what is indexed and what was left out."""
        return self.ask(lambda view: view.status())

    @abstractmethod
    def view(self) -> AbstractContextManager[Seen]:
        """Lend what a question sees: all of its look-ups see one commit of the index."""

    @abstractmethod
    def refresh(self, paths: Collection[str]) -> bool:
        """Index changed files if that is quick; return whether it was done."""

    @abstractmethod
    def suspect(self, error: sqlite3.Error) -> GraphragError:
        """Have the index file examined after SQLite could not read it, and return the error to raise."""

    @abstractmethod
    def wait_ready(self, timeout_seconds: float) -> IndexState:
        """Wait until the index is ready or has failed, or the time is over, and return its state."""

    @abstractmethod
    def start(self) -> None:
        """Prepare for questions in the background; returns at once."""

    @abstractmethod
    def close(self) -> None:
        """Stop what runs in the background."""


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
