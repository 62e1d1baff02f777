"""Walks the project and yields every file to index, and the reason for every path that is not indexed."""

import logging
import os
import stat
from collections.abc import Iterator

from msgspec import Struct

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.patterns import Exclusion
from graphrag_mcp.exclusion.rulebook import Folder
from graphrag_mcp.model.paths import printable
from graphrag_mcp.system.safe_files import changed_ns
from graphrag_mcp.text.source import is_utf8

UNREADABLE = "unreadable"
logger = logging.getLogger(__name__)


class WalkedFile(Struct, frozen=True):
    """A file to index. `path` is relative to the root, with forward slashes."""

    path: str
    size: int
    mtime_ns: int
    changed_ns: int


class Unwalked(Struct, frozen=True):
    """A file that is not indexed, or a folder that is not entered (its path ends in a slash).

    reason: an `ExclusionKind`, or "symlink", "special file", "not UTF-8", "too large" or UNREADABLE.
    detail: the rule, the size or the error behind it.
    """

    path: str
    reason: str
    detail: str = ""


def walk(manager: ExclusionManager, start: str = "") -> Iterator[WalkedFile | Unwalked]:
    """Yield what is at or below `start`, a folder or a file relative to the root, in the order of the paths.

    Symlinks are not followed; a target inside the root is found under its own path. An excluded folder is
    yielded once and not entered. A `start` that does not exist, or is behind a symlink, yields nothing.
    """
    for entry in _walk(manager, start):
        if isinstance(entry, Unwalked):
            logger.debug("skipped %s: %s %s", entry.path, entry.reason, entry.detail)
        yield entry


def _walk(manager: ExclusionManager, start: str) -> Iterator[WalkedFile | Unwalked]:
    parent, _, name = start.rpartition("/")
    pending: list[_Entry] = []
    try:
        pending = _list_start(manager, parent, name)
    except OSError as error:
        yield Unwalked(printable(start), UNREADABLE, _describe(error))
    while pending:
        folder, entry, is_folder = pending.pop()
        path = folder.path + entry.name
        if exclusion := folder.explain(entry.name, is_folder=is_folder):
            yield _skip(path, is_folder, exclusion)
        elif not is_utf8(entry.name):
            yield Unwalked(printable(f"{path}/" if is_folder else path), "not UTF-8")
        elif not is_folder:
            yield _examine(entry, path, manager.max_file_bytes)
        elif exclusion := (inner := manager.folder(path)).exclusion:
            yield _skip(path, is_folder, exclusion)
        else:
            try:
                pending += _list_folder(entry.path, inner)
            except OSError as error:
                yield Unwalked(f"{path}/", UNREADABLE, _describe(error))


_Entry = tuple[Folder, "os.DirEntry[str]", bool]


def _list_start(manager: ExclusionManager, parent: str, name: str) -> list[_Entry]:
    """Return the entry called `name`, every entry if `name` is empty, none behind a symlink."""
    disk_path = manager.root / parent
    if parent and (disk_path.resolve() != disk_path or not disk_path.is_dir()):
        return []
    entries = _list_folder(str(disk_path), manager.folder(parent))
    return [entry for entry in entries if entry[1].name == name] if name else entries


def _list_folder(disk_path: str, folder: Folder) -> list[_Entry]:
    """Return the entries of a folder, last first, since the walk uses a stack."""
    with os.scandir(disk_path) as listing:
        entries = [(folder, entry, entry.is_dir(follow_symlinks=False)) for entry in listing]
    entries.sort(key=_path_order, reverse=True)
    return entries


def _path_order(entry: _Entry) -> str:
    """Return the sort key of an entry: a folder sorts like the paths below it."""
    return f"{entry[1].name}/" if entry[2] else entry[1].name


def _examine(entry: "os.DirEntry[str]", path: str, max_bytes: int) -> WalkedFile | Unwalked:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Unwalked(path, UNREADABLE, _describe(error))
    if stat.S_ISLNK(status.st_mode):
        return Unwalked(path, "symlink")
    if not stat.S_ISREG(status.st_mode):
        return Unwalked(path, "special file")
    if status.st_size > max_bytes:
        return Unwalked(path, "too large", f"{status.st_size:,} bytes, the limit is {max_bytes:,}")
    return WalkedFile(path, status.st_size, status.st_mtime_ns, changed_ns(status))


def _skip(path: str, is_folder: bool, exclusion: Exclusion) -> Unwalked:
    return Unwalked(printable(f"{path}/" if is_folder else path), exclusion.kind, exclusion.detail)


def _describe(error: OSError) -> str:
    return error.strerror or str(error)
