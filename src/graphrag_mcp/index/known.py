"""The indexes of this user: which projects they are of, and the removal of those whose project is gone."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from graphrag_mcp.index.paths import is_gone, root_of
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION
from graphrag_mcp.stores.sqlite.unusable import remove_unless_open

_FOLDER = re.compile(r".+-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class KnownIndex:
    """The folder of an index.

    projects: the folders that it is of, none where it cannot be read. size: in bytes. used_at: seconds since 1970.
    is_orphan: whether all of them are gone, so that nothing will use it again.
    """

    folder: str
    projects: tuple[str, ...]
    size: int
    used_at: float
    is_orphan: bool


def known_indexes(data: Path) -> Iterator[KnownIndex]:
    """Yield the indexes below a data folder, in the order of their names. Raises OSError."""
    folders = (folder for folder in sorted(data.iterdir()) if _FOLDER.fullmatch(folder.name)) if data.is_dir() else ()
    for folder in folders:
        files = [] if folder.is_symlink() else [file.stat() for file in folder.glob("index-*.sqlite")]
        if files:
            used_at = max(time for file in files for time in (file.st_mtime, file.st_atime))  # Before it is read.
            size = sum(part.stat().st_size for part in folder.rglob("*") if part.is_file())
            trees = _trees(folder / f"index-{SCHEMA_VERSION}.sqlite")
            is_orphan = bool(trees) and all(map(is_gone, trees))
            yield KnownIndex(str(folder), tuple(dict.fromkeys(map(root_of, trees))), size, used_at, is_orphan)


def remove_index(index: KnownIndex) -> bool:
    """Remove the folder of an index; return False where a process has it open. Raises OSError."""
    if not all(map(remove_unless_open, Path(index.folder).glob("index-*.sqlite"))):
        return False
    shutil.rmtree(index.folder)
    return True


def _trees(file: Path) -> list[str]:
    """Return the roots of the trees in an index file, none where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            return [root for (root,) in connection.execute("SELECT DISTINCT root FROM trees ORDER BY root")]
    except sqlite3.Error:
        return []
