"""Compares what two indexes hold, whatever numbers their rows were given."""

import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.app.local import App

Contents = dict[str, list[tuple[Any, ...]]]

# The numbers are given out in the order of writing; a time is kept when it is not too recent to be trusted.
_NUMBERS = ("id", "file_id", "tree_id", "model_id", "changed_ns")
_OWNERS = {"files": "id", "chunks": "id >> 16", "vectors": "chunk_id >> 16", "keywords": "rowid >> 16"}
_TABLES = (*_OWNERS, "symbols", "outlines", "facts", "match_keys", "path_words", "module_keys", "tree_files")


def rows(app: App, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query on the index file, of all trees."""
    with closing(sqlite3.connect(app.status().index_file)) as connection:
        return connection.execute(sql).fetchall()


def file_ids(app: App) -> dict[str, int]:
    """Return the id of every indexed file."""
    return dict(rows(app, "SELECT path, id FROM files"))


def contents(app: App) -> Contents:
    """Return every row that belongs to a file, with the file's path and the chunk's place for the ids."""
    found = {}
    for table in _TABLES:
        names = [row[1] for row in rows(app, f"PRAGMA table_info({table})")]
        columns = [f"t.{name} & 65535" if name == "chunk_id" else f"t.{name}" for name in names if name not in _NUMBERS]
        owner = _OWNERS.get(table, "file_id")
        sql = f"SELECT f.path, {', '.join(columns)} FROM {table} t JOIN files f ON f.id = (t.{owner})"  # noqa: S608
        found[table] = sorted(rows(app, sql), key=repr)
    return found


def assert_same_contents(one: App, other: App) -> None:
    """Fail unless both indexes hold the same; vectors may differ in the last bit, with the batch they were made in."""
    ours, theirs = contents(one), contents(other)
    np.testing.assert_allclose(_take_vectors(ours), _take_vectors(theirs), atol=1e-3)  # One step of a float16.
    assert ours == theirs


def _take_vectors(found: Contents) -> NDArray[np.float16]:
    vectors = [row[-1] for row in found["vectors"]]
    found["vectors"] = [row[:-1] for row in found["vectors"]]
    return np.stack([np.frombuffer(vector, np.float16) for vector in vectors])
