"""Keeps a project's index up to date: writes it unless another process does, follows edits, yields to searches."""

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphrag_mcp.errors import GraphragError, IndexDamagedError, IndexLockedError, IndexStoreError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.index.failures import explain
from graphrag_mcp.index.freshness import size_of
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.index.history import HistoryFollower
from graphrag_mcp.index.second_look import SecondModel
from graphrag_mcp.index.stores import IndexStores
from graphrag_mcp.index.write_lock import Holder
from graphrag_mcp.model.reports import IndexPhase, IndexReport, IndexState, Progress
from graphrag_mcp.settings import IndexingSettings
from graphrag_mcp.stores.sqlite.catalog import Counts

if TYPE_CHECKING:  # Who only asks imports nothing that parses or watches.
    from graphrag_mcp.index.indexer import Indexer, ReportProgress
    from graphrag_mcp.index.watcher import Batch

logger = logging.getLogger(__name__)

REFRESHED_FILES = 5  # A search waits for no more changed files to be indexed.
REFRESHED_BYTES = 300_000  # A search waits for no larger file to be parsed.
REFRESH_WAIT_SECONDS = 0.1
RETRY_SECONDS = 2.0  # A reader checks at this interval whether the writer has ended.
SOUND_SECONDS = 60.0  # Damage that recurs sooner is not repaired at once: the disk may be failing.
LOST = "the index file was removed or replaced; it is being rebuilt"
BROKEN = "its last run failed unexpectedly; the server's error output has the details"
UNFINISHED = "its last run did not finish, and no process continues it; run `graphrag-mcp index`"


def may_refresh(sizes: Sequence[int], in_background: bool, is_settled: bool) -> bool:
    """Return whether files of these sizes in bytes may be indexed while a search waits: by a server, few and small."""
    return in_background and is_settled and len(sizes) <= REFRESHED_FILES and max(sizes, default=0) <= REFRESHED_BYTES


def pause_after_damage(now: float, damaged_at: float) -> float:
    """Return the seconds to wait before an index is built again; damaged_at: the previous time."""
    return 0.0 if now - damaged_at > SOUND_SECONDS else RETRY_SECONDS


def state_of(counts: Counts, is_complete: bool, holder: Holder | None, frozen: str = "") -> IndexState:
    """Return the state of an index file. holder: its writer, None when there is none. frozen: why there can be none."""
    if holder is not None:
        frozen = f"{holder} keeps it up to date; {holder.advice}" if holder.is_silent else ""
    if is_complete:
        return IndexState(IndexPhase.READY, counts.files, counts.files, counts.chunks, message=frozen)
    if frozen:
        return IndexState(IndexPhase.FAILED, counts.files, 0, counts.chunks, message=frozen)
    if holder is not None:
        return IndexState(
            IndexPhase.BUILDING, counts.files, 0, counts.chunks, message=f"{holder} is building the index"
        )
    if counts.files:
        return IndexState(IndexPhase.FAILED, counts.files, 0, counts.chunks, message=UNFINISHED)
    return IndexState(IndexPhase.EMPTY)


def as_reader(state: IndexState, holder: Holder | None) -> IndexState:
    """Return the state of an index file as a reader reports it: what is not complete, the writer is building.

    holder: the writer, None when it is not known. Nothing is built while the state says why not.
    """
    if state.state is IndexPhase.READY or (state.state is IndexPhase.FAILED and state.message != UNFINISHED):
        return state
    return replace(state, state=IndexPhase.BUILDING, message=f"{holder or Holder()} is building the index")


ReportRun = Callable[[IndexReport], None]


