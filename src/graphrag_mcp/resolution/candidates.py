"""The definitions that a name may mean, in languages without facts, and which of them is meant."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from graphrag_mcp.model.files import ANY_COUNT, CALLABLE, HEADER_SUFFIXES, Count, SymbolKind
from graphrag_mcp.model.links import How, Place
from graphrag_mcp.model.sources import Named
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME
from graphrag_mcp.text.names import without_constructor

MOST_SCOPES = 20
MAX_CANDIDATES = 5  # A name of more things than this says nothing about which of them is meant.
_FORMS = 4_000  # Written parameters that are kept.
_QUALIFIER = re.compile(r"\btypename |@\w+ |(?:\w+(?:<[^<>]*>)?)?::")
_BLANKS = re.compile(r" *([^\w ]) *")
_DEFAULT = re.compile(r"=(?![=>]).*", re.DOTALL)
_NAME = re.compile(r"(?<=[ *&>\])])\w+(?=(?:\[\w*\])*\Z)")  # Of a parameter, behind its type.
# The name of a parameter before its type; \1: a word before it, but for "_".
_FIRST = re.compile(r"(?<=[(,])(?:_ \w+:|(?:(\w+) )?\w+(:))")
_ARRAY, _COPIED = re.compile(r"\[\w*\]\Z"), re.compile(r"\Aconst (?=[^*&]*\Z)|(?<=\*)const\Z")  # Of no other type.
_INSTANCE = re.compile(r"(?: *(?:const\b|volatile\b|&))*")  # Words behind the parameters: of which instances it is.


class Meant(NamedTuple):
    """What one relation means. chosen: none for nothing of the project. is_one: only one of its functions is meant."""

    how: How
    chosen: Sequence["Candidate"]
    is_one: bool = False

    def how_of(self, candidate: "Candidate") -> How:
        """Return what is known of one of the chosen."""
        if not self.is_one or candidate.kind not in CALLABLE:
            return self.how
        return {How.SAID: How.EITHER, How.NAMED: How.NAMED_EITHER}.get(self.how, self.how)


NOTHING = Meant(How.SHARED, ())


class Candidate(NamedTuple):
    """A definition, or a whole file, that a relation may mean. nearness: of its module to the named one."""

    path: str
    name: str
    kind: SymbolKind
    place: Place | int
    nearness: int = 0
    signature: str = ""


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
    return Candidate(named.file.path, named.qualified_name, named.kind, named.place, signature=named.signature)


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


@lru_cache(_FORMS)
def forms(name: str, signature: str) -> Set[str]:
    """Return how the parameters of a function are written: as they are, and without their names.

    One function has one of these in common wherever it is declared, overloads have none. One that is cut ends in ",".
    """
    start = signature.find("(", signature.find(name) + len(name))
    parts, end = _parted(signature, start)
    while signature.startswith("(", end):  # Further lists of parameters.
        more, end = _parted(signature, end)
        parts += more
    before = "" if start < 0 else signature[:start].rpartition(name)[2].strip()
    words = _INSTANCE.match(signature, end)
    after = ")" + "".join(words[0].split() if words else ())
    written = [_DEFAULT.sub("", _BLANKS.sub(r"\1", _QUALIFIER.sub("", part))).strip() for part in parts]
    if signature[end - 1 :] != ")" and end == len(signature):
        written, after = [*written[:-1], ""], ""
    elif written in ([""], ["void"]):
        written = []
    types = (_NAME.sub("", _COPIED.sub("", part)).strip() for part in written)
    unnamed = [_COPIED.sub("", _ARRAY.sub("*", part)) for part in types]
    return {f"{before}({','.join(each)}{after}" for each in (written, unnamed)}


def _parted(text: str, start: int) -> tuple[list[str], int]:
    """Return what is between commas in the bracket that begins at a place of a text, and where that ends."""
    depth, begin, parts = 0, start + 1, []
    for place in range(start, len(text) if start >= 0 else 0):
        letter = text[place]
        depth += (letter in "([{<") - (letter in ")]}" or (letter == ">" and text[place - 1] not in "-="))
        if depth == 0 or (depth == 1 and letter == ","):
            parts.append(text[begin:place])
            begin = place + 1
        if depth == 0:
            return parts, begin
    return [*parts, text[begin:]], len(text)


def are_overloads(candidates: Sequence[Candidate]) -> bool:
    """Return whether functions of one name are several, by their parameters in one file, or in the headers."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for each in candidates:
        if each.kind in CALLABLE:
            known = seen["" if each.path.endswith(HEADER_SUFFIXES) else each.path]
            own = forms(each.name.rpartition(".")[2], each.signature)
            if known and known.isdisjoint(own) and not any(_begins(form, other) for form in own for other in known):
                return True
            known.update(own)
    return False


def are_alike(named: Named, other: Named) -> bool:
    """Return whether two functions of one name have parameters of the same types, as they are written."""
    own, others = _types_taken(named.name, named.signature), _types_taken(other.name, other.signature)
    return not own.isdisjoint(others) or any(_begins(form, each) for form in own for each in others)


@lru_cache(_FORMS)
def _types_taken(name: str, signature: str) -> Set[str]:
    """Return the forms of a function's parameters without their names, wherever a language writes these."""
    return frozenset(_FIRST.sub(r"\1\2", form) for form in forms(name, signature))


def _begins(form: str, other: str) -> bool:
    """Return whether one of two forms is cut and the other begins with it."""
    return (form[-1:] in ",(" and other.startswith(form)) or (other[-1:] in ",(" and form.startswith(other))


def fitting(definitions: Sequence[Named], given: Count, *, has_overloads: bool) -> list[Named]:
    """Return the definitions that take as many arguments as a call gives.

    Where a language has headers and overloads, default values may be in another declaration with the same parameters.
    """
    if not has_overloads or given == ANY_COUNT:
        return [each for each in definitions if takes(each, given)]
    leasts: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for each in definitions:
        for key in _keys(each):
            leasts[key].append(each.least)
    return [each for each in definitions if takes(each._replace(least=_least(each, leasts)), given)]


def _keys(named: Named) -> Iterator[tuple[str, str]]:
    return ((owner_name(named.qualified_name), form) for form in forms(named.name, named.signature))


def _least(named: Named, leasts: Mapping[tuple[str, str], Sequence[int]]) -> int:
    """Return how many arguments a function takes at least, by all of its declarations; 0 if one may be unknown."""
    known = [leasts[key] for key in _keys(named)]
    is_first = named.kind is SymbolKind.METHOD or named.file.path.endswith(HEADER_SUFFIXES)
    is_elsewhere = not is_first or f"::{named.name}" in named.signature
    return 0 if is_elsewhere and max(map(len, known)) == 1 else min(map(min, known))
