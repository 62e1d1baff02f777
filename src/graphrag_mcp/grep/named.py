"""Finds the lines of code with a name, for languages in which no uses of values are recorded."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from graphrag_mcp.grep.hits import Around, Role, definition_lines, is_in_string, listed_files, role_of, syntax_of
from graphrag_mcp.grep.needles import Needle, create_needle
from graphrag_mcp.grep.occurrences import Files, Occurrence, find_occurrences
from graphrag_mcp.model.files import ListedFile, Symbol
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Case

MOST_LINES = 1_000  # The syntax of no more is looked at.
_LONGEST = 2_000  # Characters; a longer line is not looked at, and has the name in code.
_STEPS = ("++", "--")
_ELEMENTS = ("subscript", "index", "element_access")  # Of a collection, which is set and read.
_AROUND_TARGETS = ("parenthes", "tuple", "list_literal", "array_creation", "pattern")


class NamedLine(NamedTuple):
    """A line of code with a name.

    reads: whether not all that it does is to set what has the name. writes: whether it sets that. is_import: whether it
    imports it. is_once: whether it has the name once.
    """

    path: str
    line: int
    reads: bool = True
    writes: bool = False
    is_import: bool = False
    is_once: bool = False


class NamedLines(NamedTuple):
    """The lines, code before tests. is_cut: whether there may be more. is_searched: whether any file was."""

    lines: Sequence[NamedLine]
    is_cut: bool
    is_searched: bool


def find_named_lines(name: str, languages: Collection[str], scope: Scope, files: Files) -> NamedLines:
    """Return the lines of some languages that use a name in code."""
    listed = {path: file for path, file in listed_files(scope, files).items() if file.language in languages}
    needle = create_needle(name, whole_word=True, case=Case.SENSITIVE)
    found = find_occurrences(needle, list(listed), files, MOST_LINES)
    by_path = grouped((row.path, row) for row in found.lines[:MOST_LINES])
    symbols = files.definitions([listed[path].file_id for path in by_path])
    lines: list[NamedLine] = []
    for path, searched in files.read(list(by_path)):
        text, file = (searched or b"").decode(), listed[path]
        lines += sorted(_of_file(by_path[path], text, file, symbols[file.file_id], needle))
    return NamedLines(lines, found.total > MOST_LINES, bool(listed))


def _of_file(
    rows: Sequence[Occurrence], text: str, file: ListedFile, symbols: Sequence[Symbol], needle: Needle
) -> Iterator[NamedLine]:
    """Yield those of some lines of one file that have the name in code."""
    short = [row for row in rows if len(row.text) <= _LONGEST]
    yield from (NamedLine(row.path, row.line) for row in rows if len(row.text) > _LONGEST)
    named = [symbol for symbol in symbols if needle.spans(symbol.name) == [(0, len(symbol.name))]]
    definitions = _definitions(short, file.path, named, needle)
    for row, places in syntax_of(short, text, file, symbols, needle):
        if row.line in definitions:
            places = _behind_equals(row, places, needle) if len(places) > definitions[row.line] else []
        elif not places:
            yield NamedLine(row.path, row.line)
        roles = [(around, role_of(around)) for around in places]
        uses = [(around, role) for around, role in roles if not _is_text(around, role)]
        if uses:
            writes, reads = zip(*(_access(around) for around, _ in uses), strict=True)
            is_import = all(role is Role.IMPORT for _, role in uses)
            yield NamedLine(row.path, row.line, any(reads), any(writes), is_import, len(uses) == 1)


def _definitions(rows: Sequence[Occurrence], path: str, named: Sequence[Symbol], needle: Needle) -> Counter[int]:
    """Return by line how many definitions with the name have it there."""
    headed = {symbol: line for (_, line), symbol in definition_lines(rows, {path: named}, needle).items()}
    lines: Counter[int] = Counter()
    for symbol in named:
        first = bisect_left(rows, symbol.start_line, key=attrgetter("line"))
        if symbol in headed:
            lines[headed[symbol]] += 1
        elif first < len(rows) and rows[first].line <= symbol.end_line:
            lines[rows[first].line] += 1
    return lines


def _behind_equals(row: Occurrence, places: Sequence[Around], needle: Needle) -> list[Around]:
    """Return the occurrences on the line of a definition that are behind "=": what it uses."""
    equals = row.text.find("=")
    starts = (start for start, _ in needle.spans(row.text))
    return [around for around, start in zip(places, starts, strict=False) if 0 <= equals < start]


def _is_text(around: Around, role: Role) -> bool:
    """Return whether a name is in a comment, a string, or the path of an import."""
    return role in (Role.COMMENT, Role.STRING) or is_in_string(around)


def _access(around: Around) -> tuple[bool, bool]:
    """Return whether code sets what has a name, and whether it may read it."""
    if not around:
        return False, True
    name, is_element = around[0], False
    for target, outer in pairwise(around):
        is_first = outer.start_byte == target.start_byte
        operators = [child.type for child in outer.children if not child.is_named]
        if "assignment" in outer.type:
            left = outer.child_by_field_name("left") or outer.named_child(0)
            is_set = left is not None and left.start_byte <= name.start_byte < left.end_byte
            return is_set, is_element or not (is_set and "=" in operators)
        if "initializer" in outer.type and is_first:  # `.name = 1`, `name: 1` and `name` alone.
            return True, outer.end_byte == name.end_byte
        if any(step in operators for step in _STEPS):
            return True, True
        is_element |= is_first and any(kind in outer.type for kind in _ELEMENTS)
        is_inside = is_element or any(kind in outer.type for kind in _AROUND_TARGETS)
        if outer.end_byte != name.end_byte and not is_inside:
            break
    return False, True
