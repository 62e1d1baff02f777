"""What an expression can be. Unknown is None, and whatever is made of an unknown value is unknown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.model.facts import SymbolId


class _Value(Struct, frozen=True, cache_hash=True, gc=False):
    """Holds no cycles. Values are keys of what the resolver knows."""


class Outside(_Value, frozen=True):
    """What the project does not define. name: where it is from, "net/http.Handler"; "" for a value without a name."""

    name: str = ""


class Foreign(_Value, frozen=True):
    """A value of a foreign type with type arguments: it may hold what the project defines."""

    name: str
    arguments: "tuple[Value | None, ...]"


class Nothing(_Value, frozen=True):
    """No value: null, the result of a procedure."""


class Package(_Value, frozen=True):
    """A package or namespace: a unit of several files. is_nested: whether there may be others in it."""

    unit: str
    is_nested: bool = False


class Module(_Value, frozen=True):
    """A file as a module."""

    path: str


class Folder(_Value, frozen=True):
    """A folder as a module that has no file of its own. language: that of its modules."""

    path: str
    language: str


class Later(_Value, frozen=True):
    """What gives a value when it is awaited or entered."""

    value: "Value | None"


class Type(_Value, frozen=True):
    """A type itself; several symbols are parts or variants of one."""

    symbols: tuple[SymbolId, ...]
    arguments: "tuple[Value | None, ...]" = ()


class Instance(_Value, frozen=True):
    """A value of a type."""

    symbols: tuple[SymbolId, ...]
    arguments: "tuple[Value | None, ...]" = ()


class Above(_Value, frozen=True):
    """`super`: a value of a type, of which only what it inherits is meant."""

    symbols: tuple[SymbolId, ...]


class Function(_Value, frozen=True):
    """A function; several symbols are overloads or variants.

    of: the value whose member it is, as the type that declares it. receiver: the value on which it is called.
    """

    symbols: tuple[SymbolId, ...]
    of: "Value | None" = None
    arguments: "tuple[Value | None, ...]" = ()
    receiver: "Value | None" = None


class Signature(_Value, frozen=True):
    """A value of a function type. alias: the name of the type, if it has one."""

    parameters: "tuple[Value | None, ...]"
    result: "Value | None"
    alias: SymbolId | None = None


class Many(_Value, frozen=True):
    """A list, a set, an iterator: elements of one kind."""

    element: "Value | None"


class Table(_Value, frozen=True):
    """A map."""

    key: "Value | None"
    value: "Value | None"


class Several(_Value, frozen=True):
    """A tuple."""

    items: "tuple[Value | None, ...]"


class Variable(_Value, frozen=True):
    """A type parameter, until it is replaced by an argument.

    name: "" where it is not known by which. bound: the type that the argument has at least.
    """

    name: str
    bound: "Value | None" = None


class Either(_Value, frozen=True):
    """One of several values."""

    values: "tuple[Value, ...]"


class All(_Value, frozen=True):
    """A value of several types at once."""

    values: "tuple[Value | None, ...]"


Value = (
    Outside
    | Foreign
    | Nothing
    | Package
    | Module
    | Folder
    | Later
    | Type
    | Instance
    | Above
    | Function
    | Signature
    | Many
    | Table
    | Several
    | Variable
    | Either
    | All
)
OUTSIDE, NOTHING = Outside(), Nothing()
Arguments = Callable[[int], Value | None]  # The values of the arguments of a call, by their places.


def foreign_instance(name: str) -> Outside:
    """Return an instance of a foreign type, of which it is not known what it holds."""
    return Outside(f"{name}()")


def of_kind(kind: type[Type] | type[Instance], value: Value | None) -> Value | None:
    """Return a type as itself or as its instance, and any other value unchanged."""
    return kind(value.symbols, value.arguments) if isinstance(value, Instance | Type) else value


def part_at(values: "Sequence[Value | None]", place: int) -> Value | None:
    """Return one of several values, None if there are not as many."""
    return next(iter(values[place : place + 1]), None)


def held_by(value: Outside) -> Outside | None:
    """Return what a foreign value holds, None if that may be anything."""
    return None if value.name.endswith("()") else OUTSIDE


class Referent(NamedTuple):
    """What a name or a member refers to: its declarations, none for a variable or what is foreign, and its value.

    is_open: only the value is known, not what declares it.
    """

    symbols: tuple[SymbolId, ...]
    value: Value | None
    is_open: bool = False


def symbols_of(referent: Referent | None) -> tuple[SymbolId, ...]:
    """Return the declarations of a referent, none where that is not known."""
    return referent.symbols if referent else ()


def value_of(referent: Referent | None) -> Value | None:
    """Return the value of a referent, None where that is not known."""
    return referent.value if referent else None


ABSENT = Referent((), None)  # The member is known not to exist.
INHERITED = Referent((), OUTSIDE)  # A foreign type above may have it.


def either(values: Iterable[Value | None]) -> Value | None:
    """Return one of several values: unknown if one is; what is nothing does not count."""
    distinct: dict[Value, None] = {}
    is_empty = True
    for value in values:
        is_empty = False
        if value is None:
            return None
        for other in value.values if isinstance(value, Either) else (value,):
            if other != NOTHING:
                distinct[other] = None
    if is_empty or len(distinct) > MAX_ALTERNATIVES:
        return None
    if not distinct:
        return NOTHING
    return next(iter(distinct)) if len(distinct) == 1 else Either(tuple(distinct))


def alternatives(value: Value | None) -> "Sequence[Value | None]":
    """Return the values one of which a value is."""
    return value.values if isinstance(value, Either) else (value,)


MAX_ALTERNATIVES = 8
MAX_PARTS = 500  # A value with all that is in it has no more parts; written types have a few dozen.


def replaced(value: Value | None, arguments: Mapping[str, Value | None]) -> Value | None:
    """Return a value with type parameters replaced; unknown if that is too large."""
    if value is None or not arguments:
        return value

    def change(part: Value | None) -> Value | None:
        if isinstance(part, Variable):
            return arguments.get(part.name, part)
        return part and rebuilt(part, change)

    result = change(value)
    return None if is_large(result) else result


def is_large(value: object) -> bool:
    """Return whether a value, or that of a referent, has more than `MAX_PARTS` parts: it doubles with each step.

    A part that is there twice counts twice, as it does for whoever walks through a value.
    """
    whole = value.value if isinstance(value, Referent) else value
    if type(whole) not in _WALKED:  # As most are.
        return False
    parts = [whole]
    for part in parts:  # They are appended while they are counted.
        if len(parts) > MAX_PARTS:
            return True
        if find := _WALKED.get(type(part)):
            parts += find(part)
    return False


def rebuilt(value: Value, change: "Callable[[Value | None], Value | None]") -> Value | None:
    """Return a value whose parts are changed."""
    match value:
        case Type() | Instance() | Foreign() if value.arguments:
            return replace(value, arguments=tuple(map(change, value.arguments)))
        case Signature(parameters, result, alias):
            return Signature(tuple(map(change, parameters)), change(result), alias)
        case Many(element):
            return Many(change(element))
        case Later(held):
            return Later(change(held))
        case Table(key, held):
            return Table(change(key), change(held))
        case Several(items):
            return Several(tuple(map(change, items)))
        case Either(values):
            return either(map(change, values))
        case All(values):
            return All(tuple(map(change, values)))
    return value


def parts_of(value: object) -> "Sequence[Value | None]":
    """Return the values of which a value is made."""
    find = _PARTS.get(type(value))
    return find(value) if find else ()


# By type, since `match` would try ten of them in vain for a value without parts, as most are.
_PARTS: Mapping[type, Callable[[Any], tuple[Value | None, ...]]] = {
    Type: attrgetter("arguments"),
    Instance: attrgetter("arguments"),
    Foreign: attrgetter("arguments"),
    Several: attrgetter("items"),
    Either: attrgetter("values"),
    All: attrgetter("values"),
    Signature: lambda signature: (*signature.parameters, signature.result),
    Many: lambda many: (many.element,),
    Later: lambda later: (later.value,),
    Table: attrgetter("key", "value"),
}
_WALKED: Mapping[type, Callable[[Any], tuple[Value | None, ...]]] = {
    **_PARTS,
    Function: lambda function: (function.of, function.receiver, *function.arguments),
    Variable: lambda variable: (variable.bound,),
}


def has_variable(value: Value | None) -> bool:
    """Return whether a type parameter is left in a value."""
    return isinstance(value, Variable) or any(map(has_variable, parts_of(value)))


def without_variables(value: Value | None) -> Value | None:
    """Return a value in which the type parameters that are left are what they are at least."""
    if isinstance(value, Variable):
        return Variable("", value.bound) if value.bound else None
    return None if value is None else rebuilt(value, without_variables)


def at_least(value: Value | None) -> Value | None:
    """Return a value; of a type parameter, what it is at least, where that is known."""
    return value.bound if isinstance(value, Variable) and value.bound is not None else value


def apart(function: Function) -> Iterator[Function]:
    """Yield the overloads of a function one by one."""
    yield from (replace(function, symbols=(symbol,)) for symbol in function.symbols)


def nothing(_place: int) -> None:
    """The argument of a call that has none."""


def always(value: Value | None) -> Arguments:
    """Return the arguments of a call that are all the same value."""
    return lambda _place: value
