"""Keeps what the servers hold like the index: when it is asked to, or soon after each commit."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from graphrag_mcp.errors import GraphragError, IndexLockedError, ServerError
from graphrag_mcp.model.reports import ServerState, SyncReport
from graphrag_mcp.ports import Embedder
from graphrag_mcp.replication.backends import Purpose, Servers
from graphrag_mcp.replication.sync import ReportSync, synchronise
from graphrag_mcp.search.threads import DaemonThreads
from graphrag_mcp.stores.projection import Projection
from graphrag_mcp.stores.sqlite.projection import SqliteProjectionSource
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS
from graphrag_mcp.text.counts import counted

logger = logging.getLogger(__name__)

SYNC_SECONDS = 0.5  # How soon a commit is copied to the servers.
CLOSING_SECONDS = 2.0  # A batch takes less, unless its server hangs.
SYNC_RETRY_SECONDS = 10.0  # How often what failed is tried again.
STATUS_SECONDS = 3.0  # How long the status waits for a server's count.
READY_FRACTION = 0.95  # The share of the files from which a search asks the server: the rest follows in seconds.


class Replicator:
    """The copies of one index."""

    def __init__(
        self,
        servers: Servers,
        open_source: Callable[[], tuple[SqliteProjectionSource, Embedder]],
        lock: Path,
        stop: threading.Event,
    ) -> None:
        """open_source: returns what is copied and the model of its vectors; it may raise ServerError.

        lock: a file that only one process locks. stop: ends a copy after the batch under way.
        """
        self._servers = servers
        self._open_source = open_source
        self._lock = lock
        self._stop = stop
        self._problems: dict[str, str] = {}
        self._following: threading.Thread | None = None
        self._are_ready = False
        self._asking = DaemonThreads(2, "status")

    def sync(
        self, *, verify: bool = False, rebuild: bool = False, progress: ReportSync | None = None
    ) -> tuple[SyncReport, ...]:
        """Copy to each server what it lacks of the index; `verify` and `rebuild` are those of `synchronise`.

        Raises ServerError when the settings name no server, IndexLockedError while another process is copying.
        """
        if not self._servers.any:
            raise ServerError("no server is set; set GRAPHRAG_QDRANT_URL, GRAPHRAG_NEO4J_URI or both")
        source, projections = self._source_and_targets("write")
        with self._copying():
            return tuple(
                synchronise(source, one, verify=verify, rebuild=rebuild, stop=self._stop, progress=progress)
                for one in projections
            )

    def start_following(self, commit: Callable[[], int | None]) -> None:
        """Do what `follow` does, in the background."""
        self._following = threading.Thread(target=self.follow, args=(commit,), name="sync", daemon=True)
        self._following.start()

    def close(self) -> None:
        """Wait for the batch under way: the connections to the servers must not be closed while they are used."""
        self._asking.close()
        if self._following is not None:
            self._following.join(CLOSING_SECONDS)

    def follow(self, commit: Callable[[], int | None]) -> None:
        """Copy each commit soon after it is made; what failed is tried again later, and told once.

        commit: returns the number of the last one, None while copying is not for this process to do.
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
                pass  # Somebody called sync.
            except Exception as error:
                if self._stop.is_set():
                    return  # Closed in the middle of it.
                # Whatever breaks the copying, searches and the index go on.
                problem = str(error)
                logger.debug("copying broke", exc_info=True)
            if problem and problem not in told:
                told.add(problem)
                logger.warning("copying to the servers failed and is tried again: %s", problem)
            self._stop.wait(SYNC_RETRY_SECONDS if problem else SYNC_SECONDS)

    def states(self) -> tuple[ServerState, ...]:
        """Return how much of the index each server lacks, and why the last copy failed."""
        if not self._servers.any:
            return ()
        source, projections = self._source_and_targets("read")
        return tuple(self._state(source, one) for one in projections)

    def _state(self, source: SqliteProjectionSource, server: Projection) -> ServerState:
        name, held = server.name, None
        problem = self._problems.get(name, "")
        try:
            held = self._asking.submit(server.chunks).result(STATUS_SECONDS)
        except (GraphragError, TimeoutError) as error:
            problem = problem or str(error) or f"no answer within {STATUS_SECONDS:g} s"
        given = source.chunks(name) if source.holds_any(name) else None
        return ServerState(name, len(source.pending(name)), problem, given, held)

    def lagging_stores(self) -> dict[str, str]:
        """Map the stores whose server is still being filled from this index to how far it is."""
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
                reason = f"{name} holds {held:,} of {counted(files, 'file')} so far"
                found |= dict.fromkeys(stores, self._problems.get(name, reason))
        self._are_ready = not found
        return found

    def _source_and_targets(self, purpose: Purpose) -> tuple[SqliteProjectionSource, list[Projection]]:
        source, embedder = self._open_source()
        return source, self._servers.projections(embedder.fingerprint, embedder.dimensions, KEYWORD_FIELDS, purpose)

    @contextmanager
    def _copying(self) -> Iterator[None]:
        """Be the one process that copies."""
        lock = FileLock(self._lock, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise IndexLockedError("another process is copying this index to the servers") from None
        try:
            yield
        finally:
            lock.release()
