r"""The expressions in which facts say values and types, of every language, and their notation.

    alternatives = term { "|" term }         either of them
    term         = start { step }
    start        = NAME
                 | "'" [NAME]                a literal, of a builtin type with this name: nothing of the project
                 | "-"                       no value: null, void
                 | "?"                       unknown
                 | "#" NUMBER                the declaration of the file with this number: a nameless function or type
                 | "%" NUMBER                what that type of the file inherits: super
                 | '"' MODULE '"'            a module
                 | "[" alternatives "]"      a list of these
                 | "{" alternatives ":" alternatives "}"   a map from these to those
                 | "(" alternatives { ";" alternatives } ")"   a tuple; with one item the item itself
                 | "\(" [alternatives { "," alternatives }] ":" alternatives ")"   a function type
                 | "^" term                  the type that follows, as a value; of the steps only ".", "<"
                 | "=" term                  the type of the value that follows; of the steps not "!"
                 | "&(" alternatives { "," alternatives } ")"   all of these types at once
    step         = "." ["#"] NAME            a member; with "#" a private one of JavaScript
                 | "#" NAME                  a function that is a member, where a variable may have the same name
                 | "(" [alternatives { "," alternatives }] ")"   a call
                 | "+" "(" [alternatives { "," alternatives }] ")"   a new instance that it makes
                 | "<" alternatives { "," alternatives } ">"     type arguments
                 | "!"                       a value of the type before it
                 | "~"                       what awaiting it gives
                 | "[]"                      an element; of a map, a value
                 | "[" NUMBER "]"            an item of a tuple, or an element of a list
                 | "[*]" | "[@]"             what a loop over it gives; the key that a loop gives besides
                 | "@" NUMBER                what a function is given as this argument

For example, `"os".path.join(base)` is `Call(Member(Member(ModuleName("os"), "path"), "join"), (Name("base"),))`, and
`Box!` is `InstanceOf(Name("Box"))`: what a parameter `box: Box` holds. A channel is written as a
map from what it carries to itself: a loop gives it first, and receiving is taking an element.
"""

import re
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Struct

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>(?:(?<=\.)\#)?[^\W\d][\w$]*|\$[\w$]*)|(?P<number>\d+)|"(?P<module>[^"]*)"|(?P<mark>.))""",
    re.DOTALL,
)
MAX_DEPTH = 100  # Levels of an expression; hand-written code has 61.


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


class NotAnExpressionError(ValueError):
    """A text is not in the notation."""


@lru_cache(maxsize=1 << 16)
def parse(text: str) -> Expression:
    """Return the tree of an expression; unknown for a text that is not in the notation."""
    try:
        return parse_strictly(text)
    except NotAnExpressionError:
        return UNKNOWN


def parse_strictly(text: str) -> Expression:
    """Return the tree of an expression. Raises NotAnExpressionError, also where it is nested too deeply."""
    reader = _Reader(text)
    expression = reader.alternatives()
    if reader.kind or (len(text) > MAX_DEPTH and _is_deep(expression)):
        raise NotAnExpressionError(text)
    return expression


def says_type(text: str) -> bool:
    """Return whether an expression is an instance of a type, as where a type is declared, and no value."""
    expression = parse(text)
    return isinstance(expression.values[-1] if isinstance(expression, AnyOf) else expression, InstanceOf)


def parameters_in(text: str) -> int:
    """Return the number of parameters of a function type, -1 if the text is none."""
    match parse(text):
        case InstanceOf(FunctionOf(parameters)):
            return len(parameters)
    return -1


def _is_deep(whole: Expression) -> bool:
    level = [whole]
    for _ in range(MAX_DEPTH):
        level = [part for expression in level for part in parts_in(expression)]
    return bool(level)


@lru_cache(maxsize=1 << 16)
def names_in(text: str) -> frozenset[str]:
    """Return the names that an expression is made of."""
    return frozenset(match["name"] for match in _TOKEN.finditer(text) if match["name"])


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [(match.lastgroup or "", match[match.lastgroup or 0]) for match in _TOKEN.finditer(text)]
        self._tokens.append(("", ""))
        self._next = self._depth = 0

    @property
    def kind(self) -> str:
        return self._tokens[self._next][0]

    def alternatives(self) -> Expression:
        terms = [self._term()]
        while self._takes("|"):
            terms.append(self._term())
        return terms[0] if len(terms) == 1 else AnyOf(tuple(terms))

    def _term(self, steps: str = ".(+<!~[@#") -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotAnExpressionError(self._text)
        term = self._start()
        while (step := self._tokens[self._next])[0] == "mark" and step[1] in steps:
            term = self._step(term)
        self._depth -= 1
        return term

    def _start(self) -> Expression:
        kind, text = self._take()
        if kind in ("name", "module"):
            return Name(text) if kind == "name" else ModuleName(text)
        match text:
            case "'":
                return Literal(self._take()[1]) if self.kind == "name" else LITERAL
            case "-":
                return NO_VALUE
            case "?":
                return UNKNOWN
            case "#" | "%":
                number = int(self._take()[1])
                return Numbered(number) if text == "#" else SuperOf(number)
            case "[" | "{" | "(" | "\\":
                return self._literal(text)
            case "^":
                return TypeItself(self._term(".<"))
            case "=":
                return TypeOf(self._term(".(+<~[@"))
            case "&":
                self._expect("(")
                return AllOf(self._many(",", ")"))
        raise NotAnExpressionError(self._text)

    def _literal(self, begin: str) -> Expression:
        if begin == "[":
            return ListOf(self._closed("]"))
        if begin == "{":
            return MapOf(self._closed(":"), self._closed("}"))
        if begin == "(":
            items = self._many(";", ")")
            return items[0] if len(items) == 1 else TupleOf(items)
        self._expect("(")
        return FunctionOf(self._many(",", ":"), self._closed(")"))

    def _step(self, before: Expression) -> Expression:
        match self._take()[1]:
            case ".":
                return Member(before, self._take()[1])
            case "(":
                return Call(before, self._many(",", ")"))
            case "<":
                return Application(before, self._many(",", ">"))
            case "!":
                return InstanceOf(before)
            case "~":
                return Awaited(before)
            case "@":
                return Argument(before, int(self._take()[1]))
            case "#":
                return FunctionMember(before, self._take()[1])
            case "+":
                self._expect("(")
                return Creation(before, self._many(",", ")"))
        kind, text = self._take()
        if text == "]":
            return Element(before)
        self._expect("]")
        if kind == "number":
            return Item(before, int(text))
        return Each(before) if text == "*" else Key(before)

    def _many(self, separator: str, end: str) -> tuple[Expression, ...]:
        if self._takes(end):
            return ()
        expressions = [self.alternatives()]
        while self._takes(separator):
            expressions.append(self.alternatives())
        self._expect(end)
        return tuple(expressions)

    def _take(self) -> tuple[str, str]:
        token = self._tokens[self._next]
        if not token[0]:
            raise NotAnExpressionError(self._text)
        self._next += 1
        return token

    def _takes(self, mark: str) -> bool:
        if self._tokens[self._next] != ("mark", mark):
            return False
        self._next += 1
        return True

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            raise NotAnExpressionError(self._text)

    def _closed(self, mark: str) -> Expression:
        """Read an expression and what ends it."""
        expression = self.alternatives()
        self._expect(mark)
        return expression
