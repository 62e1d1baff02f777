"""Moves a damaged index file aside, so that a new one can be built."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Literal

from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.stores.sqlite.database import connect, has_tables, is_damage

_UNUSABLE = ".unusable-"


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
        raise IndexStoreError(f"{path} cannot be read ({error})") from error
    return move_aside(path, problem) if problem else ""


def move_aside(path: Path, problem: str) -> str:
    """Move an index file and its log aside, since the log would be replayed into a new file, and return a warning.

    Only the last such file is kept. Raises IndexStoreError when it cannot be moved.
    """
    aside = path.with_name(f"{path.name}{_UNUSABLE}{int(time.time())}")
    try:
        for old in path.parent.glob(f"{path.name}*{_UNUSABLE}*"):
            old.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm", ""):  # The file last: once it is missing, a new one is created.
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
