"""The declarations in the facts as nodes of the code graph, and what a mention of one is."""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, lru_cache
from posixpath import dirname
from typing import TypeVar

from graphrag_mcp.model.facts import NO_FACTS, Declared, FileFacts, Mark, SymbolId
from graphrag_mcp.model.files import MACRO, Category, Relation, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Line, Mentioned
from graphrag_mcp.model.grouping import grouped, preferred
from graphrag_mcp.model.links import COMPARED, How, StoredLink, folder_place, place_id
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.resolution.hierarchy import Hierarchy
from graphrag_mcp.resolution.references import FILES_KEPT, LinkSource, References
from graphrag_mcp.resolution.uses import Outsiders, Uses

CERTAINTY_OF = {
    How.CERTAIN: Certainty.CERTAIN,
    How.OPEN: Certainty.MAY_CALL,
    How.SAID: Certainty.CERTAIN,
    How.NAMED: Certainty.BY_NAME,
    How.SHARED: Certainty.BY_NAME,
    How.ONE_OF: Certainty.MAY_CALL,
    How.EITHER: Certainty.MAY_CALL,
    How.NAMED_EITHER: Certainty.MAY_CALL,
}
# The kinds of definitions that a type may extend.
_EXTENDED = (SymbolKind.TYPE, SymbolKind.MODULE, SymbolKind.CONSTANT)
_Placed = TypeVar("_Placed", StoredLink, SymbolId)
_INTERFACE = re.compile(r"[\w@()\s]*\b(?:interface|trait|(?:def)?protocol)\b")


def edge_of(link: StoredLink, source_id: int, target_id: int) -> CodeEdge:
    """Return a link as a relation between nodes."""
    is_guess = link.how is How.SHARED
    rest = (link.kind, link.path, link.line, CERTAINTY_OF[link.how], is_guess, link.how in COMPARED)
    return CodeEdge(source_id, target_id, *rest)


