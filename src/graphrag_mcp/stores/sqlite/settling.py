"""Decides what a relation means: which definition a name stands for, as of now and against the whole project.

A relation stores the name as its file says it. Nothing has to be resolved again when another file changes, and an
ambiguous name stays what it is: several candidates. `main.relations` are those of all trees: for chunks and files that
are known to be this tree's, and for counts that may be rough. Names are looked up in `main.symbols`, and the last join
is with this tree's view of them: joined earlier, SQLite reads all symbols to build a Bloom filter, in every query.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.model import RelationKind, Resolution
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS
from graphrag_mcp.stores.sqlite.scope import FileFilter

MAX_CANDIDATES = 5  # A name with more definitions than this says nothing about which of them is meant.
MAX_EDGES = 400  # Edges read per hop; a result shows twenty at most.
MAX_MENTIONS = 40  # Mentions read of one definition.
IMPORT_CONFIDENCE = 0.9
UNIQUE_NAME_CONFIDENCE = 0.7

_MODULE_MATCHES = (
    "EXISTS (SELECT 1 FROM module_keys m WHERE m.key = r.target_module AND m.file_id = {definition}.file_id)"
)
# The relations that stand in chunks, and relations themselves: either is given as a list of ids, ranked by its order.
OF_CHUNKS = """FROM json_each(?1) seed JOIN chunks c ON c.id = seed.value
    JOIN main.relations r ON r.file_id = c.file_id AND r.line BETWEEN c.start_line AND c.end_line"""
OF_RELATIONS = "FROM json_each(?1) seed JOIN main.relations r ON r.id = seed.value"


def count_definitions(key: str, hidden: FileFilter, place: str) -> str:
    """Return in SQL how many definitions of a name can be seen, as far as it matters; `hidden` takes `place`.

    A name that half the project defines (`get`, `init`) is followed only inside its file or along an import.
    """
    return f"""(SELECT count(*) FROM (SELECT 1 FROM symbols x WHERE x.name_key = {key}
               AND {hidden.condition("x.file_id", place)} LIMIT {MAX_CANDIDATES + 1}))"""


class Settler:
    """Settles relations, from the side of what mentions and from the side of what is mentioned."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outgoing(
        self,
        seeds: Sequence[int],
        kinds: Sequence[str],
        hidden: FileFilter,
        limit: int = MAX_EDGES,
        relations: str = OF_CHUNKS,
    ) -> list["SettledEdge"]:
        """Return what the seeds mention: their relations, settled against the definitions of that name.

        relations: how they follow from the seeds, OF_CHUNKS or OF_RELATIONS.
        """
        rows = self._database.rows(
            f"""WITH mentions AS MATERIALIZED (
                    SELECT r.*, seed.key AS rank, {count_definitions("r.target_key", hidden, "?2")} AS known
                    {relations}
                    WHERE r.kind IN ({_list(kinds)}) ORDER BY seed.key, r.id LIMIT {limit}),
                meant AS (
                    SELECT r.id, s.id AS symbol_id FROM mentions r
                    JOIN main.symbols s ON s.name_key = r.target_key AND s.file_id = r.file_id
                    UNION SELECT r.id, s.id FROM mentions r JOIN main.module_keys m ON m.key = r.target_module
                    JOIN main.symbols s ON s.name_key = r.target_key AND s.file_id = m.file_id
                    UNION SELECT r.id, s.id FROM mentions r JOIN main.symbols s ON s.name_key = r.target_key
                    WHERE r.known <= {MAX_CANDIDATES})
                SELECT r.id, r.rank, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       s.id, s.chunk_id, s.file_id, s.qualified_name, {_MODULE_MATCHES.format(definition="s")}
                FROM mentions r JOIN meant ON meant.id = r.id JOIN symbols s ON s.id = meant.symbol_id
                WHERE s.name = r.target AND {hidden.condition("s.file_id", "?2")}
                ORDER BY r.rank, r.id, s.id""",
            (id_list(seeds), *hidden.parameters),
        )
        edges = _settle(map(_Candidate._make, rows), "out")
        return edges + self._outgoing_modules(seeds, kinds, hidden, limit, relations)

    def _outgoing_modules(
        self, seeds: Sequence[int], kinds: Sequence[str], hidden: FileFilter, limit: int, relations: str
    ) -> list["SettledEdge"]:
        """What the seeds import or link to as a whole file."""
        rows = self._database.rows(
            f"""SELECT r.id, seed.key, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       -m.file_id, m.file_id << {ORDINAL_BITS}, m.file_id, f.path, 1
                {relations}
                JOIN module_keys m ON m.key IN (r.target_module, r.target_module || '/' || r.target)
                JOIN files f ON f.id = m.file_id
                WHERE r.kind IN ({_list(kinds)}) AND r.kind IN ('imports', 'links_to', 'supersedes')
                  AND m.file_id != r.file_id
                  AND NOT EXISTS (SELECT 1 FROM symbols s WHERE s.name_key = r.target_key AND s.file_id = m.file_id)
                  AND {hidden.condition("m.file_id", "?2")}
                ORDER BY seed.key, r.id, m.file_id LIMIT {limit}""",
            (id_list(seeds), *hidden.parameters),
        )
        return _settle(map(_Candidate._make, rows), "out")

    def incoming(
        self,
        definition: "Definition",
        seed_rank: int,
        kinds: Sequence[str],
        hidden: FileFilter,
        limit: int = MAX_MENTIONS,
    ) -> list["SettledEdge"]:
        """Return the relations that mean a definition, settled, as far as `limit` (-1 for all)."""
        name, key, file_id = definition.name, definition.name_key, definition.file_id
        near, meant = "SELECT * FROM relations WHERE target_key = ?3", "1"
        if definition.known > MAX_CANDIDATES:  # Then only its own file, and those that import its module, can mean it.
            # The file's few modules first: all that mentions a common name would be read otherwise.
            near = """SELECT * FROM relations WHERE target_key = ?3 AND file_id = ?1
                      UNION ALL SELECT r.* FROM module_keys m CROSS JOIN relations r ON r.target_module = m.key
                      AND r.target_module != '' AND r.target_key = ?3 WHERE m.file_id = ?1 AND r.file_id != ?1"""
            meant = """s.file_id IN (SELECT r.file_id UNION ALL SELECT file_id FROM main.module_keys
                       WHERE key = r.target_module)"""
        rows = self._database.rows(
            f"""SELECT r.id, ?2, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       s.id, s.chunk_id, s.file_id, s.qualified_name, {_MODULE_MATCHES.format(definition="s")}
                FROM (SELECT * FROM ({near}) r
                      WHERE r.target = ?4 AND r.kind IN ({_list(kinds)})
                        AND {hidden.condition("r.file_id", "?5")} LIMIT {limit}) r
                JOIN symbols s ON s.name_key = ?3 AND s.name = ?4 AND {meant} AND {hidden.condition("s.file_id", "?5")}
                ORDER BY r.id, s.id""",
            (file_id, seed_rank, key, name, *hidden.parameters),
        )
        edges = _settle(map(_Candidate._make, rows), "in")
        return [edge for edge in edges if edge.symbol_id == definition.symbol_id]

    def places(self, relation_ids: Sequence[int]) -> dict[int, int]:
        """Return the chunk in which each relation stands."""
        rows = self._database.rows(
            f"""SELECT r.id, c.id FROM main.relations r JOIN chunks c
                ON c.id BETWEEN r.file_id << {ORDINAL_BITS} AND (r.file_id + 1 << {ORDINAL_BITS}) - 1
                   AND r.line BETWEEN c.start_line AND c.end_line
                WHERE r.id IN (SELECT value FROM json_each(?))""",
            (id_list(relation_ids),),
        )
        return dict(rows)


class Definition(NamedTuple):
    """A definition as its mentions are looked for; `known`: how many have its name, as far as it matters."""

    symbol_id: int
    chunk_id: int
    file_id: int
    name: str
    name_key: str
    known: int


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


def _list(kinds: Sequence[str]) -> str:
    return ", ".join(f"'{RelationKind(kind).value}'" for kind in kinds)


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
