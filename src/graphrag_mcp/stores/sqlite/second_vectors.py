"""The vectors of the second look: by the hash of a chunk's text, computed one after the other after an index run."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked
from graphrag_mcp.ports import Embedder, Matrix
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.schema import of_file
from graphrag_mcp.stores.sqlite.scope import Scopes
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter, pack_vectors

_OF_TREE = f"files f CROSS JOIN vectors v ON {of_file('v.chunk_id', 'f.id')}"
_HAS = "EXISTS (SELECT 1 FROM second_vectors s WHERE s.model_id = ? AND s.text_hash = v.text_hash)"
_MODEL = "second_model"  # Keys of `meta`: the model whose vectors are computed, and the commit that has them all.
_COMPLETE = "second_complete"
_MOST_UNUSED = 1.5  # Times the vectors of chunks; beyond, those of texts that no chunk has are removed.


class SqliteSecondVectors:
    """The second vectors of a tree by one model."""

    def __init__(self, database: Database, scopes: Scopes, embedder: Embedder) -> None:
        self._database = database
        self._writer = SqliteIndexWriter(database)
        self._model = (embedder.fingerprint, embedder.dimensions)
        self._all = _All(database, scopes, *self._model)

    def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each of the chunks that has a vector."""
        rows = self._database.rows(
            """SELECT v.chunk_id, s.vector FROM json_each(?) wanted CROSS JOIN vectors v ON v.chunk_id = wanted.value
               JOIN second_vectors s ON s.text_hash = v.text_hash
               WHERE s.model_id = (SELECT id FROM models WHERE fingerprint = ?)""",
            (id_list(chunk_ids), self._model[0]),
        )
        return {chunk_id: float(np.frombuffer(packed, "<f2").astype(np.float32) @ vector) for chunk_id, packed in rows}

    def nearest(self, vector: Matrix, limit: int, scope: Scope) -> list[Ranked]:
        """Return the best chunks of a complete tree; [] while it is not."""
        return self._all.search(vector, limit, scope) if self.is_complete() else []

    def is_complete(self) -> bool:
        """Return whether all chunks of the commit have a vector."""
        return self._database.meta(_COMPLETE) == self._mark(self._database.commit_number())

    def missing(self, limit: int, among: Collection[int] = ()) -> Mapping[bytes, int]:
        """Return the texts that have no vector, by their hash, each with a chunk; only of some chunks if there are."""
        only = "AND v.chunk_id IN (SELECT value FROM json_each(?))" if among else ""
        rows = self._database.rows(
            f"SELECT v.text_hash, v.chunk_id FROM {_OF_TREE} WHERE NOT {_HAS} {only} LIMIT ?",
            (self._writer.model_id(*self._model), *([id_list(among)] if among else []), limit),
        )
        return dict(rows)

    def add(self, vectors: Mapping[bytes, Matrix]) -> None:
        """Store vectors by the hash of their texts."""
        model_id = self._writer.model_id(*self._model)
        packed = pack_vectors(np.stack(list(vectors.values())))
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO second_vectors VALUES (?, ?, ?)",
                [(model_id, key, vector) for key, vector in zip(vectors, packed, strict=True)],
            )
            connection.execute(
                "INSERT OR REPLACE INTO main.meta VALUES (?, ?, ?)", (self._database.tree[0], _MODEL, self._model[0])
            )

    def complete(self, commit: int) -> None:
        """Note that all chunks of a commit have a vector, and remove what no chunk needs if that is much."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO main.meta VALUES (?, ?, ?)",
                (self._database.tree[0], _COMPLETE, self._mark(commit)),
            )
            counts = "SELECT (SELECT count(*) FROM second_vectors), (SELECT count(*) FROM main.vectors)"
            kept, chunks = connection.execute(counts).fetchone()
            if kept > _MOST_UNUSED * chunks:
                connection.execute(
                    """DELETE FROM second_vectors WHERE text_hash NOT IN (SELECT text_hash FROM main.vectors)
                       OR model_id NOT IN (SELECT m.id FROM models m JOIN main.meta k
                                           ON k.key = ? AND k.value = m.fingerprint)""",
                    (_MODEL,),
                )

    def _mark(self, commit: int) -> str:
        return f"{self._model[0]} {commit}"


class _All(SqliteVectorIndex):
    """All second vectors in memory; loaded when the tree is complete."""

    _select = """SELECT v.chunk_id, s.vector FROM vectors v JOIN second_vectors s ON s.text_hash = v.text_hash
        WHERE v.chunk_id >= ? AND v.chunk_id < ? AND s.model_id = (SELECT id FROM models WHERE fingerprint = ?)
        ORDER BY v.chunk_id"""


def count_computed(database: Database) -> int:
    """Return how many chunks of the tree have a second vector, by the model that was last used."""
    rows = database.rows(
        f"SELECT count(*) FROM {_OF_TREE} WHERE {_HAS.replace('?', '(SELECT id FROM models WHERE fingerprint = ?)')}",
        (database.meta(_MODEL),),
    )
    return int(rows[0][0])
