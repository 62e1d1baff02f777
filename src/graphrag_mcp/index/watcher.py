"""Reports which paths changed: file system events, collected until they pause, or polling where there are none."""

import errno
import logging
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from watchdog import events
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from graphrag_mcp.errors import RootError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.rulebook import stamp_of

logger = logging.getLogger(__name__)

DEBOUNCE_SECONDS = 0.3  # An editor saves a file in several steps, which this long a pause ends.
MAX_DELAY_SECONDS = 1.5  # Events wait no longer than this, so that a build that never pauses delays no edit.
MAX_PATHS = 5_000  # Comparing the whole tree is faster than looking at more paths one by one.
# Events for opened and read files are left out: each `grep` and each search of ours would wake this process. So are
# those for modified folders: the entry that changed has an event of its own.
EVENTS: list[type[events.FileSystemEvent]] = [
    events.DirAttribEvent,
    events.DirCreatedEvent,
    events.DirDeletedEvent,
    events.DirMovedEvent,
    events.FileAttribEvent,
    events.FileClosedEvent,
    events.FileCreatedEvent,
    events.FileDeletedEvent,
    events.FileModifiedEvent,
    events.FileMovedEvent,
]
POLL_SECONDS = 10.0  # Where events are incomplete, the whole tree is compared at this interval.
POLL_SHARE = 1 / 20  # Comparing takes at most this share of the time.
_POLLING = f"polling every {POLL_SECONDS:.0f} s or more"
WATCH_LIMIT_REACHED = (
    f"inotify watch limit reached; falling back to {_POLLING}; raise fs.inotify.max_user_watches and"
    " max_user_instances, or exclude folders in .graphragignore"
)
MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")  # Paths there have a space, a tab and their like escaped.
# Linux sends events for what this machine writes, not for what others write.
_SHARED_FILES = frozenset({"9p", "afs", "ceph", "cifs", "drvfs", "nfs", "nfs4", "smb3", "smbfs", "fuse.sshfs"})
_SHARED_WITH_HOST = frozenset({"fakeowner", "vboxsf", "virtiofs", "fuse.grpcfuse", "fuse.osxfs", "fuse.vmhgfs-fuse"})


class WatchedTree(Struct, frozen=True):
    """The files of a work tree that may be indexed.

    start: the only folder that is indexed, relative to the root; "" for all.
    """

    exclusion: ExclusionManager
    start: str = ""

    @property
    def root(self) -> Path:
        """The work tree's root folder."""
        return self.exclusion.root

    def may_index(self, path: str, is_dir: bool) -> bool:
        """Return whether a file or folder may be indexed."""
        return self._is_inside(path) and not self.exclusion.should_exclude(path, is_dir)

    def may_contain_files(self, folder: str) -> bool:
        """Return whether a folder may contain, at any depth, a file to index or a rule file."""
        leads_to_start = f"{self.start}/".startswith(f"{folder}/")
        return (leads_to_start or self._is_inside(folder)) and not self.exclusion.should_exclude(folder, is_dir=True)

    def _is_inside(self, path: str) -> bool:
        return not self.start or f"{path}/".startswith(f"{self.start}/")


class Batch(Struct, frozen=True):
    """Paths that changed, relative to the root; `everything` when events were lost and the whole tree must be read.

    why: the reason for polling, "" where events report every change.
    """

    paths: tuple[str, ...]
    everything: bool = False
    why: str = ""


def watch(
    tree: WatchedTree,
    stop: threading.Event,
    is_over: Callable[[], bool] = lambda: False,
) -> Generator[Batch]:
    """Yield the changes of a tree, first a batch of everything, until `stop` is set or the watch must start again.

    It must start again when rules changed, folders were moved or events were lost, and at each poll. It also ends when
    `is_over` returns true, which is asked twice a second. A batch ends DEBOUNCE_SECONDS after its last event, or
    MAX_DELAY_SECONDS after its first. A move is two paths. Files that are not indexed cause no batch, and where each
    folder takes a watch of its own, folders without files to index have none.

    Raises RootError when the folder cannot be watched.
    """
    pending = _Pending(tree)
    with _observing(tree, pending) as (observer, problem):
        rules = tree.exclusion.stamps
        why = problem or _limit_problem(observer) or _shared_problem(tree)
        began = time.monotonic()
        yield Batch((), everything=True, why=why)  # This covers what changed before the watch began.
        pause = max(POLL_SECONDS, (time.monotonic() - began) / POLL_SHARE) if why else math.inf
        due = time.monotonic() + pause
        while not stop.is_set() and time.monotonic() < due and not is_over():
            batch = pending.take(stop)
            is_lost = batch is not None and batch.everything
            stamps = rules.items() | tree.exclusion.stamps.items()
            have_rules_changed = any(stamp_of(file) != stamp for file, stamp in stamps)
            if is_lost or have_rules_changed or _is_outdated(observer) or (not why and _limit_problem(observer)):
                return
            if batch is not None:
                yield batch


def _limit_problem(observer: BaseObserver | None) -> str:
    return WATCH_LIMIT_REACHED if getattr(observer, "lacks_watches", False) else ""


