"""Exact cosine search over a float32 matrix in memory, loaded from the index file and updated after its commits."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked
from graphrag_mcp.ports import Matrix
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.schema import MAX_CHUNKS_PER_FILE, ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import Scopes

# The matrix grows by blocks of 8 MB (at 256 dimensions), so that growth copies no rows.
BLOCK_ROWS = 8192
_FREE = -1


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
        stored = set(members.tolist())
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


@dataclass(slots=True)
class _Block:
    matrix: Matrix
    ids: NDArray[np.int64]


@dataclass(slots=True)
class _Rows:
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
