"""Cuts texts to the room of an answer, and says what of a hit matched."""

import math
from base64 import b32encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate, groupby, takewhile
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from graphrag_mcp.model.files import RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.search import EdgeDirection, FactorKind, Focus, GraphNeighbour, Hit
from graphrag_mcp.text.counts import counted

CHARACTERS_PER_TOKEN = 3.2  # Code has many short tokens; prose would be about 4.

# Cost of other letters, in characters of code: Cyrillic, Greek, Arabic, … and Chinese, Japanese, Korean, emoji.
LETTER_COST, SIGN_COST = 1.6, 3.2
CONCISE_TOKENS = 1_000
SEARCH_TOKENS = 1_165  # A search without a budget has this one: on the average, answers have 3,200 characters.
RELATED_SHARE = 5  # At most a fifth of the room: related code supports the results and replaces none.
CUT_MARK = " …"
WORTH_HIDING = 3  # Lines are folded if they have more than three times the characters of the line that says so.
LITTLE_MORE = 1.5  # A text that needs up to so many times its share is shown whole.
_Value = TypeVar("_Value", bound=Any)
LEAST_OF_A_LINE = 60  # Characters: a shorter beginning of a line ("def _ …") is of no use.
# How a neighbour is related to the result that points at it, and to the one that it points at; the most useful first.
_RELATIONS = {
    RelationKind.CALLS: ("called by", "calls"),
    RelationKind.TESTS: ("tested by", "tests"),
    RelationKind.INHERITS: ("base of", "inherits from"),
    RelationKind.USES: ("used by", "uses"),
    RelationKind.HANDS_ON: ("handed on by", "hands on"),
    RelationKind.SUPERSEDES: ("superseded by", "supersedes"),
    RelationKind.LINKS_TO: ("linked from", "links to"),
    RelationKind.IMPORTS: ("imported by", "imports"),
    RelationKind.CONTAINS: ("member of", "contains"),
}
_MOST_USEFUL_FIRST = list(_RELATIONS)
LINE_ROOM = 160  # A quoted line has no more.
ID_LENGTH = 4  # One in ten thousand texts would be taken for one of a hundred that a caller has.


class Excerpt(Struct, frozen=True):
    """The part of a text that is shown, and how many whole lines of it are not."""

    text: str
    hidden_lines: int = 0


def room_of(tokens: int) -> int:
    """Return how many characters of code fit into that many tokens, by a low estimate."""
    return int(tokens * CHARACTERS_PER_TOKEN)


def cost_of(text: str) -> int:
    """Return the room that a text takes, in characters of code: its length, and more for letters outside ASCII."""
    return len(text) if text.isascii() else math.ceil(sum(map(_cost, text)))


def cost_of_lines(lines: Iterable[str]) -> int:
    """Return the room that lines take, each with its end."""
    return sum(cost_of(line) + 1 for line in lines)


def tokens_of(text: str) -> int:
    """Return about how many tokens a text takes, by a high estimate."""
    return math.ceil(cost_of(text) / CHARACTERS_PER_TOKEN)


def cut_texts(
    texts: Sequence[str],
    room: int,
    cut: Callable[[int, str, int], Excerpt] = lambda _place, text, room: cut_text(text, room),
) -> list[Excerpt]:
    """Cut texts, best first, at line boundaries so that together they take at most `room`.

    Shares fall linearly from the first to the last; what a text does not use goes to those after it. cut: returns the
    excerpt of the text at a place for its share; a text that is a little longer is shown whole.
    """
    excerpts = []
    for position, text in enumerate(texts):
        texts_left = len(texts) - position
        share = first_share(room, texts_left)
        excerpt = cut(position, text, min(room, cost_of(text)) if cost_of(text) <= share * LITTLE_MORE else share)
        room -= cost_of(excerpt.text)
        excerpts.append(excerpt)
    for position, text in enumerate(texts):  # What is left over goes to the best one that was cut.
        if excerpts[position].text != text.rstrip("\n") and room > LEAST_OF_A_LINE:
            more = cut(position, text, cost_of(excerpts[position].text) + room)
            room -= cost_of(more.text) - cost_of(excerpts[position].text)
            excerpts[position] = more
    return excerpts


