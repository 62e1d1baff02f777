"""Finds what is near to a text that occurs nowhere: its parts, and the other spellings of a name.

A message is copied with its values filled in, and code may have it in pieces: most of its words stand together on the
lines that compose it. The name of a setting may be made of a prefix and the rest.
"""

import re
from collections.abc import Iterator, Sequence

from graphrag_mcp.errors import RequestError
from graphrag_mcp.grep.needles import Needle, create_needle
from graphrag_mcp.grep.occurrences import Files, Occurrence, find_occurrences
from graphrag_mcp.model.graph import Line
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.search import Case
from graphrag_mcp.text.words import is_telling

MOST_CHARACTERS = 300  # A longer text is code, of which any line may be a part.
MOST_WORDS = 30
FEWEST_WORDS = 3
LEAST_PART = 2  # Words: a single word does not identify a message.
LEAST_TELLING = 2  # Words of a part that are not question words: "is not a" is everywhere.
MOST_LINES = 20  # Lines with a part; one that is on more tells nothing.
_WORD = re.compile(r"\S+")
_NAME = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+){2,}")
_VALUE = re.compile(r"\d|^[\"'`(\[]|[\"'`)\]][.,:;]?$|\w[/\\]|[/\\]\w")  # A word of a message that is a value.
_PART = re.compile(r"[A-Za-z0-9]+")
LEAST_LETTERS = 6  # All words together have as many; shorter ones have other meanings.


def find_fragments(text: str, paths: Sequence[str], files: Files, case: Case) -> tuple[Occurrence, ...]:
    """Return the lines with a long part of a text, those with most of it first; none if such parts are frequent.

    The parts are runs of its words, all of one length: two thirds of those tried before, until one occurs.
    """
    is_name = _NAME.fullmatch(text) is not None
    words = list((_PART if is_name else _WORD).finditer(text))
    whole = r"\b%s\b" if is_name else "%s"
    if "\n" in text or len(text) > MOST_CHARACTERS or not FEWEST_WORDS <= len(words) <= MOST_WORDS:
        return ()
    template = None if is_name else _template_of([word[0] for word in words], case)
    if template is not None and 0 < (found := find_occurrences(template, paths, files, MOST_LINES)).total <= MOST_LINES:
        return found.lines
    for size in _sizes(len(words)):
        runs = (words[start : start + size] for start in range(len(words) - size + 1))
        telling = [run for run in runs if sum(map(is_telling, (word[0] for word in run))) >= LEAST_TELLING]
        parts = [whole % re.escape(text[run[0].start() : run[-1].end()]) for run in telling]
        needle = _needle_of(parts, case) if parts else None
        if needle is None:
            continue
        found = find_occurrences(needle, paths, files, MOST_LINES)
        if found.total:
            lines = found.lines if found.total <= MOST_LINES else ()
            return tuple(sorted(lines, key=lambda line: -_shared(_near(line).lower(), text.lower(), words)))
    return ()


def _template_of(words: Sequence[str], case: Case) -> Needle | None:
    """Return what finds a message with other values in the places of its numbers, quotes and paths; None without any.

    "Skipped 3 files" is `f"Skipped {count} files"`; what stands before a value, and at the end, may be in the singular.
    """
    runs: list[list[str]] = [[]]
    for word in words:
        if _VALUE.search(word):
            runs.append([])
        else:
            runs[-1].append(word)
    fixed = [run for run in runs if run]
    if len(runs) == 1 or sum(is_telling(word.strip(".,:;!?")) for run in fixed for word in run) < LEAST_TELLING:
        return None
    parts = [r"\b" * run[0][0].isalnum() + re.escape(" ".join(run).removesuffix("s")) for run in fixed]
    return _needle_of([".*".join(parts)], case)


def _needle_of(parts: Sequence[str], case: Case) -> Needle | None:
    """Return what finds any of some parts; None where they make too large a pattern: fewer words make a smaller one."""
    try:
        return create_needle("|".join(parts), regex=True, case=case)
    except RequestError:
        return None


def _near(line: Occurrence) -> str:
    """Return what of a line is around its part; the lines of generated code are long."""
    return line.text[max(0, line.column - MOST_CHARACTERS) : line.column + 2 * MOST_CHARACTERS]


def _shared(line: str, text: str, words: Sequence[re.Match[str]]) -> int:
    """Return how many characters of a text are in runs of its words that a line has, from the left."""
    shared = first = 0
    while first < len(words):
        ends = range(len(words), first + LEAST_PART - 1, -1)
        begin = words[first].start()
        last = next((end for end in ends if text[begin : words[end - 1].end()] in line), first)
        shared += words[last - 1].end() - begin if last > first else 0
        first = max(last, first + 1)
    return shared


def _sizes(words: int) -> Iterator[int]:
    """Yield the lengths of the parts to try, the longest first."""
    size = words - 1
    while size > FEWEST_WORDS:
        yield size
        size = max(FEWEST_WORDS, size * 2 // 3)
    yield min(FEWEST_WORDS, max(words - 1, LEAST_PART))


MOST_SPELLED = 30  # With a spelling; one that is on more needs no hint.
_SPELLED_NAME = re.compile(r"-{0,2}[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*")
_SPELLED_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


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
    return {spelling: tuple(found) for spelling, found in lines.items() if len(found) <= MOST_SPELLED}


def _other_spellings(text: str) -> list[str]:
    name = text.lstrip("-")
    words = [word.lower() for word in _SPELLED_WORD.findall(name)] if _SPELLED_NAME.fullmatch(text) else []
    if len(words) < 2 or sum(map(len, words)) < LEAST_LETTERS:
        return []
    titled = "".join(word.capitalize() for word in words)
    lower = (*(mark.join(words) for mark in "-_"), words[0] + titled[len(words[0]) :])
    spellings = (*lower, titled, lower[1].upper())
    return [spelling for spelling in spellings if spelling.lower() != name.lower()]