class IndexedCode:
    """One state of the index: its nodes, what declares them, and what is found out about them."""

    def __init__(self, store: SymbolGraph, facts: FactSource, links: LinkSource) -> None:
        self.store, self.facts, self.links = store, facts, links
        self.references = References(facts, links)
        self.resolver = self.references.resolver
        self.hierarchy, self.uses = Hierarchy(self.references), Uses(self.references)
        self.outsiders = Outsiders(self.references, self.hierarchy, self.uses)
        self._sources: dict[tuple[str, int], int] = {}
        self._guard = threading.Lock()
        self.nodes_of = cache(store.in_file)  # The definitions of a file, in its order.
        self.file = cache(self._find_file)
        self._modules = lru_cache(FILES_KEPT)(self._find_modules)
        self._named = lru_cache(FILES_KEPT)(self._find_named)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Let one thread search at a time."""
        with self._guard:
            self.resolver.begin()
            yield

    def language(self, path: str) -> str:
        """Return the language of a file, "" for one that is not in the index."""
        file = self.facts.file(path)
        return file.language if file else ""

    def places(self, node: CodeNode) -> set[int]:
        """Return the places by which links name a node: the package's too for a file of one that is not a test."""
        facts, folder = self.facts, dirname(node.path)
        unit = facts.unit(node.path) if node.is_file and node.category is not Category.TESTS else ""
        is_of_package = unit and unit == facts.unit_of_folder(folder)
        return {node.place, place_id(folder_place(folder))} if is_of_package else {node.place}

    def symbols(self, node: CodeNode) -> list[SymbolId]:
        """Return the declarations of a node; none for a file, a key, or a language without facts."""
        if node.is_file or node.kind is SymbolKind.KEY:
            return []
        return [
            SymbolId(node.path, number)
            for number, declared in self._named(node.path).get(node.qualified_name, ())
            if declared.kind == node.kind and node.start_line <= declared.line <= node.end_line
        ]

    def is_interface(self, node: CodeNode) -> bool:
        """Return whether a definition is an interface, trait or protocol."""
        if node.kind is not SymbolKind.TYPE:
            return False
        if symbols := self.symbols(node):
            return any(Mark.INTERFACE in self.resolver.declared(symbol).marks for symbol in symbols)
        return not self.facts.has(node.path) and bool(_INTERFACE.match(node.signature))

    def _find_named(self, path: str) -> Mapping[str, Sequence[tuple[int, Declared]]]:
        """Return the declarations of a file by their qualified names, with their numbers."""
        return grouped((row.qualified, (number, row)) for number, row in enumerate(self.facts_of(path).declared))

    def node_id(self, path: str, symbol: SymbolId | None, *, is_around: bool = False) -> int:
        """Return the node of a declaration, else of its file.

        is_around: of the innermost declaration around it that has a node, before the file.
        """
        if symbol is not None:
            declared = self.resolver.declared(symbol)
            named = (node for node in self.nodes_of(path) if node.qualified_name == declared.qualified)
            if own := [node for node in named if node.start_line <= declared.line <= node.end_line]:
                return preferred(own, lambda node: node.kind == declared.kind)[0].node_id
            around = self.references.around(path, declared.start, named=True, outside=symbol)
            if around is not None and (is_around or not declared.name):
                return self.node_id(path, around, is_around=is_around)
        return self.file(path).node_id

    def source_id(self, path: str, place: int) -> int:
        """Return the node of a declaration of a file at a place, or of what is around it; of the file for 0."""
        if (path, place) not in self._sources:
            symbol, ids = self.references.symbol(path, place), self.store.at_places((place,))
            self._sources[path, place] = ids.get(place) or self.node_id(path, symbol, is_around=True)
        return self._sources[path, place]

    def nodes_at(self, places: Iterable[int]) -> Mapping[int, CodeNode]:
        """Return the nodes at places, by these."""
        by_place = self.store.at_places(set(places))
        nodes = self.store.nodes(by_place.values())
        return {place: nodes[node_id] for place, node_id in by_place.items()}

    def find_sources(self, places: Collection[tuple[str, int]]) -> None:
        """Look up the nodes of many declarations at once."""
        ids = self.store.at_places({place for path, place in places if (path, place) not in self._sources})
        self._sources |= {(path, place): ids[place] for path, place in places if place in ids}

    def with_nodes(
        self, links: Sequence[StoredLink], end: Callable[[StoredLink], int]
    ) -> list[tuple[StoredLink, CodeNode]]:
        """Return links with the nodes at one of their ends, those that have one there."""
        nodes = self.nodes_at(map(end, links))
        return [(link, nodes[end(link)]) for link in links if end(link) in nodes]

    def _find_file(self, path: str) -> CodeNode:
        """Return a file as a node; one without an id if it is not in the index."""
        return self.store.file(path) or CodeNode(0, 0, path, Category.OTHER, path, path, SymbolKind.FILE, 1, 1)

    def facts_of(self, path: str) -> FileFacts:
        """Return the facts of a file; empty ones where it has none."""
        return self.facts.facts(path) or NO_FACTS

    def outline_of(self, path: str, kind: RelationKind) -> list[Relation]:
        """Return the relations of a kind that a file without facts states."""
        return [said for said in self.facts.outline(path) if said.kind is kind]

    def in_scope(self, things: Iterable[_Placed], scope: Scope) -> list[_Placed]:
        """Return those links or declarations whose files are in a scope, in their order."""
        things = list(things)
        visible = self.store.visible({thing.path for thing in things}, scope)
        return [thing for thing in things if thing.path in visible]

    def replaced(self, places: Collection[int]) -> Set[int]:
        """Return the places of the methods that the program gives another value, which a call may run; not in tests."""
        links = self.references.to(places, (How.REPLACED,))
        return {link.target for link in links if self.file(link.path).category is not Category.TESTS}

    def calls_said(self, name: str, paths: Iterable[str]) -> Iterator[tuple[Line, Relation]]:
        """Yield the calls of a name in files without facts."""
        for path in paths:
            calls = self.outline_of(path, RelationKind.CALLS)
            yield from (((path, said.line), said) for said in calls if said.target == name)

    def made_by(self, symbol: SymbolId) -> SymbolId | None:
        """Return the type whose instances a constructor makes, None for anything else."""
        owner = self.hierarchy.owner_of(symbol)
        return owner if owner and self.resolver.symbols.is_constructor(symbol, owner) else None

    def with_made(self, symbols: Iterable[SymbolId]) -> list[SymbolId]:
        """Return declarations, and for a constructor the type: what is given that may call it."""
        return list(dict.fromkeys(each for symbol in symbols for each in (symbol, self.made_by(symbol)) if each))

    def edge_from(self, node: CodeNode, target: SymbolId, kind: RelationKind, line: int) -> CodeEdge:
        """Return a relation from a node, at a line of its file, to a declaration."""
        return CodeEdge(node.node_id, self.node_id(target.path, target), kind, node.path, line)

    def edges_in(
        self, node: CodeNode, kinds: Collection[RelationKind], *, is_direct: bool = False
    ) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations of the lines of a node, and its names that are not decided.

        is_direct: without those of the definitions inside it.
        """
        links = [
            link
            for link in self.references.of(node.path)
            if link.kind in kinds
            and (link.source == node.place or (not is_direct and node.start_line <= link.line <= node.end_line))
        ]
        if node.start_line == node.end_line and not node.is_file:
            links = self._without_neighbours(node, links)
        targets = self.store.at_places({link.target for link in links if link.how in CERTAINTY_OF})
        edges, unknown = [], []
        for link in links:
            if link.how in CERTAINTY_OF and link.target in targets:
                edges.append(edge_of(link, node.node_id, targets[link.target]))
            elif link.how in (How.UNDECIDED, How.OUTSIDE) and link.kind is not RelationKind.HANDS_ON:
                unknown.append(self.mentioned(node.path, link))
        return self._without_files(edges), unknown

    def _without_neighbours(self, node: CodeNode, links: Sequence[StoredLink]) -> list[StoredLink]:
        """Leave out the relations of other definitions of a node's line."""
        inside = f"{node.qualified_name}."
        sources = self.nodes_at({link.source for link in links} - {node.place})
        others = {place for place, other in sources.items() if not f"{other.qualified_name}.".startswith(inside)}
        return [link for link in links if link.source not in others]

    def _without_files(self, edges: Sequence[CodeEdge]) -> list[CodeEdge]:
        """Leave out imports of files of which something that they define is imported."""
        imported = {edge.target_id for edge in edges if edge.relation is RelationKind.IMPORTS}
        named = {-node.file_id for node in self.store.nodes(imported).values() if not node.is_file}
        return [edge for edge in edges if edge.relation is not RelationKind.IMPORTS or edge.target_id not in named]

    def _find_modules(self, path: str, kind: RelationKind) -> Mapping[tuple[int, str], str]:
        """Return the modules from which a file without facts has names, by the line and the name."""
        return {(row.line, row.target): row.target_module for row in reversed(self.outline_of(path, kind))}

    def mentioned(self, path: str, link: StoredLink) -> Mentioned:
        """Return what a file without facts names and the project does not define, or may not mean."""
        name = self.references.name(path, link)
        plain = name.removesuffix(MACRO).strip('"')
        module = self._modules(path, link.kind).get((link.line, plain), "")
        named = self.facts.called(plain) if link.how is How.UNDECIDED else ()
        is_defined = any(link.kind is not RelationKind.INHERITS or each.kind in _EXTENDED for each in named)
        return Mentioned(link.kind, plain, "" if module == MACRO else module, path, link.line, is_defined)
