"""Writes whole files: all rows of a file change in one transaction, so a kill leaves them as before or after."""

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from graphrag_mcp.model import ArchiveClass, Chunk, ParsedFile, Relation, Symbol
from graphrag_mcp.stores.sqlite.catalog import FileState, write_facts
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS, MAX_CHUNKS_PER_FILE, ORDINAL_BITS

if TYPE_CHECKING:  # The parsing processes pack rows, and start sooner without numpy.
    from graphrag_mcp.ports import Matrix


@dataclass(frozen=True, slots=True)
class FileRows:
    """One file, ready to be written.

    keywords: the words of each chunk, in the order of KEYWORD_FIELDS. text_hashes: of each chunk's embedded text.
    path_words: word of the file's stem to its share of the stem. module_keys: the names other files import it by.
    """

    parsed: ParsedFile
    state: FileState
    archive: ArchiveClass | None
    modified_at: float | None
    match_keys: frozenset[str]
    path_words: Mapping[str, float]
    module_keys: frozenset[str]
    keywords: Sequence[tuple[str, ...]]
    text_hashes: Sequence[bytes]


_Row = tuple[object, ...]


class PackedFile(NamedTuple):
    """The rows of one file as plain values, which travel between processes at a tenth of the cost of objects.

    before, after: the columns of `files` on either side of the generation. symbols: each with its chunk's ordinal.
    """

    path: str
    before: _Row
    after: _Row
    match_keys: list[str]
    path_words: list[tuple[str, float]]
    module_keys: list[str]
    chunks: list[_Row]
    keywords: Sequence[tuple[str, ...]]
    text_hashes: Sequence[bytes]
    symbols: list[tuple[int, _Row]]
    relations: list[_Row]


def pack_rows(rows: FileRows) -> PackedFile:
    """Return what is written of a file. Raises ValueError when it has more chunks than a file can have."""
    parsed, state, archive = rows.parsed, rows.state, rows.archive
    if len(parsed.chunks) > MAX_CHUNKS_PER_FILE:
        count = len(parsed.chunks)
        raise ValueError(f"{parsed.path} has {count} chunks, the index holds {MAX_CHUNKS_PER_FILE} of one file")
    return PackedFile(
        path=parsed.path,
        before=(parsed.path, state.size, state.mtime_ns, state.content_hash, state.recipe),
        after=(
            parsed.language,
            parsed.category.value,
            parsed.mode.value,
            parsed.note,
            rows.modified_at,
            archive.reason if archive else None,
            archive.penalty if archive else None,
            write_facts(parsed.facts),
        ),
        match_keys=sorted(rows.match_keys),
        path_words=sorted(rows.path_words.items()),
        module_keys=sorted(rows.module_keys),
        chunks=[_pack_chunk(chunk) for chunk in parsed.chunks],
        keywords=rows.keywords,
        text_hashes=rows.text_hashes,
        symbols=_pack_symbols(parsed),
        relations=[_pack_relation(relation) for relation in parsed.relations],
    )


def _pack_chunk(chunk: Chunk) -> _Row:
    names, enclosing = "\t".join(chunk.names), "\t".join(chunk.enclosing)
    place = (chunk.start_line, chunk.end_line, chunk.kind, chunk.symbol)
    return (*place, names, enclosing, chunk.signature, chunk.text)


def _pack_symbols(parsed: ParsedFile) -> list[tuple[int, _Row]]:
    starts = [chunk.start_line for chunk in parsed.chunks]
    return [
        (max(bisect_right(starts, symbol.start_line) - 1, 0), _pack_symbol(symbol))
        for symbol in (parsed.symbols if starts else ())
    ]


def _pack_symbol(symbol: Symbol) -> _Row:
    return (
        symbol.name,
        symbol.name.lower(),
        symbol.qualified_name,
        symbol.kind.value,
        symbol.start_line,
        symbol.end_line,
        symbol.signature,
    )


def _pack_relation(relation: Relation) -> _Row:
    return (
        relation.kind.value,
        relation.source,
        relation.target,
        relation.target.lower(),
        relation.line,
        relation.confidence,
        relation.resolution.value,
        relation.target_module,
    )


