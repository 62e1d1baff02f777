"""Every place where a text stands, by reading the files themselves: complete, where a search is ranked.

There are two steps. First the bytes of a file tell whether it can hold the text at all: most files cannot, and need not
be decoded. Then the text is searched. A file that holds a secret, or may hold one, comes as masked text and skips the
first step: its bytes decide nothing, so neither a count nor the time of an answer depends on what is masked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from graphrag_mcp.text.source import WIDE_MARKS, NotText, decode

MAX_LINES = 10_000  # Kept of one question; the totals go on.


class Content(NamedTuple):
    """A file as it is now.

    held: the bytes of a file that is known to hold no secret, the masked text of any other; None: it cannot be read.
    """

    path: str
    held: bytes | str | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One line that holds the text: at which column (from 0) it does first, and how often."""

    path: str
    line: int
    column: int
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Occurrences:
    """All occurrences in the files that were read, in the order of path and line.

    unread: files that are indexed and cannot be read now, so that nobody can say what is in them.
    """

    lines: tuple[Occurrence, ...]
    total: int
    files: int
    files_read: int
    unread: tuple[str, ...] = ()
    is_cut: bool = False


class Needle:
    """A literal text to look for.

    whole_word: where it begins or ends with a letter, digit or underscore, no other may stand beside it.
    """

    def __init__(self, text: str, *, whole_word: bool, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._pattern = _pattern(text, whole_word, re.IGNORECASE if ignore_case else 0)
        self._lower = _pattern(text.lower(), whole_word, 0) if ignore_case and text.isascii() else None
        self._probe = _probe(text, ignore_case)

    def is_absent(self, data: bytes) -> bool:
        """Tell whether the bytes of a text rule the needle out; False where only the text can tell."""
        if self._ignore_case:
            return data.isascii() and self._probe not in data.lower()
        return self._probe not in data and not data.startswith(WIDE_MARKS)

    def starts(self, text: str) -> list[int]:
        """Return where it begins in a text."""
        if self._lower is not None and text.isascii():  # Several times as fast as a search in any case.
            return [found.start() for found in self._lower.finditer(text.lower())]
        return [found.start() for found in self._pattern.finditer(text)]


def find_occurrences(needle: Needle, contents: Iterable[Content]) -> Occurrences:
    """Find a literal text in files, line by line."""
    lines: list[Occurrence] = []
    unread: list[str] = []
    total = files = files_read = 0
    for content in contents:
        text = _searched_text(content.held, needle)
        if text is None:
            unread.append(content.path)
            continue
        files_read += 1
        if text and (starts := needle.starts(text)):
            files += 1
            total += len(starts)
            lines += islice(_lines(content.path, text, starts), MAX_LINES - len(lines))
    is_cut = len(lines) >= MAX_LINES
    return Occurrences(tuple(lines), total, files, files_read, tuple(unread), is_cut)


def _searched_text(held: bytes | str | None, needle: Needle) -> str | None:
    """Return the text to search, "" when the bytes rule the needle out, None when there is no text."""
    if not isinstance(held, bytes):
        return held
    if needle.is_absent(held):
        return ""
    text = decode(held)
    return None if isinstance(text, NotText) else text.text


def _pattern(text: str, whole_word: bool, flags: int) -> re.Pattern[str]:
    literal = re.escape(text)
    pattern = literal
    if whole_word and re.match(r"\w", text):  # Behind the literal: in front of it, it would be tried at each character.
        pattern += rf"(?<!\w{literal})"
    if whole_word and re.search(r"\w\Z", text):
        pattern += r"(?!\w)"
    return re.compile(pattern, flags)


def _probe(text: str, ignore_case: bool) -> bytes:
    """Return what each file in UTF-8 that holds the text holds too: a part of one line, since line ends differ.

    A sign for what could not be decoded stands for any bytes. In any case, a letter that is not ASCII may stand for one
    that is, such as the sign of Kelvin for "k": then only ASCII parts count, in files that are ASCII.
    """
    parts = re.split(r"[^\x00-\x7f]+|\n" if ignore_case else "\ufffd|\n", text)
    probe = max(parts, key=len).encode("utf-8", "surrogatepass")
    return probe.lower() if ignore_case else probe


def _lines(path: str, content: str, starts: Sequence[int]) -> Iterator[Occurrence]:
    """Yield the lines that hold the text; starts: where it begins, at least once, in ascending order."""
    number, end, next_one = 1, 0, 0
    while next_one < len(starts):
        first = starts[next_one]
        begin = content.rfind("\n", 0, first) + 1
        number += content.count("\n", end, begin)
        end = content.find("\n", first)
        end = len(content) if end < 0 else end
        one = next_one
        while next_one < len(starts) and starts[next_one] <= end:
            next_one += 1
        yield Occurrence(path, number, first - begin, content[begin:end], next_one - one)
