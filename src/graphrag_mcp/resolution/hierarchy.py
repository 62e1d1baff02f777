"""Which types are above and below a type, and which methods override which."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphrag_mcp.model.expressions import names_in, parse
from graphrag_mcp.model.facts import Declared, Mark, Thing, Use
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.resolution.libraries import LIBRARIES
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.search import Search, Site
from graphrag_mcp.resolution.values import Above, Either, Function, Instance, Outside, Signature, Type, Value, Variable

MAX_TYPES = 2_000  # Below one type; a longer list is not read.


class _MethodSet(NamedTuple):
    """What an interface demands. foreign: the foreign interfaces that it embeds, each with its methods."""

    own: Mapping[str, Thing]
    foreign: Mapping[str, Mapping[str, int]]


class Hierarchy:
    """Answers about the types of one state of the index."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._resolver: Resolver = search.resolver
        self._source = search.source
        self._above: dict[Thing, list[Thing]] = {}
        self._around: dict[Thing, list[Thing]] = {}
        self._handed: dict[Thing, list[Thing]] = {}

    # ------------------------------------------------------------ types

    def parents(self, thing: Thing) -> list[Thing]:
        """Return the types of the project that a type names as its bases, and the interfaces whose methods it has."""
        if self._resolver.things.has_method_sets(thing):
            return self._satisfied(thing)
        return self._embedded(thing)

    def ancestors(self, thing: Thing) -> list[Thing]:
        """Return all types above a type, the nearest first."""
        return self._remembered(self._above, thing, lambda one: self._closure(one, self.parents))

    def children(self, thing: Thing) -> list[Thing]:
        """Return the types that name a type as their base, and those that have all methods of an interface."""
        return self._satisfying(thing) if self._resolver.things.has_method_sets(thing) else self._naming(thing)

    def alike(self, interface: Thing) -> list[Thing]:
        """Return the types that do not name an interface, and may satisfy it since they have its methods."""
        rarest = min(self._resolver.required(interface), key=lambda name: len(self._source.named(name)), default="")
        owners = dict.fromkeys(map(self.owner_of, self._source.named(rarest) if rarest else ()))
        found = [one for one in owners if one and self._resolver.may_satisfy(one, interface)]
        below = self.descendants(interface) if found else []
        return [one for one in found if one not in below]

    def descendants(self, thing: Thing) -> list[Thing]:
        """Return all types below a type, the nearest first."""
        return self._closure(thing, self.children)

    def functions(self, thing: Thing) -> list[Thing]:
        """Return the functions that are handed over where an interface, or that of a method, is expected."""
        interface = thing if self._is_type(thing) else self.owner_of(thing)
        operation = self._resolver.operation(interface) if interface else None
        if interface is None or operation is None or thing not in (interface, operation):
            return []
        return self._remembered(self._handed, interface, self._handed_over)

    def _handed_over(self, interface: Thing) -> list[Thing]:
        """Return the functions given to what takes an interface, or holds or returns it."""
        name = self._resolver.declared(interface).name
        sites = [site for site in self._search.sites(frozenset((interface,))).found if site.things]
        around = [self._search.around(site.path, site.mention.at) for site in sites if site.mention.use == Use.TYPE]
        takers = [self._resolver.declared(one) for one in dict.fromkeys(around) if one]
        names = {one.name for one in takers if any(name in names_in(given.value) for given in one.parameters or ())}
        near = {site.path for site in sites}
        found: dict[Thing, None] = {}
        for path in sorted(near.union(*map(self._source.mentioning, sorted(names)))):
            facts = self._source.facts(path) if self._search.has_time() else None
            given = [one for one in facts.flows if path in near or names & names_in(one.into)] if facts else []
            for flow in given:
                if interface in _types(self._resolver.taker(path, flow)):
                    value = self._resolver.expressions.value(path, flow.at, parse(flow.value))
                    found |= dict.fromkeys(value.things if isinstance(value, Function) else ())
        return list(found)

    # ------------------------------------------------------------ methods

    def overridden(self, method: Thing) -> list[Thing]:
        """Return the methods of types above that a method overrides or implements, itself or where it is embedded."""
        owner = self.owner_of(method)
        below = self._embedding(owner) if owner and self._resolver.things.has_method_sets(owner) else []
        return self._same_method(method, [above for one in (owner, *below) if one for above in self.ancestors(one)])

    def overriding(self, method: Thing) -> list[Thing]:
        """Return the methods of types below that override or implement a method."""
        owner = self.owner_of(method)
        return self._same_method(method, self.descendants(owner) if owner else [])

    def declared_below(self, method: Thing) -> list[Thing]:
        """Return the methods that types below declare; not those that a type below has from elsewhere.

        Faster than `overriding`: it looks at what has the method's name, not at all types below.
        """
        owner, name = self.owner_of(method), self._resolver.declared(method).name
        named = [one for one in self._source.named(name) if one != method and one.path not in LIBRARIES]
        if owner is None or not named:
            return []
        if self._resolver.things.has_method_sets(owner):
            return self.overriding(method)
        owners = {one: self.owner_of(one) for one in named}
        return [
            one
            for one, other in owners.items()
            if other and self._fits(method, one) and self._search.has_time() and owner in self.ancestors(other)
        ]

    def handed_as(self, method: Thing) -> Iterator[Thing]:
        """Yield the methods of interfaces as which a method is handed over, or held by a field."""
        if not self._resolver.things.has_method_sets(method):
            yield from (above for field in self._holding(method) for above in self.overridden(field))
        end = f"#{self._resolver.declared(method).name}"
        for site in (
            self._search.sites(frozenset((method,))).found if self._resolver.things.has_overloads(method) else ()
        ):
            facts = self._source.facts(site.path) if site.mention.use == Use.FUNCTION and site.things else None
            flows = (
                [one for one in facts.flows if one.at <= site.mention.at and one.value.endswith(end)] if facts else []
            )
            for interface in _types(self._resolver.taker(site.path, flows[-1])) if flows else ():
                if operation := self._resolver.operation(interface):
                    yield operation

    def _holding(self, function: Thing) -> Iterator[Thing]:
        """Yield the fields that a function is the value of."""
        for site in self._search.sites(frozenset((function,))).found:
            facts = self._source.facts(site.path) if site.mention.use == Use.VALUE and site.things else None
            for number, one in enumerate(facts.declared if facts else ()):
                is_held = one.kind == SymbolKind.FIELD and one.value.rpartition(".")[2] == site.mention.name
                if is_held and one.start <= site.mention.at < one.stop:
                    yield Thing(site.path, number)

    def inheriting(self, method: Thing) -> list[Thing]:
        """Return the types below that have a method as it is."""
        owner, name = self.owner_of(method), self._resolver.declared(method).name
        members = (
            [(one, self._resolver.members.find(Instance((one,)), name)) for one in self.descendants(owner)]
            if owner
            else []
        )
        return [one for one, found in members if found and method in found.things]

    def _same_method(self, method: Thing, types: Sequence[Thing]) -> list[Thing]:
        name = self._resolver.declared(method).name
        found: dict[Thing, None] = {}
        for one in types:
            member = self._resolver.members.find(Instance((one,)), name)
            for thing in member.things if member else ():
                is_other = thing != method and thing.path not in LIBRARIES
                if is_other and not self._resolver.things.is_only_assigned(thing) and self._fits(method, thing):
                    found[thing] = None
        return list(found)

    def may_reach(self, site: Site, method: Thing) -> bool:
        """Return whether a member above may be this one: its type is below the type of the receiver.

        A method is reached by a call; a field or a property also by reading and writing it.
        """
        declared = self._resolver.declared(method)
        is_value = declared.kind != SymbolKind.METHOD or Mark.PROPERTY in declared.marks
        if site.mention.use != Use.CALL and not is_value:
            return False
        owner = self.owner_of(method)
        if owner is None or not site.mention.receiver:
            return True
        receiver = self._resolver.expressions.value(site.path, site.mention.at, parse(site.mention.receiver))
        if isinstance(receiver, Above):  # `super` means the method of the base.
            return False
        types = _types(receiver)
        holders = [owner, *(self._embedding(owner) if self._resolver.things.has_method_sets(owner) else ())]
        return not types or any(one in types for holder in holders for one in (holder, *self.ancestors(holder)))

    def owner_of(self, member: Thing) -> Thing | None:
        """Return the type whose member a declaration is."""
        one = self._resolver.declared(member)
        if one.owner >= 0:
            return Thing(member.path, one.owner)
        owner, _, _ = one.qualified.rpartition(".")
        found = self._source.find(self._source.unit(member.path), owner) if owner else ()
        return next((thing for thing in found if self._resolver.declared(thing).kind == SymbolKind.TYPE), None)

    def _fits(self, one: Thing, other: Thing) -> bool:
        """Return whether two methods of one name can be one operation: overloads take as many arguments."""
        first, second = self._resolver.declared(one).parameters, self._resolver.declared(other).parameters
        is_same = first is None or second is None or len(first) == len(second)
        return (is_same or not self._resolver.things.has_overloads(one)) and self._resolver.overloads.can_override(
            one, other
        )

    # ------------------------------------------------------------ method sets

    def _satisfying(self, interface: Thing) -> list[Thing]:
        """Return the types that have all methods of an interface, in a language where that is enough."""
        methods = self._method_set(interface)
        if not methods or not methods.own:
            return []
        rarest = min(methods.own, key=lambda name: len(self._source.named(name)))
        owners = [owner for thing in self._source.named(rarest) if (owner := self.owner_of(thing)) is not None]
        embedding = [below for owner in dict.fromkeys(owners) for below in self._embedding(owner)]
        candidates = dict.fromkeys([*owners, *embedding])
        return [one for one in candidates if not self._is_variant(one, interface) and self._has_all(one, methods)]

    def _is_variant(self, one: Thing, other: Thing) -> bool:
        """Return whether two declarations are one, of two builds."""
        names = (self._resolver.declared(thing).qualified for thing in (one, other))
        return len(set(names)) == 1 and self._source.unit(one.path) == self._source.unit(other.path)

    def _satisfied(self, thing: Thing) -> list[Thing]:
        """Return the interfaces whose methods a type has."""
        names = {self._resolver.declared(method).name for method in self._methods(thing)}
        interfaces = [
            owner
            for name in sorted(names)
            for method in self._source.named(name)
            if Mark.ABSTRACT in self._resolver.declared(method).marks
            and (owner := self.owner_of(method)) is not None
            and not self._is_variant(owner, thing)
        ]
        found = []
        for interface in dict.fromkeys(interfaces):
            methods = self._method_set(interface)
            if methods and methods.own and self._has_all(thing, methods):
                found.append(interface)
        return found

    def _methods(self, thing: Thing) -> Iterator[Thing]:
        """Yield the methods that a type has, also those that it embeds."""
        for one in (thing, *self._closure(thing, self._embedded)):
            yield from self._resolver.things.methods_of(one)

    def _embedded(self, thing: Thing) -> list[Thing]:
        return [base for found in self._resolver.lineage.bases_of(thing) for base in _types(found)]

    def _embedding(self, thing: Thing) -> list[Thing]:
        return self._remembered(self._around, thing, lambda one: self._closure(one, self._naming))

    def _naming(self, thing: Thing) -> list[Thing]:
        """Return the types that name a type as their base; one without a name does where it is created."""
        sites = self._search.sites(frozenset((thing,))).found
        found = [(site, self._search.around(site.path, site.mention.at)) for site in sites if site.things]
        return [
            owner
            for site, owner in found
            if owner is not None
            if site.mention.use == Use.BASE
            or (site.mention.use == Use.CREATE and self._is_type(owner) and thing in self._embedded(owner))
        ]

    def _is_type(self, thing: Thing) -> bool:
        return self._resolver.declared(thing).kind == SymbolKind.TYPE

    def _method_set(self, interface: Thing) -> _MethodSet | None:
        """Return the methods of an interface, None if some are not known."""
        if not self._resolver.things.has_method_sets(interface):
            return None
        if Mark.INTERFACE not in self._resolver.declared(interface).marks:
            return None
        own: dict[str, Thing] = {}
        foreign: dict[str, Mapping[str, int]] = {}
        for one in (interface, *self._closure(interface, self._embedded)):
            for base in self._resolver.lineage.bases_of(one):
                known = self._resolver.things.foreign_methods(interface, base)
                if known is None and not _types(base):
                    return None
                if isinstance(base, Outside) and known:
                    foreign[base.name] = known
            for method in self._resolver.things.methods_of(one):
                own.setdefault(self._resolver.declared(method).name, method)
        return _MethodSet(own, foreign)

    def _has_all(self, thing: Thing, wanted: _MethodSet) -> bool:
        """Return whether a type is known to have all methods, with the same signatures."""
        for name, method in wanted.own.items():
            found = self._method(thing, name)
            if found is None or not _agree(self._signature(found), self._signature(method)):
                return False
        embedded = {base.name for base in self._foreign_bases(thing)}
        return all(
            name in embedded or all(self._takes(self._method(thing, one), count) for one, count in methods.items())
            for name, methods in wanted.foreign.items()
        )

    def _method(self, thing: Thing, name: str) -> Thing | None:
        found = self._resolver.members.find(Instance((thing,)), name)
        things = found.things if found else ()
        return next((one for one in things if self._resolver.declared(one).kind == SymbolKind.METHOD), None)

    def _takes(self, method: Thing | None, count: int) -> bool:
        return method is not None and len(self._resolver.declared(method).parameters or ()) == count

    def _foreign_bases(self, thing: Thing) -> Iterator[Outside]:
        for one in (thing, *self._closure(thing, self._embedded)):
            yield from (base for base in self._resolver.lineage.bases_of(one) if isinstance(base, Outside))

    def _signature(self, thing: Thing) -> Signature:
        one = self._resolver.declared(thing)
        values = [self._resolver.expressions.written(thing, text) for text in _types_of(one)]
        return Signature(tuple(values[:-1]), values[-1])

    def _remembered(
        self, known: dict[Thing, list[Thing]], thing: Thing, find: Callable[[Thing], list[Thing]]
    ) -> list[Thing]:
        """Return what is found for a thing, and remember it unless the time was too short."""
        if thing in known:
            return known[thing]
        found = find(thing)
        if not self._search.is_cut:
            known[thing] = found
        return found

    def _closure(self, thing: Thing, step: Callable[[Thing], Iterable[Thing]]) -> list[Thing]:
        found: dict[Thing, None] = {}
        level = [thing]
        while level and len(found) < MAX_TYPES:
            level = [one for near in level for one in step(near) if one != thing and one not in found]
            found |= dict.fromkeys(level)
        return list(found)


def _types_of(one: Declared) -> list[str]:
    return [*(parameter.value for parameter in one.parameters or ()), one.value or "-"]


def _types(value: Value | None) -> tuple[Thing, ...]:
    """Return the types that a value may have."""
    if isinstance(value, Either):
        return tuple(thing for one in value.values for thing in _types(one))
    things = value.things if isinstance(value, Instance | Type) else ()
    return tuple(thing for thing in things if thing.path not in LIBRARIES)


def _agree(one: Signature, other: Signature) -> bool:
    """Return whether two signatures are known to be the same; a type parameter may be anything."""
    if len(one.parameters) != len(other.parameters):
        return False
    pairs = zip((*one.parameters, one.result), (*other.parameters, other.result), strict=True)
    return all(_same(first, second) for first, second in pairs)


def _same(one: Value | None, other: Value | None) -> bool:
    if isinstance(one, Variable) or isinstance(other, Variable):
        return True
    return one is not None and other is not None and one == other