class SearchPriority:
    """Counts the running searches, so that an index run can wait for them."""

    def __init__(self) -> None:
        self.idle = threading.Event()  # It is set while no search runs.
        self.idle.set()
        self._searches = 0
        self._guard = threading.Lock()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Pause the index runs of this process during the block."""
        with self._guard:
            self._searches += 1
            self.idle.clear()
        try:
            yield
        finally:
            with self._guard:
                self._searches -= 1
                if not self._searches:
                    self.idle.set()


class Supervisor:
    """Owns this process's part in keeping an index up to date: as its writer, or as a reader that may take over."""

    def __init__(
        self,
        root: Path,
        start: str,
        settings: IndexingSettings,
        handle: Handle,
        exclusion: ExclusionManager,
        stop: threading.Event,
        past: tuple[Path, str],
    ) -> None:
        """start: the subfolder that is indexed, or "". stop: ends everything that runs in the background.

        past: the repository and the commit whose ancestors are the history, "" for what is checked out.
        """
        self._root = root
        self._start = start
        self._settings = settings
        self._handle = handle
        self._exclusion = exclusion
        self._stop = stop
        self._state = IndexState(IndexPhase.EMPTY)
        self._background: threading.Thread | None = None
        self.settled = threading.Event()  # Set while the index is ready, or has failed.
        # One run at a time holds it: of the watcher, or of a search that refreshes files.
        self._running = threading.Lock()
        self._in_long_run = True
        self._polling_reason = ""
        self._damaged_at = -math.inf
        self.search_priority = SearchPriority()
        self.history = HistoryFollower(*past, handle, stop, self.search_priority.idle)
        idle = self.search_priority.idle
        self.second = SecondModel(settings.embedding_model, handle, stop, idle, self._running.locked)

    # ------------------------------------------------------------ state

    @property
    def in_background(self) -> bool:
        """Whether this process keeps the index up to date in the background, as a server does."""
        return self._background is not None

    def state(self, index: IndexStores | None = None) -> IndexState:
        """Return how complete the index is. index: the one that a search reads, so that both see the same commit.

        Raises IndexDamagedError while the file has to be examined.
        """
        state = self._state
        if state.state is IndexPhase.EMPTY:
            state = self._stored_state(index)
        if state.state is IndexPhase.READY:
            index = index or self._handle.searched()
            is_lost = not index.catalog.meta("indexed_at")
        else:  # An index that is kept up to date is never left empty.
            is_lost = state.state is IndexPhase.EMPTY and self.in_background
        if is_lost:
            self.settled.clear()
            return IndexState(IndexPhase.BUILDING, message=LOST)
        return state

    def wait_ready(self, timeout_seconds: float) -> IndexState:
        self.settled.wait(timeout_seconds)
        return self.state()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The reason why this process polls for edits, if it does, and why there is no second look."""
        return tuple(filter(None, (self._polling_reason, self.second.problem)))

    # ------------------------------------------------------------ indexing

    def start(self) -> None:
        """Bring the index up to date and keep it so, in the background; returns at once."""
        self._state = IndexState(IndexPhase.BUILDING, message="starting")
        self._handle.repairs_itself = True
        self._background = threading.Thread(target=self._supervise, name="index", daemon=True)
        self._background.start()
        self.second.start()

    def index(self, rebuild: bool = False, progress: "ReportProgress | None" = None) -> IndexReport:
        """Bring the index up to date; raises IndexLockedError while another process writes it."""
        try:
            return self._index_once(rebuild, progress)
        except IndexDamagedError:
            return self._index_once(rebuild, progress)

    def watch(self, stop: threading.Event, report: ReportRun) -> None:
        """Follow the edits until `stop` is set; raises IndexLockedError while another process writes the index."""
        while not stop.is_set():
            try:
                with self._handle.writing(), self.history.following():
                    self._follow_edits(stop, report)
            except IndexDamagedError as error:
                logger.warning("%s", error)

    def refresh_stale(self, paths: Collection[str]) -> bool:
        """Index changed files before a search shows them, if that is quick; return whether it was done."""
        sizes = [size_of(self._root / path) for path in paths]
        if not may_refresh(sizes, self.in_background, self.settled.is_set()):
            return False
        if not self._running.acquire(timeout=0.0 if self._in_long_run else REFRESH_WAIT_SECONDS):
            return False
        try:
            with self._handle.writing_briefly() as may_write:
                if may_write:  # A search does not wait for git if a later run of the watcher reads the history.
                    ask_git = self._settings.watch == "off"
                    self._indexer(gives_way=False).update(paths, self._stop, ask_git=ask_git)
                return may_write
        except (sqlite3.Error, OSError, GraphragError) as error:
            logger.warning("could not re-index changed files; showing them at their current lines: %s", error)
            return False
        finally:
            self._running.release()

    # ------------------------------------------------------------ inside

    def _index_once(self, rebuild: bool, progress: "ReportProgress | None") -> IndexReport:
        with self._handle.writing():
            if rebuild:
                self._handle.written().discard()
            report = self._reconcile(progress, reuse=not rebuild)
            self.history.read()
            return report

    def _supervise(self) -> None:
        """Write the index while no other process does: build it, then follow the edits; else wait for the writer."""
        while not self._stop.is_set():
            pause = RETRY_SECONDS
            try:
                self._write_or_follow_writer()
                while self._settings.watch == "off" and not self._stop.is_set() and not self._is_lost():
                    self._stop.wait(RETRY_SECONDS)
            except IndexDamagedError as error:
                self.settled.clear()
                self._state = IndexState(IndexPhase.BUILDING, message=str(error))
                now = time.monotonic()
                pause = pause_after_damage(now, self._damaged_at)
                self._damaged_at = now
            except Exception as error:
                if self._stop.is_set():
                    return  # It was closed in the middle of a run.
                # Searches go on after any failure of an index run, and the next turn tries again.
                message = explain(error) or BROKEN
                if self._state.message != message:
                    expected = isinstance(error, GraphragError)
                    logger.warning("the index cannot be kept up to date: %s", message, exc_info=not expected)
                self._state = replace(self._state, state=IndexPhase.FAILED, message=message)
                self.settled.set()
            self._stop.wait(pause)

    def _write_or_follow_writer(self) -> None:
        try:
            with self._handle.writing():
                self._reconcile(None)
                if self._settings.watch == "auto":
                    with self.history.following():
                        self._follow_edits(self._stop, None)
                else:
                    self.history.read()
        except IndexDamagedError:
            raise
        except IndexStoreError as error:
            if not (isinstance(error, IndexLockedError) or self._handle.frozen):
                raise
            self._follow_writer()

    def _follow_writer(self) -> None:
        """Take over the state that the writer has committed so far."""
        if self._handle.is_in_doubt:
            self._handle.repair()
        self._handle.load_model()
        try:
            state = self._stored_state()
        except sqlite3.Error as error:
            raise self._handle.suspect(error) from error
        self._state = as_reader(state, self._handle.holder())
        if self._state.state.is_settled:
            self.settled.set()
        else:
            self.settled.clear()

    def _is_lost(self) -> bool:
        """Return whether the index file was damaged, replaced or removed since the index was complete."""
        try:
            return self.state().state is not IndexPhase.READY
        except IndexDamagedError:
            return True
        except sqlite3.Error as error:
            self._handle.suspect(error)
            return self._handle.is_in_doubt

    def _reconcile(self, progress: "ReportProgress | None", *, reuse: bool = True) -> IndexReport:
        def note(step: Progress) -> None:
            done = (step.files_done, step.files_total, step.chunks, step.seconds_left)
            self._state = IndexState(IndexPhase.BUILDING, *done)
            if progress is not None:
                progress(step)

        with self._running:
            report = self._indexer(reuse=reuse).reconcile(note, self._stop)
            self._handle.tidy()
        self._state = self._stored_state()
        self.settled.set()
        self._handle.examine()
        return report

    def _follow_edits(self, stop: threading.Event, report: ReportRun | None) -> None:
        from graphrag_mcp.index.watcher import WatchedTree, watch

        tree = WatchedTree(self._exclusion, self._start)
        while not stop.is_set():
            self._exclusion.reload()
            with closing(watch(tree, stop, self._is_lost)) as batches:
                for batch in batches:
                    self._apply_batch(batch, stop, report)
            if not stop.is_set() and self._is_lost():
                raise IndexDamagedError(LOST)

    def _apply_batch(self, batch: "Batch", stop: threading.Event, report: ReportRun | None) -> None:
        if batch.everything and batch.why != self._polling_reason:
            self._polling_reason = batch.why
            if batch.why:
                logger.warning(batch.why)
        with self._running:
            indexer = self._indexer()
            # An incomplete index means that the file was replaced.
            compares = batch.everything or self._stored_state().state is not IndexPhase.READY
            self._in_long_run = compares or len(batch.paths) > REFRESHED_FILES
            done = indexer.reconcile(stop=stop) if compares else indexer.update(batch.paths, stop)
            self._in_long_run = False
        self._state = self._stored_state()
        if report is not None and (done.added or done.changed or done.removed):
            report(done)

    def _indexer(self, *, reuse: bool = True, gives_way: bool = True) -> "Indexer":
        from graphrag_mcp.exclusion.manager import ArchiveClassifier, StatedCategories
        from graphrag_mcp.index.indexer import Indexer

        index = self._handle.written()
        return Indexer(
            self._exclusion,
            self._start,
            ArchiveClassifier(self._settings.archive_patterns),
            StatedCategories(self._exclusion.root),
            index.database,
            index.catalog,
            index.writer,
            self._handle.embedder,
            self._handle.paths.quarantine,
            workers=self._settings.workers,
            reuse=reuse,
            idle=self.search_priority.idle if gives_way else None,
        )

    def _stored_state(self, index: IndexStores | None = None) -> IndexState:
        """Return the state that is stored in the index file, with the process that builds it."""
        catalog = (index or self._handle.searched()).catalog
        is_complete = bool(catalog.meta("indexed_at"))
        return state_of(catalog.counts(), is_complete, self._handle.holder(), self._handle.frozen)
