"""Definitions and relations in tables: the code graph as the search reads it."""

from collections.abc import Collection, Sequence

from graphrag_mcp.model.files import RELATED_KINDS, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.graph import certainty_of
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import GraphNeighbour, Mention, SymbolMatch
from graphrag_mcp.stores.sqlite.catalog import read_chunks
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import FileFilter, ScopeResolver
from graphrag_mcp.stores.sqlite.settling import MAX_CANDIDATES, Definition, SettledEdge, Settler, count_definitions

MAX_FRONTIER = 4  # Neighbours from which the next hop starts: the most certain ones.
MAX_SEED_SYMBOLS = 5  # Definitions of the seeds whose references are looked up, fields last.
MAX_OCCURRENCES = 200  # Counted no further: a more frequent name is no evidence.

_LEADING = "'calls', 'imports', 'inherits', 'links_to'"


class SqliteGraphStore:
    """The graph store: relations are matched to definitions by name, file and module."""

    remote = False

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes
        self._settler = Settler(database)

    def find_symbols(self, names: Sequence[str], scope: Scope, limit: int) -> list[SymbolMatch]:
        """Return definitions whose unqualified name equals one of `names`, ignoring case, in the order of paths."""
        hidden = self._scopes.resolve(scope)
        keys = sorted({name.lower() for name in names})
        rows = self._database.rows(
            f"""SELECT s.chunk_id, f.path, s.name, s.qualified_name, s.kind, s.start_line, s.end_line, s.signature
                FROM symbols s CROSS JOIN files f ON f.id = s.file_id
                WHERE s.name_key IN ({marks(keys)}) AND {hidden.condition("s.file_id")}
                ORDER BY s.kind = 'key', f.path, s.start_line LIMIT ?""",
            (*keys, *hidden.parameters, limit),
        )
        return [
            SymbolMatch(chunk_id, path, Symbol(name, qualified, SymbolKind(kind), *rest))
            for chunk_id, path, name, qualified, kind, *rest in rows
        ]

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[Mention]:
        """Return the definitions in other files that the chunks reference, of names with at most two defining files."""
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""WITH referenced AS MATERIALIZED (
                    SELECT DISTINCT c.id AS chunk_id, r.target_key AS key, r.target, r.file_id
                    FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
                    CROSS JOIN main.relations r ON r.file_id = c.file_id AND r.line BETWEEN c.start_line AND c.end_line
                    WHERE r.kind NOT IN ('contains', 'uses', 'hands_on') AND r.resolution != 'builtin'),
                rare AS MATERIALIZED (
                    SELECT key, (SELECT count(*) FROM (
                        SELECT 1 FROM main.relations x WHERE x.target_key = key LIMIT {MAX_OCCURRENCES})) AS occurrences
                    FROM (SELECT DISTINCT key FROM referenced)
                    WHERE (SELECT count(DISTINCT file_id) FROM (
                        SELECT file_id FROM symbols y WHERE y.name_key = key AND y.kind != 'key'
                        LIMIT {MAX_CANDIDATES + 1})) IN (1, 2))
                SELECT referenced.chunk_id, s.chunk_id, rare.occurrences FROM referenced CROSS JOIN rare USING (key)
                CROSS JOIN symbols s ON s.name_key = referenced.key AND s.name = referenced.target
                WHERE s.kind NOT IN ('field', 'key') AND {hidden.condition("s.file_id")} AND NOT EXISTS (
                    SELECT 1 FROM symbols own
                    WHERE own.name_key = referenced.key AND own.file_id = referenced.file_id AND own.kind != 'key')""",
            (id_list(chunk_ids), *hidden.parameters),
        )
        return list(map(Mention._make, rows))

    def backlinks(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        """Return for each of those chunks how many other files, not archived, call, import or link to its file.

        A name counts where only one file defines it, or where the other file imports this one.
        """
        file_of = {chunk_id: chunk_id >> ORDINAL_BITS for chunk_id in chunk_ids}
        rows = self._database.rows(
            f"""WITH wanted AS (SELECT value AS id FROM json_each(?)),
                leading AS (
                    SELECT s.file_id AS target, r.file_id AS source FROM wanted w
                    CROSS JOIN symbols s ON s.file_id = w.id
                    CROSS JOIN relations r ON r.target_key = s.name_key AND r.target = s.name
                    WHERE s.kind != 'key' AND r.kind IN ({_LEADING}) AND r.resolution != 'builtin' AND NOT EXISTS (
                        SELECT 1 FROM symbols other WHERE other.name_key = s.name_key AND other.file_id != s.file_id
                        AND other.kind != 'key')
                    UNION
                    SELECT m.file_id, r.file_id FROM wanted w CROSS JOIN module_keys m ON m.file_id = w.id
                    CROSS JOIN relations r ON r.target_module = m.key AND r.target_module != ''
                    WHERE r.kind IN ({_LEADING}))
                SELECT target, count(*) FROM leading CROSS JOIN files f ON f.id = source
                WHERE source != target AND f.archive_reason IS NULL GROUP BY target""",
            (id_list(set(file_of.values())),),
        )
        counts = dict(rows)
        return {chunk_id: counts[file_id] for chunk_id, file_id in file_of.items() if file_id in counts}

    def neighbours(
        self,
        chunk_ids: Sequence[int],
        hops: int,
        limit: int,
        scope: Scope,
        kinds: Sequence[RelationKind] = (),
        symbols: Collection[str] = (),
    ) -> list[GraphNeighbour]:
        """Return chunks related to the seeds, ordered by (hops, confidence, seed's rank, path), each chunk once.

        A name means what it means in the whole project: what the scope hides otherwise is only not shown.
        """
        hidden = self._scopes.resolve(scope)
        archived = self._scopes.resolve(
            Scope(exclude_archived=scope.exclude_archived, include_patterns=scope.include_patterns)
        )
        wanted = tuple(kinds) or RELATED_KINDS
        seen = dict.fromkeys(chunk_ids)
        frontier = list(chunk_ids)
        found: list[tuple[SettledEdge, int]] = []
        for hop in range(1, hops + 1):
            of = symbols if hop == 1 else ()
            edges = [
                *(
                    edge
                    for edge in self._settler.outgoing(frontier, wanted, archived)
                    if _is_from(edge.source, of) and not hidden.hides(edge.chunk_id >> ORDINAL_BITS)
                ),
                *self._incoming(frontier, wanted, archived, hidden, of),
            ]
            edges.sort(key=lambda edge: (-edge.confidence, edge.seed_rank, edge.chunk_id))
            fresh: dict[int, SettledEdge] = {}
            for edge in edges:
                if edge.chunk_id not in seen:
                    fresh.setdefault(edge.chunk_id, edge)
            found += [(edge, hop) for edge in fresh.values()]
            if not fresh or len(found) >= limit:
                break
            frontier = list(fresh)[:MAX_FRONTIER]
            seen.update(fresh)
        return self._with_chunks(found[:limit])

    def resolved(self, chunk_ids: Sequence[int]) -> list[SettledEdge]:
        """Return all relations of the chunks, resolved as of now, for a server that stores resolved relations.

        Archived definitions are candidates only for references that no other definition matches.
        """
        kinds = tuple(RelationKind)
        visible = self._scopes.resolve(Scope())
        edges = self._settler.outgoing(chunk_ids, kinds, visible, limit=-1)
        if visible.is_hidden.any():
            known = {edge.relation_id for edge in edges}
            everything = self._settler.outgoing(chunk_ids, kinds, FileFilter(()), limit=-1)
            edges += [edge for edge in everything if edge.relation_id not in known]
        return edges

    def _incoming(
        self,
        seeds: Sequence[int],
        kinds: Sequence[str],
        archived: FileFilter,
        hidden: FileFilter,
        symbols: Collection[str],
    ) -> list[SettledEdge]:
        """Return the references to the seeds' definitions, or to those of these names, that resolve to a seed."""
        rank = {chunk_id: position for position, chunk_id in enumerate(seeds)}
        count = count_definitions("symbols.name_key", "symbols.name", archived.condition("x.file_id", "?2"))
        rows = self._database.rows(
            f"""SELECT id, chunk_id, file_id, name, name_key, {count}
                FROM symbols WHERE chunk_id IN (SELECT value FROM json_each(?1))
                {"AND qualified_name IN (SELECT value FROM json_each(?))" if symbols else ""}
                ORDER BY kind = 'field', id LIMIT {MAX_SEED_SYMBOLS}""",
            (id_list(seeds), *archived.parameters, *([id_list(symbols)] if symbols else ())),
        )
        edges = [
            edge
            for definition in map(Definition._make, rows)
            for edge in self._settler.incoming(definition, rank[definition.chunk_id], kinds, archived, sources=hidden)
        ]
        chunk_of = self._settler.places([edge.relation_id for edge in edges])
        return [edge._replace(chunk_id=chunk_of[edge.relation_id]) for edge in edges if edge.relation_id in chunk_of]

    def _with_chunks(self, found: Sequence[tuple[SettledEdge, int]]) -> list[GraphNeighbour]:
        chunks = read_chunks(self._database, (edge.chunk_id for edge, _ in found))
        return [
            GraphNeighbour(
                chunk=chunks[edge.chunk_id],
                relation=RelationKind(edge.kind),
                direction=edge.direction,
                source=edge.source,
                target=edge.target,
                hops=hop,
                confidence=edge.confidence / 2 ** (hop - 1),  # Each hop halves the contribution.
                certainty=certainty_of(edge.resolution, edge.confidence),
                is_guess=edge.resolution.is_guess,
            )
            for edge, hop in found
            if edge.chunk_id in chunks
        ]


def _is_from(source: str, symbols: Collection[str]) -> bool:
    """Return whether a reference stands in one of these definitions or in a member of one."""
    return not symbols or any(source == symbol or source.startswith(f"{symbol}.") for symbol in symbols)
