"""Keeps the replicas on the servers up to date: on request, or soon after each commit.

The index file is the source. It records which files each server has confirmed, so that an outage costs time only, and
no file is parsed or embedded again for a server.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from filelock import FileLock, Timeout
from msgspec import Struct, field

from graphrag_mcp.errors import GraphragError, IndexLockedError, RemovalError, ServerError
from graphrag_mcp.index.backends import Purpose, Servers
from graphrag_mcp.model.reports import ServerState, SyncReport
from graphrag_mcp.system.threads import DaemonThreads
from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:
    from graphrag_mcp.index.replica_relations import Collected, TreeRelations
    from graphrag_mcp.ports import Embedder
    from graphrag_mcp.stores.replica import RelatedFile, Replica, ReplicatedFile
    from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource


logger = logging.getLogger(__name__)

BATCH_FILES = 200
BATCH_CHUNKS = 1500  # A transaction has a few megabytes.
BATCH_RELATIONS = 5000
RELATIONS_OF_A_FILE = 25  # As much as a file costs: a batch has 200 files at most.
MAX_PASSES = 5  # The index may change while it is copied.

REMOVABLE_FRACTION = 0.5  # A larger fraction of a server's files is removed only after a confirmation.
_COUNTED = ("written", "removed", "chunks", "missing", "outdated", "foreign")
NAMED = 3  # A sentence names no more files.

ReportSync = Callable[[str, int, int], None]
Agree = Callable[[str], bool]  # It is called with what would be removed, as a clause.
Sent = TypeVar("Sent")
_WHOLE = ""  # A file of this path has the mark of all relations.
SYNC_SECONDS = 0.5  # The index is checked for a new commit at this interval.
CLOSING_SECONDS = 2.0  # A batch takes less unless the server hangs.
SYNC_RETRY_SECONDS = 10.0  # A failed replication is retried after this time.
STATUS_SECONDS = 3.0  # A server has this time to count its chunks for the status.


def synchronise(
    source: "SqliteReplicaSource",
    relations: "TreeRelations",
    server: "Replica",
    verify: bool = False,
    rebuild: bool = False,
    stop: threading.Event | None = None,
    progress: ReportSync | None = None,
    agree: Agree = lambda _: False,
) -> SyncReport:
    """Send the files that the server lacks, remove those that the index no longer has, and return a report.

    verify: first compare the server's files with the index; this is always done when the index has no record of the
    server. rebuild: remove everything on the server first. progress: called with (server, files done, files in all).
    agree: whether more than half of the project's files may be removed. Raises RemovalError when they may not.
    """
    run = _Run(source, relations, server, stop or threading.Event(), progress, agree)
    try:
        if server.prepare() or rebuild:
            run.forget()
        if rebuild:
            there, here = server.versions(), source.versions()
            run.ask([path for path in there if path not in here], len(there))
            server.clear()
        elif verify or not source.marked(server.name):  # Another machine may have written it.
            run.compare()
        with run.collecting():
            run.send()
            run.relate()
        run.finish()
    except RemovalError:
        raise
    except GraphragError as error:
        run.problem = str(error)
    return run.report()


def some_of(paths: Sequence[str]) -> str:
    """Return the first of some paths, and how many more there are."""
    more = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
    return ", ".join(path if path.isprintable() else repr(path) for path in sorted(paths)[:NAMED]) + more


def relations_of(server: "Replica") -> str:
    """Return the name under which the index file records the relations that a server holds."""
    return f"{server.name} relations"


def has_relations(source: "SqliteReplicaSource", server: "Replica") -> bool:
    """Return whether a server holds all relations as they are."""
    return source.marks(relations_of(server)).get(_WHOLE) == source.relations_mark()


def _batched(files: Iterable[Sent], size: Callable[[Sent], int], most: int) -> Iterator[list[Sent]]:
    """Yield the files in batches of at most a size, or of one file."""
    batch: list[Sent] = []
    total = 0
    for file in files:
        if batch and total + size(file) > most:
            yield batch
            batch, total = [], 0
        batch.append(file)
        total += size(file)
    if batch:
        yield batch


def _marks(files: "Iterable[ReplicatedFile | RelatedFile]") -> dict[str, str]:
    return {file.path: file.mark for file in files}


class _Run(Struct):
    """One replication to one server; see `synchronise`."""

    source: "SqliteReplicaSource"
    relations: "TreeRelations"
    server: "Replica"
    stop: threading.Event
    progress: ReportSync | None
    agree: Agree
    problem: str = ""
    ahead: "Future[Collected] | None" = None
    started: float = field(default_factory=time.monotonic)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))

    def compare(self) -> None:
        """Mark files as pending where the server's copy is missing or outdated, and its other files for removal."""
        there, here = dict(self.server.versions()), self.source.versions()
        marked = set(here) - set(self.source.pending(self.server.name))
        missing = [path for path, (_, chunks) in here.items() if path not in there and chunks and path in marked]
        outdated = [path for path, held in there.items() if path in here and held != here[path] and path in marked]
        foreign = [path for path in there if path not in here]
        self.ask(foreign, len(there))
        self.forget([*missing, *outdated])
        self.source.mark(self.server.name, dict.fromkeys(foreign, ""))
        for kind, paths in (("missing", missing), ("outdated", outdated), ("foreign", foreign)):
            self.counts[kind] += len(paths)

    def ask(self, gone: Sequence[str], held: int) -> None:
        """Raise RemovalError unless these files may be removed. held: how many files the server holds."""
        if len(gone) <= REMOVABLE_FRACTION * held:
            return
        held_there = f"the project's {counted(held, 'file')} on {self.server.name}"
        removal = f"remove {len(gone):,} of {held_there} ({some_of(gone)})"
        if not self.agree(removal):
            step = "run `graphrag-mcp sync --yes` if this folder has the whole project, else set GRAPHRAG_PROJECT_ID"
            raise RemovalError(f"sync would {removal}, and removed nothing; {step}")

    def send(self) -> None:
        """Remove deleted files, then write pending ones."""
        name = self.server.name
        gone, lacking = self.source.gone(name), frozenset(self.source.pending(name))
        if gone or lacking:
            self._state(lacking)
        if gone:
            if not self.counts["foreign"]:  # Otherwise it was asked when the server was compared.
                self.ask(gone, self.source.marked(name))
            self.server.delete(gone)
            self.forget(gone)
            self.counts["removed"] += len(gone)
        for _ in range(MAX_PASSES):
            pending = self.source.pending(name)
            if not pending or self.stop.is_set():
                return
            batches = _batched(self._read(pending), lambda file: len(file.chunks), BATCH_CHUNKS)
            self._copy(batches, self.server.write, partial(self._confirm, self.counts["written"] + len(pending)))

    def relate(self) -> None:
        """Send the relations of the files in which they have changed or are lost, after all that they lead to.

        Only what was read from one commit of the index, and is on the server then, counts as whole.
        """
        name = relations_of(self.server)
        for _ in range(MAX_PASSES):
            is_lacking = self.server.keeps_relations and not has_relations(self.source, self.server)
            if not is_lacking or self.source.pending(self.server.name) or self.stop.is_set():
                return
            ahead, self.ahead = self.ahead, None
            with closing(ahead.result() if ahead else self.relations.collect(self.stop.is_set)) as collected:
                held, lost = self.source.marks(name), self._lost()
                wanted = (file for file in collected.read() if file.path in lost or held.get(file.path) != file.mark)
                batches = _batched(wanted, lambda file: len(file.edges) + RELATIONS_OF_A_FILE, BATCH_RELATIONS)
                self._copy(batches, self.server.relate, lambda sent: self.source.mark(name, _marks(sent)))
                self.problem = self.problem or collected.problem
                if collected.problem or self.stop.is_set():
                    return
                self.server.declare(self.relations.packages())
                if self.source.commit() == collected.commit and not self._lost():
                    self.source.mark(name, {_WHOLE: collected.mark})

    def _lost(self) -> set[str]:
        """Return the files of which the server has not all relations: they go with a definition that they lead to."""
        return {path for path, (version, _) in self.server.versions().items() if not version}

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Find the relations while the files are sent, where they have to be sent too."""
        ended = threading.Event()
        with ThreadPoolExecutor(1, thread_name_prefix="relations") as beside:
            if self.server.keeps_relations and self.source.pending(self.server.name):
                self.ahead = beside.submit(self.relations.collect, lambda: ended.is_set() or self.stop.is_set())
            try:
                yield
            finally:
                ended.set()
                if self.ahead is not None:
                    self.ahead.result().close()

    def forget(self, paths: Collection[str] | None = None) -> None:
        """Forget that the server holds these files, or all, and their relations."""
        self.source.forget(self.server.name, paths)
        self.source.forget(relations_of(self.server), [*paths, _WHOLE] if paths else paths)

    def _copy(
        self,
        batches: Iterator[list[Sent]],
        write: Callable[[list[Sent]], None],
        confirm: Callable[[list[Sent]], None],
    ) -> None:
        """Write batches, each while the next one is read."""
        with ThreadPoolExecutor(1, thread_name_prefix="sync") as beside:
            under_way: tuple[Future[None], list[Sent]] | None = None
            for batch in chain(batches, (None,)):
                if under_way is not None:
                    under_way[0].result()
                    confirm(under_way[1])
                if batch is None or self.stop.is_set():
                    return
                under_way = beside.submit(write, batch), batch

    def finish(self) -> None:
        """Compare the number of chunks, and send what the server lost."""
        if self.stop.is_set() or self.source.pending(self.server.name):
            return
        if self.server.chunks() != self.source.chunks():
            self.compare()
            self.send()
            self.relate()
        changed = bool(self.counts["written"] or self.counts["removed"])
        self.server.finish(self.source.frequencies, changed=changed)
        self.server.write_commits(*self.source.history())
        self._state(())

    def _state(self, pending: Collection[str]) -> None:
        """State on the server what it holds whole: the files that are not pending."""
        held = {path: version for path, version in self.source.versions().items() if path not in pending}
        self.server.state(held, self.source.head(), is_whole=not pending)

    def _confirm(self, total: int, batch: "Sequence[ReplicatedFile]") -> None:
        """Record that the server has written a batch; its relations have to be sent again."""
        self.forget([file.path for file in batch])
        self.source.mark(self.server.name, _marks(batch))
        self.counts["written"] += len(batch)
        self.counts["chunks"] += sum(len(file.chunks) for file in batch)
        if self.progress is not None:
            self.progress(self.server.name, self.counts["written"], total)

    def report(self) -> SyncReport:
        seconds = time.monotonic() - self.started
        return SyncReport(self.server.name, seconds=seconds, problem=self.problem, **self.counts)

    def _read(self, paths: Sequence[str]) -> "Iterator[ReplicatedFile]":
        for start in range(0, len(paths), BATCH_FILES):
            yield from self.source.read(paths[start : start + BATCH_FILES])


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

    def _state(self, source: "SqliteReplicaSource", server: "Replica") -> ServerState:
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
