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
    ANY = auto()  # An enumeration that may give any of its constants.
    BELOW = auto()  # The source is a type that names the target as its base, or has all its methods.
    OVERRIDES = auto()  # The source is a method that stands for the target.
    HANDED = auto()  # The source is a function that is given where the target, an interface, is expected.
    HELD = auto()  # The source is a function that is the value of the target, a field.


class Link(NamedTuple):
    """A relation to a declaration or a name.

    source: the declaration around it, as `Place.identity`. given: the number of arguments, -1 for what is no call.
    receiver: the type whose member is meant, where it decides what else may run; a foreign one without a path; None where
    it is not known.
    """

    target: Place
    source: str
    line: int
    kind: RelationKind
    use: str
    how: How
    given: int = -1
    receiver: Place | None = None


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
