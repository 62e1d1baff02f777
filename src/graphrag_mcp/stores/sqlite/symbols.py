"""The code graph in tables: definitions by name, location or place, and the relations that a search reads."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphrag_mcp.languages.registry import is_inline_test
from graphrag_mcp.model.files import Category, ParseMode, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.graph import CodeNode, Dependency
from graphrag_mcp.model.links import OF_SEVERAL, How, Place, folder_place, place_id
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.model.search import ChunkMention, SymbolMatch
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.links import KIND_NUMBERS, LINE_BITS
from graphrag_mcp.stores.sqlite.schema import LINK_BITS, ORDINAL_BITS, of_file, of_linked
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.text.words import index_text

_NODE_COLUMNS = """s.id, s.file_id, f.path, f.category, s.name, s.qualified_name, s.kind, s.start_line, s.end_line,
    s.signature, f.archive_reason IS NOT NULL, s.place"""

_FILE_COLUMNS = f"""f.id, f.path, f.category, f.archive_reason IS NOT NULL,
    coalesce((SELECT max(c.end_line) FROM chunks c WHERE {of_file("c.id", "f.id")}), 1)"""

_SURE = (How.CERTAIN, How.SAID, How.NAMED, *OF_SEVERAL)
_DEPENDING = [
    KIND_NUMBERS[kind]
    for kind in (RelationKind.CALLS, RelationKind.INSTANTIATES, RelationKind.IMPORTS, RelationKind.INHERITS)
]
_RANKED = "('type', 'function', 'method', 'constant')"  # Other files depend on these kinds by name.
MAX_OCCURRENCES = 200  # Counting stops there: a more frequent name proves nothing.
_MEANT = (*_SURE, How.OPEN)
_LEADING = tuple(KIND_NUMBERS[kind] for kind in (
    RelationKind.CALLS, RelationKind.INSTANTIATES, RelationKind.IMPORTS, RelationKind.INHERITS, RelationKind.LINKS_TO,
))  # fmt: skip
_MENTIONING = (*_LEADING, KIND_NUMBERS[RelationKind.TESTS], KIND_NUMBERS[RelationKind.SUPERSEDES])


class SqliteSymbolGraph:
    """The `SymbolGraph` of the index file: definitions, and files with a negative id."""

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes
        self._folders: tuple[int, Mapping[int, int]] = (-1, {})

    # ------------------------------------------------------------ nodes

    def definitions(self, name: str, scope: Scope) -> list[CodeNode]:
        # The name of a heading may contain dots.
        keys = (name.rpartition(".")[2].lower(), name.lower())
        files = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT {_NODE_COLUMNS} FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.name_key IN (?, ?) AND {files.condition("s.file_id")} ORDER BY f.path, s.start_line, s.id""",
            (*keys, *files.parameters),
        )
        return [node for node in map(_node, rows) if is_called(node, name.lower())]

    def similar_names(self, name: str, limit: int, scope: Scope) -> list[str]:
        files = self._scopes.resolve(scope)
        return self._database.column(
            f"""SELECT DISTINCT s.name FROM symbols s WHERE instr(s.name_key, ?) AND {files.condition("s.file_id")}
                ORDER BY length(s.name), s.name LIMIT ?""",
            (name.lower(), *files.parameters, limit),
        )

    def names(self, *, qualified: bool = False) -> list[str]:
        column = "qualified_name" if qualified else "name"
        return self._database.column(f"SELECT DISTINCT {column} FROM symbols ORDER BY {column}")

    def file(self, path: str) -> CodeNode | None:
        rows = self._database.rows(f"SELECT {_FILE_COLUMNS} FROM files f WHERE f.path = ?", (path,))
        return _file_node(*rows[0]) if rows else None

    def in_file(self, path: str, line: int | None = None) -> list[CodeNode]:
        rows = self._database.rows(
            f"""SELECT {_NODE_COLUMNS} FROM files f CROSS JOIN symbols s ON s.file_id = f.id
                WHERE f.path = ? ORDER BY s.start_line, s.end_line DESC, s.id""",
            (path,),
        )
        nodes = [_node(row) for row in rows]
        if line is None:
            return nodes
        around = [node for node in nodes if node.start_line <= line <= node.end_line]
        return sorted(around, key=lambda node: node.end_line - node.start_line)

    def lines(self, wanted: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Return the text of lines by path and line, as far as they are indexed; a card has other lines."""
        rows = self._database.rows(
            f"""SELECT f.path, location.value ->> 1 AS line, c.start_line, c.text
                FROM json_each(?) location CROSS JOIN files f ON f.path = location.value ->> 0
                CROSS JOIN chunks c ON {of_file("c.id", "f.id")}
                    AND location.value ->> 1 BETWEEN c.start_line AND c.end_line AND c.kind <> ?""",
            (json.dumps(sorted(wanted)), ParseMode.CARD),
        )
        texts = ((path, line, text.split("\n"), line - first) for path, line, first, text in rows)
        return {(path, line): lines[index] for path, line, lines, index in texts if index < len(lines)}

    def texts(self, names: Collection[str], scope: Scope) -> list[tuple[str, Category, int, str]]:
        visible = self._scopes.resolve(scope).visible
        phrases = [f'"{words}"' for words in map(index_text, names) if words]
        if not phrases or b"\1" not in visible:
            return []
        rows = self._database.rows(
            f"""SELECT f.path, f.category, c.start_line, c.text FROM keywords k
                CROSS JOIN main.chunks c ON c.id = k.rowid CROSS JOIN files f ON f.id = k.rowid >> {ORDINAL_BITS}
                WHERE keywords MATCH ? AND substr(?, (k.rowid >> {ORDINAL_BITS}) + 1, 1) IS x'01' ORDER BY k.rowid""",
            (f"body : ({' OR '.join(phrases)})", visible),
        )
        return [(path, Category(category), line, text) for path, category, line, text in rows]

    def visible(self, paths: Collection[str], scope: Scope) -> set[str]:
        if scope == EVERYTHING:
            return set(paths)
        files = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT f.path FROM files f WHERE f.path IN (SELECT value FROM json_each(?))
                AND {files.condition("f.id")}""",
            (id_list(paths), *files.parameters),
        )
        return {path for (path,) in rows}

    def at_places(self, places: Collection[int]) -> dict[int, int]:
        rows = self._database.rows(
            """SELECT s.place, s.id FROM json_each(?1) wanted CROSS JOIN main.symbols s ON s.place = wanted.value
               CROSS JOIN files f ON f.id = s.file_id
               UNION ALL SELECT c.place, -f.id FROM json_each(?1) wanted
               CROSS JOIN main.files c ON c.place = wanted.value CROSS JOIN files f ON f.id = c.id""",
            (id_list(places),),
        )
        packages = self._packages()
        return {place: packages[place] for place in places if place in packages} | dict(rows)

    def _packages(self) -> Mapping[int, int]:
        """Return the first file of each Go package by the place of its folder; read once per commit."""
        commit = self._database.commit_number()
        if commit != self._folders[0]:
            rows = self._database.rows("SELECT id, path FROM files WHERE language = 'go' ORDER BY path DESC")
            named = {path.rpartition("/")[0]: -file_id for file_id, path in rows if not path.endswith("_test.go")}
            self._folders = commit, {place_id(folder_place(folder)): node for folder, node in named.items()}
        return self._folders[1]

    def nodes(self, ids: Iterable[int]) -> dict[int, CodeNode]:
        wanted = set(ids)
        symbols = self._database.rows(
            f"""SELECT {_NODE_COLUMNS} FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.id IN (SELECT value FROM json_each(?))""",
            (id_list(node_id for node_id in wanted if node_id > 0),),
        )
        files = self._database.rows(
            f"SELECT {_FILE_COLUMNS} FROM files f WHERE f.id IN (SELECT value FROM json_each(?))",
            (id_list(-node_id for node_id in wanted if node_id < 0),),
        )
        definitions = map(_node, symbols)
        return {node.node_id: node for node in (*definitions, *(_file_node(*row) for row in files))}

    def dependencies(self, scope: Scope) -> Iterator[Dependency]:
        """Yield the references from files to definitions in other files; streamed."""
        files = self._scopes.resolve(scope)
        with self._database.connection() as connection:
            rows = connection.execute(
                f"""SELECT l.file_id, s.id, s.file_id, count(DISTINCT v.kind << 48 | v.source),
                           min(v.how IN ({How.NAMED}, {How.NAMED_EITHER}))
                    FROM symbols s CROSS JOIN main.links v ON v.target = s.place
                    CROSS JOIN linked l ON l.id = v.id >> {LINK_BITS}
                    WHERE s.kind IN {_RANKED} AND {files.condition("s.file_id")} AND {files.condition("l.file_id")}
                          AND v.how IN ({marks(_SURE)}) AND v.kind IN ({marks(_DEPENDING)}) AND l.file_id != s.file_id
                    GROUP BY s.id, l.file_id""",
                (*files.parameters, *files.parameters, *_SURE, *_DEPENDING),
            )
            yield from map(Dependency._make, rows)


