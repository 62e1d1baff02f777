"""Finds the places that refer to declarations."""

import math
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from graphrag_mcp.model.expressions import names_in
from graphrag_mcp.model.facts import (
    GIVEN,
    WHOLE,
    Exported,
    FileFacts,
    Mark,
    Mention,
    Thing,
    Use,
    module_marks,
    modules_of,
)
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.resolution.languages import POLICIES
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import Either, Found, Function, Outside, Type, Value

_ENCLOSING = frozenset(
    (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE)
)

_CONFINED = (SymbolKind.FUNCTION, SymbolKind.CONSTANT, SymbolKind.TYPE)
_RUNNING = (Use.CALL, Use.CREATE)
_PARTS = re.compile(r"[/.]")  # Between the parts of a path.
_NOT_STORING = (*_RUNNING, Use.TYPE, Use.BASE)

MAX_SCANS = 500  # Kept of earlier questions.
MAX_CALLS = 3  # Of what a call gives, until a function is what it gives.


class Budget:
    """What one question may take.

    until: a guard against hanging, by the monotonic clock. files: how many it may look at, those of earlier questions
    too, so that the same question ends at the same place on any machine.
    """

    def __init__(self, until: float = math.inf, files: float = math.inf) -> None:
        self.until, self.files = until, files

    def spend(self, files: int = 1) -> bool:
        """Take from what is left, and return whether that is enough."""
        self.files -= files
        return not self.is_spent

    @property
    def is_spent(self) -> bool:
        """Whether the question has to end."""
        return self.files < 0 or time.monotonic() >= self.until


UNLIMITED = Budget()


class Site(NamedTuple):
    """A place where a name is used.

    things: those of the asked declarations that it means, empty if it is undecided. is_certain: whether it is known
    that what runs there is one of them.
    """

    path: str
    mention: Mention
    things: tuple[Thing, ...]
    is_certain: bool = True


class Sites(NamedTuple):
    """The places that mean some declarations, or may.

    others: places of the same name that mean something else. left: files with the name that were not looked at.
    """

    found: Sequence[Site]
    others: Set[tuple[str, int]]
    left: int


class _Scan:
    """A search for some declarations, as far as it got.

    names: those under which they may be mentioned. modules: the marks of files that are one of the declarations as a
    whole, so that importers call it as they like. carriers: names of variables that hold one of them, and of functions
    that return one. cost: the files that were looked at.
    """

    def __init__(self, names: Set[str]) -> None:
        self.names, self.modules, self.carriers = set(names), set[str](), set[str]()
        self.paths: deque[str] = deque()
        self.seen: set[str] = set()
        self.found: list[Site] = []
        self.others: set[tuple[str, int]] = set()
        self.cost = 0

    def extend(self, paths: Iterable[str]) -> None:
        """Add files that were not looked at."""
        fresh = [path for path in paths if path not in self.seen]
        self.seen.update(fresh)
        self.paths.extend(fresh)

    def restart(self) -> None:
        """Look at all files again, since the declarations go by another name as well."""
        self.paths = deque(self.seen)
        self.found, self.others = [], set()


