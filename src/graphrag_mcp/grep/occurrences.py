"""Finds every occurrence of a text by reading the files: the answer is complete, that of a search is ranked.

There are two steps. First the bytes of a file show whether it can contain the text at all: most files cannot, and need
not be decoded. Then the text is searched. A file that contains a secret, or may contain one, is passed as masked text
and skips the first step, so neither a count nor the time of an answer depends on what is masked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from graphrag_mcp.text.source import WIDE_MARKS, NotText, decode

MAX_LINES = 10_000  # Kept for one answer; the totals count all.


class ReadFile(NamedTuple):
    """A file as it is now.

    held: the bytes of a file without secrets, the masked text of any other; None if it cannot be read.
    """

    path: str
    held: bytes | str | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One line that contains the text. column: of the first occurrence, from 0. count: of occurrences on the line."""

    path: str
    line: int
    column: int
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Occurrences:
    """All occurrences in the files that were read, in the order of path and line.

    unread: indexed files that cannot be read now, so that their contents are unknown.
    """

    lines: tuple[Occurrence, ...]
    total: int
    files: int
    files_read: int
    unread: tuple[str, ...] = ()
    is_cut: bool = False


class Needle:
    """A literal text to look for.

    whole_word: at an end that is a letter, digit or underscore, no other of these may be adjacent.
    """

    def __init__(self, text: str, *, whole_word: bool, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._pattern = _pattern(text, whole_word, re.IGNORECASE if ignore_case else 0)
        self._lower = _pattern(text.lower(), whole_word, 0) if ignore_case and text.isascii() else None
        self._probe = _probe(text, ignore_case)

    def is_absent(self, data: bytes) -> bool:
        """Return whether the bytes of a file rule the needle out; False where the text must be searched."""
        if self._ignore_case:
            return data.isascii() and self._probe not in data.lower()
        return self._probe not in data and not data.startswith(WIDE_MARKS)

    def starts(self, text: str) -> list[int]:
        """Return the offsets where the needle begins in a text."""
        if self._lower is not None and text.isascii():  # Several times as fast as a case-insensitive pattern.
            return [found.start() for found in self._lower.finditer(text.lower())]
        return [found.start() for found in self._pattern.finditer(text)]


def find_occurrences(needle: Needle, contents: Iterable[ReadFile]) -> Occurrences:
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
    """Return the text to search, "" when the bytes rule the needle out, None if it cannot be read as text."""
    if not isinstance(held, bytes):
        return held
    if needle.is_absent(held):
        return ""
    text = decode(held)
    return None if isinstance(text, NotText) else text.text


def _pattern(text: str, whole_word: bool, flags: int) -> re.Pattern[str]:
    literal = re.escape(text)
    pattern = literal
    if whole_word and re.match(r"\w", text):  # After the literal: before it, the check would run at each character.
        pattern += rf"(?<!\w{literal})"
    if whole_word and re.search(r"\w\Z", text):
        pattern += r"(?!\w)"
    return re.compile(pattern, flags)


def _probe(text: str, ignore_case: bool) -> bytes:
    """Return bytes that each UTF-8 file with the text contains: a part of one line, since line ends differ.

    A replacement character may stand for any bytes. When case is ignored, a letter outside ASCII may match one inside
    it, such as the Kelvin sign and "k": then only ASCII parts count, in files that are ASCII.
    """
    parts = re.split(r"[^\x00-\x7f]+|\n" if ignore_case else "\ufffd|\n", text)
    probe = max(parts, key=len).encode("utf-8", "surrogatepass")
    return probe.lower() if ignore_case else probe


def _lines(path: str, content: str, starts: Sequence[int]) -> Iterator[Occurrence]:
    """Yield the lines that contain the text; starts: its offsets, at least one, in ascending order."""
    number, end, upcoming = 1, 0, 0
    while upcoming < len(starts):
        first = starts[upcoming]
        begin = content.rfind("\n", 0, first) + 1
        number += content.count("\n", end, begin)
        end = content.find("\n", first)
        end = len(content) if end < 0 else end
        done = upcoming
        while upcoming < len(starts) and starts[upcoming] <= end:
            upcoming += 1
        yield Occurrence(path, number, first - begin, content[begin:end], upcoming - done)
