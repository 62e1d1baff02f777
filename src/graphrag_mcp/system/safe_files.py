"""Reads untrusted files: regular files only, no symlinks below a root, bounded size."""

import errno
import hashlib
import os
import stat
from itertools import takewhile
from pathlib import Path
from typing import Self

# The coarsest clock of a file system ticks so slowly that a second write may leave the same time.
RECENT_NS = 2_000_000_000
_HASH_BYTES = 16  # Collisions become likely at 2**64 files.

# Without O_NONBLOCK, opening a pipe without a writer would block. Windows has only the last of the three.
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_NO_SYMLINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_OPENS_BELOW = os.open in os.supports_dir_fd
_READ_BYTES = 65_536
_MOST_OPEN = 16  # Only the last folders of a deep path stay open.


def read_regular_file(file: Path, limit: int, *, follow_symlink: bool = True) -> bytes:
    """Return the content of the file.

    Raises OSError when there is none, when it is not a regular file, and when it is longer than `limit` bytes.
    """
    content, _ = _read(_open(file, follow_symlink), limit)
    return content


def list_folder(folder: Path) -> list["os.DirEntry[str]"]:
    """Return what is in a folder; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (OSError, ValueError):
        return []


def is_real_folder(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a folder and no link to one; not if that cannot be told."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def hash_content(data: bytes) -> bytes:
    """Return what tells a content of a file from others."""
    return hashlib.blake2b(data, digest_size=_HASH_BYTES).digest()


def changed_ns(status: os.stat_result) -> int:
    """Return when a file was last written, renamed or replaced, in nanoseconds since 1970.

    Any program may set the modification time, and a move keeps it; the change time is set by the system, but not all
    file systems have one.
    """
    return max(status.st_mtime_ns, status.st_ctime_ns)


def read_file_below(root: Path, path: str, limit: int) -> bytes:
    """Return the content of one file as `FilesBelow.read` does."""
    with FilesBelow(root) as files:
        content, _ = files.read(path, limit)
    return content


class FilesBelow:
    """Reads files below a root through descriptors, so that no part of a path can be a symlink.

    Each folder on the way is opened relative to the one before, and stays open for the next file.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: list[str] = []  # They lead from the root to the folder of the last descriptor.
        self._open: list[int] = []  # These are the descriptors of the root and of the folders.

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)

    def read(self, path: str, limit: int) -> tuple[bytes, os.stat_result]:
        """Return the content of a file, and its status after it was read.

        path: POSIX, relative to the root. Raises what `read_regular_file` does.
        """
        *folders, name = path.split("/")
        if not _OPENS_BELOW:
            if (self._root / path).resolve() != self._root.resolve() / path:
                raise OSError(errno.ELOOP, "a part of the path is a symlink")
            return _read(_open(self._root / path, follow_symlink=True), limit)
        if ".." in folders or name == "..":
            raise OSError(errno.EINVAL, "the path leads out of the folder")
        if folders != self._folders or not self._open:
            self._enter(folders)
        return _read(os.open(name, os.O_RDONLY | _NO_WAITING | _NO_SYMLINK, dir_fd=self._open[-1]), limit)

    def _enter(self, folders: list[str]) -> None:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(folders, self._folders, strict=False)))
        shared = min(shared, _MOST_OPEN - 2)  # The last descriptor is always that of the deepest folder.
        self._leave(1 + shared)
        del self._folders[shared:]
        if not self._open:
            self._open.append(os.open(self._root, os.O_RDONLY | os.O_DIRECTORY))
        for folder in folders[shared:]:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _NO_SYMLINK, dir_fd=self._open[-1])
            self._leave(_MOST_OPEN - 1)
            self._open.append(inner)
            self._folders.append(folder)

    def _leave(self, count: int) -> None:
        while len(self._open) > count:
            os.close(self._open.pop())


def _read(descriptor: int, limit: int) -> tuple[bytes, os.stat_result]:
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = os.read(descriptor, min(status.st_size, limit) + 1)
        while len(content) <= limit and len(content) != (status := os.fstat(descriptor)).st_size:
            if not (more := os.read(descriptor, _READ_BYTES)):
                break
            content += more
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes")
    return content, status


def _open(file: Path, follow_symlink: bool) -> int:
    try:
        return os.open(file, os.O_RDONLY | _NO_WAITING | _BINARY | (0 if follow_symlink else _NO_SYMLINK))
    except OSError as error:
        if error.errno == errno.ELOOP and not follow_symlink:
            raise OSError(errno.ELOOP, "it is a symlink") from error
        raise
