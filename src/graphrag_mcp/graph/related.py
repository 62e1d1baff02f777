"""The graph store of a search: the code that is related to the chunks that were found."""

from collections.abc import Callable, Collection, Iterator, Sequence

from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.tracing import Walk
from graphrag_mcp.model.files import RELATED_KINDS, Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import RUNNING, CodeEdge, CodeNode
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import EdgeDirection, GraphNeighbour, StoredChunk
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.stores.sqlite.catalog import SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.stores.sqlite.symbols import SqliteGraph

MAX_FRONTIER = 4  # Neighbours from which the next hop starts: the most certain ones.
MAX_SEED_SYMBOLS = 5  # Definitions of the seeds whose references are looked up, fields last.
# A search knows several kinds of relations as one.
_KINDS_OF = {
    RelationKind.CALLS: RUNNING,
    RelationKind.INHERITS: (RelationKind.IMPLEMENTS, RelationKind.INHERITS, RelationKind.OVERRIDES),
    RelationKind.TESTS: (RelationKind.TESTS, RelationKind.CALLS, RelationKind.INSTANTIATES),
}
_KIND_OF = {exact: kind for kind in (RelationKind.CALLS, RelationKind.INHERITS) for exact in _KINDS_OF[kind]}


class RelatedCode(SqliteGraph):
    """Follows relations from definition to definition."""

    def __init__(
        self,
        database: Database,
        scopes: ScopeResolver,
        catalog: SqliteCatalog,
        nodes: SymbolGraph,
        relations: Callable[[], Relations],
    ) -> None:
        super().__init__(database, scopes)
        self._catalog, self._nodes, self._relations = catalog, nodes, relations

    def neighbours(
        self,
        chunk_ids: Sequence[int],
        hops: int,
        limit: int,
        scope: Scope,
        kinds: Sequence[RelationKind] = (),
        symbols: Collection[str] = (),
    ) -> list[GraphNeighbour]:
        """Return chunks related to the seeds, ordered by (hops, certainty, seed's rank), each chunk once."""
        kinds = kinds or RELATED_KINDS
        relations = self._relations()
        chunks = self._catalog.chunks(chunk_ids)
        neighbours: list[GraphNeighbour] = []
        seeds = [chunks[number] for number in chunk_ids if number in chunks]
        walk = Walk([node for chunk in seeds for node in self._definitions(chunk, symbols)], hops)
        seen = set(chunk_ids)
        for hop in walk:
            steps = [step for node in walk.nodes for step in self._steps(relations, node, kinds, scope)]
            fresh: dict[int, GraphNeighbour] = {}
            reached: dict[int, CodeNode] = {}
            for far, neighbour in self._neighbours(steps, hop, kinds, scope):
                if len(neighbours) + len(fresh) >= limit:
                    break
                if neighbour.chunk.chunk_id not in seen:
                    fresh.setdefault(neighbour.chunk.chunk_id, neighbour)
                    reached[far.node_id] = far
            neighbours += fresh.values()
            seen.update(fresh)
            walk.go_on(list(reached.values())[:MAX_FRONTIER])
        return sorted(neighbours, key=lambda neighbour: (neighbour.hops, -neighbour.confidence))[:limit]

    def _definitions(self, chunk: StoredChunk, symbols: Collection[str]) -> list[CodeNode]:
        """Return the definitions of a chunk that are meant, fields last; else the one around it."""
        before_end = [node for node in self._nodes.in_file(chunk.path) if node.start_line <= chunk.end_line]
        if symbols:
            inside, file = [node for node in before_end if node.qualified_name in symbols], None
        else:
            inside = [node for node in before_end if node.start_line >= chunk.start_line]
            file = self._nodes.file(chunk.path)
        nodes = inside or [*self._nodes.in_file(chunk.path, chunk.start_line), *filter(None, [file])][:1]
        return sorted(nodes, key=lambda node: node.kind is SymbolKind.FIELD)[:MAX_SEED_SYMBOLS]

    def _steps(
        self, relations: Relations, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope
    ) -> Iterator[tuple[CodeEdge, EdgeDirection]]:
        exact = tuple({relation for kind in kinds for relation in _KINDS_OF.get(kind, (kind,))})
        yield from ((edge, EdgeDirection.IN) for edge in relations.decided(node, exact, scope))
        yield from ((edge, EdgeDirection.OUT) for edge in relations.outgoing(node, exact)[0])

    def _neighbours(
        self, steps: Sequence[tuple[CodeEdge, EdgeDirection]], hop: int, kinds: Sequence[RelationKind], scope: Scope
    ) -> Iterator[tuple[CodeNode, GraphNeighbour]]:
        """Yield the far ends of relations with the chunk that is read there, the most certain first and files last."""
        nodes = self._nodes.nodes({number for edge, _ in steps for number in (edge.source_id, edge.target_id)})
        visible = self._nodes.visible({node.path for node in nodes.values()}, scope)
        for edge, direction in sorted(steps, key=lambda step: (-_confidence(step[0]), step[0].source_id < 0)):
            source, target = nodes[edge.source_id], nodes[edge.target_id]
            if source == target:
                continue
            is_out = direction is EdgeDirection.OUT
            far, line = (target, target.start_line) if is_out else (source, edge.line)
            chunk = self._catalog.chunk_at(far.path, line) if far.path in visible else None
            if chunk is not None:
                is_test = source.category is Category.TESTS and target.category is not Category.TESTS
                kind = _KIND_OF.get(edge.relation, edge.relation)
                yield (
                    far,
                    GraphNeighbour(
                        chunk=chunk,
                        relation=RelationKind.TESTS if is_test and RelationKind.TESTS in kinds else kind,
                        direction=direction,
                        source="" if source.is_file else source.qualified_name,
                        target="" if target.is_file else target.qualified_name,
                        hops=hop,
                        confidence=_confidence(edge),
                        certainty=edge.certainty,
                        is_guess=edge.is_guess,
                    ),
                )


def _confidence(edge: CodeEdge) -> float:
    """Return how likely a relation is: a name that several things have is less so."""
    return edge.confidence / 2 if edge.is_guess else edge.confidence
