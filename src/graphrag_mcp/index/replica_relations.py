"""The relations of a tree as the tools say them, file by file: a server that is asked in Cypher must not say otherwise.

They are found from the definitions that they lead to, by worker processes, and sent with the files that contain their
lines; in between they are in a temporary file, so that memory does not grow with the project.
"""

import hashlib
import json
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.graph.edges import BY_SYNTAX
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import HELPING
from graphrag_mcp.index.workers import run_tasks
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeNode
from graphrag_mcp.model.links import How, Place, StoredLink, place_id
from graphrag_mcp.model.scope import EVERYTHING
from graphrag_mcp.parsing.code.imports import package_of
from graphrag_mcp.stores.replica import SHARED, RelatedFile, ReplicatedEdge, file_key, symbol_key
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.facts import SqliteFacts
from graphrag_mcp.stores.sqlite.links import SqliteLinks
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.stores.sqlite.symbols import SqliteSymbolGraph
from graphrag_mcp.text.names import as_name

FILES_PER_TASK = 16
FEW_FILES = 40  # Fewer files are read in this process: starting others takes as long.
FILES_REMEMBERED = 320  # Caches are emptied after so many files, so that memory does not grow.
_IMPLEMENTING = (RelationKind.IMPLEMENTS,)
_OTHERS = tuple(kind for kind in RelationKind if kind not in (RelationKind.CONTAINS, *_IMPLEMENTING))
_SCHEMA = """
CREATE TABLE nodes (id INTEGER PRIMARY KEY, key TEXT, file INTEGER, is_file INTEGER, is_test INTEGER);
CREATE TABLE edges (path TEXT, kind TEXT, source INTEGER, target INTEGER, line INTEGER, certainty TEXT);
CREATE TABLE files (path TEXT PRIMARY KEY, said TEXT);
"""
# A test tests what it uses.
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
_OF_FILE = """
SELECT DISTINCT e.kind, s.key, t.key, s.is_file, t.is_file, e.line, e.certainty
FROM edges e JOIN nodes s ON s.id = e.source JOIN nodes t ON t.id = e.target WHERE e.path = ?
ORDER BY e.line, e.kind, s.key, t.key, e.certainty
"""


class _Tree(NamedTuple):
    """The state of the index from which a process reads. project: its name on the server."""

    path: Path
    root: str
    model: str
    commit: int
    project: str


class _Found(NamedTuple):
    """What leads to a file and its definitions, as rows.

    said: the other fields of `RelatedFile`. failure: why there may be more, "" mostly.
    """

    path: str
    nodes: list[tuple[int, str, int, bool, bool]]
    edges: list[tuple[str, str, int, int, int, str]]
    said: tuple[list[tuple[str, int]], list[tuple[str, int]], list[str]]
    failure: str = ""


