"""Keeps the replicas on the servers up to date: on request, or soon after each commit."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from graphrag_mcp.errors import GraphragError, IndexLockedError, ServerError
from graphrag_mcp.model.reports import ServerState, SyncReport
from graphrag_mcp.ports import Embedder
from graphrag_mcp.replication.backends import Purpose, Servers
from graphrag_mcp.replication.sync import Agree, ReportSync, Versions, differing, some_of, synchronise
from graphrag_mcp.search.threads import DaemonThreads
from graphrag_mcp.stores.projection import Projection
from graphrag_mcp.stores.sqlite.projection import SqliteProjectionSource
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS
from graphrag_mcp.text.counts import counted

logger = logging.getLogger(__name__)

SYNC_SECONDS = 0.5  # How often the index is checked for a new commit.
CLOSING_SECONDS = 2.0  # A batch takes less unless the server hangs.
SYNC_RETRY_SECONDS = 10.0  # The wait before a failed replication is retried.
STATUS_SECONDS = 3.0  # The time limit for a server's count in the status.
LOOK_SECONDS = 60.0  # How long a count of what a server holds is taken as true.
READY_FRACTION = 0.95  # Of the files: searches use a server from this fraction on.


class Replicator:
    """The replicas of one index."""

    def __init__(
        self,
        servers: Servers,
        open_source: Callable[[], tuple[SqliteProjectionSource, Embedder]],
        lock: Path,
        stop: threading.Event,
    ) -> None:
        """open_source: returns the reader of the index and the model of its vectors; it may raise ServerError.

        lock: the lock file of replication. stop: ends a replication after the current batch.
        """
        self._servers = servers
        self._open_source = open_source
        self._lock = lock
        self._stop = stop
        self._problems: dict[str, str] = {}
        self._following: threading.Thread | None = None
        self._are_ready = False
        self._asking = DaemonThreads(2, "status")
        self._looks: dict[str, tuple[float, Future[Versions | None]]] = {}

    def sync(
        self,
        *,
        verify: bool = False,
        rebuild: bool = False,
        progress: ReportSync | None = None,
        agree: Agree = lambda _: False,
    ) -> tuple[SyncReport, ...]:
        """Bring each server up to date; `verify`, `rebuild` and `agree` are those of `synchronise`.

        Raises ServerError when the settings name no server, IndexLockedError while another process replicates,
        RemovalError like `synchronise`.
        """
        if not self._servers.any:
            raise ServerError("no server is configured; set GRAPHRAG_QDRANT_URL, GRAPHRAG_NEO4J_URI or both")
        source, projections = self._source_and_targets("write")
        with self._copying():
            self._looks.clear()
            return tuple(
                synchronise(source, server, verify, rebuild, self._stop, progress, agree) for server in projections
            )

    def start_following(self, commit: Callable[[], int | None]) -> None:
        """Run `follow` in the background."""
        self._following = threading.Thread(target=self.follow, args=(commit,), name="sync", daemon=True)
        self._following.start()

    def close(self) -> None:
        """Wait for the current batch, so that no connection is closed while it is in use."""
        self._asking.close()
        if self._following is not None:
            self._following.join(CLOSING_SECONDS)

    def follow(self, commit: Callable[[], int | None]) -> None:
        """Replicate each commit soon after it is made; a failure is logged once and retried.

        commit: returns the number of the last commit, None while another process is the writer.
        """
        copied, told = -1, set[str]()
        while not self._stop.is_set():
            problem = ""
            try:
                last = commit()
                if last is not None and last != copied:
                    self._problems = {report.server: report.problem for report in self.sync() if report.problem}
                    problem = "; ".join(self._problems.values())
                    if not problem:
                        copied, told = last, set()
            except IndexLockedError:
                pass  # `sync` runs in another process.
            except Exception as error:
                if self._stop.is_set():
                    return  # Closed during a replication.
                # An unexpected error must not end searches or indexing.
                problem = str(error)
                logger.debug("the replication failed", exc_info=True)
            if problem and problem not in told:
                told.add(problem)
                logger.warning("replication to the servers failed and will be retried: %s", problem)
            self._stop.wait(SYNC_RETRY_SECONDS if problem else SYNC_SECONDS)

    def states(self) -> tuple[ServerState, ...]:
        """Return how many files each server lacks, and why the last replication failed."""
        if not self._servers.any:
            return ()
        source, projections = self._source_and_targets("read")
        return tuple(self._state(source, server) for server in projections)

    def _state(self, source: SqliteProjectionSource, server: Projection) -> ServerState:
        name, held = server.name, None
        problem = self._problems.get(name, "")
        try:
            held = self._asking.submit(server.chunks).result(STATUS_SECONDS)
        except (GraphragError, TimeoutError) as error:
            problem = problem or str(error) or f"no answer within {STATUS_SECONDS:g} s"
        given = source.chunks(name) if source.holds_any(name) else None
        return ServerState(name, len(source.pending(name)), problem, given, held)

    def differences(self, source: SqliteProjectionSource, seconds: float) -> tuple[str, ...]:
        """Return a sentence for each server that does not hold the files as they are in this index.

        Each server is counted at the first look-up, and again after a minute. seconds: the time limit of the answer.
        """
        found = []
        for server in self._servers.projections("", 0, KEYWORD_FIELDS, "read"):
            name, lists = server.name, " and ".join(self._servers.stores[server.name])
            try:
                there = self._look(server, source).result(seconds)
            except (GraphragError, TimeoutError) as error:
                found.append(f"{name} was not compared with this index ({error or 'no answer in time'})")
                continue
            here = source.versions()
            lacking = source.differing(name) if there is None else differing(here, there)
            if lacking:
                what = f"{len(lacking):,} of {counted(len(here), 'file')} as they are in this index"
                found.append(f"{name} does not hold {what} ({some_of(lacking)}); its {lists} results lack them")
        return tuple(found)

    def _look(self, server: Projection, source: SqliteProjectionSource) -> Future[Versions | None]:
        """Begin to compare: None where the server holds as many chunks as it confirmed, else what it holds."""
        found = self._looks.get(server.name)
        if found is None or time.monotonic() - found[0] > LOOK_SECONDS:
            sent = source.chunks(server.name) if source.holds_any(server.name) else math.inf
            future = self._asking.submit(lambda: None if server.chunks() >= sent else server.versions())
            found = self._looks[server.name] = time.monotonic(), future
        return found[1]

    def lagging_stores(self) -> dict[str, str]:
        """Map each store whose server still lacks files of this index to a sentence with the counts."""
        if self._following is None or self._are_ready:
            return {}
        try:
            source, _ = self._open_source()
        except ServerError:
            return {}
        found: dict[str, str] = {}
        for name, stores in self._servers.stores.items():
            held, files = source.held(name)
            if held < READY_FRACTION * files or not files:
                reason = f"{name} has {held:,} of {counted(files, 'file')} so far"
                found |= dict.fromkeys(stores, self._problems.get(name, reason))
        self._are_ready = not found
        return found

    def _source_and_targets(self, purpose: Purpose) -> tuple[SqliteProjectionSource, list[Projection]]:
        source, embedder = self._open_source()
        return source, self._servers.projections(embedder.fingerprint, embedder.dimensions, KEYWORD_FIELDS, purpose)

    @contextmanager
    def _copying(self) -> Iterator[None]:
        """Hold the lock of replication."""
        lock = FileLock(self._lock, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise IndexLockedError("another process is replicating this index to the servers") from None
        try:
            yield
        finally:
            lock.release()
