"""Finds what of a chunk matched the query: a definition, the best lines, and other definitions to point at.

A chunk is a class with its members, or several small functions, and its heading should name the one that was asked for.
The score of a definition is the sum over the query's terms of rarity times the best place of the term (name, signature
or qualified name, own lines), divided by the rarity of all terms, + LENGTH · ln(1 + lines) + GAIN · the gain of its
sketch: of two equal matches, the longer says more. Asked for functions by their docstrings, 390 in 17 repositories, it
heads .88 of the chunks that show the function by it; the chunk's largest definition is the right one in .77. No store
is read.

A hit that is a part of a function gets all of its lines: a quarter of the first results are such parts. No hit gets
another place.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import chain, islice
from operator import itemgetter
from typing import NamedTuple

from msgspec.structs import replace

from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.search import Focus, Frequencies, Hit, StoredChunk
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.search.query.literals import lines_in
from graphrag_mcp.search.query.understand import Intent, Query
from graphrag_mcp.search.select import PLACES
from graphrag_mcp.text.words import identifiers_by_line, index_words, words_of

IN_NAME, IN_SIGNATURE, IN_LINES = 1.0, 0.6, 0.3
LENGTH = 0.05
GAIN = 0.5  # A definition gets this share of what its sketch says, in the first files only.
NAMED = 10.0  # More than all other terms of a score: a name that the query gives exactly wins.
MARKED = 5.0  # For a definition with a line that the query quotes or names.
STANDS_OUT = 1.2  # Times the score of the best rival; below it the chunk is shown as a whole.
REPEATED = 0.25  # The share of a term that another line shows already.
LINES_SHOWN = 3
USED = 4
POINTED_FILES, POINTERS = 3, 5  # The first files of an answer, and the definitions named of each.

_WORD = re.compile(r"[^\W_]+")
_CONTAINERS = (SymbolKind.TYPE, SymbolKind.MODULE, SymbolKind.SECTION)
_DETAILS = (SymbolKind.FIELD, SymbolKind.CONSTANT, SymbolKind.KEY)
MOST_PARTS, MOST_LINES = 6, 500  # Chunks and lines: of a longer function, the part is shown that was found.


class Terms:
    """The terms of one query with their rarity, and which of them a text contains."""

    def __init__(self, query: Query, frequencies: Frequencies | None) -> None:
        rarity = {term: frequencies.idf(term) if frequencies is not None else 1.0 for term in query.terms}
        total = sum(rarity.values()) or 1.0
        self.of = _Contained(frozenset(rarity))
        self.weight = _Weights({term: value / total for term, value in rarity.items()})
        self.is_name = query.intent is Intent.SYMBOL
        self._query = query
        self._named = [(symbol.name.lower(), [part.lower() for part in symbol.qualifiers]) for symbol in query.symbols]

    def of_lines(self, text: str) -> list[frozenset[str]]:
        """Return the terms that each line of a text contains."""
        lines, of = identifiers_by_line(text), self.of
        matching = of.matching(set().union(*lines))
        if not matching:
            return [_NONE] * len(lines)
        matches = map(matching.intersection, lines)
        return [_NONE.union(*map(of.__getitem__, words)) if words else _NONE for words in matches]

    def marked_lines(self, hit: Hit) -> set[int]:
        """Return the lines of a chunk that the query names, or that contain a text which the query quotes."""
        chunk = hit.chunk
        marked = set(lines_in(self._query.locations, chunk.path))
        if any(factor.name == "literal" for factor in hit.factors):
            texts = map(_plain, chunk.text.split("\n"))
            marked |= {
                number
                for number, text in enumerate(texts, chunk.start_line)
                if any(quoted in text for quoted in self._quoted)
            }
        return marked

    @cached_property
    def _quoted(self) -> list[str]:
        query = self._query
        return [*(_plain(literal.text) for literal in query.literals), *(_plain(run.text) for run in query.runs)]

    def names(self, symbol: Symbol) -> bool:
        """Return whether the query gives the name of a definition, with its own qualifier where it gives one."""
        if not self._named:
            return False
        outer = symbol.qualified_name.lower().split(".")[:-1]
        return any(
            name == symbol.name.lower() and (not qualifiers or qualifiers[-1] in outer)
            for name, qualifiers in self._named
        )

    def agreement(self, symbol: Symbol, own: frozenset[str]) -> float:
        """Return how well a definition matches. own: the terms of its own lines."""
        in_name = self.of[symbol.name]
        in_signature = self.of[f"{symbol.qualified_name} {symbol.signature}"] - in_name
        rest = own - in_name - in_signature
        weight = self.weight
        score = IN_NAME * weight[in_name] + IN_SIGNATURE * weight[in_signature] + IN_LINES * weight[rest]
        return score + NAMED if self.names(symbol) else score


class _Contained(dict[str, frozenset[str]]):
    """The terms that each text seen so far contains."""

    def __init__(self, terms: frozenset[str]) -> None:
        self._terms = terms

    def __missing__(self, text: str) -> frozenset[str]:
        terms = self[text] = self._terms.intersection(index_words(text))
        return terms

    def matching(self, identifiers: set[str]) -> set[str]:
        """Return those identifiers that contain a term."""
        new = identifiers.difference(self)
        self.update(zip(new, map(self._terms.intersection, map(words_of, new)), strict=True))
        return set(filter(self.__getitem__, identifiers))


class _Weights(dict[frozenset[str], float]):
    """The share of the query's rarity, 0 to 1, that each set of terms seen so far has."""

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._shares = shares

    def __missing__(self, terms: frozenset[str]) -> float:
        weight = self[terms] = sum(self._shares[term] for term in terms)
        return weight


