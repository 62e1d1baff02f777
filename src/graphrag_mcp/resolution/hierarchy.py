"""Which types are above and below a type, and which methods override which."""

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain

from graphrag_mcp.model.facts import Mark, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, RelationKind, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import How, StoredLink, place_id, super_place
from graphrag_mcp.model.values import Instance, Type, symbols_of
from graphrag_mcp.resolution.method_sets import MethodSets, closure
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME
from graphrag_mcp.resolution.references import SUPER_ID, References, Site, types_of
from graphrag_mcp.resolution.state import of_project

_KEPT = 4_000  # Types whose interfaces are remembered.
_OVERRIDES = (RelationKind.OVERRIDES,)


class Hierarchy:
    """Answers about the types of one state of the index."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._resolver = references.resolver
        self._declared, self._symbols = self._resolver.declared, self._resolver.symbols
        self._source = references.source
        self.owner_of = references.resolver.symbols.owner_of
        self.method_sets = MethodSets(references)
        # Having the methods of an interface is enough in some languages.
        self._satisfying = lru_cache(_KEPT)(self.method_sets.satisfying)
        self._satisfied = lru_cache(_KEPT)(self.method_sets.satisfied)
        self.ancestors = lru_cache(_KEPT)(self._find_ancestors)
        self.standing_in = lru_cache(_KEPT)(self._find_standing_in)
        self._own_places = lru_cache(_KEPT)(self._find_own_places)
        self._places_beside = lru_cache(_KEPT)(self._find_places_beside)
        self._places_before = lru_cache(_KEPT)(self._find_places_before)
        self._expected = lru_cache(_KEPT)(self._find_expected)
        self._operation = lru_cache(_KEPT)(references.resolver.operation_of)

    # ------------------------------------------------------------ types

    def parents(self, symbol: SymbolId) -> list[SymbolId]:
        """Return the types of the project that a type names as its bases, and the interfaces whose methods it has."""
        if self._symbols.has_method_sets(symbol):
            return self._satisfied(symbol)
        return self.method_sets.embedded(symbol)

    def _find_ancestors(self, symbol: SymbolId) -> list[SymbolId]:
        """Return all types above a type, the nearest first."""
        return closure(symbol, self.parents)

    def children(self, symbol: SymbolId) -> list[SymbolId]:
        """Return the types that name a type as their base, and those that have all methods of an interface."""
        if self._symbols.has_method_sets(symbol):
            return self._satisfying(symbol)
        return self.method_sets.below(self._references.linked((symbol,), (How.BELOW,)))

    def aliased(self, symbol: SymbolId) -> tuple[SymbolId, ...]:
        """Return the type of which an alias is another name, or the interface of which a type is made."""
        if self._symbols.has_method_sets(symbol) and Mark.ALIAS not in self._declared(symbol).marks:
            made = types_of(self._resolver.types.underlying(Instance((symbol,))))
            return tuple(other for other in made if other != symbol and self._symbols.is_interface(other))
        is_alias = self._declared(symbol).kind == SymbolKind.TYPE and Mark.ALIAS in self._declared(symbol).marks
        value = self._resolver.meaning((symbol,)) if is_alias else None
        return types_of(value) if isinstance(value, Type) and not value.arguments else ()

    def alike(self, interface: SymbolId) -> list[SymbolId]:
        """Return the types that do not name an interface, and may satisfy it since they have its methods."""
        if not self._symbols.is_interface(interface):
            return []
        rarest = min(self._resolver.required(interface), key=lambda name: len(self._source.named(name)), default="")
        owners = dict.fromkeys(map(self.owner_of, self._source.named(rarest) if rarest else ()))
        symbols = [symbol for symbol in owners if symbol and self._resolver.may_satisfy(symbol, interface)]
        below = set(self.descendants(interface)) if symbols else set()
        return [symbol for symbol in symbols if symbol not in below]

    def alike_methods(self, method: SymbolId) -> list[SymbolId]:
        """Return the methods that may implement one of an interface, of the types that may satisfy that."""
        owner = self.owner_of(method)
        return self._same_method(method, self.alike(owner)) if owner else []

    def descendants(self, symbol: SymbolId) -> list[SymbolId]:
        """Return all types below a type, the nearest first."""
        return closure(symbol, self.children)

    def handed(self, symbol: SymbolId) -> list[StoredLink]:
        """Return where functions are handed over as an interface, or as that of a method; receiver: the function."""
        interface = self._filled_by_functions(symbol)
        return self._references.linked((interface,), (How.HANDED,)) if interface else []

    def _filled_by_functions(self, symbol: SymbolId) -> SymbolId | None:
        """Return the interface of which a function is an instance: the one given, or whose only operation is given."""
        interface = symbol if self._symbols.is_type(symbol) else self.owner_of(symbol)
        operation = self._operation(interface) if interface else None
        is_function_type = self._symbols.is_type(symbol) and self._resolver.is_function_type(symbol)
        return interface if is_function_type or (operation and symbol in (interface, operation)) else None

    # ------------------------------------------------------------ methods

    def overridden(self, method: SymbolId) -> list[SymbolId]:
        """Return the methods of types above that a method overrides or implements, itself or where it is embedded."""
        owner = self.owner_of(method)
        holders = self._holders(owner) if owner else ()
        return self._same_method(method, [above for kind in holders for above in self.ancestors(kind)])

    def _holders(self, kind: SymbolId) -> Sequence[SymbolId]:
        """Return a type, and those that have its methods since they embed it."""
        return [kind, *(self.method_sets.embedding(kind) if self._symbols.has_method_sets(kind) else ())]

    def nearest(self, method: SymbolId) -> list[SymbolId]:
        """Return the methods that a method overrides in the types that its own names, or what those inherit."""
        owner = self.owner_of(method)
        return self._same_method(method, self.parents(owner)) if owner else []

    def _find_standing_in(self, kind: SymbolId) -> list[tuple[SymbolId, SymbolId]]:
        """Return the methods above a type with what it inherits from another side, and runs in their place.

        Those of which both are above one of its parents stand together there already.
        """
        sides = [frozenset((parent, *self.ancestors(parent))) for parent in self.parents(kind)]
        above = self.ancestors(kind) if len(sides) > 1 else ()
        pairs = (
            (method, inherited)
            for other in above
            for method in self._symbols.methods_of(other)
            for inherited in self._named_as(method, [kind])
            if (owner := self.owner_of(inherited)) in above
            and not any(owner in side and other in side for side in sides)
        )
        return [pair for pair in pairs if self._fits(*pair)]

    def overriding(self, method: SymbolId) -> list[SymbolId]:
        """Return the methods of types and the functions of objects below that override or implement a method."""
        if self._symbols.has_method_sets(method):
            owner = self.owner_of(method)
            return self._same_method(method, self.descendants(owner) if owner else [])
        hows = (How.BELOW, How.EXPECTED)
        below = self.method_sets.below(self._references.closure(self._references.place(method), hows, _OVERRIDES))
        # What is given for a function is one, however it is written.
        if self._symbols.is_callable(method):
            return below
        return [symbol for symbol in below if not self._is_value(symbol)]

    def _is_value(self, symbol: SymbolId) -> bool:
        """Return whether a member of an object is data, which overrides nothing."""
        owner = self.owner_of(symbol)
        return not self._symbols.is_callable(symbol) and owner is not None and not self._declared(owner).name

    def objects(self, kind: SymbolId) -> list[SymbolId]:
        """Return the objects that stand where a type is expected, and have functions for its methods."""
        if self._symbols.has_method_sets(kind):
            return []
        made = types_of(self._resolver.types.underlying(Instance((kind,))))
        nameless = [part for part in made if not self._declared(part).name]  # An alias has its members there.
        parts = nameless or (made if len(made) == 1 else (kind,))
        above = dict.fromkeys(symbol for part in parts for symbol in (part, *self.ancestors(part)))
        objects = dict.fromkeys(pair for symbol in above for pair in self._expected(symbol))
        kinds = {symbol for part in parts for symbol in (part, *self.descendants(part))} if objects else set()
        return [symbol for symbol, parents in objects if not kinds.isdisjoint(parents)]

    def _find_expected(self, kind: SymbolId) -> list[tuple[SymbolId, frozenset[SymbolId]]]:
        """Return the objects that have functions for the methods of a type, each with the types that it stands for."""
        members = [member for member in self._references.declared_in(kind) if self.owner_of(member) == kind]

        def expected(*kinds: SymbolKind) -> list[SymbolId]:
            wanted = [member for member in members if self._declared(member).kind in kinds]
            return self.method_sets.below(self._references.linked(wanted, (How.EXPECTED,)))

        fields = (symbol for symbol in expected(SymbolKind.FIELD) if not self._is_value(symbol))
        functions = (*expected(*CALLABLE), *fields)
        owners = dict.fromkeys(filter(None, map(self.owner_of, functions)))
        return [(owner, frozenset(self.parents(owner))) for owner in owners]

    def above(self, symbol: SymbolId) -> Set[int]:
        """Return the places of all types above a type, or of the methods that a method overrides."""
        is_type = self._symbols.is_type(symbol)
        if self._symbols.has_method_sets(symbol):
            return set(map(self._references.place, self.ancestors(symbol) if is_type else self.overridden(symbol)))
        if is_type:
            return self._references.above(symbol)
        place = self._references.place(symbol)
        return {link.source for link in self._references.closure(place, (How.ABOVE,), _OVERRIDES)}

    def parent_places(self, kind: SymbolId) -> list[int]:
        """Return the places of the types that a type names as its bases, and of the interfaces whose methods it has."""
        if self._symbols.has_method_sets(kind):
            return list(map(self._references.place, self.parents(kind)))
        return [link.source for link in self._references.linked((kind,), (How.ABOVE,))]

    def dispatched(self, calls: Iterable[StoredLink]) -> Iterator[StoredLink]:
        """Yield for calls of methods what may run in their place: those of types below the receiver's; functions."""
        calls = list(calls)
        yield from self._of_foreign_methods(link for link in calls if link.how is How.FOREIGN and link.use == Use.CALL)
        together = grouped(
            ((link.target, link.line, link.source), link)
            for link in calls
            if link.use == Use.CALL and link.receiver != SUPER_ID  # A call of `super` runs none of a type below.
        )
        placed = self._source.placed({target for target, _, _ in together})
        below = {target: self.overriding(symbol) for target, symbol in placed.items()}
        for (target, _, _), links in together.items():
            receivers = self._references.receivers(links)
            for method in below.get(target, ()):
                if self._is_reached(receivers, method):
                    yield links[0]._replace(target=self._references.place(method), how=How.OPEN)
            handed = self.handed(placed[target]) if target in placed else ()
            for function in {link.receiver for link in handed} - {0, target}:
                yield links[0]._replace(target=function, how=How.OPEN)

    def _of_foreign_methods(self, calls: Iterable[StoredLink]) -> Iterator[StoredLink]:
        """Yield for calls of what an interface has from a foreign one the methods of the types that satisfy it."""
        calls = [link for link in calls if link.receiver > 0]
        placed = self._source.placed({link.receiver for link in calls})
        interfaces = {place: symbol for place, symbol in placed.items() if self._symbols.has_method_sets(symbol)}
        for link in (link for link in calls if link.receiver in interfaces):
            name = self._references.name(link.path, link)
            for kind in self.descendants(interfaces[link.receiver]):
                for method in symbols_of(self._resolver.members.find(Instance((kind,)), name)):
                    yield link._replace(target=self._references.place(method), how=How.OPEN, kind=RelationKind.CALLS)

    def inheriting(self, method: SymbolId) -> list[SymbolId]:
        """Return the types below that have a method as it is; a constructor without parameters also runs for them."""
        owner, name = self.owner_of(method), self._declared(method).name
        if owner is None:
            return []
        if self._created_by(method):
            return closure(owner, self._without_constructor) if self._takes_nothing(method) else []
        find = self._resolver.members.find
        return [kind for kind in self.descendants(owner) if method in symbols_of(find(Instance((kind,)), name))]

    def constructors_below(self, method: SymbolId) -> list[SymbolId]:
        """Return the constructors of types below that call one by not naming any."""
        owner = self._created_by(method)
        if owner is None or not self._takes_nothing(method):
            return []
        kinds = [child for symbol in (owner, *self.inheriting(method)) for child in self.children(symbol)]
        own = dict.fromkeys(symbol for kind in kinds for symbol in self._constructors(kind))
        return [symbol for symbol in own if not self._names_another(symbol)]

    def run_by_creating(self, kind: SymbolId) -> list[SymbolId]:
        """Return the constructors that run when a type is created, except those that its arguments choose."""
        if self._symbols.has_overloads(kind):
            return [] if self._constructors(kind) else self._constructors_above(kind)
        names = self._resolver.state.policy(kind).members.constructors
        members = (self._resolver.members.find(Instance((kind,)), name) for name in names)
        return [symbol for member in members for symbol in of_project(symbols_of(member))]

    def unsaid_in(self, symbol: SymbolId) -> Iterator[tuple[SymbolId, SymbolId]]:
        """Yield the constructors in a declaration that name no other, each with those above that they call."""
        for inner in self._references.declared_in(symbol):
            owner = self._created_by(inner)
            if owner is not None and not self._names_another(inner):
                yield from ((inner, above) for above in self._constructors_above(owner))

    def _constructors_above(self, kind: SymbolId) -> list[SymbolId]:
        """Return the nearest constructors without parameters above a type."""

        def step(near: SymbolId) -> Sequence[SymbolId]:
            return () if near != kind and self._constructors(near) else self.parents(near)

        above = (symbol for other in closure(kind, step) for symbol in self._constructors(other))
        return list(filter(self._takes_nothing, above))

    def _created_by(self, method: SymbolId) -> SymbolId | None:
        """Return the type of a constructor whose arguments decide which runs; None for any other method."""
        owner, symbols = self.owner_of(method), self._symbols
        return owner if owner and symbols.has_overloads(method) and symbols.is_constructor(method, owner) else None

    def _constructors(self, kind: SymbolId) -> Sequence[SymbolId]:
        return self._symbols.constructors(Type((kind,)), -1)

    def _without_constructor(self, kind: SymbolId) -> list[SymbolId]:
        return [symbol for symbol in self.children(kind) if not self._constructors(symbol)]

    def _takes_nothing(self, method: SymbolId) -> bool:
        return all(parameter.rest for parameter in self._declared(method).inputs)

    def _names_another(self, constructor: SymbolId) -> bool:
        """Return whether a constructor begins with a call of `this` or `super`."""
        inside = self._resolver.state.open(constructor.path).mentions_in(self._declared(constructor))
        called = [mention for mention in inside if mention.use == Use.CALL and mention.receiver in ("this", "super")]
        referents = (self._resolver.resolve(constructor.path, mention) for mention in called)
        return any(self._is_constructor(symbol) for referent in referents for symbol in symbols_of(referent))

    def _is_constructor(self, symbol: SymbolId) -> bool:
        owner = self.owner_of(symbol)
        return owner is None or self._symbols.is_constructor(symbol, owner)

    def _same_method(self, method: SymbolId, types: Sequence[SymbolId]) -> list[SymbolId]:
        return [symbol for symbol in self._named_as(method, types) if self._fits(method, symbol)]

    def _named_as(self, method: SymbolId, types: Sequence[SymbolId]) -> list[SymbolId]:
        """Return the other members that types have by the name of a method."""
        name = self._declared(method).name
        members = (symbols_of(self._resolver.members.find(Instance((kind,)), name)) for kind in types)
        named = dict.fromkeys(of_project(chain(*(symbols for symbols in members if len(symbols) <= MOST_OF_A_NAME))))
        named.pop(method, None)
        return [symbol for symbol in named if not self._symbols.is_only_assigned(symbol)]

    def may_reach(self, site: Site, method: SymbolId) -> bool:
        """Return whether a member above may be this one: its type is below the type of the receiver.

        A method is reached by a call; a field or a property also by reading and writing it.
        """
        declared = self._declared(method)
        is_value = declared.kind != SymbolKind.METHOD or Mark.PROPERTY in declared.marks
        if (site.mention.use != Use.CALL and not is_value) or site.is_of_base:
            return False
        return self._is_reached(site.receivers, method)

    def _is_reached(self, receivers: Collection[int], method: SymbolId) -> bool:
        """Return whether the type of a member is one of the receivers, below one, or not known to be neither."""
        owner = self.owner_of(method)
        if owner is None or not receivers:
            return True
        is_reached = not self._own_places(owner).isdisjoint(receivers)
        is_reached = is_reached or not self._places_beside(owner).isdisjoint(receivers)
        is_reached = is_reached or not self._places_before(method).isdisjoint(receivers)
        return is_reached or any(
            all(self._resolver.may_satisfy(owner, other) for other in (kind, *self.ancestors(kind)))
            for kind in self._source.placed(receivers).values()
        )

    def _find_own_places(self, owner: SymbolId) -> Set[int]:
        """Return the places of the types whose values may be of a type that has the members of another."""
        holders = self._holders(owner)
        return {place for holder in holders for place in (self._references.place(holder), *self.above(holder))}

    def _find_places_beside(self, owner: SymbolId) -> Set[int]:
        """Return the places of the types for which what a type below has from another side may stand."""
        below = [] if self._symbols.has_method_sets(owner) else self.descendants(owner)
        return {place for symbol in below for place in self.above(symbol)}

    def _find_places_before(self, method: SymbolId) -> Set[int]:
        """Return what `super` is in the types that stand before that of a method in the order of a type below both."""
        owner, state = self.owner_of(method), self._resolver.state
        kinds = self.descendants(owner) if owner and state.policy(method).members.is_linear else ()
        near = {symbol for kind in kinds for symbol in self._resolver.members.before(kind, method)}
        return {place_id(super_place(state.place(symbol))) for symbol in near}

    def _fits(self, symbol: SymbolId, other: SymbolId) -> bool:
        """Return whether two methods of one name can be one operation: overloads take as many arguments."""
        first, second = self._declared(symbol).parameters, self._declared(other).parameters
        is_same = first is None or second is None or len(first) == len(second)
        may_be = is_same or not self._symbols.has_overloads(symbol)
        return may_be and self._resolver.overloads.can_override(symbol, other)
