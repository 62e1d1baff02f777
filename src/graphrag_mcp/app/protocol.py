"""What the tools, the command line and the page may request of a project, with or without a local index."""

import sqlite3
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from graphrag_mcp.errors import GraphragError
from graphrag_mcp.model.reports import IndexState, Status
from graphrag_mcp.model.search import SearchRequest, SearchResult, StoredChunk
from graphrag_mcp.settings import Settings

if TYPE_CHECKING:  # The navigator imports numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.navigator import Navigator


class Capability(Enum):
    """A kind of request that a backend can answer."""

    SEARCH = "search"
    STATUS = "status"
    CODE = "code"  # Exact answers from the code graph and the files.


WITH_INDEX = frozenset(Capability)
WITHOUT_INDEX = frozenset({Capability.SEARCH, Capability.STATUS})


class SearchBackend(Protocol):
    """One project that can be searched.

    capabilities: what it can answer. root: the folder of the project.
    """

    capabilities: ClassVar[frozenset[Capability]]
    root: Path
    settings: Settings

    def start(self) -> None:
        """Prepare for requests in the background; returns at once."""

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer from what is indexed now; the result has the state of the index."""

    def status(self) -> Status:
        """Return what is indexed and what was left out."""

    def index_state(self) -> IndexState:
        """Return how complete the index is."""

    def wait_ready(self, timeout_seconds: float | None = None) -> IndexState:
        """Wait until the index is ready or has failed, or the time is over, and return its state."""

    def doubt(self, error: sqlite3.Error) -> GraphragError:
        """Have the index file examined after SQLite could not read it, and return the error to raise."""

    def close(self) -> None:
        """Stop what runs in the background."""


class InFile(Protocol):
    """A definition or a file. file_id: of the content that the index has of it."""

    @property
    def file_id(self) -> int: ...
    @property
    def path(self) -> str: ...


class ShowsNodes(Protocol):
    """An answer from the code graph."""

    @property
    def nodes(self) -> Sequence[InFile]:
        """The definitions and files that it shows, whose files must be as they were indexed."""


Nodes = TypeVar("Nodes", bound=ShowsNodes)


class CodeBackend(SearchBackend, Protocol):
    """One project that also answers from its code graph and files: it has `Capability.CODE`."""

    def navigate(self, ask: Callable[["Navigator"], Nodes]) -> tuple[Nodes, set[str]]:
        """Return an answer from the code graph and the files, with the paths that changed since they were indexed."""

    def navigator(self) -> "Navigator":
        """Return the navigator over what is indexed now."""

    def chunk_at(self, path: str, line: int) -> StoredChunk | None:
        """Return the innermost chunk around a line of an indexed file; None for any other file."""
