"""Reads the graph: definitions by name and neighbours by hops; every query applies the scope."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from neo4j import Driver

from graphrag_mcp.model.files import RELATED_KINDS, RelationKind, Resolution, Symbol, SymbolKind
from graphrag_mcp.model.graph import certainty_of
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import EdgeDirection, GraphNeighbour, Mention, SymbolMatch
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.stores.neo4j.connection import reaching
from graphrag_mcp.stores.neo4j.schema import IN_SCOPE, relationship_types, scope_parameters
from graphrag_mcp.stores.points import ChunkIds, Point

MAX_EDGES = 400  # Edges read of one seed.
MAX_MENTIONS = 40  # Mentions read of one chunk's definitions.
MAX_FRONTIER = 4  # Neighbours from which the next hop starts: those with the highest confidence.

_POINT = "c.key AS key, c.path AS path, c.version AS version, c.ordinal AS ordinal"
_FIND = f"""
MATCH (s:Symbol) WHERE s.project = $project AND s.name_key IN $names
MATCH (s)<-[:DEFINES]-(c:Chunk) WHERE {IN_SCOPE}
RETURN {_POINT}, s.name AS name, s.qualified_name AS qualified_name, s.kind AS kind, s.start_line AS start_line,
       s.end_line AS end_line, s.signature AS signature
ORDER BY path, start_line LIMIT $limit
"""
_EDGE = (
    "type(r) AS kind, r.source AS source, r.target AS target, r.confidence AS confidence, r.resolution AS resolution"
)
_IS_FROM = "(size($symbols) = 0 OR any(one IN $symbols WHERE r.source = one OR r.source STARTS WITH one + '.'))"
_NEIGHBOURS = f"""
UNWIND range(0, size($seeds) - 1) AS rank
MATCH (seed:Chunk {{key: $seeds[rank]}})
CALL (seed) {{
    MATCH (seed)-[r:{{types}}]->(:Symbol)<-[:DEFINES]-(c:Chunk) WHERE c <> seed AND {_IS_FROM} AND {IN_SCOPE}
    RETURN r, c, 'out' AS direction LIMIT {MAX_EDGES}
  UNION ALL
    MATCH (seed)-[r:{{types}}]->(:File)-[:HAS_CHUNK]->(c:Chunk {{ordinal: 0}})
    WHERE c <> seed AND {_IS_FROM} AND {IN_SCOPE}
    RETURN r, c, 'out' AS direction LIMIT {MAX_EDGES}
  UNION ALL
    MATCH (seed)-[:DEFINES]->(s:Symbol)<-[r:{{types}}]-(c:Chunk)
    WHERE c <> seed AND (size($symbols) = 0 OR s.qualified_name IN $symbols) AND {IN_SCOPE}
    RETURN r, c, 'in' AS direction ORDER BY r.confidence DESC LIMIT {MAX_MENTIONS}
}}
RETURN rank, direction, {_POINT}, {_EDGE}
ORDER BY confidence DESC, rank, path, ordinal LIMIT $edges
"""
_EDGES_PER_NEIGHBOUR = 4  # Edges read for each neighbour that is wanted, since several lead to one chunk.

_MENTIONS = f"""
MATCH (said:Chunk)-[r:{relationship_types(kind for kind in RELATED_KINDS if kind != RelationKind.CONTAINS)}]->(s:Symbol)
WHERE said.key IN $chunks AND s.kind <> 'field'
MATCH (s)<-[:DEFINES]-(c:Chunk) WHERE c.path <> said.path AND {IN_SCOPE}
    AND size(COLLECT {{
        MATCH (other:Symbol)<-[:DEFINES]-(where:Chunk)
        WHERE other.project = s.project AND other.name_key = s.name_key AND other.kind <> 'key'
        RETURN DISTINCT where.path LIMIT 3
    }}) < 3
