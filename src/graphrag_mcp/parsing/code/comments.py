"""The comments, docstrings and annotations of a file, and which of them belong to a definition."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.languages.testing import TEST_MARK
from graphrag_mcp.parsing.code.names import last_name
from graphrag_mcp.parsing.outline import Comment

_COMMENT_MARKS = " \t/*#;!-{}|\"'<>=`"
_DOC_MARKS = ("@doc", "@typedoc", "@shortdoc")  # Elixir's docstrings are attributes above the definition.


class _Above(NamedTuple):
    """A comment or decorator on rows of its own, known by its last row."""

    first_row: int
    is_decorator: bool
    is_doc: bool  # Describes the next definition, even after a blank line.
    is_test: bool  # Makes the next definition a test.
    words: str


class Comments:
    """What a query found of the roles of comments, decorators, docstrings and marks."""

    def __init__(self, code: SourceCode) -> None:
        self._code = code
        self.all: list[Comment] = []
        self.docs: list[tuple[int, str]] = []  # start and words of a docstring
        self._above: dict[int, _Above] = {}  # by the last row
        self._marks: list[tuple[int, str]] = []  # start and text of what makes a test: `@Test`
        self._spans: list[tuple[int, int]] = []

    def add(self, role: str, captures: Captures) -> None:
        """Add a comment or a decorator."""
        node = captures[role][0]
        is_decorator = role != "comment"
        start, end = node.start_byte, self._code.trimmed_end(*node.byte_range)
        first, last = self._code.row(start), self._code.row(end - 1)
        words = "" if is_decorator else _words(self._code.text(start, end))
        if words:
            self.all.append(Comment(first, words))
        if not is_decorator:
            self._spans.append((start, end))
        if not self._code.data[self._code.starts[first] : start].strip():
            is_doc = self._code.data.startswith(b"/**", start)
            known = self._above.get(last)
            is_test = role == "decorator.test" or (known is not None and known.is_test)
            self._above[last] = _Above(first, is_decorator, is_doc, is_test, words)

    def add_doc(self, role: str, captures: Captures) -> None:
        """Add a docstring."""
        start, words = captures[role][0].start_byte, _words(self._code.node_text(captures[role][0]))
        self.docs.append((start, words))
        self.all.append(Comment(self._code.row(start), words))

    def add_mark(self, role: str, captures: Captures) -> None:
        """Add an annotation if it makes a function a test."""
        start, name = captures[role][0].start_byte, last_name(self._code.node_text(captures["name"][0]))
        if TEST_MARK.fullmatch(name):
            opening = self._code.text(start, start + 1)
            mark = f"@{name}" if opening == "@" else f"{'#' * (opening == '#')}[{name}]"
            self._marks.append((start, mark))

    def finish(self) -> None:
        """Put what was added in the order of the file."""
        self.docs.sort()
        self._marks.sort()
        self._spans.sort()

    def leave_out(self, rows: Iterable[int]) -> None:
        """Leave out what ends in rows in which a definition begins: it is of the definition beside it."""
        for row in rows:
            self._above.pop(row, None)

    def read_above(self, row: int) -> tuple[int, int, bool, str]:
        """Return the first row of the comments directly above a row, that of the decorators, and what they say.

        That is whether the decorators make a test of what is in the row, and the words of the comments.
        """
        first, is_test, words = row, False, []
        while above := self._above.get(row - 1) or self._doc_above_blank(row - 2):
            row, is_test = above.first_row, is_test or above.is_test
            if above.is_decorator:
                first = row
            elif above.words:
                words.append(above.words)
        return row, first, is_test, "\n".join(reversed(words))

    def _doc_above_blank(self, row: int) -> _Above | None:
        above, starts = self._above.get(row), self._code.starts
        if above is None or not above.is_doc or self._code.data[starts[row + 1] : starts[row + 2]].strip():
            return None
        return above

    def mark_between(self, start: int, end: int) -> str:
        """Return what makes a definition a test, "" for nothing. start, end: where it begins, and its name."""
        index = bisect_left(self._marks, (start, ""))
        return self._marks[index][1] if index < len(self._marks) and self._marks[index][0] < end else ""

    def text_without(self, start: int, end: int) -> str:
        """Return the text between two offsets without the comments that begin there."""
        parts, first = [], bisect_left(self._spans, (start, 0))
        for begin, stop in islice(self._spans, first, None):
            if begin >= end:
                break
            parts.append(self._code.text(start, begin))
            start = max(start, stop)
        return " ".join((*parts, self._code.text(start, max(start, end))))


def _words(comment: str) -> str:
    """Return a comment without its delimiters."""
    for mark in _DOC_MARKS:
        comment = comment.removeprefix(mark)
    lines = (line.strip(_COMMENT_MARKS) for line in comment.split("\n"))
    return "\n".join(line for line in lines if line)
