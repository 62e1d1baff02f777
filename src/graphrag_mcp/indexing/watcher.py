"""Tells which paths changed: the file system's events, gathered until they pause."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_CLOSED_NO_WRITE,
    EVENT_TYPE_OPENED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from graphrag_mcp.errors import RootError

MAX_DELAY_SECONDS = 1.5  # A build that never pauses must not put off an edit: events wait no longer than this.
MAX_PATHS = 5_000  # Comparing the whole tree is faster than looking at more paths one by one.
_LOST_EVENTS = "overflow"  # The word with which watchdog's log says that the kernel dropped events.

IsWanted = Callable[[str, bool], bool]


@dataclass(frozen=True, slots=True)
class Batch:
    """Paths that changed, relative to the root; `everything` when events were lost and the whole tree must be read."""

    paths: tuple[str, ...]
    everything: bool = False


def watch(root: Path, is_wanted: IsWanted, debounce_seconds: float, stop: threading.Event) -> Iterator[Batch]:
    """Yield batches of changed paths until `stop` is set.

    A batch ends `debounce_seconds` after its last event, or MAX_DELAY_SECONDS after its first. A move is two paths.
    `is_wanted(path, is_dir)` drops what is not indexed before it can wake anybody.

    Raises RootError when the folder cannot be watched.
    """
    pending = _Pending(root, is_wanted)
    observer = Observer()
    watchdog_log = logging.getLogger("watchdog")
    lost = _LostEvents(pending)
    watchdog_log.addHandler(lost)
    try:
        observer.schedule(pending, str(root), recursive=True)
        observer.start()
    except OSError as error:
        watchdog_log.removeHandler(lost)
        raise RootError(
            f"{root} cannot be watched ({error.strerror or error}); raise fs.inotify.max_user_watches, or run"
            " `graphrag-mcp index` after your edits"
        ) from error
    try:
        yield Batch((), everything=True)  # What changed before the watch stood.
        while not stop.is_set():
            batch = pending.take(debounce_seconds, stop)
            if batch is not None:
                yield batch
    finally:
        observer.stop()
        observer.join()
        watchdog_log.removeHandler(lost)


@dataclass(slots=True, eq=False)  # Watchdog keeps its handlers in a set.
class _Pending(FileSystemEventHandler):
    """The events since the last batch; filled by watchdog's thread, emptied by ours."""

    root: Path
    is_wanted: IsWanted
    paths: dict[str, None] = field(default_factory=dict)
    everything: bool = False
    first: float = 0.0
    last: float = 0.0
    woken: threading.Event = field(default_factory=threading.Event)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in (EVENT_TYPE_OPENED, EVENT_TYPE_CLOSED_NO_WRITE):
            return
        if event.is_directory and event.event_type == "modified":
            return  # Every change inside a folder also modifies the folder.
        for location in (event.src_path, event.dest_path):
            path = self._relative(location)
            if path and self.is_wanted(path, event.is_directory):
                self.add(path)

    def add(self, path: str) -> None:
        with self.guard:
            self.last = time.monotonic()
            self.first = self.first or self.last
            if len(self.paths) >= MAX_PATHS:
                self.everything = True
            else:
                self.paths[path] = None
        self.woken.set()

    def lose(self) -> None:
        with self.guard:
            self.last = time.monotonic()
            self.first = self.first or self.last
            self.everything = True
        self.woken.set()

    def take(self, debounce_seconds: float, stop: threading.Event) -> Batch | None:
        """Wait for events and for their pause; None after half a second without any."""
        if not self.woken.wait(0.5):
            return None
        while not stop.is_set():
            now = time.monotonic()
            due = min(self.last + debounce_seconds, self.first + MAX_DELAY_SECONDS)
            if now >= due:
                break
            stop.wait(due - now)
        with self.guard:
            batch = Batch(tuple(self.paths), self.everything)
            self.paths, self.everything, self.first = {}, False, 0.0
            self.woken.clear()
        return batch

    def _relative(self, location: bytes | str) -> str:
        text = location.decode(errors="surrogateescape") if isinstance(location, bytes) else location
        try:
            return Path(text).relative_to(self.root).as_posix() if text else ""
        except ValueError:
            return ""


class _LostEvents(logging.Handler):
    """Hears watchdog say that the kernel dropped events, which it tells its log and nobody else."""

    def __init__(self, pending: _Pending) -> None:
        super().__init__(logging.WARNING)
        self._pending = pending

    def emit(self, record: logging.LogRecord) -> None:
        if _LOST_EVENTS in record.getMessage().lower():
            self._pending.lose()
