"""Finds the places that refer to declarations."""

import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphrag_mcp.model.facts import Mention, Thing
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.resolution.policies import POLICIES
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.sources import FactSource

_ENCLOSING = frozenset(
    (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE)
)

MAX_SCANS = 500  # Kept of earlier questions.


class Site(NamedTuple):
    """A place where a name is used. things: those of the asked declarations that it means, empty if it is undecided."""

    path: str
    mention: Mention
    things: tuple[Thing, ...]


class Sites(NamedTuple):
    """The places that mean some declarations, or may.

    others: how many of the same name mean something else. left: files with the name that were not looked at in time.
    """

    found: Sequence[Site]
    others: int
    left: int


class _Scan:
    """A search for some declarations, as far as it got. names: those under which they may be mentioned."""

    def __init__(self, names: set[str], paths: Iterable[str]) -> None:
        self.names, self.paths = names, deque(paths)
        self.found: list[Site] = []
        self.others = 0


class Search:
    """The references of one state of the index; remembers what it resolved, so that the same question goes on."""

    def __init__(self, source: FactSource) -> None:
        self.source = source
        self.resolver = Resolver(source)
        self.is_cut = False  # Whether a search since `begin` ran out of time.
        self._end = 0.0
        self._scans: dict[frozenset[Thing], _Scan] = {}

    def begin(self, seconds: float) -> None:
        """Begin a question that may take so long."""
        self._end = time.monotonic() + seconds
        self.is_cut = False
        self.resolver.begin()
        if len(self._scans) > MAX_SCANS:
            self._scans.clear()

    def sites(self, things: frozenset[Thing]) -> Sites:
        """Return the places that mean one of the declarations, and the undecided ones of their names."""
        scan = self._scans.get(things)
        if scan is None:
            names = {self.resolver.declared(thing).name for thing in things}
            paths = dict.fromkeys(path for name in sorted(names) for path in self.source.mentioning(name))
            near = {thing.path.rpartition("/")[0] for thing in things}
            nearest = sorted(paths, key=lambda path: path.rpartition("/")[0] not in near)
            scan = self._scans[things] = _Scan(names, nearest)
        while scan.paths and time.monotonic() < self._end:
            self._look_at(scan.paths.popleft(), things, scan)
        self.is_cut = self.is_cut or bool(scan.paths)
        return Sites(scan.found, scan.others, len(scan.paths))

    def _look_at(self, path: str, things: frozenset[Thing], scan: _Scan) -> None:
        """Resolve the mentions of the names in a file, also under the names that it gives them when it imports them."""
        facts = self.source.facts(path)
        if facts is None:
            return
        wanted = scan.names | {one.name for one in facts.imports if one.item in scan.names}
        for mention in facts.mentions:
            if mention.name in wanted:
                found = self.resolver.resolve(path, mention)
                meant = tuple(thing for thing in found.things if thing in things) if found else ()
                if found is None or meant:
                    scan.found.append(Site(path, mention, meant))
                else:
                    scan.others += 1

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
