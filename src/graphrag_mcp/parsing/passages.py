"""Cuts text without a grammar into passages of a suitable size for ranking and display."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

Passage = tuple[int, int]  # First line, and the line after the last one, from 0.

LIMIT = 1_500  # characters; about as much as the embedding model uses of a chunk.
TARGET = 900  # Neighbours are joined up to this size, so that one subject dominates the vector.
RUNT = 200  # A smaller passage is joined to its neighbour, up to the limit.
LINE_LIMIT = 4_000  # The rest of a longer line is left out.
_MAX_DEPTH = 12  # Indentation levels tried before a block is cut at any line.
_CLOSERS = frozenset("}])")


class Lines:
    """The lines of a text with their cumulative length, so that the size of a span is a subtraction."""

    __slots__ = ("_ends", "_text", "rows")

    def __init__(self, text: str) -> None:
        self._text = text
        self.rows = text.split("\n")
        self._ends = [0, *accumulate(len(row) + 1 for row in self.rows)]

    def __len__(self) -> int:
        return len(self.rows)

    def size(self, span: Passage) -> int:
        """Return the number of characters of the span, line ends included."""
        return self._ends[span[1]] - self._ends[span[0]]

    def text(self, span: Passage) -> str:
        """Return the lines of the span; what exceeds `LINE_LIMIT` in one line is left out."""
        start, end = span
        if self.size(span) <= LINE_LIMIT:
            return self._text[self._ends[start] : self._ends[end] - 1]
        return "\n".join(row[:LINE_LIMIT] for row in self.rows[start:end])

    def trim(self, span: Passage) -> Passage:
        """Return the span without blank lines at its ends; an empty span when all are blank."""
        start, end = span
        rows = self.rows
        while start < end and not rows[start].strip():
            start += 1
        while start < end and not rows[end - 1].strip():
            end -= 1
        return start, end

    def paragraphs(self, span: Passage, walls: Sequence[Passage] = ()) -> list[Passage]:
        """Return the runs of lines between blank ones; blank lines inside walls (sorted) do not separate."""
        spans: list[Passage] = []
        begun: int | None = None
        index, end = span
        place = bisect_left(walls, (index, index))
        while index < end:
            inside = place < len(walls) and walls[place][0] == index
            if not inside and not self.rows[index].strip():
                if begun is not None:
                    spans.append((begun, index))
                begun = None
            elif begun is None:
                begun = index
            index = walls[place][1] if inside else index + 1
            place += inside
        if begun is not None:
            spans.append((begun, end))
        return spans


def cut(lines: Lines, blocks: Sequence[Passage], target: int = TARGET) -> list[Passage]:
    """Return passages that cover the blocks: large blocks split, small neighbours joined up to `target` characters."""
    passages: list[Passage] = []
    for block in blocks:
        for piece in _split(lines, block, _MAX_DEPTH):
            if passages and _belong_together(lines, passages[-1], piece, target):
                passages[-1] = (passages[-1][0], piece[1])
            else:
                passages.append(piece)
    return [lines.trim(passage) for passage in passages]


def _belong_together(lines: Lines, before: Passage, after: Passage, target: int) -> bool:
    together = lines.size((before[0], after[1]))
    return together <= target or (together <= LIMIT and min(lines.size(before), lines.size(after)) < RUNT)


def _split(lines: Lines, block: Passage, depth: int) -> list[Passage]:
    """Cut a block over the limit before its least indented lines, and what is still too large one level deeper."""
    if lines.size(block) <= LIMIT or block[1] - block[0] == 1:
        return [block]
    heads = _shallowest(lines.rows, block) if depth else list(range(*block))
    if len(heads) == 1:  # A single key or item contains the rest: its first line belongs to the first piece.
        first, *rest = _split(lines, (block[0] + 1, block[1]), depth - 1)
        return [(block[0], first[1]), *rest]
    pieces = zip([block[0], *heads[1:]], [*heads[1:], block[1]], strict=True)
    return [small for piece in pieces for small in _split(lines, piece, depth - 1)]


def _shallowest(rows: Sequence[str], block: Passage) -> list[int]:
    """Return the least indented lines that can begin something."""
    bare = [(rows[index].lstrip(), index) for index in range(*block)]
    depths = [(len(rows[index]) - len(text), index) for text, index in bare if text and text[0] not in _CLOSERS]
    least = min(depths, default=(0, block[0]))[0]
    return [index for depth, index in depths if depth == least] or [block[0]]
