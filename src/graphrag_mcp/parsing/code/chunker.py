"""Cuts a parsed file into chunks along its definitions, and adds what the outline has about the rows of each.

The laws: chunks are in order, do not overlap, consist of whole lines, and cover every line that is not blank. Within
these: a function, a method or a small class is one chunk with the comments above it; a larger one is cut at its members
or between statements; small neighbours are joined, but never across the boundary of a class.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct, field

from graphrag_mcp.model.files import DECLARATIONS, IMPORTS, Chunk, SymbolKind
from graphrag_mcp.parsing.outline import Definition, Outline, around

MAX_CHARS = 1500
JOIN_CHARS = 900  # Small enough for two joined functions to have one subject.
_EARLIEST_CUT = 0.4  # of MAX_CHARS: the earliest cut, if a later one is worse.
_TINY_CHARS = 80  # A shorter span belongs to its neighbour.
_WORD = re.compile(r"\w")
_FILE = -1

StatementRows = Callable[[], Mapping[int, int]]
_KIND_NAMES: dict[SymbolKind | None, str] = {
    SymbolKind.FUNCTION: "function",
    SymbolKind.METHOD: "method",
    SymbolKind.FIELD: "members",
}


class ChunkRows(Struct, frozen=True):
    """The rows of one chunk (0-based, inclusive).

    container: index of the enclosing definition, -1 for none. shown: indexes of the definitions in it; the container
    itself for its header and for the parts of a large function.
    """

    first: int
    last: int
    container: int = _FILE
    shown: tuple[int, ...] = ()


def cut_spans(
    lines: Sequence[str], definitions: Sequence[Definition], statement_rows: StatementRows
) -> list[ChunkRows]:
    """Return the spans of a file's chunks.

    definitions: in order, each before what it contains. statement_rows: called at most once, to cut a definition
    without members; returns the rows on which a statement begins, each with its depth.
    """
    return _Cutter(lines, definitions, statement_rows).cut()


class _Cutter:
    def __init__(self, lines: Sequence[str], definitions: Sequence[Definition], statement_rows: StatementRows) -> None:
        self._lines = lines
        self._definitions = definitions
        self._ends = list(accumulate((len(line) + 1 for line in lines), initial=0))  # characters before each row
        self._statement_rows = statement_rows
        self._depths: Mapping[int, int] | None = None
        self._cuts: list[int] = []
        self._members: dict[int, list[int]] = {}
        for index, definition in enumerate(definitions):
            if definition.is_container or definition.is_callable:
                self._members.setdefault(definition.parent, []).append(index)

    def cut(self) -> list[ChunkRows]:
        spans: list[ChunkRows] = []
        todo = self._along_members(_FILE, 0, len(self._lines) - 1)
        while todo:  # A stack instead of recursion, since types may nest deeply.
            span = todo.pop()
            if self._is_large(span.first, span.last):
                if parts := self._apart(span):
                    todo += parts
                    continue
                for part in self._between_statements(span):
                    self._append(spans, part)
            else:
                self._append(spans, span)
        return spans

    # ------------------------------------------------------------ what is too large

    def _apart(self, span: ChunkRows) -> list[ChunkRows]:
        """Return the header and the members of a large type, last first; nothing for anything else."""
        index = span.shown[0] if len(span.shown) == 1 else span.container
        if index == span.container or index not in self._members or not self._definitions[index].is_container:
            return []
        return self._along_members(index, span.first, span.last)

    def _along_members(self, container: int, first: int, last: int) -> list[ChunkRows]:
        """Cut the rows of a container into its members and the rows between them; return them last first."""
        spans: list[ChunkRows] = []
        row = first
        for index in self._members.get(container, ()):
            member = self._definitions[index]
            lead, end = max(member.lead_row, first), min(member.last_row, last)
            if lead < row:  # Two on one line.
                before = spans[-1]
                row = max(row, end + 1)
                spans[-1] = ChunkRows(before.first, row - 1, container, (*before.shown, index))
                continue
            if lead > row:
                spans.append(self._between(container, row, lead - 1, is_header=row == first))
            spans.append(ChunkRows(lead, end, container, (index,)))
            row = end + 1
        if row <= last:
            spans.append(self._between(container, row, last, is_header=row == first))
        spans.reverse()
        return spans

    def _between(self, container: int, first: int, last: int, is_header: bool) -> ChunkRows:
        return ChunkRows(first, last, container, (container,) if is_header and container != _FILE else ())

    def _between_statements(self, span: ChunkRows) -> list[ChunkRows]:
        """Cut a definition without members into parts, each as large as possible."""
        container = span.shown[0] if len(span.shown) == 1 else span.container
        parts: list[ChunkRows] = []
        first = span.first
        while self._is_large(first, span.last):
            row = self._best_cut(first, span.last)
            parts.append(ChunkRows(first, row - 1, container, span.shown))
            first = row
        parts.append(ChunkRows(first, span.last, container, span.shown))
        return parts

    def _best_cut(self, first: int, last: int) -> int:
        """Return the row before which to cut: the outermost statement, after a blank line, as late as possible."""
        depths = self._statements()
        latest = min(bisect_right(self._ends, self._ends[first] + MAX_CHARS) - 1, last)
        if latest <= first:
            return first + 1
        earliest = max(first + 1, bisect_left(self._ends, self._ends[first] + int(MAX_CHARS * _EARLIEST_CUT)))
        rows = self._cuts[bisect_left(self._cuts, earliest) : bisect_right(self._cuts, latest)]
        if rows:
            return min(rows, key=lambda row: (depths[row], bool(self._lines[row - 1].strip()), -row))
        blank = (row for row in range(latest, earliest - 1, -1) if not self._lines[row - 1].strip())
        return next(blank, latest)

    def _statements(self) -> Mapping[int, int]:
        if self._depths is None:
            self._depths = self._statement_rows()
            self._cuts = sorted(self._depths)
        return self._depths

    # ------------------------------------------------------------ what is too small

    def _append(self, spans: list[ChunkRows], span: ChunkRows) -> None:
        rows = [row for row in range(span.first, span.last + 1) if self._lines[row].strip()]
        if not rows:
            return
        first, last = rows[0], rows[-1]
        if spans:
            before = spans[-1]
            if self._belong_together(before, span, last):
                above = before.shown if before.container == span.container else ()
                shown = tuple(dict.fromkeys(above + span.shown))
                spans[-1] = ChunkRows(before.first, last, span.container, shown)
                return
            if self._is_closing(first, last, span, before):
                spans[-1] = ChunkRows(before.first, last, before.container, before.shown)
                return
        spans.append(ChunkRows(first, last, span.container, span.shown))

    def _belong_together(self, before: ChunkRows, span: ChunkRows, last: int) -> bool:
        """Whether both are small and of one container, or the first is only a header such as `impl X {`."""
        size = self._ends[last + 1] - self._ends[before.first]
        if before.container == span.container and size <= JOIN_CHARS:
            return True
        if self._ends[before.last + 1] - self._ends[before.first] > _TINY_CHARS or size > MAX_CHARS + _TINY_CHARS:
            return False
        is_header = before.shown == (before.container,)
        is_inside = span.container != _FILE and self._definitions[span.container].parent == before.container
        return before.container == span.container or (is_header and is_inside)

    def _is_closing(self, first: int, last: int, span: ChunkRows, before: ChunkRows) -> bool:
        """Whether the rows end the previous definition, or have no words, or no statement (`#endif`)."""
        if self._ends[last + 1] - self._ends[first] > _TINY_CHARS:
            return False
        if not any(_WORD.search(line) for line in self._lines[first : last + 1]):
            return True
        if span.container == _FILE and not span.shown and self._begins_no_statement(first, last):
            return True
        is_rest = not span.shown or span.shown == before.shown
        return is_rest and span.container != _FILE and last == self._definitions[span.container].last_row

    def _begins_no_statement(self, first: int, last: int) -> bool:
        """Whether the rows only end what began above; never where no statement of the file is known."""
        begun = self._statements()
        return bool(begun) and begun.keys().isdisjoint(range(first, last + 1))

    def _is_large(self, first: int, last: int) -> bool:
        return first < last and self._ends[last + 1] - self._ends[first] > MAX_CHARS


def describe_chunks(lines: Sequence[str], outline: Outline, spans: Sequence[ChunkRows]) -> list[Chunk]:
    gathered = [_Gathered() for _ in spans]
    of_row: list[_Gathered] = []
    for span, into in zip(spans, gathered, strict=True):
        of_row += [into] * (span.last + 1 - len(of_row))
    for index, definition in enumerate(outline.definitions):
        of_row[definition.first_row].beginning.append(index)
    for comment in outline.comments:
        of_row[comment.row].comments.append(comment.text)
    for imported in outline.imports:
        of_row[imported.row].has_imports = True
    for reference in outline.references:
        if not reference.is_builtin and len(reference.name) > 1:  # Others are too common to mean anything.
            of_row[reference.row].has_references = True
    return [_describe(lines, outline.definitions, span, into) for span, into in zip(spans, gathered, strict=True)]


class _Gathered(Struct):
    """What is in the rows of one span."""

    beginning: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    has_imports: bool = False
    has_references: bool = False


def _describe(lines: Sequence[str], definitions: Sequence[Definition], span: ChunkRows, gathered: _Gathered) -> Chunk:
    main = _main(definitions, span, gathered)
    begins = span.first <= main.first_row <= span.last
    outer = main.parent if begins else span.container
    beginning = [definitions[index] for index in gathered.beginning]
    return Chunk(
        start_line=span.first + 1,
        end_line=span.last + 1,
        text="\n".join(lines[span.first : span.last + 1]),
        kind=_passive_kind(beginning, gathered) or _kind(main, span, begins),
        symbol=main.qualified_name,
        names=tuple(dict.fromkeys(definition.name for definition in beginning if definition.kind is not None)),
        enclosing=tuple(definition.name for _, definition in around(definitions, outer))[::-1],
        signature=main.signature,
        comments="\n".join(gathered.comments),
    )


_NONE = Definition(SymbolKind.CONSTANT, "", "", 0, 0, -1, -1, -1, _FILE, "", "")  # In place of one that is not there.


def _main(definitions: Sequence[Definition], span: ChunkRows, gathered: _Gathered) -> Definition:
    """Return the main definition of a chunk: the longest that it was cut for; else its container, or a constant."""
    candidates = span.shown or ((span.container,) if span.container >= 0 else tuple(gathered.beginning))
    chosen = [definitions[index] for index in candidates]
    return max(chosen, key=lambda definition: definition.end - definition.start, default=_NONE)


def _kind(main: Definition, span: ChunkRows, begins: bool) -> str:
    if main.is_container:
        return "type" if begins and span.shown else "members"
    return _KIND_NAMES.get(main.kind, "block")


def _passive_kind(beginning: Sequence[Definition], kinds: _Gathered) -> str:
    """Return what a chunk is that only names what is defined elsewhere; "" for any other."""
    if not beginning:
        return IMPORTS if kinds.has_imports and not kinds.has_references else ""
    is_declared = all(definition.is_declared for definition in beginning if definition.kind is not SymbolKind.CONSTANT)
    return DECLARATIONS if is_declared and any(definition.is_declared for definition in beginning) else ""
