"""What a file hands over: functions where interfaces are expected, and what is kept until it is called.

What keeps functions until they are called is a slot, a place: a parameter, a field, a variable or a collection.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from graphrag_mcp.model.expressions import (
    Awaited,
    Call,
    Each,
    Element,
    Expression,
    Item,
    Key,
    Member,
    Name,
    parse,
    says_type,
)
from graphrag_mcp.model.facts import ANY_MEMBER, TYPED, Bound, Flow, Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, VARIABLE, RelationKind, SymbolKind
from graphrag_mcp.model.links import How, Link, Place
from graphrag_mcp.model.values import Function, Instance, Signature, Type, Value, alternatives, symbols_of
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.references import Places, References, functions_of, held_in, types_of
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.state import of_project

FILLING = re.compile(  # Methods of collections, in all languages.
    "add|addAll|append|appendleft|enqueue|extend|insert|offer|push|put|putAll|set|setdefault|store|unshift|update"
)
_ASSIGNED = (*VARIABLE, SymbolKind.METHOD)
_TAKING = ("get", "pop", "shift", "dequeue", "poll", "remove")  # Methods that give an element of a collection.
_MOST_STEPS = 5  # From a name to what it was taken from.
_MOST_BINDINGS = 8  # A name with more bindings is from no one place.


class Handing(Places):
    """The links of what one file hands over."""

    def __init__(self, references: References, file: File) -> None:
        super().__init__(references, file)
        self._slots = Slots(references.resolver, file)

    def links(self) -> Iterator[Link]:
        """Yield the links of handed values."""
        yield from self._handed()
        yield from self._filled()

    def _handed(self) -> Iterator[Link]:
        """Yield the functions and types that are given where an interface is expected."""
        for flow in self._facts.flows:
            value = self._resolver.expressions.value(self._path, flow.at, parse(flow.value))
            yield from self._given(flow, value) if self._file.policy.members.method_sets else ()
            is_given = isinstance(value, Function) or "#" in flow.value or flow.value[:1] == "^"  # `Type::new`
            taker = self._resolver.taker(self._path, flow) if is_given else None
            use = Use.VALUE if len(alternatives(taker)) > 1 else ""
            for interface in _takers(taker):
                operation = self._resolver.operation_of(interface)
                if operation is None and not self._resolver.is_function_type(interface):
                    continue
                line, source = self._line(flow.at), self._source(flow.at)
                functions = [self._place(symbol) for symbol in value.symbols] if isinstance(value, Function) else [None]
                for function in functions:
                    kind = RelationKind.IMPLEMENTS
                    yield Link(self._place(interface), source, line, kind, use, How.HANDED, -1, function)
                    if function and operation:
                        place = self._place(operation)
                        yield Link(function, place, line, RelationKind.OVERRIDES, "", How.HANDED_AS)

    def _given(self, flow: Flow, value: Value | None) -> Iterator[Link]:
        """Yield that a type is given as an interface, where it may have methods from a foreign type."""
        kinds = [self._place(kind) for kind in types_of(value)]
        taking = types_of(self._resolver.taker(self._path, flow)) if kinds else ()
        for interface in filter(self._resolver.symbols.is_interface, taking):
            place, source, line = self._place(interface), self._source(flow.at), self._line(flow.at)
            yield from (Link(place, source, line, RelationKind.IMPLEMENTS, "", How.GIVEN, -1, kind) for kind in kinds)

    def runs(self, mention: Mention, source: Place) -> Iterator[Link]:
        """Yield that what a variable, parameter or field holds is called, where it is not known."""
        receiver = parse(mention.receiver)
        called: Expression = Name(mention.name)
        if mention.receiver:
            called = receiver if mention.name in ("", ANY_MEMBER) else Member(receiver, mention.name)
        if slot := self._slots.of(mention.at, called):
            yield Link(slot, source, mention.line, RelationKind.CALLS, mention.use, How.RUNS)

    def _filled(self) -> Iterator[Link]:
        """Yield the functions and types that are kept in parameters, fields, variables and collections."""
        for flow in self._facts.flows:
            is_stored = flow.argument < 0 or self._slots.is_added(flow) or self._is_said_function(flow)
            if stored := self._kept(flow.at, flow.value, with_slots=is_stored):
                for slot in self._slots.filled(flow):
                    yield from _fill(slot, stored, self._line(flow.at))
        for declaration, place in zip(self._facts.declared, self._file.places, strict=True):
            is_written = declaration.value and (not says_type(declaration.value) or declaration.value[0] == "#")
            if declaration.kind in VARIABLE and is_written:
                yield from _fill(
                    place, self._kept(declaration.at, declaration.value, with_slots=True), declaration.line
                )

    def _is_said_function(self, flow: Flow) -> bool:
        """Return whether a value has a function type: what was kept under its name before is handed on."""
        value = self._resolver.expressions.value(self._path, flow.at, parse(flow.value))
        return any(isinstance(part, Signature) for part in alternatives(value))

    def _kept(self, at: int, text: str, *, with_slots: bool) -> Sequence[tuple[Place, str]]:
        """Return the functions and types that a value is or contains, else the place in which it was kept before."""
        value = held_in(self._resolver.expressions.value(self._path, at, parse(text)))
        symbols = list(functions_of(value))
        if isinstance(value, Instance) and value.symbols[0].path == self._path:
            symbols += self._in_literal(value.symbols[0].number)
        functions = [(self._place(symbol), Use.FUNCTION) for symbol in of_project(symbols)]
        slot = self._slots.of(at, parse(text)) if with_slots and not functions else None
        return functions or ([(slot, Use.VALUE)] if slot else [])

    def _in_literal(self, number: int) -> Iterator[SymbolId]:
        """Yield the functions that an object literal contains."""
        literal = self._facts.declared[number]
        if literal.name or literal.kind != SymbolKind.TYPE:
            return
        for symbol, declaration in self._file.owned_by(number):
            if declaration.kind in CALLABLE:
                yield symbol
            else:
                yield from functions_of(self._resolver.expressions.written(symbol, declaration.value))


def _takers(value: Value | None) -> Iterator[SymbolId]:
    """Yield the types that take a function: interfaces, and function types that have a name."""
    for part in alternatives(value):
        yield from [part.alias] if isinstance(part, Signature) and part.alias else types_of(part)


def _fill(slot: Place, stored: Sequence[tuple[Place, str]], line: int) -> Iterator[Link]:
    """Yield from both sides what is kept in a place."""
    for place, use in stored:
        if place != slot:
            yield Link(slot, place, line, RelationKind.HANDS_ON, use, How.FILLS)
            yield Link(place, slot, line, RelationKind.HANDS_ON, use, How.FILLED)


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
                if any(parameter.name == name for parameter in declaration.inputs):
                    return self._parameter(SymbolId(self._path, number), name)
            return None
        if not steps or len(bound) > _MOST_BINDINGS:
            return None
        named = (binding for binding in bound if binding.kind in ("variable", "alias", "each"))
        return next(filter(None, (self.of(binding.at, parse(binding.value), steps - 1) for binding in named)), None)

    def _parameter(self, function: SymbolId, name: str) -> Place:
        place = self._place(function)
        return Place(place.path, f"{place.identity}({name})")

    def _declared(self, at: int, expression: Expression, kinds: Collection[str] = VARIABLE) -> Place | None:
        """Return the place of a field or of a variable that others see, or of another kind of declaration."""
        symbols = of_project(symbols_of(self._resolver.names.referent(self._path, at, expression)))
        return next((self._place(symbol) for symbol in symbols if self._resolver.declared(symbol).kind in kinds), None)

    def is_added(self, flow: Flow) -> bool:
        """Return whether a value is handed over by adding it to a collection, judged by its name."""
        into = parse(flow.into)
        return isinstance(into, Member) and FILLING.fullmatch(into.name) is not None

    def filled(self, flow: Flow) -> Iterator[Place]:
        """Yield where a value is kept that a file hands over: in a parameter, a field, or a collection."""
        into = parse(flow.into)
        if flow.argument < 0:
            match into:
                case Member():  # It may be a method: that of an interface, or one that is replaced.
                    places = [self._declared(flow.at, into, _ASSIGNED)]
                case Name(name) if flow.argument == TYPED or self._file.innermost(name, flow.at):
                    places = []
                case _:
                    places = [self.of(flow.at, into)]
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
        for symbol in of_project(symbols):
            parameter = self._resolver.declared(symbol).taking(number + self._resolver.overloads.has_self(symbol))
            if parameter and parameter.name:
                yield self._parameter(symbol, parameter.name)
