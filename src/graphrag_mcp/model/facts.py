"""What a file declares and mentions, not resolved: declarations, bindings, imports, exports, mentions and flows.

Offsets are bytes of the UTF-8 text, lines are 1-based. Expressions are texts in the grammar of `model/expressions.py`;
an expression stands at an offset, since what its names mean depends on the place.
"""

import math
import zlib
from collections.abc import Iterator, Sequence, Set
from enum import StrEnum
from typing import NamedTuple, Self, TypeVar, overload

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from graphrag_mcp.model.files import PackedFacts, Relation
from graphrag_mcp.model.links import identities

WHOLE = ("=", "default")  # Names of what a module exports as a whole.
MAX_EXPRESSION = 4_000  # Characters; longer ones are unknown.
EXPECTED = "expected"  # How a base is meant that only the place of a literal says.
BUILD = "<build>"  # The name that a file gives to what it says of the builds in which it is.
GIVEN = "<given>"  # The module whose functions give the arguments of functions that others call.
METACLASS = "metaclass "  # Begins the mark of a type that says of what it is an instance: it is followed by that.
MERGES = "+"  # Begins the mark of a type that adds to one of another module: it is followed by that.
ANY_MEMBER = "[]"  # The name of a mention whose name is computed.
ASSIGNED, TYPED = -1, -2  # In place of the number of an argument: the value of a variable or field, one of a type.
NO_OWNER = -2  # A value leads to the declaration, and no name.
IN_BLOCK = -3  # Only the block sees the declaration in which it is, of no function.


class Use(StrEnum):
    """How a name is used where it is mentioned."""

    CALL = "call"
    CREATE = "create"  # An instance of a type, where the syntax says so.
    TYPE = "type"
    BASE = "base"
    VALUE = "value"
    FUNCTION = "function"  # A function that is not called, where the syntax says so: a method reference.
    ELEMENT = "element"  # A method that is given a value: of an annotation.
    WRITE = "write"
    FILL = "fill"  # A collection whose element is set.
    ADDRESS = "address"  # A variable whose address is given away: it may be written.
    PART = "part"  # What a member of it is set of: itself, unless it is a pointer.
    KEY = "key"  # A member that a literal sets.
    ARGUMENT = "argument"  # A field that the creation of an instance gives a value by its name.
    IMPORT = "import"
    RECEIVER = "receiver"  # The type whose method is declared.
    QUERY = "query"  # A value whose type is named: `typeof x`.
    REFLECTED = "reflected"  # A text that names what is looked up at run time.


USES_OF_FUNCTIONS = (Use.CALL, Use.FUNCTION, Use.ELEMENT)  # Nothing but a function is meant.


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
    CLASS = "class"  # A method whose first parameter is the type.
    PRIVATE = "private"
    OPTIONAL = "optional"
    FIXTURE = "fixture"  # What it returns is given to functions with a parameter of its name.
    AUTOMATIC = "automatic"  # A fixture that no parameter has to name.
    GIVEN = "given"  # Its arguments are chosen by the names of its parameters.
    ENUMERATION = "enumeration"
    INLINE = "inline"  # A field or variable that holds a struct, and no pointer to one.
    TYPED = "typed"  # A function that is the value of a variable with a type of its own.
    EXPORTED = "exported"  # Code of another language may call it.
    HOISTED = "hoisted"  # What is declared in a block, and seen in all of the function around it.
    POINTER = "pointer"  # A method that may change the value on which it is called.


class SymbolId(NamedTuple):
    """Identifies a declaration: its file, and its number in the facts of the file."""

    path: str
    number: int


class _Row(Struct, frozen=True, array_like=True, gc=False):
    """Rows hold no cycles; without the garbage collector they are read six times as fast."""


class Parameter(_Row, frozen=True, array_like=True, gc=False):
    """One parameter. value: what it is inside the function. rest: whether it takes all further arguments."""

    name: str
    value: str
    optional: bool = False
    rest: bool = False


class Takes(NamedTuple):
    """How many arguments a function takes."""

    least: int
    most: float

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> Self:
        """Return what is given for some parameters."""
        least = sum(not (parameter.optional or parameter.rest) for parameter in parameters)
        return cls(least, math.inf if any(parameter.rest for parameter in parameters) else len(parameters))

    def fits(self, count: int) -> bool:
        """Return whether it takes so many."""
        return self.least <= count <= self.most

    def __str__(self) -> str:
        number = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        number = f"at least {self.least}" if self.most == math.inf else number
        return f"{number} argument{'' if number == '1' else 's'}"


class BaseType(_Row, frozen=True, array_like=True, gc=False):
    """A type that a declaration extends, implements or embeds, as an expression."""

    type: str
    how: str


