"""The answer to a search for a needle: all lines in order, and the role of each line that is shown.

The index gives the definitions; the syntax of the shown files gives the other roles.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import takewhile
from operator import attrgetter, itemgetter
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node, Tree

from graphrag_mcp.grep.needles import Needle, last_word
from graphrag_mcp.grep.occurrences import Files, Occurrence, Occurrences, find_occurrences
from graphrag_mcp.languages.registry import describe
from graphrag_mcp.model.files import Category, ListedFile, Symbol, SymbolKind
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.parsing.code.parts import parse_part

HEADER_LINES = 30  # A definition has its name within these lines: attributes and comments may be above it.
# A call has its callee in one of these fields.
_CALLEES = ("function", "name", "method", "constructor", "macro", "type")
# The grammars share these parts of the names of their nodes.
_IMPORTS = ("import", "include", "require_", "use_declaration", "using_directive")
_STRINGS = ("string", "heredoc", "char_literal", "character_literal", "rune_literal")
# These nodes are code inside of a string.
_INSERTED = ("interpolation", "substitution", "_expression", "expansion", "variable_name")
_CALLS = ("call", "call_expression", "invocation", "invocation_expression", "creation_expression", "new_expression",
          "command")  # fmt: skip
_CATEGORIES = {category: position for position, category in enumerate(Category)}
Around: TypeAlias = Sequence[Node]  # The nodes around a character, innermost first, without the root.


class Role(StrEnum):
    """What a needle is on a line; of several roles on a line, the first of this order counts."""

    DEFINITION = "definition"
    CALL = "call"
    IMPORT = "import"
    OTHER = "other"
    STRING = "string"
    COMMENT = "comment"
    DOCUMENT = "document"


_ORDER = list(Role)


class Placed(Struct, frozen=True):
    """A line of an answer with its role, the definition around it ("" for none), and the lines before and after."""

    path: str
    line: int
    column: int
    text: str
    role: Role
    symbol: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Hits(Struct, frozen=True):
    """The lines with a needle. occurrences: definitions first if they are few, then in the order of the files."""

    occurrences: Occurrences
    needle: Needle
    files: Files
    listed: Mapping[str, ListedFile]
    defined: Mapping[tuple[str, int], Symbol]

    @property
    def are_of_tests(self) -> bool:
        """Whether no line of anything but tests has the needle."""
        return all(self.listed[row.path].category is Category.TESTS for row in self.occurrences.lines)

    def place(self, rows: Sequence[Occurrence], context: int = 0) -> list[Placed]:
        """Return lines with their roles and the definitions around them. context: lines before and after each."""
        by_path = grouped((row.path, row) for row in sorted(rows, key=attrgetter("line")))
        symbols = self.files.definitions([self.listed[path].file_id for path in by_path])
        placed: dict[tuple[str, int], Placed] = {}
        for path, searched in self.files.read(list(by_path)):
            text, lines, definitions = (searched or b"").decode(), by_path[path], symbols[self.listed[path].file_id]
            others = [row for row in lines if (path, row.line) not in self.defined]
            roles = _roles_of(others, text, self.listed[path], definitions, self.needle)
            around = _surroundings(text.split("\n"), [row.line for row in lines], context)
            for row, (before, after) in zip(lines, around, strict=True):
                symbol = _innermost(definitions, row.line, self.defined.get((path, row.line)))
                role = roles.get(row.line, Role.DEFINITION)
                placed[path, row.line] = Placed(*row, role, symbol, before, after)
        return [placed[row.path, row.line] for row in rows]


def find_hits(needle: Needle, scope: Scope, files: Files, wanted: int) -> Hits:
    """Find a needle in the files of a scope. wanted: lines that are needed however many there are."""
    listed = listed_files(scope, files)
    occurrences = find_occurrences(needle, list(listed), files, wanted)
    if not occurrences.are_few:
        return Hits(occurrences, needle, files, listed, {})
    paths = dict.fromkeys(row.path for row in occurrences.lines)
    symbols = files.definitions([listed[path].file_id for path in paths])
    defined = definition_lines(occurrences.lines, {path: symbols[listed[path].file_id] for path in paths}, needle)
    lines = tuple(sorted(occurrences.lines, key=lambda row: (row.path, row.line) not in defined))
    return Hits(replace(occurrences, lines=lines), needle, files, listed, defined)


def listed_files(scope: Scope, files: Files) -> dict[str, ListedFile]:
    """Return the files of a scope by path, code before tests and the rest."""
    return {file.path: file for file in sorted(files.listed(scope), key=lambda file: _CATEGORIES[file.category])}


def _surroundings(
    lines: Sequence[str], shown: Sequence[int], context: int
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the lines before and after each of those that are shown, in their order, each line once."""
    end = 0
    for line, following in zip(shown, (*shown[1:], len(lines) + 1), strict=True):
        before = lines[max(end, line - 1 - context) : line - 1]
        end = min(line + context, following - 1)
        yield tuple(before), tuple(lines[line:end])