class SqliteIndexWriter:
    """The only code that changes the index; one process at a time uses it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def model_id(self, fingerprint: str, dimensions: int) -> int:
        """Return the number under which this model's vectors are stored."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO models (fingerprint, dimensions) VALUES (?, ?)", (fingerprint, dimensions)
            )
            (found,) = connection.execute("SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return int(found)

    def stored_vectors(self, path: str, model_id: int) -> dict[bytes, bytes]:
        """Return the vectors a file has now, by the hash of the text they were made from."""
        rows = self._database.rows(
            f"""SELECT v.text_hash, v.vector FROM files f
                JOIN vectors v ON v.chunk_id >= f.id << {ORDINAL_BITS} AND v.chunk_id < (f.id + 1) << {ORDINAL_BITS}
                WHERE f.path = ? AND v.model_id = ?""",
            (path, model_id),
        )
        return dict(rows)

    def write(self, files: Sequence[tuple[FileRows, Sequence[bytes]]], model_id: int | None) -> None:
        """Replace the rows of these files in one commit; each comes with its chunks' vectors, none without a model."""
        self.write_packed([(pack_rows(rows), vectors) for rows, vectors in files], model_id)

    def write_packed(self, files: Sequence[tuple[PackedFile, Sequence[bytes]]], model_id: int | None) -> None:
        """Do what `write` does, for files that were packed where they were parsed."""
        if not files:
            return
        with self._database.transaction() as connection:
            generation = _next_generation(connection)
            _delete_files(connection, [file.path for file, _ in files])
            connection.executemany("DELETE FROM skipped WHERE path = ?", [(file.path,) for file, _ in files])
            numbered = [
                (file_id, file, vectors) for file_id, (file, vectors) in enumerate(files, _next_file_id(connection))
            ]
            _insert_files(connection, generation, [(file_id, file) for file_id, file, _ in numbered])
            _insert_chunks(connection, [(file_id, file) for file_id, file, _ in numbered])
            if model_id is not None:
                connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)", _vector_rows(numbered, model_id))

    def delete(self, paths: Sequence[str]) -> None:
        """Remove files that are gone or ignored now."""
        if not paths:
            return
        with self._database.transaction() as connection:
            _next_generation(connection)
            _delete_files(connection, paths)

    def touch(self, states: Mapping[str, tuple[int, int]]) -> None:
        """Remember a new (size, mtime_ns) for files whose content is the same."""
        if not states:
            return
        with self._database.transaction() as connection:
            connection.executemany(
                "UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?",
                [(size, mtime_ns, path) for path, (size, mtime_ns) in states.items()],
            )

    def set_modified_at(self, times: Mapping[str, float]) -> None:
        """Remember when files last changed, in seconds since 1970."""
        if not times:
            return
        with self._database.transaction() as connection:
            _next_generation(connection)
            connection.executemany(
                "UPDATE files SET modified_at = ? WHERE path = ? AND modified_at IS NOT ?",
                [(time, path, time) for path, time in times.items()],
            )

    def set_skipped(self, reasons: Mapping[str, str], *, complete: bool) -> None:
        """Remember why paths were left out; `complete` means that these are all of them."""
        if not reasons and not complete:
            return
        with self._database.transaction() as connection:
            if complete:
                connection.execute("DELETE FROM skipped")
            connection.executemany("INSERT OR REPLACE INTO skipped VALUES (?, ?)", list(reasons.items()))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Remember facts about the whole index."""
        with self._database.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, and let SQLite refresh its statistics."""
        with self._database.connection() as connection:
            connection.execute("PRAGMA optimize")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def pack_vectors(vectors: "Matrix") -> list[bytes]:
    """Return each row as float16: half the file, and less than 0.001 off in a cosine of unit vectors."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def _next_generation(connection: sqlite3.Connection) -> int:
    (generation,) = connection.execute(
        """INSERT INTO meta VALUES ('generation', '1')
           ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1 RETURNING value"""
    ).fetchone()
    return int(generation)


def _next_file_id(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'files'").fetchone()
    return (int(found[0]) if found else 0) + 1


def _delete_files(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    ids = [
        file_id for path in paths for (file_id,) in connection.execute("SELECT id FROM files WHERE path = ?", (path,))
    ]
    if not ids:
        return
    for file_id in ids:
        run = (file_id << ORDINAL_BITS, (file_id + 1) << ORDINAL_BITS)
        connection.execute("DELETE FROM keywords WHERE rowid >= ? AND rowid < ?", run)
        connection.execute("DELETE FROM vectors WHERE chunk_id >= ? AND chunk_id < ?", run)
        connection.execute("DELETE FROM chunks WHERE id >= ? AND id < ?", run)
    chosen = id_list(ids)
    for table in ("match_keys", "path_words", "module_keys", "symbols", "relations"):
        connection.execute(f"DELETE FROM {table} WHERE file_id IN (SELECT value FROM json_each(?))", (chosen,))
    connection.execute("DELETE FROM files WHERE id IN (SELECT value FROM json_each(?))", (chosen,))


def _insert_files(connection: sqlite3.Connection, generation: int, files: Sequence[tuple[int, PackedFile]]) -> None:
    connection.executemany(
        f"INSERT INTO files VALUES ({','.join('?' * 15)})",
        [(file_id, *file.before, generation, *file.after) for file_id, file in files],
    )
    connection.executemany(
        "INSERT INTO match_keys VALUES (?, ?)", ((key, file_id) for file_id, file in files for key in file.match_keys)
    )
    connection.executemany(
        "INSERT INTO path_words VALUES (?, ?, ?)",
        ((word, file_id, share) for file_id, file in files for word, share in file.path_words),
    )
    connection.executemany(
        "INSERT INTO module_keys VALUES (?, ?)", ((key, file_id) for file_id, file in files for key in file.module_keys)
    )
    connection.executemany(
        "INSERT INTO symbols VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (file_id << ORDINAL_BITS | ordinal, file_id, *symbol)
            for file_id, file in files
            for ordinal, symbol in file.symbols
        ),
    )
    connection.executemany(
        "INSERT INTO relations VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((file_id, *relation) for file_id, file in files for relation in file.relations),
    )


def _insert_chunks(connection: sqlite3.Connection, files: Sequence[tuple[int, PackedFile]]) -> None:
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (chunk_id, file_id, *chunk)
            for file_id, file in files
            for chunk_id, chunk in enumerate(file.chunks, file_id << ORDINAL_BITS)
        ),
    )
    fields = ", ".join(KEYWORD_FIELDS)
    connection.executemany(
        f"INSERT INTO keywords (rowid, {fields}) VALUES (?{', ?' * len(KEYWORD_FIELDS)})",
        (
            (chunk_id, *words)
            for file_id, file in files
            for chunk_id, words in enumerate(file.keywords, file_id << ORDINAL_BITS)
        ),
    )


def _vector_rows(
    files: Iterable[tuple[int, PackedFile, Sequence[bytes]]], model_id: int
) -> Iterator[tuple[int, int, bytes, bytes]]:
    for file_id, file, vectors in files:
        first = file_id << ORDINAL_BITS
        for chunk_id, (text_hash, vector) in enumerate(zip(file.text_hashes, vectors, strict=True), first):
            yield chunk_id, model_id, text_hash, vector
