"""Finds every occurrence of a needle by reading the files: the answer is complete, that of a search is ranked.

A file that contains a secret, or may contain one, is passed as masked text, and what is remembered of it comes from
that text. So neither a count nor the time of an answer depends on what is masked.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol

from graphrag_mcp.grep.needles import Needle, Required
from graphrag_mcp.model.files import Category, Symbol
from graphrag_mcp.model.scope import Scope

MAX_LINES = 10_000  # Kept for one answer; the totals count all.


class ReadFile(NamedTuple):
    """A file as it is now. searched: the UTF-8 of its text without secrets; None if it cannot be read as text."""

    path: str
    searched: bytes | None

    @property
    def text(self) -> str:
        """The text that is searched."""
        return (self.searched or b"").decode()


class ListedFile(Protocol):
    """A file of the index."""

    @property
    def file_id(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def category(self) -> Category: ...
    @property
    def language(self) -> str: ...


class Files(Protocol):
    """The indexed files as they are on disk now."""

    def listed(self, scope: Scope) -> Sequence[ListedFile]:
        """Return the files of a scope in the order of their paths."""
        ...

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        """Return the definitions of files by file id, in the order of their lines."""
        ...

    def read(self, paths: Sequence[str], required: Required = ()) -> Iterator[ReadFile]:
        """Yield the current contents of files, in their order, without those that lack something which is required."""
        ...


class Occurrence(NamedTuple):
    """One line that contains the needle. column: of the first occurrence, from 0."""

    path: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Occurrences:
    """All lines with the needle in the files that were searched, in the order of the files.

    total: of lines. unread: indexed files that cannot be read now, so that their contents are unknown.
    """

    lines: tuple[Occurrence, ...]
    total: int
    files: int
    files_searched: int
    unread: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether some lines were only counted."""
        return len(self.lines) < self.total


def find_occurrences(needle: Needle, paths: Sequence[str], files: Files) -> Occurrences:
    """Find a needle in files, line by line."""
    lines: list[Occurrence] = []
    unread: list[str] = []
    total = found_files = 0
    for path, data in files.read(paths, needle.required):
        if data is None:
            unread.append(path)
            continue
        offsets = needle.lines(data)
        found = list(islice(_rows(path, data, offsets), MAX_LINES - len(lines)))
        count = len(found) + sum(1 for _ in offsets)
        lines += found
        total += count
        found_files += count > 0
    searched = len(paths) - len(unread)
    return Occurrences(tuple(lines), total, found_files, searched, tuple(unread))


def _rows(path: str, data: bytes, offsets: Iterable[int]) -> Iterator[Occurrence]:
    """Yield the lines at these offsets, each of another line, in ascending order."""
    number, end = 1, 0
    for offset in offsets:
        begin = data.rfind(b"\n", 0, offset) + 1
        number += data.count(b"\n", end, begin)
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        yield Occurrence(path, number, len(data[begin:offset].decode()), data[begin:end].decode())
