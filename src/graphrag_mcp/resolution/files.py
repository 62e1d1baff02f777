"""The facts of one file, arranged for look-ups.

What the resolution of a file reads of others is noted. An edit that changes nothing of it changes no relation of the
file. What an import means is read by many, and rarely changes when what it is found by does (a manifest, a new file):
its readers depend on the import, and the file that has the import on what it is found by.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.model.expressions import Expression, Member, Name, parse
from graphrag_mcp.model.facts import (
    ASSIGNED,
    Bound,
    Declared,
    Exported,
    FileFacts,
    Flow,
    Imported,
    Mark,
    Mention,
    SymbolId,
    Use,
    identities_of,
)
from graphrag_mcp.model.files import CALLABLE, Manifest, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import Place
from graphrag_mcp.model.sources import FactSource, Keyed, Named

Key = TypeVar("Key")
Row = TypeVar("Row")
Value = TypeVar("Value")

MOST_OF_A_NAME = 200  # More declarations of one name, overloads for the most part, are not told apart.

MEANING = "meaning of"  # An import.
PASSED_ON = "passed on"  # A name that a file without facts imports.
BASES = "bases"  # The types above one and its methods, in a file without facts.
IMPORTED_BY_ALL = "import *"  # What a file imports without saying which names.
Span: TypeAlias = tuple[int, int]  # Offsets; the second is behind it.


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


Rows: TypeAlias = Mapping[Key, Row] | Noted[Key, Row]


class Sought(NamedTuple):
    """As what a name is looked up. arity: the number of arguments of a call, -1 where it does not matter."""

    use: str = ""
    arity: int = -1


ANYTHING = Sought()
_TYPE, _VALUE = Sought(Use.TYPE), Sought(Use.VALUE)


def sought_in(policy: Policy, use: str, count: int = -1) -> Sought:
    """Return what tells names of this use apart from others, in a language."""
    if policy.names.has_spaces:
        return _TYPE if use == Use.TYPE else _VALUE
    return Sought(use, count) if policy.names.spaces else ANYTHING


class Nested:
    """Finds the spans around an offset, among spans that lie in each other or beside each other.

    spans: the outer ones first. parents: of each the index of the one around it, -1 for none.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = sorted(set(spans), key=lambda span: (span[0], -span[1]))
        self.parents: list[int] = []
        self._starts = [start for start, _ in self.spans]
        open_spans: list[int] = []
        for index, (start, _) in enumerate(self.spans):
            while open_spans and self.spans[open_spans[-1]][1] <= start:
                open_spans.pop()
            self.parents.append(open_spans[-1] if open_spans else -1)
            open_spans.append(index)

    def around(self, at: int) -> list[Span]:
        """Return the spans around an offset, the inner ones first."""
        around: list[Span] = []
        index = bisect_right(self._starts, at) - 1
        while index >= 0:
            if self.spans[index][1] > at:
                around.append(self.spans[index])
            index = self.parents[index]
        return around


