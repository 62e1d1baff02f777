"""What files have by name, as files without facts may mean it."""

from collections.abc import Sequence
from typing import NamedTuple

from graphrag_mcp.model.files import Relation, SymbolKind


class Keyed(NamedTuple):
    """A file that may be imported under some key."""

    path: str
    language: str
    is_archived: bool


class Named(NamedTuple):
    """A definition, as files without facts may mean it: by its name.

    place: see `place_id`. is_static: whether it is declared so, which hides it in C. is_number: whether
    it is a constant of an enumeration in C and C++, in others maybe a field.
    """

    file: Keyed
    name: str
    qualified_name: str
    kind: SymbolKind
    place: int
    is_macro: bool
    is_static: bool
    is_number: bool
    start_line: int
    end_line: int


class Names(NamedTuple):
    """What files without facts may mean of a file, and what it says itself."""

    file: Keyed
    inside: Sequence[Named]
    outline: Sequence[Relation]
