"""The relations of definitions: what leads to one, what it leads to, and what its name means elsewhere."""

from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter, itemgetter

from msgspec.structs import replace

from graphrag_mcp.graph.code import IndexedCode
from graphrag_mcp.graph.doubts import OF_TYPES, Doubts
from graphrag_mcp.graph.edges import IncomingRelations, OutgoingRelations
from graphrag_mcp.graph.leads import Leads
from graphrag_mcp.graph.removed import Removed
from graphrag_mcp.graph.unfitting import Misfits
from graphrag_mcp.model.facts import SymbolId, Use
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Doubt, Line, Mentioned
from graphrag_mcp.model.links import OF_SEVERAL, How, Place, place_id
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import Instance
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.resolution.references import LinkSource

_SETTLED = (How.ONE_OF, How.EITHER)


class Relations:
    """Answers from one state of the index, and remembers what it resolved.

    leads: where a program may go on from a definition, for flows. removed: where one is used that is gone. misfits:
    what does not fit one any more that was edited.
    """

    def __init__(self, store: SymbolGraph, facts: FactSource, links: LinkSource) -> None:
        self._code = IndexedCode(store, facts, links)
        self._incoming = IncomingRelations(self._code)
        self._outgoing = OutgoingRelations(self._code)
        self._doubts = Doubts(self._code)
        self.leads = Leads(self._code)
        self.removed = Removed(self._code)
        self.misfits = Misfits(self._code)
        self.is_interface = self._code.is_interface
        self.unread, self.unparsed = self._doubts.unread_by_name, self._doubts.unparsed

    def decides(self, path: str) -> bool:
        """Return whether a file has facts, so that its relations are decided."""
        return self._code.facts.has(path)

    def unresolved(self, path: str) -> bool:
        """Return whether relations of a file may be missing."""
        return self._code.references.unresolved(path)

    def incoming(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> tuple[list[CodeEdge], Doubt]:
        """Return the relations to a node, undecided ones too, and what is not known of them.

        kinds: with CONTAINS, the methods that name the type for which they are declared use it.
        """
        with self._code.searching():
            incoming = self._incoming.of(node, kinds, scope)
            doubt = self._doubts.of(node, incoming, scope)
            edges = [edge for edge in incoming.edges if doubt.is_listed or edge.certainty is not Certainty.BY_NAME]
            read = doubt.undecided.union(doubt.others, ((edge.path, edge.line) for edge in edges))
            unread = self._doubts.unread(node, scope)
            if OF_TYPES.issuperset(kinds):  # Only code extends a type.
                unread = frozenset(place for place in unread if self._is_other_code(place[0]))
            left = frozenset(place for place in unread if place not in read or not self.decides(place[0]))
            return list(dict.fromkeys(edges)), replace(doubt, unread=left)

    def _is_other_code(self, path: str) -> bool:
        """Return whether a file is code of a language whose relations are not decided."""
        return not self.decides(path) and self._code.file(path).category in (Category.IMPLEMENTATION, Category.TESTS)

    def decided(self, node: CodeNode, kinds: Collection[RelationKind], scope: Scope) -> list[CodeEdge]:
        """Return the relations to a node without guesses, unless names are all that is known in the language."""
        with self._code.searching():
            edges = self._incoming.of(node, kinds, scope, with_guesses=False).edges
            return [edge for edge in edges if not edge.is_guess or edge.is_named]

    def settled(self, edges: Sequence[CodeEdge], nodes: Collection[CodeNode]) -> list[CodeEdge]:
        """Return relations to nodes, certain where each of several that one may mean is among these."""
        unsure = [edge for edge in edges if edge.certainty is Certainty.MAY_CALL and not edge.is_guess]
        asked = {node.place for node in nodes if node.node_id in {edge.target_id for edge in unsure}}
        if len(asked) < 2:
            return list(edges)
        meant = {(link.path, link.line, link.kind) for link in self._code.references.to(asked, _SETTLED)}
        others = {
            (link.path, link.line, link.kind)
            for path in {path for path, _, _ in meant}
            for link in self._code.references.of(path)
            if link.how in OF_SEVERAL and link.target not in asked
        }
        settled = {edge for edge in unsure if (edge.path, edge.line, edge.relation) in meant - others}
        return [edge._replace(certainty=Certainty.CERTAIN) if edge in settled else edge for edge in edges]

    def undecided_in(self, path: str) -> list[tuple[str, int]]:
        """Return the names in a file of which nothing more is known, with the lines."""
        references = self._code.references
        with self._code.searching():
            undecided = (link for link in references.of(path) if link.how is How.UNDECIDED)
            named = dict.fromkeys((references.name(path, link), link.line) for link in undecided)
            return list(filter(itemgetter(0), named))

    def imported_from_outside(self, path: str) -> list[tuple[str, int]]:
        """Return the modules that a file imports which are not in the project, as they are written, with the lines."""
        links = self._code.references.of(path)
        known = {link.line for link in links if link.kind is RelationKind.IMPORTS and link.target > 0}
        said = [(row.target_module, row.line) for row in self._code.outline_of(path, RelationKind.IMPORTS)]
        imports = (mention for mention in self._code.facts_of(path).mentions if mention.use == Use.IMPORT)
        said += [((mention.receiver or mention.name).strip('"'), mention.line) for mention in imports]
        outside = (pair for pair in said if pair[0][:1] not in ("", ".", "/") and pair[1] not in known)
        return list(dict.fromkeys(outside))

    def outgoing(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations from a node, and its mentions that are not decided."""
        with self._code.searching():
            return self._outgoing.of(node, kinds)

    def naming_above(self, name: str) -> Iterator[tuple[CodeNode, Mentioned]]:
        """Yield the types above which is one of a name that is not decided, in languages without facts."""
        links = self._code.references.to((place_id(Place("", name)),), (How.UNDECIDED, How.OUTSIDE))
        links = [link for link in links if link.kind is RelationKind.INHERITS and not self.decides(link.path)]
        for link, node in self._code.with_nodes(links, attrgetter("source")):
            if node.kind is SymbolKind.TYPE:
                yield node, self._code.mentioned(link.path, link)

    def satisfying(self, interface: str, scope: Scope) -> tuple[list[int], frozenset[Line]]:
        """Return the nodes of the types that have all methods of a foreign interface, where that is enough.

        Then where those begin that have them if foreign types that they embed do.
        """
        with self._code.searching():
            kinds, unsure = self._code.outsiders.satisfying(interface)
            return [self._code.node_id(kind.path, kind) for kind in kinds], self._doubts.lines_of(unsure, scope)

    def inherited(self, child: CodeNode, name: str, scope: Scope) -> list[int]:
        """Return the nodes of a member that a type has from those above it; where types are unknown, by their names."""
        if symbols := self._code.symbols(child):
            with self._code.searching():
                return [self._code.node_id(symbol.path, symbol) for symbol in self._members(symbols, name)]
        level, seen, store = [child], {child.node_id}, self._code.store
        while level:
            edges = [edge for node in level for edge in self._code.edges_in(node, (RelationKind.INHERITS,))[0]]
            level = list(store.nodes({edge.target_id for edge in edges} - seen).values())
            seen |= {node.node_id for node in level}
            members = [other for node in level for other in store.definitions(f"{node.qualified_name}.{name}", scope)]
            if members:
                return [node.node_id for node in members]
        return []

    def assigned(self, kind: CodeNode, name: str) -> list[str]:
        """Return the places where methods of a type, or of one above it, assign an attribute."""
        with self._code.searching():
            symbols = self._members(self._code.symbols(kind), name)
            return [f"{symbol.path}:{self._code.resolver.declared(symbol).line}" for symbol in symbols]

    def _members(self, types: Sequence[SymbolId], name: str) -> list[SymbolId]:
        """Return the declarations of a member that types have, themselves or from those above them."""
        members = (self._code.resolver.members.find(Instance((symbol,)), name) for symbol in types)
        return [symbol for member in filter(None, members) for symbol in member.symbols]

    def exported(self, name: str, scope: Scope) -> list[int]:
        """Return the nodes that files export under a name."""
        paths = dict.fromkeys(path for path, _, _, text in self._code.store.texts((name,), scope) if "export" in text)
        with self._code.searching():
            exports = [(path, row) for path in paths for row in self._code.facts_of(path).exports if row.name == name]
            exported = filter(None, (self._code.resolver.modules.exported(path, row) for path, row in exports))
            return [self._code.node_id(symbol.path, symbol) for hit in exported for symbol in hit.symbols]