def is_called(node: CodeNode, name: str) -> bool:
    """Return whether the qualified name of a definition is or ends with a name in lower case."""
    return node.name.lower() == name or f".{node.qualified_name}".replace("#", "").lower().endswith(f".{name}")


def _node(row: Sequence[Any]) -> CodeNode:
    node_id, file_id, path, category, name, qualified, kind, start, end, signature, archived, place = row
    rest = (SymbolKind(kind), start, end, signature, bool(archived), "", "", place)
    of_file = Category.TESTS if is_inline_test(path, qualified) else Category(category)
    return CodeNode(node_id, file_id, path, of_file, name, qualified, *rest)


def _file_node(file_id: int, path: str, category: str, archived: int, lines: int) -> CodeNode:
    rest = (SymbolKind.FILE, 1, lines, "", bool(archived), "", "", place_id(Place(path, "")))
    return CodeNode(-file_id, file_id, path, Category(category), path, path, *rest)


class SqliteGraph:
    """Reads what a search needs of the code graph: the `GraphStore` of the index file, without neighbours."""

    remote = False

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes

    def find_symbols(self, names: Sequence[str], scope: Scope, limit: int) -> list[SymbolMatch]:
        files = self._scopes.resolve(scope)
        keys = sorted({name.lower() for name in names})
        rows = self._database.rows(
            f"""SELECT s.chunk_id, f.path, s.name, s.qualified_name, s.kind, s.start_line, s.end_line, s.signature
                FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.name_key IN ({marks(keys)}) AND {files.condition("s.file_id")}
                ORDER BY s.kind = 'key', f.path, s.start_line LIMIT ?""",
            (*keys, *files.parameters, limit),
        )
        return [
            SymbolMatch(chunk_id, path, Symbol(name, qualified, SymbolKind(kind), *rest))
            for chunk_id, path, name, qualified, kind, *rest in rows
        ]

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[ChunkMention]:
        files = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""WITH referenced AS MATERIALIZED (
                    SELECT DISTINCT c.id AS chunk_id, c.file_id, v.target
                    FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
                    CROSS JOIN linked l ON l.file_id = c.file_id
                    CROSS JOIN main.links v ON {of_linked("v.id", "l.id")}
                        AND v.position BETWEEN c.start_line << {LINE_BITS} AND (c.end_line + 1 << {LINE_BITS}) - 1
                    WHERE v.target > 0 AND v.how IN ({marks(_MEANT)}) AND v.kind IN ({marks(_MENTIONING)})),
                counted AS MATERIALIZED (
                    SELECT target, (SELECT count(*) FROM (
                        SELECT 1 FROM main.links o WHERE o.target = r.target LIMIT {MAX_OCCURRENCES})) AS occurrences
                    FROM (SELECT DISTINCT target FROM referenced) r)
                SELECT r.chunk_id, s.chunk_id, counted.occurrences FROM referenced r CROSS JOIN counted USING (target)
                CROSS JOIN symbols s ON s.place = r.target
                WHERE s.file_id != r.file_id AND s.kind != 'field' AND {files.condition("s.file_id")}""",
            (id_list(chunk_ids), *_MEANT, *_MENTIONING, *files.parameters),
        )
        return list(map(ChunkMention._make, rows))

    def backlinks(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        file_of = {chunk_id: chunk_id >> ORDINAL_BITS for chunk_id in chunk_ids}
        rows = self._database.rows(
            f"""WITH wanted AS (SELECT value AS id FROM json_each(?)),
                places AS (SELECT s.file_id, s.place FROM wanted w CROSS JOIN main.symbols s ON s.file_id = w.id
                           UNION ALL SELECT f.id, f.place FROM wanted w CROSS JOIN main.files f ON f.id = w.id)
                SELECT p.file_id, count(DISTINCT f.id) FROM places p CROSS JOIN main.links v ON v.target = p.place
                CROSS JOIN linked l ON l.id = v.id >> {LINK_BITS} CROSS JOIN files f ON f.id = l.file_id
                WHERE v.how IN ({marks(_MEANT)}) AND v.kind IN ({marks(_LEADING)})
                    AND f.id != p.file_id AND f.archive_reason IS NULL GROUP BY p.file_id""",
            (id_list(set(file_of.values())), *_MEANT, *_LEADING),
        )
        counts = dict(rows)
        return {chunk_id: counts[file_id] for chunk_id, file_id in file_of.items() if file_id in counts}