def definition_lines(
    rows: Sequence[Occurrence], definitions: Mapping[str, Sequence[Symbol]], needle: Needle
) -> dict[tuple[str, int], Symbol]:
    """Return the lines on which the needle is in the name of what they define, by path and line."""
    by_path = grouped((row.path, row) for row in rows)
    lines: dict[tuple[str, int], Symbol] = {}
    for path, symbols in definitions.items():
        texts = "\n".join(row.text for row in by_path[path])
        for symbol in symbols:
            if symbol.kind is not SymbolKind.SECTION and symbol.name and symbol.name in texts:
                header = _header(by_path[path], symbol)
                for row in [row for row in header if _names(row, symbol, needle)][:1]:
                    lines.setdefault((path, row.line), symbol)
    return lines


def _header(rows: Sequence[Occurrence], symbol: Symbol) -> Sequence[Occurrence]:
    """Return the lines of a file, in order, on which the definition may have its name."""
    last = min(symbol.end_line, symbol.start_line + HEADER_LINES)
    start = bisect_left(rows, symbol.start_line, key=attrgetter("line"))
    return rows[start : bisect_right(rows, last, key=attrgetter("line"))]


def _innermost(symbols: Iterable[Symbol], line: int, defined: Symbol | None) -> str:
    """Return the qualified name of the smallest definition of several lines around a line, but not `defined`."""
    near = (symbol for symbol in symbols if symbol.start_line <= line <= symbol.end_line)  # Cheap, and mostly false.
    around = [symbol for symbol in near if symbol.start_line < symbol.end_line and symbol != defined]
    return min(around, key=lambda symbol: symbol.end_line - symbol.start_line).qualified_name if around else ""


def _roles_of(
    rows: Sequence[Occurrence], text: str, file: ListedFile, symbols: Sequence[Symbol], needle: Needle
) -> dict[int, Role]:
    """Return the roles of lines of one file, by line. symbols: the definitions of the file."""
    if file.category is Category.DOCUMENTATION:
        return dict.fromkeys((row.line for row in rows), Role.DOCUMENT)
    return {
        row.line: min(map(role_of, places), key=_ORDER.index, default=Role.OTHER)
        for row, places in syntax_of(rows, text, file, symbols, needle)
    }


def syntax_of(
    rows: Sequence[Occurrence], text: str, file: ListedFile, symbols: Sequence[Symbol], needle: Needle
) -> Iterator[tuple[Occurrence, list[Around]]]:
    """Yield lines of one file with what is around each occurrence on them; with none where nothing is parsed."""
    lines = text.split("\n")
    outermost = _outermost(() if describe(file.language).is_embedded else symbols, len(lines))
    by_part = grouped((_part(outermost, row.line, len(lines)), row) for row in rows)
    for (first, last), inside in by_part.items():
        tree = parse_part("\n".join(lines[first - 1 : last]), file.language)
        for row in inside:
            yield row, [_around(tree, row.line - first, column) for column in _columns(row, needle)] if tree else []


