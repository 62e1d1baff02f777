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
MOUNTS = Path("/proc/self/mountinfo")
# Linux tells of what is written through it, not of what others write: Windows beside WSL, the host of a container.
_SHARED_FILES = frozenset({"9p", "afs", "ceph", "cifs", "drvfs", "nfs", "nfs4", "smb3", "smbfs", "fuse.sshfs"})
_SHARED_WITH_HOST = frozenset({"fakeowner", "vboxsf", "virtiofs", "fuse.grpcfuse", "fuse.osxfs", "fuse.vmhgfs-fuse"})

IsWanted = Callable[[str, bool], bool]
MayHold = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Batch:
    """Paths that changed, relative to the root; `everything` when events were lost and the whole tree must be read.

    why: what keeps this from being told of every change, "" if nothing does.
    """

    paths: tuple[str, ...]
    everything: bool = False
    why: str = ""


def watch(
    root: Path, is_wanted: IsWanted, may_hold: MayHold, debounce_seconds: float, stop: threading.Event
) -> Generator[Batch]:
    """Yield what changed, at first everything: until `stop` is set, or until the watch must begin anew.

    It must where folders were moved, events were lost, and, every ten seconds or more, where not all changes are told.
    A batch ends `debounce_seconds` after its last event, or MAX_DELAY_SECONDS after its first. A move is two paths.
    `is_wanted(path, is_dir)` drops what is not indexed before it can wake anybody. `may_hold(folder)` says whether
    anything in a folder may be wanted: where each takes a watch of its own, the others have none.

    Raises RootError when the folder cannot be watched.
    """
    pending = _Pending(root, is_wanted)
    with _observing(root, pending, may_hold) as observer:
        why = _why_not_told(root, observer)
        began = time.monotonic()
        yield Batch((), everything=True, why=why)  # What changed before the watch stood.
        pause = max(LOOK_SECONDS, (time.monotonic() - began) / LOOK_SHARE) if why else math.inf
        due = time.monotonic() + pause
        while not stop.is_set() and time.monotonic() < due:
            batch = pending.take(debounce_seconds, stop)
            if (batch is not None and batch.everything) or _is_outdated(observer) or (not why and _lacks(observer)):
                return
            if batch is not None:
                yield batch


def _why_not_told(root: Path, observer: BaseObserver | None) -> str:
    if _lacks(observer):
        return LACKING
    if kind := shared_file_system(root):
        return f"{root} is shared ({kind}): it is compared every ten seconds or more, for what others change in it"
    return ""


def _lacks(observer: BaseObserver | None) -> bool:
    return observer is None or getattr(observer, "lacks_watches", False)


def _is_outdated(observer: BaseObserver | None) -> bool:
    """Tell whether other folders should be watched than are, or the root is gone."""
    if observer is None:
        return False
    return getattr(observer, "is_outdated", False) or not all(one.is_alive() for one in observer.emitters)


def shared_file_system(root: Path) -> str:
    """Return the type of the file system that a folder lies on, if others may change it unseen; else ""."""
    try:
        device = root.stat().st_dev
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    for mount in mounts.splitlines():
        place, _, kind = mount.partition(" - ")
        if place.split(" ")[2:3] == [f"{os.major(device)}:{os.minor(device)}"]:
            name = kind.split(" ")[0]
            return name if name in _SHARED_FILES | _SHARED_WITH_HOST else ""
    return ""


@contextmanager
def _observing(root: Path, pending: "_Pending", may_hold: MayHold) -> Iterator[BaseObserver | None]:
    """Fill `pending` from the file system's events; nothing does where the system allows no watch at all."""
    watchdog_log = logging.getLogger("watchdog")
    lost = _LostEvents(pending)
    observer: BaseObserver | None = None
    with ExitStack() as ending:
        watchdog_log.addHandler(lost)
        ending.callback(watchdog_log.removeHandler, lost)
        try:
            observer = _observer(root, may_hold)
            ending.callback(_end, observer)
            observer.schedule(pending, str(root), recursive=True, event_filter=FOLLOWED)
            observer.start()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EMFILE):
                raise RootError(
                    f"{root} cannot be watched ({error.strerror or error}); run `graphrag-mcp index` after your edits"
                ) from error
            observer = None
        yield observer


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
        for location in (event.src_path, event.dest_path):
            path = self._relative(location)
            if path and (path in self.paths or self.is_wanted(path, event.is_directory)):
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
            path = Path(text).relative_to(self.root).as_posix() if text else ""
            path.encode()  # What is not UTF-8 is not indexed.
        except ValueError:
            return ""
        return path


def _observer(root: Path, may_hold: MayHold) -> BaseObserver:
    if sys.platform != "linux":
        return Observer()
    from graphrag_mcp.indexing.inotify import InotifyObserver

    prefix = len(os.path.join(os.fsencode(root), b""))  # noqa: PTH118 - bytes, and the root may be "/".
    return InotifyObserver(lambda folder: may_hold(os.fsdecode(folder[prefix:])))


def _end(observer: BaseObserver) -> None:
    observer.stop()
    if observer.is_alive():
        observer.join()


class _LostEvents(logging.Handler):
    """Hears watchdog say that the kernel dropped events, which it tells its log and nobody else."""

    def __init__(self, pending: _Pending) -> None:
        super().__init__(logging.WARNING)
        self._pending = pending

    def emit(self, record: logging.LogRecord) -> None:
        if _LOST_EVENTS in record.getMessage().lower():
            self._pending.lose()
