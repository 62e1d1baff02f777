"""Parses files without a grammar: Markdown and similar formats by heading, other text by paragraph."""

import re
from collections.abc import Sequence

from graphrag_mcp.model.files import Category, Chunk, ParsedFile, ParseMode
from graphrag_mcp.parsing.documents.facts import document_facts
from graphrag_mcp.parsing.documents.frontmatter import read_front_matter
from graphrag_mcp.parsing.documents.links import find_links, superseded
from graphrag_mcp.parsing.documents.markdown import scan_blocks
from graphrag_mcp.parsing.documents.sections import Heading, outline, section_chunks, section_symbols
from graphrag_mcp.parsing.passages import Lines, cut

_ADORNMENTS = frozenset("=-`:'\"~^_*+#<>.!$%&(),/;?@[\\]{|}")
_SHORTEST = 3  # Two characters may as well be an ellipsis or a dash.
_ASCIIDOC_TITLE = re.compile(r"(={1,6})[ \t]+(\S.*)$")
_ASCIIDOC_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})[ \t]*$")


def parse_markdown(path: str, text: str, category: Category = Category.DOCUMENTATION) -> ParsedFile:
    """Return a Markdown file as sections, with its links to other files and its front matter."""
    lines = Lines(text)
    front = read_front_matter(lines.rows)
    blocks = scan_blocks(lines.rows, front.end)
    sections = outline(blocks.headings, len(lines))
    unbreakable = [(0, front.end), *blocks.fences] if front.end else blocks.fences
    facts = document_facts(front.values, lines.rows[front.end :], sections)
    return ParsedFile(
        path,
        "markdown",
        category,
        ParseMode.MARKDOWN,
        chunks=section_chunks(lines, sections, unbreakable),
        symbols=section_symbols(lines, sections),
        relations=(*superseded(path, facts.supersedes, 0), *find_links(path, lines, blocks.prose, sections)),
        facts=facts,
        note=front.note,
    )


def parse_text(path: str, text: str, category: Category, language: str = "", note: str = "") -> ParsedFile:
    """Return any text as passages: by heading where its format has headings, else by blank lines and indentation."""
    lines = Lines(text)
    headings = _headings(path.rpartition(".")[2].lower(), lines.rows)
    if not headings:
        return parse_passages(path, text, category, language, note)
    sections = outline(headings, len(lines))
    return ParsedFile(
        path,
        language,
        category,
        ParseMode.TEXT,
        chunks=section_chunks(lines, sections),
        symbols=section_symbols(lines, sections),
        facts=document_facts({}, lines.rows, sections),
        note=note,
    )


def parse_passages(path: str, text: str, category: Category, language: str = "", note: str = "") -> ParsedFile:
    """Return any text as passages of similar size, whatever its structure."""
    lines = Lines(text)
    spans = cut(lines, lines.paragraphs((0, len(lines))))
    chunks = tuple(Chunk(start + 1, end, lines.text((start, end)), kind="text") for start, end in spans)
    return ParsedFile(path, language, category, ParseMode.TEXT, chunks, note=note)


def _headings(suffix: str, rows: Sequence[str]) -> list[Heading]:
    """Return the headings of reStructuredText and AsciiDoc; those of other text cannot be recognised reliably."""
    if suffix in ("rst", "rest"):
        return _rst_headings(rows)
    if suffix in ("adoc", "asciidoc", "asc"):
        return _asciidoc_headings(rows)
    return []


def _rst_headings(rows: Sequence[str]) -> list[Heading]:
    """Return titles with an adornment below, or above and below; levels are numbered as the styles appear."""
    headings: list[Heading] = []
    styles: dict[tuple[str, bool], int] = {}
    for index in range(1, len(rows)):
        mark = _adornment(rows[index])
        title = rows[index - 1].strip() if mark else ""
        if not title or _adornment(title) or len(rows[index].rstrip()) < len(rows[index - 1].rstrip()):
            continue
        above = rows[index - 2] if index > 1 else ""
        overlined = _adornment(above) == mark
        if overlined or (not above.strip() and rows[index - 1][:1].strip()):
            level = styles.setdefault((mark, overlined), len(styles) + 1)
            headings.append(Heading(index - 2 if overlined else index - 1, index + 1, level, title.replace("``", "")))
    return headings


def _adornment(row: str) -> str:
    """Return the repeated character of an adornment line, "" for any other line."""
    mark = row[:1]
    bare = row.rstrip()
    return mark if mark in _ADORNMENTS and len(bare) >= _SHORTEST and bare == mark * len(bare) else ""


def _asciidoc_headings(rows: Sequence[str]) -> list[Heading]:
    headings: list[Heading] = []
    fence = ""
    for index, row in enumerate(rows):
        if match := _ASCIIDOC_FENCE.match(row):
            fence = match[1] if not fence else ("" if match[1] == fence else fence)
        elif not fence and row.startswith("=") and (match := _ASCIIDOC_TITLE.match(row)):
            headings.append(Heading(index, index + 1, len(match[1]), match[2].strip()))
    return headings
