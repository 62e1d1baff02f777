"""Adds to a trace the lines of code that have the name of a value, where a language records no uses of values."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from graphrag_mcp.graph.tracing import BELOW, Naming, Step, Trace, certain_lines
from graphrag_mcp.grep.hits import Around, Role, definition_lines, is_in_string, listed_files, role_of, syntax_of
from graphrag_mcp.grep.needles import Needle, create_needle
from graphrag_mcp.grep.occurrences import Files, Occurrence, find_occurrences, read_texts
from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language, is_unrecorded, platform_of
from graphrag_mcp.model.files import VARIABLE, ListedFile, RelationKind, Symbol, SymbolKind
from graphrag_mcp.model.graph import CALLING, OF_USES, Certainty, CodeEdge, CodeNode, Direction
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Case
from graphrag_mcp.ports import CodeRelations, SymbolGraph

MOST_LINES = 1_000  # The syntax of no more is looked at.
_LONGEST = 2_000  # Characters; a longer line is not looked at, and has the name in code.
_STEPS = ("++", "--")
_ELEMENTS = ("subscript", "index", "element_access")  # An element of a collection, which is set and read.
_AROUND_TARGETS = ("parenthes", "tuple", "list_literal", "array_creation", "pattern")
_MEANING = (*CALLING, *BELOW)
_MOST_OTHERS = 20
_NO_CODE = (SymbolKind.KEY, SymbolKind.SECTION)


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
    for path, text in read_texts(files, list(by_path)):
        file = listed[path]
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
        uses = [around for around in places if role_of(around) is not Role.COMMENT and not is_in_string(around)]
        if uses:
            writes, reads = zip(*map(_access, uses), strict=True)
            is_import = {Role.IMPORT} == set(map(role_of, uses))
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


def with_named_lines(graph: SymbolGraph, relations: CodeRelations, files: Files, found: Trace, scope: Scope) -> Trace:
    """Return a trace with the lines that have the name of what was asked for, if that is such a value."""
    values = [node for node in found.starts if is_unrecorded(node.path, node.kind, node.name)]
    if not values or found.direction not in OF_USES or not values[0].name.isidentifier():
        return found
    name = values[0].name
    languages = {language for node in values for language in platform_of(detect_language(node.path))} - FACT_LANGUAGES
    named = find_named_lines(name, languages, scope, files)
    if not named.is_searched:
        return found
    namesakes = (node for node in graph.definitions(name, scope) if node.name == name and node.kind not in _NO_CODE)
    known_starts = set(found.starts)
    others = [node for node in namesakes if detect_language(node.path) in languages and node not in known_starts]
    recorded = [node for node in others if node.kind not in VARIABLE][:_MOST_OTHERS]
    meaning = certain_lines(relations, recorded, _MEANING, scope)
    elsewhere = {line[:2] for line in named.lines if line.is_once}.intersection(meaning)
    known = {(step.edge.path, line) for step in found.steps for line in step.lines} | elsewhere
    lines = [line for line in named.lines if line[:2] not in known]
    wanted = [line for line in lines if _is_wanted(line, found.direction)]
    steps = tuple(_steps(graph, values[0], wanted, found.direction))
    naming = Naming(steps, len(wanted), len(lines) - len(wanted), len(values), len(others))
    doubt = found.doubt.without([line[:2] for line in wanted])
    # Lines that do not parse were compared, too.
    unparsed = frozenset[str]() if len(values) == len(found.starts) else doubt.unparsed
    doubt = replace(doubt, is_cut=doubt.is_cut or named.is_cut, unparsed=unparsed, others=doubt.others | elsewhere)
    return replace(found, steps=(*found.steps, *steps), doubt=doubt, naming=naming)


def _is_wanted(line: NamedLine, direction: Direction) -> bool:
    if direction is Direction.WRITERS:
        return line.writes
    return line.reads or direction is not Direction.READERS


def _steps(graph: SymbolGraph, target: CodeNode, lines: Sequence[NamedLine], direction: Direction) -> Iterator[Step]:
    """Yield a step for the lines of one kind in one definition."""
    for path, inside in groupby(lines, key=attrgetter("path")):
        placed = _placed(graph, path, list(inside))
        together = grouped(((node, _kind(line, direction)), line.line) for line, node in placed)
        for (node, kind), numbers in together.items():
            edge = CodeEdge(node.node_id, target.node_id, kind, path, numbers[0], Certainty.BY_NAME, is_named=True)
            yield Step(1, node, target, edge, tuple(numbers))


def _kind(line: NamedLine, direction: Direction) -> RelationKind:
    if line.is_import:
        return RelationKind.IMPORTS
    if line.writes and direction is not Direction.READERS:
        return RelationKind.WRITES
    return RelationKind.READS if direction is Direction.READERS else RelationKind.USES


def _placed(graph: SymbolGraph, path: str, lines: Iterable[NamedLine]) -> Iterator[tuple[NamedLine, CodeNode]]:
    """Yield lines of one file, in their order, each with the innermost definition around it, or the file."""
    nodes = (*graph.in_file(path), *filter(None, [graph.file(path)]))
    following = sorted(nodes, key=lambda node: (-node.start_line, node.end_line))
    around: list[CodeNode] = []
    for line in lines:
        while following and following[-1].start_line <= line.line:
            around.append(following.pop())
        while around and around[-1].end_line < line.line and not around[-1].is_file:  # It may have grown since.
            around.pop()
        if around:
            yield line, around[-1]
