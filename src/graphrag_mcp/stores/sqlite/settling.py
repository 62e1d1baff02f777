"""Decides what a relation means: which definition a name stands for, as of now and against the whole project.

A relation stores the name as its file says it. Nothing has to be resolved again when another file changes, and an
ambiguous name stays what it is: several candidates. `main.relations` are those of all trees: for chunks and files that
are known to be this tree's, and for counts that may be rough. Names are looked up in `main.symbols`, and the last join
is with this tree's view of them: joined earlier, SQLite reads all symbols to build a Bloom filter, in every query.

Several definitions may be one thing: the overloads of a file, or what a header declares and other files define. Who
mentions one of them mentions them all, without any doubt about what is meant. No code means a heading.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.model.files import (
    BARE_CONFIDENCE,
    BASE_CONFIDENCE,
    HEADER_SUFFIXES,
    MACRO,
    RelationKind,
    Resolution,
    SymbolKind,
)
from graphrag_mcp.model.search import EdgeDirection
from graphrag_mcp.stores.sqlite.database import Database, id_list
from graphrag_mcp.stores.sqlite.schema import ORDINAL_BITS, of_file
from graphrag_mcp.stores.sqlite.scope import FileFilter
from graphrag_mcp.text.names import without_constructor

MAX_CANDIDATES = 5  # A name of more things than this says nothing about which of them is meant.
MAX_DEFINITIONS = 30  # Nor does one of more definitions, such as the instances of a type class.
MAX_EDGES = 400  # Edges read per hop; a result shows twenty at most.
MAX_MENTIONS = 40  # Mentions read of one definition.
IMPORT_CONFIDENCE = 0.9
UNIQUE_NAME_CONFIDENCE = 0.7
UNKNOWN_CONFIDENCE = 0.5  # Of a guess, shared by the candidates.

# The files that the module of a mention stands for.
_MODULES = "SELECT r.id, r.target_key, m.file_id FROM mentions r CROSS JOIN module_keys m ON m.key = r.target_module"
# Those from which these import the name themselves: asked for exact answers only, since it takes milliseconds.
_HANDED_ON = """SELECT r.id, r.target_key, k.file_id FROM mentions r CROSS JOIN module_keys m ON m.key = r.target_module
    CROSS JOIN main.relations e ON e.target_key = r.target_key AND e.file_id = m.file_id
        AND e.kind = 'imports' AND e.target = r.target
    CROSS JOIN main.module_keys k ON k.key = e.target_module"""
# Not `IN`: with two columns, SQLite reads all of `modules` for each row.
_IS_OF_MODULE = "EXISTS (SELECT 1 FROM modules m WHERE m.id = r.id AND m.file_id = s.file_id)"
# The languages whose code may use what another declares, by its name; others only what is in their own.
_PLATFORMS = (("c", "cpp", "objc", "swift"), ("javascript", "typescript", "tsx", "vue", "svelte", "astro"),
              ("java", "kotlin", "scala", "groovy"))  # fmt: skip
_PLATFORM = (
    "CASE {language} "
    + " ".join(f"WHEN '{one}' THEN '{first}'" for first, *others in _PLATFORMS for one in others)
    + " ELSE {language} END"
)
_HERE, _THERE = (
    f"(SELECT {_PLATFORM.format(language='d.language')} FROM main.files d WHERE d.id = {file})"
    for file in ("r.file_id", "s.file_id")
)
_MAY_MEAN = f"""(s.file_id = r.file_id OR r.kind IN ('links_to', 'supersedes') OR {_HERE} = {_THERE})
    AND (r.kind != 'imports' OR {_HERE} != 'c')  -- A header is a file.
    AND (r.kind = 'imports' OR (r.target_module = '{MACRO}') = (substr(s.signature, 1, 12) = 'macro_rules!'))
    AND s.kind != 'key' AND (s.kind != 'section' OR r.kind IN ('contains', 'links_to', 'supersedes'))
    AND (r.kind != 'uses' OR s.kind IN ('type', 'module', 'constant'))
    AND (r.kind != 'hands_on' OR s.kind IN ('function', 'method'))"""
# Headers by their whole names; of languages whose modules are no paths, those of the same platform.
_MAY_IMPORT = """CASE WHEN own.language IN ('c', 'cpp') THEN f.path = r.target OR f.path LIKE '%/' || r.target
    WHEN own.language IN ('java', 'kotlin', 'scala') THEN f.language IN ('java', 'kotlin', 'scala', 'groovy')
    WHEN own.language IN ('csharp', 'elixir', 'go', 'haskell', 'lua', 'python', 'rust', 'swift')
        THEN f.language = own.language ELSE 1 END"""
_PATH = "(SELECT d.path FROM main.files d WHERE d.id = s.file_id)"
# The relations that stand in chunks, and relations themselves: either is given as a list of ids, ranked by its order.
OF_CHUNKS = """FROM json_each(?1) seed CROSS JOIN chunks c ON c.id = seed.value
    CROSS JOIN main.relations r ON r.file_id = c.file_id AND r.line BETWEEN c.start_line AND c.end_line"""
OF_RELATIONS = "FROM json_each(?1) seed CROSS JOIN main.relations r ON r.id = seed.value"


def count_definitions(key: str, name: str, condition: str) -> str:
    """Return in SQL how many things of a name fulfil a condition on `x`, as far as it matters; overloads are one.

    A name that half the project defines (`get`, `init`) is followed only inside its file or along an import. Fields do
    not count: a type is as easily told from the fields called like it as if there were none.
    """
    return f"""(
        SELECT iif(count(*) > {MAX_DEFINITIONS}, {MAX_CANDIDATES + 1}, count(DISTINCT file_id || ' ' || qualified_name))
        FROM (SELECT x.file_id, x.qualified_name FROM symbols x
              WHERE x.name_key = {key} AND x.name = {name} AND x.kind NOT IN ('section', 'key', 'field') AND {condition}
              LIMIT {MAX_DEFINITIONS + 1}))"""


def _modules(limit: int) -> str:
    """Return in SQL the table `modules` of mentions; through packages where there is no limit."""
    return f"modules(id, key, file_id) AS MATERIALIZED ({_MODULES}{'' if limit >= 0 else f' UNION {_HANDED_ON}'})"


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

        hidden: files whose definitions are not meant. relations: how they follow from the seeds, OF_CHUNKS or
        OF_RELATIONS.
        """
        rows = self._database.rows(
            f"""WITH mentions AS MATERIALIZED (
                    SELECT r.*, seed.key AS rank,
                           {count_definitions("r.target_key", "r.target", hidden.condition("x.file_id", "?2"))} AS known
                    {relations}
                    WHERE r.kind IN ({_list(kinds)}) ORDER BY seed.key, r.id LIMIT {limit}),
                {_modules(limit)},
                meant AS (
                    SELECT r.id, s.id AS symbol_id FROM mentions r
                    CROSS JOIN main.symbols s ON s.name_key = r.target_key WHERE r.known <= {MAX_CANDIDATES}
                    UNION SELECT r.id, s.id FROM mentions r
                    CROSS JOIN main.symbols s ON s.name_key = r.target_key AND s.file_id = r.file_id
                    UNION SELECT m.id, s.id FROM modules m
                    CROSS JOIN main.symbols s ON s.name_key = m.key AND s.file_id = m.file_id)
                SELECT r.id, r.rank, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       s.id, s.chunk_id, s.file_id, {_PATH}, s.kind, s.qualified_name, {_IS_OF_MODULE}
                FROM mentions r CROSS JOIN meant ON meant.id = r.id CROSS JOIN symbols s ON s.id = meant.symbol_id
                WHERE s.name = r.target AND {_MAY_MEAN} AND {hidden.condition("s.file_id", "?2")}
                ORDER BY r.rank, r.id, s.id""",
            (id_list(seeds), *hidden.parameters),
        )
        edges = _settle(map(_Candidate._make, rows), EdgeDirection.OUT, with_itself=limit < 0)
        return edges + self._outgoing_modules(seeds, kinds, hidden, limit, relations)

    def _outgoing_modules(
        self, seeds: Sequence[int], kinds: Sequence[str], hidden: FileFilter, limit: int, relations: str
    ) -> list["SettledEdge"]:
        """What the seeds import or link to as a whole file."""
        rows = self._database.rows(
            f"""SELECT r.id, seed.key, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       -m.file_id, m.file_id << {ORDINAL_BITS}, m.file_id, f.path, 'module', f.path,
                       1 + (m.key != r.target_module)
                {relations}
                CROSS JOIN module_keys m ON m.key IN (r.target_module, r.target_module || '/' || r.target)
                CROSS JOIN files f ON f.id = m.file_id CROSS JOIN main.files own ON own.id = r.file_id
                WHERE r.kind IN ({_list(kinds)}) AND r.kind IN ('imports', 'links_to', 'supersedes')
                  AND m.file_id != r.file_id AND (r.kind != 'imports' OR {_MAY_IMPORT})
                  AND NOT EXISTS (SELECT 1 FROM symbols s WHERE m.key = r.target_module AND s.name_key = r.target_key
                                  AND s.name = r.target AND s.file_id = m.file_id AND s.kind != 'key')
                  AND {hidden.condition("m.file_id", "?2")}
                ORDER BY seed.key, r.id, m.file_id LIMIT {limit}""",
            (id_list(seeds), *hidden.parameters),
        )
        return _settle(map(_Candidate._make, rows), EdgeDirection.OUT)

    def incoming(
        self,
        definition: "Definition",
        seed_rank: int,
        kinds: Sequence[str],
        hidden: FileFilter,
        limit: int = MAX_MENTIONS,
        sources: FileFilter | None = None,
    ) -> list["SettledEdge"]:
        """Return the relations that mean a definition, settled, as far as `limit` (-1 for all).

        hidden: files whose definitions are not meant. sources: hides files whose relations are not looked at; `hidden`
        by default.
        """
        name, key, file_id = definition.name, definition.name_key, definition.file_id
        sources = sources or hidden
        last = f"?{5 + len(sources.parameters)}"
        near = "SELECT * FROM relations WHERE target_key = ?3"
        pairs = "mentions r CROSS JOIN symbols s ON s.name_key = ?3"
        if definition.known > MAX_CANDIDATES:  # Then only its own file, and those that import its module, can mean it.
            # The file's few modules first: all that mentions a common name would be read otherwise.
            near = """SELECT * FROM relations WHERE target_key = ?3 AND file_id = ?1
                      UNION ALL SELECT r.* FROM (
                          SELECT key FROM module_keys WHERE file_id = ?1
                          UNION SELECT k.key FROM module_keys m CROSS JOIN relations e ON e.target_module = m.key
                          AND e.target_module != '' AND e.target_key = ?3 AND e.kind = 'imports'
                          CROSS JOIN module_keys k ON k.file_id = e.file_id WHERE m.file_id = ?1
                      ) near CROSS JOIN relations r ON r.target_module = near.key
                      AND r.target_module != '' AND r.target_key = ?3 WHERE r.file_id != ?1"""
            # By that index: SQLite would make one of its own out of all symbols.
            pairs = """(SELECT id, file_id FROM mentions UNION SELECT id, file_id FROM modules) one
                CROSS JOIN mentions r ON r.id = one.id CROSS JOIN main.symbols s INDEXED BY symbols_name
                ON s.name_key = ?3 AND s.file_id = one.file_id
                AND EXISTS (SELECT 1 FROM files f WHERE f.id = s.file_id)"""
        rows = self._database.rows(
            f"""WITH mentions AS MATERIALIZED (
                    SELECT * FROM ({near}) r
                    WHERE r.target = ?4 AND r.kind IN ({_list(kinds)})
                      AND {sources.condition("r.file_id", "?5")} LIMIT {limit}),
                {_modules(limit)}
                SELECT r.id, ?2, r.kind, r.source, r.target, r.file_id, r.confidence, r.resolution,
                       s.id, s.chunk_id, s.file_id, {_PATH}, s.kind, s.qualified_name, {_IS_OF_MODULE}
                FROM {pairs} AND s.name = ?4 AND {_MAY_MEAN}
                     AND {hidden.condition("s.file_id", last)}
                ORDER BY r.id, s.id""",
            (file_id, seed_rank, key, name, *sources.parameters, *hidden.parameters),
        )
        edges = _settle(map(_Candidate._make, rows), EdgeDirection.IN, with_itself=limit < 0)
        return [edge for edge in edges if edge.symbol_id == definition.symbol_id]

    def places(self, relation_ids: Sequence[int]) -> dict[int, int]:
        """Return the chunk in which each relation stands."""
        rows = self._database.rows(
            f"""SELECT r.id, c.id FROM main.relations r CROSS JOIN chunks c
                ON {of_file("c.id", "r.file_id")}
                   AND r.line BETWEEN c.start_line AND c.end_line
                WHERE r.id IN (SELECT value FROM json_each(?))""",
            (id_list(relation_ids),),
        )
        return dict(rows)


