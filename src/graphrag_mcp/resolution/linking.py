"""Resolves a file once: its links, what of other files they follow from, and as what its declarations are exported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from graphrag_mcp.model.expressions import says_type
from graphrag_mcp.model.facts import EXPECTED, WHOLE, Declared, Mark, SymbolId, Use, modules_of
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.links import EMBEDDING, MORE, How, Link, Place, Read
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import symbols_of
from graphrag_mcp.resolution.by_name import NameResolution
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.handing import Handing
from graphrag_mcp.resolution.hierarchy import Hierarchy
from graphrag_mcp.resolution.mentions import Mentions
from graphrag_mcp.resolution.reads import Noting, Reads
from graphrag_mcp.resolution.references import NoLinks, Places, References, functions_of, types_of
from graphrag_mcp.resolution.state import of_project

_INHERITING = ("extends", "implements")


class DeclarationLinks(Places):
    """The links of the declarations of one file."""

    def __init__(self, references: References, file: File) -> None:
        super().__init__(references, file)
        self._hierarchy = Hierarchy(references)
        self._beside_of: dict[SymbolId, Sequence[SymbolId]] = {}

    def links(self) -> Iterator[Link]:
        """Yield the links of exports and declarations."""
        yield from self._exported()
        for number, declaration in enumerate(self._facts.declared):
            self._resolver.state.begin_part()
            yield from self._of_declared(SymbolId(self._path, number), declaration)

    def _exported(self) -> Iterator[Link]:
        """Yield what the file exports under another name than its own."""
        for export in self._facts.exports:
            referent = self._resolver.modules.exported(self._path, export) if export.name not in ("*", *WHOLE) else None
            for symbol in of_project(symbols_of(referent)):
                if self._declared(symbol).name != export.name:
                    name, kind = Place("", export.name), RelationKind.IMPORTS
                    yield Link(self._place(symbol), Place(self._path, ""), 0, kind, "", How.EXPORTED, -1, name)

    def _of_declared(self, symbol: SymbolId, declaration: Declared) -> Iterator[Link]:
        yield from self._bases(symbol, declaration)
        if self._hierarchy.method_sets.embeds_foreign(symbol):
            yield Link(EMBEDDING, self._place(symbol), declaration.line, RelationKind.INHERITS, "", How.ABOVE)
        if self._file.policy.members.method_sets:  # No type says which methods it overrides.
            return
        if declaration.kind == SymbolKind.TYPE and len(declaration.bases) > 1:
            for method, inherited in self._hierarchy.standing_in(symbol):
                yield from self._pair(self._place(method), self._place(inherited), declaration.line, use=Use.BASE)
        yield from self._constants_by_text(symbol, declaration)
        if self._resolver.symbols.is_replaceable(symbol) or self._is_in_object(declaration):
            yield from self._overridden(symbol, declaration)
        if declaration.kind == SymbolKind.FIELD and declaration.value and not says_type(declaration.value):
            yield from self._functions_in(symbol, declaration)

    def _bases(self, symbol: SymbolId, declaration: Declared) -> Iterator[Link]:
        """Yield the types above one; from their side, too, if it has a name: also from those that an alias is of."""
        place, is_said = self._place(symbol), bool(declaration.name) and not self._file.policy.members.method_sets
        for base, value in zip(declaration.bases, self._resolver.lineage.bases_of(symbol), strict=True):
            for above in (kind for kind in types_of(value) if kind != symbol):
                yield Link(place, self._place(above), declaration.line, RelationKind.INHERITS, "", How.ABOVE)
                if is_said and base.how in _INHERITING:
                    yield Link(self._place(above), place, declaration.line, RelationKind.INHERITS, "", How.BELOW)

    def _is_in_object(self, declaration: Declared) -> bool:
        """Return whether a function is the value of a key of an object."""
        if declaration.owner < 0 or declaration.kind != SymbolKind.FUNCTION:
            return False
        owner = self._facts.declared[declaration.owner]
        return owner.kind == SymbolKind.TYPE and not owner.name

    def _constants_by_text(self, symbol: SymbolId, declaration: Declared) -> Iterator[Link]:
        """Yield where an enumeration asks itself for a constant by its name."""
        by_text = self._file.policy.members.by_text if Mark.ENUMERATION in declaration.marks else ""
        for mention in self._file.mentions_in(declaration) if by_text else ():
            if mention.name == by_text and not mention.receiver:
                source = self._source(mention.at)
                yield Link(self._place(symbol), source, mention.line, RelationKind.READS, Use.VALUE, How.ANY)

    def _overridden(self, symbol: SymbolId, declaration: Declared) -> Iterator[Link]:
        """Yield the members that one overrides, from both sides."""
        if self._resolver.symbols.is_only_assigned(symbol):
            return
        owner = self._resolver.symbols.around(symbol)
        is_said = all(base.how != EXPECTED for base in self._declared(owner or symbol).bases)
        for other in self._hierarchy.nearest(symbol):
            yield from self._pair(self._place(other), self._place(symbol), declaration.line, is_said=is_said)
        for other in self._beside(owner) if owner else ():
            if self._declared(other).name == declaration.name:
                yield from self._pair(self._place(other), self._place(symbol), declaration.line)

    def _functions_in(self, symbol: SymbolId, declaration: Declared) -> Iterator[Link]:
        """Yield the functions that a field holds which overrides methods."""
        owner = self._hierarchy.owner_of(symbol)
        if owner is None or not self._hierarchy.ancestors(owner):  # It overrides nothing, whatever it holds.
            return
        held = functions_of(self._resolver.expressions.written(symbol, declaration.value))
        above = self._hierarchy.overridden(symbol) if held else []
        for function in held:
            for other in above:
                place, method = self._place(function), self._place(other)
                yield Link(place, method, declaration.line, RelationKind.OVERRIDES, "", How.HANDED_AS)
                yield Link(method, place, declaration.line, RelationKind.OVERRIDES, "", How.EXPECTED)

    def _beside(self, kind: SymbolId) -> Sequence[SymbolId]:
        """Return the methods above a type in whose place another side's runs for one of the types between."""
        if kind not in self._beside_of:
            several = (symbol for symbol in self._hierarchy.ancestors(kind) if len(self._declared(symbol).bases) > 1)
            methods = (method for symbol in several for method, _ in self._hierarchy.standing_in(symbol))
            self._beside_of[kind] = list(dict.fromkeys(methods))
        return self._beside_of[kind]

    def _pair(self, above: Place, below: Place, line: int, *, is_said: bool = True, use: str = "") -> Iterator[Link]:
        """Yield from both sides that a method overrides one; if only the place of a literal says so, it is not below.

        use: BASE if one only stands in the place of the other: what overrides the one does not override the other.
        """
        yield Link(above, below, line, RelationKind.OVERRIDES, use, How.BELOW if is_said else How.EXPECTED)
        yield Link(below, above, line, RelationKind.OVERRIDES, use, How.ABOVE)


