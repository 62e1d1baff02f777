"""Reads from the index what the servers hold: which files a server lacks, and what to send of a file."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphrag_mcp.model.files import Symbol, SymbolKind, load_manifest
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.replica import (
    Point,
    ReplicatedChunk,
    ReplicatedCommit,
    ReplicatedFile,
    ReplicatedSymbol,
    file_version,
    point_key,
    symbol_key,
)
from graphrag_mcp.stores.sqlite.catalog import CHUNK_COLUMNS, read_calls, read_chunk
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.history import SqliteHistory
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS, ORDINAL_BITS, ORDINAL_MASK, of_file
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.system.git import head_commit

USUAL_LENGTH = 160.0  # In 34,000 chunks of 17 repositories, the mean of the words over all fields is 161.
_MEASURED = 20_000  # Chunks from which their mean length is taken.
# The replica of a file changes if one of these changes.
_MARK = """hex(f.content_hash) || ' ' || f.recipe || ' ' || f.category || ' ' || coalesce(f.modified_at, '') || ' '
    || coalesce(f.archive_reason, '') || ' ' || coalesce(f.archive_penalty, '')"""


class SqliteReplicaSource:
    """Marks the files that a server holds, and reads those that it lacks."""

    def __init__(self, database: Database, project: str, fingerprint: str) -> None:
        """project: part of the points' keys. fingerprint: of the model whose vectors are read."""
        self._database = database
        self._tree_id = database.tree.tree_id
        self._project = project
        self._fingerprint = fingerprint

    # ------------------------------------------------------------ what a server holds

    def pending(self, server: str) -> list[str]:
        """Return the files that the server lacks or holds in another version, in the order of paths."""
        return self._database.column(
            f"""SELECT f.path FROM files f LEFT JOIN projected p ON p.server = ? AND p.path = f.path
                WHERE p.mark IS NOT {_MARK} ORDER BY f.path""",
            (server,),
        )

    def marked(self, server: str) -> int:
        """Return how many files the server was marked as holding, also those that the index does not have."""
        ((count,),) = self._database.rows("SELECT count(*) FROM projected WHERE server = ?", (server,))
        return int(count)

    def gone(self, server: str) -> list[str]:
        """Return the files that the server holds and the index does not."""
        return self._database.column(
            "SELECT path FROM projected WHERE server = ? AND path NOT IN (SELECT path FROM files) ORDER BY path",
            (server,),
        )

    def mark(self, server: str, marks: Mapping[str, str]) -> None:
        """Record the marks of the files that the server holds, by path; "" for one that the index does not have."""
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO main.projected VALUES (?, ?, ?, ?)",
                [(self._tree_id, server, path, mark) for path, mark in marks.items()],
            )

    def forget(self, server: str, paths: Iterable[str] | None = None) -> None:
        """Remove the marks of these files, or of all."""
        remove = "DELETE FROM main.projected WHERE tree_id = ? AND server = ?"
        with self._database.transaction() as connection:
            if paths is None:
                connection.execute(remove, (self._tree_id, server))
            else:
                connection.executemany(f"{remove} AND path = ?", [(self._tree_id, server, path) for path in paths])

    def commit(self) -> int:
        """Return the number of the last commit, to detect that the index has changed."""
        return self._database.commit_number()

    def head(self) -> str:
        """Return the commit that is checked out, "" outside of git."""
        return head_commit(Path(self._database.tree.root))

    def versions(self) -> dict[str, tuple[str, int]]:
        """Return the version of each indexed file and how many chunks it has."""
        rows = self._database.rows("SELECT path, content_hash, recipe, chunks FROM files")
        return {path: (file_version(path, content_hash, recipe), count) for path, content_hash, recipe, count in rows}

    def chunks(self, server: str = "") -> int:
        """Return how many chunks the index has; with a server, how many of them were sent to it unchanged."""
        condition = f"""WHERE EXISTS (SELECT 1 FROM projected p
            WHERE p.server = ?1 AND p.path = f.path AND p.mark = {_MARK})"""
        ((count,),) = self._database.rows(
            f"SELECT coalesce(sum(f.chunks), 0) FROM files f {condition if server else ''}", (server,) if server else ()
        )
        return int(count)

    def history(self) -> tuple[str, Callable[[], Sequence[ReplicatedCommit]]]:
        """Return the commit whose ancestors the tree knows, and what reads these."""
        history = SqliteHistory(
            self._database, ScopeResolver(self._database, lambda _globs, _argument: lambda _path: False)
        )
        state = history.state()
        return state.tip, lambda: list(history.copy(state))

    def mean_length(self) -> float:
        """Return the mean number of words of a chunk, over all its fields."""
        words = " + ".join(f"length({field}) - length(replace({field}, ' ', '')) + ({field} != '')"
                           for field in KEYWORD_FIELDS)  # fmt: skip
        ((mean,),) = self._database.rows(f"SELECT avg({words}) FROM (SELECT * FROM keywords LIMIT {_MEASURED})")
        return mean or USUAL_LENGTH

    def frequencies(self) -> Frequencies:
        """Return how many chunks contain each word, as the embedded keyword index counts them."""
        counts = self._database.rows("SELECT term, doc FROM keyword_terms")
        ((chunks,),) = self._database.rows("SELECT coalesce(sum(chunks), 0) FROM main.files")
        return Frequencies(dict(counts), chunks)

    # ------------------------------------------------------------ what is sent

    def read(self, paths: Sequence[str]) -> list[ReplicatedFile]:
        """Return these files as they are in the index; those that have left it are left out."""
        files = self._database.rows(
            f"""SELECT f.id, f.path, f.content_hash, f.recipe, {_MARK}, f.category, f.language FROM files f
                WHERE f.path IN (SELECT value FROM json_each(?)) ORDER BY f.path""",
            (id_list(paths),),
        )
        ids = id_list(row[0] for row in files)
        versions = {
            file_id: file_version(path, content_hash, recipe) for file_id, path, content_hash, recipe, *_ in files
        }
        chunks, symbols = self._chunks(ids, versions), self._symbols(ids)
        calls = read_calls(self._database, [row[0] for row in files])
        keys = self._grouped("SELECT file_id, key FROM match_keys", ids)
        words = self._grouped("SELECT file_id, word, share FROM path_words", ids)
        return [
            ReplicatedFile(
                path=path,
                version=versions[file_id],
                mark=mark,
                category=category,
                language=language,
                match_keys=tuple(key for (key,) in keys[file_id]),
                path_words=dict(words[file_id]),
                chunks=tuple(chunks[file_id]),
                symbols=tuple(symbols[file_id]),
                calls=calls.get(file_id, ()),
            )
            for file_id, path, _, _, mark, category, language in files
        ]

    def _grouped(self, select: str, ids: str) -> dict[int, list[tuple[Any, ...]]]:
        groups: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for file_id, *values in self._database.rows(
            f"{select} WHERE file_id IN (SELECT value FROM json_each(?))", (ids,)
        ):
            groups[file_id].append(tuple(values))
        return groups

    def _chunks(self, ids: str, versions: Mapping[int, str]) -> dict[int, list[ReplicatedChunk]]:
        fields = list(KEYWORD_FIELDS)
        rows = self._database.rows(
            f"""SELECT {CHUNK_COLUMNS}, {", ".join(f"k.{field}" for field in fields)}, v.vector
                FROM json_each(?) wanted CROSS JOIN files f ON f.id = wanted.value
                CROSS JOIN chunks c ON {of_file("c.id", "f.id")}
                CROSS JOIN keywords k ON k.rowid = c.id
                LEFT JOIN vectors v ON v.chunk_id = c.id
                    AND v.model_id = (SELECT id FROM models WHERE fingerprint = ?) ORDER BY c.id""",
            (ids, self._fingerprint),
        )
        chunks: dict[int, list[ReplicatedChunk]] = defaultdict(list)
        for *row, blob in rows:
            chunk = read_chunk(row[: -len(fields)])
            ordinal, version = chunk.chunk_id & ORDINAL_MASK, versions[chunk.file_id]
            point = Point(point_key(self._project, version, ordinal), chunk.path, version, ordinal)
            vector = None if blob is None else np.frombuffer(blob, dtype="<f2").astype(np.float32)
            words = dict(zip(fields, row[-len(fields) :], strict=True))
            chunks[chunk.file_id].append(ReplicatedChunk(point, chunk, words, vector))
        return chunks

    def _symbols(self, ids: str) -> dict[int, list[ReplicatedSymbol]]:
        rows = self._database.rows(
            """SELECT f.path, s.qualified_name, s.chunk_id, s.name, s.kind, s.start_line, s.end_line, s.signature
                FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.file_id IN (SELECT value FROM json_each(?)) ORDER BY s.id""",
            (ids,),
        )
        symbols: dict[int, list[ReplicatedSymbol]] = defaultdict(list)
        numbers = Counter[tuple[str, str]]()
        for path, qualified, chunk_id, name, kind, *rest in rows:
            key = symbol_key(self._project, path, qualified, numbers[path, qualified])
            numbers[path, qualified] += 1
            symbol = Symbol(name, qualified, SymbolKind(kind), *rest)
            symbols[chunk_id >> ORDINAL_BITS].append(ReplicatedSymbol(key, chunk_id & ORDINAL_MASK, symbol))
        return symbols

    def chunk_keys(self, path: str) -> list[tuple[int, str]]:
        """Return the first line and the key of each chunk of a file, in their order."""
        rows = self._database.rows(
            f"""SELECT f.content_hash, f.recipe, c.id, c.start_line FROM files f
                CROSS JOIN chunks c ON {of_file("c.id", "f.id")} WHERE f.path = ? ORDER BY c.id""",
            (path,),
        )
        version = file_version(path, *rows[0][:2]) if rows else ""
        return [(start, point_key(self._project, version, chunk_id & ORDINAL_MASK)) for _, _, chunk_id, start in rows]

    def relations_mark(self) -> str:
        """Return what differs when any relation of the tree may."""
        rows = self._database.rows(
            f"SELECT f.path, {_MARK}, l.digest FROM files f LEFT JOIN linked l ON l.file_id = f.id ORDER BY f.path"
        )
        return hashlib.blake2b(repr(rows).encode(errors="surrogatepass"), digest_size=16).hexdigest()

    def marks(self, server: str) -> dict[str, str]:
        """Return what is recorded of each file that a server holds."""
        return dict(self._database.rows("SELECT path, mark FROM projected WHERE server = ?", (server,)))

    def units(self) -> list[tuple[str, str]]:
        """Return the units of code outside of tests, each with its language; see `FileFacts.unit`."""
        rows = self._database.rows(
            """SELECT DISTINCT f.language, x.unit FROM facts x CROSS JOIN files f ON f.id = x.file_id
               WHERE f.category = 'implementation'"""
        )
        return [(language, unit) for language, unit in rows]

    def declared(self) -> list[str]:
        """Return the names that manifests declare."""
        names = (load_manifest(data).name for (data,) in self._database.rows("SELECT data FROM manifests"))
        return sorted({name for name in names if name.isprintable()} - {""})