_NONE: frozenset[str] = frozenset()


def _plain(text: str) -> str:
    """Return the words of a text with single blanks around them, in lower case."""
    return " ".join(("", *_WORD.findall(text.lower()), ""))


class Candidate(NamedTuple):
    """A definition in a chunk: the lines of the chunk that are its own or inside it, and its score."""

    symbol: Symbol
    first: int
    last: int
    score: float


Gains = Callable[[Sequence[int]], Mapping[int, Mapping[Symbol, float]]]


def focus_hits(
    hits: Sequence[Hit], terms: Terms, definitions: Mapping[int, Sequence[Symbol]], gains: Gains | None = None
) -> list[Hit]:
    """Return the hits with their focus. definitions: by file id. gains: see `SketchCache.gains`."""
    pointed = list(dict.fromkeys(hit.chunk.file_id for hit in hits))[:POINTED_FILES]
    gained = gains(pointed) if gains is not None else {}
    files = [hit.chunk.file_id for hit in hits]
    focuses = [
        find_focus(hit, definitions.get(file_id, ()), terms, gained.get(file_id, {}))
        for hit, file_id in zip(hits, files, strict=True)
    ]
    firsts = zip(hits[:PLACES], focuses, strict=False)  # No others: what is pointed at must not depend on the limit.
    named = {(hit.chunk.file_id, focus.symbol) for hit, focus in firsts}
    focused = []
    for hit, focus in zip(hits, focuses, strict=True):
        file_id = hit.chunk.file_id
        if file_id in pointed:
            pointed.remove(file_id)  # Its first hit points at the others.
            others = [symbol for symbol in definitions.get(file_id, ()) if (file_id, symbol) not in named]
            focus = replace(focus, also_here=_pointers(focus, others, terms, gained.get(file_id, {})))
        focused.append(replace(hit, focus=focus))
    return focused


def find_focus(hit: Hit, definitions: Sequence[Symbol], terms: Terms, gained: Mapping[Symbol, float]) -> Focus:
    """Return what of a chunk matched; the chunk as a whole where no definition in it stands out.

    gained: how much definitions of its file speak for themselves, where it is known.
    """
    chunk = hit.chunk
    texts = chunk.text.rstrip("\n").split("\n")
    last = chunk.start_line + len(texts) - 1
    line_terms = terms.of_lines(chunk.text.rstrip("\n"))
    inside = [symbol for symbol in definitions if symbol.start_line <= last and symbol.end_line >= chunk.start_line]
    marked = terms.marked_lines(hit)
    chosen = choose(_candidates(chunk, texts, inside, line_terms, terms, gained, marked))
    first = chunk.start_line
    symbol = next((inner for inner in inside if inner.qualified_name == chunk.symbol), None)
    if chosen is not None:
        symbol, first, last = chosen.symbol, chosen.first, chosen.last
    lines = _best_lines(line_terms, first, last, chunk, symbol, terms, marked)
    shown = "\n".join(texts[first - chunk.start_line : last + 1 - chunk.start_line])
    used = _used(shown, first, last, symbol, definitions) if symbol is not None else ()
    names = _names_of(inside, symbol, first, last) if chosen is None and symbol is not None else ()
    return Focus(symbol, first, last, lines, used=used, names=names)


def _names_of(inside: Sequence[Symbol], largest: Symbol, first: int, last: int) -> tuple[str, ...]:
    """Return the names of the definitions that begin in a chunk beside its largest one, and of that, in their order.

    Of a type that begins above the chunk, the names of its members in the chunk.
    """
    is_continued = largest.kind in _CONTAINERS and largest.start_line < first
    apart = _is_inside if is_continued else lambda symbol, largest: not _nested(symbol, largest)
    beside = [symbol for symbol in inside if symbol.kind not in _DETAILS and apart(symbol, largest)]
    begun = [symbol for symbol in (*beside, *(() if is_continued else (largest,))) if symbol.start_line <= last]
    names = (symbol.qualified_name for symbol in sorted(begun, key=lambda symbol: symbol.start_line))
    return tuple(dict.fromkeys(names)) if beside else ()


