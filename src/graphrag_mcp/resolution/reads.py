"""What the resolution of one file reads of other files, by name.

An edit that changes nothing of what was read changes no relation of the file. What an import means is read by many, and
rarely changes when what it is found by does (a manifest, a new file): its readers depend on the import, and the file
that has the import on what it is found by.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from graphrag_mcp.model.facts import (
    SymbolId,
)
from graphrag_mcp.model.files import Manifest
from graphrag_mcp.model.sources import FactSource, Keyed, Named

Key = TypeVar("Key")
Row = TypeVar("Row")
Value = TypeVar("Value")

MOST_OF_A_NAME = 200  # More declarations of one name, overloads for the most part, are not told apart.

MEANING = "meaning of"  # An import.
PASSED_ON = "passed on"  # A name that a file without facts imports.
BASES = "bases"  # The types above one and its methods, in a file without facts.
IMPORTED_BY_ALL = "import *"  # What a file imports without saying which names.


class Noted(Generic[Key, Row]):
    """Rows of a file by their keys, which notes what is looked up, also in vain."""

    __slots__ = ("_kind", "_name_of", "_path", "_reads", "_rows")

    def __init__(self, reads: "Reads", path: str, kind: str, rows: Mapping[Key, Row], name_of: Callable[[Key], str]):
        self._reads, self._path, self._kind, self._rows, self._name_of = reads, path, kind, rows, name_of

    def get(self, key: Key, default: Row) -> Row:
        """Return the rows of a key."""
        self._reads.note(self._path, self._kind, self._name_of(key))
        return self._rows.get(key, default)

    def __contains__(self, key: Key) -> bool:
        self._reads.note(self._path, self._kind, self._name_of(key))
        return key in self._rows

    def __getitem__(self, key: Key) -> Row:
        self._reads.note(self._path, self._kind, self._name_of(key))
        return self._rows[key]


Noting = tuple[str, str, str] | SymbolId  # A `Read` as a plain tuple, which is made three times as fast.


class Reads:
    """A fact source that notes what is read of it while one file is resolved.

    noted: all but what follows. of_imports: the reads by which the meaning of the file's own imports was found.
    """

    def __init__(self, source: FactSource) -> None:
        self._source = source
        self.facts, self.outline, self.unparsed = source.facts, source.outline, source.unparsed
        self.file, self.inside = source.file, source.inside
        self.placed, self.places_of = source.placed, source.places_of
        self._homes: dict[str, Mapping[str, Sequence[str]]] = {}
        self._modules: dict[tuple[str, str], object] = {}  # What imports mean; the same for each file.
        self.begin("")

    def begin(self, path: str) -> None:
        """Begin with the resolution of a file."""
        self._own = path
        self.noted: set[Noting] = set()
        self.of_imports: set[Noting] = set()
        self._current = self.noted

    def note(self, path: str, kind: str, name: str = "") -> None:
        """Note that something of a file was read."""
        if path != self._own:
            self._current.add((path, kind, name))

    def add(self, symbol: SymbolId) -> None:
        """Note that a declaration was read."""
        if symbol[0] != self._own:
            self._current.add(symbol)

    def importing(self, path: str, module: str, find: Callable[[], Value]) -> Value:
        """Return what an import of a file means."""
        self.note(path, MEANING, module)
        if (path, module) not in self._modules:
            self.finding(path, module, find)
        return self._modules[path, module]  # type: ignore[return-value]

    def finding(self, path: str, module: str, find: Callable[[], Value]) -> Value:
        """Find what an import of a file means, and note by what."""
        outer, self._current = self._current, self.of_imports if path == self._own else set()
        try:
            self._modules[path, module] = value = find()
            return value
        finally:
            self._current = outer

    def is_elsewhere(self, path: str) -> bool:
        """Return whether a path is of another file, and of none of a library."""
        return path != self._own and path[:1] != "<"

    # ------------------------------------------------------------ what of the source is noted

    def has(self, path: str) -> bool:
        self.note(path, "has")
        return self._source.has(path)

    def unit(self, path: str) -> str:
        self.note(path, "file")
        return self._source.unit(path)

    def unit_of_folder(self, folder: str) -> str:
        self.note("", "folder", folder)
        return self._source.unit_of_folder(folder)

    def has_unit(self, unit: str) -> bool:
        self.note("", "unit", unit)
        return self._source.has_unit(unit)

    def find(self, unit: str, qualified_name: str) -> Sequence[SymbolId]:
        self.note("", "declared", f"{unit} {qualified_name}")
        return self._source.find(unit, qualified_name)

    def methods(self, unit: str, owner: str) -> Sequence[SymbolId]:
        self.note("", "methods", f"{unit} {owner}")
        return self._source.methods(unit, owner)

    def named(self, name: str) -> Sequence[SymbolId]:
        self.note("", "named", name)
        return self._source.named(name)

    def manifests(self) -> Sequence[Manifest]:
        self.note("", "manifests")
        return self._source.manifests()

    def homes(self, kinds: str) -> Mapping[str, Sequence[str]]:
        """Return the places that manifests of some kinds give to the first parts of modules, the outer ones first."""
        if not kinds:
            return {}
        manifests = self.manifests()
        if kinds not in self._homes:
            homes: dict[str, list[str]] = {}
            for manifest in sorted(manifests, key=lambda each: each.folder.count("/") + bool(each.folder)):
                for prefix, places in manifest.targets.items() if manifest.kind in kinds.split() else ():
                    homes.setdefault(prefix, []).extend(places)
            self._homes[kinds] = homes
        return self._homes[kinds]

    def called(self, name: str) -> Sequence[Named]:
        self.note("", "called", name)
        return self._source.called(name)

    def keyed(self, key: str) -> Sequence[Keyed]:
        self.note("", "key", key)
        return self._source.keyed(key)
