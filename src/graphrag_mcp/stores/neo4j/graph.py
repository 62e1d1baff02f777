"""Reads the graph: definitions by name and neighbours by hops; every query applies the scope."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert

from graphrag_mcp.model.files import RELATED_KINDS, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.graph import CONFIDENCE
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import ChunkMention, EdgeDirection, GraphNeighbour, SymbolMatch
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.stores.neo4j.schema import (
    CERTAINTIES,
    CertaintyName,
    LineNumber,
    Name,
    Neo4jProject,
    relation_of,
    relationship_types,
    scope_parameters,
    statement,
)
from graphrag_mcp.stores.replica import SHARED, ChunkIds, Point, PointRow, read
from graphrag_mcp.text.secrets import mask_secrets

_CONFIDENCE = {**{str(certainty): confidence for certainty, confidence in CONFIDENCE.items()}, SHARED: 0.25}
MAX_FRONTIER = 4  # The next hop starts from the neighbours with the highest confidence.

_EDGES_PER_NEIGHBOUR = 4  # Several edges may lead to one chunk.

_MENTIONING = relationship_types(kind for kind in RELATED_KINDS if kind != RelationKind.CONTAINS)
_LEADING = relationship_types((RelationKind.CALLS, RelationKind.IMPORTS, RelationKind.INHERITS, RelationKind.LINKS_TO))


class _Found(PointRow, frozen=True):
    """A definition with its chunk. A server is not trusted: see `read`."""

    key: str
    name: Name
    qualified_name: Name
    kind: SymbolKind
    start_line: LineNumber
    end_line: LineNumber
    signature: Name


class _Mentioned(PointRow, frozen=True):
    """A chunk that defines what the chunk `said` mentions."""

    key: str
    said: str
    occurrences: Annotated[int, Meta(ge=0, lt=1 << 31)]


class _Step(PointRow, frozen=True):
    """A relation from a seed to another chunk."""

    key: str
    kind: Name
    direction: EdgeDirection
    source: Name
    target: Name
    certainty: CertaintyName


class _Backlinks(Struct, frozen=True):
    key: str
    files: Annotated[int, Meta(ge=0, lt=1 << 31)]


_Row = TypeVar("_Row", _Found, _Mentioned, _Step)


class Neo4jGraphStore:
    """The graph store on a server; the chunks themselves come from the catalog."""

    remote = True

    def __init__(self, project: Neo4jProject, chunk_ids: ChunkIds, catalog: ChunkStore) -> None:
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
                row.path,
                Symbol(
                    mask_secrets(row.name),
                    mask_secrets(row.qualified_name),
                    row.kind,
                    row.start_line,
                    row.end_line,
                    mask_secrets(row.signature),
                ),
            )
            for chunk_id, row in self._known(rows, _Found)
        ]

    def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[ChunkMention]:
        keys = self._chunk_ids.keys(chunk_ids)
        if not keys:
            return []
        by_key = {key: chunk_id for chunk_id, key in keys.items()}
        rows = self._read(statement("mentions", types=_MENTIONING), scope, chunks=list(by_key))
        known = [(chunk_id, row) for chunk_id, row in self._known(rows, _Mentioned) if row.said in by_key]
        return [ChunkMention(by_key[row.said], chunk_id, row.occurrences) for chunk_id, row in known]

    def backlinks(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        keys = self._chunk_ids.keys(chunk_ids)
        if not keys:
            return {}
        rows = self._read(statement("backlinks", types=_LEADING), Scope(), chunks=list(keys.values()))
        try:
            counts = {row.key: row.files for row in convert(rows, list[_Backlinks])}
        except ValidationError:
            return {}
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
        reading = statement("neighbours", types=relationship_types(kinds or RELATED_KINDS))
        keys = self._chunk_ids.keys(chunk_ids)
        frontier = [keys[chunk_id] for chunk_id in chunk_ids if chunk_id in keys]
        if not frontier:
            return []
        seen = set(frontier)
        steps: list[tuple[int, _Step, int]] = []
        for hop in range(1, hops + 1):
            fresh: dict[str, tuple[int, _Step, int]] = {}
            of = list(symbols) if hop == 1 else []
            edges = self._read(reading, scope, seeds=frontier, symbols=of, edges=_EDGES_PER_NEIGHBOUR * limit)
            for chunk_id, row in self._known(edges, _Step):
                if row.key not in seen and relation_of(row.kind):
                    fresh.setdefault(row.key, (chunk_id, row, hop))
            steps += fresh.values()
            if not fresh or len(steps) >= limit:
                break
            frontier = list(fresh)[:MAX_FRONTIER]
            seen.update(fresh)
        return self._with_chunks(steps[:limit])

    def _with_chunks(self, steps: Sequence[tuple[int, _Step, int]]) -> list[GraphNeighbour]:
        chunks = self._catalog.chunks([chunk_id for chunk_id, _, _ in steps])
        return [
            GraphNeighbour(
                chunk=chunks[chunk_id],
                relation=relation,
                direction=row.direction,
                source=mask_secrets(row.source),
                target=mask_secrets(row.target),
                hops=hop,
                confidence=_CONFIDENCE[row.certainty],
                certainty=CERTAINTIES[row.certainty],
                is_guess=row.certainty == SHARED,
            )
            for chunk_id, row, hop in steps
            if chunk_id in chunks and (relation := relation_of(row.kind))
        ]

    def _known(self, rows: Sequence[dict[str, Any]], kind: type[_Row]) -> list[tuple[int, _Row]]:
        """Return the rows whose content is in the index of the search, each with its chunk id."""
        read_rows = [row for row in (read(values, kind) for values in rows) if row]
        ids = self._chunk_ids.ids([Point(row.key, row.path, row.version, row.ordinal) for row in read_rows])
        return [(known, row) for known, row in zip(ids, read_rows, strict=True) if known is not None]

    def _read(self, statement: str, scope: Scope, **parameters: Any) -> list[dict[str, Any]]:
        return self._project.read(statement, **scope_parameters(scope, self._catalog.scope_paths), **parameters)
