"""Every place where a text stands, by reading the files themselves: complete, where a search is ranked."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

MAX_LINES = 10_000  # Kept of one question; the totals go on.

ReadText = Callable[[str], str | None]


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


def find_occurrences(
    text: str, paths: Iterable[str], read: ReadText, *, whole_word: bool, ignore_case: bool
) -> Occurrences:
    """Find a literal text in files, line by line.

    whole_word: where it begins or ends with a letter, digit or underscore, no other may stand beside it.
    """
    pattern = _pattern(text, whole_word=whole_word, ignore_case=ignore_case)
    lines: list[Occurrence] = []
    unread: list[str] = []
    total = files = files_read = 0
    for path in paths:
        content = read(path)
        if content is None:
            unread.append(path)
            continue
        files_read += 1
        found = list(_lines(path, content, pattern))
        files += bool(found)
        total += sum(one.count for one in found)
        lines += found[: max(0, MAX_LINES - len(lines))]
    is_cut = len(lines) >= MAX_LINES
    return Occurrences(tuple(lines), total, files, files_read, tuple(unread), is_cut)


def _pattern(text: str, *, whole_word: bool, ignore_case: bool) -> re.Pattern[str]:
    literal = re.escape(text)
    if whole_word:
        before = r"(?<!\w)" if re.match(r"\w", text) else ""
        after = r"(?!\w)" if re.search(r"\w\Z", text) else ""
        literal = before + literal + after
    return re.compile(literal, re.IGNORECASE if ignore_case else 0)


def _lines(path: str, content: str, pattern: re.Pattern[str]) -> Iterator[Occurrence]:
    counts: dict[int, int] = {}
    line, position = 1, 0
    starts: dict[int, int] = {}
    for found in pattern.finditer(content):
        line += content.count("\n", position, found.start())
        position = found.start()
        counts[line] = counts.get(line, 0) + 1
        starts.setdefault(line, position)
    for number, count in counts.items():
        begin = content.rfind("\n", 0, starts[number]) + 1
        end = content.find("\n", starts[number])
        yield Occurrence(path, number, starts[number] - begin, content[begin : end if end >= 0 else None], count)
