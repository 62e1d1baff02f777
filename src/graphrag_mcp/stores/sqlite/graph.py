"""Definitions and relations in tables; what a name refers to is settled when it is asked, against the whole project.

Nothing has to be resolved again when another file changes, and an ambiguous name stays what it is: several candidates.
`main.relations` are those of all trees: for chunks that are known to be this tree's, and for counts that may be rough.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.model import (
    GraphNeighbour,
    Mention,
    RelationKind,
    Resolution,
    Scope,
    Symbol,
    SymbolKind,
    SymbolMatch,
)
from graphrag_mcp.stores.sqlite.catalog import CHUNK_COLUMNS, read_chunk
from graphrag_mcp.stores.sqlite.database import Database, id_list, marks
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import FileFilter, ScopeResolver

MAX_CANDIDATES = 5  # A name with more definitions than this says nothing about which of them is meant.
MAX_EDGES = 400  # Edges read per hop; a result shows twenty at most.
MAX_FRONTIER = 4  # Neighbours from which the next hop starts: the surest ones.
MAX_SEED_SYMBOLS = 5  # Definitions of the seeds whose mentions are looked up, fields last.
MAX_MENTIONS = 40  # Mentions read of one definition.
MAX_OCCURRENCES = 200  # Counted no further: by then a name tells next to nothing.
IMPORT_CONFIDENCE = 0.9
UNIQUE_NAME_CONFIDENCE = 0.7

_LEADING = "'calls', 'imports', 'inherits', 'links_to'"
_MODULE_MATCHES = (
    "EXISTS (SELECT 1 FROM module_keys m WHERE m.key = r.target_module AND m.file_id = {definition}.file_id)"
)
# How many definitions a name has, as far as it matters. One that half the project defines (`get`, `init`) is followed
# only inside its file or along an import.
DEFINITIONS = f"""(SELECT count(*) FROM (SELECT 1 FROM symbols x WHERE x.name_key = {{key}}
    LIMIT {MAX_CANDIDATES + 1}))"""


class SqliteGraphStore:
    """The graph store: relations are matched to definitions by name, file and module."""

    remote = False

    def __init__(self, database: Database, scopes: ScopeResolver) -> None:
        self._database = database
        self._scopes = scopes

    def find_symbols(self, names: Sequence[str], scope: Scope, limit: int) -> list[SymbolMatch]:
        """Return definitions whose unqualified name equals one of `names`, ignoring case, in the order of paths."""
        hidden = self._scopes.resolve(scope)
        keys = sorted({name.lower() for name in names})
        rows = self._database.rows(
            f"""SELECT s.chunk_id, f.path, s.name, s.qualified_name, s.kind, s.start_line, s.end_line, s.signature
                FROM symbols s JOIN files f ON f.id = s.file_id
                WHERE s.name_key IN ({marks(keys)}) AND {hidden.condition("s.file_id")}
                ORDER BY f.path, s.start_line LIMIT ?""",
            (*keys, *hidden.parameters, limit),
        )
        return [
            SymbolMatch(chunk_id, path, Symbol(name, qualified, SymbolKind(kind), *rest))
            for chunk_id, path, name, qualified, kind, *rest in rows
        ]

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[Mention]:
        """Return which definitions in other files the chunks mention, of names with at most two defining files."""
        hidden = self._scopes.resolve(scope)
        rows = self._database.rows(
            f"""WITH said AS MATERIALIZED (
                    SELECT DISTINCT c.id AS chunk_id, r.target_key AS key, r.target, r.file_id
                    FROM json_each(?) one JOIN chunks c ON c.id = one.value
                    JOIN main.relations r ON r.file_id = c.file_id AND r.line BETWEEN c.start_line AND c.end_line
                    WHERE r.kind != 'contains'),
                rare AS MATERIALIZED (
                    SELECT key, (SELECT count(*) FROM (
                        SELECT 1 FROM main.relations x WHERE x.target_key = key LIMIT {MAX_OCCURRENCES})) AS occurrences
                    FROM (SELECT DISTINCT key FROM said)
                    WHERE (SELECT count(DISTINCT file_id) FROM (
                        SELECT file_id FROM symbols y WHERE y.name_key = key LIMIT {MAX_CANDIDATES + 1})) IN (1, 2))
                SELECT said.chunk_id, s.chunk_id, rare.occurrences FROM said JOIN rare USING (key)
                JOIN symbols s ON s.name_key = said.key AND s.name = said.target
                WHERE s.kind != 'field' AND {hidden.condition("s.file_id")} AND NOT EXISTS (
                    SELECT 1 FROM symbols own WHERE own.name_key = said.key AND own.file_id = said.file_id)""",
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
                    JOIN symbols s ON s.file_id = w.id
                    JOIN relations r ON r.target_key = s.name_key AND r.target = s.name
                    WHERE r.kind IN ({_LEADING}) AND NOT EXISTS (
                        SELECT 1 FROM symbols other WHERE other.name_key = s.name_key AND other.file_id != s.file_id)
                    UNION
                    SELECT m.file_id, r.file_id FROM wanted w JOIN module_keys m ON m.file_id = w.id
                    JOIN relations r ON r.target_module = m.key AND r.target_module != ''
                    WHERE r.kind IN ({_LEADING}))
                SELECT target, count(*) FROM leading JOIN files f ON f.id = source
                WHERE source != target AND f.archive_reason IS NULL GROUP BY target""",
            (id_list(set(file_of.values())),),
        )
        counts = dict(rows)
        return {chunk_id: counts[file_id] for chunk_id, file_id in file_of.items() if file_id in counts}

    def neighbours(
        self, chunk_ids: Sequence[int], hops: int, limit: int, scope: Scope, kinds: Sequence[RelationKind] = ()
    ) -> list[GraphNeighbour]:
        """Return chunks related to the seeds, ordered by (hops, confidence, seed's rank, path), each chunk once."""
        hidden = self._scopes.resolve(scope)
        wanted = tuple(kinds) or tuple(RelationKind)
        seen = dict.fromkeys(chunk_ids)
        frontier = list(chunk_ids)
        found: list[tuple[SettledEdge, int]] = []
        for hop in range(1, hops + 1):
            edges = self._outgoing(frontier, wanted, hidden) + self._incoming(frontier, wanted, hidden)
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

    def settled(self, chunk_ids: Sequence[int]) -> list["SettledEdge"]:
        """Return all that the chunks mention, settled as of now, for a server that stores edges rather than mentions.

        Archived definitions are candidates only for what no other definition can be meant by.
        """
        kinds = tuple(RelationKind)
        visible = self._scopes.resolve(Scope())
        edges = self._outgoing(chunk_ids, kinds, visible, limit=-1)
        if visible.denied.size:
            known = {edge.relation_id for edge in edges}
            everything = self._outgoing(chunk_ids, kinds, FileFilter(()), limit=-1)
            edges += [edge for edge in everything if edge.relation_id not in known]
        return edges

    def _outgoing(
        self, seeds: Sequence[int], kinds: Sequence[str], hidden: FileFilter, limit: int = MAX_EDGES
    ) -> list["SettledEdge"]:
        """What the seeds mention: relations on their lines, settled against the definitions of that name."""
        rows = self._database.rows(
            f"""WITH mentions AS MATERIALIZED (
                    SELECT r.*, seed.key AS rank, {DEFINITIONS.format(key="r.target_key")} AS known
                    FROM json_each(?) seed JOIN chunks c ON c.id = seed.value
                    JOIN main.relations r ON r.file_id = c.file_id AND r.line BETWEEN c.start_line AND c.end_line
                    WHERE r.kind IN ({marks(kinds)}) ORDER BY seed.key, r.id LIMIT {limit}),
                meant AS (
                    SELECT r.id, s.id AS symbol_id FROM mentions r
                    JOIN symbols s ON s.name_key = r.target_key AND s.file_id = r.file_id
                    UNION SELECT r.id, s.id FROM mentions r JOIN module_keys m ON m.key = r.target_module
                    JOIN symbols s ON s.name_key = r.target_key AND s.file_id = m.file_id
                    UNION SELECT r.id, s.id FROM mentions r JOIN symbols s ON s.name_key = r.target_key
                    WHERE r.known <= {MAX_CANDIDATES})
                SELECT r.id, r.rank, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       s.id, s.chunk_id, s.file_id, s.qualified_name, {_MODULE_MATCHES.format(definition="s")}
                FROM mentions r JOIN meant ON meant.id = r.id JOIN symbols s ON s.id = meant.symbol_id
                WHERE s.name = r.target AND {hidden.condition("s.file_id")}
                ORDER BY r.rank, r.id, s.id""",
            (id_list(seeds), *kinds, *hidden.parameters),
        )
        edges = _settle(map(_Candidate._make, rows), "out")
        return edges + self._outgoing_modules(seeds, kinds, hidden, limit)

    def _outgoing_modules(
        self, seeds: Sequence[int], kinds: Sequence[str], hidden: FileFilter, limit: int
    ) -> list["SettledEdge"]:
        """What the seeds import or link to as a whole file."""
        rows = self._database.rows(
            f"""SELECT r.id, seed.key, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       -m.file_id, m.file_id << {ORDINAL_BITS}, m.file_id, f.path, 1
                FROM json_each(?) seed JOIN chunks c ON c.id = seed.value
                JOIN main.relations r ON r.file_id = c.file_id AND r.line BETWEEN c.start_line AND c.end_line
                JOIN module_keys m ON m.key IN (r.target_module, r.target_module || '/' || r.target)
                JOIN files f ON f.id = m.file_id
                WHERE r.kind IN ({marks(kinds)}) AND r.kind IN ('imports', 'links_to', 'supersedes')
                  AND m.file_id != c.file_id
                  AND NOT EXISTS (SELECT 1 FROM symbols s WHERE s.name_key = r.target_key AND s.file_id = m.file_id)
                  AND {hidden.condition("m.file_id")}
                ORDER BY seed.key, r.id, m.file_id LIMIT ?""",
            (id_list(seeds), *kinds, *hidden.parameters, limit),
        )
        return _settle(map(_Candidate._make, rows), "out")

    def _incoming(self, seeds: Sequence[int], kinds: Sequence[str], hidden: FileFilter) -> list["SettledEdge"]:
        """What mentions the seeds' definitions: a mention counts when settling it leads back to the seed."""
        rank = {chunk_id: place for place, chunk_id in enumerate(seeds)}
        symbols = self._database.rows(
            f"""SELECT id, chunk_id, file_id, name, name_key, {DEFINITIONS.format(key="symbols.name_key")}
                FROM symbols WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY kind = 'field', id LIMIT ?""",
            (id_list(seeds), MAX_SEED_SYMBOLS),
        )
        edges = [
            edge
            for symbol_id, chunk_id, file_id, name, key, definitions in symbols
            for edge in self._mentions(name, key, file_id, definitions, rank[chunk_id], kinds, hidden)
            if edge.symbol_id == symbol_id
        ]
        places = self._places([edge.relation_id for edge in edges])
        return [edge._replace(chunk_id=places[edge.relation_id]) for edge in edges if edge.relation_id in places]

    def _mentions(
        self,
        name: str,
        key: str,
        file_id: int,
        definitions: int,
        seed_rank: int,
        kinds: Sequence[str],
        hidden: FileFilter,
    ) -> list["SettledEdge"]:
        """Return the relations that may mean a definition of this name in this file, settled."""
        near, meant = "SELECT id FROM relations WHERE target_key = ?3", "1"
        if definitions > MAX_CANDIDATES:  # Then only its own file, and those that import it, can mean this one.
            near = """SELECT id FROM relations WHERE target_key = ?3 AND file_id = ?1
                      UNION SELECT r.id FROM module_keys m JOIN relations r ON r.target_module = m.key
                      AND r.target_module != '' AND r.target_key = ?3 WHERE m.file_id = ?1"""
            meant = "s.file_id IN (r.file_id, ?1)"
        wanted = ", ".join(f"'{RelationKind(kind).value}'" for kind in kinds)
        rows = self._database.rows(
            f"""SELECT r.id, ?2, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       s.id, s.chunk_id, s.file_id, s.qualified_name, {_MODULE_MATCHES.format(definition="s")}
                FROM (SELECT * FROM relations r
                      WHERE r.id IN ({near}) AND r.target = ?4 AND r.kind IN ({wanted})
                        AND {hidden.condition("r.file_id", "?5")} LIMIT {MAX_MENTIONS}) r
                JOIN symbols s ON s.name_key = ?3 AND s.name = ?4 AND {meant}
                ORDER BY r.id, s.id""",
            (file_id, seed_rank, key, name, *hidden.parameters),
        )
        return _settle(map(_Candidate._make, rows), "in")

    def _places(self, relation_ids: Sequence[int]) -> dict[int, int]:
        """Return the chunk in which each relation stands."""
        rows = self._database.rows(
            f"""SELECT r.id, c.id FROM main.relations r JOIN chunks c
                ON c.id BETWEEN r.file_id << {ORDINAL_BITS} AND (r.file_id + 1 << {ORDINAL_BITS}) - 1
                   AND r.line BETWEEN c.start_line AND c.end_line
                WHERE r.id IN (SELECT value FROM json_each(?))""",
            (id_list(relation_ids),),
        )
        return dict(rows)

    def _with_chunks(self, found: Sequence[tuple["SettledEdge", int]]) -> list[GraphNeighbour]:
        rows = self._database.rows(
            f"""SELECT {CHUNK_COLUMNS} FROM chunks c JOIN files f ON f.id = c.file_id
                WHERE c.id IN (SELECT value FROM json_each(?))""",
            (id_list(edge.chunk_id for edge, _ in found),),
        )
        chunks = {row[0]: read_chunk(row) for row in rows}
        return [
            GraphNeighbour(
                chunk=chunks[edge.chunk_id],
                relation=RelationKind(edge.kind),
                direction=edge.direction,
                source=edge.source,
                target=edge.target,
                hops=hop,
                confidence=edge.confidence / 2 ** (hop - 1),  # K-11: a hop halves the contribution.
                resolution=edge.resolution,
            )
            for edge, hop in found
            if edge.chunk_id in chunks
        ]


