"""The relations to and from a definition, from facts or by name, and the places that mean it."""

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.graph.code import CERTAINTY_OF, IndexedCode, edge_of
from graphrag_mcp.languages.registry import describe
from graphrag_mcp.model.facts import Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, VARIABLE, Count, RelationKind, SymbolKind
from graphrag_mcp.model.graph import UNKNOWN_MODULE, Certainty, CodeEdge, CodeNode, Line, Mentioned
from graphrag_mcp.model.grouping import grouped, of_each
from graphrag_mcp.model.links import COMPARED, MEANT, How, Place, StoredLink, place_id
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.values import Instance, Type
from graphrag_mcp.resolution.foreign import written_name
from graphrag_mcp.resolution.references import Site
from graphrag_mcp.resolution.state import of_project
from graphrag_mcp.resolution.symbols import relation_kind

BY_SYNTAX = {RelationKind.IMPORTS, RelationKind.LINKS_TO, RelationKind.SUPERSEDES}
_OF_TYPES = {RelationKind.USES, RelationKind.INSTANTIATES}
_WITHOUT_USE = (RelationKind.TESTS, RelationKind.IMPORTS)  # Neither says that a file of tests uses what it names.


class SiteFinder:
    """Finds the places that mean definitions, in stored links."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def of(
        self, symbols: Sequence[SymbolId], *, with_guesses: bool
    ) -> tuple[Sequence[tuple[Site, Certainty]], Set[Line], Sequence[str]]:
        """Return the places that mean or may mean the symbols, those that mean others, and what is not resolved.

        with_guesses: also places that have their name and may mean anything; without them, nothing else is said.
        """
        references = self._code.references
        methods = filter(self._code.resolver.symbols.is_replaceable, symbols)
        above = set(of_each(self._code.hierarchy.above, methods))
        handed = {link.source for link in references.linked(symbols, (How.HANDED_AS,))}
        wanted = frozenset(self._with_constructed(symbols))
        own, created = set(map(references.place, symbols)), set(map(references.place, wanted))
        with_certainty: list[tuple[Site, Certainty]] = []
        sites, elsewhere, pending = self._code.uses.of(wanted, (above | handed) - created, with_guesses=with_guesses)
        for site in sites:
            if site.target in created:
                # For a constructor only the places that create its type count.
                if site.mention.use in (Use.CALL, Use.CREATE) or site.target in own:
                    with_certainty.append((site, Certainty.CERTAIN if site.is_certain else Certainty.MAY_CALL))
            elif site.target:
                is_handed = site.mention.use == Use.CALL and site.target in handed
                if is_handed or any(self._code.hierarchy.may_reach(site, symbol) for symbol in symbols):
                    with_certainty.append((site, Certainty.MAY_CALL))
            elif any(self._code.uses.can_mean(site, symbol) for symbol in symbols):
                with_certainty.append((site, Certainty.BY_NAME))
        for find in (self._by_text, self._by_key, self._by_field) if with_guesses else ():
            with_certainty += [(site, Certainty.BY_NAME) for site in of_each(find, symbols)]
        if self._code.replaced(own):  # A call may run the other value that the method is given.
            with_certainty = [
                (site, Certainty.MAY_CALL if how is Certainty.CERTAIN and site.mention.use == Use.CALL else how)
                for site, how in with_certainty
            ]
        return with_certainty, elsewhere, pending

    def _by_text(self, constant: SymbolId) -> Iterator[Site]:
        """Yield where an enumeration is handed over, or asked for a constant by its name: that may be any of them."""
        owner, resolver = self._code.hierarchy.owner_of(constant), self._code.resolver
        is_field = resolver.declared(constant).kind in VARIABLE
        if owner is None or not is_field or not resolver.members.is_enumeration(Type((owner,))):
            return
        for link in self._code.references.linked((owner,), (How.ANY,)):
            mention = Mention(-1, link.line, resolver.declared(constant).name, Use.VALUE)
            yield Site(link.path, mention, source=link.source)

    def _by_field(self, symbol: SymbolId) -> Iterator[Site]:
        """Yield the calls of fields that hold a function or class, on values of unknown types."""
        references, resolver = self._code.references, self._code.resolver
        symbol = self._code.made_by(symbol) or symbol
        if not resolver.state.policy(symbol).names.rebinds or resolver.declared(symbol).kind not in (
            *CALLABLE,
            SymbolKind.TYPE,
        ):
            return
        links = references.linked((symbol,), MEANT)
        lines = {(link.path, link.line) for link in links if link.use == Use.VALUE}
        fields = {row.name for path, line in lines for row in self._code.facts_of(path).declared
                  if row.kind == SymbolKind.FIELD and row.line == line}  # fmt: skip
        for name in fields - {resolver.declared(symbol).name}:
            for link in references.to((place_id(Place("", name)),), (How.UNDECIDED,)):
                if link.use == Use.CALL and link.receiver:
                    mention = Mention(-1, link.line, name, link.use, UNKNOWN_MODULE, link.arity)
                    yield Site(link.path, mention, source=link.source)

    def _by_key(self, member: SymbolId) -> Iterator[Site]:
        """Yield where a member of its type is used whose name is computed."""
        references, owner = self._code.references, self._code.hierarchy.owner_of(member)
        symbols, policy = self._code.resolver.symbols, self._code.resolver.state.policy(member)
        is_run = symbols.is_method(member) and not symbols.is_property(member)  # A pattern runs no such.
        if (
            owner is None
            or (is_run and policy.names.rebinds)
            or self._code.resolver.members.is_enumeration(Type((owner,)))
        ):
            return
        for link in references.to({references.place(owner), *references.above(owner)}, (How.ANY,)):
            mention = Mention(-1, link.line, self._code.resolver.declared(member).name, link.use)
            yield Site(link.path, mention, source=link.source)

    def _with_constructed(self, symbols: Sequence[SymbolId]) -> Iterator[SymbolId]:
        """Yield the symbols, and for a constructor its type, and those that inherit it: creating one calls it."""
        for symbol in symbols:
            yield symbol
            if owner := self._code.made_by(symbol):
                yield from self._code.hierarchy.inheriting(symbol)
                # With overloads a creation already means the constructor that it calls.
                if not self._code.resolver.symbols.has_overloads(symbol):
                    yield owner


class Incoming(NamedTuple):
    """The relations to a node, and what says what is not known of them.

    by_name: those that are compared by names, or lead to a whole file. symbols: its declarations; none where there are
    no facts. methods: what is not listed of a type. outside: the modules that share the declarations. pending: the
    files with the name that are not resolved. hidden: files with relations that the scope leaves out.
    """

    edges: Sequence[CodeEdge]
    kinds: Set[RelationKind]
    by_name: Sequence[CodeEdge]
    symbols: Sequence[SymbolId] = ()
    sites: Sequence[Site] = ()
    methods: Sequence[CodeEdge] = ()
    outside: Sequence[str] = ()
    elsewhere: Set[Line] = frozenset()
    pending: Sequence[str] = ()
    hidden: Set[str] = frozenset()


class IncomingRelations:
    """The relations to definitions, in one state of the index."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code
        self._sites = SiteFinder(code)

    def of(
        self, node: CodeNode, asked: Collection[RelationKind], scope: Scope, *, with_guesses: bool = True
    ) -> Incoming:
        """Return the relations of some kinds to a node.

        asked: the kinds; with CONTAINS, the methods that name the type for which they are declared use it.
        with_guesses: also what may mean anything of its name.
        """
        with_methods = RelationKind.CONTAINS in asked
        kinds = set(asked) - {RelationKind.CONTAINS}
        by_name = self._by_name(node, kinds, scope)
        declared = self._code.symbols(node)
        if not declared:
            by_name += self._dispatched_by_name(node, scope) if RelationKind.CALLS in kinds else []
            return Incoming(by_name, kinds, by_name)
        merged, modules = zip(*map(self._code.resolver.modules.merged, declared), strict=True)
        symbols = list(dict.fromkeys(chain(declared, *merged)))
        below = self._hierarchical(node, symbols, kinds, with_guesses=with_guesses)
        sites, elsewhere, pending = self._sites.of(symbols, with_guesses=with_guesses)
        paths = {site.path for site, _ in sites}
        visible = self._code.store.visible(paths, scope)
        to_node = self._edges_to(node, symbols, [pair for pair in sites if pair[0].path in visible])
        if RelationKind.READS in kinds:  # What is called is read first.
            kinds = kinds | {RelationKind.CALLS}
        to_node += self._from_slots(node, symbols, scope) if RelationKind.CALLS in kinds else []
        # What inherits a type is below it already, if implementations are asked for.
        wanted = kinds - {RelationKind.INHERITS} if RelationKind.IMPLEMENTS in kinds else kinds
        declaring = (edge for edge in to_node if edge.relation is RelationKind.CONTAINS)
        methods = [edge._replace(relation=RelationKind.USES) for edge in declaring]
        edges = [*below, *(edge for edge in to_node if edge.relation in wanted), *(methods if with_methods else ())]
        return Incoming(
            [*by_name, *edges],
            kinds,
            by_name,
            symbols,
            [site for site, _ in sites],
            [] if with_methods or not wanted & _OF_TYPES else methods,
            [*chain(*modules)],
            elsewhere,
            pending,
            paths - visible,
        )

    # ------------------------------------------------------------ by name

    def _by_name(
        self, node: CodeNode, kinds: Set[RelationKind], scope: Scope, *, with_base: bool = True
    ) -> list[CodeEdge]:
        """Return the relations to a node that are compared by names, or lead to a whole file.

        with_base: also `super.name()`, which calls nothing that overrides the method.
        """
        # In Go an import of the package imports each of its files.
        places = self._code.places(node) if kinds <= BY_SYNTAX else {node.place}
        hows = (How.CERTAIN, *COMPARED) if node.is_file else COMPARED
        links = [
            link
            for link in self._code.references.to(places, hows)
            if link.kind in kinds and (with_base or link.use != Use.BASE)
        ]
        shown = self._shown(links, scope)
        edges = [edge_of(link, self._code.source_id(link.path, link.source), node.node_id) for link in shown]
        using = {edge.source_id for edge in edges if edge.relation not in _WITHOUT_USE}
        return [edge for edge in edges if edge.source_id in using or not _is_called_like(edge, node)]

    def _shown(self, links: Sequence[StoredLink], scope: Scope) -> list[StoredLink]:
        """Return the links of files in a scope, whose sources are looked up all at once."""
        shown = self._code.in_scope(links, scope)
        self._code.find_sources([(link.path, link.source) for link in shown])
        return shown

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
                calls = self._by_name(base, {RelationKind.CALLS}, scope, with_base=False)
                sure = (edge for edge in calls if edge.certainty is Certainty.CERTAIN)  # None of a known instance.
                edges += [edge._replace(target_id=node.node_id, certainty=Certainty.MAY_CALL) for edge in sure]
        left_out = self._not_running(node, {edge.path for edge in edges})
        return [edge for edge in edges if (edge.path, edge.line) not in left_out]

    def _not_running(self, node: CodeNode, paths: Iterable[str]) -> set[Line]:
        """Return where files call a method above one and cannot run it: by the arguments, or as that of a type."""
        called = self._code.facts.called(node.name)
        takes = [Count(own.least, own.most) for own in called if own.place == node.place]
        # Where the block of a method names what it implements, `Type::name(value)` runs the method of the value.
        of_types = not describe(self._code.language(node.path)).blocks_implement
        calls = grouped(
            (line, (of_types and said.owner.endswith("::")) or not all(map(said.given.meets, takes)))
            for line, said in self._code.calls_said(node.name, paths)
        )
        return {line for line, others in calls.items() if all(others)}

    # ------------------------------------------------------------ from facts

    def _from_slots(self, node: CodeNode, symbols: Sequence[SymbolId], scope: Scope) -> list[CodeEdge]:
        """Return the calls of what parameters, fields and collections hold in which functions are kept.

        They are not followed: the callers of that function do not depend on what it was given.
        """
        references = self._code.references
        slots = references.slots_of({references.place(symbol) for symbol in self._code.with_made(symbols)})
        links = references.to(slots, (How.RUNS, *MEANT))
        shown = self._shown([link for link in links if link.use == Use.CALL and link.source], scope)
        call = CodeEdge(0, node.node_id, RelationKind.CALLS, "", 0, Certainty.MAY_CALL, is_guess=True, is_named=True)
        return [
            call._replace(source_id=self._code.source_id(link.path, link.source), path=link.path, line=link.line)
            for link in shown
        ]

    def _edges_to(
        self, node: CodeNode, symbols: Sequence[SymbolId], sites: Sequence[tuple[Site, Certainty]]
    ) -> list[CodeEdge]:
        """Return the places that mean the declarations of a node as relations to it."""
        self._code.find_sources([(site.path, site.source) for site, _ in sites])
        own, edges = {self._code.references.place(symbol) for symbol in symbols}, list[CodeEdge]()
        for site, certainty in sites:
            kind = site.kind if site.target in own else None
            kind = kind or relation_kind(self._code.resolver.symbols, symbols[0], site.mention)
            ends = (self._code.source_id(site.path, site.source), node.node_id)
            is_guess = certainty is Certainty.BY_NAME
            edges.append(CodeEdge(*ends, kind, site.path, site.mention.line, certainty, is_guess=is_guess))
        return edges

    def _hierarchical(
        self, node: CodeNode, symbols: Sequence[SymbolId], kinds: Set[RelationKind], *, with_guesses: bool
    ) -> Iterator[CodeEdge]:
        """Yield the types and methods below a node, and the constructors that run it unsaid."""
        hierarchy, guessed = self._code.hierarchy, symbols if with_guesses else ()
        if RelationKind.IMPLEMENTS in kinds and node.kind is SymbolKind.TYPE:
            kind = RelationKind.IMPLEMENTS
            named = [*symbols, *of_each(hierarchy.aliased, symbols)]
            yield from self._below(node, of_each(hierarchy.children, named), kind)
            yield from self._below(node, of_each(hierarchy.objects, named), kind)
            yield from self._handed(node, named, kind)
            yield from self._below(node, of_each(hierarchy.alike, guessed), kind, Certainty.BY_NAME)
        if RelationKind.CALLS in kinds:
            yield from self._below(node, of_each(hierarchy.constructors_below, symbols), RelationKind.CALLS)
        if RelationKind.OVERRIDES in kinds:
            kind = RelationKind.OVERRIDES
            methods = list(filter(self._code.resolver.symbols.is_replaceable, symbols))
            yield from self._below(node, of_each(hierarchy.overriding, methods), kind)
            yield from self._handed(node, methods, kind)
            yield from self._below(node, of_each(hierarchy.alike_methods, guessed), kind, Certainty.BY_NAME)

    def _handed(self, node: CodeNode, symbols: Sequence[SymbolId], kind: RelationKind) -> Iterator[CodeEdge]:
        """Yield the functions that are handed over as an interface; of libraries where they are."""
        links = dict.fromkeys(of_each(self._code.hierarchy.handed, symbols))
        placed = self._code.facts.placed({link.receiver for link in links} - {0})
        functions: dict[Certainty, list[SymbolId]] = {Certainty.CERTAIN: [], Certainty.MAY_CALL: []}
        for link in links:
            function = placed.get(link.receiver) or self._code.references.symbol(link.path, link.receiver)
            certainty = Certainty.MAY_CALL if link.use == Use.VALUE else Certainty.CERTAIN
            if function is None:
                source_id = self._code.source_id(link.path, link.source)
                yield CodeEdge(source_id, node.node_id, kind, link.path, link.line, certainty)
            else:
                functions[certainty].append(function)
        for certainty, symbols_handed in functions.items():
            yield from self._below(node, symbols_handed, kind, certainty)

    def _below(
        self, node: CodeNode, symbols: Iterable[SymbolId], kind: RelationKind, certainty: Certainty = Certainty.CERTAIN
    ) -> Iterator[CodeEdge]:
        """Yield relations from declarations, each once, to a node."""
        is_guess = certainty is Certainty.BY_NAME
        for symbol in dict.fromkeys(symbols):
            source_id, line = self._code.node_id(symbol.path, symbol), self._code.resolver.declared(symbol).line
            yield CodeEdge(source_id, node.node_id, kind, symbol.path, line, certainty, is_guess=is_guess)


