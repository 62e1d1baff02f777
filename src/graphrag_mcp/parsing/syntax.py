"""Turns text into a syntax tree within a time limit, and into the places where a tree may be cut."""

import re
import time
from bisect import bisect_right

from tree_sitter import Language, Node, Parser, Point, Tree

PARSE_SECONDS = 2.0  # K-24: what takes longer is not source code that a person wrote.
_BLOCK_BYTES = 2048  # The parser copies a block for each name that a query compares, so blocks are small.
# The query engine takes time quadratic in a run of brackets, and there is nothing to find in one.
_BRACKETS = re.compile(rb"[^\w]{20000}")


class SyntaxTimeoutError(Exception):
    """The tree was not ready within the time limit, or would never be searched in time."""


def parse_tree(language: Language, source: bytes, seconds: float = PARSE_SECONDS) -> Tree:
    """Return the tree of UTF-8 text; errors in the text are nodes of it.

    Raises SyntaxTimeoutError after `seconds` of wall-clock time.
    """
    if _BRACKETS.search(source):
        raise SyntaxTimeoutError("tens of thousands of brackets in a row")
    deadline = time.monotonic() + seconds

    def read(offset: int, _point: Point) -> bytes:
        return source[offset : offset + _BLOCK_BYTES]

    def is_late(_offset: int, _has_error: bool) -> bool:
        return time.monotonic() > deadline

    try:
        return Parser(language).parse(read, progress_callback=is_late)
    except ValueError as error:
        raise SyntaxTimeoutError(f"not parsed within {seconds:g} seconds") from error


def line_starts(source: bytes) -> list[int]:
    """Return the byte offset of every line."""
    starts = [0]
    find, offset = source.find, source.find(b"\n")
    while offset >= 0:
        starts.append(offset + 1)
        offset = find(b"\n", offset + 1)
    return starts


def statement_rows(tree: Tree, starts: list[int], large_bytes: int) -> dict[int, int]:
    """Return the rows on which a statement, member or item begins, each with its depth below the root.

    Only nodes of more than `large_bytes` are looked into, since nothing smaller will have to be cut. A comment and the
    node below it are one.
    """
    rows: dict[int, int] = {}
    level, depth = [tree.root_node], 0
    while level:
        inner: list[Node] = []
        for node in level:
            last_row, comment_row = -1, -1
            for child in node.children:
                start, end = child.start_byte, child.end_byte
                row = bisect_right(starts, start) - 1
                if row > last_row and row != comment_row:
                    rows.setdefault(row, depth)
                last_row = max(last_row, bisect_right(starts, max(start, end - 1)) - 1)
                comment_row = last_row + 1 if child.is_extra else -1
                if end - start > large_bytes:
                    inner.append(child)
        level, depth = inner, depth + 1
    return rows