def take_fitting(
    values: Sequence[_Value], room: int, frame: int, least: int = 1, cost: Callable[[_Value], int] = cost_of
) -> tuple[list[_Value], int]:
    """Return the first values that fit, each with a frame, and the room left; at least `least` of them."""
    fitting: list[_Value] = []
    for value in values:
        needed = cost(value) + frame
        if needed > room and len(fitting) >= least:
            break
        fitting.append(value)
        room -= needed
    return fitting, room


def first_share(room: int, count: int) -> int:
    """Return how much of the room the first of `count` texts may take."""
    return max(0, room) * 2 // (count + 1)


def cut_text(text: str, room: int) -> Excerpt:
    """Return the first whole lines that fit, or the beginning of a first line that is too long."""
    text = text.rstrip("\n")
    if cost_of(text) <= room:
        return Excerpt(text)
    lines = text.split("\n")
    ends = accumulate(cost_of(line) + 1 for line in lines)
    count = sum(1 for _ in takewhile(lambda end: end <= room + 1, ends))
    if count == 0 and room > LEAST_OF_A_LINE:
        return Excerpt(_beginning(lines[0], room - cost_of(CUT_MARK)) + CUT_MARK, len(lines) - 1)
    return Excerpt("\n".join(lines[:count]), len(lines) - count)


def fold(rows: Sequence[str], by_worth: Iterable[int], room: int, most: int) -> list[str]:
    """Return as many numbered rows as fit, those that matter most, and for each run of others how many they are."""
    kept_lines: set[int] = set()
    for number in by_worth:
        room -= cost_of(rows[number]) + 1
        if room < 0 or len(kept_lines) == most:
            break
        kept_lines.add(number)
    shown: list[str] = []
    for is_kept, run in groupby(range(len(rows)), kept_lines.__contains__):
        numbers = list(run)
        hidden = f"... {counted(len(numbers), 'line')}"
        is_shorter = is_kept or cost_of_lines(rows[number] for number in numbers) <= WORTH_HIDING * len(hidden)
        shown += [rows[number] for number in numbers] if is_shorter else [hidden]
    return shown


def _beginning(text: str, room: int) -> str:
    fitting = takewhile(lambda end: end <= room, accumulate(map(_cost, text)))
    return text[: sum(1 for _ in fitting)]


def _cost(character: str) -> float:
    if character < "\x80":
        return 1
    return LETTER_COST if character < "\u2e80" else SIGN_COST


class Match(NamedTuple):
    """What matched in a result: lines of its chunk, and their definition.

    part_of: the first and last line of the definition where it has more lines than these, else None.
    """

    start_line: int
    end_line: int
    symbol: str
    kind: str
    signature: str
    part_of: tuple[int, int] | None


def match_of(hit: Hit) -> Match:
    """Return what matched: the chunk itself where nothing in it is known to."""
    chunk, focus = hit.chunk, hit.focus or Focus(None, hit.chunk.start_line, hit.chunk.end_line)
    symbol, lines = focus.symbol, (focus.start_line, focus.end_line)
    if symbol is None:
        return Match(*lines, chunk.symbol, chunk.kind, chunk.signature, None)
    is_chunk = symbol.qualified_name == chunk.symbol and lines == (chunk.start_line, chunk.end_line)
    kind = chunk.kind if is_chunk else symbol.kind.value
    has_more = symbol.start_line < focus.start_line or symbol.end_line > focus.end_line
    part_of = (symbol.start_line, symbol.end_line) if has_more else None
    return Match(*lines, symbol.qualified_name, kind, symbol.signature, part_of)


def text_of(hit: Hit) -> str:
    """Return the lines of what matched."""
    match, lines = match_of(hit), hit.chunk.text.rstrip("\n").split("\n")
    first = match.start_line - hit.chunk.start_line
    return "\n".join(lines[first : first + match.end_line - match.start_line + 1])


