"""The expressions in which facts say values and types, of every language; their notation is in `notation.py`."""

from typing import Any, TypeAlias

from msgspec import Struct


class _Expression(Struct, frozen=True, cache_hash=True, gc=False):
    """An operation and what it is applied to."""


class Name(_Expression, frozen=True):
    name: str


class ModuleName(_Expression, frozen=True):
    module: str


class Literal(_Expression, frozen=True):
    """A value of a builtin type, or of an unnamed one that the project does not define."""

    type: str = ""


class NoValue(_Expression, frozen=True):
    """`null`, `void`."""


class Unknown(_Expression, frozen=True):
    pass


class Numbered(_Expression, frozen=True):
    """A declaration of the file."""

    number: int


class SuperOf(_Expression, frozen=True):
    """What a type of the file inherits."""

    number: int


class ListOf(_Expression, frozen=True):
    element: "Expression"


class MapOf(_Expression, frozen=True):
    key: "Expression"
    value: "Expression"


class TupleOf(_Expression, frozen=True):
    items: tuple["Expression", ...]


class FunctionOf(_Expression, frozen=True):
    """A function type."""

    parameters: tuple["Expression", ...]
    result: "Expression"


class TypeItself(_Expression, frozen=True):
    """A type as a value."""

    type: "Expression"


class TypeOf(_Expression, frozen=True):
    value: "Expression"


class AllOf(_Expression, frozen=True):
    types: tuple["Expression", ...]


class AnyOf(_Expression, frozen=True):
    values: tuple["Expression", ...]


class Member(_Expression, frozen=True):
    owner: "Expression"
    name: str


class FunctionMember(_Expression, frozen=True):
    """A function that is a member, where a variable may have the same name."""

    owner: "Expression"
    name: str


class Call(_Expression, frozen=True):
    function: "Expression"
    arguments: tuple["Expression", ...]


class Creation(_Expression, frozen=True):
    """A new instance that a function makes."""

    function: "Expression"
    arguments: tuple["Expression", ...]


class Application(_Expression, frozen=True):
    """Something generic with type arguments."""

    generic: "Expression"
    arguments: tuple["Expression", ...]


class InstanceOf(_Expression, frozen=True):
    type: "Expression"


class Awaited(_Expression, frozen=True):
    value: "Expression"


class Argument(_Expression, frozen=True):
    """What a function is given."""

    function: "Expression"
    place: int


class Element(_Expression, frozen=True):
    """An element of a list, a value of a map."""

    owner: "Expression"


class Item(_Expression, frozen=True):
    owner: "Expression"
    place: int


class Each(_Expression, frozen=True):
    """What a loop gives."""

    looped: "Expression"


class Key(_Expression, frozen=True):
    """The key that a loop gives besides."""

    looped: "Expression"


class Known(_Expression, frozen=True):
    """A value that is known already; never stored."""

    value: Any


Expression: TypeAlias = (
    Name | ModuleName | Literal | NoValue | Unknown | Numbered | SuperOf | ListOf | MapOf | TupleOf | FunctionOf
    | TypeItself | TypeOf | AllOf | AnyOf | Member | FunctionMember | Call | Creation | Application | InstanceOf
    | Awaited | Argument | Element | Item | Each | Key | Known
)  # fmt: skip

LITERAL, NO_VALUE, UNKNOWN = Literal(), NoValue(), Unknown()


def argument_around(expression: Expression) -> Argument | None:
    """Return the argument of which an expression is a part."""
    while not isinstance(expression, Argument):
        first = getattr(expression, expression.__struct_fields__[0]) if expression.__struct_fields__ else None
        if not isinstance(first, _Expression):
            return None
        expression = first  # type: ignore[assignment]
    return expression


def parts_in(expression: Expression) -> list[Expression]:
    """Return the expressions to which one is applied."""
    parts: list[Any] = []
    for name in expression.__struct_fields__:
        part = getattr(expression, name)
        parts += part if isinstance(part, tuple) else (part,)
    return [part for part in parts if isinstance(part, _Expression)]  # type: ignore[misc]


def replaced_name(expression: Expression, name: str, other: Expression) -> Expression:
    """Return an expression in which another stands for a name."""
    if expression == Name(name):
        return other

    def replaced(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(replaced_name(element, name, other) for element in part)
        return replaced_name(part, name, other) if isinstance(part, _Expression) else part  # type: ignore[arg-type]

    return type(expression)(*(replaced(getattr(expression, field)) for field in expression.__struct_fields__))