class Definition(NamedTuple):
    """A definition as its mentions are looked for; `known`: how many things have its name, as far as it matters."""

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
    symbol_path: str
    symbol_kind: str
    qualified_name: str
    module_matches: int

    @property
    def is_itself(self) -> bool:
        """A recursive call leads to the function's other chunks, which is no news."""
        return self.symbol_file == self.relation_file and self.qualified_name == self.source

    @property
    def is_importable(self) -> bool:
        """No `#include <stdio.h>` means a field that is called `stdio`."""
        return self.kind != RelationKind.IMPORTS or self.symbol_kind not in (SymbolKind.FIELD, SymbolKind.METHOD)

    @property
    def is_member(self) -> bool:
        """Whether the value of an expression may have it; a function that is no method is a member of modules only."""
        return self.symbol_kind != SymbolKind.FUNCTION

    @property
    def is_of_same_type(self) -> bool:
        """Whether it is a member of the type in which the relation stands."""
        owner = self.qualified_name.rpartition(".")[0]
        return bool(owner) and self.symbol_file == self.relation_file and self.source.startswith(f"{owner}.")

    @property
    def full_target(self) -> str:
        return f"{self.source}.{self.target}" if self.source else self.target


class SettledEdge(NamedTuple):
    """What one relation means. `symbol_id` is the negative id of a file where it means the whole of it."""

    relation_id: int
    seed_rank: int
    kind: str
    direction: EdgeDirection
    source: str
    target: str
    symbol_id: int
    chunk_id: int
    confidence: float
    resolution: Resolution


