"""The relations of one definition: decided from facts where the language has them, else by name."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain

from graphrag_mcp.graph.code import CERTAINTY_OF, IndexedCode, edge_of
from graphrag_mcp.graph.doubts import BY_SYNTAX, OF_TYPES, Doubts, Incoming
from graphrag_mcp.graph.leads import Leads
from graphrag_mcp.graph.removed import Removed
from graphrag_mcp.graph.sites import SiteFinder
from graphrag_mcp.graph.unfitting import Edit
from graphrag_mcp.languages.registry import describe
from graphrag_mcp.model.facts import Mark, SymbolId, Use
from graphrag_mcp.model.files import ANY_COUNT, Category, Count, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Doubt, Line, Mentioned
from graphrag_mcp.model.links import COMPARED, How, Place, StoredLink, place_id
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import Instance, Type
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.resolution.foreign import written_name
from graphrag_mcp.resolution.kinds import relation_kind
from graphrag_mcp.resolution.libraries import LIBRARIES
from graphrag_mcp.resolution.references import LinkSource, Site

_OF_TYPES = {RelationKind.USES, RelationKind.INSTANTIATES}
_SAYING_NOTHING = (RelationKind.TESTS, RelationKind.IMPORTS)  # Of how a file of tests uses something.
_INTERFACE = re.compile(r"[\w@()\s]*\b(?:interface|trait|(?:def)?protocol)\b")
_IS_NOT_FOLLOWED = (True, True)  # is_guess, is_named


class Relations:
    """Answers from one state of the index, and remembers what it resolved.

    leads: where a program may go on from a definition, for flows. removed: where one is used that is gone.
    """

    def __init__(self, store: SymbolGraph, facts: FactSource, links: LinkSource) -> None:
        self._code = IndexedCode(store, facts, links)
        self._sites = SiteFinder(self._code)
        self.leads = Leads(self._code)
        self.removed = Removed(self._code)
        self._doubts = Doubts(self._code)
        self.unread, self.unparsed = self._doubts.unread_by_name, self._doubts.unparsed

    # ------------------------------------------------------------ to a definition

    def decides(self, path: str) -> bool:
        """Return whether a file has facts, so that its relations are decided."""
        return self._code.facts.has(path)

    def incoming(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> tuple[list[CodeEdge], Doubt]:
        """Return the relations to a node, undecided ones too, and what is not known of them.

        kinds: with CONTAINS, the methods that name the type for which they are declared use it.
        """
        with self._code.searching():
            incoming = self._incoming(node, kinds, scope)
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
        file = None if self.decides(path) else self._code.store.file(path)
        return file is not None and file.category in (Category.IMPLEMENTATION, Category.TESTS)

    def decided(self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope) -> list[CodeEdge]:
        """Return the relations to a node without guesses, unless names are all that is known in the language."""
        with self._code.searching():
            edges = self._incoming(node, kinds, scope, with_guesses=False).edges
            return [edge for edge in edges if not edge.is_guess or edge.is_named]

    def unfitting(self, edits: Sequence[Edit], read: Callable[[str], str | None]) -> set[Line]:
        """Return the calls that certainly do not fit since edits. read: see `Edit.unfitting`."""
        parts = (self._code.facts, self._code.links, read)
        functions = chain.from_iterable(edit.unfitting(*parts, edits) for edit in edits)
        return {(path, line) for function in functions for path, line, _ in function.calls}

    def miscounted(self, name: str, places: Set[Line], took: Count, takes: Count) -> set[Line]:
        """Return those of some places whose calls of a name gave a right number of arguments, and do not any more.

        In languages without facts; none in others. took, takes: the right numbers before and now.
        """
        given: dict[Line, list[Count]] = {}
        for path in {path for path, _ in places}:
            for said in self._code.facts.outline(path):
                if said.kind is RelationKind.CALLS and said.target == name:
                    given.setdefault((path, said.line), []).append(said.given)
        return {
            place
            for place in places & given.keys()
            if all(count.meets(took) and not count.meets(takes) for count in given[place])
        }

    def misfits(self, node: CodeNode, took: Count, takes: Count, *, is_demanded: bool) -> set[int]:
        """Return the places of methods that take what one above them took, and so do not override it any more.

        Of those that must; none where another one may be overridden instead. is_demanded: whether the one above is a
        member of an interface, without a body. took, takes: as in `miscounted`.
        """
        language = describe(self._code.language(node.path))
        if not language.overrides_exactly or took.most == takes.most or ANY_COUNT in (took, takes):
            return set()
        named = [each for each in self._code.facts.called(node.name) if each.place != node.place]
        if not language.blocks_implement:
            owner = node.qualified_name.rpartition(".")[0]
            if any(each.most == takes.most or each.qualified_name == f"{owner}.{node.name}" for each in named):
                return set()
            named = [each for each in named if is_demanded or "override" in each.signature.split("(")[0].split()]
        return {each.place for each in named if each.most == took.most}

    def undecided_in(self, path: str) -> list[tuple[str, int]]:
        """Return the names in a file of which nothing more is known, with the lines."""
        references = self._code.references
        with self._code.searching():
            links = [link for link in references.of(path) if link.how is How.UNDECIDED]
            named = ((references.name(path, link), link.line) for link in links)
            return list(dict.fromkeys((name, line) for name, line in named if name))

    def imported_from_outside(self, path: str) -> list[tuple[str, int]]:
        """Return the modules that a file imports which are not in the project, as they are written, with the lines."""
        links = [link for link in self._code.references.of(path) if link.kind is RelationKind.IMPORTS]
        known, facts = {link.line for link in links if link.target > 0}, self._code.facts.facts(path)
        if facts is None:
            relations = [said for said in self._code.facts.outline(path) if said.kind is RelationKind.IMPORTS]
            said = [(relation.target_module, relation.line) for relation in relations]
        else:
            imports = (mention for mention in facts.mentions if mention.use == Use.IMPORT)
            said = [((mention.receiver or mention.name).strip('"'), mention.line) for mention in imports]
        outside = (pair for pair in said if pair[0][:1] not in ("", ".", "/") and pair[1] not in known)
        return list(dict.fromkeys(outside))

    def is_interface(self, node: CodeNode) -> bool:
        """Return whether a definition is an interface, trait or protocol."""
        if node.kind is not SymbolKind.TYPE:
            return False
        if symbols := self._code.symbols(node):
            return any(Mark.INTERFACE in self._code.resolver.declared(symbol).marks for symbol in symbols)
        return not self.decides(node.path) and bool(_INTERFACE.match(node.signature))

    def _incoming(
        self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope, *, with_guesses: bool = True
    ) -> Incoming:
        symbols = self._code.symbols(node)
        with_methods = RelationKind.CONTAINS in kinds  # Their users are those of the type, too.
        kinds = [kind for kind in kinds if kind is not RelationKind.CONTAINS]
        by_name = self._by_name(node, kinds, scope)
        if not symbols:
            by_name += self._dispatched_by_name(node, scope) if RelationKind.CALLS in kinds else []
            return Incoming(by_name, kinds, by_name)
        parts = [self._code.resolver.modules.merged(symbol) for symbol in symbols]
        symbols = list(dict.fromkeys((*symbols, *(symbol for to_node, _ in parts for symbol in to_node))))
        hierarchical = self._hierarchical(node, symbols, kinds, with_guesses=with_guesses)
        below = [edge for edge in hierarchical if edge.relation in kinds]
        sites, elsewhere, pending = self._sites.of(symbols, with_guesses=with_guesses)
        visible = self._code.store.visible({site.path for site, _ in sites}, scope)
        self._code.find_sources([(site.path, site.source) for site, _ in sites if site.path in visible])
        to_node = [self._edge_to(node, symbols, site, certainty) for site, certainty in sites if site.path in visible]
        kinds = [*kinds, RelationKind.CALLS] if RelationKind.READS in kinds else kinds  # A call of it reads it first.
        to_node += self._from_slots(node, symbols, scope) if RelationKind.CALLS in kinds else []
        wanted = set(kinds) - (
            {RelationKind.INHERITS} if RelationKind.IMPLEMENTS in kinds else set()
        )  # The same twice.
        inside = [edge for edge in to_node if edge.relation is RelationKind.CONTAINS]
        methods = [edge._replace(relation=RelationKind.USES) for edge in inside]
        edges = [*below, *(edge for edge in to_node if edge.relation in wanted), *(methods if with_methods else ())]
        return Incoming(
            [*by_name, *edges],
            kinds,
            by_name,
            symbols,
            [site for site, _ in sites],
            [] if with_methods or not wanted & _OF_TYPES else methods,
            [module for _, modules in parts for module in modules],
            elsewhere,
            pending,
            {site.path for site, _ in sites} - visible,
        )

    def _by_name(
        self, node: CodeNode, kinds: Sequence[RelationKind], scope: Scope, *, with_base: bool = True
    ) -> list[CodeEdge]:
        """Return the relations to a node that are compared by names, or lead to a whole file.

        with_base: also `super.name()`, which calls nothing that overrides the method.
        """
        places = (
            self._code.places(node) if set(kinds) <= set(BY_SYNTAX) else {node.place}
        )  # All import a package of Go.
        links = [link for link in self._code.references.to(places, (How.CERTAIN, *COMPARED)) if link.kind in kinds]
        links = [link for link in links if node.is_file or link.how in COMPARED]
        links = [link for link in links if with_base or link.use != Use.BASE]
        visible = self._code.store.visible({link.path for link in links}, scope)
        shown = [link for link in links if link.path in visible]
        self._code.find_sources([(link.path, link.source) for link in shown])
        edges = [edge_of(link, self._code.source_id(link.path, link.source), node.node_id) for link in shown]
        using = {edge.source_id for edge in edges if edge.relation not in _SAYING_NOTHING}
        return [edge for edge in edges if edge.source_id in using or not _is_only_called_so(edge, node)]

    def _dispatched_by_name(self, node: CodeNode, scope: Scope) -> list[CodeEdge]:
        """Return the calls of the methods that a method overrides: they may run it."""
        edges: list[CodeEdge] = []
        pending, seen = [node] if node.kind is SymbolKind.METHOD else [], {node.node_id}
        for below in pending:
            overrides, _ = self._code.edges_in(below, (RelationKind.OVERRIDES,))
            bases = self._code.store.nodes(edge.target_id for edge in overrides if edge.target_id not in seen)
            seen.update(bases)
            pending += bases.values()
            for base in bases.values():
                calls = self._by_name(base, (RelationKind.CALLS,), scope, with_base=False)
                edges += [
                    edge._replace(target_id=node.node_id, certainty=Certainty.MAY_CALL)
                    for edge in calls
                    if edge.certainty is Certainty.CERTAIN  # None of a known instance.
                ]
        left_out = self._not_running(node, {edge.path for edge in edges}) if edges else ()
        return [edge for edge in edges if (edge.path, edge.line) not in left_out]

    def _not_running(self, node: CodeNode, paths: Iterable[str]) -> set[Line]:
        """Return where files call a method above one and cannot run it: by the arguments, or as that of a type."""
        facts, calls = self._code.facts, dict[Line, list[bool]]()
        takes = [Count(own.least, own.most) for own in facts.called(node.name) if own.place == node.place]
        # In such languages `Type::name(value)` runs what the value has.
        of_types = not describe(self._code.language(node.path)).blocks_implement
        for path in paths:
            for said in facts.outline(path):
                if said.kind is RelationKind.CALLS and said.target == node.name:
                    is_other = (of_types and said.owner.endswith("::")) or not all(map(said.given.meets, takes))
                    calls.setdefault((path, said.line), []).append(is_other)
        return {place for place, others in calls.items() if all(others)}

    def _from_slots(self, node: CodeNode, symbols: Sequence[SymbolId], scope: Scope) -> list[CodeEdge]:
        """Return the calls of what parameters, fields and collections hold in which functions are kept.

        They are not followed: the callers of that function do not depend on what it was given.
        """
        references = self._code.references
        slots = references.slots_of({references.place(symbol) for symbol in symbols})
        links = references.to(slots, (How.RUNS, How.CERTAIN, How.OPEN)) if slots else []
        links = [link for link in links if link.use == Use.CALL and link.source]
        visible = self._code.store.visible({link.path for link in links}, scope)
        self._code.find_sources([(link.path, link.source) for link in links if link.path in visible])
        return [
            CodeEdge(
                source, node.node_id, RelationKind.CALLS, link.path, link.line, Certainty.MAY_CALL, *_IS_NOT_FOLLOWED
            )
            for link in links
            if link.path in visible
            for source in [self._code.source_id(link.path, link.source)]
        ]

    def _edge_to(self, node: CodeNode, symbols: Sequence[SymbolId], site: Site, certainty: Certainty) -> CodeEdge:
        source_id = self._code.source_id(site.path, site.source)
        is_own = any(site.target == self._code.references.place(symbol) for symbol in symbols)
        kind = (
            site.kind if is_own and site.kind else relation_kind(self._code.resolver.symbols, symbols[0], site.mention)
        )
        is_guess = certainty is Certainty.BY_NAME
        return CodeEdge(source_id, node.node_id, kind, site.path, site.mention.line, certainty, is_guess=is_guess)

    def _hierarchical(
        self, node: CodeNode, symbols: Sequence[SymbolId], kinds: Sequence[RelationKind], *, with_guesses: bool
    ) -> Iterator[CodeEdge]:
        hierarchy, guessed = self._code.hierarchy, symbols if with_guesses else ()
        if RelationKind.IMPLEMENTS in kinds and node.kind is SymbolKind.TYPE:
            below = (other for symbol in symbols for other in hierarchy.children(symbol))
            yield from self._below(node, below, RelationKind.IMPLEMENTS)
            objects = (other for symbol in symbols for other in hierarchy.objects(symbol))
            yield from self._below(node, objects, RelationKind.IMPLEMENTS)
            yield from self._handed(node, symbols, RelationKind.IMPLEMENTS)
            alike = (other for symbol in guessed for other in hierarchy.alike(symbol))
            yield from self._below(node, alike, RelationKind.IMPLEMENTS, Certainty.BY_NAME)
        if RelationKind.CALLS in kinds:
            unsaid = (other for symbol in symbols for other in hierarchy.constructors_below(symbol))
            yield from self._below(node, unsaid, RelationKind.CALLS)
        if RelationKind.OVERRIDES in kinds:
            methods = list(filter(self._code.resolver.symbols.is_replaceable, symbols))
            below = (other for symbol in methods for other in hierarchy.overriding(symbol))
            yield from self._below(node, below, RelationKind.OVERRIDES)
            yield from self._handed(node, methods, RelationKind.OVERRIDES)
            alike = (other for symbol in guessed for other in hierarchy.alike_methods(symbol))
            yield from self._below(node, alike, RelationKind.OVERRIDES, Certainty.BY_NAME)

    def _handed(self, node: CodeNode, symbols: Sequence[SymbolId], kind: RelationKind) -> Iterator[CodeEdge]:
        """Yield the functions that are handed over as an interface; of libraries where they are."""
        links = dict.fromkeys(link for symbol in symbols for link in self._code.hierarchy.handed(symbol))
        placed = self._code.facts.placed({link.receiver for link in links} - {0})
        functions: list[SymbolId] = []
        for link in links:
            function = placed.get(link.receiver) or self._code.references.symbol(link.path, link.receiver)
            if function is None:
                source_id = self._code.source_id(link.path, link.source)
                yield CodeEdge(source_id, node.node_id, kind, link.path, link.line)
            else:
                functions.append(function)
        yield from self._below(node, functions, kind)

    def _below(
        self, node: CodeNode, symbols: Iterable[SymbolId], kind: RelationKind, certainty: Certainty = Certainty.CERTAIN
    ) -> Iterator[CodeEdge]:
        is_guess = certainty is Certainty.BY_NAME
        for symbol in dict.fromkeys(symbols):
            source_id, line = self._code.node_id(symbol.path, symbol), self._code.resolver.declared(symbol).line
            yield CodeEdge(source_id, node.node_id, kind, symbol.path, line, certainty, is_guess=is_guess)

    # ------------------------------------------------------------ from a definition

    def outgoing(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations from a node, and its mentions that are not decided."""
        with self._code.searching():
            return self._outgoing(node, kinds)

    def _outgoing(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        symbols = self._code.symbols(node)
        if not symbols:
            edges, unknown = self._code.edges_in(node, kinds)
            return [*edges, *(self._above(node) if RelationKind.INHERITS in kinds else ())], unknown
        by_syntax = [kind for kind in kinds if kind in BY_SYNTAX]
        edges, unknown = self._code.edges_in(node, by_syntax) if by_syntax else ([], [])
        resolver, references = self._code.resolver, self._code.references
        kind = RelationKind.IMPLEMENTS if node.kind is SymbolKind.TYPE else RelationKind.OVERRIDES
        hierarchy = self._code.hierarchy
        of = hierarchy.parent_places if node.kind is SymbolKind.TYPE else hierarchy.above
        above = dict.fromkeys(place for symbol in symbols for place in of(symbol)) if kind in kinds else {}
        inside = [
            link for symbol in symbols for link in references.inside(symbol) if link.use in (Use.CALL, Use.CREATE)
        ]
        if RelationKind.CALLS in kinds:
            edges += self._unsaid(node, symbols, inside)
            inside += [*hierarchy.dispatched(inside), *self._code.uses.run_through(inside)]
            inside += references.run_by(inside)
        foreign = {(link.target, link.line) for link in inside if link.how is How.FOREIGN and link.receiver > 0}
        left_out = (How.RUNS, How.FOREIGN)  # Of the first it is what is kept there that is called.
        inside = [link for link in inside if link.how not in left_out]
        places = {*above, *(link.target for link in inside if link.target > 0)}
        targets = self._code.store.at_places(places)
        replaced = self._code.replaced(targets.keys() - above.keys())
        line = resolver.declared(symbols[0]).line
        above_nodes = dict.fromkeys(targets[place] for place in above if place in targets)
        edges += [CodeEdge(node.node_id, target, kind, node.path, line) for target in above_nodes]
        for link in inside:
            if link.target in targets:
                if link.kind in kinds:
                    is_sure = link.how is How.CERTAIN and (link.use != Use.CALL or link.target not in replaced)
                    certainty = Certainty.CERTAIN if is_sure else Certainty.MAY_CALL
                    edge = CodeEdge(node.node_id, targets[link.target], link.kind, node.path, link.line, certainty)
                    edges.append(edge)
            elif RelationKind.CALLS in kinds and (link.target, link.line) not in foreign:
                # A part of a type may have no name.
                name = references.name(node.path, link)
                is_defined = link.how is How.UNDECIDED and bool(self._code.facts.named(name))
                if name:  # Without a name, an import calls it otherwise.
                    unknown.append(Mentioned(RelationKind.CALLS, name, "", node.path, link.line, is_defined))
        if RelationKind.INHERITS in kinds:
            unknown += [mentioned for symbol in symbols for mentioned in self._foreign_bases(symbol)]
        return edges, unknown

    def _unsaid(self, node: CodeNode, symbols: Sequence[SymbolId], inside: Sequence[StoredLink]) -> Iterator[CodeEdge]:
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

    def _above(self, node: CodeNode) -> list[CodeEdge]:
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

    def naming_above(self, name: str) -> Iterator[tuple[CodeNode, Mentioned]]:
        """Yield the types above which is one of a name that is not decided, in languages without facts."""
        links = self._code.references.to((place_id(Place("", name)),), (How.UNDECIDED, How.OUTSIDE))
        links = [link for link in links if link.kind is RelationKind.INHERITS and not self.decides(link.path)]
        by_place = self._code.store.at_places({link.source for link in links})
        nodes = self._code.store.nodes(by_place.values())
        for link in links:
            node = nodes.get(by_place.get(link.source, 0))
            if node is not None and node.kind is SymbolKind.TYPE:
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
                declared = [self._code.resolver.members.find(Instance((symbol,)), name) for symbol in symbols]
                inherited = [symbol for member in declared for symbol in (member.symbols if member else ())]
                return [self._code.node_id(symbol.path, symbol) for symbol in inherited]
        level, seen, store = [child], {child.node_id}, self._code.store
        while level:
            edges = [edge for node in level for edge in self._code.edges_in(node, (RelationKind.INHERITS,))[0]]
            above = store.nodes(edge.target_id for edge in edges)
            level = [node for node in above.values() if node.node_id not in seen]
            seen |= {node.node_id for node in level}
            members = [other for node in level for other in store.definitions(f"{node.qualified_name}.{name}", scope)]
            if members:
                return [node.node_id for node in members]
        return []

    def assigned(self, kind: CodeNode, name: str) -> list[str]:
        """Return the places where methods of a type, or of one above it, assign an attribute."""
        with self._code.searching():
            members = [
                self._code.resolver.members.find(Instance((symbol,)), name) for symbol in self._code.symbols(kind)
            ]
            symbols = [symbol for member in members if member for symbol in member.symbols]
            return [f"{symbol.path}:{self._code.resolver.declared(symbol).line}" for symbol in symbols]

    def exported(self, name: str, scope: Scope) -> list[int]:
        """Return the nodes that files export under a name."""
        paths = dict.fromkeys(path for path, _, _, text in self._code.store.texts((name,), scope) if "export" in text)
        with self._code.searching():
            named = ((path, self._code.facts.facts(path)) for path in paths)
            exports = [
                (path, export) for path, facts in named if facts for export in facts.exports if export.name == name
            ]
            exported = [self._code.resolver.modules.exported(path, export) for path, export in exports]
            return [self._code.node_id(symbol.path, symbol) for hit in exported if hit for symbol in hit.symbols]


def _is_only_called_so(edge: CodeEdge, node: CodeNode) -> bool:
    """Return whether a file has the name of a test of something, or is where that is defined: neither tests it."""
    return edge.relation is RelationKind.TESTS and (edge.source_id < 0 or edge.path == node.path)