def id_of(hit: Hit) -> str:
    """Return a short name for the lines of what matched, the same until one of them changes."""
    lines = f"{hit.chunk.path}\0{text_of(hit)}".encode("utf-8", "surrogatepass")
    return b32encode(blake2b(lines, digest_size=5).digest()).decode()[:ID_LENGTH].lower()


def best_lines(hit: Hit, after: int = 0) -> list[tuple[int, str]]:
    """Return the lines that match best below a line in their order, with their numbers; the beginning of a long one."""
    if hit.focus is None:
        return []
    lines, start = hit.chunk.text.split("\n"), hit.chunk.start_line
    return [
        (line, cut_text(lines[line - start].strip(), LINE_ROOM).text)
        for line in sorted(hit.focus.lines)
        if line > after
    ]


def also_here(hit: Hit) -> list[tuple[str, int, str]]:
    """Return other definitions of the file: name, line, and the value of a constant; in the order of their lines."""
    pointed = sorted(hit.focus.also_here, key=attrgetter("start_line")) if hit.focus is not None else ()
    return [(_short_name(symbol), symbol.start_line, symbol.value) for symbol in pointed]


def _short_name(symbol: Symbol) -> str:
    """Return a heading without those above it, which a document has many of; else the qualified name."""
    return symbol.name if symbol.kind is SymbolKind.SECTION else symbol.qualified_name


def why(hit: Hit, *, with_ranks: bool = True) -> str:
    """Return why a hit was found, for example "keyword #1, vector #3, defines `Session`"."""
    ranks = sorted(hit.ranks.items(), key=lambda item: (item[1], item[0])) if with_ranks else []
    parts = [f"{source} #{rank}" for source, rank in ranks]
    notes = {factor.name: factor.note for factor in hit.factors}
    if notes.get("definition"):
        parts.append(f"defines `{notes['definition'].replace('`', '')}`")
    if notes.get("literal"):
        parts.append(f"contains {notes['literal']}")
    if "location" in notes:
        parts.append(f"{notes['location']} is in the query")
    elif "path" in notes:
        parts.append("path in the query")
    elif notes.get("stem"):
        parts.append("file name matches")
    if "fact" in notes:
        parts.append("a document, which may state it")
    if hit.phrasings and with_ranks:
        parts.append(f"phrasing {', '.join(map(str, sorted(hit.phrasings)))}")
    if hit.chunk.archive is not None:
        parts.append(f"archived: {hit.chunk.archive.reason}")
    if hit.chunk.facts.status is not None:
        parts.append(f"status: {hit.chunk.facts.status}")
    return ", ".join(parts)


def explain(hit: Hit) -> list[str]:
    """Return one line for the score, and one for each factor of it."""
    lines = [f"score {hit.score:.4f}, fused {hit.fused_score:.4f} (0 to 1, what min_score compares)"]
    for factor in hit.factors:
        sign = "×" if factor.kind is FactorKind.FACTOR else "-" if factor.value < 0 else "+"
        lines.append(f"{sign} {abs(factor.value):.3f}  {factor.name}" + (f" ({factor.note})" if factor.note else ""))
    return lines


def relation_to(neighbour: GraphNeighbour) -> str:
    """Return the relation of the neighbour to the result, for example "calls `Session.open`"."""
    other = neighbour.source if neighbour.direction is EdgeDirection.OUT else neighbour.target
    phrase = _RELATIONS[neighbour.relation][neighbour.direction == EdgeDirection.IN]
    if other:
        return f"{phrase} `{other.replace('`', '')}`"
    return f"{phrase} the file of a result" if neighbour.hops == 1 else f"{phrase} a file near a result"


def usefulness(neighbour: GraphNeighbour) -> tuple[int, int]:
    """Return a sort key: near before far, then by the use of the relation to a reader."""
    return neighbour.hops, _MOST_USEFUL_FIRST.index(neighbour.relation)


def certainty(neighbour: GraphNeighbour) -> str:
    """Return how certain the relation is, and how far away."""
    return f"{neighbour.certainty}, {neighbour.hops} hops away" if neighbour.hops > 1 else neighbour.certainty
