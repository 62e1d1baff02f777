"""Reads a small file that anybody may have put there: never waits for a pipe, never reads without end."""

import errno
import os
import stat
from pathlib import Path

# Without it, opening a pipe that nobody writes to would wait for ever. Windows has none of the three but the last.
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_NO_SYMLINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_OPENS_BELOW = os.open in os.supports_dir_fd


def read_regular_file(file: Path, limit: int, *, follow_symlink: bool = True) -> bytes:
    """Return the content of the file.

    Raises OSError when there is none, when it is not a regular file, and when it is longer than `limit` bytes.
    """
    return _read(_open(file, follow_symlink), limit)


def changed_ns(status: os.stat_result) -> int:
    """Return when a file was last written, renamed or replaced, in nanoseconds since 1970.

    Anybody may set its modification time, and a move brings it along; the other is the system's own, but not known to
    all file systems.
    """
    return max(status.st_mtime_ns, status.st_ctime_ns)


def read_file_below(root: Path, path: str, limit: int) -> bytes:
    """Return the content of a file that is really below the root: no part of `path` is a symlink, even for a moment.

    path: POSIX, relative to the root. Raises what `read_regular_file` does.
    """
    *folders, name = path.split("/")
    if not _OPENS_BELOW:
        if (root / path).resolve() != root.resolve() / path:
            raise OSError(errno.ELOOP, "a symlink leads there")
        return read_regular_file(root / path, limit)
    if ".." in folders or name == "..":
        raise OSError(errno.EINVAL, "it leads out of the folder")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for one in folders:
            inner = os.open(one, os.O_RDONLY | os.O_DIRECTORY | _NO_SYMLINK, dir_fd=folder)
            os.close(folder)
            folder = inner
        descriptor = os.open(name, os.O_RDONLY | _NO_WAITING | _NO_SYMLINK, dir_fd=folder)
    finally:
        os.close(folder)
    return _read(descriptor, limit)


def _read(descriptor: int, limit: int) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            content = stream.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes")
    return content


def _open(file: Path, follow_symlink: bool) -> int:
    try:
        return os.open(file, os.O_RDONLY | _NO_WAITING | _BINARY | (0 if follow_symlink else _NO_SYMLINK))
    except OSError as error:
        if error.errno == errno.ELOOP and not follow_symlink:
            raise OSError(errno.ELOOP, "it is a symlink") from error
        raise
