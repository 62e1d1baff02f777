"""The relations of a tree as the tools say them, file by file: a server that is asked in Cypher must not say otherwise.

They are found from the definitions that they lead to, and sent with the files that contain their lines; in between they
are in a temporary file, so that memory does not grow with the project.
"""

import hashlib
import json
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import HELPING
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeNode
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.parsing.code.imports import package_of
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.stores.replica import SHARED, RelatedFile, ReplicatedEdge, file_key, symbol_key
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource

FILES_REMEMBERED = 300  # What was found out is forgotten after so many files.
_ALL = Scope(exclude_archived=False)
_OF_FILES = (RelationKind.IMPORTS, RelationKind.LINKS_TO, RelationKind.SUPERSEDES)
_IMPLEMENTING = (RelationKind.IMPLEMENTS,)
_OTHERS = tuple(kind for kind in RelationKind if kind not in (RelationKind.CONTAINS, *_IMPLEMENTING))
_SCHEMA = """
CREATE TABLE nodes (id INTEGER PRIMARY KEY, key TEXT, file INTEGER, is_file INTEGER, is_test INTEGER);
CREATE TABLE edges (path TEXT, kind TEXT, source INTEGER, target INTEGER, line INTEGER, certainty TEXT);
CREATE TABLE interfaces (path TEXT, key TEXT);
"""
_TESTS = """
INSERT INTO edges SELECT e.path, 'tests', e.source, e.target, min(e.line), min(e.certainty)
FROM edges e JOIN nodes s ON s.id = e.source
WHERE s.is_test AND e.kind IN (SELECT value FROM json_each(?)) GROUP BY e.path, e.source, e.target
"""
# Who imports what a file defines imports the file.
_IMPORTS = """
INSERT INTO edges SELECT e.path, e.kind, e.source, t.file, e.line, e.certainty
FROM edges e JOIN nodes t ON t.id = e.target WHERE e.kind = 'imports' AND NOT t.is_file
"""
_INDEXES = "CREATE INDEX edges_path ON edges (path); CREATE INDEX interfaces_path ON interfaces (path)"
_OF_FILE = """
SELECT DISTINCT e.kind, s.key, t.key, s.is_file, t.is_file, e.line, e.certainty
FROM edges e JOIN nodes s ON s.id = e.source JOIN nodes t ON t.id = e.target WHERE e.path = ?
ORDER BY e.line, e.kind, s.key, t.key, e.certainty
"""


class TreeRelations:
    """Reads the relations of one tree."""

    def __init__(
        self, source: SqliteReplicaSource, graph: SymbolGraph, open_relations: Callable[[], Relations], project: str
    ) -> None:
        self._source = source
        self._graph = graph
        self._open_relations = open_relations
        self._project = project

    def packages(self) -> list[str]:
        """Return the names under which other projects may import this one."""
        units = (package_of(language, unit) for language, unit in self._source.units() if "." in unit)
        return sorted({*units, *self._source.declared()})

    def read(self) -> Iterator[RelatedFile]:
        """Yield every file with its relations, in the order of paths."""
        paths = sorted(self._source.versions())
        with closing(sqlite3.connect("")) as spool:
            spool.executescript(_SCHEMA)
            for number, path in enumerate(paths):
                if number % FILES_REMEMBERED == 0:
                    relations = self._open_relations()
                self._collect(spool, relations, path)
            spool.execute(_TESTS, (json.dumps(HELPING),))
            spool.execute(_IMPORTS)
            spool.executescript(_INDEXES)
            for number, path in enumerate(paths):
                if number % FILES_REMEMBERED == 0:
                    relations = self._open_relations()
                yield self._related(spool, relations, path)

    def _collect(self, spool: sqlite3.Connection, relations: Relations, path: str) -> None:
        """Note the definitions of a file, and what refers to them and to the file."""
        file = self._graph.file(path)
        nodes = [*([file] if file else ()), *sorted(self._graph.in_file(path), key=lambda node: node.node_id)]
        numbers = Counter[str]()
        for node in nodes:
            key = file_key(self._project, path)
            if not node.is_file:
                key = symbol_key(self._project, path, node.qualified_name, numbers[node.qualified_name])
                numbers[node.qualified_name] += 1
            is_test = not node.is_file and node.category is Category.TESTS
            row = (node.node_id, key, -node.file_id, node.is_file, is_test)
            spool.execute("INSERT OR IGNORE INTO nodes VALUES (?, ?, ?, ?, ?)", row)
            spool.executemany("INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?)", _edges(relations, node))
            if relations.is_interface(node):
                spool.execute("INSERT INTO interfaces VALUES (?, ?)", (path, key))

    def _related(self, spool: sqlite3.Connection, relations: Relations, path: str) -> RelatedFile:
        chunks = self._source.chunk_keys(path)
        edges = [
            ReplicatedEdge(kind, source, target, bool(of_file), bool(to_file), line, sure, _chunk_of(chunks, line))
            for kind, source, target, of_file, to_file, line, sure in spool.execute(_OF_FILE, (path,))
        ]
        language = detect_language(path)
        modules = relations.imported_from_outside(path)
        outside = list(dict.fromkeys((package_of(language, module), line) for module, line in modules))
        undecided = relations.undecided_in(path)
        interfaces = [key for (key,) in spool.execute("SELECT key FROM interfaces WHERE path = ?", (path,))]
        said = repr((edges, outside, undecided, interfaces)).encode(errors="surrogatepass")
        mark = hashlib.blake2b(said, digest_size=16).hexdigest()
        return RelatedFile(path, edges, outside, undecided, interfaces, mark)


def _edges(relations: Relations, node: CodeNode) -> Iterator[tuple[str, str, int, int, int, str]]:
    """Yield the relations to a node as rows."""
    # A type below an interface may both name it and implement it; who imports a package imports each file of it.
    for kinds in (_OTHERS, _OF_FILES if node.is_file else _IMPLEMENTING if node.kind is SymbolKind.TYPE else ()):
        for edge in relations.decided(node, kinds, _ALL) if kinds else ():
            certainty = SHARED if edge.is_guess and edge.certainty is Certainty.BY_NAME else edge.certainty
            yield edge.path, edge.relation, edge.source_id, edge.target_id, edge.line, certainty


def _chunk_of(chunks: Sequence[tuple[int, str]], line: int) -> str:
    """Return the key of the last chunk that begins at a line or before it."""
    place = bisect_right(chunks, line, key=lambda chunk: chunk[0])
    return chunks[max(place - 1, 0)][1] if chunks else ""