class Declared(_Row, frozen=True, array_like=True, gc=False):
    """One declaration.

    owner: the index of the declaration around it, -1 at the top of the file, NO_OWNER, IN_BLOCK. value: of a variable
    or field what it holds, of a function what a call returns, of a type what it stands for; "" where nothing is
    written. returns: the results of a function without a declared one, each with its offset. parameters: None for what
    is no function. decorators: what is called with it, and gives what its name means, the last one first.
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
    decorators: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """The parameters; empty where it is not a function."""
        return self.parameters or ()

    @property
    def takes_more(self) -> bool:
        """Whether the last parameter takes any number of arguments."""
        return any(parameter.rest for parameter in self.inputs[-1:])

    def taking(self, place: int) -> Parameter | None:
        """Return the parameter that takes an argument, None if there is none."""
        rest = self.inputs[-1:] if self.takes_more else ()
        return next(iter(self.inputs[place:] or rest), None)


class Imported(_Row, frozen=True, array_like=True, gc=False):
    """A name that the file imports. item: its name in the module, "" for the module itself, "*" for all names of it."""

    name: str
    module: str
    item: str
    start: int
    stop: int


class Exported(_Row, frozen=True, array_like=True, gc=False):
    """A name that the file exports: a value of its own, or `item` of another module.

    name: "*" for all of a module, "=" where the value is all that the file exports. at: where the value stands.
    """

    name: str
    value: str
    module: str = ""
    item: str = ""
    at: int = 0


class Bound(_Row, frozen=True, array_like=True, gc=False):
    """A name that means something between two offsets.

    kind: "variable", "each" of what a comprehension takes, "parameter", "type", "narrowing", "declared", "alias":
    another name for what its value names, or "open", which has no name: the members of its value are known by their
    names alone.
    """

    name: str
    start: int
    stop: int
    value: str
    at: int
    kind: str = "variable"


class Mention(_Row, frozen=True, array_like=True, gc=False, order=True):
    """A name that is used. receiver: the expression before the dot, "" for a bare name.

    arity: the number of arguments of a call, -1 for anything else. arguments: what they are, as a tuple, in languages
    that tell functions of one name apart by them; "" if they are long.
    """

    at: int
    line: int
    name: str
    use: str
    receiver: str = ""
    arity: int = -1
    arguments: str = ""


class Flow(_Row, frozen=True, array_like=True, gc=False):
    """A value that a field or parameter is given, or that has to be of a type.

    into: the field, a value of the type, or the function with the number of its argument.
    """

    at: int
    into: str
    argument: int
    value: str


class FileFacts(Struct, frozen=True):
    """The facts of one file. unit: the package or namespace that it says to be in. stop: where its own scope ends."""

    language: str
    unit: str = ""
    has_errors: bool = False
    declared: Sequence[Declared] = ()
    imports: Sequence[Imported] = ()
    exports: Sequence[Exported] = ()
    bound: Sequence[Bound] = ()
    mentions: Sequence[Mention] = ()
    flows: Sequence[Flow] = ()
    stop: int = 0


NO_FACTS = FileFacts("")
_Packed = tuple[str, str, bool, list[Declared], list[Imported], list[Exported], Raw, Raw, Raw, int]
_DECODER = Decoder(_Packed)
_BOUND, _MENTIONS, _FLOWS = Decoder(list[Bound]), Decoder(list[Mention]), Decoder(list[Flow])
_OUTLINE = Decoder(tuple[Relation, ...])
_ENCODER = Encoder()
_Rows = TypeVar("_Rows", bound=_Row)


class _Later(Sequence[_Rows]):
    """Rows that are read when they are asked for: of most files only the declarations are."""

    __slots__ = ("_data", "_decoder", "_known")

    def __init__(self, data: Raw, decoder: "Decoder[list[_Rows]]") -> None:
        self._data, self._decoder = data, decoder
        self._known: list[_Rows] | None = None

    @property
    def _rows(self) -> list[_Rows]:
        if self._known is None:
            self._known = self._decoder.decode(self._data)
        return self._known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._rows == list(other)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[_Rows]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> _Rows: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Rows]: ...
    def __getitem__(self, index: int | slice) -> _Rows | list[_Rows]:
        return self._rows[index]


def pack(facts: FileFacts) -> PackedFacts:
    """Return the facts compressed."""
    rows = (facts.language, facts.unit, facts.has_errors, facts.declared, facts.imports, facts.exports, facts.bound,
            facts.mentions, facts.flows, facts.stop)  # fmt: skip
    data = zlib.compress(_ENCODER.encode(rows), 1)
    return PackedFacts(facts.unit, facts.has_errors, data)


def unpack(data: bytes) -> FileFacts:
    """Return the facts that `pack` packed."""
    (language, unit, has_errors, declared, imports, exports, bound, mentions, flows, stop) = _DECODER.decode(
        zlib.decompress(data)
    )
    later = _Later(bound, _BOUND), _Later(mentions, _MENTIONS), _Later(flows, _FLOWS)
    return FileFacts(language, unit, has_errors, declared, imports, exports, *later, stop)


def pack_outline(relations: Sequence[Relation]) -> bytes:
    """Return the relations of a file, compressed."""
    return zlib.compress(_ENCODER.encode(relations), 1)


def unpack_outline(data: bytes) -> tuple[Relation, ...]:
    """Return the relations that `pack_outline` packed."""
    return _OUTLINE.decode(zlib.decompress(data))


def identities_of(facts: FileFacts) -> list[str]:
    """Return a name for each declaration: the qualified one, and which of that name it is.

    One to which no qualified name leads is counted in what is around it.
    """
    distinct: list[str] = []

    def names() -> Iterator[str]:
        for declaration in facts.declared:
            around = distinct[declaration.owner] if 0 <= declaration.owner < len(distinct) else ""
            yield declaration.qualified or f"{around}/{declaration.name}"

    for identity in identities(names()):
        distinct.append(identity)  # noqa: PERF402 - what follows is named by what is found.
    return distinct


def modules_of(facts: FileFacts) -> Set[str]:
    """Return the modules that a file imports or passes on, as it writes them."""
    values = [row.value for rows in (facts.exports, facts.bound, facts.declared, facts.flows) for row in rows]
    modules = {value[1 : value.index('"', 1)] for value in values if value[:1] == '"'}
    modules |= {
        mention.name.strip('"') for mention in facts.mentions if mention.use == Use.IMPORT and mention.name[:1] == '"'
    }
    return (modules | {imported.module for imported in facts.imports} | {export.module for export in facts.exports}) - {
        ""
    }
