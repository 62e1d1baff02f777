"""Writes whole files: all rows of a file change in one transaction, so a kill leaves them as before or after."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphrag_mcp.model.files import ArchiveClass
from graphrag_mcp.ports import Matrix
from graphrag_mcp.stores.sqlite.database import BUSY_TIMEOUT_SECONDS, Database, id_list, is_busy, marks
from graphrag_mcp.stores.sqlite.rows import PackedFile, TreeEntry
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS, ORDINAL_BITS, of_file
from graphrag_mcp.stores.sqlite.trees import remove_orphans, remove_rows, remove_tree, retire_others, supersede

CHECKPOINT_MILLISECONDS = 200  # A search reads for less, and meanwhile no other tree is written.


class StoredContent(NamedTuple):
    """The recipe of a stored content, and the number of its chunks."""

    recipe: str
    chunks: int


class SqliteIndexWriter:
    """Changes the indexed files. No other code does, and only the process with the write lock uses it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tree_id = database.tree.tree_id

    def model_id(self, fingerprint: str, dimensions: int) -> int:
        """Return the number under which this model's vectors are stored."""
        select = "SELECT id FROM models WHERE fingerprint = ?"
        rows = self._database.rows(select, (fingerprint,))
        if not rows:
            with self._database.transaction() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO models (fingerprint, dimensions) VALUES (?, ?)", (fingerprint, dimensions)
                )
            rows = self._database.rows(select, (fingerprint,))
        ((model_id,),) = rows
        return int(model_id)

    def stored_contents(self, paths: Iterable[str]) -> dict[str, dict[bytes, StoredContent]]:
        """Return the stored contents of these paths, of any tree, by path and hash."""
        contents: dict[str, dict[bytes, StoredContent]] = defaultdict(dict)
        for path, content_hash, *rest in self._database.rows(
            """SELECT path, content_hash, recipe, chunks FROM main.files
               WHERE path IN (SELECT value FROM json_each(?)) ORDER BY id""",
            (id_list(paths),),
        ):
            contents[path][content_hash] = StoredContent(*rest)
        return contents

    def stored_vectors(self, path: str, model_id: int) -> dict[bytes, bytes]:
        """Return the vectors of all contents of a path, by the hash of the embedded text."""
        rows = self._database.rows(
            f"""SELECT v.text_hash, v.vector FROM main.files f CROSS JOIN vectors v
                ON {of_file("v.chunk_id", "f.id")}
                WHERE f.path = ? AND v.model_id = ?""",
            (path, model_id),
        )
        return dict(rows)

    def write(self, files: Sequence[tuple[PackedFile, Sequence[bytes]]], model_id: int | None) -> None:
        """Replace the rows of these files in one commit; each with the vectors of its chunks, none without a model."""
        if not files:
            return
        with self._database.change() as connection:
            numbered = [(_content_id(connection, file.entry), file, vectors) for file, vectors in files]
            _insert_files(connection, numbered)
            _insert_chunks(connection, [(file_id, file) for file_id, file, _ in numbered])
            if model_id is not None:
                _insert(connection, "vectors", 4, _vector_rows(numbered, model_id))
            self._put(connection, [(file_id, file.entry) for file_id, file, _ in numbered])

    def attach(self, entries: Sequence[TreeEntry]) -> list[str]:
        """Add contents that are already stored to the tree; return the paths of those that are no longer stored."""
        if not entries:
            return []
        with self._database.change() as connection:
            contents = [(_find_content(connection, entry), entry) for entry in entries]
            self._put(connection, [(file_id, entry) for file_id, entry in contents if file_id is not None])
        return [entry.path for file_id, entry in contents if file_id is None]

    def delete(self, paths: Sequence[str]) -> None:
        """Remove files from the tree."""
        if not paths:
            return
        with self._database.change() as connection:
            left = _ids_at(connection, self._tree_id, paths)
            supersede(connection, self._tree_id, paths)
            connection.executemany(
                "DELETE FROM tree_files WHERE tree_id = ? AND path = ?", [(self._tree_id, path) for path in paths]
            )
            remove_orphans(connection, left)

    def set_modified_at(self, times: Mapping[str, float | None]) -> None:
        """Store when files last changed, in seconds since 1970; None: unknown."""
        if not times:
            return
        with self._database.change() as connection:
            connection.executemany(
                "UPDATE tree_files SET modified_at = ? WHERE tree_id = ? AND path = ? AND modified_at IS NOT ?",
                [(time, self._tree_id, path, time) for path, time in times.items()],
            )

    def set_archived(self, classes: Mapping[str, ArchiveClass | None]) -> None:
        """Store which files are archived, and why."""
        if not classes:
            return
        with self._database.change() as connection:
            supersede(connection, self._tree_id, classes)
            connection.executemany(
                "UPDATE tree_files SET archive_reason = ?, archive_penalty = ? WHERE tree_id = ? AND path = ?",
                [(*_archive_columns(archive), self._tree_id, path) for path, archive in classes.items()],
            )

    def set_skipped(self, reasons: Mapping[str, str], *, complete: bool = False, below: Sequence[str] = ()) -> None:
        """Store why paths were left out: in place of all (`complete`), or of those at and `below` some paths."""
        if not reasons and not complete and not below:
            return
        if complete and dict(self._database.rows("SELECT path, reason FROM skipped")) == reasons:
            return
        with self._database.transaction() as connection:
            if complete:
                connection.execute("DELETE FROM main.skipped WHERE tree_id = ?", (self._tree_id,))
            connection.executemany(
                """DELETE FROM main.skipped
                   WHERE tree_id = ?1 AND (path = ?2 OR path >= ?2 || '/' AND path < ?2 || '0')""",  # "0" follows "/".
                [(self._tree_id, path) for path in below],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO main.skipped VALUES (?, ?, ?)",
                [(self._tree_id, path, reason) for path, reason in reasons.items()],
            )

    def complete(self, meta: Mapping[str, str]) -> None:
        """Mark the tree as complete; from now on it answers searches."""
        was_complete = self._database.meta("indexed_at")
        with self._database.transaction() if was_complete else self._database.change() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO main.meta VALUES (?, ?, ?)",
                [(self._tree_id, key, value) for key, value in meta.items()],
            )
            retire_others(connection, self._database.tree)

    def forget_trees(self, is_gone: Callable[[str], bool]) -> None:
        """Remove the trees whose roots are gone."""
        roots = self._database.rows("SELECT id, root FROM trees WHERE id != ?", (self._tree_id,))
        for tree_id in [tree_id for tree_id, root in roots if is_gone(root)]:
            with self._database.transaction() as connection:
                remove_tree(connection, tree_id)

    def _put(self, connection: sqlite3.Connection, entries: Sequence[tuple[int, TreeEntry]]) -> None:
        """Set the contents of the tree at these paths; the previous ones are removed unless another tree has them."""
        left = _ids_at(connection, self._tree_id, [entry.path for _, entry in entries])
        changed = [entry.path for file_id, entry in entries if not self._has(connection, file_id, entry)]
        supersede(connection, self._tree_id, changed)
        connection.executemany(
            """INSERT INTO tree_files VALUES (?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (tree_id, path) DO UPDATE SET file_id = excluded.file_id, size = excluded.size,
                   changed_ns = excluded.changed_ns, archive_reason = excluded.archive_reason,
                   archive_penalty = excluded.archive_penalty,
                   modified_at = CASE file_id WHEN excluded.file_id THEN modified_at ELSE excluded.modified_at END""",
            [
                (
                    self._tree_id,
                    entry.path,
                    file_id,
                    entry.size,
                    entry.changed_ns,
                    entry.modified_at,
                    *_archive_columns(entry.archive),
                )
                for file_id, entry in entries
            ],
        )
        connection.executemany(
            "DELETE FROM main.skipped WHERE tree_id = ? AND path = ?",
            [(self._tree_id, entry.path) for _, entry in entries],
        )
        remove_orphans(connection, left)

    def _has(self, connection: sqlite3.Connection, file_id: int, entry: TreeEntry) -> bool:
        """Return whether the tree has a content at its path, archived as it is."""
        row = (self._tree_id, entry.path, file_id, entry.archive is None)
        select = """SELECT 1 FROM tree_files WHERE tree_id = ? AND path = ? AND file_id = ?
            AND (archive_reason IS NULL) = ?"""
        return connection.execute(select, row).fetchone() is not None

    def checkpoint(self) -> None:
        """Checkpoint the write-ahead log, and update SQLite's statistics of `tree_files`.

        There are no other statistics (`PRAGMA optimize` would add them): they have the mean number of rows for a key,
        but names in code are very unevenly used. A plan from them reads every reference to the most frequent names,
        which made searches of a million lines seven times slower. The queries fix the order of tables themselves.

        While another tree's writer is busy, this is left to it: maintenance must not make a run fail. What a long
        question still reads of the log is left to the next run.
        """
        with self._database.connection() as connection:
            try:
                if not _has_tree_statistics(connection):
                    connection.execute("ANALYZE main.tree_files")
                    connection.execute("DELETE FROM sqlite_stat1 WHERE tbl != 'tree_files'")
                connection.execute(f"PRAGMA busy_timeout = {CHECKPOINT_MILLISECONDS}")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_SECONDS * 1000)}")