def _shared_problem(tree: WatchedTree) -> str:
    kind = shared_file_system(tree.root, tree.may_contain_files)
    shared = "is on (or contains) a network or shared file system"
    return f"{tree.root} {shared} ({kind}) that sends no change events; {_POLLING}" if kind else ""


def _is_outdated(observer: BaseObserver | None) -> bool:
    """Return whether other folders should be watched than are, events were lost, or the root is gone."""
    if observer is None:
        return False
    return getattr(observer, "is_outdated", False) or not all(emitter.is_alive() for emitter in observer.emitters)


@contextmanager
def _observing(tree: WatchedTree, pending: "_Pending") -> Iterator[tuple[BaseObserver | None, str]]:
    """Fill `pending` from file system events; without an observer where there can be none, and then with the reason."""
    with ExitStack() as ending:
        ending.enter_context(_quiet_watchdog())
        observer, problem = _make_observer(tree)
        if observer is not None:
            try:
                ending.callback(_end, observer)
                observer.schedule(pending, str(tree.root), recursive=True, event_filter=EVENTS)
                observer.start()
            except OSError as error:
                observer, problem = None, _why_refused(tree, error)
        yield observer, problem


def _make_observer(tree: WatchedTree) -> tuple[BaseObserver | None, str]:
    """Return an observer, or none with the reason."""
    if sys.platform != "linux":
        return Observer(), ""
    try:
        from graphrag_mcp.index.inotify import InotifyObserver, check_watchdog

        check_watchdog()
        prefix = len(os.fsencode(tree.root).rstrip(b"/") + b"/")
        return InotifyObserver(lambda folder: tree.may_contain_files(os.fsdecode(folder[prefix:]))), ""
    except ImportError as error:
        unsupported = f"this version of watchdog is not supported ({error}); falling back to {_POLLING}"
        return None, f"{unsupported}; reinstall graphrag-mcp to get watchdog 7.1"
    except OSError as error:
        return None, _why_refused(tree, error)


def _why_refused(tree: WatchedTree, error: OSError) -> str:
    """Return why there are no events. Raises RootError when the folder cannot be read either."""
    if error.errno in (errno.ENOSPC, errno.EMFILE):
        return WATCH_LIMIT_REACHED
    why = error.strerror or error
    raise RootError(f"{tree.root} cannot be watched ({why}); run `graphrag-mcp index` after your edits") from error


@dataclass(slots=True, eq=False)  # Watchdog keeps its handlers in a set.
class _Pending(events.FileSystemEventHandler):
    """The events since the last batch; filled by watchdog's thread, emptied by ours."""

    tree: WatchedTree
    paths: dict[str, None] = field(default_factory=dict)
    everything: bool = False
    first: float = 0.0
    last: float = 0.0
    woken: threading.Event = field(default_factory=threading.Event)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        for location in (event.src_path, event.dest_path):
            path = self._relative(location)
            is_rule = bool(path) and self.tree.exclusion.is_rule_file(path)
            if is_rule or (path and (path in self.paths or self.tree.may_index(path, event.is_directory))):
                self._add(path, is_rule)

    def _add(self, path: str, is_rule: bool) -> None:
        with self.guard:
            self.last = time.monotonic()
            self.first = self.first or self.last
            if is_rule or len(self.paths) >= MAX_PATHS:
                self.everything = True
            else:
                self.paths[path] = None
        self.woken.set()

    def take(self, stop: threading.Event) -> Batch | None:
        """Wait for events and for their pause; None after half a second without any."""
        if not self.woken.wait(0.5):
            return None
        while not stop.is_set():
            now = time.monotonic()
            due = min(self.last + DEBOUNCE_SECONDS, self.first + MAX_DELAY_SECONDS)
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
            path = Path(text).relative_to(self.tree.root).as_posix() if text else ""
            path.encode()  # A name that is not UTF-8 is not indexed.
        except ValueError:
            return ""
        return path


def _end(observer: BaseObserver) -> None:
    observer.stop()
    if observer.is_alive():
        observer.join()


@contextmanager
def _quiet_watchdog() -> Iterator[None]:
    """Send the messages of watchdog's log to our debug log."""
    log, handler = logging.getLogger("watchdog"), _DebugHandler()
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)


class _DebugHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        logger.debug("watchdog: %s", record.getMessage())


def shared_file_system(root: Path, may_contain_files: Callable[[str], bool]) -> str:
    """Return the type of the shared file system of a tree or of a folder mounted in it, "" if there is none.

    Such file systems send no events for the changes that other machines make.
    may_contain_files: whether a folder, relative to the root, may contain files to index; other mounts are ignored.
    """
    try:
        device = root.stat().st_dev
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    for mount in mounts.splitlines():
        where, _, kind = mount.partition(" - ")
        _, _, number, _, point, *_ = where.split(" ")
        name = kind.split(" ")[0]
        if name in _SHARED_FILES | _SHARED_WITH_HOST:
            mounted = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), point))
            is_inside = root in mounted.parents and may_contain_files(mounted.relative_to(root).as_posix())
            if is_inside or number == f"{os.major(device)}:{os.minor(device)}":
                return name
    return ""
