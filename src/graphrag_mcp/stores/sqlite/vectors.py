"""Exact cosine search over a float32 matrix in memory, from the index file; and the vectors of the second look."""

import threading
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked
from graphrag_mcp.ports import Embedder, Matrix
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.schema import MAX_CHUNKS_PER_FILE, ORDINAL_BITS, of_file
from graphrag_mcp.stores.sqlite.scope import Scopes
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter, pack_vectors

# The matrix grows by blocks of 8 MB (at 256 dimensions), so that growth copies no rows.
BLOCK_ROWS = 8192
_FREE = -1
_OF_TREE = f"files f CROSS JOIN vectors v ON {of_file('v.chunk_id', 'f.id')}"
_HAS = "EXISTS (SELECT 1 FROM second_vectors s WHERE s.model_id = ? AND s.text_hash = v.text_hash)"
_MODEL = "second_model"  # Keys of `meta`: the model whose vectors are computed, and the commit that has them all.
_COMPLETE = "second_complete"
_MOST_UNUSED = 1.5  # Times the vectors of chunks; beyond, those of texts that no chunk has are removed.


class SqliteVectorIndex:
    """The vector index of one model.

    Exact search beats an approximate index at this size: 100,000 rows of 256 floats are one matrix product of about ten
    milliseconds, nothing is ever rebuilt, and any scope is a mask over the rows.
    """

    remote = False
    _select = """SELECT chunk_id, vector FROM vectors
        WHERE chunk_id >= ? AND chunk_id < ? AND model_id = (SELECT id FROM models WHERE fingerprint = ?)
        ORDER BY chunk_id"""

    def __init__(self, database: Database, scopes: Scopes, fingerprint: str, dimensions: int) -> None:
        self._database = database
        self._scopes = scopes
        self._fingerprint = fingerprint
        self._rows = _Rows(dimensions)
        self._guard = threading.Lock()
        self._commit = -1

    def search(self, vector: Matrix, limit: int, scope: Scope) -> list[Ranked]:
        with self._guard:
            self._catch_up()
            hidden = self._scopes.resolve(scope).is_hidden
            return self._rows.nearest(np.ascontiguousarray(vector, dtype=np.float32), limit, hidden)

    def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        with self._guard:
            self._catch_up()
            return self._rows.compare(np.ascontiguousarray(vector, dtype=np.float32), chunk_ids)

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Matrix]:
        with self._guard:
            self._catch_up()
            return self._rows.take(chunk_ids)

    def __len__(self) -> int:
        with self._guard:
            self._catch_up()
            return self._rows.used

    def _catch_up(self) -> None:
        commit, members = self._scopes.members()
        if commit == self._commit:
            return
        stored = set(members)
        for file_id in self._rows.files - stored:
            self._rows.remove(file_id)
        for run in _runs(sorted(stored - self._rows.files)):
            self._load(run)
        self._commit = commit

    def _load(self, file_ids: range) -> None:
        with self._database.connection() as connection:
            cursor = connection.execute(
                self._select,
                (file_ids.start << ORDINAL_BITS, file_ids.stop << ORDINAL_BITS, self._fingerprint),
            )
            while batch := cursor.fetchmany(BLOCK_ROWS):
                self._rows.add([chunk_id for chunk_id, _ in batch], b"".join(blob for _, blob in batch))
        self._rows.files.update(file_ids)


class _Block(Struct):
    matrix: Matrix
    ids: NDArray[np.int64]


class _Rows(Struct):
    """Blocks of rows with the chunk of each row; freed rows are reused. positions: block and row by chunk id."""

    dimensions: int
    used: int = 0
    blocks: list[_Block] = field(default_factory=list)
    free: list[tuple[int, int]] = field(default_factory=list)
    positions: dict[int, tuple[int, int]] = field(default_factory=dict)
    files: set[int] = field(default_factory=set)

    def add(self, chunk_ids: Sequence[int], blob: bytes) -> None:
        vectors = np.frombuffer(blob, dtype="<f2").reshape(len(chunk_ids), self.dimensions)
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True):
            if not self.free:
                self._grow()
            block, row = self.free.pop()
            self.blocks[block].matrix[row] = vector
            self.blocks[block].ids[row] = chunk_id
            self.positions[chunk_id] = (block, row)
        self.used += len(chunk_ids)

    def remove(self, file_id: int) -> None:
        self.files.remove(file_id)
        for ordinal in range(MAX_CHUNKS_PER_FILE):
            position = self.positions.pop(file_id << ORDINAL_BITS | ordinal, None)
            if position is None:
                break
            block, row = position
            self.blocks[block].ids[row] = _FREE
            self.free.append(position)
            self.used -= 1

    def take(self, chunk_ids: Sequence[int]) -> dict[int, Matrix]:
        positions = {chunk_id: self.positions[chunk_id] for chunk_id in chunk_ids if chunk_id in self.positions}
        return {chunk_id: self.blocks[block].matrix[row] for chunk_id, (block, row) in positions.items()}

    def compare(self, vector: Matrix, chunk_ids: Sequence[int]) -> dict[int, float]:
        """Return the products with these rows, a block at a time."""
        positions = {chunk_id: self.positions[chunk_id] for chunk_id in chunk_ids if chunk_id in self.positions}
        products: dict[int, float] = {}
        for number, block in enumerate(self.blocks):
            rows = {chunk_id: row for chunk_id, (of, row) in positions.items() if of == number}
            if rows:
                products.update(zip(rows, (block.matrix[list(rows.values())] @ vector).tolist(), strict=True))
        return products

    def nearest(self, vector: Matrix, limit: int, is_hidden: NDArray[np.bool_]) -> list[Ranked]:
        """Return the best rows; is_hidden: by file number, the last entry applies to all higher ones."""
        ids_of_blocks: list[NDArray[np.int64]] = []
        scores_of_blocks: list[Matrix] = []
        for block in self.blocks:
            visible = block.ids != _FREE
            if len(is_hidden) > 1:
                visible &= ~np.take(is_hidden, block.ids >> ORDINAL_BITS, mode="clip")
            scores = np.where(visible, block.matrix @ vector, np.float32(-np.inf))
            best = np.argpartition(scores, -limit)[-limit:] if limit < BLOCK_ROWS else np.arange(BLOCK_ROWS)
            best = best[np.isfinite(scores[best])]
            ids_of_blocks.append(block.ids[best])
            scores_of_blocks.append(scores[best])
        if not ids_of_blocks:
            return []
        ids, scores = np.concatenate(ids_of_blocks), np.concatenate(scores_of_blocks)
        order = np.lexsort((ids, -scores))[:limit]
        return list(map(Ranked, ids[order].tolist(), scores[order].tolist()))

    def _grow(self) -> None:
        number = len(self.blocks)
        self.blocks.append(
            _Block(np.zeros((BLOCK_ROWS, self.dimensions), np.float32), np.full(BLOCK_ROWS, _FREE, np.int64))
        )
        self.free.extend((number, row) for row in reversed(range(BLOCK_ROWS)))


def _runs(file_ids: Sequence[int]) -> list[range]:
    """Join neighbouring ids into ranges, so that the first load is one query and a later one reads only new files."""
    runs: list[range] = []
    for file_id in file_ids:
        if runs and runs[-1].stop == file_id:
            runs[-1] = range(runs[-1].start, file_id + 1)
        else:
            runs.append(range(file_id, file_id + 1))
    return runs


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
