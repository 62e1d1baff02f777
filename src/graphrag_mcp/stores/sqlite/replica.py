"""Reads from the index what the servers hold: which files a server lacks, and everything to send of a file."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.links import How
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.replica import (
    SHARED,
    Point,
    ReplicatedChunk,
    ReplicatedCommit,
    ReplicatedEdge,
    ReplicatedFile,
    ReplicatedSymbol,
    file_key,
    file_version,
    point_key,
)
from graphrag_mcp.stores.sqlite.catalog import CHUNK_COLUMNS, read_calls, read_chunk
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.history import copied_commits
from graphrag_mcp.stores.sqlite.links import LINE_BITS, kind_of
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS, ORDINAL_BITS, ORDINAL_MASK, of_file, of_linked
from graphrag_mcp.system.git import head_commit

USUAL_LENGTH = 160.0  # In 34,000 chunks of 17 repositories, the mean of the words over all fields is 161.
_MEASURED = 20_000  # Chunks from which their mean length is taken.
_CONTENT = "hex(f.content_hash) || ' ' || f.recipe || ' '"
# The replica of a file changes if one of these changes.
_MARK = f"""{_CONTENT} || f.category || ' ' || coalesce(f.modified_at, '') || ' '
    || coalesce(f.archive_reason, '') || ' ' || coalesce(f.archive_penalty, '')"""

CERTAINTIES = {
    How.CERTAIN: "certain",
    How.OPEN: "may call",
    How.SAID: "certain",
    How.NAMED: "by name",
    How.SHARED: SHARED,
}


def _mark(*, with_edges: bool) -> str:
    """Return in SQL what changes with a file `f`, or with its relations as well."""
    digest = "coalesce((SELECT l.digest FROM linked l WHERE l.file_id = f.id), '')"
    return f"{_MARK} || ' ' || {digest}" if with_edges else _MARK


# The key of a symbol has its file, its qualified name, and the number of symbols of that name before it in the file.
_SYMBOL_COLUMNS = """s.id, f.path, s.qualified_name, (SELECT count(*) FROM symbols o
    WHERE o.name_key = s.name_key AND o.file_id = s.file_id AND o.qualified_name = s.qualified_name AND o.id < s.id)"""


class SqliteReplicaSource:
    """Marks the files that a server holds, and reads those that it lacks."""

    def __init__(self, database: Database, project: str, fingerprint: str) -> None:
        """project: part of the points' keys. fingerprint: of the model whose vectors are read."""
        self._database = database
        self._tree_id = database.tree.tree_id
        self._project = project
        self._fingerprint = fingerprint

    # ------------------------------------------------------------ what a server holds

    def pending(self, server: str, *, with_edges: bool = False) -> list[str]:
        """Return the files that the server lacks or holds in another version, in the order of paths.

        with_edges: another version also means other relations.
        """
        rows = self._database.rows(
            f"""SELECT f.path FROM files f LEFT JOIN projected p ON p.server = ? AND p.path = f.path
                WHERE p.mark IS NOT {_mark(with_edges=with_edges)} ORDER BY f.path""",
            (server,),
        )
        return [path for (path,) in rows]

    def differing(self, server: str) -> list[str]:
        """Return the files with another content than the server confirmed, in the order of paths."""
        rows = self._database.rows(
            f"""SELECT f.path FROM files f LEFT JOIN projected p ON p.server = ? AND p.path = f.path
                WHERE f.chunks AND instr(coalesce(p.mark, ''), {_CONTENT}) != 1 ORDER BY f.path""",
            (server,),
        )
        return [path for (path,) in rows]

    def held(self, server: str) -> tuple[int, int]:
        """Return how many files the server holds in any version, and how many there are."""
        ((held, files),) = self._database.rows(
            """SELECT count(p.path), count(*) FROM files f
               LEFT JOIN projected p ON p.server = ? AND p.path = f.path""",
            (server,),
        )
        return int(held), int(files)

    def marked(self, server: str) -> int:
        """Return how many files the server was marked as holding, also those that the index does not have."""
        ((count,),) = self._database.rows("SELECT count(*) FROM projected WHERE server = ?", (server,))
        return int(count)

    def gone(self, server: str) -> list[str]:
        """Return the files that the server holds and the index does not."""
        rows = self._database.rows(
            "SELECT path FROM projected WHERE server = ? AND path NOT IN (SELECT path FROM files) ORDER BY path",
            (server,),
        )
        return [path for (path,) in rows]

    def mark(self, server: str, files: Iterable[ReplicatedFile]) -> None:
        """Mark that the server holds these files as they were read."""
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO main.projected VALUES (?, ?, ?, ?)",
                [(self._tree_id, server, file.path, file.mark) for file in files],
            )

    def forget(self, server: str, paths: Iterable[str] | None = None) -> None:
        """Remove the marks of these files, or of all."""
        with self._database.transaction() as connection:
            if paths is None:
                connection.execute(
                    "DELETE FROM main.projected WHERE tree_id = ? AND server = ?", (self._tree_id, server)
                )
            else:
                connection.executemany(
                    "DELETE FROM main.projected WHERE tree_id = ? AND server = ? AND path = ?",
                    [(self._tree_id, server, path) for path in paths],
                )

    def mark_foreign(self, server: str, paths: Iterable[str]) -> None:
        """Mark files that a server holds and the index does not, so that they are removed."""
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO main.projected VALUES (?, ?, ?, '')",
                [(self._tree_id, server, path) for path in paths],
            )

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
            WHERE p.server = ?1 AND p.path = f.path AND instr(p.mark || ' ', {_MARK} || ' ') = 1)"""
        ((count,),) = self._database.rows(
            f"SELECT coalesce(sum(f.chunks), 0) FROM files f {condition if server else ''}", (server,) if server else ()
        )
        return int(count)

    def history(self) -> tuple[str, Callable[[], Sequence[ReplicatedCommit]]]:
        """Return the commit whose ancestors the tree knows, and what reads these."""
        return copied_commits(self._database)

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

    def read(self, paths: Sequence[str], *, with_edges: bool) -> list[ReplicatedFile]:
        """Return these files as they are in the index; those that have left it are left out.

        with_edges: resolve their relations too, which only a graph store needs.
        """
        files = self._database.rows(
            f"""SELECT f.id, f.path, f.content_hash, f.recipe, {_mark(with_edges=with_edges)} FROM files f
                WHERE f.path IN (SELECT value FROM json_each(?)) ORDER BY f.path""",
            (id_list(paths),),
        )
        ids = id_list(row[0] for row in files)
        versions = {
            file_id: file_version(path, content_hash, recipe) for file_id, path, content_hash, recipe, _ in files
        }
        chunks, symbols = self._chunks(ids, versions), self._symbols(ids)
        edges = self._edges(ids) if with_edges else {}
        calls = {} if with_edges else read_calls(self._database, [row[0] for row in files])
        keys = self._grouped("SELECT file_id, key FROM match_keys", ids)
        words = self._grouped("SELECT file_id, word, share FROM path_words", ids)
        return [
            ReplicatedFile(
                path=path,
                version=versions[file_id],
                mark=mark,
                match_keys=tuple(key for (key,) in keys[file_id]),
                path_words=dict(words[file_id]),
                chunks=tuple(chunks[file_id]),
                symbols=tuple(symbols[file_id]),
                edges=tuple(edges.get(file_id, ())),
                calls=calls.get(file_id, ()),
            )
            for file_id, path, _, _, mark in files
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
            f"""SELECT {_SYMBOL_COLUMNS}, s.chunk_id, s.name, s.kind, s.start_line, s.end_line, s.signature
                FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.file_id IN (SELECT value FROM json_each(?)) ORDER BY s.id""",
            (ids,),
        )
        symbols: dict[int, list[ReplicatedSymbol]] = defaultdict(list)
        for _, path, qualified, number, chunk_id, name, kind, *rest in rows:
            symbols[chunk_id >> ORDINAL_BITS].append(
                ReplicatedSymbol(
                    self._symbol_key(path, qualified, number),
                    chunk_id & ORDINAL_MASK,
                    Symbol(name, qualified, SymbolKind(kind), *rest),
                )
            )
        return symbols

    def _edges(self, ids: str) -> dict[int, list[ReplicatedEdge]]:
        """Return the relations of files: all links of their lines to definitions and files of the tree."""
        rows = self._database.rows(
            f"""SELECT l.file_id, v.kind, v.position >> {LINE_BITS} AS line, v.how, v.source, v.target,
                    coalesce((SELECT max(c.id) FROM chunks c WHERE {of_file("c.id", "l.file_id")}
                              AND c.start_line <= v.position >> {LINE_BITS}), 0)
                FROM json_each(?) wanted CROSS JOIN linked l ON l.file_id = wanted.value
                CROSS JOIN main.links v ON {of_linked("v.id", "l.id")}
                WHERE v.target > 0 AND v.how IN ({marks(CERTAINTIES)}) ORDER BY l.file_id, v.position""",
            (ids, *CERTAINTIES),
        )
        keys = self._keys_at({place for row in rows for place in row[4:6] if place})
        files = {file_id: file_key(self._project, path) for file_id, path in self._database.rows(
            "SELECT id, path FROM files WHERE id IN (SELECT value FROM json_each(?))", (ids,)
        )}  # fmt: skip
        edges: dict[int, dict[ReplicatedEdge, None]] = defaultdict(dict)
        for file_id, number, line, how, source, target, chunk_id in rows:
            if target in keys:
                source_key, is_of_file = keys.get(source) or (files[file_id], True)
                target_key, is_to_file = keys[target]
                rest = (is_of_file, is_to_file, line, CERTAINTIES[How(how)], chunk_id & ORDINAL_MASK)
                edges[file_id][ReplicatedEdge(kind_of(number), source_key, target_key, *rest)] = None
        return {file_id: list(unique) for file_id, unique in edges.items()}

    def _keys_at(self, places: Iterable[int]) -> dict[int, tuple[str, bool]]:
        """Return the keys of the symbols and files at places, and whether it is a file."""
        wanted = (id_list(places),)
        symbols = self._database.rows(
            f"""SELECT s.place, {_SYMBOL_COLUMNS} FROM json_each(?) wanted
                CROSS JOIN main.symbols s ON s.place = wanted.value CROSS JOIN files f ON f.id = s.file_id""",
            wanted,
        )
        files = self._database.rows(
            """SELECT c.place, f.path FROM json_each(?) wanted CROSS JOIN main.files c ON c.place = wanted.value
               CROSS JOIN files f ON f.id = c.id""",
            wanted,
        )
        keys = {place: (self._symbol_key(*rest), False) for place, _, *rest in symbols}
        return keys | {place: (file_key(self._project, path), True) for place, path in files}

    def _symbol_key(self, path: str, qualified_name: str, number: int) -> str:
        return f"{file_key(self._project, path)}#{qualified_name}~{number}"


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
