"""Tells which paths changed: the file system's events, gathered until they pause."""

import errno
import logging
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from graphrag_mcp.errors import RootError
from graphrag_mcp.exclusion.rule_files import stamp_of
from graphrag_mcp.ingest.watch.filter import Followed
from graphrag_mcp.ingest.watch.network_fs import shared_file_system

logger = logging.getLogger(__name__)

MAX_DELAY_SECONDS = 1.5  # A build that never pauses must not put off an edit: events wait no longer than this.
MAX_PATHS = 5_000  # Comparing the whole tree is faster than looking at more paths one by one.
# Not that a file is opened or read: whoever searches the tree, or builds it, would wake this process for each of them,
# and a search of ours that looks at what it shows would slow itself down. Nor that a folder is modified: something in
# it is.
FOLLOWED: list[type[FileSystemEvent]] = [
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
_LOST_EVENTS = "overflow"  # The word with which watchdog's log says that the kernel dropped events.
LOOK_SECONDS = 10.0  # Between two comparisons of a tree whose changes are not all told,
LOOK_SHARE = 1 / 20  # and for at most this share of the time.
LACKING = (
    "the system lets you watch no more folders, so the tree is compared every ten seconds or more; raise"
    " fs.inotify.max_user_watches and max_user_instances, or exclude folders in .graphragignore"
)


@dataclass(frozen=True, slots=True)
class Batch:
    """Paths that changed, relative to the root; `everything` when events were lost and the whole tree must be read.

    why: what keeps this from being told of every change, "" if nothing does.
    """

    paths: tuple[str, ...]
    everything: bool = False
    why: str = ""


def watch(
    followed: Followed,
    debounce_seconds: float,
    stop: threading.Event,
    is_over: Callable[[], bool] = lambda: False,
) -> Generator[Batch]:
    """Yield what changed, at first everything: until `stop` is set, `is_over` says so, or the watch must begin anew.

    It must where rules changed, folders were moved, events were lost, and, every ten seconds or more, where not all
    changes are told. `is_over` is asked twice a second. A batch ends `debounce_seconds` after its last event, or
    MAX_DELAY_SECONDS after its first. A move is two paths. What is not indexed wakes nobody, and where each folder
    takes a watch of its own, those that can hold nothing else have none.

    Raises RootError when the folder cannot be watched.
    """
    pending = _Pending(followed)
    with _observing(followed, pending) as observer:
        rules = followed.stamps()
        why = _why_not_told(followed, observer)
        began = time.monotonic()
        yield Batch((), everything=True, why=why)  # What changed before the watch stood.
        pause = max(LOOK_SECONDS, (time.monotonic() - began) / LOOK_SHARE) if why else math.inf
        due = time.monotonic() + pause
        while not stop.is_set() and time.monotonic() < due and not is_over():
            batch = pending.take(debounce_seconds, stop)
            is_lost = batch is not None and batch.everything
            have_rules_changed = any(stamp_of(file) != was for file, was in rules.items() | followed.stamps().items())
            if is_lost or have_rules_changed or _is_outdated(observer) or (not why and _lacks(observer)):
                return
            if batch is not None:
                yield batch


def _why_not_told(followed: Followed, observer: BaseObserver | None) -> str:
    if _lacks(observer):
        return LACKING
    if kind := shared_file_system(followed):
        shared = "is, or holds, a folder that is shared"
        return f"{followed.root} {shared} ({kind}): it is compared every ten seconds or more, for what others change"
    return ""


def _lacks(observer: BaseObserver | None) -> bool:
    return observer is None or getattr(observer, "lacks_watches", False)


def _is_outdated(observer: BaseObserver | None) -> bool:
    """Tell whether other folders should be watched than are, or the root is gone."""
    if observer is None:
        return False
    return getattr(observer, "is_outdated", False) or not all(one.is_alive() for one in observer.emitters)


@contextmanager
def _observing(followed: Followed, pending: "_Pending") -> Iterator[BaseObserver | None]:
    """Fill `pending` from the file system's events; nothing does where the system allows no watch at all."""
    observer: BaseObserver | None = None
    with ExitStack() as ending:
        ending.enter_context(_hearing(pending))
        try:
            observer = _observer(followed)
            ending.callback(_end, observer)
            observer.schedule(pending, str(followed.root), recursive=True, event_filter=FOLLOWED)
            observer.start()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EMFILE):
                why = error.strerror or error
                raise RootError(
                    f"{followed.root} cannot be watched ({why}); run `graphrag-mcp index` after your edits"
                ) from error
            observer = None
        yield observer


@dataclass(slots=True, eq=False)  # Watchdog keeps its handlers in a set.
class _Pending(FileSystemEventHandler):
    """The events since the last batch; filled by watchdog's thread, emptied by ours."""

    followed: Followed
    paths: dict[str, None] = field(default_factory=dict)
    everything: bool = False
    first: float = 0.0
    last: float = 0.0
    woken: threading.Event = field(default_factory=threading.Event)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def on_any_event(self, event: FileSystemEvent) -> None:
        for location in (event.src_path, event.dest_path):
            path = self._relative(location)
            if path and self.followed.is_rule(path):
                self.lose()
            elif path and (path in self.paths or self.followed.is_wanted(path, event.is_directory)):
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
            path = Path(text).relative_to(self.followed.root).as_posix() if text else ""
            path.encode()  # What is not UTF-8 is not indexed.
        except ValueError:
            return ""
        return path


def _observer(followed: Followed) -> BaseObserver:
    if sys.platform != "linux":
        return Observer()
    from graphrag_mcp.ingest.watch.inotify import InotifyObserver

    prefix = len(os.fsencode(followed.root).rstrip(b"/") + b"/")
    return InotifyObserver(lambda folder: followed.may_hold(os.fsdecode(folder[prefix:])))


def _end(observer: BaseObserver) -> None:
    observer.stop()
    if observer.is_alive():
        observer.join()


@contextmanager
def _hearing(pending: _Pending) -> Iterator[None]:
    """Hear watchdog say that the kernel dropped events; what else it has to say is for nobody but us."""
    log, handler = logging.getLogger("watchdog"), _LostEvents(pending)
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)


class _LostEvents(logging.Handler):
    """Hears what watchdog tells its log and nobody else."""

    def __init__(self, pending: _Pending) -> None:
        super().__init__(logging.WARNING)
        self._pending = pending

    def emit(self, record: logging.LogRecord) -> None:
        logger.debug("watchdog: %s", record.getMessage())
        if _LOST_EVENTS in record.getMessage().lower():
            self._pending.lose()