def _used(shown: str, first: int, last: int, shown_symbol: Symbol, definitions: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """Return the constants that some lines name and that have their value written elsewhere in the file.

    Those of the file, and of the types around the definition that is shown: a name of another type is another thing.
    """
    named = set(chain.from_iterable(identifiers_by_line(shown)))
    around = f"{shown_symbol.qualified_name}."
    constants = (
        symbol
        for symbol in definitions
        if symbol.name in named
        and not first <= symbol.start_line <= last
        and around.startswith(symbol.qualified_name.removesuffix(symbol.name))
        and (symbol.kind is SymbolKind.CONSTANT or "." in symbol.qualified_name)
        and symbol.value
    )
    return tuple(islice(constants, USED))


def choose(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the definition that matched; None where no one stands out. Of equals, the innermost."""
    best = max(candidates, key=lambda each: (each.score, each.symbol.start_line - each.symbol.end_line), default=None)
    if best is None:
        return None
    if best.score >= MARKED:  # Of overloads and the like, any is better than the chunk's largest definition.
        return best
    rivals = (candidate.score for candidate in candidates if not _nested(candidate.symbol, best.symbol))
    return best if best.score > STANDS_OUT * max(rivals, default=0.0) else None


def _candidates(
    chunk: StoredChunk,
    texts: Sequence[str],
    inside: Sequence[Symbol],
    line_terms: Sequence[frozenset[str]],
    terms: Terms,
    gained: Mapping[Symbol, float],
    marked: Collection[int],
) -> list[Candidate]:
    """Return the definitions of a chunk that can head it, with their scores; a field can if it is all that is asked."""
    able = [
        symbol
        for symbol in inside
        if symbol.kind not in (SymbolKind.FIELD, SymbolKind.KEY) or (terms.is_name and terms.names(symbol))
    ]
    start, end = chunk.start_line, chunk.start_line + len(texts) - 1
    if len(able) == 1:
        return [Candidate(able[0], start, end, NAMED)]
    candidates = []
    for symbol in able:
        first = _with_comment(symbol, chunk, texts, inside)
        last = min(symbol.end_line, end)
        inner = (range(part.start_line, part.end_line + 1) for part in able if _is_inside(part, symbol))
        apart = set(range(first, last + 1)).difference(*inner)
        if symbol.start_line < start and not any(_WORD.search(texts[line - start]) for line in apart):
            continue  # Nothing of it is here but what is in an inner definition.
        lines = apart if symbol.kind in _CONTAINERS else set(range(first, last + 1))
        own = _NONE.union(*(line_terms[line - start] for line in lines))
        score = terms.agreement(symbol, own) + (0.0 if lines.isdisjoint(marked) else MARKED)
        if score:
            score += LENGTH * math.log(2 + last - first) + GAIN * gained.get(symbol, 0.0)
            candidates.append(Candidate(symbol, first, last, score))
    return candidates


def _with_comment(symbol: Symbol, chunk: StoredChunk, texts: Sequence[str], inside: Sequence[Symbol]) -> int:
    """Return the first line of a definition in its chunk, with the lines right above it that are of no other one."""
    first = max(symbol.start_line, chunk.start_line)
    barred = {other.start_line for other in inside}
    while first > chunk.start_line and texts[first - 1 - chunk.start_line].strip() and first - 1 not in barred:
        if any(
            other.start_line < first <= other.end_line + 1 and other.end_line < symbol.start_line for other in inside
        ):
            break
        first -= 1
    return first


def _is_inside(inner: Symbol, outer: Symbol) -> bool:
    return inner is not outer and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line


def _nested(inner: Symbol, outer: Symbol) -> bool:
    return inner is outer or _is_inside(inner, outer) or _is_inside(outer, inner)


def _best_lines(
    line_terms: Sequence[frozenset[str]],
    first: int,
    last: int,
    chunk: StoredChunk,
    symbol: Symbol | None,
    terms: Terms,
    marked: Collection[int],
) -> tuple[int, ...]:
    """Return the numbers of the lines that match best, the best first: the marked, then those with own terms.

    What heads a section is its name, which is shown anyway; where no line below it matches, the next one is returned.
    """
    start = chunk.start_line
    is_section = symbol is not None and symbol.kind is SymbolKind.SECTION and symbol.start_line < last
    left = {line: line_terms[line - start] for line in range(first, last + 1) if line_terms[line - start]}
    is_headed = symbol is not None and (is_section or symbol.signature)
    shown = left.pop(symbol.start_line, frozenset()) if symbol is not None and is_headed else frozenset()
    weight, best = terms.weight, sorted(line for line in marked if first <= line <= last)[:LINES_SHOWN]
    for line in best:
        left.pop(line, None)
    while left and len(best) < LINES_SHOWN:
        line = max(left, key=lambda number: (weight[left[number] - shown] + REPEATED * weight[left[number]], -number))
        shown |= left.pop(line)
        best.append(line)
    if symbol is not None and is_section and not best:
        texts = chunk.text.split("\n")
        below = range(max(first, symbol.start_line + 1), last + 1)
        best = [line for line in below if _WORD.search(texts[line - start])][:1]
    return tuple(best)


def _pointers(
    focus: Focus, others: Iterable[Symbol], terms: Terms, gained: Mapping[Symbol, float]
) -> tuple[Symbol, ...]:
    """Return the other definitions of a file that match best by name and gain; of the same score, the nearest.

    Of several with one name, such as the variants of a macro, the best.
    """
    scored = []
    for symbol in others:
        score = terms.weight[terms.of[symbol.name]] + gained.get(symbol, 0.0)
        is_detail = symbol.kind in _DETAILS
        is_around = symbol.start_line <= focus.start_line and focus.end_line <= symbol.end_line
        if not is_around and (score or not is_detail):
            scored.append((-score, is_detail, abs(symbol.start_line - focus.start_line), symbol.start_line, symbol))
    best = [symbol for *_, symbol in nsmallest(3 * POINTERS, scored, key=itemgetter(0, 1, 2, 3))]
    by_name = {symbol.qualified_name: symbol for symbol in reversed(best)}
    return tuple(symbol for symbol in best if by_name[symbol.qualified_name] is symbol)[:POINTERS]


def whole_definitions(
    hits: Sequence[Hit], definitions: Mapping[int, Sequence[Symbol]], catalog: ChunkStore
) -> list[Hit]:
    """Return the hits, each part with all lines of its definition; of several parts of one, the first.

    definitions: by file id.
    """
    cut = {place: symbol for place, hit in enumerate(hits) if (symbol := _definition_of(hit.chunk, definitions))}
    if not cut:
        return list(hits)
    spans = catalog.spans({hits[place].chunk.file_id for place in cut})
    parts = {place: _inside(symbol, spans.get(hits[place].chunk.file_id, {})) for place, symbol in cut.items()}
    few = {place: ids for place, ids in parts.items() if len(ids) <= MOST_PARTS}
    chunks = catalog.chunks(list(dict.fromkeys(chunk_id for ids in few.values() for chunk_id in ids)))
    shown: dict[tuple[int, int, int], Hit] = {}
    for place, hit in enumerate(hits):
        chunk, ids = hit.chunk, few.get(place, ())
        if ids and all(chunk_id in chunks for chunk_id in ids):
            chunk = _join(chunk, cut[place], [chunks[chunk_id] for chunk_id in ids])
        shown.setdefault((chunk.file_id, chunk.start_line, chunk.end_line), replace(hit, chunk=chunk))
    return list(shown.values())


def _definition_of(chunk: StoredChunk, definitions: Mapping[int, Sequence[Symbol]]) -> Symbol | None:
    """Return the function or value of which the chunk is a part, unless it is too long; None where there is none."""
    for symbol in definitions.get(chunk.file_id, ()):
        is_its = symbol.qualified_name == chunk.symbol
        if is_its and symbol.start_line <= chunk.end_line and chunk.start_line <= symbol.end_line:
            has_more = symbol.start_line < chunk.start_line or symbol.end_line > chunk.end_line
            is_short = symbol.end_line - symbol.start_line < MOST_LINES
            return symbol if has_more and is_short and symbol.kind not in _CONTAINERS else None
    return None


def _inside(symbol: Symbol, spans: Mapping[int, tuple[int, int]]) -> list[int]:
    return [
        chunk_id for chunk_id, (start, end) in spans.items() if start <= symbol.end_line and symbol.start_line <= end
    ]


def _join(chunk: StoredChunk, symbol: Symbol, parts: Sequence[StoredChunk]) -> StoredChunk:
    """Return the chunk with all lines of its definition, and what stands with it above; blank lines are in no chunk."""
    own = [part for part in parts if part.symbol == chunk.symbol]
    first = min(symbol.start_line, *(part.start_line for part in own))
    last = max(symbol.end_line, *(part.end_line for part in own))
    lines = {
        number: line
        for part in parts
        for number, line in enumerate(part.text.rstrip("\n").split("\n"), part.start_line)
    }
    text = "\n".join(lines.get(number, "") for number in range(first, last + 1))
    return replace(chunk, text=text, start_line=first, end_line=last)
