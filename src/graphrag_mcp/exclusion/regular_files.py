"""Reads a small file that anybody may have put there: never waits for a pipe, never reads without end."""

import errno
import os
import stat
from pathlib import Path

# Without it, opening a pipe that nobody writes to would wait for ever. Windows has none of the three but the last.
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_NO_SYMLINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def read_regular_file(file: Path, limit: int, *, follow_symlink: bool = True) -> bytes:
    """Return the content of the file.

    Raises OSError when there is none, when it is not a regular file, and when it is longer than `limit` bytes.
    """
    descriptor = _open(file, follow_symlink)
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
