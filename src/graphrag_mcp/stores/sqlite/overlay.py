"""The files of a tree that a server does not hold as they are here: edited, new, or of another branch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.ports import Embedder
from graphrag_mcp.stores.replica import Inventory, file_version, version_number
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from graphrag_mcp.stores.sqlite.scope import Scopes, ScopesWithin
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex


@dataclass(frozen=True, slots=True)
class Overlay:
    """Such files, with the indexes that search only them. files: their numbers, ascending. held: how many others."""

    files: NDArray[np.int64]
    paths: Sequence[str]
    held: int
    keywords: SqliteKeywordIndex
    vectors: SqliteVectorIndex | None


def find_overlay(database: Database, scopes: Scopes, inventory: Inventory, embedder: Embedder | None) -> Overlay:
    """Return the files of the tree whose versions are not in an inventory."""
    rows = database.rows("SELECT id, path, content_hash, recipe FROM files WHERE chunks ORDER BY id")
    numbers = [version_number(file_version(*row)) for _, *row in rows]
    is_held = np.isin(np.array(numbers, dtype=np.uint64), inventory.versions)
    own = [row for row, held in zip(rows, is_held.tolist(), strict=True) if not held]
    files = np.array([file_id for file_id, *_ in own], dtype=np.int64)
    within = ScopesWithin(scopes, files)
    vectors = SqliteVectorIndex(database, within, embedder.fingerprint, embedder.dimensions) if embedder else None
    paths = [path for _, path, *_ in own]
    return Overlay(files, paths, len(rows) - len(own), SqliteKeywordIndex(database, within), vectors)
