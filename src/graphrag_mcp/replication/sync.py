"""Copies the index to servers: only what each of them lacks, whole files, in batches that any failure may cut short.

The index file is the truth. What a server holds is remembered there, file by file, after the server has confirmed it,
so an outage costs nothing but time, and nothing is ever parsed or embedded again for a server's sake.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from graphrag_mcp.errors import GraphragError
from graphrag_mcp.model.reports import SyncReport
from graphrag_mcp.stores.projection import ProjectedFile, Projection
from graphrag_mcp.stores.sqlite.projection import SqliteProjectionSource

logger = logging.getLogger(__name__)

BATCH_FILES = 200
BATCH_CHUNKS = 1500  # A transaction of a few megabytes.
MAX_PASSES = 5  # A pass makes files pending whose relations it changed; those change nothing further.

ReportSync = Callable[[str, int, int], None]


def synchronise(
    source: SqliteProjectionSource,
    server: Projection,
    *,
    verify: bool = False,
    rebuild: bool = False,
    stop: threading.Event | None = None,
    progress: ReportSync | None = None,
) -> SyncReport:
    """Send the server what it lacks and remove what the index no longer has; returns what was done, and why not more.

    verify: compare what the server holds with the index first; without any marks that is always done.
    rebuild: remove everything there and start over.
    progress hears of (server, files done, files in all).
    """
    run = _Run(source, server, stop or threading.Event(), progress)
    try:
        if server.prepare() or rebuild:
            source.forget(server.name)
        if rebuild:
            server.clear()
        elif verify or not source.holds_any(server.name):  # Another machine may have filled it.
            run.compare()
        run.send()
        run.finish()
    except GraphragError as error:
        run.problem = str(error)
    return run.report()


class _Run:
    def __init__(
        self,
        source: SqliteProjectionSource,
        server: Projection,
        stop: threading.Event,
        progress: ReportSync | None,
    ) -> None:
        self._source = source
        self._server = server
        self._stop = stop
        self._progress = progress
        self._started = time.monotonic()
        self._counts = dict.fromkeys(("written", "removed", "chunks", "missing", "outdated", "foreign"), 0)
        self.problem = ""

    def compare(self) -> None:
        """Take the marks back of what the server does not hold as the index has it."""
        there, here = dict(self._server.versions()), self._source.versions()
        marked = set(here) - set(self._source.pending(self._server.name))
        missing = [path for path, (_, chunks) in here.items() if path not in there and chunks and path in marked]
        outdated = [path for path, held in there.items() if path in here and held != here[path] and path in marked]
        foreign = [path for path in there if path not in here]
        self._source.forget(self._server.name, [*missing, *outdated])
        self._source.mark_foreign(self._server.name, foreign)
        for kind, paths in (("missing", missing), ("outdated", outdated), ("foreign", foreign)):
            self._counts[kind] += len(paths)

    def send(self) -> None:
        """Remove what is gone, then write what is pending; files whose relations that changes become pending too."""
        name = self._server.name
        gone = self._source.gone(name)
        if gone:
            self._prepare_others((), gone)
            self._server.delete(gone)
            self._source.forget(name, gone)
            self._counts["removed"] += len(gone)
        empty, begun_at = not self._source.holds_any(name), self._source.commit()
        for _ in range(MAX_PASSES):
            pending = self._source.pending(name)
            if not pending:
                return
            with ThreadPoolExecutor(1, thread_name_prefix="sync") as beside:
                under_way: tuple[Future[None], list[ProjectedFile]] | None = None
                for batch in self._batches(pending):  # Read and settled while the server takes the batch before.
                    self._confirm(under_way, len(pending))
                    under_way = None
                    if self._stop.is_set():
                        return
                    # What is read at one time fits together: only an older copy can have to be mended.
                    if not empty or self._source.commit() != begun_at:
                        self._prepare_others(batch, ())
                    under_way = beside.submit(self._server.write, batch), batch
                self._confirm(under_way, len(pending))

    def finish(self) -> None:
        """Make sure by one count that the server holds what it was given, and send what it lost."""
        if self._stop.is_set() or self._source.pending(self._server.name):
            return
        if self._server.chunks() != self._source.chunks():
            self.compare()
            self.send()
        changed = bool(self._counts["written"] or self._counts["removed"])
        self._server.finish(self._source.frequencies, changed=changed)

    def _confirm(self, under_way: "tuple[Future[None], list[ProjectedFile]] | None", total: int) -> None:
        """Wait until the server has a batch, and remember that it does."""
        if under_way is None:
            return
        future, batch = under_way
        future.result()
        self._source.mark(self._server.name, batch)
        self._counts["written"] += len(batch)
        self._counts["chunks"] += sum(len(file.chunks) for file in batch)
        if self._progress is not None:
            self._progress(self._server.name, self._counts["written"], total)

    def report(self) -> SyncReport:
        """Return what was done."""
        seconds = time.monotonic() - self._started
        return SyncReport(self._server.name, seconds=seconds, problem=self.problem, **self._counts)

    def _batches(self, paths: Sequence[str]) -> Iterator[list[ProjectedFile]]:
        batch: list[ProjectedFile] = []
        chunks = 0
        for start in range(0, len(paths), BATCH_FILES):
            for file in self._source.read(paths[start : start + BATCH_FILES], with_edges=self._server.keeps_edges):
                if batch and chunks + len(file.chunks) > BATCH_CHUNKS:
                    yield batch
                    batch, chunks = [], 0
                batch.append(file)
                chunks += len(file.chunks)
        if batch:
            yield batch

    def _prepare_others(self, files: Sequence[ProjectedFile], gone: Sequence[str]) -> None:
        """Take back the marks of files whose relations will mean something else, before that is so."""
        if not self._server.keeps_edges:
            return
        changing = self._server.changing(files, gone)
        others = {*self._source.mentioning(changing), *changing.dependents} - {file.path for file in files}
        if others:
            self._source.forget(self._server.name, others)
