"""Keeps a project's index: writes it while nobody else does, follows the edits, and makes way for searches."""

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from graphrag_mcp.errors import GraphragError, IndexDamagedError, IndexLockedError
from graphrag_mcp.exclusion.archive import ArchiveClassifier
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.index.failures import explain
from graphrag_mcp.index.freshness import size_of
from graphrag_mcp.index.handle import ProjectIndex
from graphrag_mcp.index.write_lock import Holder
from graphrag_mcp.ingest.indexer import Indexer, ReportProgress
from graphrag_mcp.ingest.watch.watcher import Batch, WatchedTree, watch
from graphrag_mcp.model.reports import IndexReport, IndexState, Progress
from graphrag_mcp.settings import IndexingSettings

logger = logging.getLogger(__name__)

TAKEOVER_SECONDS = 2.0  # How often a reader looks whether the writer has gone.
RENEWED_FILES = 5  # A search waits for so many changed files at most, and for none that takes longer to parse.
RENEWED_BYTES = 300_000
RENEW_WAIT_SECONDS = 0.1
CALM_SECONDS = 60.0  # A file that is damaged again before that is not built again at once: the disk may be broken.
LOST = "the index file was removed or replaced, so it is built again"
BROKEN = "its last run failed unexpectedly; the server's error output has the details"
UNFINISHED = "its last run did not finish, and no process goes on with it; run `graphrag-mcp index`"

ReportRun = Callable[[IndexReport], None]


