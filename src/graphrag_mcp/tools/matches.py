"""What of a hit matched, in a few lines, and why it or related code is shown."""

from base64 import b32encode
from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.model.files import RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.search import EdgeDirection, FactorKind, Focus, GraphNeighbour, Hit
from graphrag_mcp.tools.excerpts import cut_text

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
ID_LENGTH = 4  # Of a hundred texts that a caller has, one in ten thousand others would be taken for one of them.


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
