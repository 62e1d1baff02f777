"""Which types satisfy an interface by having its methods, in languages where that is enough."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from graphrag_mcp.languages.shapes import LITERAL
from graphrag_mcp.model.facts import SymbolId
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.links import EMBEDDING, How, StoredLink, place_id
from graphrag_mcp.model.values import (
    ABSENT,
    OUTSIDE,
    Instance,
    Outside,
    Signature,
    Type,
    Value,
    Variable,
    has_variable,
    parts_of,
    rebuilt,
    symbols_of,
)
from graphrag_mcp.resolution.references import References, types_of
from graphrag_mcp.resolution.state import of_project

MAX_TYPES = 2_000  # Below one type; a longer list is not read.
MAX_LEVELS = 100  # Types above each other.
_KEPT = 1_000  # Types, and names of methods that interfaces demand.


class _MethodSet(NamedTuple):
    """What an interface demands. foreign: the foreign interfaces that it embeds, each with its methods."""

    own: Mapping[str, SymbolId]
    foreign: Mapping[str, Mapping[str, str]]


class MethodSets:
    """Compares the methods of types with those that interfaces demand."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._resolver = references.resolver
        self._declared, self._symbols = self._resolver.declared, self._resolver.symbols
        self._source = references.source
        self.embedding = lru_cache(_KEPT)(self._find_embedding)
        self._method_set = lru_cache(_KEPT)(self._find_method_set)
        self._demanded = lru_cache(_KEPT)(self._find_demanded)

    def satisfying(self, interface: SymbolId) -> list[SymbolId]:
        """Return the types that have all methods of an interface."""
        return [symbol for symbol, has_all in self._compared(interface) if has_all]

    def may_satisfy(self, interface: SymbolId) -> list[SymbolId]:
        """Return the types that have all methods of an interface if what is not known of them fits."""
        return [symbol for symbol, has_all in self._compared(interface) if has_all is None]

    def _compared(self, interface: SymbolId) -> Iterator[tuple[SymbolId, bool | None]]:
        """Yield the types that may satisfy an interface, each with whether it does, None if that is not known."""
        methods = self._method_set(interface)
        if not methods.own:
            return
        rarest = min(methods.own, key=lambda name: len(self._source.named(name)))
        owners = self._owners_of(self._source.named(rarest))
        embedding = [below for owner in owners for below in self.embedding(owner)]
        foreign = self.embedders if self._may_be_foreign(rarest, self._signature(methods.own[rarest])) else ()
        for symbol in dict.fromkeys((*owners, *embedding, *foreign)):
            if not self._is_variant(symbol, interface):
                yield symbol, self._has_all(symbol, methods)

    def _is_variant(self, near: SymbolId, other: SymbolId) -> bool:
        """Return whether two declarations are one, of two builds."""
        names = (self._declared(symbol).qualified for symbol in (near, other))
        return len(set(names)) == 1 and self._source.unit(near.path) == self._source.unit(other.path)

    def satisfied(self, symbol: SymbolId) -> list[SymbolId]:
        """Return the interfaces whose methods a type has."""
        names = {self._declared(method).name for method in self._methods(symbol)}
        names.update(*(self._symbols.foreign_members(symbol, base) or () for base in self._bases(symbol)))
        interfaces = [other for other in self._demanding(sorted(names)) if not self._is_variant(other, symbol)]
        # One that is made of others declares no method itself.
        interfaces += [made for owner in interfaces for made in self.embedding(owner)]
        sets = [(other, methods) for other in dict.fromkeys(interfaces) if (methods := self._method_set(other)).own]
        if all(map(types_of, self._bases(symbol))):  # Otherwise it may have more methods than are known.
            sets = [(other, methods) for other, methods in sets if methods.own.keys() <= names]
        return [other for other, methods in sets if self._has_all(symbol, methods)]

    def unsure(self, symbol: SymbolId, name: str) -> Iterator[SymbolId]:
        """Yield the interfaces that demand a method of a name, and of which it is not known whether a type has all."""
        for other in dict.fromkeys(made for near in self._demanding((name,)) for made in (near, *self.embedding(near))):
            methods = self._method_set(other)
            if methods.own and self._has_all(symbol, methods) is None:
                yield other

    def _demanding(self, names: Iterable[str]) -> list[SymbolId]:
        """Return the interfaces that themselves demand a method of some names."""
        named = (method for name in names for method in self._source.named(name))
        return self._owners_of(filter(self._symbols.is_abstract, named))

    def _owners_of(self, methods: Iterable[SymbolId]) -> list[SymbolId]:
        return list(dict.fromkeys(filter(None, map(self._symbols.owner_of, methods))))

    def _is_given(self, symbol: SymbolId, name: str, wanted: Value) -> bool:
        """Return whether values of a type are given as an interface that demands a method of a type: it has that.

        A signature with a type parameter does not say which type the method has.
        """
        own = set(map(self._references.place, self._parts(symbol)))
        demanded = (method for method, kinds in self._demanded(name).items() if not own.isdisjoint(kinds))
        signatures = map(self._signature, demanded)
        return any(self._same(signature, wanted) for signature in signatures if not has_variable(signature))

    def _find_demanded(self, name: str) -> dict[SymbolId, Set[int]]:
        """Return the methods of a name that interfaces demand, each with the places of the types given as one."""
        return {
            demanded: {link.receiver for link in self._links_as(demanded)}
            for demanded in filter(self._symbols.is_abstract, self._source.named(name))
        }

    def _links_as(self, demanded: SymbolId) -> Sequence[StoredLink]:
        """Return where values are given as the interface of a method, or as one that embeds that."""
        interface = self._symbols.owner_of(demanded)
        return self._references.linked((interface, *self.embedding(interface)), (How.GIVEN,)) if interface else ()

    def given(self, kind: SymbolId, name: str) -> Iterator[tuple[StoredLink, SymbolId, bool]]:
        """Yield where values of a type, or of one that embeds it, are given as interfaces that demand a method of it.

        Each with the demanded method, and whether nothing that the type embeds can have the method in its place.
        """
        places = {self._references.place(kind): True}
        places |= dict.fromkeys(map(self._references.place, self.embedding(kind)), False)
        for demanded in filter(self._symbols.is_abstract, self._source.named(name)):
            for link in self._links_as(demanded):
                if link.receiver in places:
                    yield link, demanded, places[link.receiver] and self._is_only_own(kind, demanded)

    def _is_only_own(self, kind: SymbolId, demanded: SymbolId) -> bool:
        """Return whether nothing that a type embeds can have a method."""
        name = self._declared(demanded).name
        is_embedded = any(
            self._resolver.members.find(Instance((base,)), name) is not ABSENT for base in self.embedded(kind)
        )
        is_foreign = self.has_foreign(kind) and self._may_be_foreign(name, self._signature(demanded))
        return not (is_embedded or is_foreign)

    def _methods(self, symbol: SymbolId) -> Iterator[SymbolId]:
        """Yield the methods that a type has, also those that it embeds."""
        return chain.from_iterable(map(self._symbols.methods_of, self._parts(symbol)))

    def _parts(self, symbol: SymbolId) -> list[SymbolId]:
        """Return a type, and those that it embeds, itself or through others."""
        return [symbol, *closure(symbol, self.embedded)]

    def embedded(self, symbol: SymbolId) -> list[SymbolId]:
        """Return the types of the project that a type embeds."""
        return [base for base_value in self._resolver.lineage.bases_of(symbol) for base in types_of(base_value)]

    def _find_embedding(self, symbol: SymbolId) -> list[SymbolId]:
        """Return all types that embed a type, themselves or through others."""
        return closure(symbol, lambda other: self.below(self._references.linked((other,), (How.BELOW,))))

    def _find_method_set(self, interface: SymbolId) -> _MethodSet:
        """Return the methods of an interface, none if some are not known."""
        own: dict[str, SymbolId] = {}
        foreign: dict[str, Mapping[str, str]] = {}
        if not (self._symbols.is_interface(interface) and self._symbols.has_method_sets(interface)):
            return _MethodSet(own, foreign)
        for base in self._bases(interface):
            known = self._symbols.foreign_methods(interface, base)
            if known is None and not (types_of(base) and all(map(self._symbols.is_interface, types_of(base)))):
                return _MethodSet(own, foreign)
            if isinstance(base, Outside) and known:
                foreign[base.name] = known
        for method in self._methods(interface):
            own.setdefault(self._declared(method).name, method)
        return _MethodSet(own, foreign)

    def unlisted(self, interface: SymbolId) -> Sequence[str]:
        """Return what an interface embeds or is, if it demands no known method: which types satisfy it is not found."""
        is_one = self._symbols.is_interface(interface) and self._symbols.has_method_sets(interface)
        if not is_one or self._method_set(interface).own:
            return ()
        return [base.type.strip(LITERAL) for base in self._declared(interface).bases] or ["any"]

    def has_foreign(self, symbol: SymbolId) -> bool:
        """Return whether a struct has the methods of a foreign type, which it embeds itself or through others."""
        return any(map(self.embeds_foreign, self._parts(symbol)))

    def embeds_foreign(self, symbol: SymbolId) -> bool:
        """Return whether a struct embeds a foreign type, and so has its methods."""
        if self._symbols.is_interface(symbol) or not self._symbols.has_method_sets(symbol):
            return False
        return not all(map(types_of, self._resolver.lineage.bases_of(symbol)))

    @cached_property
    def embedders(self) -> list[SymbolId]:
        """The types that embed foreign types, themselves or through others."""
        links = self._references.to({place_id(EMBEDDING)}, (How.ABOVE,))
        nearest = self._source.placed({link.source for link in links})
        return list(dict.fromkeys(kind for near in nearest.values() for kind in (near, *self.embedding(near))))

    def _has_all(self, symbol: SymbolId, wanted: _MethodSet) -> bool | None:
        """Return whether a type has all methods, with the same signatures; None if that depends on unknown types."""
        embedded = {base.name for base in self._bases(symbol) if isinstance(base, Outside)}
        own = (self._has(symbol, name, self._signature(method)) for name, method in wanted.own.items())
        foreign = (name in embedded or self.takes_all(symbol, methods) for name, methods in wanted.foreign.items())
        return _all_of(chain(own, foreign))

    def takes_all(self, symbol: SymbolId, methods: Mapping[str, str]) -> bool | None:
        """Return whether a type has methods of some names, each with a type, likewise."""
        if any(self._resolver.members.find(Instance((symbol,)), name) is ABSENT for name in methods):
            return False
        return _all_of(self._has(symbol, name, self._written(symbol, text)) for name, text in methods.items())

    def _has(self, symbol: SymbolId, name: str, wanted: Value) -> bool | None:
        """Return whether a type has a method of a type, None if that depends on types that are not known."""
        member = self._resolver.members.find(Instance((symbol,)), name)
        symbols = symbols_of(member)
        if method := next(filter(self._symbols.is_method, symbols), None):
            own = self._signature(method)
            takes_as_many = not isinstance(wanted, Signature) or len(own.parameters) == len(wanted.parameters)
            return self._same(own, wanted) or (None if takes_as_many and _has_unknown(own) else False)
        if symbols or member is ABSENT or not self._may_be_foreign(name, wanted):
            return False
        known = filter(None, (self._symbols.foreign_methods(symbol, base) for base in self._bases(symbol)))
        text = next(filter(None, (methods.get(name) for methods in known)), "")
        return self._same(self._written(symbol, text), wanted) if text else self._is_given(symbol, name, wanted) or None

    def _written(self, symbol: SymbolId, text: str) -> Value:
        """Return the type of a method of a foreign interface. symbol: a type in whose file it is read."""
        return _opened(self._resolver.expressions.written(symbol, text))

    def _bases(self, symbol: SymbolId) -> Iterator[Value | None]:
        """Yield what a type embeds, itself or through others."""
        return chain.from_iterable(map(self._resolver.lineage.bases_of, self._parts(symbol)))

    def _may_be_foreign(self, name: str, method: Value) -> bool:
        """Return whether a foreign type may have a method: it names nothing of the project."""
        return name[:1].isupper() and not self._is_of_project(method)

    def _is_of_project(self, value: Value | None) -> bool:
        """Return whether the project has given a name to a part of a type."""
        own = value.symbols if isinstance(value, Instance | Type) else ()
        return any(self._declared(symbol).name for symbol in of_project(own)) or any(
            map(self._is_of_project, parts_of(value))
        )

    def _signature(self, symbol: SymbolId) -> Signature:
        declaration = self._declared(symbol)
        texts = (*(parameter.value for parameter in declaration.inputs), declaration.value or "-")
        *parameters, result = (self._resolver.expressions.written(symbol, text) for text in texts)
        return Signature(tuple(parameters), result)

    def _same(self, value: Value | None, other: Value | None) -> bool:
        """Return whether two types are known to be the same; a type parameter may be anything."""
        match value, other:
            case (Variable(), _) | (_, Variable()):
                return True
            case (Instance((first,)), Instance((second,))) if not any(map(self._name, (first, second))):
                mine, others = self._members(first), self._members(second)
                is_same = [name for name, _ in mine] == [name for name, _ in others]
                return is_same and all(self._same(a, b) for (_, a), (_, b) in zip(mine, others, strict=True))
        if value is None or other is None:
            return False
        parts, others_parts = parts_of(value), parts_of(other)
        is_same = len(parts) == len(others_parts) and rebuilt(value, _blank) == rebuilt(other, _blank)
        return is_same and all(map(self._same, parts, others_parts))

    def _name(self, symbol: SymbolId) -> str:
        return self._declared(symbol).name

    def _members(self, kind: SymbolId) -> list[tuple[str, Value | None]]:
        """Return the fields and methods of a type without a name, each with its type, and the types that it embeds."""
        members: list[tuple[str, Value | None]] = []
        for symbol, declaration in self._resolver.state.open(kind.path).owned_by(kind.number):
            is_method = declaration.kind == SymbolKind.METHOD
            held = self._signature(symbol) if is_method else self._resolver.meaning((symbol,))
            members.append((declaration.name, held))
        return members + [("", base) for base in self._resolver.lineage.bases_of(kind)]

    def below(self, links: Iterable[StoredLink]) -> list[SymbolId]:
        """Return the declarations at the sources of links."""
        links = list(links)
        symbols = {link.source: self._references.symbol(link.path, link.source) for link in links}
        missing = [place for place, symbol in symbols.items() if symbol is None]
        symbols |= self._source.placed(missing) if missing else {}
        return [symbol for symbol in symbols.values() if symbol]


def closure(symbol: SymbolId, step: Callable[[SymbolId], Iterable[SymbolId]]) -> list[SymbolId]:
    """Return what is reached by a step from a symbol, the nearest first."""
    reached: dict[SymbolId, None] = {}
    level, levels = [symbol], 0
    while level and len(reached) < MAX_TYPES and levels < MAX_LEVELS:
        levels += 1
        fresh = {other: None for near in level for other in step(near) if other != symbol and other not in reached}
        level = list(fresh)
        reached |= fresh
    return list(reached)


def _all_of(parts: Iterable[bool | None]) -> bool | None:
    """Return whether all parts are true, None if some are not known and no other is false."""
    is_sure = True
    for part in parts:
        if part is False:
            return False
        is_sure = is_sure and part is True
    return is_sure or None


def _has_unknown(value: Value | None) -> bool:
    """Return whether a part of a type is not known."""
    return value in (None, OUTSIDE) or any(map(_has_unknown, parts_of(value)))


def _opened(value: Value | None) -> Value:
    """Return a type in which any other stands for what is not known."""
    return Variable("") if value is None else rebuilt(value, _opened) or Variable("")


def _blank(_part: Value | None) -> None:
    """Leave a part out of what is compared."""