def _list(kinds: Sequence[str]) -> str:
    return ", ".join(f"'{RelationKind(kind).value}'" for kind in kinds)


def _settle(
    candidates: Iterable[_Candidate], direction: EdgeDirection, *, with_itself: bool = False
) -> list[SettledEdge]:
    """Decide what each relation means: its own file, the module that it names, or the only one of that name.

    with_itself: calls of a function from itself, or from another one of its name, are relations, too.
    """
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
                if with_itself or not one.is_itself
            ]
    return edges


def _choose(possible: Mapping[int, _Candidate]) -> list[tuple[Resolution, float, list[_Candidate]]]:
    everyone = list(possible.values())
    relation = everyone[0]
    if relation.resolution == Resolution.UNKNOWN:
        return _guess(Resolution.UNKNOWN, [one for one in everyone if one.is_member])
    if relation.resolution == Resolution.BASE:
        return _choose_of_base([one for one in everyone if one.is_member and not one.is_of_same_type])
    if relation.resolution == Resolution.BUILTIN:  # The language's own is one more candidate.
        named = [one for one in everyone if one.symbol_kind not in (SymbolKind.METHOD, SymbolKind.FIELD)]
        return _guess(Resolution.CANDIDATES, named, rivals=1)
    if relation.kind == RelationKind.CALLS and relation.confidence >= BARE_CONFIDENCE:
        everyone = [one for one in everyone if one.symbol_kind != SymbolKind.FIELD] or everyone
    if relation.kind in (RelationKind.IMPORTS, RelationKind.INHERITS):  # Of a type and its constructors, the type.
        everyone = [one for one in everyone if one.symbol_kind != SymbolKind.METHOD] or everyone
    local = [one for one in everyone if one.symbol_file == one.relation_file]
    if relation.resolution == Resolution.SYNTAX:  # The source says whose member it is.
        return [(Resolution.SYNTAX, 1.0, [one for one in local if one.qualified_name == one.full_target])]
    nearest = max((one.module_matches for one in everyone), default=0)  # What is named is a module of the package.
    imported = [one for one in everyone if nearest and one.module_matches == nearest]
    ways = [
        (Resolution.LOCAL, 1.0, local),
        (Resolution.IMPORT, IMPORT_CONFIDENCE, imported),
        (Resolution.NAME, UNIQUE_NAME_CONFIDENCE, [one for one in everyone if one.is_importable]),
    ]
    if relation.resolution in (Resolution.IMPORT, Resolution.LIBRARY):
        ways[:2] = reversed(ways[:2])  # `module.name` is not what this file defines by that name.
    if relation.resolution == Resolution.LIBRARY:  # Unless the project has a module of that name.
        del ways[1:]
    for resolution, confidence, chosen in ways:
        meant = _count_things(chosen)
        if meant == 1:
            return [(resolution, confidence, chosen)]
        if meant:
            return [(Resolution.CANDIDATES, confidence / meant, chosen if meant <= MAX_CANDIDATES else [])]
    return []