RETURN DISTINCT said.key AS said, {_POINT}, COUNT {{ (s)<-[:CALLS|IMPORTS|INHERITS|TESTS]-() }} AS occurrences
"""
_LEADING = relationship_types((RelationKind.CALLS, RelationKind.IMPORTS, RelationKind.INHERITS, RelationKind.LINKS_TO))
_BACKLINKS = f"""
MATCH (f:File)-[:HAS_CHUNK]->(asked:Chunk) WHERE asked.key IN $chunks
WITH f, collect(asked.key) AS keys
CALL (f) {{
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)<-[r:{_LEADING}]-(c:Chunk)
    WHERE c.path <> f.path AND NOT c.is_archived AND NOT r.resolution IN ['candidates', 'unknown'] RETURN c.path AS path
  UNION
    MATCH (f)<-[:{_LEADING}]-(c:Chunk) WHERE c.path <> f.path AND NOT c.is_archived RETURN c.path AS path
}}
WITH keys, count(DISTINCT path) AS files
UNWIND keys AS key RETURN key, files
"""


class _Step(NamedTuple):
    """One edge from a seed to another chunk."""

    chunk_id: int
    key: str
    row: dict[str, Any]
    hop: int


class Neo4jGraphStore:
    """The graph store on a server; the chunks themselves come from the catalog."""

    remote = True

    def __init__(
        self,
        driver: Driver,
        database: str | None,
        project: str,
        chunk_ids: ChunkIds,
        catalog: ChunkStore,
    ) -> None:
        self._driver = driver
        self._database = database
        self._project = project
        self._chunk_ids = chunk_ids
        self._catalog = catalog

    def find_symbols(self, names: Sequence[str], scope: Scope, limit: int) -> list[SymbolMatch]:
        if not names:
            return []
        rows = self._read(_FIND, scope, names=sorted({name.lower() for name in names}), limit=limit)
        return [
            SymbolMatch(
                chunk_id,
                row["path"],
                Symbol(
                    row["name"],
                    row["qualified_name"],
                    SymbolKind(row["kind"]),
                    row["start_line"],
                    row["end_line"],
                    row["signature"],
                ),
            )
            for chunk_id, row in self._known(rows)
        ]

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[Mention]:
        keys = self._chunk_ids.keys(chunk_ids)
        if not keys:
            return []
        by_key = {key: chunk_id for chunk_id, key in keys.items()}
        rows = self._read(_MENTIONS, scope, chunks=list(by_key))
        return [Mention(by_key[row["said"]], chunk_id, row["occurrences"]) for chunk_id, row in self._known(rows)]

    def backlinks(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        keys = self._chunk_ids.keys(chunk_ids)
        if not keys:
            return {}
        rows = self._read(_BACKLINKS, Scope(), chunks=list(keys.values()))
        counts = {row["key"]: row["files"] for row in rows}
        return {chunk_id: counts[key] for chunk_id, key in keys.items() if counts.get(key)}

    def neighbours(
        self,
        chunk_ids: Sequence[int],
        hops: int,
        limit: int,
        scope: Scope,
        kinds: Sequence[RelationKind] = (),
        symbols: Collection[str] = (),
    ) -> list[GraphNeighbour]:
        """Return chunks related to the seeds, ordered by (hops, confidence, seed's rank, path), each chunk once."""
        statement = _NEIGHBOURS.replace("{types}", relationship_types(kinds or RELATED_KINDS))
        keys = self._chunk_ids.keys(chunk_ids)
        frontier = [keys[chunk_id] for chunk_id in chunk_ids if chunk_id in keys]
        if not frontier:
            return []
        seen = set(frontier)
        found: list[_Step] = []
        for hop in range(1, hops + 1):
            fresh: dict[str, _Step] = {}
            of = list(symbols) if hop == 1 else []
            edges = self._read(statement, scope, seeds=frontier, symbols=of, edges=_EDGES_PER_NEIGHBOUR * limit)
            for chunk_id, row in self._known(edges):
                if row["key"] not in seen:
                    fresh.setdefault(row["key"], _Step(chunk_id, row["key"], row, hop))
            found += fresh.values()
            if not fresh or len(found) >= limit:
                break
            frontier = list(fresh)[:MAX_FRONTIER]
            seen.update(fresh)
        return self._with_chunks(found[:limit])

    def _with_chunks(self, found: Sequence[_Step]) -> list[GraphNeighbour]:
        chunks = self._catalog.chunks([step.chunk_id for step in found])
        return [
            GraphNeighbour(
                chunk=chunks[step.chunk_id],
                relation=RelationKind[step.row["kind"]],
                direction=EdgeDirection(step.row["direction"]),
                source=step.row["source"],
                target=step.row["target"],
                hops=step.hop,
                confidence=step.row["confidence"] / 2 ** (step.hop - 1),  # Each hop halves the confidence.
                certainty=certainty_of(Resolution(step.row["resolution"]), step.row["confidence"]),
                is_guess=Resolution(step.row["resolution"]).is_guess,
            )
            for step in found
            if step.chunk_id in chunks
        ]

    def _known(self, rows: Sequence[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
        """Return the rows whose content is in the index of the search, each with its chunk id."""
        ids = self._chunk_ids.ids([Point(row["key"], row["path"], row["version"], row["ordinal"]) for row in rows])
        return [(known, row) for known, row in zip(ids, rows, strict=True) if known is not None]

    def _read(self, statement: str, scope: Scope, **parameters: Any) -> list[dict[str, Any]]:
        bound = scope_parameters(scope, self._catalog.scope_paths)
        with reaching(), self._driver.session(database=self._database, default_access_mode="READ") as session:
            return session.execute_read(
                lambda transaction: transaction.run(statement, bound, project=self._project, **parameters).data()
            )
