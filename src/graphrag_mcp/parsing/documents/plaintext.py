"""Finds the headings of reStructuredText and AsciiDoc; headings of other plain text cannot be recognised reliably."""

import re
from collections.abc import Sequence

from graphrag_mcp.parsing.documents.sections import Heading

_ADORNMENTS = frozenset("=-`:'\"~^_*+#<>.!$%&(),/;?@[\\]{|}")
_SHORTEST = 3  # Two characters may as well be an ellipsis or a dash.
_ASCIIDOC_TITLE = re.compile(r"(={1,6})[ \t]+(\S.*)$")
_ASCIIDOC_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})[ \t]*$")


def headings(suffix: str, rows: Sequence[str]) -> list[Heading]:
    """Return the headings of a text file by the suffix of its name."""
    if suffix in ("rst", "rest"):
        return _rst_headings(rows)
    if suffix in ("adoc", "asciidoc", "asc"):
        return _asciidoc_headings(rows)
    return []


def _rst_headings(rows: Sequence[str]) -> list[Heading]:
    """Return titles with an adornment below, or above and below; levels are numbered as the styles appear."""
    found: list[Heading] = []
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
            found.append(Heading(index - 2 if overlined else index - 1, index + 1, level, title.replace("``", "")))
    return found


def _adornment(row: str) -> str:
    """Return the repeated character of an adornment line, "" for any other line."""
    mark = row[:1]
    bare = row.rstrip()
    return mark if mark in _ADORNMENTS and len(bare) >= _SHORTEST and bare == mark * len(bare) else ""


def _asciidoc_headings(rows: Sequence[str]) -> list[Heading]:
    found: list[Heading] = []
    fence = ""
    for index, row in enumerate(rows):
        if match := _ASCIIDOC_FENCE.match(row):
            fence = match[1] if not fence else ("" if match[1] == fence else fence)
        elif not fence and row.startswith("=") and (match := _ASCIIDOC_TITLE.match(row)):
            found.append(Heading(index, index + 1, len(match[1]), match[2].strip()))
    return found