def pack_vectors(vectors: Matrix) -> list[bytes]:
    """Return each row as float16: half the file, and less than 0.001 off in a cosine of unit vectors."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def _has_tree_statistics(connection: sqlite3.Connection) -> bool:
    """Return whether SQLite's statistics have the number of tree files, to a factor of two, and nothing else."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").fetchone():
        return False
    stated, others = connection.execute(
        """SELECT max(CAST(stat AS INTEGER)) FILTER (WHERE tbl = 'tree_files'),
                  count(*) FILTER (WHERE tbl != 'tree_files') FROM sqlite_stat1"""
    ).fetchone()
    (files,) = connection.execute("SELECT count(*) FROM main.tree_files").fetchone()
    return stated is not None and not others and files <= 2 * stated and stated <= 2 * files


def _archive_columns(archive: ArchiveClass | None) -> tuple[str | None, float | None]:
    return (archive.reason, archive.penalty) if archive else (None, None)


def _ids_at(connection: sqlite3.Connection, tree_id: int, paths: Iterable[str]) -> list[int]:
    """Return the ids of the contents that a tree has at these paths."""
    select = "SELECT file_id FROM tree_files WHERE tree_id = ? AND path = ?"
    return [file_id for path in paths for (file_id,) in connection.execute(select, (tree_id, path))]