class TreeRelations:
    """Reads the relations of one tree."""

    def __init__(self, source: SqliteReplicaSource, database: Database, project: str, workers: int) -> None:
        """workers: processes, 0 for one per core."""
        self._source = source
        self._database = database
        self._project = project
        self._workers = workers

    def packages(self) -> list[str]:
        """Return the names under which other projects may import this one."""
        units = (package_of(language, unit) for language, unit in self._source.units() if "." in unit)
        return sorted({*units, *self._source.declared()})

    def collect(self, is_stopped: Callable[[], bool]) -> "Collected":
        """Find the relations of all files; close what is returned."""
        commit = self._source.commit()
        mark, paths = self._source.relations_mark(), sorted(self._source.versions())
        problems: list[str] = []
        spool = sqlite3.connect("", check_same_thread=False)  # It is filled while another thread sends the files.
        spool.executescript(_SCHEMA)
        for found in self._found(paths, problems):
            if is_stopped():
                break
            spool.executemany("INSERT OR IGNORE INTO nodes VALUES (?, ?, ?, ?, ?)", found.nodes)
            spool.executemany("INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?)", found.edges)
            spool.execute("INSERT INTO files VALUES (?, ?)", (found.path, json.dumps(found.said)))
        spool.execute(_TESTS, (json.dumps(HELPING),))
        spool.execute(_IMPORTS)
        spool.execute("CREATE INDEX edges_path ON edges (path)")
        return Collected(self._source, spool, mark, commit, next(iter(problems), ""))

    def _found(self, paths: Sequence[str], problems: list[str]) -> Iterator[_Found]:
        """Yield what leads to each file; what could not be read is added to the problems."""
        tree = self._database.tree
        state = _Tree(self._database.path, tree.root, tree.model, self._database.commit_number(), self._project)
        starts = range(0, len(paths), FILES_PER_TASK)
        tasks = [(state, start // FILES_REMEMBERED, paths[start : start + FILES_PER_TASK]) for start in starts]
        answers = run_tasks(_find, tasks, self._workers if len(paths) > FEW_FILES else 1)
        for (_, _, lost), found in zip(tasks, answers, strict=True):
            reasons = {read.path: read.failure for read in found} if found else dict.fromkeys(lost, "the process ended")
            problems += [
                f"the relations to {as_name(path)} could not be read ({reason}); the rest was copied"
                for path, reason in reasons.items()
                if reason
            ]
            yield from found or ()


class Collected:
    """The relations of a tree.

    mark, commit: of the tree before they were read. problem: why some are missing, "" if none is.
    """

    def __init__(
        self, source: SqliteReplicaSource, spool: sqlite3.Connection, mark: str, commit: int, problem: str
    ) -> None:
        self.mark, self.commit, self.problem = mark, commit, problem
        self._source = source
        self._spool = spool

    def read(self) -> Iterator[RelatedFile]:
        """Yield every file with its relations, in the order of paths."""
        for path, said in self._spool.execute("SELECT path, said FROM files ORDER BY path"):
            outside, undecided, interfaces = json.loads(said)
            outside, undecided = list(map(tuple, outside)), list(map(tuple, undecided))
            chunks = self._source.chunk_keys(path)
            edges = [
                ReplicatedEdge(kind, source, target, bool(of_file), bool(to_file), line, sure, _chunk_of(chunks, line))
                for kind, source, target, of_file, to_file, line, sure in self._spool.execute(_OF_FILE, (path,))
            ]
            content = repr((edges, outside, undecided, interfaces)).encode(errors="surrogatepass")
            mark = hashlib.blake2b(content, digest_size=16).hexdigest()
            yield RelatedFile(path, edges, outside, undecided, interfaces, mark)

    def close(self) -> None:
        """Remove the temporary file."""
        self._spool.close()


class _HeldLinks(SqliteLinks):
    """Links of which those to the definitions of a few files are read at once."""

    def hold(self, targets: Collection[int]) -> None:
        """Read the links to some places and names, in place of those read before."""
        self._held: dict[int, list[StoredLink]] = {target: [] for target in targets}
        for link in super().to(targets, list(How)):
            self._held[link.target].append(link)

    def to(self, targets: Collection[int], hows: Collection[How], /) -> list[StoredLink]:
        if not self._held.keys() >= set(targets):
            return super().to(targets, hows)
        links = [link for target in set(targets) for link in self._held[target] if link.how in hows]
        return sorted(links, key=attrgetter("path", "line")) if len(targets) > 1 else links


@lru_cache(1)
def _opened(tree: _Tree, _part: int) -> tuple[Database, SqliteSymbolGraph, _HeldLinks, Relations]:
    """Open the index for a part of the files, and forget what was found out for the part before."""
    database = Database(tree.path, tree.root, tree.model)
    graph, links = SqliteSymbolGraph(database, ScopeResolver(database, compile_globs)), _HeldLinks(database)
    return database, graph, links, Relations(graph, SqliteFacts(database), links)


def _find(tree: _Tree, part: int, paths: Sequence[str]) -> list[_Found]:
    """Return what leads to some files and their definitions; called in worker processes."""
    database, graph, links, relations = _opened(tree, part)
    try:
        nodes = {path: [node for node in (graph.file(path), *graph.in_file(path)) if node] for path in paths}
        everything = [node for inside in nodes.values() for node in inside]
        names = {place_id(Place("", node.name)) for node in everything if not node.is_file}
        links.hold({*names, *(node.place for node in everything)})
        return [_attempt(relations, tree.project, path, nodes[path]) for path in paths]
    finally:
        database.disconnect()


def _attempt(relations: Relations, project: str, path: str, nodes: Sequence[CodeNode]) -> _Found:
    try:
        return _find_in(relations, project, path, nodes)
    except sqlite3.Error:
        raise
    except Exception as error:  # A file may hold anything, and must not end the copy.
        return _Found(path, [], [], ([], [], []), f"{type(error).__name__}: {error}")


def _find_in(relations: Relations, project: str, path: str, nodes: Sequence[CodeNode]) -> _Found:
    numbers = Counter[str]()
    rows: list[tuple[int, str, int, bool, bool]] = []
    edges: list[tuple[str, str, int, int, int, str]] = []
    interfaces: list[str] = []
    for node in sorted(nodes, key=attrgetter("node_id")):
        key = file_key(project, path)
        if not node.is_file:
            key = symbol_key(project, path, node.qualified_name, numbers[node.qualified_name])
            numbers[node.qualified_name] += 1
        is_test = not node.is_file and node.category is Category.TESTS
        rows.append((node.node_id, key, -node.file_id, node.is_file, is_test))
        edges += _edges(relations, node)
        interfaces += [key] if relations.is_interface(node) else ()
    modules, language = relations.imported_from_outside(path), detect_language(path)
    outside = list(dict.fromkeys((package_of(language, module), line) for module, line in modules))
    return _Found(path, rows, edges, (outside, relations.undecided_in(path), interfaces))


def _edges(relations: Relations, node: CodeNode) -> Iterator[tuple[str, str, int, int, int, str]]:
    """Yield the relations to a node as rows."""
    # A type below an interface may both name it and implement it; who imports a package imports each file of it.
    for kinds in (_OTHERS, BY_SYNTAX if node.is_file else _IMPLEMENTING if node.kind is SymbolKind.TYPE else ()):
        for edge in relations.decided(node, kinds, EVERYTHING) if kinds else ():
            certainty = SHARED if edge.is_guess and edge.certainty is Certainty.BY_NAME else edge.certainty
            yield edge.path, edge.relation, edge.source_id, edge.target_id, edge.line, certainty


def _chunk_of(chunks: Sequence[tuple[int, str]], line: int) -> str:
    """Return the key of the last chunk that begins at a line or before it."""
    place = bisect_right(chunks, line, key=lambda chunk: chunk[0])
    return chunks[max(place - 1, 0)][1] if chunks else ""
