"""Reads the graph: definitions, neighbours by hops, and relations for exact questions; every query has the scope."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert

from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language
from graphrag_mcp.model.files import RELATED_KINDS, Category, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.graph import CONFIDENCE, Certainty, CodeEdge, CodeNode, Dependency, Doubt, Line, Mentioned
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.model.search import ChunkMention, EdgeDirection, GraphNeighbour, SymbolMatch
from graphrag_mcp.ports import ChunkStore, ScopePaths
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
from graphrag_mcp.stores.replica import SHARED, ChunkIds, Path, Point, PointRow, file_key, read
from graphrag_mcp.stores.sqlite.symbols import is_called
from graphrag_mcp.text.secrets import mask_secrets

_CONFIDENCE = {**{str(certainty): confidence for certainty, confidence in CONFIDENCE.items()}, SHARED: 0.25}
MAX_FRONTIER = 4  # The next hop starts from the neighbours with the highest confidence.

_EDGES_PER_NEIGHBOUR = 4  # Several edges may lead to one chunk.

_MENTIONING = relationship_types(kind for kind in RELATED_KINDS if kind != RelationKind.CONTAINS)
_LEADING = relationship_types((RelationKind.CALLS, RelationKind.IMPORTS, RelationKind.INHERITS, RelationKind.LINKS_TO))
MOST_NAMES = 50_000  # Names that are compared with one that nothing has.
Lines = Callable[[Collection[str]], Mapping[Line, str]]  # Returns the lines of files.


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


class _Node(Struct, frozen=True):
    """A definition or a file as a server says it. A server is not trusted."""

    key: Name
    path: Path
    category: Category
    name: Name
    qualified_name: Name
    kind: SymbolKind
    start_line: LineNumber
    end_line: LineNumber
    signature: Name
    is_archived: bool


class _Related(_Node, frozen=True):
    """A node at the other end of a relation."""

    type: Name
    at: Path
    line: LineNumber
    certainty: CertaintyName


class _Undecided(Struct, frozen=True):
    path: Path
    places: list[Name]


class _External(Struct, frozen=True):
    name: Name
    line: LineNumber


_Record = TypeVar("_Record", bound=Struct)


class Neo4jCode:
    """One copy of a code graph: a `SymbolGraph`, and `CodeRelations`. Its nodes are numbered as they are met."""

    def __init__(self, project: Neo4jProject, scope_paths: ScopePaths, read_lines: Lines) -> None:
        self._project = project
        self._scope_paths = scope_paths
        self._read_lines = read_lines
        self._numbers: dict[str, int] = {}
        self._keys: dict[int, str] = {}
        self._nodes: dict[int, CodeNode] = {}

    # ------------------------------------------------------------ nodes

    def definitions(self, name: str, scope: Scope) -> list[CodeNode]:
        names = sorted({name.rpartition(".")[2].lower(), name.lower()})
        nodes = self._found("definitions", scope, names=names)
        return [node for node in nodes if is_called(node, name.lower())]

    def similar_names(self, name: str, limit: int, _scope: Scope) -> list[str]:
        similar = (other for other in self.names() if name.lower() in other.lower())
        return sorted(similar, key=lambda other: (len(other), other))[:limit]

    def names(self, *, qualified: bool = False) -> list[str]:
        rows = self._read("names", qualified=qualified, limit=MOST_NAMES)
        return [mask_secrets(row["name"]) for row in rows if isinstance(row["name"], str)]

    def file(self, path: str) -> CodeNode | None:
        return next(iter(self._found("file", key=file_key(self._project.name, path))), None)

    def in_file(self, path: str, line: int | None = None) -> list[CodeNode]:
        nodes = self._found("in_file", key=file_key(self._project.name, path))
        if line is None:
            return nodes
        around = (node for node in nodes if node.start_line <= line <= node.end_line)
        return sorted(around, key=lambda node: node.end_line - node.start_line)

    def lines(self, wanted: Collection[Line]) -> Mapping[Line, str]:
        lines = self._read_lines({path for path, _ in wanted})
        return {place: lines[place] for place in wanted if place in lines}

    def text(self, path: str) -> str:
        """Return the text of a file, "" for the lines that are not on the server."""
        lines = self._read_lines([path])
        return "\n".join(
            lines.get((path, line), "") for line in range(1, max((line for _, line in lines), default=0) + 1)
        )

    def visible(self, paths: Collection[str], scope: Scope) -> set[str]:
        keys = [file_key(self._project.name, path) for path in paths]
        rows = self._read("visible", scope, keys=keys) if keys else []
        return {path for row in rows if isinstance(path := row["path"], str)}.intersection(paths)

    def nodes(self, ids: Iterable[int]) -> Mapping[int, CodeNode]:
        return {node_id: self._nodes[node_id] for node_id in ids if node_id in self._nodes}

    def texts(self, _names: Collection[str], _scope: Scope) -> list[tuple[str, Category, int, str]]:
        """Return none: texts are not looked for."""
        return []

    def at_places(self, _places: Collection[int]) -> Mapping[int, int]:
        """Return none: places are of a local index."""
        return {}

    def dependencies(self, _scope: Scope) -> Iterator[Dependency]:
        """Yield none: the map of a repository is not drawn."""
        yield from ()

    # ------------------------------------------------------------ relations

    def decides(self, path: str) -> bool:
        return detect_language(path) in FACT_LANGUAGES

    def unresolved(self, _path: str) -> bool:
        return False

    def incoming(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> tuple[list[CodeEdge], Doubt]:
        wanted = set(kinds) - {RelationKind.CONTAINS}
        if RelationKind.READS in wanted:  # A call of it reads it first.
            wanted.add(RelationKind.CALLS)
        is_twice = RelationKind.IMPLEMENTS in wanted
        if is_twice and self.decides(node.path):
            wanted.discard(RelationKind.INHERITS)
        related = self._related("incoming", node, wanted, scope)
        edges = _without_derived([self._edge(row, source, node.node_id) for row, source in related])
        if is_twice:  # Where names are compared, code that implements a trait for a type from outside is of its file.
            others = [edge for edge in edges if edge.relation is not RelationKind.INHERITS]
            edges = others + [edge for edge in edges if edge not in others and self._nodes[edge.source_id].is_file]
        undecided = set[Line]()
        if not node.is_file and not wanted <= {RelationKind.IMPORTS, RelationKind.LINKS_TO}:
            for file in self._rows(_Undecided, "undecided", scope, undecided=node.name):
                lines = (place.rpartition(":")[2] for place in file.places)
                undecided |= {(file.path, int(line)) for line in lines if line.isdecimal() and len(line) < 10}
        known = {(edge.path, edge.line) for edge in edges}
        doubt = Doubt(frozenset(undecided - known), is_typed=self.decides(node.path), is_copy=True)
        return list(dict.fromkeys(edges)), doubt

    def outgoing(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations from a node and what is in it, and the packages outside that it imports."""
        # A type below another is told once: a file by what its lines say, a type by what it is.
        told = {RelationKind.IMPLEMENTS, RelationKind.OVERRIDES} if node.is_file else {RelationKind.INHERITS}
        wanted = set(kinds) - (told if RelationKind.IMPLEMENTS in kinds else set())
        related = self._related("outgoing", node, wanted, EVERYTHING)
        edges = [self._edge(row, node.node_id, target) for row, target in related]
        targets = (self._nodes[edge.target_id] for edge in edges if edge.relation is RelationKind.IMPORTS)
        whole = {-target.file_id for target in targets if not target.is_file}
        edges = [edge for edge in edges if edge.relation is not RelationKind.IMPORTS or edge.target_id not in whole]
        key = self._keys.get(node.node_id, "") if RelationKind.IMPORTS in kinds else ""
        outside = self._rows(_External, "outside", key=key)
        kind = RelationKind.IMPORTS
        unknown = [Mentioned(kind, mask_secrets(row.name), "", node.path, row.line, False) for row in outside]
        return list(dict.fromkeys(edges)), unknown

    def settled(self, edges: Sequence[CodeEdge], _nodes: Collection[CodeNode]) -> list[CodeEdge]:
        """Return the relations as they are: which overloads one may mean is not copied."""
        return list(edges)

    def inherited(self, _child: CodeNode, _name: str, _scope: Scope) -> list[int]:
        """Return none: members of a type above are asked for by their own name."""
        return []

    def assigned(self, _kind: CodeNode, _name: str) -> list[str]:
        """Return none: attributes without a definition are not copied."""
        return []

    def exported(self, _name: str, _scope: Scope) -> list[int]:
        """Return none: what is exported under another name is asked for by its own."""
        return []

    # ------------------------------------------------------------ inside

    def _edge(self, row: _Related, source: int, target: int) -> CodeEdge:
        relation = relation_of(row.type) or RelationKind.USES
        certainty = CERTAINTIES[row.certainty]
        is_named = certainty is Certainty.BY_NAME
        return CodeEdge(source, target, relation, row.at, row.line, certainty, row.certainty == SHARED, is_named)

    def _related(
        self, name: str, node: CodeNode, kinds: Collection[RelationKind], scope: Scope
    ) -> list[tuple[_Related, int]]:
        key = self._keys.get(node.node_id)
        if key is None or not kinds:
            return []
        types = relationship_types(sorted(kinds))
        rows = self._rows(_Related, name, scope, key=key, types=types)
        return [(row, self._node(row).node_id) for row in rows if relation_of(row.type)]

    def _found(self, name: str, scope: Scope | None = None, **parameters: object) -> list[CodeNode]:
        return [self._node(row) for row in self._rows(_Node, name, scope, **parameters)]

    def _node(self, row: _Node) -> CodeNode:
        number = self._numbers.setdefault(row.key, len(self._numbers) + 1)
        node_id = -number if row.kind is SymbolKind.FILE else number
        file_id = self._numbers.setdefault(file_key(self._project.name, row.path), len(self._numbers) + 1)
        name, qualified, signature = map(mask_secrets, (row.name, row.qualified_name, row.signature))
        rest = (row.kind, row.start_line, row.end_line, signature, row.is_archived)
        node = CodeNode(node_id, file_id, row.path, row.category, name, qualified, *rest)
        self._keys[node_id], self._nodes[node_id] = row.key, node
        return node

    def _rows(self, kind: type[_Record], name: str, scope: Scope | None = None, **parameters: Any) -> list[_Record]:
        """Return the rows that are of a kind; others were written by no sync."""
        rows = (read(values, kind) for values in self._read(name, scope, **parameters))
        return [row for row in rows if row is not None]

    def _read(
        self, name: str, scope: Scope | None = None, types: str = "", **parameters: object
    ) -> list[dict[str, Any]]:
        bound = scope_parameters(scope, self._scope_paths) if scope is not None else {}
        return self._project.read(statement(name, types=types), **bound, **parameters)


def _without_derived(edges: list[CodeEdge]) -> list[CodeEdge]:
    """Leave out that something tests a definition where it is said how, and that a file has the name of a test."""
    others = {edge.source_id for edge in edges if edge.relation is not RelationKind.TESTS or edge.source_id < 0}
    return [edge for edge in edges if edge.relation is not RelationKind.TESTS or edge.source_id not in others]
