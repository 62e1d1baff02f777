"""Finds the places that refer to declarations."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphrag_mcp.model.facts import Mention, Thing
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.resolution.policies import POLICIES
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.sources import FactSource

_ENCLOSING = frozenset(
    (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE)
)


class Site(NamedTuple):
    """A place where a name is used. things: those of the asked declarations that it means, empty if it is undecided."""

    path: str
    mention: Mention
    things: tuple[Thing, ...]


class Sites(NamedTuple):
    """The places that mean some declarations, or may; others: how many of the same name mean something else."""

    found: Sequence[Site]
    others: int


class Search:
    """The references of one state of the index; remembers what it resolved."""

    def __init__(self, source: FactSource) -> None:
        self.source = source
        self.resolver = Resolver(source)
        self._sites: dict[frozenset[Thing], Sites] = {}

    def sites(self, things: frozenset[Thing]) -> Sites:
        """Return the places that mean one of the declarations, and the undecided ones of their names."""
        if things not in self._sites:
            self._sites[things] = self._find(things)
        return self._sites[things]

    def _find(self, things: frozenset[Thing]) -> Sites:
        sites: list[Site] = []
        others = 0
        for path, mention in self._mentions({self.resolver.declared(thing).name for thing in things}):
            found = self.resolver.resolve(path, mention)
            meant = tuple(thing for thing in found.things if thing in things) if found else ()
            if found is None or meant:
                sites.append(Site(path, mention, meant))
            else:
                others += 1
        return Sites(sites, others)

    def _mentions(self, names: set[str]) -> Iterator[tuple[str, Mention]]:
        """Yield the mentions of some names, and of the names that files give them when they import them."""
        paths = dict.fromkeys(path for name in sorted(names) for path in self.source.mentioning(name))
        for path in paths:
            facts = self.source.facts(path)
            if facts is not None:
                wanted = names | {one.name for one in facts.imports if one.item in names}
                yield from ((path, mention) for mention in facts.mentions if mention.name in wanted)

    def can_mean(self, site: Site, thing: Thing) -> bool:
        """Return whether an undecided place can mean a declaration of its language: a member has a receiver."""
        facts, others = self.source.facts(site.path), self.source.facts(thing.path)
        if facts is None or others is None or POLICIES[facts.language].module is not POLICIES[others.language].module:
            return False
        if self.resolver.declared(thing).kind in (SymbolKind.METHOD, SymbolKind.FIELD):
            return bool(site.mention.receiver)
        return not site.mention.receiver or POLICIES[facts.language].functions_are_members

    def around(self, path: str, at: int, *, named: bool = False) -> Thing | None:
        """Return the innermost declaration around an offset that can contain code, on request one with a name."""
        facts = self.source.facts(path)
        best = min(
            (
                (one.stop - one.start, number)
                for number, one in enumerate(facts.declared if facts else ())
                if one.start <= at < one.stop and one.kind in _ENCLOSING and (one.name or not named)
            ),
            default=None,
        )
        return Thing(path, best[1]) if best else None
