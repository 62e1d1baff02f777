"""What the resolver reads: the facts of files, and where declarations are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from graphrag_mcp.model.facts import FileFacts, SymbolId
from graphrag_mcp.model.files import ANY_COUNT, Manifest, Relation, SymbolKind


class Keyed(NamedTuple):
    """A file that may be imported under some key."""

    path: str
    language: str
    is_archived: bool


class Named(NamedTuple):
    """A definition, as files without facts may mean it: by its name.

    place: see `place_id`. is_static: whether it is declared so, which hides it in C. is_number: whether it is a
    constant in an enumeration of C or C++, in others maybe a field. is_private: whether it is declared so.
    is_extension: whether it is a function that values of other types have, as C# has them.
    least, most: the arguments that it takes. signature: as it is written, up to its body.
    """

    file: Keyed
    name: str
    qualified_name: str
    kind: SymbolKind
    place: int
    is_macro: bool
    is_static: bool
    is_number: bool
    is_private: bool
    is_extension: bool
    start_line: int
    end_line: int
    least: int = 0
    most: int = ANY_COUNT.most
    signature: str = ""


class Names(NamedTuple):
    """What files without facts may mean of a file, and what it says itself."""

    file: Keyed
    inside: Sequence[Named]
    outline: Sequence[Relation]


class ModuleSource(Protocol):
    """What decides which module an import means. A unit is a package or namespace, under a name that is its own."""

    def has(self, path: str) -> bool:
        """Return whether a file has facts."""

    def has_unit(self, unit: str) -> bool:
        """Return whether any file is in a unit."""

    def unit_of_folder(self, folder: str) -> str:
        """Return the unit of the files of a folder that others import, "" if there is none."""

    def find(self, unit: str, qualified_name: str) -> Sequence[SymbolId]:
        """Return the declarations with a qualified name in all files of a unit."""

    def manifests(self) -> Sequence[Manifest]:
        """Return all manifests of the tree."""


class FactSource(ModuleSource, Protocol):
    """The facts of the files of one tree."""

    def facts(self, path: str) -> FileFacts | None:
        """Return the facts of a file, None if it has none."""

    def unit(self, path: str) -> str:
        """Return the unit of a file."""

    def methods(self, unit: str, owner: str) -> Sequence[SymbolId]:
        """Return the methods of a type in all files of a unit, by the type's qualified name."""

    def named(self, name: str) -> Sequence[SymbolId]:
        """Return all declarations of a name."""

    def placed(self, places: Iterable[int]) -> Mapping[int, SymbolId]:
        """Return the declarations at places (`place_id`), as far as they have a name."""

    def places_of(self, name: str) -> Sequence[int]:
        """Return the places of the definitions of a name."""

    def outline(self, path: str) -> Sequence[Relation]:
        """Return what a file without facts says of the names in it, none for any other."""

    def file(self, path: str) -> Keyed | None:
        """Return a file of the tree."""

    def inside(self, path: str) -> Sequence[Named]:
        """Return the definitions of a file."""

    def called(self, name: str) -> Sequence[Named]:
        """Return the definitions of a name in all files, without keys of configuration."""

    def keyed(self, key: str) -> Sequence[Keyed]:
        """Return the files that are imported under a key (`module_keys`)."""

    def unparsed(self, name: str, language: str) -> tuple[str, ...]:
        """Return the files that may mention a name in lines that could not be parsed, or in a file cut as text."""


def is_below(path: str, folder: str) -> bool:
    """Return whether a file is in a folder or below it."""
    return not folder or path.startswith(folder + "/")
