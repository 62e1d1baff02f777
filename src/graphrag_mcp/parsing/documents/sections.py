"""Cuts text: a document by its headings, into chunks and section symbols, other text into passages."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from graphrag_mcp.model.files import Chunk, Symbol, SymbolKind

Passage = tuple[int, int]  # First line, and the line after the last one, from 0.

LIMIT = 1_500  # characters; about as much as the embedding model uses of a chunk.
TARGET = 900  # Neighbours are joined up to this size, so that one subject dominates the vector.
RUNT = 200  # A smaller passage is joined to its neighbour, up to the limit.
LINE_LIMIT = 4_000  # The rest of a longer line is left out.
_MAX_DEPTH = 12  # Indentation levels tried before a block is cut at any line.
_NO_HEADS = frozenset(("", *"}])"))  # What a line begins with that begins nothing.
PATH_SEPARATOR = " > "
_CHAPTER_LEVEL = 2  # Sections of this level or above are never joined to the text before.
_SECTION_TARGET = 1_200  # Paragraphs of one section share a subject, so they are joined up to a larger size.


class Lines:
    """The lines of a text with their cumulative length, so that the size of a span is a subtraction."""

    __slots__ = ("_ends", "_text", "rows")

    def __init__(self, text: str) -> None:
        self._text = text
        self.rows = text.split("\n")
        self._ends = [0, *accumulate(len(row) + 1 for row in self.rows)]

    def __len__(self) -> int:
        return len(self.rows)

    def size(self, span: Passage) -> int:
        """Return the number of characters of the span, line ends included."""
        return self._ends[span[1]] - self._ends[span[0]]

    def text(self, span: Passage) -> str:
        """Return the lines of the span; what exceeds `LINE_LIMIT` in one line is left out."""
        start, end = span
        if self.size(span) <= LINE_LIMIT:
            return self._text[self._ends[start] : self._ends[end] - 1]
        return "\n".join(row[:LINE_LIMIT] for row in self.rows[start:end])

    def trim(self, span: Passage) -> Passage:
        """Return the span without blank lines at its ends; an empty span when all are blank."""
        start, end = span
        rows = self.rows
        while start < end and not rows[start].strip():
            start += 1
        while start < end and not rows[end - 1].strip():
            end -= 1
        return start, end

    def paragraphs(self, span: Passage, walls: Sequence[Passage] = ()) -> list[Passage]:
        """Return the runs of lines between blank ones; blank lines inside walls (sorted) do not separate."""
        spans: list[Passage] = []
        begun: int | None = None
        index, end = span
        place = bisect_left(walls, (index, index))
        while index < end:
            inside = place < len(walls) and walls[place][0] == index
            if not inside and not self.rows[index].strip():
                if begun is not None:
                    spans.append((begun, index))
                begun = None
            elif begun is None:
                begun = index
            index = walls[place][1] if inside else index + 1
            place += inside
        if begun is not None:
            spans.append((begun, end))
        return spans


def cut(lines: Lines, blocks: Sequence[Passage], target: int = TARGET) -> list[Passage]:
    """Return passages that cover the blocks: large blocks split, small neighbours joined up to `target` characters."""
    passages: list[Passage] = []
    for block in blocks:
        for piece in _split(lines, block, _MAX_DEPTH):
            if passages and _belong_together(lines, passages[-1], piece, target):
                passages[-1] = (passages[-1][0], piece[1])
            else:
                passages.append(piece)
    return [lines.trim(passage) for passage in passages]


def _belong_together(lines: Lines, before: Passage, after: Passage, target: int) -> bool:
    together = lines.size((before[0], after[1]))
    return together <= target or (together <= LIMIT and min(lines.size(before), lines.size(after)) < RUNT)


def _split(lines: Lines, block: Passage, depth: int) -> list[Passage]:
    """Cut a block over the limit before its least indented lines, and what is still too large one level deeper."""
    if lines.size(block) <= LIMIT or block[1] - block[0] == 1:
        return [block]
    heads = _shallowest(lines.rows, block) if depth else list(range(*block))
    if len(heads) == 1:  # A single key or item contains the rest: its first line belongs to the first piece.
        first, *rest = _split(lines, (block[0] + 1, block[1]), depth - 1)
        return [(block[0], first[1]), *rest]
    pieces = zip([block[0], *heads[1:]], [*heads[1:], block[1]], strict=True)
    return [small for piece in pieces for small in _split(lines, piece, depth - 1)]


def _shallowest(rows: Sequence[str], block: Passage) -> list[int]:
    """Return the least indented lines that can begin something."""
    bare = [(rows[index].lstrip(), index) for index in range(*block)]
    depths = [(len(rows[index]) - len(text), index) for text, index in bare if text[:1] not in _NO_HEADS]
    least = min(depths, default=(0, block[0]))[0]
    return [index for depth, index in depths if depth == least] or [block[0]]


class Heading(Struct, frozen=True):
    """One heading: its first line and the first line of its body (from 0), its level from 1, its bare title."""

    line: int
    body: int
    level: int
    title: str


class Section(Struct, frozen=True):
    """The lines from one heading to before the next, and the titles that lead to it (its own last)."""

    span: Passage
    level: int
    path: tuple[str, ...]
    body: int

    @property
    def name(self) -> str:
        return PATH_SEPARATOR.join(self.path)


def outline(headings: Sequence[Heading], line_count: int) -> list[Section]:
    """Return the sections in order, the preamble first: level 0, with an empty path."""
    ends = [*(heading.line for heading in headings), line_count]
    sections = [Section((0, ends[0]), 0, (), 0)]
    open_titles: list[tuple[int, str]] = []
    for heading, end in zip(headings, ends[1:], strict=True):
        while open_titles and open_titles[-1][0] >= heading.level:
            open_titles.pop()
        open_titles.append((heading.level, heading.title))
        path = tuple(title for _, title in open_titles)
        sections.append(Section((heading.line, end), heading.level, path, heading.body))
    return sections


def section_symbols(lines: Lines, sections: Sequence[Section]) -> tuple[Symbol, ...]:
    """Return one symbol per heading; its span reaches to the next heading that is not below it."""
    symbols: list[Symbol] = []
    waiting: list[tuple[int, int]] = []  # (level, place in `symbols`) of the sections that are still open
    ends: list[int] = []
    for section in sections[1:]:
        while waiting and waiting[-1][0] >= section.level:
            ends[waiting.pop()[1]] = section.span[0]
        waiting.append((section.level, len(ends)))
        ends.append(len(lines))
    for section, end in zip(sections[1:], ends, strict=True):
        if not section.path[-1].strip():
            continue
        start, trimmed_end = section.span[0], lines.trim((section.span[0], end))[1]
        symbols.append(Symbol(section.path[-1], section.name, SymbolKind.SECTION, start + 1, trimmed_end))
    return tuple(symbols)


def section_chunks(lines: Lines, sections: Sequence[Section], unbreakable: Sequence[Passage] = ()) -> tuple[Chunk, ...]:
    """Return the chunks: long sections cut at paragraphs, short ones joined to the subsections that follow."""
    walls = [wall for wall in unbreakable if lines.size(wall) <= LIMIT]
    chunks: list[Chunk] = []
    group: list[Section] = []
    for section in sections:
        if group and not _may_join(lines, group, section):
            chunks += _group_chunks(lines, group, walls)
            group = []
        if section.span[0] < section.span[1]:
            group.append(section)
    return (*chunks, *_group_chunks(lines, group, walls))


def _may_join(lines: Lines, group: Sequence[Section], section: Section) -> bool:
    last = group[-1]
    if last.level < section.level and last.path and lines.trim((last.body, last.span[1]))[0] == last.span[1]:
        return True  # A heading without text introduces the next one.
    if last.path and section.level <= _CHAPTER_LEVEL:
        return False
    return lines.size((group[0].span[0], section.span[1])) <= TARGET


def _group_chunks(lines: Lines, group: Sequence[Section], walls: Sequence[Passage]) -> list[Chunk]:
    span = lines.trim((group[0].span[0], group[-1].span[1]))
    if lines.size(span) <= LIMIT:
        passages = [span] if span[0] < span[1] else []
    else:
        passages = cut(lines, lines.paragraphs(span, walls), _SECTION_TARGET)
    return [_chunk(lines, passage, group) for passage in passages]


def _chunk(lines: Lines, passage: Passage, group: Sequence[Section]) -> Chunk:
    start, end = passage
    begun = [section for section in group if section.path and start <= section.span[0] < end]
    around = next(section for section in reversed(group) if section.span[0] <= start)
    return Chunk(
        start_line=start + 1,
        end_line=end,
        text=lines.text(passage),
        kind="section",
        symbol=begun[0].name if begun else around.name,
        names=tuple(section.path[-1] for section in begun),
        enclosing=begun[0].path[:-1] if begun else around.path,
    )
