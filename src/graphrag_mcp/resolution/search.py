"""Finds the places that refer to declarations."""

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from graphrag_mcp.model.expressions import names_in, parse
from graphrag_mcp.model.facts import GIVEN, WHOLE, Exported, FileFacts, Mark, Mention, Thing, Use, module_marks
from graphrag_mcp.model.files import CALLABLE, SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.resolution.languages import POLICIES
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.resolution.sources import FactSource
from graphrag_mcp.resolution.values import Either, Found, Function, Type, Value

_ENCLOSING = frozenset(
    (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT, SymbolKind.MODULE)
)

_CONFINED = (SymbolKind.FUNCTION, SymbolKind.CONSTANT, SymbolKind.TYPE)
_RUNNING = (Use.CALL, Use.CREATE)
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

    things: the declarations. names: those under which they may be mentioned. modules: the marks of files that are one
    of the declarations as a whole, so that importers call it as they like. carriers: names of variables that hold one
    of them, and of functions that return one. cost: the files that were looked at.
    """

    def __init__(self, things: frozenset[Thing], names: Set[str]) -> None:
        self.things = things
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

    def add(self, names: set[str], name: str, source: FactSource) -> None:
        """Look at all files again, and at those with a name by which the declarations go as well."""
        names.add(name)
        self.extend(source.mentioning(name))
        self.paths = deque(self.seen)
        self.found, self.others = [], set()


class _Look(NamedTuple):
    """A file in a search. wanted: the names of the declarations in it; carried: those of what holds or returns one."""

    path: str
    facts: FileFacts
    wanted: Set[str]
    carried: Set[str]


class _Holder(NamedTuple):
    """A variable, a field or a function. at: where it stands, or its number if it is declared."""

    name: str
    texts: tuple[str, ...]
    at: int
    is_declared: bool = False
    is_seen: bool = False  # Whether other files may name it.

    def mentions(self, names: Set[str], *, any_module: bool) -> bool:
        """Return whether it is made of one of some names, or of any module."""
        return any(not names.isdisjoint(names_in(text)) or (any_module and '"' in text) for text in self.texts)

    def value(self, resolver: Resolver, path: str) -> Value | None:
        """Return what it is."""
        if self.is_declared:
            return resolver.things.meaning((Thing(path, self.at),))
        return resolver.expressions.value(path, self.at, parse(self.texts[0])) if self.texts[0] else None


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
            scan = self._scans[things] = _Scan(things, {self.resolver.declared(thing).name for thing in things})
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
                names = (scan.names, scan.carriers)
                look = _Look(path, facts, *(one | set(self._aliases(path, facts, one, scan)) for one in names))
                self._follow_exports(look, scan)
                self._look_at(look, scan)
        return Sites(scan.found, scan.others, len(scan.paths))

    def _follow_exports(self, look: _Look, scan: _Scan) -> None:
        """Learn under which other names, or as which modules, a file passes the declarations on."""
        for one in look.facts.exports:
            if one.name in WHOLE:
                marks = module_marks(look.path, self._packages(look.path)) - scan.modules
                if marks and self._exports(look.path, one, scan.things):
                    scan.modules |= marks
                    scan.extend(path for mark in sorted(marks) for path in self.source.mentioning(mark))
            elif one.name not in scan.names | scan.carriers:
                item = one.item or one.value.rpartition(".")[2]
                is_whole = bool(scan.modules) and one.item in WHOLE
                if item in scan.names or (
                    (is_whole or item in look.wanted) and self._exports(look.path, one, scan.things)
                ):
                    scan.add(scan.names, one.name, self.source)
                elif item in look.carried:
                    scan.add(scan.carriers, one.name, self.source)
                elif scan.modules and one.module and not one.item:  # A namespace, with the default as a member.
                    scan.extend(self.source.mentioning(one.name))

    def _packages(self, path: str) -> Iterator[str]:
        """Yield the names of the packages whose main module a file may be."""
        folder = path.rpartition("/")[0]
        for one in self.source.manifests():
            if one.folder == folder or path in one.targets.get(".", ()):
                yield one.name

    def _exports(self, path: str, one: Exported, things: frozenset[Thing]) -> bool:
        found = self.resolver.modules.exported(path, one)
        return found is not None and any(thing in things for thing in found.things)

    def _look_at(self, look: _Look, scan: _Scan) -> None:
        """Resolve the mentions of the names in a file, also under the names that it gives them when it imports them."""
        carriers = self._carriers(look, scan) if _holds_functions(look.facts) else set()
        for mention in look.facts.mentions:
            is_named = mention.name in look.wanted
            is_carried = mention.use in _RUNNING and (mention.name in carriers or not mention.name)
            is_whole = mention.name == "default" and bool(scan.modules and mention.receiver)
            if is_named or is_whole or (carriers and is_carried):
                site = self._site(look.path, look.facts, mention, scan.things)
                if site and (site.things or is_named):
                    scan.found.append(site)
                elif is_named:
                    scan.others.add((look.path, mention.line))

    def _site(self, path: str, facts: FileFacts, mention: Mention, things: frozenset[Thing]) -> Site | None:
        """Return a mention of one of the declarations, or a call of one by another name; None of something else."""
        found = self.resolver.resolve(path, mention)
        if found is None:
            return Site(path, mention, ())
        held = functions_of(found.value) if mention.use in _RUNNING and _holds_functions(facts) else ()
        is_certain = True
        if meant := tuple(thing for thing in found.things if thing in things):
            is_replaced = held and any(self._is_decorated(thing) and thing not in held for thing in meant)
            is_certain = not is_replaced and not self.resolver.is_open(found) and mention.receiver != f'"{GIVEN}"'
        elif meant := tuple(thing for thing in held if thing in things):
            is_certain = isinstance(found.value, Function | Type) and self._is_kept(path, mention, found)
        if meant:
            return Site(path, mention, meant, is_certain)
        runs = {thing: self.resolver.may_run(path, mention, found, thing) for thing in things}
        may = tuple(thing for thing in runs if runs[thing] is Certainty.MAY_CALL)
        return Site(path, mention, may, is_certain=False) if any(runs.values()) else None

    def _is_kept(self, path: str, mention: Mention, found: Found) -> bool:
        """Return whether a called name means what a variable was given, not what its type or a default says."""
        if mention.receiver:
            return not mention.name
        bound = self.resolver.state.open(path).innermost(mention.name, mention.at) if mention.name else []
        texts = [one.value for one in bound] + [self.resolver.declared(thing).value for thing in found.things]
        return not any(text.endswith("!") for text in texts) and all(one.kind != "parameter" for one in bound)

    def _is_decorated(self, thing: Thing) -> bool:
        one = self.resolver.declared(thing)
        return bool(one.decorators) and Mark.PROPERTY not in one.marks

    def _carriers(self, look: _Look, scan: _Scan) -> Set[str]:
        """Return the names of a file, besides those wanted, whose call may reach the declarations."""
        uses = (Use.VALUE, Use.FILL, Use.IMPORT)
        named = (one for one in look.facts.mentions if one.use in uses and one.name in look.wanted)
        carried = (one for one in look.facts.mentions if one.name in look.carried)
        if not (scan.modules or any(named) or any(carried)):
            return set()
        found, fresh = set(look.carried), set(look.wanted | look.carried)
        holders = [one for one in self._holders(look) if one.name not in look.wanted]
        is_first = bool(scan.modules)
        while fresh or is_first:
            near = [one for one in holders if one.name not in found and one.mentions(fresh, any_module=is_first)]
            held = [one for one in near if self._gives(one.value(self.resolver, look.path), scan.things)]
            fresh, is_first = {one.name for one in held}, False
            found |= fresh
            for name in sorted({one.name for one in held if one.is_seen} - scan.carriers):
                scan.add(scan.carriers, name, self.source)
        return found

    def _holders(self, look: _Look) -> Iterator[_Holder]:
        """Yield what may hold a function in a file, or return one."""
        for bound in look.facts.bound:
            if bound.kind not in ("type", "declared"):
                yield _Holder(bound.name, (bound.value,), bound.at)
        for number, one in enumerate(look.facts.declared):
            is_seen = one.owner < 0 or look.facts.declared[one.owner].kind == SymbolKind.TYPE
            texts = (one.value, *one.decorators, *(text for _, text in one.returns))
            yield _Holder(one.name, texts, number, is_declared=True, is_seen=is_seen)
        for flow in look.facts.flows:
            if flow.argument < 0:
                yield _Holder(flow.into.rpartition(".")[2], (flow.value,), flow.at, is_seen="." in flow.into)

    def _gives(self, value: Value | None, things: frozenset[Thing]) -> bool:
        """Return whether a value is one of the declarations, or a function that returns it."""
        for _ in range(MAX_CALLS):
            if not things.isdisjoint(functions_of(value)):
                return True
            value = self.resolver.calls.result(value, lambda _place: None, 0)
        return False

    def _aliases(self, path: str, facts: FileFacts, names: Set[str], scan: _Scan) -> Iterator[str]:
        """Yield the names that a file gives to what is called `names` when it imports it, or takes it apart."""
        yield from (one.name for one in facts.imports if one.item in names)
        aliases = [one for one in facts.bound if one.kind == "alias"]
        yield from (one.name for one in aliases if one.value.rpartition(".")[2] in names)
        if scan.modules:
            whole = [(one.name, one.start) for one in facts.imports if one.item in ("", *WHOLE)]
            whole += [(one.name, one.start) for one in aliases if one.value.endswith('"')]
            for name, at in whole:
                found = self.resolver.names.name(path, at, name)
                if found and any(thing in scan.things for thing in found.things):
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
        file = self.resolver.state.file(path)
        least = self.resolver.declared(outside).stop - self.resolver.declared(outside).start if outside else -1
        around = [pair for pair in (file.declared_around(at) if file else ()) if pair[1].kind in _ENCLOSING]
        sizes = [(one.stop - one.start, number) for number, one in around if one.name or not named]
        best = min((size for size in sizes if size[0] > least), default=None)
        return Thing(path, best[1]) if best else None


def _holds_functions(facts: FileFacts) -> bool:
    """Return whether a call of a variable or a member is one of the function that it holds."""
    return POLICIES[facts.language].rebinds or POLICIES[facts.language].is_dynamic


def functions_of(value: Value | None) -> tuple[Thing, ...]:
    """Return what a call of a value may call: functions and types."""
    if isinstance(value, Either):
        return tuple(thing for one in value.values for thing in functions_of(one))
    return value.things if isinstance(value, Function | Type) else ()