def _outermost(symbols: Iterable[Symbol], lines: int) -> list[tuple[int, int]]:
    """Return the first and last lines of the definitions of several lines that are inside no other, in order."""
    spans = {(symbol.start_line, symbol.end_line) for symbol in symbols if symbol.start_line < symbol.end_line <= lines}
    outermost: list[tuple[int, int]] = []
    for first, last in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or last > outermost[-1][1]:
            outermost.append((first, last))
    return outermost


def _part(outermost: Sequence[tuple[int, int]], line: int, lines: int) -> tuple[int, int]:
    """Return the lines that parse by themselves around a line: of the largest definition, or between definitions."""
    following = bisect_right(outermost, line, key=itemgetter(0))
    before = outermost[following - 1] if following else (0, 0)
    if line <= before[1]:
        return before
    return before[1] + 1, outermost[following][0] - 1 if following < len(outermost) else lines


def _names(row: Occurrence, symbol: Symbol, needle: Needle) -> bool:
    """Return whether a line has the name of a definition where it is defined, and the needle in it."""
    start = row.text.find(symbol.name)
    while start >= 0:
        end = start + len(symbol.name)
        if any(first < end and start < last for first, last in needle.spans(row.text)):
            return _is_header(row, row.text[:start], symbol)
        start = row.text.find(symbol.name, end)
    return False


def _is_header(row: Occurrence, before: str, symbol: Symbol) -> bool:
    """Return whether the text before a name on a line is what the signature has before it."""
    head, name, _ = symbol.signature.partition(symbol.name)
    if not name:
        return row.line == symbol.start_line
    return " ".join(head.split()).endswith(" ".join(before.split()))


def _columns(row: Occurrence, needle: Needle) -> Iterator[int]:
    """Yield for each occurrence on a line the byte at which its last word ends, from 0."""
    for start, end in needle.spans(row.text):
        yield len(row.text[: last_word(row.text, start, end)].encode("utf-8", "replace"))


def _around(tree: Tree, line: int, column: int) -> Around:
    """Return the nodes around a character. line, column: from 0, the latter in bytes.

    They are found from the root down: `parent` looks for each parent from the root again.
    """
    start, end = (line, column), (line, column + 1)
    cursor, around = tree.walk(), list[Node]()
    while cursor.goto_first_child_for_point(start) is not None:
        node = cursor.node
        if node is None or node.start_point > start or node.end_point < end:
            break
        if node.is_named:
            around.append(node)
    return around[::-1]


def role_of(around: Around) -> Role:
    """Return the role of a character."""
    types = [outer.type for outer in around]
    if any("comment" in kind for kind in types):
        return Role.COMMENT
    if any(mark in kind for kind in types for mark in _IMPORTS):
        return Role.IMPORT
    if is_in_string(around):
        return Role.STRING
    return Role.CALL if _is_callee(around) else Role.OTHER


def is_in_string(around: Around) -> bool:
    """Return whether a character is in the text of a string, and not in code inside of it."""
    types = takewhile(lambda kind: not kind.endswith(_INSERTED), (outer.type for outer in around))
    return any(mark in kind for kind in types for mark in _STRINGS)


def _is_callee(around: Around) -> bool:
    """Return whether a name is the last part of what a call names."""
    name = around[0] if around else None
    outside = (outer for outer in around[1:] if outer.type.endswith(_CALLS) or outer.end_byte != around[0].end_byte)
    call = next(outside, None)
    if name is None or call is None or not call.type.endswith(_CALLS):
        return False
    named = (call.child_by_field_name(field) for field in _CALLEES)
    callee = next((child for child in named if child is not None), call.named_child(0))
    return callee is not None and callee.end_byte == name.end_byte
