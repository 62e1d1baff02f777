"""Makes way for a new index file where the old one is damaged."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.stores.sqlite.database import connect, has_tables

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNUSABLE = ".unusable-"


def replace_if_unusable(path: Path) -> str:
    """Move a damaged or foreign index file aside, and return a sentence that says so; "" when the file is sound.

    Raises IndexStoreError when the file cannot be read now, as with a full disk: then it is left as it is.
    """
    if not path.exists():
        return ""
    try:
        problem = _damage(path)
        if not problem:
            return ""
        aside = _move_aside(path)
    except OSError as error:
        raise IndexStoreError(f"{path} is unusable and cannot be moved aside ({error})") from error
    return f"{problem}; it was moved to {aside.name} and the index is being rebuilt"


def _damage(path: Path) -> str:
    try:
        with closing(connect(path)) as connection:
            if not has_tables(connection, path):
                return ""
            ((verdict,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except IndexStoreError as error:
        return str(error)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
            raise IndexStoreError(f"{path} cannot be opened ({error})") from error
        verdict = str(error)
    return "" if verdict == "ok" else f"{path} is damaged ({verdict})"


def _move_aside(path: Path) -> Path:
    """Rename the file, and its log, which would be replayed into the new one; only the last such file is kept."""
    for old in path.parent.glob(f"{path.name}*{_UNUSABLE}*"):
        old.unlink(missing_ok=True)
    aside = path.with_name(f"{path.name}{_UNUSABLE}{int(time.time())}")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside
