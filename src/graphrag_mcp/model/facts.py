"""What one file says of its names, nothing resolved: declarations, bindings, imports, exports, mentions and flows.

Offsets are bytes of the UTF-8 text, lines are 1-based. Expressions are texts in the grammar of `model/expressions.py`;
an expression stands at an offset, since what its names mean depends on the place.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from graphrag_mcp.model.files import PackedFacts

MAX_EXPRESSION = 4_000  # Characters; longer ones are unknown.


NO_OWNER = -2  # Of a declaration to which no name leads, but a value.


class Use(StrEnum):
    """How a name is used where it is mentioned."""

    CALL = "call"
    CREATE = "create"  # An instance of a type, where the syntax says so.
    TYPE = "type"
    BASE = "base"
    VALUE = "value"
    WRITE = "write"
    IMPORT = "import"
    RECEIVER = "receiver"  # The type whose method is declared.


class Mark(StrEnum):
    """What else a declaration is."""

    STATIC = "static"
    PROPERTY = "property"  # Read without a call.
    ABSTRACT = "abstract"  # Without a body: of an interface, a prototype, an overload.
    ALIAS = "alias"
    INTERFACE = "interface"
    ASYNC = "async"
    GENERATOR = "generator"
    DEFAULT = "default"


class Thing(NamedTuple):
    """A declaration: its file, and its number in the facts of the file."""

    path: str
    number: int


class Parameter(NamedTuple):
    """One parameter. value: what it is inside the function. rest: whether it takes all further arguments."""

    name: str
    value: str
    optional: bool = False
    rest: bool = False


class BaseType(NamedTuple):
    """A type that a declaration extends, implements or embeds, as an expression."""

    type: str
    how: str


class Declared(NamedTuple):
    """One declaration.

    owner: the index of the declaration around it, -1 at the top of the file, NO_OWNER. value: of a variable or field
    what it holds, of a function what a call returns, of a type what it stands for; "" where nothing is written.
    returns: the results of a function without a declared one, each with its offset. parameters: None for what is no
    function.
    """

    name: str
    qualified: str
    kind: str
    owner: int
    line: int
    start: int
    stop: int
    at: int
    value: str = ""
    returns: tuple[tuple[int, str], ...] = ()
    parameters: tuple[Parameter, ...] | None = None
    type_parameters: tuple[str, ...] = ()
    bases: tuple[BaseType, ...] = ()
    marks: tuple[str, ...] = ()


class Imported(NamedTuple):
    """A name that the file imports. item: its name in the module, "" for the module itself, "*" for all names of it."""

    name: str
    module: str
    item: str
    start: int
    stop: int


class Exported(NamedTuple):
    """A name that the file exports: a value of its own, or `item` of another module.

    name: "*" for all of a module, "=" where the value is all that the file exports. at: where the value stands.
    """

    name: str
    value: str
    module: str = ""
    item: str = ""
    at: int = 0


class Bound(NamedTuple):
    """A name that means something between two offsets.

    kind: "variable", "parameter", "type", "narrowing", "declared", or "alias": another name for what its value names.
    """

    name: str
    start: int
    stop: int
    value: str
    at: int
    kind: str = "variable"


class Mention(NamedTuple):
    """A name that is used. receiver: the expression before the dot, "" for a bare name."""

    at: int
    line: int
    name: str
    use: str
    receiver: str = ""


class Flow(NamedTuple):
    """A value that a field or parameter is given. into: the field, or the function with the number of its argument."""

    at: int
    into: str
    argument: int
    value: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of one file. unit: the package or namespace that it says to be in."""

    language: str
    unit: str = ""
    has_errors: bool = False
    declared: Sequence[Declared] = ()
    imports: Sequence[Imported] = ()
    exports: Sequence[Exported] = ()
    bound: Sequence[Bound] = ()
    mentions: Sequence[Mention] = ()
    flows: Sequence[Flow] = ()


def pack(facts: FileFacts) -> PackedFacts:
    """Return the facts as compressed JSON, with the names that other files may ask for."""
    rows = [facts.language, facts.unit, facts.has_errors, facts.declared, facts.imports, facts.exports, facts.bound,
            facts.mentions, facts.flows]  # fmt: skip
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    return PackedFacts(facts.unit, mentioned_names(facts), zlib.compress(text.encode(), 6))


def mentioned_names(facts: FileFacts) -> tuple[str, ...]:
    """Return the names by which a file may refer to declarations of others."""
    items = {one.item for one in facts.imports} | {one.item for one in facts.exports}
    return tuple(sorted((items | {mention.name for mention in facts.mentions}) - {""}))


def unpack(data: bytes) -> FileFacts:
    """Return the facts that `pack` packed."""
    language, unit, has_errors, declared, imports, exports, bound, mentions, flows = json.loads(zlib.decompress(data))
    return FileFacts(
        language,
        unit,
        has_errors,
        [_declared(row) for row in declared],
        [Imported._make(row) for row in imports],
        [Exported._make(row) for row in exports],
        [Bound._make(row) for row in bound],
        [Mention._make(row) for row in mentions],
        [Flow._make(row) for row in flows],
    )


def _declared(row: list[Any]) -> Declared:
    *plain, returns, parameters, type_parameters, bases, marks = row
    return Declared._make(
        (
            *plain,
            tuple((at, value) for at, value in returns),
            None if parameters is None else tuple(Parameter._make(one) for one in parameters),
            tuple(type_parameters),
            tuple(BaseType._make(one) for one in bases),
            tuple(marks),
        )
    )
