"""Finds every occurrence of a needle by reading the files: the answer is complete, that of a search is ranked.

A file that contains a secret, or may contain one, is passed as masked text, and what is remembered of it comes from
that text. So neither a count nor the time of an answer depends on what is masked.

What is remembered is not stored on disk. What is remembered of a file holds only while its size and time are those that
it had then.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from msgspec import Struct, field

from graphrag_mcp.grep.needles import Needle, Required
from graphrag_mcp.model.files import ListedFile, Symbol
from graphrag_mcp.model.graph import Line
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.shown import shown

if TYPE_CHECKING:  # It imports numpy, which a single question does not need.
    from graphrag_mcp.grep.signatures import Signatures

MAX_LINES = 10_000  # Among more lines, definitions are not looked for, so they are not first.
MAX_FILES = 400  # The same holds for more files.
HELD_BYTES = 64_000  # The lines of a larger file are taken at once, so that its text need not be held.


# A file is its path and the UTF-8 of its text without secrets as it is now, or None if it cannot be read as text.
ReadFile: TypeAlias = tuple[str, bytes | None]
KEPT_BYTES = 64_000_000  # A repository of 18,000 files has 18 MB of text in files with secrets.
PLAIN_BYTES = 32_000_000  # The rest is for files with secrets, since masking takes longer than all other steps.
PART = 400  # A plain text that takes more than this part of the room left is not kept, so that many small ones are.
# A stamp is the size and the times of a file: while they are the same, it was not written.
Stamp: TypeAlias = tuple[int, int, int]
stamp_of: Callable[[os.stat_result], Stamp] = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")


class Files(Protocol):
    """The indexed files as they are on disk now."""

    def listed(self, scope: Scope) -> Sequence[ListedFile]:
        """Return the files of a scope in the order of their paths."""

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        """Return the definitions of files by file id, in the order of their lines."""

    def read(self, paths: Sequence[str], required: Required = ()) -> Iterator[ReadFile]:
        """Yield the current contents of files, in their order, without those that lack a required text."""


def read_texts(files: Files, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the current texts of files, in their order; "" of one that cannot be read."""
    read = files.read(paths) if paths else ()
    yield from ((path, (data or b"").decode("utf-8", "replace")) for path, data in read)


class Occurrence(NamedTuple):
    """One line that contains the needle. column: of the first occurrence, from 0."""

    path: str
    line: int
    column: int
    text: str


@shown("files", "files_searched", "unread", "fragments", "in_other_case", "archived", "spelled_otherwise")
class Occurrences(Struct, frozen=True):
    """The lines with the needle in the files that were searched, in the order of the files.

    lines: the first of them; all of few files. total: of all lines. unread: indexed files that cannot be read now, so
    that their contents are unknown. fragments: lines with a part of a text that no code has as a whole.
    in_other_case: lines that have it in other letters of the same words; 0 where that was not looked for.
    archived: files that were left out since they are archived. constants: those that hold the text, with the places
    that read them, as `path:line`. spelled_otherwise: other spellings of the name, with their lines.
    """

    lines: tuple[Occurrence, ...]
    total: int
    files: int
    files_searched: int
    unread: tuple[str, ...] = ()
    fragments: tuple[Occurrence, ...] = ()
    in_other_case: int = 0
    archived: int = 0
    constants: tuple[tuple[str, tuple[str, ...]], ...] = ()
    spelled_otherwise: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)

    @property
    def are_few(self) -> bool:
        """Whether there are few enough lines, in few enough files, to have them all."""
        return _are_few(self.total, self.files)


def find_occurrences(needle: Needle, paths: Sequence[str], files: Files, wanted: int = 0) -> Occurrences:
    """Find a needle in files, line by line. wanted: lines that are needed however many there are."""
    rows_by_file: list[Iterable[Occurrence]] = []
    unread: list[str] = []
    total = found_files = 0
    for path, data in files.read(paths, needle.required):
        if data is None:
            unread.append(path)
            continue
        offsets = needle.lines(data)
        if offsets and (_are_few(total, found_files + 1) or total < wanted):
            rows = _rows(path, data, offsets[: max(wanted, MAX_LINES)])
            rows_by_file.append(rows if len(data) <= HELD_BYTES else list(rows))
        total += len(offsets)
        found_files += bool(offsets)
    lines = islice(chain.from_iterable(rows_by_file), None if _are_few(total, found_files) else wanted)
    return Occurrences(tuple(lines), total, found_files, len(paths) - len(unread), tuple(unread))


def _are_few(lines: int, files: int) -> bool:
    return lines <= MAX_LINES and files <= MAX_FILES


def _rows(path: str, data: bytes, offsets: Iterable[int]) -> Iterator[Occurrence]:
    """Yield the lines at these offsets, each of another line, in ascending order."""
    number, end = 1, 0
    for offset in offsets:
        begin = data.rfind(b"\n", 0, offset) + 1
        number += data.count(b"\n", end, begin)
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        yield Occurrence(path, number, len(data[begin:offset].decode()), data[begin:end].decode())


class Learnt(NamedTuple):
    """What is remembered of a file. is_plain: its bytes are searched as they are. text: what is searched, if kept.

    signature: of its trigrams; empty where no later question is expected.
    """

    stamp: Stamp
    is_plain: bool
    signature: bytes
    text: bytes | None


class LearntFiles:
    """What is remembered of files, by path; safe to use from several threads at once."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._learnt: dict[str, Learnt] = {}
        self._size = 0  # This is the size of the kept texts.
        self._signatures: Signatures[tuple[str, Stamp]] | None = None

    def get(self, path: str) -> Learnt | None:
        """Return what is remembered of a file."""
        return self._learnt.get(path)

    def learn(self, path: str, stamp: Stamp, searched: bytes, *, is_plain: bool, is_signed: bool = True) -> None:
        """Remember the text that was searched, if there is room; is_signed: and its trigrams in any case."""
        signature = b""
        if is_signed:
            from graphrag_mcp.grep.signatures import sign

            signature = sign(searched)
        most = PLAIN_BYTES if is_plain else KEPT_BYTES
        with self._guard:
            self._signatures = None
            old = self._learnt.get(path)
            self._size -= len(old.text or b"") if old else 0
            is_kept = len(searched) * (PART if is_plain else 1) <= most - self._size
            self._size += len(searched) if is_kept else 0
            self._learnt[path] = Learnt(stamp, is_plain, signature, searched if is_kept else None)

    def without(self, required: Required) -> Mapping[str, Stamp]:
        """Return the files that lack a required text, each with the stamp for which this holds."""
        if not required or not any(file.signature for file in self._learnt.values()):
            return {}
        from graphrag_mcp.grep.signatures import Signatures

        with self._guard:
            if self._signatures is None:
                signed = {(path, file.stamp): file.signature for path, file in self._learnt.items() if file.signature}
                self._signatures = Signatures(signed)
            signatures = self._signatures
        return dict(signatures.without(required))
