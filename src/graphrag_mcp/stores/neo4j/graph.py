"""Reads the graph: definitions by name and neighbours by hops; every query applies the scope."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from neo4j import Driver

from graphrag_mcp.model.files import RELATED_KINDS, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import ChunkMention, EdgeDirection, GraphNeighbour, SymbolMatch
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.stores.neo4j.connection import reaching
from graphrag_mcp.stores.neo4j.schema import relation_of, relationship_types, scope_parameters, statement
from graphrag_mcp.stores.replica import SHARED, ChunkIds, Point

MAX_FRONTIER = 4  # The next hop starts from the neighbours with the highest confidence.

_EDGES_PER_NEIGHBOUR = 4  # Several edges may lead to one chunk.

_MENTIONING = relationship_types(kind for kind in RELATED_KINDS if kind != RelationKind.CONTAINS)
_LEADING = relationship_types((RelationKind.CALLS, RelationKind.IMPORTS, RelationKind.INHERITS, RelationKind.LINKS_TO))


class _Step(NamedTuple):
    """An edge from a seed to another chunk."""

    chunk_id: int
    key: str
    row: dict[str, Any]
    hop: int


def _certainty(stored: str) -> Certainty:
    """Return how sure a relation is; if its name has several possible targets, it is by name only."""
    return Certainty.BY_NAME if stored == SHARED else Certainty(stored)


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
        rows = self._read(statement("find"), scope, names=sorted({name.lower() for name in names}), limit=limit)
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

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[ChunkMention]:
        keys = self._chunk_ids.keys(chunk_ids)
        if not keys:
            return []
        by_key = {key: chunk_id for chunk_id, key in keys.items()}
        rows = self._read(statement("mentions", types=_MENTIONING), scope, chunks=list(by_key))
        return [ChunkMention(by_key[row["said"]], chunk_id, row["occurrences"]) for chunk_id, row in self._known(rows)]

    def backlinks(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        keys = self._chunk_ids.keys(chunk_ids)
        if not keys:
            return {}
        rows = self._read(statement("backlinks", types=_LEADING), Scope(), chunks=list(keys.values()))
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
        reading = statement("neighbours", types=relationship_types(kinds or RELATED_KINDS))
        keys = self._chunk_ids.keys(chunk_ids)
        frontier = [keys[chunk_id] for chunk_id in chunk_ids if chunk_id in keys]
        if not frontier:
            return []
        seen = set(frontier)
        steps: list[_Step] = []
        for hop in range(1, hops + 1):
            fresh: dict[str, _Step] = {}
            of = list(symbols) if hop == 1 else []
            edges = self._read(reading, scope, seeds=frontier, symbols=of, edges=_EDGES_PER_NEIGHBOUR * limit)
            for chunk_id, row in self._known(edges):
                if row["key"] not in seen:
                    fresh.setdefault(row["key"], _Step(chunk_id, row["key"], row, hop))
            steps += fresh.values()
            if not fresh or len(steps) >= limit:
                break
            frontier = list(fresh)[:MAX_FRONTIER]
            seen.update(fresh)
        return self._with_chunks(steps[:limit])

    def _with_chunks(self, steps: Sequence[_Step]) -> list[GraphNeighbour]:
        chunks = self._catalog.chunks([step.chunk_id for step in steps])
        return [
            GraphNeighbour(
                chunk=chunks[step.chunk_id],
                relation=relation_of(step.row["kind"]),
                direction=EdgeDirection(step.row["direction"]),
                source=step.row["source"],
                target=step.row["target"],
                hops=step.hop,
                confidence=step.row["confidence"],
                certainty=_certainty(step.row["certainty"]),
                is_guess=step.row["certainty"] == SHARED,
            )
            for step in steps
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
