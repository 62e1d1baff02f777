"""Copies the index to servers: only the files that a server lacks, in batches that a failure may interrupt.

The index file is the source. It records which files each server has confirmed, so that an outage costs time only, and
no file is parsed or embedded again for a server.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from graphrag_mcp.errors import GraphragError, RemovalError
from graphrag_mcp.model.reports import SyncReport
from graphrag_mcp.stores.replica import Replica, ReplicatedFile
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource
from graphrag_mcp.text.counts import counted

logger = logging.getLogger(__name__)

BATCH_FILES = 200
BATCH_CHUNKS = 1500  # A transaction has a few megabytes.
MAX_PASSES = 5  # The index may change while it is copied.

REMOVABLE_FRACTION = 0.5  # A larger fraction of a server's files is removed only after a confirmation.
_COUNTED = ("written", "removed", "chunks", "missing", "outdated", "foreign")
NAMED = 3  # A sentence names no more files.

ReportSync = Callable[[str, int, int], None]
Versions = Mapping[str, tuple[str, int]]  # It has the version and the number of chunks of each file.
Agree = Callable[[str], bool]  # It is called with what would be removed, as a clause.


def synchronise(
    source: SqliteReplicaSource,
    server: Replica,
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
    run = _Run(source, server, stop or threading.Event(), progress, agree)
    try:
        if server.prepare() or rebuild:
            source.forget(server.name)
        if rebuild:
            there, here = server.versions(), source.versions()
            run.ask([path for path in there if path not in here], len(there))
            server.clear()
        elif verify or not source.marked(server.name):  # Another machine may have written it.
            run.compare()
        run.send()
        run.finish()
    except RemovalError:
        raise
    except GraphragError as error:
        run.problem = str(error)
    return run.report()


def differing(here: Versions, there: Versions) -> list[str]:
    """Return the files that a server lacks or holds in another version."""
    return [path for path, version in here.items() if version[1] and there.get(path) != version]


def some_of(paths: Sequence[str]) -> str:
    """Return the first of some paths, and how many more there are."""
    more = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
    return ", ".join(path if path.isprintable() else repr(path) for path in sorted(paths)[:NAMED]) + more


@dataclass(slots=True)
class _Run:
    """One replication to one server; see `synchronise`."""

    source: SqliteReplicaSource
    server: Replica
    stop: threading.Event
    progress: ReportSync | None
    agree: Agree
    problem: str = ""
    started: float = field(default_factory=time.monotonic)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))

    def compare(self) -> None:
        """Mark files as pending where the server's copy is missing or outdated, and its other files for removal."""
        there, here = dict(self.server.versions()), self.source.versions()
        marked = set(here) - set(self._pending())
        missing = [path for path, (_, chunks) in here.items() if path not in there and chunks and path in marked]
        outdated = [path for path, held in there.items() if path in here and held != here[path] and path in marked]
        foreign = [path for path in there if path not in here]
        self.ask(foreign, len(there))
        self.source.forget(self.server.name, [*missing, *outdated])
        self.source.mark_foreign(self.server.name, foreign)
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
        gone, lacking = self.source.gone(name), frozenset(self._pending())
        if gone or lacking:
            self._state(lacking)
        if gone:
            if not self.counts["foreign"]:  # Otherwise it was asked when the server was compared.
                self.ask(gone, self.source.marked(name))
            self.server.delete(gone)
            self.source.forget(name, gone)
            self.counts["removed"] += len(gone)
        for _ in range(MAX_PASSES):
            pending = self._pending()
            if not pending:
                return
            with ThreadPoolExecutor(1, thread_name_prefix="sync") as beside:
                under_way: tuple[Future[None], list[ReplicatedFile]] | None = None
                for batch in self._batches(pending):  # It is read while the server writes the previous batch.
                    self._confirm(under_way, len(pending))
                    under_way = None
                    if self.stop.is_set():
                        return
                    under_way = beside.submit(self.server.write, batch), batch
                self._confirm(under_way, len(pending))

    def _pending(self) -> list[str]:
        return self.source.pending(self.server.name, with_edges=self.server.keeps_edges)

    def finish(self) -> None:
        """Compare the number of chunks, and send what the server lost."""
        if self.stop.is_set() or self._pending():
            return
        if self.server.chunks() != self.source.chunks():
            self.compare()
            self.send()
        changed = bool(self.counts["written"] or self.counts["removed"])
        self.server.finish(self.source.frequencies, changed=changed)
        self.server.write_commits(*self.source.history())
        self._state(())

    def _state(self, pending: Collection[str]) -> None:
        """State on the server what it holds whole: the files that are not pending."""
        held = {path: version for path, version in self.source.versions().items() if path not in pending}
        self.server.state(held, self.source.head(), is_whole=not pending)

    def _confirm(self, under_way: "tuple[Future[None], list[ReplicatedFile]] | None", total: int) -> None:
        """Wait until the server has written a batch, and record it."""
        if under_way is None:
            return
        future, batch = under_way
        future.result()
        self.source.mark(self.server.name, batch)
        self.counts["written"] += len(batch)
        self.counts["chunks"] += sum(len(file.chunks) for file in batch)
        if self.progress is not None:
            self.progress(self.server.name, self.counts["written"], total)

    def report(self) -> SyncReport:
        seconds = time.monotonic() - self.started
        return SyncReport(self.server.name, seconds=seconds, problem=self.problem, **self.counts)

    def _batches(self, paths: Sequence[str]) -> Iterator[list[ReplicatedFile]]:
        batch: list[ReplicatedFile] = []
        chunks = 0
        for start in range(0, len(paths), BATCH_FILES):
            for file in self.source.read(paths[start : start + BATCH_FILES], with_edges=self.server.keeps_edges):
                if batch and chunks + len(file.chunks) > BATCH_CHUNKS:
                    yield batch
                    batch, chunks = [], 0
                batch.append(file)
                chunks += len(file.chunks)
        if batch:
            yield batch
