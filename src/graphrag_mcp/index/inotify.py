"""Watches, on Linux, only the folders that may contain files to index: each takes one of the kernel's watches.

The kernel limits the watches of a user, and `node_modules` alone may have more folders. Other systems watch a whole
tree at once. Watchdog has no option for this, so the classes here override private methods of its version 7.1.
"""

import errno
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter, InotifyWatchGroup
from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, Mask, WatchCallback, WatchDescriptor

MayContainFiles = Callable[[bytes], bool]

# The classes here override or call these methods, which have these parameters in the tested version.
_METHODS = (
    (InotifyFD, "add_callback", "self path mask callback id_"),
    (InotifyEmitter, "on_thread_start", "self"),
    (InotifyEmitter, "get_event_mask_from_filter", "self"),
    (InotifyWatchGroup, "on_event", "self event"),
    (InotifyWatchGroup, "on_queue_overflow", "self"),
    (InotifyWatchGroup, "_build_event_source_path", "self event"),
    (InotifyWatchGroup, "_add_all_callbacks", "self path"),
    (InotifyWatchGroup, "_add_callback", "self path"),
    (InotifyWatchGroup, "_remove_watch_internally", "self wd"),
)
_FIELDS = ("_inotify_fd", "path", "_active_callbacks_by_watch", "_active_callbacks_by_path")


def check_watchdog() -> None:
    """Raise ImportError with the first name that the installed version of watchdog lacks or has changed."""
    for owner, name, parameters in _METHODS:
        method = getattr(owner, name, None)
        if method is None or list(inspect.signature(method).parameters) != parameters.split():
            raise ImportError(f"{owner.__name__}.{name} is missing or changed")
    present = getattr(InotifyWatchGroup, "__dataclass_fields__", {})
    for name in _FIELDS:
        if name not in present:
            raise ImportError(f"{InotifyWatchGroup.__name__}.{name} is missing or changed")
    if "_inotify" not in InotifyEmitter.queue_events.__code__.co_names:
        raise ImportError(f"{InotifyEmitter.__name__}._inotify is missing or changed")


class InotifyObserver(BaseObserver):
    """Watchdog's observer of the same name, for one tree, without some of its folders."""

    def __init__(self, may_contain_files: MayContainFiles) -> None:
        """may_contain_files: whether a folder, given as an absolute path, may contain files to index at any depth."""
        self._reader = _EventReader()
        self._reader.start()
        super().__init__(_Emitter, inotify_fd=self._reader, may_contain_files=may_contain_files)

    @property
    def lacks_watches(self) -> bool:
        """Whether the kernel refused a watch: edits in some folders cause no events."""
        return self._reader.lacks_watches

    @property
    def is_outdated(self) -> bool:
        """Whether other folders should be watched than are, events were lost, or can no longer be read."""
        return self._reader.is_outdated or not self._reader.is_alive()

    def on_thread_stop(self) -> None:
        """End the thread that reads the kernel's events."""
        super().on_thread_stop()
        self._reader.stop()
        self._reader.join()


class _EventReader(InotifyFD):
    """Reads the events of all folders, and notes the refusals that watchdog ignores."""

    lacks_watches = False
    is_outdated = False

    def add_callback(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        if not os.access(path, os.R_OK):  # Watchdog would go on with the descriptor -1.
            raise PermissionError(errno.EACCES, "it cannot be read")
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            self.lacks_watches |= error.errno == errno.ENOSPC
            raise


class _Emitter(InotifyEmitter):
    def __init__(
        self, *arguments: Any, may_contain_files: MayContainFiles, inotify_fd: _EventReader, **options: Any
    ) -> None:
        super().__init__(*arguments, inotify_fd=inotify_fd, **options)
        self._may_contain_files = may_contain_files
        self._reader = inotify_fd

    def on_thread_start(self) -> None:
        self._inotify = _Folders(
            self._reader,
            os.fsencode(self.watch.path),
            event_mask=self.get_event_mask_from_filter(),
            is_recursive=True,
            may_contain_files=self._may_contain_files,
            reader=self._reader,
        )


@dataclass(kw_only=True, eq=False)
class _Folders(InotifyWatchGroup):
    """The watched folders. A folder keeps its watch when it is moved, so then the watch has to start again."""

    may_contain_files: MayContainFiles
    reader: _EventReader
    _unread: set[bytes] = field(default_factory=set, init=False)

    def on_event(self, event: InotifyEvent) -> None:
        """Note the moves of folders, and that one may have become readable."""
        path = self._build_event_source_path(event) if event.is_directory else None
        if path is not None:
            is_moved = (event.is_moved_from or event.is_moved_to) and self.may_contain_files(path)
            self.reader.is_outdated |= is_moved or (event.is_attrib and path in self._unread)
        super().on_event(event)

    def on_queue_overflow(self) -> None:
        """Note that the kernel dropped events, so that the watch starts again."""
        self.reader.is_outdated = True

    def _add_all_callbacks(self, path: bytes) -> None:
        """Watch a folder and those in it, each before it is read: a folder created meanwhile then causes an event."""
        if path == self.path or self.may_contain_files(path):
            self._add_callback(path)
            for folder in self._inner(path):
                self._add_callback(folder)

    def _inner(self, path: bytes) -> Iterator[bytes]:
        pending = [path]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            except OSError:
                self._unread.add(folder)
                continue
            for path in filter(self.may_contain_files, inner):
                yield path
                pending.append(path)

    def _remove_watch_internally(self, wd: WatchDescriptor) -> None:
        """Forget a watch; another one may have its path by now, or it may be forgotten already."""
        path = self._active_callbacks_by_watch.pop(wd, None)
        if path is not None and self._active_callbacks_by_path.get(path) == wd:
            del self._active_callbacks_by_path[path]