class Search:
    """The references of one state of the index; remembers what it resolved, so that the same question goes on."""

    def __init__(self, source: FactSource) -> None:
        self.source = source
        self.resolver = Resolver(source)
        self.is_cut = False  # Whether a search since `begin` ran out of its budget.
        self.spent = 0  # Files that all questions looked at, or would without what earlier ones found.
        self._budget = UNLIMITED
        self._scans: dict[frozenset[Thing], _Scan] = {}
        self._confined: dict[tuple[Thing, bool], bool] = {}

    def begin(self, budget: Budget = UNLIMITED) -> None:
        """Begin a question, or go on with it."""
        self._budget = budget
        self.is_cut = False
        self.resolver.begin()
        if len(self._scans) > MAX_SCANS:
            self._scans.clear()

    def may_look(self, files: int = 1) -> bool:
        """Return whether the question may go on to look at files; else what follows is cut."""
        self.spent += files
        may = self._budget.spend(files)
        self.is_cut = self.is_cut or not may
        return may

    def sites(self, things: frozenset[Thing]) -> Sites:
        """Return the places that mean one of the declarations, and the undecided ones of their names."""
        scan = self._scans.get(things)
        if scan is None:
            scan = self._scans[things] = _Scan({self.resolver.declared(thing).name for thing in things})
            paths = dict.fromkeys(path for name in sorted(scan.names) for path in self.source.mentioning(name))
            homes = {thing.path for thing in things}
            near = {path.rpartition("/")[0] for path in homes}
            scan.extend(sorted({*paths, *homes}, key=lambda path: (path.rpartition("/")[0] not in near, path)))
        else:
            self.may_look(scan.cost)
        while scan.paths and self.may_look():
            path = scan.paths.popleft()
            scan.cost += 1
            facts = self.source.facts(path)
            if facts is not None:
                self._follow_exports(path, facts, things, scan)
                self._look_at(path, facts, things, scan)
        return Sites(scan.found, scan.others, len(scan.paths))

    def _follow_exports(self, path: str, facts: FileFacts, things: frozenset[Thing], scan: _Scan) -> None:
        """Learn under which other names, or as which modules, a file passes the declarations on."""
        for one in facts.exports:
            if one.name in WHOLE:
                marks = module_marks(path, self._packages(path)) - scan.modules
                if marks and self._exports(path, one, things):
                    scan.modules |= marks
                    scan.extend(path for mark in sorted(marks) for path in self.source.mentioning(mark))
            elif one.name not in scan.names and (one.item or one.value.rpartition(".")[2]) in scan.names:
                scan.names.add(one.name)
                scan.extend(self.source.mentioning(one.name))
                scan.restart()

    def _packages(self, path: str) -> Iterator[str]:
        """Yield the names of the packages whose main module a file may be."""
        folder = path.rpartition("/")[0]
        for one in self.source.manifests():
            if one.folder == folder or path in one.targets.get(".", ()):
                yield one.name

    def _exports(self, path: str, one: Exported, things: frozenset[Thing]) -> bool:
        found = self.resolver.modules.exported(path, one)
        return found is not None and any(thing in things for thing in found.things)

    def _look_at(self, path: str, facts: FileFacts, things: frozenset[Thing], scan: _Scan) -> None:
        """Resolve the mentions of the names in a file, also under the names that it gives them when it imports them."""
        wanted = scan.names | set(self._aliases(path, facts, things, scan))
        carriers = self._carriers(path, facts, wanted, things, scan) if POLICIES[facts.language].rebinds else set()
        for mention in facts.mentions:
            is_named = mention.name in wanted
            if is_named or (carriers and mention.use == Use.CALL and (mention.name in carriers or not mention.name)):
                site = self._site(path, facts, mention, things)
                if site and (site.things or is_named):
                    scan.found.append(site)
                elif is_named:
                    scan.others.add((path, mention.line))

    def _site(self, path: str, facts: FileFacts, mention: Mention, things: frozenset[Thing]) -> Site | None:
        """Return a mention of one of the declarations, or a call of one by another name; None of something else."""
        found = self.resolver.resolve(path, mention)
        if found is None or self._may_be_unresolved(facts, found, things):
            return Site(path, mention, ())
        held = functions_of(found.value) if mention.use == Use.CALL and POLICIES[facts.language].rebinds else ()
        is_certain = True
        if meant := tuple(thing for thing in found.things if thing in things):
            is_replaced = held and any(self._is_decorated(thing) and thing not in held for thing in meant)
            is_certain = not is_replaced and not self.resolver.is_open(found) and mention.receiver != f'"{GIVEN}"'
        elif meant := tuple(thing for thing in held if thing in things):
            is_certain = isinstance(found.value, Function | Type) and not (mention.name and mention.receiver)
        is_open = not meant and any(self.resolver.may_run(path, mention, found, thing) for thing in things)
        return Site(path, mention, meant, is_certain) if meant or is_open else None

    def _may_be_unresolved(self, facts: FileFacts, found: Found, things: frozenset[Thing]) -> bool:
        """Return whether what seems foreign may be imported by an alias that only a bundler knows.

        Its last part is called like the file of one of the declarations, or a folder above it, and no manifest requires
        the package.
        """
        if not isinstance(found.value, Outside) or not POLICIES[facts.language].has_spaces:
            return False
        homes = {part for thing in things for part in _PARTS.split(thing.path)[:-1]}
        modules = (
            one for one in modules_of(facts) if "/" in one and one[0] != "." and homes & {*_PARTS.split(one)[-2:]}
        )
        return any(
            not any(f"{module}/".startswith(f"{name}/") for one in self.source.manifests() for name in one.requires)
            for module in modules
        )

    def _is_decorated(self, thing: Thing) -> bool:
        one = self.resolver.declared(thing)
        return bool(one.decorators) and Mark.PROPERTY not in one.marks

    def _carriers(
        self, path: str, facts: FileFacts, wanted: Set[str], things: frozenset[Thing], scan: _Scan
    ) -> Set[str]:
        """Return the names of a file, besides those wanted, whose call may reach the declarations."""
        if not any(
            one.name in scan.carriers or (one.use in (Use.VALUE, Use.FILL) and one.name in wanted)
            for one in facts.mentions
        ):
            return set()
        texts = [(one.name, one.value) for one in facts.bound if one.kind == "variable" and one.value]
        for declared in facts.declared:
            held = (declared.value, *declared.decorators, *(text for _, text in declared.returns))
            texts += ((declared.name, text) for text in held)
        found, fresh = set(scan.carriers), wanted | scan.carriers
        while fresh:
            fresh = {name for name, text in texts if name not in found and not fresh.isdisjoint(names_in(text))}
            found |= fresh
        for number, one in enumerate(facts.declared):
            is_seen = one.owner < 0 or facts.declared[one.owner].kind == SymbolKind.TYPE
            if is_seen and one.name in found - scan.carriers and self._gives(Thing(path, number), things):
                scan.carriers.add(one.name)
                scan.extend(self.source.mentioning(one.name))
                scan.restart()
        return found

    def _gives(self, thing: Thing, things: frozenset[Thing]) -> bool:
        """Return whether a variable holds one of the declarations, or a function returns it."""
        value = self.resolver.things.meaning((thing,))
        for _ in range(MAX_CALLS):
            if not things.isdisjoint(functions_of(value)):
                return True
            value = self.resolver.calls.result(value, lambda _place: None, 0)
        return False

    def _aliases(self, path: str, facts: FileFacts, things: frozenset[Thing], scan: _Scan) -> Iterator[str]:
        """Yield the names that a file gives to the declarations when it imports them."""
        yield from (one.name for one in facts.imports if one.item in scan.names)
        aliases = [one for one in facts.bound if one.kind == "alias"]
        yield from (one.name for one in aliases if one.value.rpartition(".")[2] in scan.names)
        if scan.modules:
            whole = [(one.name, one.start) for one in facts.imports if one.item in ("", *WHOLE)]
            whole += [(one.name, one.start) for one in aliases if one.value.endswith('"')]
            for name, at in whole:
                found = self.resolver.names.name(path, at, name)
                if found and any(thing in things for thing in found.things):
                    yield name

    def can_mean(self, site: Site, thing: Thing) -> bool:
        """Return whether an undecided place can mean a declaration: one that fits, a member by its receiver."""
        facts, others = self.source.facts(site.path), self.source.facts(thing.path)
        if facts is None or others is None or POLICIES[facts.language].module is not POLICIES[others.language].module:
            return False
        if not self.resolver.fits(site.path, site.mention, thing):
            return False
        if self.resolver.declared(thing).kind in (SymbolKind.METHOD, SymbolKind.FIELD):
            return bool(site.mention.receiver) or POLICIES[facts.language].bare_members
        if not POLICIES[facts.language].functions_are_members:
            return not site.mention.receiver
        return not self.is_confined(thing, site.mention.use) or (site.path == thing.path and not site.mention.receiver)

    def is_confined(self, thing: Thing, use: str = Use.CALL) -> bool:
        """Return whether a declaration is only meant by its name, in its file: nothing exports it, or stores it.

        use: as what. Reading a member is never reading the constant whose value it has, but calling it may run that.
        """
        key = (thing, use in _RUNNING)
        if key not in self._confined:
            facts = self.source.facts(thing.path)
            self._confined[key] = facts is not None and self._is_confined(facts, thing, is_run=key[1])
        return self._confined[key]

    def _is_confined(self, facts: FileFacts, thing: Thing, *, is_run: bool) -> bool:
        one = self.resolver.declared(thing)
        is_inner = one.owner >= 0 and facts.declared[one.owner].kind in CALLABLE
        policy = POLICIES[facts.language]  # Others see what a script declares, and where nothing has to be exported.
        is_module = bool(facts.imports or facts.exports) and not (policy.rebinds or policy.whole_unit)
        is_top = one.owner == -1 and is_module
        if one.kind not in _CONFINED or not (is_inner or is_top):
            return False
        exported = (export for export in facts.exports if not export.module)
        if any(one.name == export.name or one.name in names_in(export.value) for export in exported):
            return False
        if one.kind == SymbolKind.CONSTANT and not is_run:
            return True
        mentions = (mention for mention in facts.mentions if mention.name == one.name and not mention.receiver)
        others = [mention for mention in mentions if mention.use not in _NOT_STORING]
        found = [self.resolver.resolve(thing.path, mention) for mention in others]
        return all(meant is not None and thing not in meant.things for meant in found)

    def around(self, path: str, at: int, *, named: bool = False, outside: Thing | None = None) -> Thing | None:
        """Return the innermost declaration around an offset that can contain code.

        named: only one with a name. outside: only one that is larger than this.
        """
        facts = self.source.facts(path)
        least = self.resolver.declared(outside).stop - self.resolver.declared(outside).start if outside else -1
        best = min(
            (
                (one.stop - one.start, number)
                for number, one in enumerate(facts.declared if facts else ())
                if one.start <= at < one.stop
                and one.kind in _ENCLOSING
                and (one.name or not named)
                and one.stop - one.start > least
            ),
            default=None,
        )
        return Thing(path, best[1]) if best else None


def functions_of(value: Value | None) -> tuple[Thing, ...]:
    """Return what a call of a value may call: functions and types."""
    if isinstance(value, Either):
        return tuple(thing for one in value.values for thing in functions_of(one))
    return value.things if isinstance(value, Function | Type) else ()
