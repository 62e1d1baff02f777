"""Which of several functions of one name is meant."""

from collections.abc import Callable, Mapping, Sequence, Set
from enum import Enum
from typing import TypeGuard

from graphrag_mcp.model.expressions import parse
from graphrag_mcp.model.facts import Mark, Mention, Parameter, Thing
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.resolution.libraries import LIBRARIES
from graphrag_mcp.resolution.state import Part
from graphrag_mcp.resolution.values import (
    OUTSIDE,
    Either,
    Foreign,
    Found,
    Function,
    Instance,
    Many,
    Outside,
    Signature,
    Type,
    Value,
    Variable,
    apart,
    either,
)


class _Fit(Enum):
    """How well a value is what a parameter expects."""

    EXACT, MAYBE, NEVER = range(3)


class Overloads(Part):
    """Tells functions of one name apart by what they are given, and which of them override others."""

    def chosen(self, path: str, mention: Mention, found: Found) -> Found:
        """Return those overloads that take the arguments of a call."""
        given = parse(mention.arguments)
        items = given[1:] if mention.given > 1 else (given,)
        values = found.value.values if isinstance(found.value, Either) else (found.value,)
        called = [one for value in values if isinstance(value, Function) for one in apart(value)]
        if {thing for one in called for thing in one.things} != set(found.things):
            return found
        fit = self.applicable(
            called, lambda place: self.resolver.expressions.value(path, mention.at, items[place]), mention.given
        )
        return Found(tuple(one.things[0] for one in fit), either(fit)) if fit else found

    def can_override(self, one: Thing, other: Thing) -> bool:
        """Return whether a method can be the same operation as one of a type above or below, as far as is known."""
        first, second = self.declared(one), self.declared(other)
        if not self.resolver.things.has_overloads(one) or min(first.owner, second.owner) < 0:
            return True
        if not {Mark.STATIC, Mark.PRIVATE}.isdisjoint((*first.marks, *second.marks)):
            return False
        kinds = [
            Instance((Thing(thing.path, number),)) for thing, number in ((one, first.owner), (other, second.owner))
        ]
        if any(
            self.resolver.things.is_constructor(thing, kind.things[0])
            for thing, kind in zip((one, other), kinds, strict=True)
        ):
            return False
        above = self.resolver.lineage.seen_as(kinds[0], kinds[1])
        below = self.resolver.lineage.seen_as(kinds[1], kinds[0])
        return self._is_overridden(one, below or kinds[0], other, above or kinds[1])

    def callable_parts(self, things: tuple[Thing, ...]) -> tuple[Thing, ...]:
        """Return the overloads that are declared, without the function that implements them."""
        return tuple(one for one in things if Mark.ABSTRACT in self.declared(one).marks) or things

    def callable_with(self, called: Function, argument: Callable[[int], Value | None], count: int) -> tuple[Thing, ...]:
        """Return the functions that can be called with some arguments."""
        things = self.callable_parts(called.things)
        if len(things) < 2 or not self.state.policy(things[0]).is_open:
            return things
        return tuple(one for one in things if self._takes(one, argument, count)) or things

    def _takes(self, thing: Thing, argument: Callable[[int], Value | None], count: int) -> bool:
        """Return whether an overload can be called with some arguments: with as many, and no text for a function."""
        one = self.declared(thing)
        given = (one.parameters or ())[1 if self.has_self(thing) else 0 :]
        required = sum(not (parameter.optional or parameter.rest) for parameter in given)
        if required > count or (count > len(given) and not any(parameter.rest for parameter in given)):
            return False
        expected = (self.resolver.expressions.written(thing, parameter.value) for parameter in given)
        pairs = [{type(one), type(argument(place))} for place, one in zip(range(count), expected, strict=False)]
        return not any(Outside in pair and not pair.isdisjoint((Function, Signature, Type)) for pair in pairs)

    def has_self(self, thing: Thing) -> bool:
        """Return whether the first parameter of a function is the own instance."""
        one = self.declared(thing)
        is_member = one.kind == SymbolKind.METHOD and Mark.STATIC not in one.marks
        return is_member and bool(one.parameters) and self.state.policy(thing).passes_self

    def are_overloads(self, values: Sequence[Value]) -> TypeGuard[Sequence[Function]]:
        """Return whether values are the functions of one name that several types have, told apart by arguments."""
        return all(isinstance(one, Function) and self.resolver.things.has_overloads(one.things[0]) for one in values)

    def applicable(
        self, called: Sequence[Function], argument: Callable[[int], Value | None], count: int
    ) -> Sequence[Function]:
        """Return the overloads that take the arguments; those that take exactly their types, if there are any.

        Of these one that lists all of its parameters comes before one that takes any number.
        """
        if len(called) == 1:
            return called
        given = [argument(place) for place in range(count)]
        final = self.state.policy(called[0].things[0]).final
        parameter = self.resolver.calls.parameter
        fits = [
            (one, {self._fit(parameter(one, place), value, final) for place, value in enumerate(given)})
            for one in called
        ]
        exact = [one for one, how in fits if how <= {_Fit.EXACT}]
        listing = [one for one in exact if not any(part.rest for part in self._parameters(one))]
        return listing or exact or [one for one, how in fits if _Fit.NEVER not in how]

    def _parameters(self, called: Function) -> Sequence[Parameter]:
        return self.declared(called.things[0]).parameters or ()

    def _fit(self, expected: Value | None, given: Value | None, final: Mapping[str, Set[str]]) -> _Fit:
        """Return how well a value is what a parameter expects."""
        all_above, name = final.get(_own_name(given)), self._name(expected)
        if all_above is not None and name:
            return _Fit.EXACT if name == _own_name(given) else _Fit.MAYBE if name in all_above else _Fit.NEVER
        match expected, given:
            case (Instance(things), Instance(others)):
                if things == others:
                    return _Fit.EXACT
                is_library = things[0].path in LIBRARIES
                above = self.resolver.lineage.above((given,))
                is_unknown = any(one is None or (is_library and isinstance(one, Outside | Foreign)) for one in above)
                return _Fit.MAYBE if is_unknown or self.resolver.lineage.seen_as(given, expected) else _Fit.NEVER
            case (Instance(things), Outside() | Foreign()):
                return _Fit.MAYBE if things[0].path in LIBRARIES else _Fit.NEVER
            case (Instance(), Many()):
                return _Fit.NEVER
            case (Outside(name) | Foreign(name), Outside(other) | Foreign(other)) if name or other:
                is_same = name.rpartition(".")[2] == other.rpartition(".")[2]
                return _Fit.EXACT if is_same else _Fit.MAYBE
            case (Many(element), Many(other)):
                return self._fit(element, other, final)
        return _Fit.MAYBE

    def _name(self, expected: Value | None) -> str:
        """Return the own name of the type that a parameter expects, "" where that is not known."""
        return self.declared(expected.things[0]).name if isinstance(expected, Instance) else _own_name(expected)

    def joined(self, hits: Sequence[Found]) -> Found:
        """Return the functions of several types of one name, without those that one before overrides."""
        kept: dict[Thing, Value] = {}
        for hit in hits:
            of = hit.value.of if isinstance(hit.value, Function) else None
            fresh = [
                one for one in hit.things if not any(self._is_overridden(one, of, *other) for other in kept.items())
            ]
            kept |= dict.fromkeys(fresh, of or OUTSIDE)
        return Found(tuple(kept), either(Function((thing,), of) for thing, of in kept.items()))

    def _is_overridden(self, thing: Thing, of: Value | None, other: Thing, other_of: Value | None) -> bool:
        """Return whether two functions may take the same: one overrides the other."""
        counts = [len(self.declared(one).parameters or ()) for one in (thing, other)]
        return counts[0] == counts[1] and not any(
            _differ(self.resolver.calls.taken(thing, of, place), self.resolver.calls.taken(other, other_of, place))
            for place in range(counts[0])
        )


def _own_name(value: Value | None) -> str:
    return value.name.rpartition(".")[2] if isinstance(value, Outside | Foreign) else ""


def _differ(one: Value | None, other: Value | None) -> bool:
    """Return whether two types are known to be different; a type parameter may be any."""
    match one, other:
        case (None, _) | (_, None) | (Variable(), _) | (_, Variable()):
            return False
        case (Instance(things), Instance(others)):
            return things != others
        case (Many(element), Many(another)):
            return _differ(element, another)
        case (Outside(name) | Foreign(name), Outside(another) | Foreign(another)):
            return name.rpartition(".")[2] != another.rpartition(".")[2]
    return True
