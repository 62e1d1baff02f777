"""The code graph by symbol: definitions by name or location, and the resolved relations of one."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from graphrag_mcp.model.files import MACRO, Category, RelationKind, Resolution, SymbolKind
from graphrag_mcp.model.graph import UNKNOWN_MODULE, CodeEdge, CodeNode, Dependency, Mentioned, Place, certainty_of
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS, of_file
from graphrag_mcp.stores.sqlite.scope import FileFilter, ScopeResolver
from graphrag_mcp.stores.sqlite.settling import OF_RELATIONS, Definition, SettledEdge, Settler, count_definitions
from graphrag_mcp.text.words import index_text

_NODE_COLUMNS = """s.id, s.file_id, f.path, f.category, s.name, s.qualified_name, s.kind, s.start_line, s.end_line,
    s.signature, f.archive_reason IS NOT NULL"""

_RANKED = "('type', 'function', 'method', 'constant')"  # Kinds that other files depend on by name.


class SqliteSymbolGraph:
    """Nodes are definitions, and whole files (with the negative id of the file)."""

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes
        self._settler = Settler(database)

    # ------------------------------------------------------------ nodes

    def definitions(self, name: str, scope: Scope) -> list[CodeNode]:
        """Return the definitions whose qualified name is or ends with a name, ignoring case; in the order of paths."""
        # The name of a heading may contain dots.
        keys = (name.rpartition(".")[2].lower(), name.lower())
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT {_NODE_COLUMNS} FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.name_key IN (?, ?) AND {hidden.condition("s.file_id")} ORDER BY f.path, s.start_line, s.id""",
            (*keys, *hidden.parameters),
        )
        return [node for node in map(_node, rows) if _is_called(node, name.lower())]

    def similar_names(self, name: str, limit: int, scope: Scope) -> list[str]:
        """Return names that begin with or contain a name, ignoring case, shortest first."""
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT DISTINCT s.name FROM symbols s WHERE instr(s.name_key, ?) AND {hidden.condition("s.file_id")}
                ORDER BY length(s.name), s.name LIMIT ?""",
            (name.lower(), *hidden.parameters, limit),
        )
        return [found for (found,) in rows]

    def names(self, *, qualified: bool = False) -> list[str]:
        """Return all names that are defined, on request with their qualifiers (`Session.send`)."""
        column = "qualified_name" if qualified else "name"
        return [name for (name,) in self._database.rows(f"SELECT DISTINCT {column} FROM symbols ORDER BY {column}")]

    def file(self, path: str) -> CodeNode | None:
        """Return a file as a node."""
        rows = self._database.rows(
            f"""SELECT f.id, f.path, f.category, f.archive_reason IS NOT NULL, coalesce(max(c.end_line), 1)
                FROM files f LEFT JOIN chunks c
                ON {of_file("c.id", "f.id")}
                WHERE f.path = ? GROUP BY f.id""",
            (path,),
        )
        return _file_node(*rows[0]) if rows else None

    def in_file(self, path: str, line: int | None = None) -> list[CodeNode]:
        """Return the definitions of a file in the order of their lines; those around a line, innermost first."""
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
        """Return the text of lines by path and line, as far as they are indexed."""
        rows = self._database.rows(
            f"""SELECT f.path, one.value ->> 1 AS line, c.start_line, c.text
                FROM json_each(?) one CROSS JOIN files f ON f.path = one.value ->> 0
                CROSS JOIN chunks c ON {of_file("c.id", "f.id")}
                    AND one.value ->> 1 BETWEEN c.start_line AND c.end_line""",
            (json.dumps(sorted(wanted)),),
        )
        texts = ((path, line, text.split("\n"), line - first) for path, line, first, text in rows)
        return {(path, line): lines[place] for path, line, lines, place in texts if place < len(lines)}

    def texts(self, names: Collection[str], scope: Scope) -> list[tuple[str, Category, int, str]]:
        """Return the chunks of a scope with one of some names; see `SymbolGraph`."""
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
        """Return those of the paths that a scope shows."""
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT f.path FROM files f WHERE f.path IN (SELECT value FROM json_each(?))
                AND {hidden.condition("f.id")}""",
            (id_list(paths), *hidden.parameters),
        )
        return {path for (path,) in rows}

    def at_places(self, places: Collection[int]) -> dict[int, int]:
        """Return the ids of the nodes at places."""
        rows = self._database.rows(
            """SELECT s.place, s.id FROM json_each(?) wanted CROSS JOIN main.symbols s ON s.place = wanted.value
               CROSS JOIN files f ON f.id = s.file_id""",
            (id_list(places),),
        )
        return dict(rows)

    def nodes(self, ids: Iterable[int]) -> dict[int, CodeNode]:
        """Return nodes by their ids; missing ones are left out."""
        wanted = set(ids)
        symbols = self._database.rows(
            f"""SELECT {_NODE_COLUMNS} FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.id IN (SELECT value FROM json_each(?))""",
            (id_list(node_id for node_id in wanted if node_id > 0),),
        )
        files = self._database.rows(
            f"""SELECT f.id, f.path, f.category, f.archive_reason IS NOT NULL,
                       coalesce((SELECT max(c.end_line) FROM chunks c
                                 WHERE {of_file("c.id", "f.id")}), 1)
                FROM files f WHERE f.id IN (SELECT value FROM json_each(?))""",
            (id_list(-node_id for node_id in wanted if node_id < 0),),
        )
        found = [_node(row) for row in symbols] + [_file_node(*row) for row in files]
        return {node.node_id: node for node in found}

    # ------------------------------------------------------------ relations

    def outgoing(
        self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope
    ) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations from a definition or file, and the names in it that were not resolved.

        Names of the language itself and recursive calls are neither.
        """
        relations = self._database.rows(
            f"""SELECT id, kind, target, target_module, line, resolution FROM main.relations
                WHERE file_id = ? AND kind IN ({marks(kinds)})
                  AND (line BETWEEN ? AND ? OR kind = 'inherits' AND source = ?) ORDER BY id""",
            (node.file_id, *kinds, node.start_line, node.end_line, node.qualified_name),
        )
        ids = [row[0] for row in relations]
        places = {relation_id: (line, module) for relation_id, _, _, module, line, _ in relations}
        resolved = self._settler.outgoing(ids, kinds, self._scopes.resolve(scope), -1, OF_RELATIONS)
        known = {edge.relation_id for edge in resolved}
        edges = []
        for edge in resolved:
            line, module = places[edge.relation_id]
            settled = (certainty_of(edge.resolution, edge.confidence), edge.relation_id, edge.resolution.is_guess)
            kind = RelationKind(edge.kind)
            edges.append(CodeEdge(node.node_id, edge.symbol_id, kind, node.path, line, *settled, module))
        others = [
            Mentioned(RelationKind(kind), target, module, node.path, line, False)
            for relation_id, kind, target, module, line, resolution in relations
            if relation_id not in known
            and resolution not in (Resolution.BUILTIN, Resolution.LOCAL)
            and kind != RelationKind.HANDS_ON  # Most values are no functions.
        ]
        defined = self._defined({reference.name for reference in others})
        unknown = [reference._replace(is_defined=reference.name in defined) for reference in others]
        return edges, unknown

    def incoming(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> list[CodeEdge]:
        """Return the relations to a definition or file, each from the definition, or else the file, that has it."""
        hidden = self._scopes.resolve(scope)
        if not node.is_file:
            known = self._count_definitions(node, hidden)
            definition = Definition(node.node_id, 0, node.file_id, node.name, node.name.lower(), known)
            resolved = self._settler.incoming(definition, 0, kinds, hidden, -1)
        else:
            resolved = [edge for edge in self._importing(node, kinds, scope) if edge.symbol_id == node.node_id]
        sources = self._sources([edge.relation_id for edge in resolved])
        edges = []
        for edge in resolved:
            if edge.relation_id not in sources:  # Another process has replaced the file meanwhile.
                continue
            source, path, line, module = sources[edge.relation_id]
            kind = RelationKind(edge.kind)
            settled = (certainty_of(edge.resolution, edge.confidence), edge.relation_id, edge.resolution.is_guess)
            edges.append(CodeEdge(source, node.node_id, kind, path, line, *settled, module))
        return edges

    def undecided(
        self, nodes: Sequence[CodeNode], kinds: Sequence[RelationKind], scope: Scope, shown: Iterable[int]
    ) -> frozenset[Place]:
        """Return the lines, besides those of the relations shown, whose reference may be to a node.

        Their receiver has an unknown type, or is imported from a module of the project that is a folder, or is a value
        that a file of the project defines (`from pkg.state import current`, `current.name()`).
        """
        names = {node.name for node in nodes if not node.is_file and node.kind is not SymbolKind.KEY}
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT DISTINCT f.path, r.line FROM json_each(?) wanted
                CROSS JOIN relations r ON r.target_key = lower(wanted.value) AND r.target = wanted.value
                CROSS JOIN files f ON f.id = r.file_id
                WHERE r.kind IN ({marks(kinds)}) AND {hidden.condition("r.file_id")}
                  AND (r.target_module = '{MACRO}') = {any(node.signature.startswith("macro_rules!") for node in nodes)}
                  AND (r.resolution IN ('{Resolution.UNRESOLVED}', '{Resolution.UNKNOWN}', '{Resolution.BASE}')
                       OR r.resolution = '{Resolution.IMPORT}' AND r.target_module != ''
                       AND NOT EXISTS (SELECT 1 FROM module_keys m WHERE m.key = r.target_module)
                       AND (EXISTS (SELECT 1 FROM module_keys m
                                    WHERE m.key > r.target_module || '/' AND m.key < r.target_module || '0')
                            OR EXISTS (SELECT 1 FROM module_keys m WHERE m.key = rtrim(
                                    rtrim(r.target_module, replace(r.target_module, '/', '')), '/'))))
                  AND r.id NOT IN (SELECT value FROM json_each(?))""",
            (id_list(names), *kinds, *hidden.parameters, id_list(shown)),
        )
        return frozenset((path, line) for path, line in rows)

    def mentions(self, names: Collection[str], scope: Scope) -> list[Mentioned]:
        """Return where names are used, whatever they mean; module: UNKNOWN_MODULE where the receiver is not known."""
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""SELECT r.kind, r.target,
                    CASE WHEN r.resolution IN ('{Resolution.UNKNOWN}', '{Resolution.BASE}') THEN '{UNKNOWN_MODULE}'
                         ELSE r.target_module END,
                    f.path, r.line, EXISTS (
                        SELECT 1 FROM symbols s
                        WHERE s.name_key = r.target_key AND s.name = r.target AND s.kind != 'key'
                        AND (r.target_module = '' OR EXISTS (
                            SELECT 1 FROM main.module_keys m WHERE m.key = r.target_module AND m.file_id = s.file_id)))
                FROM json_each(?) wanted
                CROSS JOIN relations r ON r.target_key = lower(wanted.value) AND r.target = wanted.value
                CROSS JOIN files f ON f.id = r.file_id
                WHERE r.kind NOT IN ('{RelationKind.CONTAINS}', '{RelationKind.TESTS}')
                    AND r.resolution NOT IN ('{Resolution.BUILTIN}', '{Resolution.LIBRARY}')
                    AND {hidden.condition("r.file_id")} ORDER BY f.path, r.line""",
            (id_list(names), *hidden.parameters),
        )
        return [Mentioned._make((RelationKind(kind), *rest)) for kind, *rest in rows]

    def dependencies(self, most: int, scope: Scope) -> Iterator[Dependency]:
        """Yield the references from files to names with at most `most` definitions, matched by name; streamed."""
        hidden = self._scopes.resolve(scope)
        with self._database.connection() as connection:
            rows = connection.execute(
                f"""SELECT r.file_id, s.id, s.file_id, count(DISTINCT r.kind || ' ' || r.source), d.definitions,
                        max(r.target_module != '' AND EXISTS (SELECT 1 FROM main.module_keys m
                            WHERE m.key = r.target_module AND m.file_id = s.file_id))
                    FROM (SELECT name_key, count(*) AS definitions FROM symbols s
                          WHERE kind IN {_RANKED} AND {hidden.condition("s.file_id")}
                          GROUP BY name_key HAVING count(*) <= ?) d
                    CROSS JOIN symbols s ON s.name_key = d.name_key AND s.kind IN {_RANKED}
                    CROSS JOIN relations r ON r.target_key = d.name_key AND r.file_id != s.file_id
                    WHERE r.kind IN ('calls', 'imports', 'inherits') AND r.resolution != 'builtin'
                          AND {hidden.condition("s.file_id")} AND {hidden.condition("r.file_id")}
                    GROUP BY s.id, r.file_id""",
                (*hidden.parameters, most, *hidden.parameters, *hidden.parameters),
            )
            yield from map(Dependency._make, rows)

    def _defined(self, names: Collection[str]) -> set[str]:
        """Return the names that have a definition in the project."""
        rows = self._database.rows(
            """SELECT wanted.value FROM json_each(?) wanted WHERE EXISTS (
                   SELECT 1 FROM symbols s WHERE s.name_key = lower(wanted.value) AND s.name = wanted.value)""",
            (id_list(names),),
        )
        return {name for (name,) in rows}

    def _count_definitions(self, node: CodeNode, hidden: FileFilter) -> int:
        counted = f"SELECT {count_definitions('?1', '?2', hidden.condition('x.file_id', '?3'))}"
        ((known,),) = self._database.rows(counted, (node.name.lower(), node.name, *hidden.parameters))
        return int(known)

    def _importing(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> list[SettledEdge]:
        """Return the resolved relations that may name a file as a module."""
        rows = self._database.rows(
            f"""SELECT r.id FROM module_keys m
                CROSS JOIN relations r ON r.target_module = m.key AND r.target_module != ''
                WHERE m.file_id = ?1 AND r.file_id != ?1 AND r.kind IN ({", ".join(f"'{kind}'" for kind in kinds)})
                UNION SELECT r.id FROM (
                    SELECT rtrim(rtrim(key, replace(key, '/', '')), '/') AS folder,
                           replace(key, rtrim(key, replace(key, '/', '')), '') AS name
                    FROM module_keys WHERE file_id = ?1) m
                CROSS JOIN relations r ON r.target_module = m.folder AND r.target_module != '' AND r.target = m.name
                WHERE r.file_id != ?1""",
            (node.file_id,),
        )
        ids = [relation_id for (relation_id,) in rows]
        return self._settler.outgoing(ids, kinds, self._scopes.resolve(scope), -1, OF_RELATIONS)

    def _sources(self, relation_ids: Sequence[int]) -> dict[int, tuple[int, str, int, str]]:
        """Return the source node, the path, the line and the module of each relation."""
        rows = self._database.rows(
            """SELECT r.id, coalesce((SELECT s.id FROM symbols s
                          WHERE s.file_id = r.file_id AND s.qualified_name = r.source AND s.kind != 'key'
                              AND r.line BETWEEN s.start_line AND s.end_line
                          ORDER BY s.end_line - s.start_line LIMIT 1),
                       (SELECT s.id FROM symbols s  -- Rust's `impl Base for Type`, anywhere in the file of the type.
                           WHERE s.file_id = r.file_id AND s.qualified_name = r.source AND s.kind = 'type'
                           ORDER BY s.start_line LIMIT 1), -r.file_id), f.path, r.line, r.target_module
               FROM relations r CROSS JOIN files f ON f.id = r.file_id
               WHERE r.id IN (SELECT value FROM json_each(?))""",
            (id_list(relation_ids),),
        )
        return {relation_id: (source, path, line, module) for relation_id, source, path, line, module in rows}


def _is_called(node: CodeNode, name: str) -> bool:
    return node.name.lower() == name or f".{node.qualified_name}".replace("#", "").lower().endswith(f".{name}")


def _node(row: Sequence[Any]) -> CodeNode:
    node_id, file_id, path, category, name, qualified, kind, start, end, signature, archived = row
    rest = (SymbolKind(kind), start, end, signature, bool(archived))
    is_test = path.endswith(".rs") and not {"test", "tests"}.isdisjoint(qualified.split("."))  # Beside the code.
    return CodeNode(node_id, file_id, path, Category.TESTS if is_test else Category(category), name, qualified, *rest)


def _file_node(file_id: int, path: str, category: str, archived: int, lines: int) -> CodeNode:
    return CodeNode(
        -file_id, file_id, path, Category(category), path, path, SymbolKind.MODULE, 1, lines, "", bool(archived)
    )