class SqliteChunkIds:
    """Maps points by path and version, so that hits that the index no longer has are dropped."""

    def __init__(self, database: Database, project: str, without: Collection[int] = ()) -> None:
        """without: files whose points are dropped too."""
        self._database = database
        self._project = project
        self._without = frozenset(without)

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        rows = self._database.rows(
            "SELECT path, id, content_hash, recipe FROM files WHERE path IN (SELECT value FROM json_each(?))",
            (id_list(sorted({point.path for point in points})),),
        )
        known = {
            (path, file_version(path, content_hash, recipe)): file_id << ORDINAL_BITS
            for path, file_id, content_hash, recipe in rows
            if file_id not in self._without
        }
        firsts = [known.get((point.path, point.version)) for point in points]
        return [None if first is None else first | point.ordinal for first, point in zip(firsts, points, strict=True)]

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        rows = self._database.rows(
            "SELECT id, path, content_hash, recipe FROM files WHERE id IN (SELECT value FROM json_each(?))",
            (id_list({chunk_id >> ORDINAL_BITS for chunk_id in chunk_ids}),),
        )
        versions = {file_id: file_version(path, content_hash, recipe) for file_id, path, content_hash, recipe in rows}
        return {
            chunk_id: point_key(self._project, versions[chunk_id >> ORDINAL_BITS], chunk_id & ORDINAL_MASK)
            for chunk_id in chunk_ids
            if chunk_id >> ORDINAL_BITS in versions
        }
