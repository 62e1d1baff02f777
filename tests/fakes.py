"""Real small classes that stand for the expensive parts of the program."""

import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphrag_mcp.app.session import WITH_INDEX, Session, View
from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.model.files import Category, RelationKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.reports import IndexPhase, IndexReport, IndexState, Status
from graphrag_mcp.model.search import (
    CompressionStats,
    EdgeDirection,
    Factor,
    FactorKind,
    GraphNeighbour,
    Hit,
    ListSource,
    SearchMeta,
    SearchRequest,
    SearchResult,
    SearchStrategy,
    StoredChunk,
)
from graphrag_mcp.search.confidence import LOW, WEAK
from graphrag_mcp.settings import Settings

READY = IndexState(IndexPhase.READY, 3, 3, 12)


def make_chunk(path: str = "src/session.py", start: int = 10, lines: int = 3, **changes: object) -> StoredChunk:
    """Return a chunk of numbered lines."""
    text = "\n".join(f"line {number} of the chunk" for number in range(start, start + lines))
    values: dict[str, object] = {
        "chunk_id": 1,
        "file_id": 1,
        "path": path,
        "language": "python",
        "category": Category.IMPLEMENTATION,
        "start_line": start,
        "end_line": start + lines - 1,
        "text": text,
        "kind": "method",
        "symbol": "Session.open",
        "signature": "def open(self) -> None",
    }
    return StoredChunk(**{**values, **changes})  # type: ignore[arg-type]


def make_hit(chunk: StoredChunk | None = None) -> Hit:
    """Return a hit that two lists found and that defines what was asked for."""
    factors = (Factor("definition", 1.5, FactorKind.BONUS, "Session.open"), Factor("recency", 1.2, note="3 days"))
    return Hit(chunk or make_chunk(), 0.9, 0.8, {ListSource.VECTOR: 3, ListSource.KEYWORD: 1}, factors)


def make_neighbour(direction: EdgeDirection = EdgeDirection.IN, *, is_guess: bool = False) -> GraphNeighbour:
    """Return a caller or, in the other direction, a callee of `Session.open`."""
    other = make_chunk("src/web.py", 40, symbol="handle")
    ends = ("handle", "Session.open") if direction is EdgeDirection.IN else ("Session.open", "handle")
    return GraphNeighbour(other, RelationKind.CALLS, direction, *ends, 1, 1.0, Certainty.CERTAIN, is_guess)


def make_result(
    *hits: Hit,
    expanded: tuple[GraphNeighbour, ...] = (),
    index: IndexState = READY,
    unavailable: dict[str, str] | None = None,
    warnings: tuple[str, ...] = (),
    filters: tuple[str, ...] = (),
    confidence: float | None = None,
    missing_words: tuple[str, ...] = (),
) -> SearchResult:
    """Return the result of a search for "open a session"."""
    strategy = SearchStrategy("rrf", True, True, True, intent="text", filters_applied=filters)
    meta = SearchMeta(
        1.5,
        strategy,
        CompressionStats(),
        index,
        unavailable=unavailable or {},
        warnings=warnings,
        confidence=confidence,
        nothing_matches=confidence is not None and confidence < LOW,
        is_weak=confidence is not None and confidence < WEAK,
        missing_words=missing_words,
    )
    return SearchResult("open a session", hits, expanded, meta)


class FakeApp(Session["FakeApp"], View):
    """A project that answers every search with one hit; `states` are what it says of its index, one after another.

    It is its own view. The last state stays, `failure` is raised by every search,
    and `delay_seconds` is how long a search takes.
    """

    capabilities = WITH_INDEX

    def __init__(
        self,
        root: Path,
        *states: IndexState,
        failure: Exception | None = None,
        delay_seconds: float = 0.0,
        settings: Settings | None = None,
    ) -> None:
        self.root = root
        self.settings = settings or Settings()
        self.started = threading.Event()
        self.closed = threading.Event()
        self.requests: list[SearchRequest] = []
        self.doubted: list[sqlite3.Error] = []
        self._states = list(states) or [READY]
        self._failure = failure
        self._delay_seconds = delay_seconds

    @contextmanager
    def view(self) -> Iterator["FakeApp"]:
        yield self

    def refresh(self, paths: Collection[str]) -> bool:
        return False

    @property
    def state(self) -> IndexState:
        return self._states[0]

    def start(self) -> None:
        self.started.set()

    def wait_ready(self, timeout_seconds: float) -> IndexState:
        if len(self._states) > 1:
            return self._states.pop(0)
        if self._states[0].state != "ready":
            time.sleep(timeout_seconds)
        return self._states[0]

    def search(self, request: SearchRequest) -> SearchResult:
        self.requests.append(request)
        time.sleep(self._delay_seconds)
        if self._failure is not None:
            raise self._failure
        return make_result(make_hit(), index=self.state, warnings=request.warnings)

    def status(self) -> Status:
        return Status(str(self.root), "/data/index.sqlite", 2_000_000, self.state, files=3, chunks=12)

    def index(self, rebuild: bool = False, progress: Callable[[object], None] | None = None) -> IndexReport:
        return IndexReport(added=3, chunks=12)

    def suspect(self, error: sqlite3.Error) -> IndexStoreError:
        self.doubted.append(error)
        return IndexStoreError("the index file is examined; ask again in a moment")

    def close(self) -> None:
        self.closed.set()