class _Candidate(NamedTuple):
    """One definition that one relation may mean."""

    relation_id: int
    seed_rank: int
    kind: str
    source: str
    target: str
    relation_file: int
    confidence: float
    resolution: str
    symbol_id: int
    chunk_id: int
    symbol_file: int
    qualified_name: str
    module_matches: int

    @property
    def is_itself(self) -> bool:
        """A recursive call leads to the function's other chunks, which is no news."""
        return self.symbol_file == self.relation_file and self.qualified_name == self.source

    @property
    def full_target(self) -> str:
        return f"{self.source}.{self.target}" if self.source else self.target


class SettledEdge(NamedTuple):
    """What one relation means. `symbol_id` is the negative id of a file where it means the whole of it."""

    relation_id: int
    seed_rank: int
    kind: str
    direction: str
    source: str
    target: str
    symbol_id: int
    chunk_id: int
    confidence: float
    resolution: Resolution


def _settle(candidates: Iterable[_Candidate], direction: str) -> list[SettledEdge]:
    """Decide what each relation means: its own file first, then the module it names, then the only one of that name."""
    edges: list[SettledEdge] = []
    for _, group in groupby(candidates, key=attrgetter("seed_rank", "relation_id")):
        possible = {candidate.symbol_id: candidate for candidate in group}
        for resolution, confidence, chosen in _choose(possible):
            edges += [
                SettledEdge(
                    relation_id=one.relation_id,
                    seed_rank=one.seed_rank,
                    kind=one.kind,
                    direction=direction,
                    source=one.source,
                    target=one.qualified_name,
                    symbol_id=one.symbol_id,
                    chunk_id=one.chunk_id,
                    confidence=min(one.confidence, confidence),
                    resolution=resolution,
                )
                for one in chosen
                if not one.is_itself
            ]
    return edges


def _choose(possible: Mapping[int, _Candidate]) -> list[tuple[Resolution, float, list[_Candidate]]]:
    everyone = list(possible.values())
    local = [one for one in everyone if one.symbol_file == one.relation_file]
    if everyone[0].resolution == Resolution.SYNTAX:  # The source says whose member it is.
        return [(Resolution.SYNTAX, 1.0, [one for one in local if one.qualified_name == one.full_target])]
    imported = [one for one in everyone if one.module_matches]
    for resolution, confidence, chosen in (
        (Resolution.LOCAL, 1.0, local),
        (Resolution.IMPORT, IMPORT_CONFIDENCE, imported),
        (Resolution.NAME, UNIQUE_NAME_CONFIDENCE, everyone),
    ):
        if len(chosen) == 1:
            return [(resolution, confidence, chosen)]
        if chosen:
            shared = [] if len(chosen) > MAX_CANDIDATES else chosen
            return [(Resolution.CANDIDATES, confidence / len(chosen), shared)]
    return []
