"""Copies the index to servers: only the files that a server lacks, in batches that a failure may interrupt.

The index file is the source. It records which files each server has confirmed, so that an outage costs time only, and
no file is parsed or embedded again for a server.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from graphrag_mcp.errors import GraphragError, RemovalError
from graphrag_mcp.model.reports import SyncReport
from graphrag_mcp.stores.replica import RelatedFile, Replica, ReplicatedFile
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource
from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:  # Who does not copy imports nothing of it.
    from graphrag_mcp.replication.relations import Collected, TreeRelations

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


def synchronise(
    source: SqliteReplicaSource,
    relations: "TreeRelations",
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


def relations_of(server: Replica) -> str:
    """Return the name under which the index file records the relations that a server holds."""
    return f"{server.name} relations"


def has_relations(source: SqliteReplicaSource, server: Replica) -> bool:
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


def _marks(files: Iterable[ReplicatedFile | RelatedFile]) -> dict[str, str]:
    return {file.path: file.mark for file in files}


@dataclass(slots=True)
class _Run:
    """One replication to one server; see `synchronise`."""

    source: SqliteReplicaSource
    relations: "TreeRelations"
    server: Replica
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

    def _confirm(self, total: int, batch: Sequence[ReplicatedFile]) -> None:
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

    def _read(self, paths: Sequence[str]) -> Iterator[ReplicatedFile]:
        for start in range(0, len(paths), BATCH_FILES):
            yield from self.source.read(paths[start : start + BATCH_FILES])
