"""Opens the index file whatever state it is in: one that is damaged or of another version is moved aside."""

import sqlite3
import time
from pathlib import Path

from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.stores.sqlite.database import Database


def open_or_replace(path: Path) -> tuple[Database, str]:
    """Open the index for writing and check it; return it with a sentence to tell when a new one had to be begun.

    Raises IndexStoreError when not even a new file can be written.
    """
    try:
        database = Database(path)
        problem = _damage(database)
        if not problem:
            return database, ""
        database.close()
    except IndexStoreError as error:
        if not path.exists():
            raise
        problem = str(error)
    aside = _move_aside(path)
    return Database(path), f"{problem}; it was moved to {aside.name} and the index is being rebuilt"


def _damage(database: Database) -> str:
    try:
        ((verdict,),) = database.rows("PRAGMA quick_check(1)")
    except sqlite3.DatabaseError as error:
        verdict = str(error)
    return "" if verdict == "ok" else f"{database.path} is damaged ({verdict})"


def _move_aside(path: Path) -> Path:
    """Rename the file; its log would be replayed into the new one, so that is moved with it."""
    aside = path.with_name(f"{path.name}.unusable-{int(time.time())}")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside
