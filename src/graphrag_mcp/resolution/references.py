"""The links to and from declarations, as they were stored, and what is around a place in a file."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

from graphrag_mcp.model.facts import Mention, SymbolId, Use
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.links import BY_NAME, DECLARED, IMPORTED, MEANT, SOME, SUPER, How, Place, StoredLink, place_id
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import (
    All,
    Either,
    Function,
    Instance,
    Many,
    Several,
    Table,
    Type,
    Value,
    alternatives,
    either,
)
from graphrag_mcp.resolution.by_name import linked_name
from graphrag_mcp.resolution.files import File
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.state import of_project

_ENCLOSING = frozenset(
    (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE)
)
_OF_MENTIONS = (*MEANT, How.UNDECIDED, How.FOREIGN, How.OUTSIDE, How.RUNS)
_MOST_SLOTS = 200  # Through which a function goes on its way to where it is called.
FILES_KEPT = 100  # Files whose links are kept from earlier questions.
_OF_TYPES = (RelationKind.INHERITS, RelationKind.IMPLEMENTS)
SUPER_ID, IMPORTED_ID, DECLARED_ID, _SOME = map(place_id, (SUPER, IMPORTED, DECLARED, SOME))


class LinkSource(Protocol):
    """The links of the files of one tree."""

    def to(self, targets: Collection[int], hows: Collection[How], /) -> list[StoredLink]:
        """Return the links of some kinds to places or names, in the order of paths and lines."""

    def of(self, path: str, /) -> Sequence[StoredLink]:
        """Return the links of the mentions and declarations of a file, in the order of lines."""

    def pending(self, names: Collection[str], /) -> Sequence[str]:
        """Return the files that mention any of some names and are not wholly resolved, and those that just changed."""

    def unresolved(self, path: str, /) -> bool:
        """Return whether links of a file may be missing."""


class NoLinks:
    """The links of a tree that is being resolved."""

    def to(self, _targets: Collection[int], _hows: Collection[How]) -> list[StoredLink]:
        return []

    def of(self, _path: str) -> Sequence[StoredLink]:
        return ()

    def pending(self, _names: Collection[str]) -> Sequence[str]:
        return ()

    def unresolved(self, _path: str) -> bool:
        return False


class Site(NamedTuple):
    """A place where a name is used, as it was resolved.

    target: the place of the declaration that it means, 0 if it is undecided. source: the place of the declaration
    around it, 0 for none. receivers: the types whose member is used, none if they are not known. is_certain: whether it
    is known that what runs there is what it means. kind: of the relation to the target, None if that is undecided.
    """

    path: str
    mention: Mention
    target: int = 0
    source: int = 0
    receivers: tuple[int, ...] = ()
    is_certain: bool = True
    kind: RelationKind | None = None

    @property
    def is_of_base(self) -> bool:
        """Whether `super` is the receiver."""
        return self.receivers == (SUPER_ID,)


class References:
    """The links of one state of the index, with the resolver of its names.

    of: the links of a file, in the order of lines. to, pending: those of the `LinkSource`.
    """

    def __init__(self, source: FactSource, links: LinkSource) -> None:
        self.source = source
        self.resolver = Resolver(source)
        self.place, self.above = cache(self._find_place), cache(self._find_above)
        self._symbols, self._names = cache(self._find_symbols), cache(self._find_names)
        self.of = lru_cache(FILES_KEPT)(links.of)
        self.to, self.pending, self.unresolved = links.to, links.pending, links.unresolved
        self._by_source = lru_cache(FILES_KEPT)(self._find_by_source)

    def _find_place(self, symbol: SymbolId) -> int:
        """Return the number of the place of a declaration."""
        return place_id(Place(symbol.path, self.resolver.state.open(symbol.path).identities[symbol.number]))

    def symbol(self, path: str, place: int) -> SymbolId | None:
        """Return the declaration of a file at a place."""
        return self._symbols(path).get(place)

    def _find_symbols(self, path: str) -> Mapping[int, SymbolId]:
        file = self.resolver.state.file(path)
        names = file.identities if file else ()
        return {place_id(Place(path, name)): SymbolId(path, number) for number, name in enumerate(names)}

    def linked(self, symbols: Iterable[SymbolId], hows: Collection[How]) -> list[StoredLink]:
        """Return the links of some kinds to declarations."""
        return self.to({self.place(symbol) for symbol in symbols}, hows)

    def inside(self, symbol: SymbolId) -> list[StoredLink]:
        """Return the links of the mentions in a declaration, in the order of lines."""
        declaration, file = self.resolver.declared(symbol), self.resolver.state.open(symbol.path)
        links = [link for link in self.of(symbol.path) if link.how in _OF_MENTIONS]
        if declaration.kind not in _ENCLOSING:
            lines = {mention.line for mention in file.mentions_in(declaration)}
            return [link for link in links if link.line in lines]
        within = {self.place(inner) for inner in self.declared_in(symbol)}
        return [link for link in links if link.source in within]

    def declared_in(self, symbol: SymbolId) -> list[SymbolId]:
        """Return a declaration and those in it."""
        declaration, file = self.resolver.declared(symbol), self.resolver.state.open(symbol.path)
        return [
            SymbolId(symbol.path, number)
            for number, inner in enumerate(file.facts.declared)
            if declaration.start <= inner.start and inner.stop <= declaration.stop
        ]

    def slots_of(self, places: Collection[int]) -> Set[int]:
        """Return the parameters, fields and collections in which functions are kept, also after others."""
        return {link.source for link in self._through(places, How.FILLED)}

    def run_by(self, links: Iterable[StoredLink]) -> list[StoredLink]:
        """Return for calls of parameters, fields and collections those of the functions that are kept there."""
        calls = [link for link in links if link.use == Use.CALL and link.how in (How.RUNS, *MEANT)]
        filled = {link.target for link in self.to({call.target for call in calls}, (How.FILLS,))}
        return [
            call._replace(target=function, how=How.OPEN, kind=RelationKind.CALLS)
            for call in calls
            if call.target in filled
            for function in {
                kept.source for kept in self._through((call.target,), How.FILLS) if kept.use == Use.FUNCTION
            }
        ]

    def _through(self, places: Collection[int], how: How) -> Sequence[StoredLink]:
        distinct: dict[tuple[int, int], StoredLink] = {}
        level, seen = set(places), set(places)
        while level and len(seen) < _MOST_SLOTS:
            links = self.to(level, (how,))
            distinct |= {(link.target, link.source): link for link in links}
            level = {link.source for link in links if how is How.FILLED or link.use != Use.FUNCTION} - seen
            seen |= level
        return list(distinct.values())

    def directly_in(self, path: str, place: int) -> Sequence[StoredLink]:
        """Return the links of the mentions around which a declaration is the innermost with a name."""
        return self._by_source(path).get(place, ())

    def _find_by_source(self, path: str) -> Mapping[int, Sequence[StoredLink]]:
        return grouped((link.source, link) for link in self.of(path) if link.how in _OF_MENTIONS)

    def mentions(self, path: str, line: int) -> Sequence[Mention]:
        """Return the mentions of a line, as they are written."""
        file = self.resolver.state.file(path)
        return file.mentions_on(line) if file else ()

    def receivers(self, links: Sequence[StoredLink]) -> tuple[int, ...]:
        """Return the types whose member the links of one place use, none if one is not known."""
        known = [link.receiver for link in links if link.receiver not in (0, _SOME)]
        return tuple(known) if len(known) == len(links) else ()

    def name(self, path: str, link: StoredLink) -> str:
        """Return the name of a link of a file that leads to a name."""
        return self._names(path).get(link.target, "")

    def _find_names(self, path: str) -> Mapping[int, str]:
        facts, outline = self.source.facts(path), self.source.outline(path)
        names = {*map(linked_name, outline), *(mention.name for mention in (facts.mentions if facts else ()))}
        return {place_id(Place("", name)): name for name in names}

    def unsure(self, name: str, places: Collection[int], languages: Collection[str]) -> list[StoredLink]:
        """Return the links of a name in some languages that may lead to places, and of which names alone are known."""
        number, others = place_id(Place("", name)), set(self.source.places_of(name)).difference(places)
        links = [*self.to((number,), (How.UNDECIDED,)), *self.to(others, BY_NAME)]
        return self._in_languages(links, languages)

    def foreign(self, name: str, owner: str, languages: Collection[str]) -> list[StoredLink]:
        """Return the links of a name in some languages to what is not known there, of members those of an owner."""
        number, receiver = place_id(Place("", name)), place_id(Place("", owner)) if owner else 0
        links = self.to((number,), (How.UNDECIDED, How.FOREIGN, How.OUTSIDE))
        links = [link for link in links if not owner or link.receiver == receiver or link.how is How.UNDECIDED]
        return self._in_languages(links, languages)

    def _in_languages(self, links: Iterable[StoredLink], languages: Collection[str]) -> list[StoredLink]:
        """Return the links of files in some languages."""
        return [link for link in links if (file := self.source.file(link.path)) and file.language in languages]

    def closure(self, place: int, hows: Collection[How], kinds: Collection[RelationKind]) -> list[StoredLink]:
        """Return all links of the hierarchy above or below a declaration, the nearest first.

        What only replaces a method is one for that alone.
        """
        reached: dict[int, StoredLink] = {}
        level = {place}
        seen = set(level)
        while level:
            links = [link for link in self.to(level, hows) if link.kind in kinds]
            links = [link for link in links if link.use != Use.BASE or place in level]
            fresh = {link.source: link for link in links if link.source not in seen}
            reached |= fresh
            seen |= fresh.keys()
            level = {source for source, link in fresh.items() if link.use != Use.BASE}
        return list(reached.values())

    def site(self, link: StoredLink, name: str, target: int = 0, *, is_certain: bool = True) -> Site:
        """Return the place of a link."""
        receiver = "?" if link.receiver else ""
        mention = Mention(-1, link.line, name, link.use, receiver, link.arity)
        return Site(
            link.path, mention, target, link.source, self.receivers((link,)), is_certain, link.kind if target else None
        )

    def _find_above(self, kind: SymbolId) -> Set[int]:
        """Return the places of the types of the project above a type."""
        return {link.source for link in self.closure(self.place(kind), (How.ABOVE,), _OF_TYPES)}

    def around(self, path: str, at: int, *, named: bool = False, outside: SymbolId | None = None) -> SymbolId | None:
        """Return the innermost declaration around an offset that can contain code.

        named: only one with a name. outside: only one that is larger than this.
        """
        file = self.resolver.state.file(path)
        least = self.resolver.declared(outside).stop - self.resolver.declared(outside).start if outside else -1
        sizes = [
            (declaration.stop - declaration.start, number)
            for number, declaration in (file.declared_around(at) if file else ())
            if declaration.kind in _ENCLOSING and (declaration.name or not named)
        ]
        best = min((size for size in sizes if size[0] > least), default=None)
        return SymbolId(path, best[1]) if best else None


def functions_of(value: Value | None) -> tuple[SymbolId, ...]:
    """Return what a call of a value may call: functions and types."""
    called = (other for other in alternatives(value) if isinstance(other, Function | Type))
    return tuple(symbol for other in called for symbol in other.symbols)


def held_in(value: Value | None) -> Value | None:
    """Return what a collection holds; any other value is itself."""
    match value:
        case Many(element):
            return held_in(element)
        case Table(_, held):
            return held_in(held)
        case Several(items):
            return either(items)
    return value


class Places:
    """The places of one file."""

    def __init__(self, references: References, file: File) -> None:
        self._references, self._resolver, self._file = references, references.resolver, file
        self._path, self._facts = file.path, file.facts
        self._place, self._declared = references.resolver.state.place, references.resolver.declared
        self._starts = [mention.at for mention in self._facts.mentions]
        self._around: tuple[int, Place] | None = None

    def _line(self, at: int) -> int:
        """Return the line of an offset: of the mention there, or before it in its declaration, else of the next."""
        place, around = bisect_left(self._starts, at), self._file.declared_around(at)
        mentions = self._facts.mentions
        is_there = place < len(mentions) and mentions[place].at == at
        if not is_there and around and place and mentions[place - 1].at > around[0][1].start:
            return mentions[place - 1].line
        if place < len(mentions):
            return mentions[place].line
        return around[0][1].line if around else 1

    def _source(self, at: int) -> Place:
        """Return what is around an offset; asked several times for one mention."""
        if self._around is None or self._around[0] != at:
            symbol = self._references.around(self._path, at, named=True)
            self._around = at, self._place(symbol) if symbol else Place(self._path, "")
        return self._around[1]


def types_of(value: Value | None) -> tuple[SymbolId, ...]:
    """Return the types of the project that a value may have."""
    if isinstance(value, Either | All):
        return tuple(symbol for other in value.values for symbol in types_of(other))
    return of_project(value.symbols) if isinstance(value, Instance | Type) else ()
