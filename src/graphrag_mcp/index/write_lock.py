"""The lock of an index's writer, and the process that holds it."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import Struct

from graphrag_mcp import __version__

BEAT_SECONDS = 1.0
SILENT_SECONDS = 10.0  # A process on a busy machine may miss a few beats.
_NOTE = ".holder"


class Holder(Struct, frozen=True):
    """A process that writes an index. pid: 0 when unknown. is_silent: whether it is stopped, or hangs."""

    version: str = ""
    pid: int = 0
    is_silent: bool = False

    def __str__(self) -> str:
        return f"graphrag-mcp {self.version} (process {self.pid})" if self.pid else "another process"

    @property
    def is_keeping(self) -> bool:
        """Whether it keeps the index up to date, for this version too."""
        return not self.is_silent and (not self.pid or self.version == __version__)

    @property
    def advice(self) -> str:
        """What the user can do while that process is the writer."""
        if self.is_silent:
            return f"it does not answer (stopped?): continue it (`kill -CONT {self.pid}`), or end it"
        if not self.is_keeping:
            return f"end that process, and graphrag-mcp {__version__} takes over"
        return "it keeps the index up to date, so you can search now"


class WriteLock:
    """A lock that the system releases when its owner dies.

    Its owner also locks a second file whose name has the owner's version and process id. The file of a dead process is
    not locked, so it is ignored. The owner sets its time every second: one that is stopped holds the lock, and cannot.
    No process takes the lock from it, since it may be in the middle of a write and go on at any moment.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = _file_lock(path)
        self._last_beat = 0.0  # The process that was silent had its last beat then.

    @property
    def is_mine(self) -> bool:
        """Whether this process holds the lock."""
        return bool(self._lock.is_locked)

    def acquire(self) -> bool:
        """Take the lock; False while another process holds it. Raises OSError when the file cannot be made."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        return True

    def release(self) -> None:
        """Release the lock, as many times as it was acquired."""
        self._lock.release()

    @contextmanager
    def signed(self) -> Iterator[None]:
        """Publish this process as the holder during the block; only the holder may."""
        for old in self._notes():
            old.unlink(missing_ok=True)
        note = _file_lock(self._path.with_suffix(f".{__version__}.{os.getpid()}{_NOTE}"))
        with suppress(Timeout, OSError):  # The lock is held without it.
            note.acquire(timeout=0)
        ended = threading.Event()
        threading.Thread(target=_beat, args=(note.lock_file, ended), name="heartbeat", daemon=True).start()
        try:
            yield
        finally:
            ended.set()
            Path(note.lock_file).unlink(missing_ok=True)
            note.release()

    def holder(self) -> Holder | None:
        """Return the process that has signed, None when there is none."""
        return next((self._read(note) for note in self._notes() if _is_locked(note)), None)

    def _read(self, note: Path) -> Holder:
        version, _, pid = note.name.removesuffix(_NOTE).partition(".")[2].rpartition(".")
        is_silent = version == __version__ and self._is_silent(note)
        return Holder(version, int(pid), is_silent) if pid.isdecimal() else Holder()

    def _is_silent(self, note: Path) -> bool:
        """Return whether a holder does not beat; a machine that slept is given the time for its next beat."""
        try:
            beat = note.stat().st_mtime
            if time.time() - beat < SILENT_SECONDS:
                return False
            if beat != self._last_beat:
                time.sleep(2 * BEAT_SECONDS)
                self._last_beat = beat
            return note.stat().st_mtime == beat
        except OSError:  # It has ended.
            return False

    def _notes(self) -> list[Path]:
        return list(self._path.parent.glob(f"{self._path.stem}.*{_NOTE}"))


def _beat(note: str, ended: threading.Event) -> None:
    while not ended.wait(BEAT_SECONDS):
        with suppress(OSError):
            os.utime(note)


def _file_lock(path: Path) -> FileLock:
    return FileLock(path, mode=0o600, thread_local=False)


def _is_locked(note: Path) -> bool:
    try:
        with _file_lock(note).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False
