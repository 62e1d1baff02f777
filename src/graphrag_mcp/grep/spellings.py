"""Finds a name of several words in its other spellings: what `--max-line-length` sets is `max_line_length` in code."""

import re
from collections.abc import Sequence

from graphrag_mcp.grep.needles import create_needle
from graphrag_mcp.grep.occurrences import Files, find_occurrences
from graphrag_mcp.model.graph import Line
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.search import Case

MOST_LINES = 30  # With a spelling; one that is on more needs no hint.
LEAST_LETTERS = 6  # Of the words together; shorter ones have other meanings.
_NAME = re.compile(r"-{0,2}[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def find_spellings(text: str, paths: Sequence[str], files: Files) -> dict[str, tuple[Line, ...]]:
    """Return the other spellings of a name that are on few lines, with those lines in the order of the paths."""
    spellings = _other_spellings(text)
    if not spellings:
        return {}
    needle = create_needle("|".join(map(re.escape, spellings)), regex=True, whole_word=True, case=Case.SENSITIVE)
    lines = grouped(
        (next(spelling for spelling in spellings if row.text.startswith(spelling, row.column)), (row.path, row.line))
        for row in find_occurrences(needle, paths, files).lines
    )
    return {spelling: tuple(found) for spelling, found in lines.items() if len(found) <= MOST_LINES}


def _other_spellings(text: str) -> list[str]:
    name = text.lstrip("-")
    words = [word.lower() for word in _WORD.findall(name)] if _NAME.fullmatch(text) else []
    if len(words) < 2 or sum(map(len, words)) < LEAST_LETTERS:
        return []
    titled = "".join(word.capitalize() for word in words)
    lower = (*(mark.join(words) for mark in "-_"), words[0] + titled[len(words[0]) :])
    spellings = (*lower, titled, lower[1].upper())
    return [spelling for spelling in spellings if spelling.lower() != name.lower()]
