"""Definitions and relations in tables: the code graph as the search reads it."""

from collections.abc import Sequence

from graphrag_mcp.model.files import RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.links import How
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import ChunkMention, SymbolMatch
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.links import KIND_NUMBERS, LINE_BITS
from graphrag_mcp.stores.sqlite.schema import LINK_BITS, ORDINAL_BITS, of_linked
from graphrag_mcp.stores.sqlite.scope import ScopeResolver

MAX_OCCURRENCES = 200  # Counting stops there: a more frequent name proves nothing.

_MEANT = (How.CERTAIN, How.OPEN, How.SAID, How.NAMED)
_LEADING = tuple(KIND_NUMBERS[kind] for kind in (
    RelationKind.CALLS, RelationKind.INSTANTIATES, RelationKind.IMPORTS, RelationKind.INHERITS, RelationKind.LINKS_TO,
))  # fmt: skip
_MENTIONING = (*_LEADING, KIND_NUMBERS[RelationKind.TESTS], KIND_NUMBERS[RelationKind.SUPERSEDES])


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
