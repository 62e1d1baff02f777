"""What the mentions and declarations of one file mean, as rows that are stored."""

from collections.abc import Iterable, Iterator
from enum import IntEnum, auto
from hashlib import blake2b
from typing import NamedTuple

from graphrag_mcp.model.files import RelationKind

_PLACE_BYTES = 6  # Two of a million places are the same with a chance of 1 in 560.


class Place(NamedTuple):
    """A declaration, by what does not change when something before it does.

    identity: its qualified name, and which of that name in the file; "" is the file itself. Without a path it is a name
    that any declaration may have.
    """

    path: str
    identity: str


class How(IntEnum):
    """What is known of a link."""

    CERTAIN = auto()
    OPEN = auto()  # It may as well be another one.
    UNDECIDED = auto()  # Only the name is known.
    FOREIGN = auto()  # A member of a foreign value; the target is its name.
    OUTSIDE = auto()  # A foreign function that is called; the target is its name.
    ANY = auto()  # A type or module of which any member may be meant: its name is computed.
    REPLACED = auto()  # A method that is given another value.
    BELOW = auto()  # The source inherits or implements the target, or is a method that overrides it.
    ABOVE = auto()  # The same from the other side, or of `EXPECTED`.
    EXPECTED = auto()  # The source is a function in a literal that stands where the type of the target is expected.
    # The target is an interface, the receiver a function that is given where it is expected; or another is: VALUE.
    HANDED = auto()
    HANDED_AS = auto()  # The target is a function, the source the operation of an interface as which it is given.
    GIVEN = auto()  # The target is an interface, the receiver a type of which a value is given where it is expected.
    EXPORTED = auto()  # The target is exported under another name: the receiver.
    FILLS = auto()  # The source, a function or what holds one, is kept in the target: a parameter, field or variable.
    FILLED = auto()  # The same from the other side.
    RUNS = auto()  # What the target holds is called.
    # These are of languages whose types are not read, where names are compared:
    SAID = auto()  # The file declares or imports what has the name.
    NAMED = auto()  # Nothing else in the project has the name.
    SHARED = auto()  # Others have the name, too.
    # The file may have more links: it took too many steps to find them all. The target is `MORE`.
    CUT = auto()
    # One of several is meant, of which each has a link from there; it is not known which:
    EITHER = auto()  # Where names are compared: overloads that the file declares or imports.
    NAMED_EITHER = auto()  # The same, and they are known only since nothing else in the project has the name.
    ONE_OF = auto()  # Where types are read: overloads, or what several builds or branches declare.


MEANT = (How.CERTAIN, How.OPEN, How.ONE_OF)  # Declarations, where types are read.
OF_SEVERAL = (How.ONE_OF, How.EITHER, How.NAMED_EITHER)
BY_NAME = (How.NAMED, How.NAMED_EITHER, How.SHARED)  # No more is known than the name.
COMPARED = (How.SAID, How.EITHER, *BY_NAME)  # Where names are compared.


class Link(NamedTuple):
    """A relation to a declaration or a name.

    target, source: a place, or its number (`place_id`); source: the declaration around it, or what the target is linked
    with. arity: the number of arguments, -1 for what is
    no call. receiver: the type whose member is meant, where it decides what else may run; a foreign one without a path;
    None where it is not known.
    """

    target: Place | int
    source: Place | int
    line: int
    kind: RelationKind
    use: str
    how: How
    arity: int = -1
    receiver: Place | None = None


class Read(NamedTuple):
    """Something that was read by its name: of a file, or with path "" of the whole tree."""

    path: str
    kind: str
    name: str = ""


class StoredLink(NamedTuple):
    """A link as it is stored: places are numbers (`place_id`), 0 for none."""

    target: int
    path: str
    line: int
    source: int
    kind: RelationKind
    use: str
    how: How
    arity: int
    receiver: int


SUPER = Place("", "super")  # This receiver means the method of the base, or of the class that it names, and no other.
EMBEDDING = Place("", "embeds")  # A type that has what a foreign type has of which not all is known is above it.
SOME = Place("", "?")  # A receiver that is not decided.
IMPORTED = Place("", "import")  # The same where an import names it: it may be a module.
DECLARED = Place("", "declared")  # Known by what a file declares; what of the code beside that is meant is not.
MORE = Place("", "more")


def super_place(kind: Place) -> Place:
    """Return the receiver of what `super` gives in a type: what follows it in the order of any type below."""
    return Place(kind.path, f"super {kind.identity}")


def folder_place(folder: str) -> Place:
    """Return the place of the package of a folder."""
    return Place(f"{folder}/", "")


def identities(names: Iterable[str]) -> Iterator[str]:
    """Yield names that are distinct: each with which of the same it is, from the second."""
    seen: dict[str, int] = {}
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        yield name if count == 1 else f"{name}#{count}"


def place_id(place: Place) -> int:
    """Return the number of a place: positive for a declaration, negative for a name."""
    text = f"{place.path}\0{place.identity}"
    number = int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=_PLACE_BYTES).digest(), "big")
    return number + 1 if place.path else -number - 1
