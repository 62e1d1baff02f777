"""Finds the places that refer to declarations."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphrag_mcp.model.facts import Mention, Thing
from graphrag_mcp.model.files import SymbolKind
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


class Search:
    """The references of one state of the index; remembers what it resolved."""

    def __init__(self, source: FactSource) -> None:
        self.source = source
        self.resolver = Resolver(source)
        self.others = 0  # Mentions of the last search that mean something else of the name.
        self._sites: dict[frozenset[Thing], list[Site]] = {}

    def sites(self, things: frozenset[Thing]) -> Sequence[Site]:
        """Return the places that mean one of the declarations, or may: undecided ones of their names."""
        if things not in self._sites:
            self._sites[things] = list(self._find(things))
        return self._sites[things]

    def _find(self, things: frozenset[Thing]) -> Iterator[Site]:
        names = {self.resolver.declared(thing).name for thing in things}
        for name in sorted(names):
            for path in self.source.mentioning(name):
                facts = self.source.facts(path)
                wanted = {name} | {one.name for one in facts.imports if one.item == name} if facts else {name}
                for mention in facts.mentions if facts else ():
                    if mention.name in wanted:
                        found = self.resolver.resolve(path, mention)
                        if found is None:
                            yield Site(path, mention, ())
                        elif meant := tuple(thing for thing in found.things if thing in things):
                            yield Site(path, mention, meant)
                        else:
                            self.others += 1

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