def _is_called_like(edge: CodeEdge, node: CodeNode) -> bool:
    """Return whether a file only has the name of a test of something, or defines that itself: neither tests it."""
    return edge.relation is RelationKind.TESTS and (edge.source_id < 0 or edge.path == node.path)


class OutgoingRelations:
    """The relations from definitions, in one state of the index."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def of(self, node: CodeNode, kinds: Sequence[RelationKind]) -> tuple[list[CodeEdge], list[Mentioned]]:
        """Return the relations of some kinds from a node, and its mentions that are not decided."""
        symbols = self._code.symbols(node)
        if not symbols:
            edges, unknown = self._code.edges_in(node, kinds)
            return [*edges, *(self._above_elsewhere(node) if RelationKind.INHERITS in kinds else ())], unknown
        edges, unknown = self._code.edges_in(node, BY_SYNTAX.intersection(kinds))
        all_links = of_each(self._code.references.inside, symbols)
        inside = [link for link in all_links if link.use in (Use.CALL, Use.CREATE)]
        if RelationKind.CALLS in kinds:
            edges += self._constructors_above(node, symbols, inside)
            inside += [*self._code.hierarchy.dispatched(inside), *self._code.uses.run_through(inside)]
            inside += self._code.references.run_by(inside)
        foreign = {(link.target, link.line) for link in inside if link.how is How.FOREIGN and link.receiver > 0}
        # Where something is kept in a place and run from there, the place itself is not called.
        inside = [link for link in inside if link.how not in (How.RUNS, How.FOREIGN)]
        kind_above = RelationKind.IMPLEMENTS if node.kind is SymbolKind.TYPE else RelationKind.OVERRIDES
        above = self._places_above(node, symbols) if kind_above in kinds else {}
        targets = self._code.store.at_places({*above, *(link.target for link in inside)})
        line = self._code.resolver.declared(symbols[0]).line
        nodes_above = dict.fromkeys(filter(None, map(targets.get, above)))
        edges += [CodeEdge(node.node_id, target, kind_above, node.path, line) for target in nodes_above]
        replaced = self._code.replaced(targets.keys() - above.keys())
        for link in inside:
            if link.kind in kinds and link.target in targets:
                is_sure = link.how is How.CERTAIN and (link.use != Use.CALL or link.target not in replaced)
                certainty = Certainty.CERTAIN if is_sure else Certainty.MAY_CALL
                edges.append(CodeEdge(node.node_id, targets[link.target], link.kind, node.path, link.line, certainty))
        if RelationKind.CALLS in kinds:
            left = [link for link in inside if link.target not in targets and (link.target, link.line) not in foreign]
            unknown += self._undecided(node, left)
        if RelationKind.INHERITS in kinds:
            unknown += of_each(self._foreign_bases, symbols)
        return edges, unknown

    def _places_above(self, node: CodeNode, symbols: Sequence[SymbolId]) -> dict[int, None]:
        """Return the places of the types above a type, or of the methods that a method overrides."""
        hierarchy = self._code.hierarchy
        find = hierarchy.parent_places if node.kind is SymbolKind.TYPE else hierarchy.above
        return dict.fromkeys(of_each(find, symbols))

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
        for inner, above in of_each(hierarchy.unsaid_in, symbols):
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
        return [
            CodeEdge(node.node_id, above.node_id, link.kind, link.path, link.line, Certainty.BY_NAME, is_named=True)
            for link, above in self._code.with_nodes(links, attrgetter("source"))
        ]

    def _foreign_bases(self, symbol: SymbolId) -> Iterator[Mentioned]:
        """Yield the types above a type, or the interfaces that it satisfies, which the project does not define."""
        resolver, declaration = self._code.resolver, self._code.resolver.declared(symbol)
        for written, base in zip(declaration.bases, resolver.lineage.bases_of(symbol), strict=True):
            if not (isinstance(base, Instance | Type) and of_project(base.symbols)):
                name = resolver.foreign.name(base) or written_name(written.type)
                yield Mentioned(RelationKind.INHERITS, name, "", symbol.path, declaration.line, False)
        for name in self._code.outsiders.foreign_interfaces(symbol) if declaration.kind == SymbolKind.TYPE else ():
            yield Mentioned(RelationKind.INHERITS, name, "", symbol.path, declaration.line, False)