def _choose_of_base(others: list[_Candidate]) -> list[tuple[Resolution, float, list[_Candidate]]]:
    """Decide which of other types' members `super().name()` means: what the file shows, else it is a guess."""
    local = [one for one in others if one.symbol_file == one.relation_file]
    if local and local[0].confidence >= BASE_CONFIDENCE and _count_things(local) == 1:
        return [(Resolution.LOCAL, 1.0, local)]
    return _guess(Resolution.UNKNOWN, others)


def _guess(
    resolution: Resolution, candidates: list[_Candidate], rivals: int = 0
) -> list[tuple[Resolution, float, list[_Candidate]]]:
    """Share the confidence among the candidates, and so many rivals that the project does not define."""
    meant = _count_things(candidates)
    if not 0 < meant <= MAX_CANDIDATES:
        return []
    return [(resolution, UNKNOWN_CONFIDENCE / (meant + rivals), candidates)]


def _count_things(definitions: Collection[_Candidate]) -> int:
    """Return how many different things they define: overloads, a type with constructors, a header's are one."""
    if len(definitions) > MAX_DEFINITIONS:
        return MAX_CANDIDATES + 1
    named = [(without_constructor(one.qualified_name), one) for one in definitions]
    declared = {name for name, one in named if one.symbol_path.endswith(HEADER_SUFFIXES)}
    return len({(name, None if name in declared else one.symbol_file) for name, one in named})
