"""The definitions that a name may mean, in languages without facts, and which of them is meant."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from graphrag_mcp.model.files import CALLABLE, HEADER_SUFFIXES, Count, SymbolKind
from graphrag_mcp.model.links import How, Place
from graphrag_mcp.model.sources import Named
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME
from graphrag_mcp.text.names import without_constructor

MOST_SCOPES = 20
MAX_CANDIDATES = 5  # A name of more things than this says nothing about which of them is meant.


class Meant(NamedTuple):
    """What one relation means. chosen: none for nothing of the project."""

    how: How
    chosen: Sequence["Candidate"]


NOTHING = Meant(How.SHARED, ())


class Candidate(NamedTuple):
    """A definition, or a whole file, that a relation may mean. nearness: of its module to the named one."""

    path: str
    name: str
    kind: SymbolKind
    place: Place | int
    nearness: int = 0


class Called:
    """The definitions of one name."""

    def __init__(self, everyone: Sequence[Candidate]) -> None:
        self.all, self.is_known = everyone, count_symbols(everyone) <= MAX_CANDIDATES
        self.methods = [each for each in everyone if each.kind is SymbolKind.METHOD]
        self.in_file: defaultdict[str, list[Candidate]] = defaultdict(list)
        self.of_owner: defaultdict[str, list[Candidate]] = defaultdict(list)
        self.in_scope: defaultdict[str, list[Candidate]] = defaultdict(list)  # By qualified names, without members.
        for each in everyone:
            self.in_file[each.path].append(each)
            if each.kind not in (SymbolKind.METHOD, SymbolKind.FIELD):
                self.in_scope[each.name].append(each)
            self.of_owner[owner_name(each.name)].append(each)

    def inside(self, paths: Iterable[str]) -> list[Candidate]:
        """Return those of some files; none where there are too many."""
        files = [self.in_file.get(path, ()) for path in paths]
        return [*chain.from_iterable(files)] if sum(map(len, files)) <= MOST_OF_A_NAME else []


def scopes(name: str) -> Iterator[str]:
    """Yield a qualified name and those of what is around it, from the inside, at most MOST_SCOPES."""
    for _ in range(MOST_SCOPES):
        if not name:
            return
        yield name
        name = name.rpartition(".")[0]


def owner_name(name: str) -> str:
    """Return the own name of what is around a definition with a qualified name."""
    return name.rpartition(".")[0].rpartition(".")[2]


def is_member(named: Named) -> bool:
    """Return whether a definition is a method or a field, and no variant of an enumeration."""
    return named.kind is SymbolKind.METHOD or (named.kind is SymbolKind.FIELD and not named.name[:1].isupper())


def takes(named: Named, given: Count) -> bool:
    """Return whether a definition takes as many arguments as a call gives."""
    return named.kind not in CALLABLE or given.meets(Count(named.least, named.most))


def candidate_of(named: Named) -> Candidate:
    """Return a definition as one that may be meant."""
    return Candidate(named.file.path, named.qualified_name, named.kind, named.place)


def one_or_guess(how: How, candidates: Sequence[Candidate]) -> Meant:
    """Return that they are meant if they define one thing, else that each of them may be."""
    if len(candidates) > MOST_OF_A_NAME:
        return NOTHING
    return Meant(how, candidates) if count_symbols(candidates) == 1 else guess(candidates)


def guess(candidates: Sequence[Candidate]) -> Meant:
    """Return that each of a few things may be meant, of many none."""
    return Meant(How.SHARED, candidates) if 0 < count_symbols(candidates) <= MAX_CANDIDATES else NOTHING


def count_symbols(definitions: Sequence[Candidate]) -> int:
    """Return how many different things they define: overloads, a type with constructors, a header's are one."""
    counted = [candidate for candidate in definitions if candidate.kind is not SymbolKind.FIELD] or definitions
    named = [(without_constructor(candidate.name), candidate) for candidate in counted]
    declared = {name for name, candidate in named if candidate.path.endswith(HEADER_SUFFIXES)}
    return len({(name, None if name in declared else candidate.path) for name, candidate in named})
