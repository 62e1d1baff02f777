"""What expressions give."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag_mcp.model.expressions import (
    AnyOf,
    Application,
    Argument,
    Awaited,
    Call,
    Creation,
    Each,
    Element,
    Expression,
    FunctionMember,
    InstanceOf,
    Item,
    Key,
    Known,
    ListOf,
    Literal,
    MapOf,
    Member,
    ModuleName,
    Name,
    NoValue,
    Numbered,
    SuperOf,
    TupleOf,
    TypeItself,
    names_in,
    parse,
    replaced_name,
)
from graphrag_mcp.model.facts import SymbolId, Use
from graphrag_mcp.model.values import (
    ABSENT,
    NOTHING,
    OUTSIDE,
    Above,
    All,
    Either,
    Function,
    Instance,
    Later,
    Many,
    Nothing,
    Outside,
    Several,
    Signature,
    Table,
    Type,
    Value,
    either,
    held_by,
    nothing,
    of_kind,
    part_at,
    value_of,
    without_variables,
)
from graphrag_mcp.resolution.calls import Calls
from graphrag_mcp.resolution.members import Members
from graphrag_mcp.resolution.state import MAX_LEVELS, ResolverPart
from graphrag_mcp.resolution.types import Types


@dataclass(eq=False)
class Expressions(ResolverPart):
    """Decides the values of expressions."""

    types: Types
    members: Members
    calls: Calls

    def value(self, path: str, at: int, expression: Expression) -> Value | None:
        """Return what an expression gives at an offset of a file."""
        at = self.state.open(path).scope_at(at)
        return self.state.once(("value", path, at, expression), lambda: self._value(path, at, expression))

    def in_turn(self, path: str, name: str, assigned: Sequence[tuple[int, str]]) -> Value | None:
        """Return what a variable is given, one value after the other: each may be made of those before."""
        key = ("in turn", path, name, assigned[0], assigned[-1], len(assigned))
        return self.state.once(key, lambda: self._in_turn(path, name, sorted(assigned)))

    def _in_turn(self, path: str, name: str, assigned: Sequence[tuple[int, str]]) -> Value | None:
        before: Value | None = NOTHING
        for place, (at, text) in enumerate(assigned):
            expression = parse(text)
            if place and name in names_in(text):
                expression = replaced_name(expression, name, Known(before))
            before = either((before, self.value(path, at, expression)))
        return before

    def written(self, symbol: SymbolId, text: str) -> Value | None:
        """Return what an expression gives that is written in a declaration."""
        return self.value(symbol.path, self.declared(symbol).at, parse(text))

    def _value(self, path: str, at: int, expression: Expression) -> Value | None:  # noqa: C901 - a case for each kind
        def inner(part: Expression) -> Value | None:
            return self.value(path, at, part)

        match expression:
            case Name() | Member() | ModuleName():
                return value_of(self.ask.referent(path, at, expression))
            case FunctionMember(owner, name):
                return value_of(self.ask.referent(path, at, Member(owner, name), Use.FUNCTION))
            case Creation(made, arguments):
                return self.calls.created(inner(made), tuple(map(inner, arguments)))
            case Awaited(of):
                return self._awaited(inner(of))
            case Argument(of, place):
                return without_variables(self.calls.parameter(self.calls.callee(path, at, of), place))
            case Call(function, arguments):
                return self.calls.called(path, at, function, arguments)
            case InstanceOf(kind):
                return self.types.named(path, at, kind)
            case TypeItself(kind):
                return of_kind(Type, self.types.named(path, at, kind))
            case Application(function, arguments):
                return self.instantiated(inner(function), tuple(self.types.named(path, at, part) for part in arguments))
            case Known(known):
                return known  # type: ignore[no-any-return]
            case Literal(name):
                return Outside(name)
            case NoValue():
                return NOTHING
            case Numbered(number):
                return self.ask.meaning((SymbolId(path, number),))
            case SuperOf(number):
                return Above((SymbolId(path, number),))
            case Element(of):
                return self._element(inner(of))
            case Each(of):
                looped = self.types.underlying(inner(of))
                if isinstance(looped, Several):
                    return either(looped.items)
                by_key = isinstance(looped, Table) and self.state.open(path).policy.members.loops_over_keys
                return self.each(looped, 0 if by_key else 1)
            case Key(of):
                return self.each(inner(of), 0)
            case Item(of, place):
                return self._item(inner(of), place)
            case ListOf(element):
                return self.list_of(path, self._kept(path, inner(element)))
            case MapOf(key, value):
                return Table(inner(key), self._kept(path, inner(value)))
            case TupleOf(items):
                return Several(tuple(map(inner, items)))
            case AnyOf(values):
                return either(map(inner, values))
        return None

    def _kept(self, path: str, value: Value | None) -> Value | None:
        """Return what a list or map holds later: things of the same type, but not the same functions."""
        is_open = self.state.open(path).policy.foreign.is_open
        return None if is_open and isinstance(value, Function | Type | Either) else value

    def instantiated(self, value: Value | None, kinds: tuple[Value | None, ...]) -> Value | None:
        """Return a generic type or function with its type arguments."""
        match value:
            case Function(symbols, of):
                return Function(symbols, of, kinds)
            case Type(symbols):
                return Type(symbols, kinds)
            case Outside() if not all(isinstance(kind, Outside | Nothing) for kind in kinds):
                return None
        return value

    def list_of(self, path: str, element: Value | None) -> Value:
        """Return a list, of the type that the language's library declares for it."""
        file = self.state.open(path)
        library = self.ask.library(file, file.policy.foreign.library.lists)
        return Instance(library, (element,)) if library else Many(element)

    def _element(self, value: Value | None) -> Value | None:
        if isinstance(value, Function | Type):  # An instantiation: f[int]
            return value
        match self.types.underlying(value):
            case Many(element):
                return element
            case Table(_, held):
                return held
            case Outside() as foreign:
                return held_by(foreign)
        return None

    def each(self, value: Value | None, place: int) -> Value | None:
        """Return what a loop gives, second and first."""
        match self.types.underlying(value):
            case Many(element):
                return element if place else OUTSIDE
            case Table(key, held):
                return held if place else key
            case Signature((Signature(values, _), *_), _):  # A function that calls the body of the loop.
                return part_at(values, place)
            case Instance(symbols) as looped:
                return self._iterated(looped, self.state.policy(symbols[0]).members.iterating)
            case Outside() as foreign:
                return held_by(foreign)
        return None

    def _iterated(self, value: Value | None, names: Sequence[str]) -> Value | None:
        """Return what the members give that a loop over an object calls."""
        for name in names:
            value = self.calls.result(value_of(self.members.find(value, name)), nothing, 0)
            if not isinstance(value, Instance):
                return self.each(value, 1)
        return value if names else None

    def _item(self, value: Value | None, place: int) -> Value | None:
        match self.types.underlying(value):
            case Several(items):
                return part_at(items, place)
            case Many(element):
                return element
            case Outside() as foreign:
                return held_by(foreign)
        return None

    def _awaited(self, value: Value | None) -> Value | None:
        """Return what awaiting a value gives: what it hands to the function that is to be called then."""
        for _ in range(MAX_LEVELS):
            if isinstance(value, Either):
                return either(map(self._awaited, value.values))
            if isinstance(value, Later):
                return value.value
            if isinstance(value, Instance) and self.state.policy(value.symbols[0]).calls.asynchronous:
                return None
            if not isinstance(value, Instance | All):
                return value
            then = self.members.find(value, "then")
            if then is ABSENT:
                return value
            value = self.calls.parameter(self.calls.parameter(value_of(then), 0), 0)
        return None
