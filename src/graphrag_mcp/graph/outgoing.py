"""The relations from a definition, and what it names that is not decided."""

from collections.abc import Iterator, Sequence

from graphrag_mcp.graph.code import CERTAINTY_OF, IndexedCode
from graphrag_mcp.graph.incoming import BY_SYNTAX
from graphrag_mcp.model.facts import SymbolId, Use
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Mentioned
from graphrag_mcp.model.links import How, StoredLink
from graphrag_mcp.model.values import Instance, Type
from graphrag_mcp.resolution.foreign import written_name
from graphrag_mcp.resolution.libraries import LIBRARIES


class OutgoingRelations:
    """Answers from one state of the index."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def of(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations of some kinds from a node, and its mentions that are not decided."""
        symbols = self._code.symbols(node)
        if not symbols:
            edges, unknown = self._code.edges_in(node, kinds)
            return [*edges, *(self._above_elsewhere(node) if RelationKind.INHERITS in kinds else ())], unknown
        by_syntax = [kind for kind in kinds if kind in BY_SYNTAX]
        edges, unknown = self._code.edges_in(node, by_syntax) if by_syntax else ([], [])
        all_links = (link for symbol in symbols for link in self._code.references.inside(symbol))
        inside = [link for link in all_links if link.use in (Use.CALL, Use.CREATE)]
        if RelationKind.CALLS in kinds:
            edges += self._constructors_above(node, symbols, inside)
            inside += [*self._code.hierarchy.dispatched(inside), *self._code.uses.run_through(inside)]
            inside += self._code.references.run_by(inside)
        foreign = {(link.target, link.line) for link in inside if link.how is How.FOREIGN and link.receiver > 0}
        # Of what is kept in a place and run from there, the place itself is not called.
        inside = [link for link in inside if link.how not in (How.RUNS, How.FOREIGN)]
        kind_above = RelationKind.IMPLEMENTS if node.kind is SymbolKind.TYPE else RelationKind.OVERRIDES
        above = self._places_above(node, symbols) if kind_above in kinds else {}
        targets = self._code.store.at_places({*above, *(link.target for link in inside if link.target > 0)})
        line = self._code.resolver.declared(symbols[0]).line
        nodes_above = dict.fromkeys(targets[place] for place in above if place in targets)
        edges += [CodeEdge(node.node_id, target, kind_above, node.path, line) for target in nodes_above]
        replaced = self._code.replaced(targets.keys() - above.keys())
        for link in (link for link in inside if link.kind in kinds and link.target in targets):
            is_sure = link.how is How.CERTAIN and (link.use != Use.CALL or link.target not in replaced)
            certainty = Certainty.CERTAIN if is_sure else Certainty.MAY_CALL
            edges.append(CodeEdge(node.node_id, targets[link.target], link.kind, node.path, link.line, certainty))
        if RelationKind.CALLS in kinds:
            left = [link for link in inside if link.target not in targets and (link.target, link.line) not in foreign]
            unknown += self._undecided(node, left)
        if RelationKind.INHERITS in kinds:
            unknown += [mentioned for symbol in symbols for mentioned in self._foreign_bases(symbol)]
        return edges, unknown

    def _places_above(self, node: CodeNode, symbols: Sequence[SymbolId]) -> dict[int, None]:
        """Return the places of the types above a type, or of the methods that a method overrides."""
        hierarchy = self._code.hierarchy
        find = hierarchy.parent_places if node.kind is SymbolKind.TYPE else hierarchy.above
        return dict.fromkeys(place for symbol in symbols for place in find(symbol))

    def _undecided(self, node: CodeNode, links: Sequence[StoredLink]) -> Iterator[Mentioned]:
        """Yield what links from a node name that is nothing known."""
        for link in links:
            name = self._code.references.name(node.path, link)
            is_defined = link.how is How.UNDECIDED and bool(self._code.facts.named(name))
            if name:  # A part of a type may have none, and an import may give it another name.
                yield Mentioned(RelationKind.CALLS, name, "", node.path, link.line, is_defined)

    def _constructors_above(
        self, node: CodeNode, symbols: Sequence[SymbolId], inside: Sequence[StoredLink]
    ) -> Iterator[CodeEdge]:
        """Yield the calls of constructors above that no code names."""
        hierarchy, declared = self._code.hierarchy, self._code.resolver.declared
        for inner, above in (pair for symbol in symbols for pair in hierarchy.unsaid_in(symbol)):
            yield self._code.edge_from(node, above, RelationKind.CALLS, declared(inner).line)
        created = [link for link in inside if link.kind is RelationKind.INSTANTIATES]
        types = self._code.facts.placed({link.target for link in created})
        for link in created:
            for above in hierarchy.run_by_creating(types[link.target]) if link.target in types else ():
                edge = self._code.edge_from(node, above, RelationKind.CALLS, link.line)
                yield edge._replace(certainty=CERTAINTY_OF[link.how])

    def _above_elsewhere(self, node: CodeNode) -> list[CodeEdge]:
        """Return the types above a type that other files say, where names are compared."""
        links = [link for link in self._code.references.to({node.place}, (How.ABOVE,)) if link.path != node.path]
        targets = self._code.store.at_places({link.source for link in links})
        return [
            CodeEdge(
                node.node_id, targets[link.source], link.kind, link.path, link.line, Certainty.BY_NAME, is_named=True
            )
            for link in links
            if link.source in targets
        ]

    def _foreign_bases(self, symbol: SymbolId) -> Iterator[Mentioned]:
        """Yield the types above a type, or the interfaces that it satisfies, which the project does not define."""
        resolver, declaration = self._code.resolver, self._code.resolver.declared(symbol)
        for written, base in zip(declaration.bases, resolver.lineage.bases_of(symbol), strict=True):
            symbols = base.symbols if isinstance(base, Instance | Type) else ()
            if not any(above.path not in LIBRARIES for above in symbols):
                name = resolver.foreign.name(base) or written_name(written.type)
                yield Mentioned(RelationKind.INHERITS, name, "", symbol.path, declaration.line, False)
        for name in self._code.outsiders.foreign_interfaces(symbol) if declaration.kind == SymbolKind.TYPE else ():
            yield Mentioned(RelationKind.INHERITS, name, "", symbol.path, declaration.line, False)
