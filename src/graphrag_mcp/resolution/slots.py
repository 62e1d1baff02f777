"""What holds functions until they are called: parameters, fields, variables and collections, as places."""

import re
from collections.abc import Collection, Iterator

from graphrag_mcp.model.expressions import Awaited, Call, Each, Element, Expression, Item, Key, Member, Name, parse
from graphrag_mcp.model.facts import Bound, Flow, SymbolId
from graphrag_mcp.model.files import CALLABLE, VARIABLE, SymbolKind
from graphrag_mcp.model.links import Place
from graphrag_mcp.model.values import Function, Type, Value
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.libraries import LIBRARIES
from graphrag_mcp.resolution.resolver import Resolver

FILLING = re.compile(  # Methods of collections, in all languages.
    "add|addAll|append|appendleft|enqueue|extend|insert|offer|push|put|putAll|set|setdefault|store|unshift|update"
)
_ASSIGNED = (*VARIABLE, SymbolKind.METHOD)
_TAKING = ("get", "pop", "shift", "dequeue", "poll", "remove")  # Methods that give an element of a collection.
_MOST_STEPS = 5  # From a name to what it was taken from.


class Slots:
    """The places in which the values of one file are kept."""

    def __init__(self, resolver: Resolver, file: File) -> None:
        self._resolver, self._file, self._path = resolver, file, file.path
        self._place = resolver.state.place

    def of(self, at: int, expression: Expression, steps: int = _MOST_STEPS) -> Place | None:
        """Return where the value of an expression was kept; of an element of a collection, where that is."""
        match expression:
            case Name(name):
                bound = self._file.innermost(name, at)
                return self._bound(name, at, bound, steps) if bound else self._declared(at, expression)
            case Member():
                return self._declared(at, expression)
            case Element(inner) | Item(inner) | Each(inner) | Key(inner) | Awaited(inner) if steps:
                return self.of(at, inner, steps - 1)
            case Call(Member(inner, name)) if name in _TAKING and steps:
                return self.of(at, inner, steps - 1)
        return None

    def _bound(self, name: str, at: int, bound: list[Bound], steps: int) -> Place | None:
        if bound[0].kind == "parameter":
            for number, declaration in self._file.declared_around(at):
                if declaration.kind in CALLABLE and any(
                    parameter.name == name for parameter in declaration.parameters or ()
                ):
                    return self._parameter(SymbolId(self._path, number), name)
            return None
        referents = (
            self.of(binding.at, parse(binding.value), steps - 1)
            for binding in bound
            if steps and binding.kind in ("variable", "alias")
        )
        return next(filter(None, referents), None)

    def _parameter(self, function: SymbolId, name: str) -> Place:
        place = self._place(function)
        return Place(place.path, f"{place.identity}({name})")

    def _declared(self, at: int, expression: Expression, kinds: Collection[str] = VARIABLE) -> Place | None:
        """Return the place of a field or of a variable that others see, or of another kind of declaration."""
        referent = self._resolver.names.referent(self._path, at, expression)
        symbols = referent.symbols if referent else ()
        fields = (
            symbol
            for symbol in symbols
            if symbol.path not in LIBRARIES and self._resolver.declared(symbol).kind in kinds
        )
        symbol = next(fields, None)
        return self._place(symbol) if symbol else None

    def is_added(self, flow: Flow) -> bool:
        """Return whether a value is handed over by adding it to a collection, judged by its name."""
        into = parse(flow.into)
        return isinstance(into, Member) and FILLING.fullmatch(into.name) is not None

    def filled(self, flow: Flow) -> Iterator[Place]:
        """Yield where a value is kept that a file hands over: in a parameter, a field, or a collection."""
        into = parse(flow.into)
        if flow.argument < 0:
            is_local = isinstance(into, Name) and bool(self._file.innermost(into.name, flow.at))
            is_member = isinstance(into, Member)  # It may be a method: that of an interface, or one that is replaced.
            place = self._declared(flow.at, into, _ASSIGNED) if is_member else self.of(flow.at, into)
            places = [] if is_local else [place]
        else:
            callee = self._resolver.calls.callee(self._path, flow.at, into)
            places = list(self._parameters(callee, flow.argument))
            match into:
                case Member(inner, name) if not places and FILLING.fullmatch(name):
                    places = [self.of(flow.at, inner)]
        yield from filter(None, places)

    def _parameters(self, callee: Value | None, number: int) -> Iterator[Place]:
        symbols = callee.symbols if isinstance(callee, Function) else ()
        if isinstance(callee, Type):
            symbols = self._resolver.symbols.constructors(callee, -1)
        for symbol in symbols:
            parameters = self._resolver.declared(symbol).parameters or ()
            parameters = parameters[1:] if self._resolver.overloads.has_self(symbol) else parameters
            if symbol.path not in LIBRARIES and parameters and (number < len(parameters) or parameters[-1].rest):
                name = parameters[min(number, len(parameters) - 1)].name
                yield from [self._parameter(symbol, name)] if name else ()
