"""The places that use declarations, or may: by stored links, by their names, and from outside of the project."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cache, lru_cache
from typing import NamedTuple

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language
from graphrag_mcp.languages.shapes import LITERAL
from graphrag_mcp.model.expressions import names_in, parse
from graphrag_mcp.model.facts import IN_BLOCK, METACLASS, Bound, Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import MEANT, How, Place, StoredLink, place_id
from graphrag_mcp.model.values import Foreign, Instance, Outside, Type, of_kind, symbols_of
from graphrag_mcp.resolution.files import sought_in
from graphrag_mcp.resolution.foreign import OVERRIDE
from graphrag_mcp.resolution.hierarchy import Hierarchy
from graphrag_mcp.resolution.references import DECLARED_ID, IMPORTED_ID, References, Site, types_of
from graphrag_mcp.resolution.state import of_project

_CONFINED = (SymbolKind.FUNCTION, SymbolKind.CONSTANT, SymbolKind.TYPE)
_RUNNING = (Use.CALL, Use.CREATE)
_NOT_STORING = (*_RUNNING, Use.TYPE, Use.BASE)
_BINDING = "bind"  # The member of a function that hands it on.
_NAMES_KEPT = 1_000


class Sites(NamedTuple):
    """The places that mean some declarations, or may.

    elsewhere: places of the same name that mean something else. pending: files with the name that are not resolved yet.
    """

    sites: Sequence[Site]
    elsewhere: Set[tuple[str, int]]
    pending: Sequence[str]


class Uses:
    """The uses of declarations in one state of the index."""

    def __init__(self, references: References) -> None:
        self._references, self._resolver, self._source = references, references.resolver, references.source
        self._declared, self._symbols = self._resolver.declared, self._resolver.symbols
        self._of_interfaces = lru_cache(_NAMES_KEPT)(self._find_of_interfaces)
        self._is_confined, self._is_handed_on = cache(self._find_confined), cache(self._find_handed_on)

    def of(self, symbols: Collection[SymbolId], also: Collection[int] = (), *, with_guesses: bool = True) -> Sites:
        """Return the places that mean one of the declarations, or what is also at some places, and the undecided ones.

        with_guesses: else the undecided ones are left out, and nothing is said of other places.
        """
        places = {*map(self._references.place, symbols), *also}
        names = {self._declared(symbol).name for symbol in symbols}
        names |= {self._declared(symbol).name for symbol in self._source.placed(also).values()}
        links = self._references.to(places, (*MEANT, How.EXPORTED))
        numbers = {place_id(Place("", name)): name for name in names if name}
        numbers |= {link.receiver: min(names) for link in links if link.how is How.EXPORTED}
        sites = self._decided(link for link in links if link.how is not How.EXPORTED)
        unsure = (How.UNDECIDED, How.FOREIGN, How.OUTSIDE) if with_guesses else (How.FOREIGN,)
        undecided = grouped((link.how, link) for link in self._references.to(numbers.keys(), unsure) if link.use)
        for link in undecided[How.UNDECIDED]:
            site = self._references.site(link, numbers[link.target])
            sites.setdefault((link.path, link.line, link.source, link.use, link.arity, site.mention.receiver), site)
        foreign = undecided[How.FOREIGN]
        sites |= {(number, "foreign"): site for number, site in enumerate(self._foreign(foreign, symbols))}
        if not with_guesses:
            return Sites(list(sites.values()), frozenset(), ())
        sites |= {(number, "alike"): site for number, site in enumerate(self._alike(symbols))}
        elsewhere = self._others(names, places, [*foreign, *undecided[How.OUTSIDE]])
        elsewhere -= {(site.path, site.mention.line) for site in sites.values()}
        return Sites(list(sites.values()), elsewhere, self._references.pending(names))

    def _decided(self, links: Iterable[StoredLink]) -> dict[tuple[object, ...], Site]:
        """Return the places of links to declarations, each once: its receiver may have several types."""
        sites: dict[tuple[object, ...], Site] = {}
        for link in links:
            site = self._references.site(link, "", link.target, is_certain=link.how is How.CERTAIN)
            what = (link.use, link.kind, link.how, link.arity, site.is_of_base)
            key = (link.target, link.path, link.line, link.source, *what)
            if known := sites.get(key):
                both = known.receivers + site.receivers if known.receivers and site.receivers else ()
                site = known._replace(receivers=both)
            sites[key] = site
        return sites

    def _others(
        self, names: Collection[str], places: Collection[int], foreign: Iterable[StoredLink]
    ) -> Set[tuple[str, int]]:
        """Return the places that mean other declarations of some names, or something foreign."""
        numbers = {place for name in names for place in self._source.places_of(name)} - set(places)
        links = self._references.to(numbers, MEANT)
        links += [link for link in foreign if link.use != Use.IMPORT]
        return {(link.path, link.line) for link in links}

    def run_through(self, links: Iterable[StoredLink]) -> Iterator[StoredLink]:
        """Yield for the calls of foreign members in a file the methods of the project that they may run."""
        for group in _by_place(link for link in links if link.how is How.FOREIGN and link.use == Use.CALL):
            for symbol in self._source.named(self._references.name(group[0].path, group[0])):
                if self._reached(group, symbol) is Certainty.MAY_CALL:
                    yield group[0]._replace(target=self._references.place(symbol), how=How.OPEN)

    def _foreign(self, links: Sequence[StoredLink], symbols: Iterable[SymbolId]) -> Iterator[Site]:
        """Yield the uses of members of foreign values that may be those of declarations."""
        for symbol in symbols if links else ():
            name = self._declared(symbol).name
            number = place_id(Place("", name))
            for group in _by_place(link for link in links if link.target == number):
                certainty = self._reached(group, symbol)
                interface = group[0].receiver if self._symbols.has_method_sets(symbol) else 0
                if certainty and interface > 0:  # The asker compares which types have its methods.
                    yield self._references.site(group[0], name, interface, is_certain=False)
                elif certainty is Certainty.MAY_CALL:
                    yield self._references.site(group[0], name, self._references.place(symbol), is_certain=False)
                elif certainty:
                    yield self._references.site(group[0], name)

    def _reached(self, group: Sequence[StoredLink], symbol: SymbolId) -> Certainty | None:
        """Return whether a use of a foreign member may run a method of the project; see `ForeignTypes.reached_by`."""
        if self._symbols.has_method_sets(symbol):
            counts = {link.arity for link in group}
            fits = not counts.isdisjoint((-1, len(self._declared(symbol).inputs)))
            is_open = fits and self._symbols.is_method(symbol) and not self._symbols.is_abstract(symbol)
            return Certainty.BY_NAME if is_open else None
        owner = self._symbols.around(symbol)
        return self._resolver.foreign.reached_by(
            group[0].use, {link.receiver for link in group}, symbol, self._references.above(owner) if owner else ()
        )

    def _alike(self, symbols: Iterable[SymbolId]) -> Iterator[Site]:
        """Yield the calls of interfaces that the types of methods may satisfy by having what they demand."""
        for symbol in symbols:
            declaration, owner = self._declared(symbol), self._symbols.owner_of(symbol)
            policy = self._resolver.state.policy(symbol)
            is_open = policy.names.has_spaces or policy.members.method_sets
            if owner is None or not is_open or declaration.kind not in CALLABLE or Mark.ABSTRACT in declaration.marks:
                continue
            interfaces = self._of_interfaces(declaration.name)
            alike = [other for other, kind in interfaces.items() if self._resolver.may_satisfy(owner, kind)]
            for link in self._references.linked(alike, MEANT):
                if link.use == Use.CALL and link.receiver:
                    yield self._references.site(link, declaration.name)

    def _find_of_interfaces(self, name: str) -> dict[SymbolId, SymbolId]:
        """Return the members of a name that interfaces of the project declare, each with its interface."""
        named = of_project(self._source.named(name))
        owned = ((symbol, self._symbols.owner_of(symbol)) for symbol in named)
        return {symbol: owner for symbol, owner in owned if owner and self._symbols.is_interface(owner)}

    def can_mean(self, site: Site, symbol: SymbolId) -> bool:
        """Return whether an undecided place can mean a declaration: one that fits, a member by its receiver."""
        language, policy = detect_language(site.path), self._resolver.state.policy(symbol)
        is_of_family = language in FACT_LANGUAGES and policy_of(language).modules.module is policy.modules.module
        if not is_of_family or not self._fits(policy, site.mention, symbol):
            return False
        if site.receivers == (DECLARED_ID,) and policy.modules.is_ambient(symbol.path):
            return False
        declaration = self._declared(symbol)
        if declaration.kind in (SymbolKind.METHOD, SymbolKind.FIELD):
            return bool(site.mention.receiver) or policy.names.bare_members
        if declaration.kind == SymbolKind.TYPE and self._symbols.owner_of(symbol):
            return bool(site.mention.receiver) or site.path == symbol.path
        if not policy.names.functions_are_members:
            is_free = not site.mention.receiver or site.receivers == (IMPORTED_ID,)
            return is_free or (policy.names.rebinds and self._is_handed_on(symbol))
        return not self.is_confined(symbol, site.mention.use) or (
            site.path == symbol.path and not site.mention.receiver
        )

    def _find_handed_on(self, symbol: SymbolId) -> bool:
        """Return whether a function is used as a value, so that it may be a member of something."""
        links = self._references.linked((symbol,), MEANT)
        return any(link.kind is RelationKind.HANDS_ON for link in links)

    def _fits(self, policy: Policy, mention: Mention, symbol: SymbolId) -> bool:
        """Return whether a declaration is of a kind that a mention can mean, and takes its number of arguments."""
        return bool(self._symbols.fitting((symbol,), sought_in(policy, mention.use, mention.arity)))

    def is_confined(self, symbol: SymbolId, use: str = Use.CALL) -> bool:
        """Return whether a declaration is only meant by its name, in its file: nothing exports it, or stores it.

        use: as what. Reading a member is never reading the constant whose value it has, but calling it may run that.
        """
        return self._is_confined(symbol, is_run=use in _RUNNING)

    def _find_confined(self, symbol: SymbolId, *, is_run: bool) -> bool:
        declaration, file = self._declared(symbol), self._resolver.state.open(symbol.path)
        facts, name = file.facts, declaration.name
        owner = declaration.owner
        is_inner = owner == IN_BLOCK or (owner >= 0 and facts.declared[owner].kind in CALLABLE)
        policy = policy_of(facts.language)  # Others see what a script declares, and where nothing has to be exported.
        is_shared = policy.names.rebinds or policy.modules.whole_unit
        is_module = (file.is_module or any(map(_is_required, facts.bound))) and not is_shared
        is_top = owner == -1 and is_module
        if declaration.kind not in _CONFINED or not (is_inner or is_top):
            return False
        exported = (export for export in facts.exports if not export.module)
        if any(name == export.name or name in names_in(export.value) for export in exported):
            return False
        mentions = [mention for mention in facts.mentions if mention.name == name and not mention.receiver]
        is_plain = declaration.value == LITERAL and all(mention.use != Use.WRITE for mention in mentions)
        if declaration.kind == SymbolKind.CONSTANT and (not is_run or is_plain):
            return True
        of_it = (mention for mention in facts.mentions if mention.receiver == name and not is_shared)
        asked = {mention.at - len(name) - 1 for mention in of_it if mention.name != _BINDING}  # For a member of it.
        others = [mention for mention in mentions if mention.use not in _NOT_STORING and mention.at not in asked]
        referents = [self._resolver.resolve(symbol.path, mention) for mention in others]
        return None not in referents and not any(symbol in symbols_of(referent) for referent in referents)


def _is_required(bound: Bound) -> bool:
    """Return whether a name is that of a module which is not waited for, or of what is in it."""
    return bound.kind == "alias" and bound.value[:1] == '"' and "~" not in bound.value


def _by_place(links: Iterable[StoredLink]) -> Iterable[Sequence[StoredLink]]:
    """Return links to names in groups of one place: it has one for each type that its receiver may have."""
    return grouped(
        ((link.target, link.path, link.line, link.source, link.use, link.arity), link) for link in links
    ).values()


class Outsiders:
    """Answers about the declarations of one state of the index."""

    def __init__(self, references: References, hierarchy: Hierarchy, uses: Uses) -> None:
        self._hierarchy, self._uses = hierarchy, uses
        self._resolver, self._source = references.resolver, references.source
        self._declared, self._symbols = self._resolver.declared, self._resolver.symbols

    def run_by(self, symbol: SymbolId) -> str:
        """Return what is known to start a function: a test runner by its annotation, or by that of its class."""
        declaration, owner = self._declared(symbol), self._hierarchy.owner_of(symbol)
        run_by = self._resolver.state.policy(symbol).calls.run_by
        is_open = owner is not None and declaration.kind == SymbolKind.METHOD and Mark.PRIVATE not in declaration.marks
        of_class = run_by(symbol.path, self._declared(owner)) if owner and is_open else ""
        return run_by(symbol.path, declaration) or (of_class if of_class[:1] == "@" else "")

    def callers(self, symbol: SymbolId) -> Iterator[str]:
        """Yield the foreign interfaces, bases and annotations by which others may call a function."""
        declaration, policy = self._declared(symbol), self._resolver.state.policy(symbol)
        if self.run_by(symbol):
            return
        owner = self._hierarchy.owner_of(symbol)
        around = owner if owner and self._symbols.is_constructor(symbol, owner) else None
        marks = (*declaration.marks, *(self._declared(around).marks if around else ()))
        replaced = self._hierarchy.overridden(symbol) if policy.calls.overloads else []
        marks += tuple(mark for above in replaced for mark in self._declared(above).marks if mark[:1] == "@")
        yield from (
            mark for mark in dict.fromkeys(marks) if mark[:1] == "@" and policy.foreign.is_registering(mark[1:])
        )
        if Mark.EXPORTED in marks:
            yield "other languages"
        if (
            owner
            and policy.members.method_sets
            and Mark.ABSTRACT not in marks
            and declaration.kind == SymbolKind.METHOD
        ):
            holders = (owner, *self._hierarchy.method_sets.embedding(owner))
            yield from (
                name
                for name, methods in policy.foreign.interfaces.items()
                if declaration.name in methods
                and any(self._hierarchy.method_sets.takes_all(kind, methods) for kind in holders)
            )
            unsure = (other for kind in holders for other in self._hierarchy.method_sets.unsure(kind, declaration.name))
            yield from (self._declared(other).name for other in unsure)
            yield from self._replacing(declaration.name, holders)
            yield from self._taking(owner) if declaration.name[:1].isupper() else ()
        if policy.calls.overloads:
            above = replaced if OVERRIDE in declaration.marks else []
            yield from (name for method in above or [symbol] for name in self._resolver.foreign.overridden(method))

    def alias_of(self, symbol: SymbolId) -> str:
        """Return the type that an alias stands for, and of which it is not known what is below: "" if it is none."""
        if Mark.ALIAS not in self._declared(symbol).marks or self._hierarchy.aliased(symbol):
            return ""
        value = self._resolver.meaning((symbol,))
        own = types_of(value)  # One that is given types.
        return self._declared(own[0]).qualified if own else self._resolver.foreign.name(of_kind(Instance, value))

    def class_readers(self, symbol: SymbolId) -> Iterator[str]:
        """Yield what is given a class, or that of a field or one below it, and may keep it or read what it declares."""
        policy, declaration = self._resolver.state.policy(symbol), self._declared(symbol)
        if not policy.members.class_hooks or self._symbols.is_only_assigned(symbol):
            return
        owner = self._hierarchy.owner_of(symbol) if declaration.kind == SymbolKind.FIELD else None
        kinds = [owner, *self._hierarchy.descendants(owner)] if owner else [symbol]
        if owner:
            yield from (reader for kind in kinds for reader in self._resolver.foreign.callers(kind))
        above = dict.fromkeys(base for kind in kinds for base in self._resolver.lineage.above((Instance((kind,)),)))
        for base in above:
            if isinstance(base, Instance | Type):
                for kind in base.symbols:
                    yield from self._metaclasses(kind)
                    inside = {self._declared(method).name for method in self._symbols.methods_of(kind)}
                    yield from inside.intersection(policy.members.class_hooks)
            elif owner and policy.foreign.called_back(self._resolver.foreign.name(base)) is None:
                yield self._resolver.foreign.name(base) or "a base that is not known"

    def _metaclasses(self, kind: SymbolId) -> Iterator[str]:
        """Yield the metaclass that a type names, unless it is one of the language's own library."""
        declaration, foreign = self._declared(kind), self._resolver.state.policy(kind).foreign
        for mark in declaration.marks:
            if mark.startswith(METACLASS):
                value = self._resolver.expressions.written(kind, mark.removeprefix(METACLASS))
                if not isinstance(value, Outside) or foreign.called_back(value.name) is None:
                    yield mark.removeprefix(METACLASS)

    def _replacing(self, name: str, kinds: Iterable[SymbolId]) -> Iterator[str]:
        """Yield the foreign interfaces that types embed, and of which a method stands for one."""
        for kind in kinds:
            policy = self._resolver.state.policy(kind)
            for base in self._resolver.lineage.above((Instance((kind,)),)):
                foreign = base.name if isinstance(base, Outside | Foreign) else ""
                known = policy.foreign.interfaces.get(foreign)
                if foreign and (name in known if known is not None else policy.foreign.may_be_interface(foreign)):
                    yield foreign

    def _taking(self, kind: SymbolId) -> Iterator[str]:
        """Yield the interfaces and functions of other libraries that are given values of a type where it is named.

        What tests hand over is compared or printed.
        """
        policy = self._resolver.state.policy(kind)
        for path in sorted({site.path for site in self._uses.of((kind,)).sites if site.target}):
            facts = None if path.endswith(policy.modules.tests) else self._source.facts(path)
            for flow in facts.flows if facts else ():
                taker = self._resolver.given_to(path, flow)
                if (
                    isinstance(taker, Outside)
                    and "/" in taker.name
                    and (taker.name in policy.foreign.interfaces or policy.foreign.may_be_interface(taker.name))
                ):
                    value = self._resolver.expressions.value(path, flow.at, parse(flow.value))
                    yield from (taker.name,) if kind in types_of(value) else ()

    def satisfying(self, interface: str) -> tuple[list[SymbolId], list[SymbolId]]:
        """Return the types that have all methods of foreign interfaces of a name, where that is enough.

        Then those that have them if foreign types that they embed do.
        """
        named = [
            methods
            for language in sorted(FACT_LANGUAGES)
            for name, methods in policy_of(language).foreign.interfaces.items()
            if re.fullmatch(rf"(.*[./])?{re.escape(interface)}", name)
        ]
        fits: dict[SymbolId, bool | None] = {}
        method_sets = self._hierarchy.method_sets
        for methods in filter(None, named):
            rarest = min(methods, key=lambda name: len(self._source.named(name)))
            owners = filter(None, map(self._hierarchy.owner_of, self._source.named(rarest)))
            having = filter(self._symbols.has_method_sets, (*owners, *method_sets.embedders))
            fits |= {kind: method_sets.takes_all(kind, methods) for kind in having if not fits.get(kind)}
        return [kind for kind, fit in fits.items() if fit], [kind for kind, fit in fits.items() if fit is None]

    def foreign_interfaces(self, kind: SymbolId) -> list[str]:
        """Return the foreign interfaces whose methods a type has, in a language where that is enough."""
        interfaces = self._resolver.state.policy(kind).foreign.interfaces.items()
        return [
            name for name, methods in interfaces if methods and self._hierarchy.method_sets.takes_all(kind, methods)
        ]