class File:
    """The facts of one file, arranged for look-ups."""

    def __init__(self, path: str, facts: FileFacts, reads: Reads | None = None) -> None:
        """reads: where look-ups by other files are noted."""
        self.path, self.facts, self._reads = path, facts, reads
        self.policy = policy_of(facts.language)
        self._meanings: dict[tuple[str, int, int, str], list[Bound]] = {}

    @cached_property
    def _bound(self) -> Mapping[str, tuple[Nested, Mapping[Span, list[Bound]]]]:
        """The bindings by name and span."""
        scopes: dict[str, dict[Span, list[Bound]]] = {}
        for binding in self.facts.bound:
            scopes.setdefault(binding.name, {}).setdefault((binding.start, binding.stop), []).append(binding)
        return {name: (Nested(by_span), by_span) for name, by_span in scopes.items()}

    @cached_property
    def _declared(self) -> tuple[Nested, Mapping[Span, list[int]]]:
        """The declarations by span."""
        declared = enumerate(self.facts.declared)
        numbers = grouped(((declaration.start, declaration.stop), number) for number, declaration in declared)
        return Nested(numbers), numbers

    def _noting(self, kind: str, rows: Mapping[Key, Row], name_of: Callable[[Key], str] = str) -> "Rows[Key, Row]":
        return Noted(self._reads, self.path, kind, rows, name_of) if self._reads else rows

    def note(self, kind: str, name: str = "") -> None:
        """Note that something of the file was read."""
        if self._reads:
            self._reads.note(self.path, kind, name)

    @cached_property
    def identities(self) -> Sequence[str]:
        """A name for each declaration that does not depend on what stands before it; see `identities_of`."""
        return identities_of(self.facts)

    @cached_property
    def places(self) -> Sequence[Place]:
        """The places of the declarations."""
        return [Place(self.path, identity) for identity in self.identities]

    @cached_property
    def members(self) -> "Rows[tuple[int, str], Sequence[int]]":
        """The declarations by their owner and name."""
        declared = enumerate(self.facts.declared)
        members = grouped(((declaration.owner, declaration.name), number) for number, declaration in declared)
        return self._noting("member", members, itemgetter(1))

    @cached_property
    def methods(self) -> "Rows[int, Sequence[int]]":
        """The methods that a type declares, by its number."""
        methods = grouped(
            (declaration.owner, number)
            for number, declaration in enumerate(self.facts.declared)
            if declaration.kind == SymbolKind.METHOD
        )
        return self._noting("methods", methods, lambda owner: self.identities[owner])

    @cached_property
    def properties(self) -> "Rows[str, bool]":
        """The qualified names of what is read without a call."""
        return self._noting(
            "property",
            {declaration.qualified: True for declaration in self.facts.declared if Mark.PROPERTY in declaration.marks},
        )

    def symbols(self, owner: int, name: str) -> tuple[SymbolId, ...]:
        """Return the declarations of a name in another one, or at the top: -1; at most one more than is told apart."""
        numbers = self.members.get((owner, name), ())[: MOST_OF_A_NAME + 1]
        return tuple(SymbolId(self.path, number) for number in numbers)

    @cached_property
    def imports(self) -> "Rows[str, Sequence[Imported]]":
        """What the file imports, by the names that it gives it."""
        return self._noting("import", {name: rows for name, rows in self._imports.items() if name})

    @cached_property
    def _imports(self) -> Mapping[str, Sequence[Imported]]:
        return grouped((imported.name, imported) for imported in self.facts.imports)

    def unnamed_imports(self, name: str) -> Sequence[Imported]:
        """Return what the file imports without a name, which may give it this one."""
        self.note(IMPORTED_BY_ALL)
        self.note("imported as", name)
        return self._imports.get("", ())

    @cached_property
    def exports(self) -> "Rows[str, Sequence[Exported]]":
        """What the file exports, by the names for others."""
        return self._noting("export", grouped((export.name, export) for export in self.facts.exports))

    @property
    def is_module(self) -> bool:
        """Whether the file imports or exports anything."""
        return bool(self.facts.imports or self.facts.exports)

    @cached_property
    def assigned(self) -> "Rows[str, Sequence[tuple[Flow, Expression | None]]]":
        """What variables and members are given, by the name; with the value whose member it is."""
        assigned: dict[str, list[tuple[Flow, Expression | None]]] = {}
        for flow in self.facts.flows:
            if flow.argument == ASSIGNED and self.policy.names.is_dynamic:
                match parse(flow.into):
                    case Member(owner, name):
                        assigned.setdefault(name, []).append((flow, owner))
                    case Name(name):
                        assigned.setdefault(name, []).append((flow, None))
        return self._noting("given", assigned)

    @cached_property
    def handed(self) -> Mapping[Expression, list[Flow]]:
        """The values that are given as arguments, by what is called."""
        return grouped((parse(flow.into), flow) for flow in self.facts.flows if flow.argument >= 0)

    def mentions_in(self, declaration: Declared) -> Iterator[Mention]:
        """Yield the mentions in a declaration."""
        yield from (mention for mention in self.facts.mentions if declaration.start <= mention.at < declaration.stop)

    def mentions_on(self, line: int) -> Sequence[Mention]:
        """Return the mentions of a line, as they are written."""
        first = bisect_left(self.facts.mentions, line, key=attrgetter("line"))
        return self.facts.mentions[first : bisect_right(self.facts.mentions, line, first, key=attrgetter("line"))]

    def owned_by(self, number: int) -> Iterator[tuple[SymbolId, Declared]]:
        """Yield the declarations that are members of one, of whatever name."""
        for member, declaration in enumerate(self.facts.declared):
            if declaration.owner == number:
                yield SymbolId(self.path, member), declaration

    def types_around(self, at: int) -> list[int]:
        """Return the types around an offset, outer ones first."""
        return [
            number for number, declaration in reversed(self.declared_around(at)) if declaration.kind == SymbolKind.TYPE
        ]

    def declared_around(self, at: int) -> list[tuple[int, Declared]]:
        """Return the declarations around an offset with their numbers, inner ones first."""
        nested, by_span = self._declared
        return [(number, self.facts.declared[number]) for span in nested.around(at) for number in by_span[span]]

    def is_in_function(self, at: int, owner: int) -> bool:
        """Return whether an offset is in a function inside of a type, behind its beginning."""
        start = self.facts.declared[owner].start
        return any(
            declaration.kind in CALLABLE and start < declaration.at < at for _, declaration in self.declared_around(at)
        )

    @cached_property
    def _borders(self) -> Sequence[int]:
        """The offsets at which a span begins or ends, that of a function's body too."""
        borders = {0}
        for binding in self.facts.bound:
            borders.update((binding.start, binding.stop))
        for declaration in self.facts.declared:
            borders.update((declaration.start, declaration.at + 1, declaration.stop))
        return sorted(borders)

    def scope_at(self, at: int) -> int:
        """Return the first offset from which on all spans are those around this one: names mean the same there."""
        return self._borders[bisect_right(self._borders, at) - 1]

    def innermost(self, name: str, at: int, sought: Sought = ANYTHING) -> list[Bound]:
        """Return the bindings of a name in the smallest range around an offset."""
        return next((bound for group in self._groups(name, at) if (bound := self._meaning(group, sought.use))), [])

    def around(self, name: str, at: int) -> list[Bound]:
        """Return the bindings of a name around an offset, the outer ones first."""
        return [binding for group in reversed([*self._groups(name, at)]) for binding in group]

    def _groups(self, name: str, at: int) -> Iterator[list[Bound]]:
        """Yield the bindings of a name around an offset by their spans, the inner ones first."""
        self.note("bound", name)
        if name in self._bound:
            nested, by_span = self._bound[name]
            yield from (by_span[span] for span in nested.around(at))

    def _meaning(self, group: list[Bound], use: str) -> list[Bound]:
        """Return those of a group that a use may mean; kept, since a variable may be bound a thousand times."""
        key = (group[0].name, group[0].start, group[0].stop, use)
        if key not in self._meanings:
            self._meanings[key] = [binding for binding in group if self._may_mean(binding, use)]
        return self._meanings[key]

    def _may_mean(self, binding: Bound, use: str) -> bool:
        if use and self.policy.names.has_spaces:
            return binding.kind in ("declared", "alias") or (binding.kind == "type") == (use == Use.TYPE)
        spaces = self.policy.names.spaces.get(use)
        if not spaces:
            return True
        if binding.kind == "declared":
            kind = self.facts.declared[int(binding.value[1:])].kind
        else:
            kind = SymbolKind.TYPE if binding.kind == "type" else SymbolKind.FIELD
        return any(kind in kinds for kinds in spaces)