class IndexKeeper:
    """One process's part in keeping an index up to date: as its writer, or waiting for the writer's end."""

    def __init__(
        self,
        root: Path,
        start: str,
        settings: IndexingSettings,
        index: ProjectIndex,
        exclusion: ExclusionManager,
        stop: threading.Event,
    ) -> None:
        """start: the subfolder that is indexed, or "". stop: ends everything that runs in the background."""
        self._root = root
        self._start = start
        self._settings = settings
        self._index = index
        self._exclusion = exclusion
        self._stop = stop
        self._state = IndexState("empty")
        self._background: threading.Thread | None = None
        self._settled = threading.Event()
        self._running = threading.Lock()  # One run at a time: the watcher's, or a search's for what it shows.
        self._is_long_run = True
        self._why_compared = ""
        self._damaged_at = -math.inf
        self._searches = 0
        self._counting = threading.Lock()
        self._calm = threading.Event()
        self._calm.set()

    # ------------------------------------------------------------ how far it is

    @property
    def in_background(self) -> bool:
        """Whether this process keeps the index by itself, as a server does."""
        return self._background is not None

    @property
    def is_settled(self) -> bool:
        """Whether the index is ready, or has failed."""
        return self._settled.is_set()

    def state(self) -> IndexState:
        """Return how complete the index is. Raises IndexDamagedError while it is in doubt whether it can be read."""
        if self._state.state == "ready" and not self._index.searched().catalog.meta("indexed_at"):
            self._settled.clear()
            return IndexState("building", message=LOST)
        return self._state if self._state.state != "empty" else self._stored_state()

    def wait_ready(self, timeout_seconds: float | None = None) -> IndexState:
        """Wait until the index is ready or has failed, at most so long, and return its state."""
        self._settled.wait(timeout_seconds)
        return self.state()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What keeps this process from following every edit."""
        return (self._why_compared,) if self._why_compared else ()

    def wait_calm(self) -> None:
        """Wait until no search is being answered."""
        self._calm.wait()

    # ------------------------------------------------------------ keeping it

    def start(self) -> None:
        """Bring the index up to date and keep it so, in the background; returns at once."""
        self._state = IndexState("building", message="starting")
        self._index.mends_itself = True
        self._background = threading.Thread(target=self._keep_fresh, name="index", daemon=True)
        self._background.start()

    def index(self, rebuild: bool = False, progress: ReportProgress | None = None) -> IndexReport:
        """Bring the index up to date; raises IndexLockedError while another process writes it."""
        try:
            return self._index_once(rebuild, progress)
        except IndexDamagedError:
            return self._index_once(rebuild, progress)

    def watch(self, stop: threading.Event, report: ReportRun | None) -> None:
        """Follow the edits until `stop` is set; raises IndexLockedError while another process writes the index."""
        while not stop.is_set():
            try:
                with self._index.writing():
                    self._follow(stop, report)
            except IndexDamagedError as error:
                logger.warning("%s", error)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let an index run of this process wait: a search goes first."""
        with self._counting:
            self._searches += 1
            self._calm.clear()
        try:
            yield
        finally:
            with self._counting:
                self._searches -= 1
                if not self._searches:
                    self._calm.set()

    def renew(self, paths: Collection[str]) -> bool:
        """Index files before they are shown: few and small ones, by a server, while nothing else is being written."""
        if not self.in_background or len(paths) > RENEWED_FILES or not self.is_settled:
            return False
        sizes = [size_of(self._root / path) for path in paths]
        wait = 0.0 if self._is_long_run else RENEW_WAIT_SECONDS
        if max(sizes) > RENEWED_BYTES or not self._running.acquire(timeout=wait):
            return False
        try:
            with self._index.writing_briefly() as may_write:
                if may_write:  # A search does not wait for git where a run that asks it follows the edit.
                    ask_git = self._settings.watch == "off"
                    self._indexer(gives_way=False).update(paths, self._stop, ask_git=ask_git)
                return may_write
        except (sqlite3.Error, OSError, GraphragError) as error:
            logger.warning("what changed is found again where it stands, since it cannot be indexed now: %s", error)
            return False
        finally:
            self._running.release()

    # ------------------------------------------------------------ inside

    def _index_once(self, rebuild: bool, progress: ReportProgress | None) -> IndexReport:
        with self._index.writing():
            if rebuild:
                self._index.written().discard()
            return self._reconcile(progress, reuse=not rebuild)

    def _keep_fresh(self) -> None:
        """Write the index while no other process does: build it, then follow the edits; else wait for its end."""
        while not self._stop.is_set():
            pause = TAKEOVER_SECONDS
            try:
                self._write_or_read_along()
                while self._settings.watch == "off" and not self._stop.is_set() and not self._is_lost():
                    self._stop.wait(TAKEOVER_SECONDS)
            except IndexDamagedError as error:
                self._settled.clear()
                self._state = IndexState("building", message=str(error))
                if time.monotonic() - self._damaged_at > CALM_SECONDS:
                    pause = 0.0
                self._damaged_at = time.monotonic()
            except Exception as error:
                if self._stop.is_set():
                    return  # Closed in the middle of a run.
                # Whatever breaks an index run, the searches go on, and the next turn tries again.
                message = explain(error) or BROKEN
                if self._state.message != message:
                    expected = isinstance(error, GraphragError)
                    logger.warning("the index cannot be kept up to date: %s", message, exc_info=not expected)
                self._state = replace(self._state, state="failed", message=message)
                self._settled.set()
            self._stop.wait(pause)

    def _write_or_read_along(self) -> None:
        try:
            with self._index.writing():
                self._reconcile(None)
                if self._settings.watch == "auto":
                    self._follow(self._stop, None)
        except IndexLockedError:
            self._read_along()

    def _read_along(self) -> None:
        """Show what the writing process has committed so far."""
        if self._index.is_in_doubt:
            self._index.mend()
        self._index.load_model()
        try:
            self._state = self._stored_state()
        except sqlite3.Error as error:
            raise self._index.doubt(error) from error
        if self._state.state == "ready":
            self._settled.set()
        else:
            self._settled.clear()
            builder = self._index.holder() or Holder()
            self._state = replace(self._state, state="building", message=f"{builder} is building the index")

    def _is_lost(self) -> bool:
        """Tell whether the index file was damaged, replaced or removed since the index was complete."""
        try:
            return self.state().state != "ready"
        except IndexDamagedError:
            return True
        except sqlite3.Error as error:
            self._index.doubt(error)
            return self._index.is_in_doubt

    def _reconcile(self, progress: ReportProgress | None, *, reuse: bool = True) -> IndexReport:
        def note(step: Progress) -> None:
            self._state = IndexState("building", step.files_done, step.files_total, step.chunks, step.seconds_left)
            if progress is not None:
                progress(step)

        with self._running:
            report = self._indexer(reuse=reuse).reconcile(note, self._stop)
            self._index.tidy()
        self._state = self._stored_state()
        self._settled.set()
        self._index.examine()
        return report

    def _follow(self, stop: threading.Event, report: ReportRun | None) -> None:
        tree = WatchedTree(self._exclusion, self._start)
        while not stop.is_set():
            self._exclusion.reload()
            with closing(watch(tree, self._settings.debounce_seconds, stop, self._is_lost)) as batches:
                for batch in batches:
                    self._take_in(batch, stop, report)
            if not stop.is_set() and self._is_lost():
                raise IndexDamagedError(LOST)

    def _take_in(self, batch: Batch, stop: threading.Event, report: ReportRun | None) -> None:
        if batch.everything and batch.why != self._why_compared:
            self._why_compared = batch.why
            if batch.why:
                logger.warning(batch.why)
        with self._running:
            indexer, is_whole = self._indexer(), self._stored_state().state == "ready"
            everything = batch.everything or not is_whole  # Another file than before: replaced.
            self._is_long_run = everything or len(batch.paths) > RENEWED_FILES
            done = indexer.reconcile(stop=stop) if everything else indexer.update(batch.paths, stop)
            self._is_long_run = False
        self._state = self._stored_state()
        if report is not None and (done.added or done.changed or done.removed):
            report(done)

    def _indexer(self, *, reuse: bool = True, gives_way: bool = True) -> Indexer:
        index = self._index.written()
        return Indexer(
            self._root,
            self._exclusion,
            ArchiveClassifier(self._settings.archive_patterns),
            index.catalog,
            index.writer,
            self._index.embedder,
            self._index.place.suspects,
            workers=self._settings.workers,
            start=self._start,
            reuse=reuse,
            calm=self._calm if gives_way else None,
        )

    def _stored_state(self) -> IndexState:
        """Return the state that the index file itself tells, and who builds it."""
        catalog = self._index.searched().catalog
        counts = catalog.counts()
        if catalog.meta("indexed_at"):
            return IndexState("ready", counts.files, counts.files, counts.chunks)
        if builder := self._index.holder():
            return IndexState("building", counts.files, 0, counts.chunks, message=f"{builder} is building the index")
        if counts.files:
            return IndexState("failed", counts.files, 0, counts.chunks, message=UNFINISHED)
        return IndexState("empty")
