"""Parses files without a grammar: Markdown and similar formats by heading, other text by paragraph.

A document may declare its status (in the forms of MADR and Nygard), priority, type and tags.

Of YAML front matter only flat values are used: no object is constructed and no alias is followed, so neither an alias
bomb nor a thousand nested brackets cost more than the length of their text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import yaml
from msgspec import Struct, field

from graphrag_mcp.model.files import Category, Chunk, DocumentFacts, DocumentStatus, ParsedFile, ParseMode
from graphrag_mcp.parsing.categories import is_man_page
from graphrag_mcp.parsing.documents.links import find_links, superseded
from graphrag_mcp.parsing.documents.markdown import plain_title, scan_blocks
from graphrag_mcp.parsing.documents.sections import (
    Heading,
    Lines,
    Section,
    cut,
    outline,
    section_chunks,
    section_symbols,
)

_LIMIT = 16_384  # characters; hand-written front matter has a few hundred.
_MAX_BRACKETS = 1_000  # A YAML scanner's time grows with the square of the nesting.
_MAX_ITEMS = 100  # of one list
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = "---"
_CLOSINGS = ("---", "...")

Value = str | tuple[str, ...]
# Strongest first: where a text names several, the first one counts.
_STATUS_WORDS: dict[DocumentStatus, frozenset[str]] = {
    DocumentStatus.SUPERSEDED: frozenset({"superseded", "superceded", "replaced"}),
    DocumentStatus.DEPRECATED: frozenset({"deprecated", "obsolete", "obsoleted"}),
    DocumentStatus.REJECTED: frozenset({"rejected", "declined", "withdrawn", "abandoned"}),
    DocumentStatus.ARCHIVED: frozenset({"archived", "retired", "historical"}),
    DocumentStatus.ACTIVE: frozenset(
        {"accepted", "active", "approved", "adopted", "implemented", "current", "final", "published", "stable", "done"}
    ),
    DocumentStatus.PROPOSED: frozenset({"proposed", "draft", "wip", "pending", "rfc", "review", "open", "planned"}),
}
_STATUS_OF_WORD = {word: status for status, words in _STATUS_WORDS.items() for word in words}
_PRECEDENCE = list(_STATUS_WORDS)
_WORDS = re.compile(r"[A-Za-z]+")
_REPLACED_BY = re.compile(r"\b(?:superseded|superceded|replaced)\s+by\b", re.IGNORECASE)
_STATUS_LINE = re.compile(r"[\s>*+-]*+status\**+\s*+:\s*\**\s*(.*)", re.IGNORECASE)
_SUPERSEDES_LINE = re.compile(r"[\s>*+-]*+supersedes\**+\s*+:?\s*(.+)", re.IGNORECASE)
_SHORT_LINE = 6  # words; "This decision is accepted" states a status, a longer sentence may not.
_HEAD_ROWS = 15  # A `Status:` line further down is not the document's.
_SECTION_ROWS = 12
_MAX_PRIORITY = 100
_VALUE_LIMIT = 200  # characters of one value or line
_ADORNMENTS = frozenset("=-`:'\"~^_*+#<>.!$%&(),/;?@[\\]{|}")
_SHORTEST = 3  # Two characters may as well be an ellipsis or a dash.
_ASCIIDOC_TITLE = re.compile(r"(={1,6})[ \t]+(\S.*)$")
# Those of fonts and strings, and what stands before a dash.
_MAN_ESCAPE = re.compile(r"\\(?:[f*](?:\[[^\]]*\]|\(..|.)|[&|^])?")
_MAN_HEADING = re.compile(r"[.'](S[HhSs])[ \t]+(\S.*)")
_ASCIIDOC_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})[ \t]*$")


class FrontMatter(Struct, frozen=True):
    """The flat values by lower-case key, the first line after the block, and the problem with it."""

    values: Mapping[str, Value] = field(default_factory=dict)
    end: int = 0
    note: str = ""


def read_front_matter(rows: Sequence[str]) -> FrontMatter:
    """Return the front matter that the document begins with; empty when there is none."""
    if rows[0].rstrip() != _OPENING:
        return FrontMatter()
    size = 0
    for index in range(1, len(rows)):
        size += len(rows[index]) + 1
        if size > _LIMIT:
            return FrontMatter()
        if rows[index].rstrip() in _CLOSINGS:
            return _parse("\n".join(rows[1:index]), index + 1)
    return FrontMatter()


def _parse(text: str, end: int) -> FrontMatter:
    if text.count("[") + text.count("{") > _MAX_BRACKETS:
        return FrontMatter({}, end, "the front matter is nested too deeply to be read")
    values: dict[str, Value] = {}
    try:
        for key, value in _flat_values(yaml.parse(text, Loader=_LOADER)):
            values.setdefault(key.strip().lower(), value)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: characters that YAML cannot encode.
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 2})" if mark is not None else ""
        return FrontMatter(values, end, f"the front matter is not valid YAML{place}")
    return FrontMatter(values, end)


def _flat_values(events: Iterator[yaml.Event]) -> Iterator[tuple[str, Value]]:
    """Yield the keys of the top-level mapping whose value is a scalar or a list of scalars."""
    depth = 0
    key: str | None = None  # "" if it is not a scalar
    items: list[str] = []
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth == 1 and not isinstance(event, yaml.MappingStartEvent):
                return
            if depth == 2:
                items = []
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == 1:
                if key and isinstance(event, yaml.SequenceEndEvent):
                    yield key, tuple(items[:_MAX_ITEMS])
                key = "" if key is None else None
        elif depth == 2 and isinstance(event, yaml.ScalarEvent):
            items.append(event.value)
        elif depth == 1:
            value = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if key and value:
                yield key, value
            key = value if key is None else None


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
        relations=(*superseded(path, facts.supersedes), *find_links(path, lines, blocks.prose, sections)),
        facts=facts,
        note=front.note,
    )


def parse_text(path: str, text: str, category: Category, language: str = "", note: str = "") -> ParsedFile:
    """Return any text as passages: by heading where its format has headings, else by blank lines and indentation."""
    lines = Lines(text)
    suffix = path.rpartition(".")[2].lower()
    find = _man_headings if is_man_page(suffix, text) else _HEADINGS.get(suffix, _no_headings)
    headings = find(lines.rows)
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
        elif not fence and (match := _ASCIIDOC_TITLE.match(row)):
            headings.append(Heading(index, index + 1, len(match[1]), match[2].strip()))
    return headings


def _man_headings(rows: Sequence[str]) -> list[Heading]:
    """Return the sections (.SH) and subsections (.SS) of a page, with the macros of man or of mdoc."""
    headings = []
    for index, row in enumerate(rows):
        if match := _MAN_HEADING.match(row):
            title = _MAN_ESCAPE.sub("", match[2]).strip().strip('"')
            headings.append(Heading(index, index + 1, 1 if match[1].upper() == "SH" else 2, title))
    return headings


def _no_headings(_rows: Sequence[str]) -> list[Heading]:
    return []


# By suffix; the headings of other text cannot be recognised reliably.
_HEADINGS = {
    **dict.fromkeys(("rst", "rest"), _rst_headings),
    **dict.fromkeys(("adoc", "asciidoc", "asc"), _asciidoc_headings),
}


def document_facts(values: Mapping[str, Value], rows: Sequence[str], sections: Sequence[Section]) -> DocumentFacts:
    """Return the facts; front matter wins over the text."""
    section_rows = _status_rows(rows, sections)
    supersedes = _list(values.get("supersedes", ())) or tuple(
        plain_title(match[1]) for row in section_rows if (match := _SUPERSEDES_LINE.match(row))
    )
    return DocumentFacts(
        title=_first(values.get("title", "")) or next((s.path[-1] for s in sections if s.path), ""),
        status=_status([_first(values.get("status", ""))]) or _status(section_rows),
        priority=_priority(_first(values.get("retrieval_priority", values.get("priority", "")))),
        type=_first(values.get("type", "")),
        tags=_list(values.get("tags", ())),
        supersedes=supersedes,
    )


def _status_rows(rows: Sequence[str], sections: Sequence[Section]) -> list[str]:
    """Return the lines of the `Status` section, or the one `Status:` line at the head of the document."""
    for section in sections:
        if section.path and section.path[-1].lower() == "status":
            body = rows[section.body : section.span[1]]
            return [row[:_VALUE_LIMIT] for row in body[:_SECTION_ROWS] if row.strip()]
    head = (row[:_VALUE_LIMIT] for row in rows[:_HEAD_ROWS])
    return [match[1] for row in head if (match := _STATUS_LINE.match(row))][:1]


def _status(rows: Sequence[str]) -> DocumentStatus | None:
    """Return the strongest status that a line begins with, or that a short first line names."""
    stated: set[DocumentStatus] = set()
    for place, row in enumerate(rows):
        words = [word.lower() for word in _WORDS.findall(plain_title(row))]
        if "|" in row or not words:  # "proposed | accepted | rejected" is an unused template.
            continue
        if _REPLACED_BY.search(row):
            stated.add(DocumentStatus.SUPERSEDED)
        named = words[:1] if place or len(words) > _SHORT_LINE else words
        stated.update([_STATUS_OF_WORD[word] for word in named if word in _STATUS_OF_WORD][:1])
    return min(stated, key=_PRECEDENCE.index, default=None)


def _priority(text: str) -> int | None:
    try:
        priority = round(float(text))
    except (ValueError, OverflowError):
        return None
    return priority if 0 <= priority <= _MAX_PRIORITY else None


def _first(value: Value) -> str:
    text = value if isinstance(value, str) else next(iter(value), "")
    return " ".join(text.split())[:_VALUE_LIMIT]


def _list(value: Value) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(dict.fromkeys(part.strip()[:_VALUE_LIMIT] for part in parts if part.strip()))
