"""Finds the places that refer to declarations: what was found when their files were resolved."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple, Protocol

from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language
from graphrag_mcp.model.expressions import names_in
from graphrag_mcp.model.facts import FileFacts, Mark, Mention, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, MACRO, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.links import SOME, SUPER, How, Place, StoredLink, place_id
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import Either, Function, Many, Several, Table, Type, Value, either
from graphrag_mcp.resolution.by_name import macro_name
from graphrag_mcp.resolution.files import sought_in
from graphrag_mcp.resolution.libraries import LIBRARIES
from graphrag_mcp.resolution.resolver import Resolver

_ENCLOSING = frozenset(
    (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE)
)
_CONFINED = (SymbolKind.FUNCTION, SymbolKind.CONSTANT, SymbolKind.TYPE)
_RUNNING = (Use.CALL, Use.CREATE)
_NOT_STORING = (*_RUNNING, Use.TYPE, Use.BASE)
_OF_MENTIONS = (How.CERTAIN, How.OPEN, How.UNDECIDED, How.FOREIGN, How.OUTSIDE, How.RUNS)
_MOST_SLOTS = 200  # Through which a function goes on its way to where it is called.
FILES_KEPT = 100  # Files whose links are kept from earlier questions.
NAMES_KEPT = 1_000
_OF_TYPES = (RelationKind.INHERITS, RelationKind.IMPLEMENTS)
_SUPER, _SOME = place_id(SUPER), place_id(SOME)


class LinkSource(Protocol):
    """The links of the files of one tree."""

    def to(self, targets: Collection[int], hows: Collection[How], /) -> Sequence[StoredLink]:
        """Return the links of some kinds to places or names, in the order of paths and lines."""

    def of(self, path: str, /) -> Sequence[StoredLink]:
        """Return the links of the mentions and declarations of a file, in the order of lines."""

    def pending(self, names: Collection[str], /) -> Sequence[str]:
        """Return the files that mention any of some names and are not resolved yet, and those that just changed."""


class NoLinks:
    """The links of a tree that is being resolved."""

    def to(self, _targets: Collection[int], _hows: Collection[How]) -> Sequence[StoredLink]:
        """Return none."""
        return ()

    def of(self, _path: str) -> Sequence[StoredLink]:
        """Return none."""
        return ()

    def pending(self, _names: Collection[str]) -> Sequence[str]:
        """Return none: it is not asked."""
        return ()


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
        return self.receivers == (_SUPER,)


class Sites(NamedTuple):
    """The places that mean some declarations, or may.

    elsewhere: places of the same name that mean something else. pending: files with the name that are not resolved yet.
    """

    sites: Sequence[Site]
    elsewhere: Set[tuple[str, int]]
    pending: Sequence[str]


class References:
    """The references of one state of the index."""

    def __init__(self, source: FactSource, links: LinkSource) -> None:
        self.source, self._links = source, links
        self.resolver = Resolver(source)
        self._places: dict[SymbolId, int] = {}
        self._confined: dict[tuple[SymbolId, bool], bool] = {}
        self._numbers: dict[str, dict[int, int]] = {}
        self._names: dict[str, dict[int, str]] = {}
        self._of = lru_cache(FILES_KEPT)(links.of)
        self._by_source = lru_cache(FILES_KEPT)(self._find_by_source)
        self._of_interfaces = lru_cache(NAMES_KEPT)(self._find_of_interfaces)
        self._above: dict[SymbolId, Set[int]] = {}
        self._handed: dict[SymbolId, bool] = {}

    # ------------------------------------------------------------ links

    def place(self, symbol: SymbolId) -> int:
        """Return the number of the place of a declaration."""
        if symbol not in self._places:
            name = self.resolver.state.open(symbol.path).identities[symbol.number]
            self._places[symbol] = place_id(Place(symbol.path, name))
        return self._places[symbol]

    def symbol(self, path: str, place: int) -> SymbolId | None:
        """Return the declaration of a file at a place."""
        if path not in self._numbers:
            file = self.resolver.state.file(path)
            names = file.identities if file else ()
            self._numbers[path] = {place_id(Place(path, name)): number for number, name in enumerate(names)}
        number = self._numbers[path].get(place)
        return None if number is None else SymbolId(path, number)

    def linked(self, symbols: Iterable[SymbolId], hows: Collection[How]) -> list[StoredLink]:
        """Return the links of some kinds to declarations."""
        return [*self._links.to({self.place(symbol) for symbol in symbols}, hows)]

    def inside(self, symbol: SymbolId) -> list[StoredLink]:
        """Return the links of the mentions in a declaration, in the order of lines."""
        declaration, file = self.resolver.declared(symbol), self.resolver.state.open(symbol.path)
        links = [link for link in self._of(symbol.path) if link.how in _OF_MENTIONS]
        if declaration.kind not in _ENCLOSING:
            lines = {
                mention.line for mention in file.facts.mentions if declaration.start <= mention.at < declaration.stop
            }
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
        calls = [link for link in links if link.use == Use.CALL and link.how in (How.RUNS, How.CERTAIN, How.OPEN)]
        filled = {link.target for link in self._links.to({call.target for call in calls}, (How.FILLS,))}
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
            links = self._links.to(level, (how,))
            distinct |= {(link.target, link.source): link for link in links}
            level = {link.source for link in links if how is How.FILLED or link.use != Use.FUNCTION} - seen
            seen |= level
        return list(distinct.values())

    def directly_in(self, path: str, place: int) -> Sequence[StoredLink]:
        """Return the links of the mentions around which a declaration is the innermost with a name."""
        return self._by_source(path).get(place, ())

    def _find_by_source(self, path: str) -> Mapping[int, Sequence[StoredLink]]:
        by_source: dict[int, list[StoredLink]] = {}
        for link in self._of(path):
            if link.how in _OF_MENTIONS:
                by_source.setdefault(link.source, []).append(link)
        return by_source

    def mentions(self, path: str, line: int) -> Sequence[Mention]:
        """Return the mentions of a line, as they are written."""
        mentions = facts.mentions if (facts := self.source.facts(path)) else ()
        first = bisect_left(mentions, line, key=attrgetter("line"))
        return mentions[first : bisect_right(mentions, line, first, key=attrgetter("line"))]

    def is_dispatched(self, link: StoredLink) -> bool:
        """Return whether a call of a member may run that of a type below: one of `super` may not."""
        return link.receiver != _SUPER

    def receivers(self, links: Sequence[StoredLink]) -> tuple[int, ...]:
        """Return the types whose member the links of one place use, none if one is not known."""
        known = [link.receiver for link in links if link.receiver not in (0, _SOME)]
        return tuple(known) if len(known) == len(links) else ()

    def name(self, path: str, link: StoredLink) -> str:
        """Return the name of a link of a file that leads to a name."""
        if path not in self._names:
            facts, outline = self.source.facts(path), self.source.outline(path)
            names = {mention.name for mention in facts.mentions} if facts else {relation.target for relation in outline}
            names |= {macro_name(relation.target) for relation in outline if relation.target_module == MACRO}
            self._names[path] = {place_id(Place("", name)): name for name in names}
        return self._names[path].get(link.target, "")

    def of(self, path: str) -> Sequence[StoredLink]:
        """Return the links of a file, in the order of lines."""
        return self._of(path)

    def to(self, places: Collection[int], hows: Collection[How]) -> list[StoredLink]:
        """Return the links of some kinds to places, in the order of paths and lines."""
        return [*self._links.to(places, hows)]

    def unsure(self, name: str, places: Collection[int], languages: Collection[str]) -> list[StoredLink]:
        """Return the links of a name in some languages that may lead to places, and of which names alone are known."""
        number, others = place_id(Place("", name)), set(self.source.places_of(name)).difference(places)
        links = [*self._links.to((number,), (How.UNDECIDED,)), *self._links.to(others, (How.NAMED, How.SHARED))]
        return [link for link in links if (file := self.source.file(link.path)) and file.language in languages]

    def foreign(self, name: str, owner: str, languages: Collection[str]) -> list[StoredLink]:
        """Return the links of a name in some languages to what is not known there, of members those of an owner."""
        number, receiver = place_id(Place("", name)), place_id(Place("", owner)) if owner else 0
        links = [*self._links.to((number,), (How.UNDECIDED, How.FOREIGN, How.OUTSIDE))]
        links = [link for link in links if not owner or link.receiver == receiver or link.how is How.UNDECIDED]
        return [link for link in links if (file := self.source.file(link.path)) and file.language in languages]

    def pending(self, name: str) -> Sequence[str]:
        """Return the files that may mention a name and are not resolved yet."""
        return self._links.pending((name,))

    def closure(self, place: int, hows: Collection[How], kinds: Collection[RelationKind]) -> list[StoredLink]:
        """Return all links of the hierarchy above or below a declaration, the nearest first.

        What only replaces a method is one for that alone.
        """
        reached: dict[int, StoredLink] = {}
        level = {place}
        seen = set(level)
        while level:
            links = [link for link in self._links.to(level, hows) if link.kind in kinds]
            links = [link for link in links if link.use != Use.BASE or place in level]
            fresh = {link.source: link for link in links if link.source not in seen}
            reached |= fresh
            seen |= fresh.keys()
            level = {source for source, link in fresh.items() if link.use != Use.BASE}
        return list(reached.values())

    def sites(self, symbols: Collection[SymbolId], also: Collection[int] = (), *, with_guesses: bool = True) -> Sites:
        """Return the places that mean one of the declarations, or what is also at some places, and the undecided ones.

        with_guesses: else the undecided ones are left out, and nothing is said of other places.
        """
        places = {*map(self.place, symbols), *also}
        names = {self.resolver.declared(symbol).name for symbol in symbols}
        names |= {self.resolver.declared(symbol).name for symbol in self.source.placed(also).values()}
        links = self._links.to(places, (How.CERTAIN, How.OPEN, How.EXPORTED))
        numbers = {place_id(Place("", name)): name for name in names if name}
        numbers |= {link.receiver: min(names) for link in links if link.how is How.EXPORTED}
        sites: dict[tuple[object, ...], Site] = {}
        for link in links:
            if link.how in (How.CERTAIN, How.OPEN):
                site = self.site(link, "", link.target, is_certain=link.how is How.CERTAIN)
                what = (link.use, link.kind, link.how, link.arity, site.is_of_base)
                key = (link.target, link.path, link.line, link.source, *what)
                known = sites.get(key)
                if known:  # A value of several types.
                    both = known.receivers + site.receivers if known.receivers and site.receivers else ()
                    site = known._replace(receivers=both)
                sites[key] = site
        unsure = (How.UNDECIDED, How.FOREIGN, How.OUTSIDE) if with_guesses else (How.FOREIGN,)
        undecided = self._links.to(numbers.keys(), unsure)
        for link in undecided:
            if link.how is How.UNDECIDED and link.use:
                site = self.site(link, numbers[link.target])
                sites.setdefault((link.path, link.line, link.source, link.use, link.arity, site.mention.receiver), site)
        foreign = [link for link in undecided if link.how is How.FOREIGN]
        sites |= {(number, "foreign"): site for number, site in enumerate(self._foreign(foreign, symbols))}
        if not with_guesses:
            return Sites(list(sites.values()), frozenset(), ())
        sites |= {(number, "alike"): site for number, site in enumerate(self._alike(symbols))}
        elsewhere = self._others(names, places, undecided) - {(site.path, site.mention.line) for site in sites.values()}
        return Sites(list(sites.values()), elsewhere, self._links.pending(names))

    def _others(
        self, names: Collection[str], places: Collection[int], undecided: Iterable[StoredLink]
    ) -> Set[tuple[str, int]]:
        """Return the places that mean other declarations of some names, or something foreign."""
        numbers = {place for name in names for place in self.source.places_of(name)} - set(places)
        links = [*self._links.to(numbers, (How.CERTAIN, How.OPEN))]
        links += [
            link for link in undecided if link.how in (How.FOREIGN, How.OUTSIDE) and link.use not in ("", Use.IMPORT)
        ]
        return {(link.path, link.line) for link in links}

    def site(self, link: StoredLink, name: str, target: int = 0, *, is_certain: bool = True) -> Site:
        """Return the place of a link."""
        receiver = "?" if link.receiver else ""
        mention = Mention(-1, link.line, name, link.use, receiver, link.arity)
        return Site(
            link.path, mention, target, link.source, self.receivers((link,)), is_certain, link.kind if target else None
        )

    def run_through(self, links: Iterable[StoredLink]) -> Iterator[StoredLink]:
        """Yield for the calls of foreign members in a file the methods of the project that they may run."""
        for group in _by_place(link for link in links if link.how is How.FOREIGN and link.use == Use.CALL):
            for symbol in self.source.named(self.name(group[0].path, group[0])):
                if self._reached(group, symbol) is Certainty.MAY_CALL:
                    yield group[0]._replace(target=self.place(symbol), how=How.OPEN)

    def _foreign(self, links: Sequence[StoredLink], symbols: Iterable[SymbolId]) -> Iterator[Site]:
        """Yield the uses of members of foreign values that may be those of declarations."""
        for symbol in symbols if links else ():
            name = self.resolver.declared(symbol).name
            number = place_id(Place("", name))
            for group in _by_place(link for link in links if link.target == number):
                certainty = self._reached(group, symbol)
                interface = group[0].receiver if self.resolver.symbols.has_method_sets(symbol) else 0
                if certainty and interface > 0:  # Which types have its methods is compared by who asks.
                    yield self.site(group[0], name, interface, is_certain=False)
                elif certainty is Certainty.MAY_CALL:
                    yield self.site(group[0], name, self.place(symbol), is_certain=False)
                elif certainty:
                    yield self.site(group[0], name)

    def _reached(self, group: Sequence[StoredLink], symbol: SymbolId) -> Certainty | None:
        """Return whether a use of a foreign member may run a method of the project; see `ForeignTypes.reached`."""
        declaration, policy = self.resolver.declared(symbol), self.resolver.state.policy(symbol)
        if policy.members.method_sets:
            fits = any(link.arity in (-1, len(declaration.parameters or ())) for link in group)
            is_open = fits and declaration.kind == SymbolKind.METHOD and Mark.ABSTRACT not in declaration.marks
            return Certainty.BY_NAME if is_open else None
        owner = SymbolId(symbol.path, declaration.owner) if declaration.owner >= 0 else None
        return self.resolver.foreign.reached_by(
            group[0].use, {link.receiver for link in group}, symbol, self.above(owner) if owner else ()
        )

    def above(self, kind: SymbolId) -> Set[int]:
        """Return the places of the types of the project above a type."""
        if kind not in self._above:
            self._above[kind] = {link.source for link in self.closure(self.place(kind), (How.ABOVE,), _OF_TYPES)}
        return self._above[kind]

    def _alike(self, symbols: Iterable[SymbolId]) -> Iterator[Site]:
        """Yield the calls of interfaces that the types of methods may satisfy by having what they demand."""
        for symbol in symbols:
            declaration, owner = self.resolver.declared(symbol), self.resolver.symbols.owner_of(symbol)
            policy = self.resolver.state.policy(symbol)
            is_open = policy.names.has_spaces or policy.members.method_sets
            if owner is None or not is_open or declaration.kind not in CALLABLE or Mark.ABSTRACT in declaration.marks:
                continue
            interfaces = self._of_interfaces(declaration.name)
            alike = [other for other, kind in interfaces.items() if self.resolver.may_satisfy(owner, kind)]
            for link in self.linked(alike, (How.CERTAIN, How.OPEN)):
                if link.use == Use.CALL and link.receiver:
                    yield self.site(link, declaration.name)

    def _find_of_interfaces(self, name: str) -> dict[SymbolId, SymbolId]:
        """Return the members of a name that interfaces of the project declare, each with its interface."""
        named = [symbol for symbol in self.source.named(name) if symbol.path not in LIBRARIES]
        owned = ((symbol, self.resolver.symbols.owner_of(symbol)) for symbol in named)
        return {
            symbol: owner for symbol, owner in owned if owner and Mark.INTERFACE in self.resolver.declared(owner).marks
        }

    def can_mean(self, site: Site, symbol: SymbolId) -> bool:
        """Return whether an undecided place can mean a declaration: one that fits, a member by its receiver."""
        language, policy = detect_language(site.path), self.resolver.state.policy(symbol)
        is_of_family = language in FACT_LANGUAGES and policy_of(language).modules.module is policy.modules.module
        if not is_of_family or not self._fits(policy, site.mention, symbol):
            return False
        declaration = self.resolver.declared(symbol)
        if declaration.kind in (SymbolKind.METHOD, SymbolKind.FIELD):
            return bool(site.mention.receiver) or policy.names.bare_members
        if declaration.kind == SymbolKind.TYPE and self.resolver.symbols.owner_of(symbol):
            return bool(site.mention.receiver) or site.path == symbol.path
        if not policy.names.functions_are_members:
            return not site.mention.receiver or (policy.names.rebinds and self._is_handed_on(symbol))
        return not self.is_confined(symbol, site.mention.use) or (
            site.path == symbol.path and not site.mention.receiver
        )

    def _is_handed_on(self, symbol: SymbolId) -> bool:
        """Return whether a function is used as a value, so that it may be a member of something."""
        if symbol not in self._handed:
            links = self.linked((symbol,), (How.CERTAIN, How.OPEN))
            self._handed[symbol] = any(link.kind is RelationKind.HANDS_ON for link in links)
        return self._handed[symbol]

    def _fits(self, policy: Policy, mention: Mention, symbol: SymbolId) -> bool:
        """Return whether a declaration is of a kind that a mention can mean, and takes its number of arguments."""
        return bool(self.resolver.symbols.fitting((symbol,), sought_in(policy, mention.use, mention.arity)))

    def is_confined(self, symbol: SymbolId, use: str = Use.CALL) -> bool:
        """Return whether a declaration is only meant by its name, in its file: nothing exports it, or stores it.

        use: as what. Reading a member is never reading the constant whose value it has, but calling it may run that.
        """
        key = (symbol, use in _RUNNING)
        if key not in self._confined:
            facts = self.source.facts(symbol.path)
            self._confined[key] = facts is not None and self._is_confined(facts, symbol, is_run=key[1])
        return self._confined[key]

    def _is_confined(self, facts: FileFacts, symbol: SymbolId, *, is_run: bool) -> bool:
        declaration = self.resolver.declared(symbol)
        is_inner = declaration.owner >= 0 and facts.declared[declaration.owner].kind in CALLABLE
        policy = policy_of(facts.language)  # Others see what a script declares, and where nothing has to be exported.
        is_module = bool(facts.imports or facts.exports) and not (policy.names.rebinds or policy.modules.whole_unit)
        is_top = declaration.owner == -1 and is_module
        if declaration.kind not in _CONFINED or not (is_inner or is_top):
            return False
        exported = (export for export in facts.exports if not export.module)
        if any(declaration.name == export.name or declaration.name in names_in(export.value) for export in exported):
            return False
        if declaration.kind == SymbolKind.CONSTANT and not is_run:
            return True
        mentions = (mention for mention in facts.mentions if mention.name == declaration.name and not mention.receiver)
        others = [mention for mention in mentions if mention.use not in _NOT_STORING]
        referents = [self.resolver.resolve(symbol.path, mention) for mention in others]
        return all(referent is not None and symbol not in referent.symbols for referent in referents)

    def around(self, path: str, at: int, *, named: bool = False, outside: SymbolId | None = None) -> SymbolId | None:
        """Return the innermost declaration around an offset that can contain code.

        named: only one with a name. outside: only one that is larger than this.
        """
        file = self.resolver.state.file(path)
        least = self.resolver.declared(outside).stop - self.resolver.declared(outside).start if outside else -1
        around = [pair for pair in (file.declared_around(at) if file else ()) if pair[1].kind in _ENCLOSING]
        sizes = [
            (declaration.stop - declaration.start, number)
            for number, declaration in around
            if declaration.name or not named
        ]
        best = min((size for size in sizes if size[0] > least), default=None)
        return SymbolId(path, best[1]) if best else None


def _by_place(links: Iterable[StoredLink]) -> Iterable[Sequence[StoredLink]]:
    """Return links to names in groups of one place: it has one for each type that its receiver may have."""
    groups: dict[tuple[object, ...], list[StoredLink]] = {}
    for link in links:
        groups.setdefault((link.target, link.path, link.line, link.source, link.use, link.arity), []).append(link)
    return groups.values()


def functions_of(value: Value | None) -> tuple[SymbolId, ...]:
    """Return what a call of a value may call: functions and types."""
    if isinstance(value, Either):
        return tuple(symbol for other in value.values for symbol in functions_of(other))
    return value.symbols if isinstance(value, Function | Type) else ()


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
