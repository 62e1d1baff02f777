"""The outline of one file from its syntax tree: definitions, references, imports and comments.

Rows are 0-based line numbers; `start` and `end` are byte offsets into the UTF-8 text.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from graphrag_mcp.model.files import ANY_COUNT, Count, Symbol, SymbolKind
from graphrag_mcp.parsing.code.names import Bindings


class Definition(NamedTuple):
    """One definition and its position.

    kind: None for a block that qualifies its members and defines nothing (Rust's `impl`, Swift's `extension`).
    first_row: with its decorators. lead_row: with the comments directly above as well. parent: index of the enclosing
    definition, -1 for none. is_declared: whether it is a function without a body: a prototype, an overload, an abstract
    method.
    """

    kind: SymbolKind | None
    name: str
    qualified_name: str
    start: int
    end: int
    lead_row: int
    first_row: int
    last_row: int
    parent: int
    signature: str
    docstring: str
    is_declared: bool = False
    name_start: int = 0
    takes: Count = ANY_COUNT

    @property
    def is_container(self) -> bool:
        """Whether it is cut at its members when it is large."""
        return self.kind in (None, SymbolKind.TYPE, SymbolKind.MODULE)

    @property
    def is_callable(self) -> bool:
        """Whether it has a body of statements."""
        return self.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)


GIVEN_RECEIVER = "?."  # None is written, and it may be the value that the block around is given.
UNKNOWN_RECEIVER = "?"  # An expression: a literal, a call, a subscript, a cast.
SUPER_RECEIVER = "super"  # Whatever the language's keyword is.
MACRO_RECEIVER = "!"  # The name is that of a macro that is invoked: no function is meant.


class Reference(NamedTuple):
    """A name that is called (`receiver.name()`) or used as a type.

    receiver: "" for a bare name; the last name of a dotted one; one of those above. is_builtin: whether the name is
    also a builtin of the language. is_of_value: whether the receiver can be no module, nor a type. is_path: whether it
    can be nothing else: `receiver::name`. is_plain: whether it is a variable, or a field of the own instance.
    is_base: whether a constructor of the type around it, or of one above that, is called by a word or by its name.
    is_far: whether the path begins elsewhere: `package::receiver::name`. path: what is before the receiver in a path.
    fields: the receiver as a whole where it is a field of a variable: `cart.owner`.
    """

    start: int
    row: int
    name: str
    receiver: str
    is_call: bool
    is_builtin: bool = False
    is_handed: bool = False  # It may be a function that is handed on as a value.
    is_of_value: bool = False
    is_path: bool = False
    is_plain: bool = False
    is_far: bool = False
    is_base: bool = False
    path: str = ""
    fields: str = ""
    given: Count = ANY_COUNT  # The arguments of a call.


class Variable(NamedTuple):
    """A variable or field, and the type that it is declared or created with.

    is_declared: whether it can hold nothing else. is_own: whether it is a field of the type around it. is_new: whether
    it is another variable than one before it with its name.
    """

    start: int
    name: str
    kind: str
    is_declared: bool
    is_own: bool
    is_new: bool


def as_parameter(name: str) -> str:
    """Return the name by which a parameter for types is a variable, whose type is what bounds it: none of the code."""
    return f"<{name}>"


class Base(NamedTuple):
    """A type that the definition around it extends, implements or embeds (`receiver.name`).

    below: the type that does so where that is another one. is_above: whether it is written above that, in an attribute.
    """

    start: int
    row: int
    name: str
    receiver: str
    below: str = ""
    is_above: bool = False


class Import(NamedTuple):
    """A name that the file imports.

    name: its name in the file. target: its name where it is defined. module: see `Relation.target_module`.
    whole: whether the name is the module itself. inside: the index of the function around it, -1 for none.
    """

    row: int
    name: str
    target: str
    module: str
    whole: bool
    inside: int = -1

    @property
    def as_module(self) -> str:
        """Return what the name means if it is a module."""
        return self.module if self.whole else f"{self.module}/{self.target}"


class Describing(NamedTuple):
    """A block of tests that describes a type, in byte offsets, and the type as it is written: `Acme::Cart`."""

    start: int
    end: int
    name: str


class Comment(NamedTuple):
    """The words of one comment or docstring."""

    row: int
    text: str


class Outline(Struct, frozen=True):
    """Everything is in the order of the file; a definition comes before what it contains.

    keys: the options and settings that the code declares. bindings: where its variables are bound. implied: the types
    of its own namespace that the file names, as if it imported them.
    """

    definitions: Sequence[Definition] = ()
    references: Sequence[Reference] = ()
    bases: Sequence[Base] = ()
    imports: Sequence[Import] = ()
    comments: Sequence[Comment] = ()
    keys: Sequence[Symbol] = ()
    variables: Sequence[Variable] = ()
    bindings: Bindings | None = None
    implied: Sequence[Import] = ()


def around(definitions: Sequence[Definition], index: int) -> Iterator[tuple[int, Definition]]:
    """Yield a definition with its index, then each one around it, outwards; nothing for -1."""
    while index >= 0:
        yield index, definitions[index]
        index = definitions[index].parent


def modules_around(definitions: Sequence[Definition], index: int) -> int:
    """Return how many modules of the file are around a definition, itself too."""
    return sum(definition.kind is SymbolKind.MODULE for _, definition in around(definitions, index))


def enclosing_indexes(definitions: Sequence[Definition] | Sequence[Describing], starts: Sequence[int]) -> list[int]:
    """Return for each byte offset (ascending) the index of the innermost definition around it, -1 for none."""
    indexes: list[int] = []
    stack: list[int] = []
    following = 0
    for start in starts:
        while following < len(definitions) and definitions[following].start <= start:
            stack.append(following)
            following += 1
        while stack and definitions[stack[-1]].end <= start:
            stack.pop()
        indexes.append(stack[-1] if stack else -1)
    return indexes
