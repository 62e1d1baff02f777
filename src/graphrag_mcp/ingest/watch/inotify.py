"""Follows on Linux only the folders that may hold what is indexed: each takes one of the kernel's watches.

The kernel allows a user so many for all programs, and the folders of `node_modules` alone may be more. Elsewhere the
system follows a whole tree as one.
"""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter, InotifyWatchGroup
from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, Mask, WatchCallback, WatchDescriptor

MayHold = Callable[[bytes], bool]


class InotifyObserver(BaseObserver):
    """Watchdog's observer of the same name, for one tree, without some of its folders."""

    def __init__(self, may_hold: MayHold) -> None:
        """may_hold: whether a folder, given as an absolute path, may hold anything to follow, however deep."""
        self._reader = _EventReader()
        self._reader.start()
        super().__init__(_Emitter, inotify_fd=self._reader, may_hold=may_hold)

    @property
    def lacks_watches(self) -> bool:
        """Whether the kernel refused some: the edits in some folders are not seen."""
        return self._reader.lacks_watches

    @property
    def is_outdated(self) -> bool:
        """Whether other folders should be watched than are, or the kernel's events can no longer be read."""
        return self._reader.is_outdated or not self._reader.is_alive()

    def on_thread_stop(self) -> None:
        """End the thread that reads the kernel's events."""
        super().on_thread_stop()
        self._reader.stop()
        self._reader.join()


class _EventReader(InotifyFD):
    """Reads the events of all folders, and notices what watchdog passes over."""

    lacks_watches = False
    is_outdated = False

    def add_callback(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        if not os.access(path, os.R_OK):  # Watchdog would go on with a descriptor that is none.
            raise PermissionError(errno.EACCES, "it cannot be read")
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            self.lacks_watches |= error.errno == errno.ENOSPC
            raise


class _Emitter(InotifyEmitter):
    def __init__(self, *arguments: Any, may_hold: MayHold, inotify_fd: _EventReader, **options: Any) -> None:
        super().__init__(*arguments, inotify_fd=inotify_fd, **options)
        self._may_hold = may_hold
        self._reader = inotify_fd

    def on_thread_start(self) -> None:
        self._inotify = _Folders(
            self._reader,
            os.fsencode(self.watch.path),
            event_mask=self.get_event_mask_from_filter(),
            is_recursive=True,
            may_hold=self._may_hold,
            reader=self._reader,
        )


@dataclass(kw_only=True, eq=False)
class _Folders(InotifyWatchGroup):
    """The watched folders. One that is moved keeps its watch wherever it goes: then this must be made anew."""

    may_hold: MayHold
    reader: _EventReader
    _unread: set[bytes] = field(default_factory=set, init=False)

    def on_event(self, event: InotifyEvent) -> None:
        """Note the moves of folders, and that one may have become readable."""
        path = self._build_event_source_path(event) if event.is_directory else None
        if path is not None:
            is_moved = (event.is_moved_from or event.is_moved_to) and self.may_hold(path)
            self.reader.is_outdated |= is_moved or (event.is_attrib and path in self._unread)
        super().on_event(event)

    def _add_all_callbacks(self, path: bytes) -> None:
        """Watch a folder and those in it. Each before it is read: what is made in it meanwhile is told as an event."""
        if path == self.path or self.may_hold(path):
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
            for one in filter(self.may_hold, inner):
                yield one
                pending.append(one)

    def _remove_watch_internally(self, wd: WatchDescriptor) -> None:
        """Forget a watch; another one may have its path by now, or it may be forgotten already."""
        path = self._active_callbacks_by_watch.pop(wd, None)
        if path is not None and self._active_callbacks_by_path.get(path) == wd:
            del self._active_callbacks_by_path[path]