def _find_content(connection: sqlite3.Connection, entry: TreeEntry) -> int | None:
    row = connection.execute(
        "SELECT id FROM main.files WHERE path = ? AND content_hash = ? AND recipe = ?", entry[:3]
    ).fetchone()
    return int(row[0]) if row else None


def _content_id(connection: sqlite3.Connection, entry: TreeEntry) -> int:
    """Return the number of a content whose rows are about to be written; rows from another tree are replaced."""
    known = _find_content(connection, entry)
    if known is not None:
        remove_rows(connection, known)
        return known
    columns = ", ".join("?" * 3) + ", '', '', '', '', '', 0, 0, 0, 0"
    cursor = connection.execute(f"INSERT INTO main.files VALUES (NULL, {columns})", entry[:3])
    return int(cursor.lastrowid or 0)


def _insert_files(connection: sqlite3.Connection, files: Sequence[tuple[int, PackedFile, Sequence[bytes]]]) -> None:
    connection.executemany(
        """UPDATE main.files SET language = ?, category = ?, mode = ?, note = ?, facts = ?, chunks = ?, symbols = ?,
           embedded = ?, place = ? WHERE id = ?""",
        [(*file.columns, len(vectors), file.place, file_id) for file_id, file, vectors in files],
    )
    keys = ((key, file_id) for file_id, file, _ in files for key in file.match_keys)
    _insert(connection, "match_keys", 2, keys)
    words = ((word, file_id, share) for file_id, file, _ in files for word, share in file.path_words)
    _insert(connection, "path_words", 3, words)
    modules = ((key, file_id) for file_id, file, _ in files for key in file.module_keys)
    _insert(connection, "module_keys", 2, modules)
    symbols = (
        (None, file_id << ORDINAL_BITS | ordinal, file_id, *symbol)
        for file_id, file, _ in files
        for ordinal, symbol in file.symbols
    )
    _insert(connection, "symbols", 13, symbols)
    outlines = ((file_id, file.outline) for file_id, file, _ in files if file.outline)
    _insert(connection, "outlines", 2, outlines)
    codes = ((file_id, file.code) for file_id, file, _ in files if file.code)
    _insert(connection, "facts", 4, ((file_id, code.unit, code.has_errors, code.data) for file_id, code in codes))
    manifests = ((file_id, file.manifest) for file_id, file, _ in files if file.manifest)
    _insert(connection, "manifests", 2, manifests)


def _insert_chunks(connection: sqlite3.Connection, files: Sequence[tuple[int, PackedFile]]) -> None:
    chunks = (
        (chunk_id, file_id, *chunk)
        for file_id, file in files
        for chunk_id, chunk in enumerate(file.chunks, file_id << ORDINAL_BITS)
    )
    _insert(connection, "chunks", 10, chunks)
    keywords = (
        (chunk_id, *words)
        for file_id, file in files
        for chunk_id, words in enumerate(file.keywords, file_id << ORDINAL_BITS)
    )
    fields = ", ".join(KEYWORD_FIELDS)
    _insert(connection, f"keywords (rowid, {fields})", 1 + len(KEYWORD_FIELDS), keywords)


def _insert(connection: sqlite3.Connection, table: str, columns: int, rows: Iterable[tuple[object, ...]]) -> None:
    connection.executemany(f"INSERT INTO main.{table} VALUES ({marks(range(columns))})", rows)


def _vector_rows(
    files: Iterable[tuple[int, PackedFile, Sequence[bytes]]], model_id: int
) -> Iterator[tuple[int, int, bytes, bytes]]:
    for file_id, file, vectors in files:
        first = file_id << ORDINAL_BITS
        hashes = file.text_hashes if vectors else ()
        for chunk_id, (text_hash, vector) in enumerate(zip(hashes, vectors, strict=True), first):
            yield chunk_id, model_id, text_hash, vector