class Linked(Struct, frozen=True):
    """The links of a file, and what of other files they follow from.

    meanings: what each of its own imports means, in the order of their modules. of_imports: the reads by which that was
    found.
    """

    links: Sequence[Link]
    reads: frozenset[Read]
    meanings: Mapping[str, str]
    of_imports: frozenset[Read]


class Linker:
    """Resolves files of one state of the index, one after the other; remembers facts, and nothing that follows.

    So what a file depends on is exactly what is read while it is resolved.
    """

    def __init__(self, source: FactSource) -> None:
        self._reads = Reads(source)
        self._references = References(self._reads, NoLinks())
        self._resolver = self._references.resolver

    def link(self, path: str) -> Linked:
        """Return the links of a file."""
        meanings, _ = self.meanings(path)
        file, named = self._resolver.state.file(path), self._reads.file(path)
        if file is not None:
            self._resolver.state.begin_file(file)
            handing = Handing(self._references, file)
            parts = (Mentions(self._references, file, handing), DeclarationLinks(self._references, file), handing)
            links = tuple(link for part in parts for link in part.links())
            if self._resolver.state.is_cut:
                links += (Link(MORE, Place(path, ""), 0, RelationKind.USES, "", How.CUT),)
        else:
            links = tuple(NameResolution(self._reads, named).links()) if named else ()
        reads = frozenset(self._named(self._reads.noted))
        reads |= {Read(path, "file") for path in {read.path for read in reads} if path}
        return Linked(links, reads, meanings, frozenset(self._named(self._reads.of_imports)))

    def meanings(self, path: str) -> tuple[Mapping[str, str], frozenset[Read]]:
        """Return what each import of a file means, and the reads by which that was found."""
        self._reads.begin(path)
        self._resolver.state.forget()
        file = self._resolver.state.file(path)
        meanings: dict[str, str] = {}
        if file is not None:
            for module in sorted(modules_of(file.facts)):
                # With the libraries, as others who read it find it: the first who does decides for all.
                find = partial(file.policy.modules.module, self._resolver.state.with_libraries, path, module)
                meanings[module] = repr(self._reads.finding(path, module, find))
        return meanings, frozenset(self._named(self._reads.of_imports))

    def _named(self, noted: Iterable[Noting]) -> Iterator[Read]:
        """Yield what was read of other files by names that do not change when something else does."""
        for noting in noted:
            if not self._reads.is_elsewhere(noting[0]):
                continue
            if isinstance(noting, SymbolId):
                yield Read(noting.path, "declaration", self._resolver.state.open(noting.path).identities[noting.number])
            else:
                yield Read(*noting)
