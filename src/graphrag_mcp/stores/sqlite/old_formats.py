"""Index files of older versions of the package: each is kept for a month after its last use."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from graphrag_mcp.stores.sqlite.database import is_damage
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION

KEPT_DAYS = 30
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class OldIndex:
    """An index file of an older format. size: in bytes, with its log. used_at: seconds since 1970."""

    path: Path
    size: int
    used_at: float


def old_indexes(folder: Path) -> list[OldIndex]:
    """Return the index files of older formats in a folder. Raises OSError."""
    return [_measured(path) for path in sorted(folder.glob("index-*.sqlite")) if _format(path) < SCHEMA_VERSION]


def remove_unused(folder: Path, now: float) -> None:
    """Remove the files that were not used for KEPT_DAYS, unless a process has them open. Raises OSError."""
    for old in old_indexes(folder):
        if now - old.used_at > KEPT_DAYS * DAY_SECONDS:
            _remove_unless_open(old.path)


def _format(path: Path) -> int:
    number = path.stem.removeprefix("index-")
    return int(number) if number.isdecimal() else SCHEMA_VERSION


def _measured(path: Path) -> OldIndex:
    parts = [part.stat() for part in _parts(path)]
    times = [time for part in parts for time in (part.st_mtime, part.st_atime)]
    return OldIndex(path, sum(part.st_size for part in parts), max(times))


def _parts(path: Path) -> Iterator[Path]:
    """Yield the file, its log, and the files that were moved aside."""
    return path.parent.glob(f"{path.name}*")


def _remove_unless_open(path: Path) -> None:
    """Remove a file that SQLite can lock exclusively, or that is not a database."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if not is_damage(error):
                return
        for part in list(_parts(path)):
            part.unlink(missing_ok=True)
