"""Keeps the replicas on the servers up to date: on request, or soon after each commit."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from graphrag_mcp.errors import GraphragError, IndexLockedError, ServerError
from graphrag_mcp.model.reports import ServerState, SyncReport
from graphrag_mcp.ports import Embedder
from graphrag_mcp.replication.backends import Purpose, Servers
from graphrag_mcp.replication.sync import Agree, ReportSync, has_relations, synchronise
from graphrag_mcp.search.threads import DaemonThreads
from graphrag_mcp.stores.replica import Replica
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource

if TYPE_CHECKING:
    from graphrag_mcp.replication.relations import TreeRelations

logger = logging.getLogger(__name__)

SYNC_SECONDS = 0.5  # The index is checked for a new commit at this interval.
CLOSING_SECONDS = 2.0  # A batch takes less unless the server hangs.
SYNC_RETRY_SECONDS = 10.0  # A failed replication is retried after this time.
STATUS_SECONDS = 3.0  # A server has this time to count its chunks for the status.


class Replicator:
    """The replicas of one index."""

    def __init__(
        self,
        servers: Servers,
        open_source: Callable[[], "tuple[SqliteReplicaSource, TreeRelations, Embedder]"],
        lock: Path,
        stop: threading.Event,
    ) -> None:
        """open_source: returns what reads the index, and the model of its vectors; it may raise ServerError.

        lock: the lock file of replication. stop: ends a replication after the current batch.
        """
        self._servers = servers
        self._open_source = open_source
        self._lock = lock
        self._stop = stop
        self._problems: dict[str, str] = {}
        self._following: threading.Thread | None = None
        self._asking = DaemonThreads(2, "status")

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
        source, relations, servers = self._source_and_targets("write")
        try:
            held = FileLock(self._lock, mode=0o600, thread_local=False).acquire(timeout=0)
        except Timeout:
            raise IndexLockedError("another process is replicating this index to the servers") from None
        with held:
            return tuple(
                synchronise(source, relations, server, verify, rebuild, self._stop, progress, agree)
                for server in servers
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
        copied, logged = -1, set[str]()
        while not self._stop.is_set():
            problem = ""
            try:
                last = commit()
                if last is not None and last != copied:
                    self._problems = {report.server: report.problem for report in self.sync() if report.problem}
                    problem = "; ".join(self._problems.values())
                    if not problem:
                        copied, logged = last, set()
            except IndexLockedError:
                pass  # `sync` runs in another process.
            except Exception as error:
                if self._stop.is_set():
                    return  # The index was closed during a replication.
                # An unexpected error must not end searches or indexing.
                problem = str(error)
                logger.debug("the replication failed", exc_info=True)
            if problem and problem not in logged:
                logged.add(problem)
                logger.warning("replication to the servers failed and will be retried: %s", problem)
            self._stop.wait(SYNC_RETRY_SECONDS if problem else SYNC_SECONDS)

    def states(self) -> tuple[ServerState, ...]:
        """Return how many files each server lacks, and why the last replication failed."""
        if not self._servers.any:
            return ()
        source, _, servers = self._source_and_targets("read")
        return tuple(self._state(source, server) for server in servers)

    def _state(self, source: SqliteReplicaSource, server: Replica) -> ServerState:
        name, held, may_write = server.name, None, True
        problem = self._problems.get(name, "")
        try:
            held = self._asking.submit(server.chunks).result(STATUS_SECONDS)
            may_write = self._asking.submit(server.may_write).result(STATUS_SECONDS)
        except (GraphragError, TimeoutError) as error:
            problem = problem or str(error) or f"no answer within {STATUS_SECONDS:g} s"
        chunks = source.chunks(name) if source.marked(name) else None
        pending = len(source.pending(name)) or int(server.keeps_relations and not has_relations(source, server))
        return ServerState(name, pending, problem, chunks, held, may_write)

    def _source_and_targets(self, purpose: Purpose) -> "tuple[SqliteReplicaSource, TreeRelations, list[Replica]]":
        source, relations, embedder = self._open_source()
        servers = self._servers.replicas(embedder.fingerprint, embedder.dimensions, source.mean_length, purpose)
        return source, relations, servers
