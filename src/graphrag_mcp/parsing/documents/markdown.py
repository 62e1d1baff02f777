"""Reads the block structure of Markdown: which lines are headings, which are code, which are prose.

A state machine over lines that follows CommonMark where it matters here: fences in and outside of lists and quotes,
indented code, HTML blocks, setext headings. Headings inside lists and quotes structure nothing, so they are prose.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from graphrag_mcp.parsing.documents.sections import Heading, Passage


class Blocks(Struct, frozen=True):
    """The headings; the fenced blocks, both fences included; the runs of lines that hold inline markup."""

    headings: list[Heading]
    fences: list[Passage]
    prose: list[Passage]


def scan_blocks(rows: Sequence[str], first: int) -> Blocks:
    """Return the blocks of the document that begins at line `first`."""
    scanner = _Scanner(rows)
    for index in range(first, len(rows)):
        scanner.read(index, rows[index])
    return scanner.finish(len(rows))


class _Fence(Struct, frozen=True):
    """An open fence: its marker, its length, and the container whose end would end it too."""

    start: int
    marker: str
    length: int
    indent: int
    quoted: bool


_ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_LIST_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?:([ \t]+)(?=\S)|[ \t]*$)")
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)")
_LONE_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?>[ \t]*$")
_RAW_TAGS = frozenset({"script", "pre", "style", "textarea"})
_BLOCK_TAG_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
)
_BLOCK_TAGS = frozenset(_BLOCK_TAG_NAMES.split())
_DECLARATIONS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_CODE_INDENT = 4
_UNTIL_BLANK = ""  # In place of the text that ends an HTML block.


class _Scanner:
    def __init__(self, rows: Sequence[str]) -> None:
        self._rows = rows
        self._headings: list[Heading] = []
        self._fences: list[Passage] = []
        self._prose: list[Passage] = []
        self._fence: _Fence | None = None
        self._html_end: str | None = None  # What ends the open HTML block.
        self._paragraph: int | None = None  # First line of the open paragraph outside of every container.
        self._item = 0  # Column of the outermost open list item's content; 0 outside of lists.
        self._blank = True  # Whether a block may begin here: the line before was blank or ended its block.
        self._run: int | None = None  # First line of the open run of prose.

    def read(self, index: int, row: str) -> None:
        if self._fence is not None and self._read_fenced(index, row, self._fence):
            return
        bare = row.lstrip(" \t")
        if self._html_end is not None:
            self._read_html(bare, self._html_end)
        elif not bare:
            self._end_block(index)
        elif not self._item and len(bare) == len(row) and bare[0].isalpha():
            self._read_text(index)
        else:
            self._read_marked(index, row, bare)

    def finish(self, line_count: int) -> Blocks:
        if self._fence is not None:
            self._close_fence(self._fence, line_count)
        self._end_block(line_count)
        return Blocks(self._headings, self._fences, self._prose)

    def _read_fenced(self, index: int, row: str, fence: _Fence) -> bool:
        """Return whether the line belongs to the fence; it does not once the list item or quote around it has ended."""
        bare = row.strip()
        indent = _columns(row)
        outside = not bare.startswith(">") if fence.quoted else bool(bare) and indent < fence.indent
        if outside:
            self._close_fence(fence, index)
            return False
        mark = bare.lstrip("> \t") if fence.quoted else bare
        closes = len(mark) >= fence.length and not mark.strip(fence.marker)
        if closes and (fence.quoted or indent < fence.indent + _CODE_INDENT):
            self._close_fence(fence, index + 1)
        return True

    def _close_fence(self, fence: _Fence, end: int) -> None:
        self._fences.append((fence.start, end))
        self._fence = None

    def _read_html(self, bare: str, ending: str) -> None:
        if ending.lower() in bare.lower() if ending else not bare.strip():
            self._html_end = None

    def _read_text(self, index: int, contained: bool = False) -> None:
        if self._run is None:
            self._run = index
        if contained or self._item:
            self._paragraph = None
        elif self._blank:  # Otherwise it goes on, be it in a paragraph or, lazily, in a quote or list item.
            self._paragraph = index
        self._blank = False

    def _end_block(self, index: int) -> None:
        if self._run is not None:
            self._prose.append((self._run, index))
            self._run = None
        self._paragraph = None
        self._blank = True

    def _read_marked(self, index: int, row: str, bare: str) -> None:
        indent = _columns(row)
        if indent < self._item and self._blank and not _LIST_ITEM.match(bare):
            self._item = 0
        if indent >= _CODE_INDENT and not self._item and self._blank:
            return  # Indented code. No block is open, so its next line is looked at in the same way.
        nested = 0 < self._item <= indent
        if not nested and indent < _CODE_INDENT and (self._read_heading(index, bare) or self._read_rule(index, bare)):
            return
        if self._open_fence(index, bare, indent, nested) or (not nested and self._open_html(index, bare)):
            return
        if not self._open_item(index, bare, indent, nested):
            self._read_text(index, contained=nested or bare[0] == ">")

    def _read_heading(self, index: int, bare: str) -> bool:
        if match := _ATX.match(bare):
            self._end_block(index)
            self._item = 0
            self._add_heading(index, index + 1, len(match[1]), _without_closing_marks(match[2] or ""))
            return True
        if bare[0] in "=-" and self._paragraph is not None and not bare.rstrip().strip(bare[0]):
            start, self._run = self._paragraph, None
            self._end_block(index)
            self._add_heading(start, index + 1, 1 if bare[0] == "=" else 2, " ".join(self._rows[start:index]))
            return True
        return False

    def _add_heading(self, line: int, body: int, level: int, title: str) -> None:
        self._prose.append((line, body))
        self._headings.append(Heading(line, body, level, plain_title(title)))

    def _read_rule(self, index: int, bare: str) -> bool:
        if bare[0] not in "-*_" or len(bare) < 3 or bare.replace(" ", "").replace("\t", "").strip(bare[0]):
            return False
        self._end_block(index)
        self._item = 0
        return True

    def _open_fence(self, index: int, bare: str, indent: int, nested: bool) -> bool:
        quoted = bare[0] == ">"
        inner = bare.lstrip("> \t") if quoted else bare
        item = _LIST_ITEM.match(inner)
        match = _FENCE.match(inner, item.end() if item else 0)
        if match is None or (indent >= _CODE_INDENT and not nested):
            return False
        self._end_block(index)
        if not nested:
            self._item = indent + item.end() if item and not quoted else 0
        mark = match[1] or match[2]
        self._fence = _Fence(index, mark[0], len(mark), 0 if quoted else self._item, quoted)
        return True

    def _open_html(self, index: int, bare: str) -> bool:
        ending = self._html_ending(bare)
        if ending is None:
            return False
        self._end_block(index)
        self._html_end = ending
        self._read_html(bare[1:], ending)
        return True

    def _html_ending(self, bare: str) -> str | None:
        """Return what ends the HTML block that the line opens, None when it opens none."""
        for opening, ending in _DECLARATIONS:
            if bare.startswith(opening):
                return ending
        tag = _TAG_NAME.match(bare)
        name = tag[1].lower() if tag else ""
        if name in _RAW_TAGS and bare[1] != "/":
            return f"</{name}>"
        if name in _BLOCK_TAGS or (self._blank and _LONE_TAG.match(bare)):
            return _UNTIL_BLANK
        return None

    def _open_item(self, index: int, bare: str, indent: int, nested: bool) -> bool:
        match = _LIST_ITEM.match(bare)
        if match is None or (indent >= _CODE_INDENT and not nested):
            return False
        if self._paragraph is not None and (match[1] is None or (bare[0].isdigit() and not bare.startswith("1"))):
            return False  # Neither an empty item nor a number other than 1 interrupts a paragraph.
        self._end_block(index)
        self._run = index
        self._blank = _ATX.match(bare, match.end()) is not None  # Nothing goes on lazily after a heading.
        if not nested:
            self._item = indent + (match.end() if match.end(1) - match.start(1) <= _CODE_INDENT else match.start(1) + 1)
        return True


def plain_title(title: str) -> str:
    """Return the text of a heading without its markup."""
    title = title.strip()[:_TITLE_LIMIT]
    for pattern, replacement in _MARKUP:
        title = pattern.sub(replacement, title)
    return " ".join(title.split())


_TITLE_LIMIT = 300  # characters; the rest of a very long line is not a title.
_MARKUP = (
    (re.compile(r"\{#[^{}]*\}$"), ""),  # {#anchor}
    (re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?"), r"\1"),  # links and images: their text
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"[`*]+|~~|\\(?=[!-/:-@\[-`{-~])"), ""),  # Underscores stay: they are part of names.
)


def _without_closing_marks(title: str) -> str:
    bare = title.rstrip()
    inner = bare.rstrip("#")
    return inner if inner[-1:] in {"", " ", "\t"} else bare


def _columns(row: str) -> int:
    """Return the width of the indentation; a tab reaches to the next multiple of four."""
    width = len(row) - len(row.lstrip(" \t"))
    return len(row[:width].expandtabs(_CODE_INDENT))
