"""Turns the headings of a document into its chunks and its section symbols."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag_mcp.model.files import Chunk, Symbol, SymbolKind
from graphrag_mcp.parsing.passages import LIMIT, TARGET, Lines, Passage, cut

PATH_SEPARATOR = " > "
_CHAPTER_LEVEL = 2  # Sections of this level or above are never joined to the text before.
_SECTION_TARGET = 1_200  # Paragraphs of one section share a subject, so they are joined up to a larger size.


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading: its first line and the first line of its body (from 0), its level from 1, its bare title."""

    line: int
    body: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Section:
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
    if group:
        chunks += _group_chunks(lines, group, walls)
    return tuple(chunks)


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
    begins = bool(begun) and (begun[0] is around or not around.path)
    return Chunk(
        start_line=start + 1,
        end_line=end,
        text=lines.text(passage),
        kind="section",
        symbol=begun[0].name if begins else around.name,
        names=tuple(section.path[-1] for section in begun),
        enclosing=begun[0].path[:-1] if begins else around.path,
    )
