r"""The one notation in which facts write values and types, of every language.

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

A channel is written as a map from what it carries to itself: a loop gives it first, and receiving is taking an element.
"""

import re
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>(?:(?<=\.)\#)?[^\W\d][\w$]*|\$[\w$]*)|(?P<number>\d+)|"(?P<module>[^"]*)"|(?P<mark>.))""",
    re.DOTALL,
)

# ("name", text), ("member", expression, text) and so on: an operation and what it is applied to.
Expression = tuple[Any, ...]

MAX_DEPTH = 100  # Of an expression; those of hand-written code have 61.

LITERAL: Expression = ("literal",)
NOTHING: Expression = ("nothing",)
UNKNOWN: Expression = ("unknown",)


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
    found = reader.alternatives()
    if reader.kind or (len(text) > MAX_DEPTH and _is_deep(found)):
        raise NotAnExpressionError(text)
    return found


def _is_deep(found: Expression) -> bool:
    level: list[Any] = [found]
    for _ in range(MAX_DEPTH):
        level = [part for one in level for part in one if isinstance(part, tuple)]
    return bool(level)


@lru_cache(maxsize=1 << 16)
def names_in(text: str) -> frozenset[str]:
    """Return the names that an expression is made of."""
    return frozenset(match["name"] for match in _TOKEN.finditer(text) if match["name"])


def replaced_name(expression: Expression, name: str, other: Expression) -> Expression:
    """Return an expression in which another stands for a name."""
    if expression == ("name", name):
        return other
    return tuple(replaced_name(part, name, other) if isinstance(part, tuple) else part for part in expression)


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
        found = [self._term()]
        while self._takes("|"):
            found.append(self._term())
        return found[0] if len(found) == 1 else ("either", *found)

    def _term(self, steps: str = ".(+<!~[@#") -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotAnExpressionError(self._text)
        found = self._start()
        while (step := self._tokens[self._next])[0] == "mark" and step[1] in steps:
            found = self._step(found)
        self._depth -= 1
        return found

    def _start(self) -> Expression:
        kind, text = self._take()
        if kind in ("name", "module"):
            return (kind, text)
        match text:
            case "'":
                return ("literal", self._take()[1]) if self.kind == "name" else LITERAL
            case "-":
                return NOTHING
            case "?":
                return UNKNOWN
            case "#" | "%":
                return ("declared" if text == "#" else "above", int(self._take()[1]))
            case "[" | "{" | "(" | "\\":
                return self._literal(text)
            case "^":
                return ("type", self._term(".<"))
            case "=":
                return ("typeof", self._term(".(+<~[@"))
            case "&":
                self._closed((), "(")
                return ("all", *self._many(",", ")"))
        raise NotAnExpressionError(self._text)

    def _literal(self, begin: str) -> Expression:
        if begin == "[":
            return ("list", self._closed(self.alternatives(), "]"))
        if begin == "{":
            key = self._closed(self.alternatives(), ":")
            return ("map", key, self._closed(self.alternatives(), "}"))
        if begin == "(":
            items = self._many(";", ")")
            return items[0] if len(items) == 1 else ("tuple", *items)
        self._closed((), "(")
        parameters = self._many(",", ":")
        return ("function", parameters, self._closed(self.alternatives(), ")"))

    def _step(self, before: Expression) -> Expression:
        match self._take()[1]:
            case ".":
                return ("member", before, self._take()[1])
            case "(":
                return ("call", before, self._many(",", ")"))
            case "<":
                return ("apply", before, self._many(",", ">"))
            case "!":
                return ("instance", before)
            case "~":
                return ("await", before)
            case "@":
                return ("parameter", before, int(self._take()[1]))
            case "#":
                return ("function member", before, self._take()[1])
            case "+":
                self._closed((), "(")
                return ("create", before, self._many(",", ")"))
        kind, text = self._take()
        if text == "]":
            return ("element", before)
        step = ("item", before, int(text)) if kind == "number" else ("each" if text == "*" else "key", before)
        return self._closed(step, "]")

    def _many(self, separator: str, end: str) -> tuple[Expression, ...]:
        if self._takes(end):
            return ()
        found = [self.alternatives()]
        while self._takes(separator):
            found.append(self.alternatives())
        return self._closed(tuple(found), end)

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

    def _closed(self, found: Expression, mark: str) -> Expression:
        if not self._takes(mark):
            raise NotAnExpressionError(self._text)
        return found
