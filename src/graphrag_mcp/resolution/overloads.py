"""Which of several functions of one name is meant."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from graphrag_mcp.languages.policy import Policy
from graphrag_mcp.model.expressions import FunctionMember
from graphrag_mcp.model.facts import Mark, Mention, SymbolId, Takes
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.model.values import (
    NOTHING,
    OUTSIDE,
    Arguments,
    Either,
    Foreign,
    Function,
    Instance,
    Many,
    Outside,
    Package,
    Referent,
    Signature,
    Type,
    Value,
    Variable,
    alternatives,
    apart,
    either,
)
from graphrag_mcp.resolution.files import arguments_of
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME
from graphrag_mcp.resolution.state import LIBRARIES, ResolverPart
from graphrag_mcp.resolution.symbols import Symbols
from graphrag_mcp.resolution.types import Lineage


class _Fit(IntEnum):
    """How well a value is what a parameter expects, the best first.

    WIDER: its type is below the expected one. BOXED: a number as an object, or the reverse.
    """

    EXACT, WIDER, BOXED, MAYBE, NEVER = range(5)


@dataclass(eq=False)
class Overloads(ResolverPart):
    """Tells functions of one name apart by what they are given, and which of them override others."""

    symbols: Symbols
    lineage: Lineage

    def chosen(self, path: str, mention: Mention, referent: Referent) -> Referent:
        """Return those overloads that take the arguments of a call."""
        items, called = arguments_of(mention), _overloads_in(referent)
        if not 0 < len(called) <= MOST_OF_A_NAME:
            return referent

        def given(place: int) -> Value | None:
            value = self.ask.value(path, mention.at, items[place])
            is_unknown = isinstance(items[place], FunctionMember) and isinstance(value, Outside)  # A foreign function.
            return None if is_unknown else value

        fit = self.applicable(called, given, mention.arity)
        return Referent(tuple(function.symbols[0] for function in fit), either(fit)) if fit else referent

    def seen_from(self, path: str, referent: Referent) -> Referent:
        """Return those overloads that a file may call: private ones are of the file that declares them."""
        called = _overloads_in(referent)
        seen = [
            function
            for function in called
            if function.symbols[0].path == path or Mark.PRIVATE not in self.declared(function.symbols[0]).marks
        ]
        is_less = 0 < len(seen) < len(called)
        return Referent(tuple(function.symbols[0] for function in seen), either(seen)) if is_less else referent

    def can_override(self, symbol: SymbolId, other: SymbolId) -> bool:
        """Return whether a method can be the same operation as one of a type above or below, as far as is known."""
        if not self.state.step():
            return False
        first, second = self.declared(symbol), self.declared(other)
        if not self.symbols.has_overloads(symbol) or min(first.owner, second.owner) < 0:
            return True
        if not {Mark.STATIC, Mark.PRIVATE}.isdisjoint((*first.marks, *second.marks)):
            return False
        owners = (SymbolId(symbol.path, first.owner), SymbolId(other.path, second.owner))
        if any(map(self.symbols.is_constructor, (symbol, other), owners)):
            return False
        own, others = (Instance((owner,)) for owner in owners)
        above, below = self.lineage.seen_as(own, others), self.lineage.seen_as(others, own)
        return _may_be_same(self._taken(symbol, below or own), self._taken(other, above or others))

    def callable_parts(self, symbols: tuple[SymbolId, ...]) -> tuple[SymbolId, ...]:
        """Return the overloads that are declared, without the function that implements them."""
        return tuple(filter(self.symbols.is_abstract, symbols)) or symbols

    def callable_with(self, called: Function, argument: Arguments, count: int) -> tuple[SymbolId, ...]:
        """Return the functions that can be called with some arguments; none where there are too many to know all."""
        if len(called.symbols) > MOST_OF_A_NAME:
            return ()
        symbols = self.callable_parts(called.symbols)
        if len(symbols) < 2 or not self.state.policy(symbols[0]).foreign.is_open:
            return symbols
        return tuple(symbol for symbol in symbols if self._takes(symbol, argument, count)) or symbols

    def _takes(self, symbol: SymbolId, argument: Arguments, count: int) -> bool:
        """Return whether an overload can be called with some arguments: with as many, and no text for a function."""
        declaration = self.declared(symbol)
        parameters = declaration.inputs[self.has_self(symbol) :]
        if not Takes.of(parameters).fits(count):
            return False
        expected = (self.ask.written(symbol, parameter.value) for parameter in parameters)
        pairs = [{type(value), type(argument(place))} for place, value in zip(range(count), expected, strict=False)]
        return not any(Outside in pair and not pair.isdisjoint((Function, Signature, Type)) for pair in pairs)

    def has_self(self, symbol: SymbolId) -> bool:
        """Return whether the first parameter of a function is the own instance."""
        declaration = self.declared(symbol)
        is_member = declaration.kind == SymbolKind.METHOD and Mark.STATIC not in declaration.marks
        return is_member and bool(declaration.inputs) and self.state.policy(symbol).calls.passes_self

    def of(self, value: Value) -> Sequence[Function]:
        """Return the functions of a name, in one type or several, between which arguments decide; else none."""
        values = alternatives(value)
        called = [
            function
            for function in values
            if isinstance(function, Function) and self.symbols.has_overloads(function.symbols[0])
        ]
        is_all = len(called) == len(values) and sum(len(function.symbols) for function in called) <= MOST_OF_A_NAME
        return [other for function in called for other in apart(function)] if is_all else []

    def applicable(self, called: Sequence[Function], argument: Arguments, count: int) -> Sequence[Function]:
        """Return the overloads that take the arguments; those that take exactly their types, if there are any.

        Of these one that lists all of its parameters comes before one that takes any number.
        """
        if len(called) == 1:
            return called
        values = [argument(place) for place in range(count)]
        fits = [(function, *self._fits(function, values)) for function in called]
        possible = [(function, how, is_open) for function, how, is_open in fits if how is not _Fit.NEVER]
        is_unsure = any(how is _Fit.MAYBE for _, how, _ in possible)
        for limit in (_Fit.EXACT,) if is_unsure else (_Fit.EXACT, _Fit.WIDER, _Fit.BOXED):
            if strict := [function for function, how, is_open in possible if how <= limit and not is_open]:
                return self._most_specific(strict, count)
        return [function for function, _, _ in possible]

    def _most_specific(self, called: Sequence[Function], count: int) -> Sequence[Function]:
        """Return the overloads but those of which another one takes less."""
        if not self.state.step(len(called) ** 2):
            return called
        parameter, policy = self.ask.parameter, self.state.policy(called[0].symbols[0])

        def is_within(function: Function, other: Function) -> bool:
            pairs = ((parameter(other, place), parameter(function, place)) for place in range(count))
            return all(self._fit(expected, actual, policy) <= _Fit.WIDER for expected, actual in pairs)

        return [
            function
            for function in called
            if not any(is_within(x, function) and not is_within(function, x) for x in called)
        ]

    def _fits(self, called: Function, values: Sequence[Value | None]) -> tuple[_Fit, bool]:
        """Return how well the worst argument fits, and whether the last parameter takes any number of them."""
        expected = [self.ask.parameter(called, place) for place in range(len(values))]
        parameters = self.declared(called.symbols[0]).inputs
        policy = self.state.policy(called.symbols[0])
        fits = [self._fit(other, value, policy) for other, value in zip(expected, values, strict=True)]
        is_open = self.declared(called.symbols[0]).takes_more
        if is_open and len(values) == len(parameters):
            whole = self._fit(Many(expected[-1]), values[-1], policy)
            is_open = whole > fits[-1] or whole is _Fit.MAYBE
            fits[-1] = min(whole, fits[-1])
        return max(fits, default=_Fit.EXACT), is_open

    def _fit(self, expected: Value | None, actual: Value | None, policy: Policy) -> _Fit:
        """Return how well a value is what a parameter expects."""
        if not self.state.step():
            return _Fit.MAYBE
        match expected, actual:
            case (None, _) | (_, None):
                return _Fit.MAYBE
            case (Variable(name), Variable(other)) if name == other and name:
                return _Fit.EXACT
            case (_, Variable(name, bound)):
                how = max(_Fit.WIDER, self._fit(expected, _least(bound), policy))
                return how if name or how is not _Fit.NEVER else _Fit.MAYBE
            case (Variable(_, bound), _):
                return max(_Fit.WIDER, self._fit(_least(bound), actual, policy))
            case (_, Either(values)):
                fits = {self._fit(expected, value, policy) for value in values}
                return fits.pop() if len(fits) == 1 else _Fit.MAYBE if _Fit.NEVER in fits else max(fits)
        name, own = self._name(expected), self._name(actual)
        is_type = own in policy.foreign.primitives or (own[:1].isupper() and not own.isupper())
        if isinstance(actual, Package) or (isinstance(actual, Outside) and own != name and not is_type):
            actual, own = OUTSIDE, ""  # A variable of a library.
        if name in policy.foreign.primitives or own in policy.foreign.primitives:
            return _Fit.MAYBE if OUTSIDE in (expected, actual) else _fit_number(name, own, policy)
        above = frozenset[str]() if own == "Object" else policy.foreign.final.get(own)
        if above is not None and name:
            return _Fit.EXACT if name == own else _Fit.WIDER if name in above else _Fit.NEVER
        if actual == NOTHING or (name == "Object" != own and actual != OUTSIDE):
            return _Fit.NEVER if isinstance(actual, Function) else _Fit.WIDER
        if isinstance(actual, Function | Type) and (name in policy.foreign.final or isinstance(expected, Many)):
            return _Fit.NEVER
        return self._fit_object(expected, actual, policy)

    def _fit_function(self, expected: Instance, actual: Function | Type) -> _Fit:
        """Return whether a function can be of a type: of an interface, a lambda of one with as many parameters."""
        if Mark.INTERFACE not in self.declared(expected.symbols[0]).marks:
            return _Fit.NEVER
        operation, function = self.ask.operation(expected), self.declared(actual.symbols[0])
        if function.name or not isinstance(operation, Function):
            return _Fit.MAYBE
        taken = self.declared(operation.symbols[0]).inputs
        return _Fit.MAYBE if len(taken) == len(function.inputs) else _Fit.NEVER

    def _fit_object(self, expected: Value | None, actual: Value | None, policy: Policy) -> _Fit:
        match expected, actual:
            case (Instance(), Function() | Type()):
                return self._fit_function(expected, actual)
            case (Instance(symbols), Instance(others)):
                if symbols == others:
                    return _Fit.EXACT
                above = self.lineage.above((actual,))
                if self.lineage.seen_as(actual, expected):
                    return _Fit.WIDER
                is_library = symbols[0].path in LIBRARIES
                is_unknown = any(
                    value is None or (is_library and isinstance(value, Outside | Foreign)) for value in above
                )
                return _Fit.MAYBE if is_unknown else _Fit.NEVER
            case (Instance(symbols), Outside() | Foreign()):
                return _Fit.MAYBE if symbols[0].path in LIBRARIES else _Fit.NEVER
            case (Outside(name) | Foreign(name), Instance()) if name:
                above = self.lineage.above((actual,))
                names = {self._name(value) for value in above if isinstance(value, Outside | Foreign)}
                is_above = self._name(expected) in names
                return _Fit.WIDER if is_above else _Fit.MAYBE if names or None in above else _Fit.NEVER
            case (Outside(name) | Foreign(name), Outside(other) | Foreign(other)) if name or other:
                return _Fit.EXACT if self._name(expected) == self._name(actual) else _Fit.MAYBE
            case (Many(element), Many(other)):
                how = self._fit(element, other, policy)
                is_number = not {self._name(element), self._name(other)}.isdisjoint(policy.foreign.primitives)
                return _Fit.NEVER if how is _Fit.BOXED or (is_number and how is _Fit.WIDER) else how
            case (Instance(), Many()) | (Many(), Instance()) | (Many(), Foreign()):
                return _Fit.NEVER
            case (Outside(name), Many()) | (Many(), Outside(name)) if name:
                return _Fit.NEVER
        return _Fit.MAYBE

    def _name(self, value: Value | None) -> str:
        """Return the own name of a type, "" where that is not known."""
        if isinstance(value, Instance) and value.symbols[0].path in LIBRARIES:
            return self.declared(value.symbols[0]).name
        return value.name.rpartition(".")[2] if isinstance(value, Outside | Foreign) else ""

    def joined(self, hits: Sequence[Referent]) -> Referent:
        """Return the functions of several types of one name, without those that one before overrides."""
        kept: dict[SymbolId, Value] = {}
        signatures: list[Sequence[Value | None]] = []
        for hit in hits:
            of = hit.value.of if isinstance(hit.value, Function) else None
            are_few = len(kept) + len(hit.symbols) <= MOST_OF_A_NAME
            others = signatures if are_few and self.state.step(len(kept) * len(hit.symbols)) else []
            taken = {symbol: self._taken(symbol, of) for symbol in hit.symbols}
            fresh = [symbol for symbol, own in taken.items() if not any(_may_be_same(own, other) for other in others)]
            signatures += [taken[symbol] for symbol in fresh]
            kept |= dict.fromkeys(fresh, of or OUTSIDE)
        return Referent(tuple(kept), either(Function((symbol,), of) for symbol, of in kept.items()))

    def _taken(self, symbol: SymbolId, of: Value | None) -> Sequence[Value | None]:
        """Return what a function takes. of: the value whose member it is."""
        return [self.ask.taken(symbol, of, place) for place in range(len(self.declared(symbol).inputs))]


def _may_be_same(taken: Sequence[Value | None], others: Sequence[Value | None]) -> bool:
    """Return whether two functions may take the same: one overrides the other."""
    return len(taken) == len(others) and not any(map(_differ, taken, others))


def _fit_number(name: str, own: str, policy: Policy) -> _Fit:
    """Return how well a type fits one of which at least one is a number, a letter or a truth value."""
    primitives = policy.foreign.primitives
    if name in primitives and own in primitives:
        return _Fit.EXACT if name == own else _Fit.WIDER if name in primitives[own].wider else _Fit.NEVER
    if own in primitives:
        box = primitives[own].box
        return _Fit.BOXED if name == box or name in policy.foreign.final[box] else _Fit.NEVER
    plain = next((primitive for primitive, kind in primitives.items() if kind.box == own), "")
    return _Fit.BOXED if plain and name in (plain, *primitives[plain].wider) else _Fit.NEVER


def _least(bound: Value | None) -> Value:
    """Return what the argument of a type parameter is at least."""
    return Outside("Object") if bound is None or bound == OUTSIDE else bound


def _differ(value: Value | None, other: Value | None) -> bool:
    """Return whether two types are known to be different; a type parameter may be any."""
    match value, other:
        case (Variable(), Outside(name)) | (Outside(name), Variable()):
            return name.islower() and "." not in name  # A plain value is not an object.
        case (None, _) | (_, None) | (Variable(), _) | (_, Variable()):
            return False
        case (Instance(symbols), Instance(others)):
            return symbols != others
        case (Many(element), Many(another)):
            return _differ(element, another)
        case (Outside(name) | Foreign(name), Outside(another) | Foreign(another)):
            return name.rpartition(".")[2] != another.rpartition(".")[2]
    return True


def _overloads_in(referent: Referent) -> list[Function]:
    """Return the functions that are found, each alone; none if something else is found as well."""
    values = (value for value in alternatives(referent.value) if isinstance(value, Function))
    called = [function for value in values for function in apart(value)]
    return called if {symbol for function in called for symbol in function.symbols} == set(referent.symbols) else []
