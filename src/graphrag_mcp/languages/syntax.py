"""Parses source code to a syntax tree within a limit of steps, and lists the rows at which it may be cut."""

import re
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tree_sitter import Language, Node, Parser, Point, Range, Tree

from graphrag_mcp.languages.repairs import Repair, errors
from graphrag_mcp.text.counts import counted

# A step is a hundred operations of the parser: a megabyte of hand-written code takes 10,000. Steps are counted and not
# seconds, so that a busy machine stores what a quiet one does.
MOST_STEPS = 100_000
_BYTES_OF_A_STEP = 10  # All parts of a file together take no more steps than a file may.
_MOST_AROUND = 50  # Nodes around one in a part, on average: a file may have thousands of parts.
_MOST_READINGS = 100  # How often a block may be read; hand-written code is read three to six times.
_FEW_BLOCKS = 200  # A small file may have all of them read more often.
_BLOCK_BYTES = 2048  # The parser copies a block for each name that a query compares, so blocks are small.
# A query takes quadratic time on a run of brackets.
_BRACKETS = re.compile(rb"[^\w\x80-\xff]{20000}")
# Pairs of a node and one around it: the cost of a query, up to 0.25 µs a pair, since a pattern stays open in every node
# around. Hand-written code has one or two million, generated sums fifteen.
_MOST_PAIRS = 20_000_000
_MOST_REPAIRS = 2  # What was within the reach of one fault is repaired the second time.
_AS_LETTERS = bytes(range(0x80)) + b"x" * 0x80  # Byte for byte, so that the offsets stay the same.


class _Kept(threading.local):
    """The buffer that this thread gives to every parser, since tree-sitter 0.26 never releases it."""

    def __init__(self) -> None:
        self.block = bytearray()


_KEPT = _Kept()


class SyntaxTimeoutError(Exception):
    """Parsing exceeded the limit of steps, or queries on the tree would take too long."""


class SourceCode:
    """The text of a file for the parser: UTF-8, addressed by byte offsets, with 0-based rows."""

    __slots__ = ("data", "starts")

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", errors="replace")
        self.starts = [0, *(match.end() for match in re.finditer(b"\n", self.data))]

    def row(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def text(self, start: int, end: int) -> str:
        """Return the text from one byte offset to another."""
        return self.data[start:end].decode("utf-8", errors="replace")

    def node_text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def trimmed_end(self, start: int, end: int) -> int:
        """Return the end of a node's text, without the line break or blank lines that some grammars include."""
        while end > start + 1 and self.data[end - 1] in b" \t\n":
            end -= 1
        return end


def parse_tree(
    language: Language,
    code: SourceCode,
    steps: int = MOST_STEPS,
    *,
    ascii_only: bool = False,
    repairs: Sequence[Repair] = (),
) -> Tree:
    """Return the tree of the code; errors in the code are nodes of it.

    ascii_only: replace all other characters by letters. repairs: changes of what the grammar cannot read; one is kept
    if it leaves fewer errors. Raises SyntaxTimeoutError after a limit of steps.
    """
    data = code.data.translate(_AS_LETTERS) if ascii_only else code.data
    if _BRACKETS.search(data):
        raise SyntaxTimeoutError("tens of thousands of brackets in a row")
    tree = _parse(language, data, steps)
    if _is_too_deep(tree.root_node):
        raise SyntaxTimeoutError("nested too deeply")
    for repair in repairs:
        for _ in range(_MOST_REPAIRS):
            changed = repair.change(data, tree.root_node)
            repaired = _parse(language, changed, steps) if changed != data else tree
            if repaired is tree or _error_bytes(repaired) >= _error_bytes(tree) + repair.is_sure:
                break
            data, tree = changed, repaired
    return tree


def parse_range(language: Language, code: SourceCode, part: Node) -> Tree | None:
    """Return the tree of a part that the grammar reads as a text, or None where that takes too long."""
    try:
        steps = 20 + (part.end_byte - part.start_byte) // _BYTES_OF_A_STEP
        tree = _parse(language, code.data, steps, part.range)
    except SyntaxTimeoutError:
        return None
    root = tree.root_node
    return None if _is_too_deep(root, _MOST_AROUND * root.descendant_count) else tree


def _parse(language: Language, data: bytes, steps: int, part: Range | None = None) -> Tree:
    block = _KEPT.block
    is_parsed = False
    left = steps
    blocks = _MOST_READINGS * (len(data) // _BLOCK_BYTES + _FEW_BLOCKS)

    def read(offset: int, _point: Point) -> bytes | bytearray:
        nonlocal blocks
        chunk = data[offset : offset + _BLOCK_BYTES]
        if is_parsed:  # A query reads the text of nodes.
            return chunk
        blocks -= 1
        if blocks < 0:  # A step may read to the end: of 10,000 comments that nothing closes, each one does.
            return b""
        block[:] = chunk
        return block

    def is_late(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0 or blocks < 0

    try:
        parser = Parser(language)
        if part is not None:
            parser.included_ranges = [part]
        tree = parser.parse(read, progress_callback=is_late)
    except ValueError as error:
        raise SyntaxTimeoutError(f"not parsed within {counted(steps, 'step')}") from error
    if blocks < 0:  # The last steps are not counted.
        raise SyntaxTimeoutError("read too often by the parser")
    is_parsed = True
    return tree


def node_around(node: Node) -> Node:
    """Return the node around one; for the root of a tree, itself."""
    return node.parent or node


def outwards(node: Node | None) -> Iterator[Node]:
    """Yield a node, then each one around it."""
    while node is not None:
        yield node
        node = node.parent


def is_partly_read(tree: Tree) -> bool:
    """Return whether some of the code is in no node but an error; a missing semicolon hides nothing."""
    return any(node.is_error for node, _ in errors(tree.root_node))


def _error_bytes(tree: Tree) -> int:
    """Return how much of the code is in errors; what is missing counts as one."""
    return sum(node.end_byte - node.start_byte + 1 for node, _ in errors(tree.root_node))


def _is_too_deep(root: Node, most: int = _MOST_PAIRS) -> bool:
    """Return whether a query would take seconds; small nodes are not visited. most: pairs."""
    small = most // root.descendant_count  # All nodes of this size together stay below the limit.
    pairs, level = 0, [root]
    while level and pairs <= most:
        pairs += sum(node.descendant_count for node in level)
        level = [child for node in level for child in node.children if child.descendant_count > small]
    return pairs > most


def statement_rows(tree: Tree, code: SourceCode, large_bytes: int) -> dict[int, int]:
    """Return the rows on which a statement, member or item begins, each with its depth below the root.

    Only nodes of more than `large_bytes` are visited, since smaller ones are not cut. A comment and the node below it
    count as one.
    """
    rows: dict[int, int] = {}
    level, depth = [tree.root_node], 0
    while level:
        inner: list[Node] = []
        for node in level:
            last_row, comment_row = -1, -1
            for child in node.children:
                start, end = child.start_byte, child.end_byte
                row = code.row(start)
                if row > last_row and row != comment_row and child.is_named:  # Not the `}` or `#endif` of another.
                    rows.setdefault(row, depth)
                last_row = max(last_row, code.row(max(start, end - 1)))
                comment_row = last_row + 1 if child.is_extra else -1
                if end - start > large_bytes:
                    inner.append(child)
        level, depth = inner, depth + 1
    return rows
