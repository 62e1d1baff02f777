"""Compares the product's rows with the truth, relation by relation, at units and at lines."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from benchmarks.graph.product import Certainty, Row, Says
from benchmarks.graph.records import Found, Pair, Place, Site, Symbol, Truth, Unit, Use

Key = Hashable  # A unit, or a path with a line.
KeyOf = Callable[[str, int], Key]
Answers = Mapping[Place, Sequence[Row] | None]


class Relation(StrEnum):
    """What is asked of a symbol."""

    CALLERS = "callers"
    CREATORS = "creators of types"
    USERS = "users of types"
    VALUES = "functions as values"
    BELOW = "implementers, subclasses, overrides"
    DISPATCH = "dispatch"
    ACCESSES = "readers and writers"


FUNCTIONS = frozenset({"function", "method"})  # A constructor is asked for as its class.
TYPES = frozenset({"class", "interface", "type"})
DATA = frozenset({"field", "property"})


@dataclass(frozen=True, slots=True)
class Asked:
    """The symbols that a relation is asked of, the uses that answer it, and the rows that claim it."""

    kinds: frozenset[str]
    uses: frozenset[Use]
    says: frozenset[Says]


ASKED = {
    Relation.CALLERS: Asked(FUNCTIONS, frozenset({Use.CALL}), frozenset({Says.CALLS})),
    Relation.CREATORS: Asked(TYPES, frozenset({Use.INSTANTIATE}), frozenset({Says.CALLS})),
    Relation.USERS: Asked(
        TYPES, frozenset({Use.INSTANTIATE, Use.CALL, Use.TYPE, Use.VALUE}), frozenset({Says.CALLS, Says.USES})
    ),
    Relation.VALUES: Asked(FUNCTIONS, frozenset({Use.VALUE}), frozenset({Says.USES})),
    Relation.BELOW: Asked(FUNCTIONS | TYPES, frozenset(), frozenset({Says.BELOW})),
    Relation.DISPATCH: Asked(FUNCTIONS, frozenset(), frozenset({Says.CALLS})),
    Relation.ACCESSES: Asked(DATA, frozenset({Use.READ, Use.WRITE}), frozenset({Says.ACCESSES})),
}
# Neither needed nor wrong: pairs and imports say the same, or no row is asked for it.
BESIDE = frozenset({Use.TYPE, Use.BASE, Use.IMPORT, Use.RECEIVER, Use.DESTRUCTURE, Use.INSTANTIATE})
JUDGED_ELSEWHERE = (Relation.USERS, Relation.CREATORS, Relation.DISPATCH)  # A use of another kind is not wrong here.
WANTED_PAIRS = frozenset({Pair.IMPLEMENTS, Pair.EXTENDS, Pair.OVERRIDES})


class Fault(StrEnum):
    """What an answer lacks."""

    WRONG_CERTAIN = "wrong although certain"
    WRONG = "wrong"
    UNCERTAIN = "right, but not certain"
    MISSING = "missing"


@dataclass(slots=True)
class Score:
    """Counts over symbols. right, wrong, found: by certainty; neither: rows not judged; why: cases by cause."""

    wanted: int = 0
    neither: int = 0
    right: Counter[Certainty] = field(default_factory=Counter)
    wrong: Counter[Certainty] = field(default_factory=Counter)
    found: Counter[Certainty] = field(default_factory=Counter)
    why: defaultdict[tuple[Fault, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    def __iadd__(self, other: "Score") -> "Score":
        self.wanted += other.wanted
        self.neither += other.neither
        self.right.update(other.right)
        self.wrong.update(other.wrong)
        self.found.update(other.found)
        for cause, cases in other.why.items():
            self.why[cause] += cases
        return self

    def precision(self, *levels: Certainty) -> float | None:
        """Return the share of the judged rows that are right."""
        right, wrong = (sum(counts[level] for level in levels) for counts in (self.right, self.wrong))
        return right / (right + wrong) if right + wrong else None

    def recall(self, *levels: Certainty) -> float | None:
        """Return the share of what is wanted that rows of these levels name."""
        return sum(self.found[level] for level in levels) / self.wanted if self.wanted else None


@dataclass(slots=True)
class Expected:
    """What is true of one symbol and one relation. beside: judged neither way."""

    wanted: set[Key] = field(default_factory=set)
    beside: set[Key] = field(default_factory=set)
    dispatched: set[Key] = field(default_factory=set)


class Scorer:
    """Compares answers with the truth about one repository, at units or at lines."""

    def __init__(self, truth: Truth, key_of: KeyOf | None = None) -> None:
        self._truth = truth
        self._key_of = key_of or truth.unit

    def score(self, relation: Relation, answers: Answers) -> Score:
        """Return the counts of one relation over the symbols that were asked for."""
        total = Score()
        for group, declared in self._declared.items():
            symbols = [one for one in declared if one.kind in ASKED[relation].kinds and one.place in answers]
            if symbols:
                total += self._score_one(relation, group, symbols, answers)
        return total

    def _score_one(self, relation: Relation, group: Unit, symbols: Sequence[Symbol], answers: Answers) -> Score:
        expected = self._expected(relation, group)
        expected.wanted -= self._own(symbols)
        given = [answers.get(symbol.place) for symbol in symbols]
        rows = [row for some in given for row in some or () if row.says in ASKED[relation].says]
        best: dict[Key, Certainty] = {}
        named: set[Key] = set()
        for row in rows:
            below = row.says is Says.BELOW
            key = self._truth.unit(row.path, row.line) if below else self._key(row.path, row.line)
            if row.path in self._truth.files and key not in self._own(symbols):
                best[key] = min(best.get(key, row.certainty), row.certainty)
                if (row.path, row.line, symbols[0].place.name) in self._places:
                    named.add(key)
        score = Score(wanted=len(expected.wanted), neither=sum(row.path not in self._truth.files for row in rows))
        for key, certainty in best.items():
            self._judge(score, relation, key, certainty, expected, group, named)
        is_known = any(some is not None for some in given)
        for key in sorted(expected.wanted - best.keys(), key=str):
            cause = self._why_missing(key, group, relation) if is_known else "the product does not know the symbol"
            score.why[Fault.MISSING, cause].append(_case(key, group))
        return score

    def _judge(
        self,
        score: Score,
        relation: Relation,
        key: Key,
        certainty: Certainty,
        expected: Expected,
        group: Unit,
        named: set[Key],
    ) -> None:
        name = group.qualified.rpartition(".")[2]
        if key in expected.wanted:
            score.found[certainty] += 1
            if certainty is Certainty.BY_NAME:
                score.why[Fault.UNCERTAIN, self._why_missing(key, group, relation)].append(_case(key, group))
        if relation is Relation.DISPATCH and certainty is not Certainty.MAY_CALL:
            return  # Judged as callers.
        may = certainty is Certainty.MAY_CALL and key in expected.dispatched
        if key in expected.wanted or may:
            score.right[certainty] += 1
        elif key in expected.beside or key in expected.dispatched or key in self._undecided.get(name, ()):
            score.neither += 1
        elif certainty is not Certainty.BY_NAME and relation is not Relation.BELOW and key not in named:
            score.neither += 1  # The checkers were only asked about its own name.
        else:
            score.wrong[certainty] += 1
            fault = Fault.WRONG if certainty is Certainty.BY_NAME else Fault.WRONG_CERTAIN
            score.why[fault, self._why_wrong(key, name, relation)].append(_case(key, group))

    def _own(self, symbols: Sequence[Symbol]) -> set[Key]:
        """Return the places inside a symbol itself: recursion is left out on both sides."""
        types = any(symbol.kind in TYPES for symbol in symbols)
        return (
            set() if types else {self._key(one.place.path, n) for one in symbols for n in range(one.start, one.end + 1)}
        )

    def _key(self, path: str, line: int) -> Key:
        return self._key_of(path, line)

    # ---------------------------------------------------------------- what is true

    def _expected(self, relation: Relation, group: Unit) -> Expected:
        expected = Expected()
        if relation is Relation.BELOW:
            for kind, source in self._below[group]:
                into = expected.wanted if kind in WANTED_PAIRS else expected.beside
                into.add(self._truth.unit(source.path, source.line))
            owner = group._replace(qualified=group.qualified.rpartition(".")[0])
            functions = [source for kind, source in self._below.get(owner, ()) if kind is Pair.LAMBDA]
            expected.beside |= {self._truth.unit(one.path, one.line) for one in functions}
            expected.beside |= {self._truth.unit(one.path, one.line) for one in self._far_below(group)}
            return expected
        uses = ASKED[relation].uses
        for site in self._sites[group]:
            if site.found is Found.PROJECT and site.use in uses:
                expected.wanted.add(self._key(site.path, site.line))
            elif site.found is Found.DISPUTED or site.use in BESIDE or relation in JUDGED_ELSEWHERE:
                expected.beside.add(self._key(site.path, site.line))
        for site in self._dispatched[group]:
            own = site.found is Found.PROJECT
            into = expected.wanted if own and relation is Relation.DISPATCH else expected.dispatched
            into.add(self._key(site.path, site.line))
        return expected

    def _far_below(self, group: Unit) -> set[Place]:
        found: set[Place] = set()
        waiting = [group]
        while waiting:
            new = {place for _, place in self._below[waiting.pop()]} - found
            found |= new
            waiting += self._groups(new)
        return found

    def _groups(self, places: Iterable[Place]) -> set[Unit]:
        return {self._truth.group(place) for place in places if place.name}

    @cached_property
    def _declared(self) -> Mapping[Unit, list[Symbol]]:
        """The declarations that are not local, with their overloads."""
        found: defaultdict[Unit, list[Symbol]] = defaultdict(list)
        for symbol in self._truth.symbols.values():
            if not symbol.local:
                found[symbol.group].append(symbol)
        return found

    @cached_property
    def _sites(self) -> Mapping[Unit, list[Site]]:
        found: defaultdict[Unit, list[Site]] = defaultdict(list)
        for site in self._truth.sites:
            for group in self._groups(site.targets):
                found[group].append(site)
        return found

    @cached_property
    def _dispatched(self) -> Mapping[Unit, list[Site]]:
        found: defaultdict[Unit, list[Site]] = defaultdict(list)
        for site in self._truth.sites:
            for group in self._groups(site.dispatch):
                found[group].append(site)
        return found

    @cached_property
    def _below(self) -> Mapping[Unit, list[tuple[Pair, Place]]]:
        found: defaultdict[Unit, list[tuple[Pair, Place]]] = defaultdict(list)
        for kind, source, target in self._truth.pairs:
            if target.name:
                found[self._truth.group(target)].append((kind, source))
        return found

    @cached_property
    def _undecided(self) -> Mapping[str, set[Key]]:
        """The places where the checkers do not know what a name is."""
        found: defaultdict[str, set[Key]] = defaultdict(set)
        for site in self._truth.sites:
            if site.found in (Found.UNKNOWN, Found.DISPUTED):
                found[site.name].add(self._key(site.path, site.line))
        return found

    # ---------------------------------------------------------------- why

    @cached_property
    def _places(self) -> set[Place]:
        """The places of which the checkers were asked."""
        return {Place(site.path, site.line, site.name) for site in self._truth.sites}

    @cached_property
    def _named(self) -> Mapping[tuple[Key, str], list[Site]]:
        found: defaultdict[tuple[Key, str], list[Site]] = defaultdict(list)
        for site in self._truth.sites:
            found[self._key(site.path, site.line), site.name].append(site)
        return found

    def _why_wrong(self, key: Key, name: str, relation: Relation) -> str:
        sites = self._named.get((key, name))
        if not sites:
            return "the line lacks the name, or only declares it"
        site = _first(sites, relation)
        what = "another symbol of the project" if site.found is Found.PROJECT else site.found.value
        return f"{site.use.value}, {site.receiver}: {what}"

    def _why_missing(self, key: Key, group: Unit, relation: Relation) -> str:
        sites = self._named.get((key, group.qualified.rpartition(".")[2]), [])
        mine = [site for site in sites if group in self._groups((*site.targets, *site.dispatch))]
        if not mine:
            return "a declaration" if relation is Relation.BELOW else "another name for it"
        site = _first(mine, relation)
        return f"{site.use.value}, {site.receiver}"


def _first(sites: Sequence[Site], relation: Relation) -> Site:
    return next((site for site in sites if site.use in ASKED[relation].uses), sites[0])


def _case(key: Key, group: Unit) -> str:
    at = ":".join(map(str, key)) if isinstance(key, tuple) else str(key)
    return f"{at} -> {group.path}:{group.qualified}"
