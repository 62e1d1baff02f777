"""The code graph on a server, for exact questions without a local index: definitions and their relations."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Dependency, Doubt, Line, Mentioned
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.ports import ScopePaths
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
from graphrag_mcp.stores.replica import SHARED, Path, file_key, read
from graphrag_mcp.stores.sqlite.symbols import is_called
from graphrag_mcp.text.secrets import mask_secrets

MOST_NAMES = 50_000  # Names that are compared with one that nothing has.
Lines = Callable[[Collection[str]], Mapping[Line, str]]  # Returns the lines of files.


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


_Row = TypeVar("_Row", bound=Struct)


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

    def _rows(self, kind: type[_Row], name: str, scope: Scope | None = None, **parameters: Any) -> list[_Row]:
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
