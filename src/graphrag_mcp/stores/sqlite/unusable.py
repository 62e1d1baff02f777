"""Index files that are of no use: a damaged one is moved aside, one of an older format is removed after a month."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from msgspec import Struct

from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.stores.sqlite.database import advice, connect, has_tables, is_damage
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION

_UNUSABLE = ".unusable-"
KEPT_DAYS = 30
DAY_SECONDS = 86_400


Depth = Literal["head", "pages", "words"]


def replace_if_unusable(path: Path, depth: Depth) -> str:
    """Move a damaged or foreign index file aside and return a warning; "" when the file is sound.

    depth: "pages" reads the whole file, a second for 400 MB; "words" checks the full-text index too, which takes
    longer.

    Raises IndexStoreError when the file cannot be read now, as with a full disk; it is left as it is.
    """
    if not path.exists():
        return ""
    try:
        problem = _damage(path, depth)
    except OSError as error:
        raise IndexStoreError(f"{path} cannot be opened ({error}); {advice(error)}") from error
    return move_aside(path, problem) if problem else ""


def move_aside(path: Path, problem: str) -> str:
    """Move an index file and its log aside, since the log would be replayed into a new file, and return a warning.

    Only the last such file is kept. Raises IndexStoreError when it cannot be moved.
    """
    aside = path.with_name(f"{path.name}{_UNUSABLE}{int(time.time())}")
    try:
        for old in path.parent.glob(f"{path.name}*{_UNUSABLE}*"):
            old.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm", ""):  # The file comes last: once it is missing, a new one is created.
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
    except OSError as error:
        raise IndexStoreError(f"{path} is unusable and cannot be moved aside ({error})") from error
    return f"{problem}; it was moved to {aside.name}, and a new index is built"


def _damage(path: Path, depth: Depth) -> str:
    try:
        with closing(connect(path)) as connection:
            if not has_tables(connection, path):
                return ""
            verdict = "ok"
            if depth != "head":
                ((verdict,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
            if depth == "words":
                connection.execute("INSERT INTO keywords (keywords) VALUES ('integrity-check')")
    except IndexStoreError as error:
        return str(error)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise IndexStoreError(f"{path} cannot be opened ({error})") from error
        verdict = str(error)
    return "" if verdict == "ok" else f"{path} is damaged ({verdict})"


class OldIndex(Struct, frozen=True):
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
            remove_unless_open(old.path)


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


def remove_unless_open(path: Path) -> bool:
    """Remove a file that SQLite can lock exclusively, or that is not a database; return whether it did."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if not is_damage(error):
                return False
        for part in list(_parts(path)):
            part.unlink(missing_ok=True)
    return True
