"""The lock of an index's writer, and the process that holds it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from graphrag_mcp import __version__

_NOTE = ".holder"


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that writes an index. pid: 0 when unknown."""

    version: str = ""
    pid: int = 0

    def __str__(self) -> str:
        return f"graphrag-mcp {self.version} (process {self.pid})" if self.pid else "another process"

    @property
    def advice(self) -> str:
        """What the user can do while that process is the writer."""
        if self.pid and self.version != __version__:
            return f"end that process, and graphrag-mcp {__version__} takes over"
        return "it keeps the index up to date, so you can search now"


class WriteLock:
    """A lock that the system releases when its owner dies.

    Its owner also locks a second file whose name has the owner's version and process id. The file of a dead process is
    not locked, so it is ignored.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = _file_lock(path)

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
        try:
            yield
        finally:
            Path(note.lock_file).unlink(missing_ok=True)
            note.release()

    def holder(self) -> Holder | None:
        """Return the process that has signed, None when there is none."""
        return next((_read(note) for note in self._notes() if _is_locked(note)), None)

    def _notes(self) -> list[Path]:
        return list(self._path.parent.glob(f"{self._path.stem}.*{_NOTE}"))


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


def _read(note: Path) -> Holder:
    version, _, pid = note.name.removesuffix(_NOTE).partition(".")[2].rpartition(".")
    return Holder(version, int(pid)) if pid.isdecimal() else Holder()
