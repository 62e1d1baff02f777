"""`find_symbol`: the definitions of a name and their uses, or several with their code."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from graphrag_mcp.app.session import Capability
from graphrag_mcp.errors import RequestError, UnknownNameError
from graphrag_mcp.graph.declared import in_header, may_define
from graphrag_mcp.languages.language import ImportStyle
from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.model.files import VARIABLE, RelationKind
from graphrag_mcp.model.graph import Certainty, CodeNode, Direction, Line
from graphrag_mcp.model.history import DIGITS_SHOWN, day_of
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import LOCATION, as_name
from graphrag_mcp.text.words import index_words, query_words
from graphrag_mcp.tools.arguments import CodeArguments, RowCount, SymbolText, hint
from graphrag_mcp.tools.code_answer import (
    IN_WORDS,
    KIND_WORDS,
    UNTYPED,
    CodeAnswer,
    answer_of,
    at,
    code_json,
    doubts,
    is_empty,
    lay_out,
    location_of,
    name_of,
    shown_line,
)
from graphrag_mcp.tools.excerpts import cost_of, cost_of_lines, cut_text, fold, room_of
from graphrag_mcp.tools.outlines import outline_lines
from graphrag_mcp.tools.printing import LISTED, Asking, fenced, numbered, one_line
from graphrag_mcp.tools.tool import Call, Page, Tool, page_of

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.navigator import FoundSymbol
    from graphrag_mcp.graph.reading import Body
    from graphrag_mcp.graph.tracing import Dependant, Step, Trace

_COMMA = re.compile(r",(?![^(]*\))")  # A comma between parameters does not end a symbol.
MAXIMUM_READ = 10  # Symbols whose code one answer has.
USES_SHOWN = 6  # No more uses of a definition are shown; trace_relations lists all.
ALSO_SHOWN = 7  # No more overloads and declarations are shown.
# Characters and lines of all definitions, and of one among many, unless the call gives a budget.
ALL_ROOM, MOST_ROOM = 9_000, 3_500
ALL_LINES, MOST_LINES = 180, 60
HEAD_LINES = 8  # The first lines, which are shown before others; at most half of them are documentation.
ROW_CHARACTERS = 400  # A line of code is cut there.
OUTLINE_ROOM = 3_000  # Characters of what a file defines, unless the call gives a budget.
USES_ROOM = 1_000  # Characters for what is said beside the outline.
MEMBERS_SHOWN = 12  # No more members of a type are named.
VALUE_LINES = 8  # No more lines of the value of a constant or field are shown.
STEPS_SHOWN = 2  # Relations of one kind beside the code; with three they were 28 to 48 % of an answer.
_AROUND = (0, -1, 1, -2, 2)  # The lines that are shown around one that matches, the nearest first.


class FindSymbolArguments(CodeArguments, frozen=True, kw_only=True):
    """`find_symbol`."""

    symbol: SymbolText
    body: Annotated[
        bool,
        "With code, callers, callees, tests and last change; up to ten symbols, separated by commas.",
        hint("symbols by commas"),
    ] = False
    focus: Annotated[str, Meta(max_length=1_000), "With body: words whose lines a long one is folded around."] = ""
    limit: RowCount = 10

    @property
    def symbols(self) -> list[str]:
        """The symbols to read. Raises RequestError for more than MAXIMUM_READ."""
        names = [name for name in map(str.strip, _COMMA.split(self.symbol)) if name] if self.body else [self.symbol]
        if not 0 < len(names) <= MAXIMUM_READ:
            raise RequestError("symbol", f"symbol: {len(names)} symbols were given; give 1 to {MAXIMUM_READ}")
        return names


class FoundSymbols(Struct, frozen=True):
    """How many definitions were found. missing: why some of the symbols have none."""

    definitions: int
    missing: Sequence[str] = ()


class ReadSymbol(Struct, frozen=True):
    """A definition with as much of its code as is shown, and a line for each kind of relation and the last change."""

    node: CodeNode
    body: str
    around: Sequence[str]


def find_symbol(view: "IndexView", call: Call[FindSymbolArguments]) -> CodeAnswer[Any, Any]:
    """Return the definitions of a name, and the references to each; or those of several names with their code."""
    return _read_symbols(view, call) if call.arguments.body else _find_symbols(view, call)


def _find_symbols(view: "IndexView", call: Call[FindSymbolArguments]) -> "CodeAnswer[FoundSymbols, FoundSymbol]":
    symbols = view.navigator.symbols(call.arguments.symbol, call.scope)
    page = page_of(symbols, call.first, call.arguments.limit)
    most = (LISTED, LISTED) if call.arguments.response_format == "json" else (ALSO_SHOWN, USES_SHOWN)
    nodes = (node for row in page.rows for node in _shown(row, *most))
    values = {(row.node.path, line) for row in page.rows for line in _value_of(row.node)}
    return answer_of(view, FoundSymbols(symbols.definitions), page, nodes, view.navigator.texts(values))


def _value_of(node: CodeNode) -> range:
    """Return the first lines of a variable with a value of several lines, none of anything else."""
    is_long = node.kind in VARIABLE and node.end_line > node.start_line
    return range(node.start_line, min(node.end_line, node.start_line + VALUE_LINES - 1) + 1 if is_long else 0)


def _read_symbols(view: "IndexView", call: Call[FindSymbolArguments]) -> CodeAnswer[FoundSymbols, ReadSymbol]:
    nodes: dict[CodeNode, None] = {}
    missing = []
    for name in call.arguments.symbols:
        try:
            nodes |= dict.fromkeys(view.navigator.code(name, call.scope))
        except RequestError as error:
            missing.append(str(error))
    if not nodes:
        raise UnknownNameError("symbol", "; ".join(missing))
    page = page_of(list(nodes), call.first, min(call.arguments.limit, MAXIMUM_READ))
    bodies = list(view.navigator.read(page.rows, call.scope))
    defining = {body.node.qualified_name: body.node for body in bodies if may_define(body.node)}
    declared = {body.node: defining.get(body.node.qualified_name) for body in bodies if _is_declaration(body)}
    room, most = _share(call, len(bodies) - sum(map(bool, declared.values())))
    rows: list[ReadSymbol] = []
    said: set[str] = set()  # Languages of which an answer says what they lack: as text it does so once.
    for body in bodies:
        language = detect_language(body.node.path)
        if defined := declared.get(body.node):
            around = [f"may be defined by {location_of(defined)}, where its relations are"]
        else:
            around = _around(body, call.asking, UNTYPED if language in said else "")
        if call.arguments.response_format != "json" and any(UNTYPED in line for line in around):
            said.add(language)
        left = room - cost_of_lines((_heading(body.node), *around))
        rows.append(ReadSymbol(body.node, "\n".join(_parts(body, call, left, most)), around))
    return answer_of(view, FoundSymbols(len(nodes), missing), Page(rows, page.first, page.total), page.rows)


def _shown(row: "FoundSymbol", also: int, used: int) -> Iterable[CodeNode]:
    return (row.node, *row.also[:also], *(use.node for use in row.used[:used]))


def symbols_text(answer: "CodeAnswer[FoundSymbols, FoundSymbol]", call: Call[FindSymbolArguments]) -> str:
    """Return each definition with the references to it."""
    budget = call.arguments.token_budget
    room = max(room_of(budget) - USES_ROOM, 0) if budget else OUTLINE_ROOM
    unsaid = ""

    def lines(row: "FoundSymbol") -> list[str]:
        nonlocal unsaid  # What a language lacks is said once.
        found = _found_lines(row, answer.texts, call.asking, room, unsaid)
        unsaid = UNTYPED if UNTYPED.lower() in found[-1].lower() else unsaid
        return found

    return lay_out(answer, call, _count_line(answer.result), lines)


def _count_line(symbols: FoundSymbols) -> list[str]:
    return [f"{counted(symbols.definitions, 'definition')}:"] if symbols.definitions > 1 else []


def _found_lines(row: "FoundSymbol", texts: Mapping[Line, str], asking: Asking, room: int, unsaid: str) -> list[str]:
    value = [f"   {line} | {shown_line(texts.get((row.node.path, line), ''))}" for line in _value_of(row.node)]
    lines = _defined_lines(row.node)[: 1 if value else 2]  # The first line of a value has the signature.
    is_cut = len(value) == VALUE_LINES < row.node.end_line - row.node.start_line + 1
    lines += [*value, *([f"   ... to line {row.node.end_line}"] if is_cut else [])]
    for node in row.also[:ALSO_SHOWN]:
        lines += _defined_lines(node)
    if row.node.is_file:
        lines += outline_lines(row.members, room, f": {asking.argument('token_budget')} shows more")
    elif row.members:
        names = [f"{as_name(member.name)}:{member.start_line}" for member in row.members]
        lines.append(f"   members: {listed(names, MEMBERS_SHOWN)}")
    if len(row.also) > ALSO_SHOWN:
        lines.append(f"... {len(row.also) - ALSO_SHOWN:,} more of that name")
    files = len({use.path for use in row.used})
    if row.used:
        at_least = "at least " if row.doubt.is_cut else ""
        is_package = row.node.is_file and describe(detect_language(row.node.path)).imports is ImportStyle.GO
        verb = "its package is imported" if is_package else "imported" if row.node.is_file else "used"
        places = sum(max(1, len(use.lines)) for use in row.used)
        lines.append(f"   {verb} {at_least}{counted(places, 'time')} in {counted(files, 'file')}:")
        lines += [f"   - {_use_line(use)}" for use in row.used[:USES_SHOWN]]
    elif row.doubt.is_complete:
        lines.append("   no references")
    if len(row.used) > USES_SHOWN:
        trace = asking.tool("trace_relations")
        more = counted(len(row.used) - USES_SHOWN, "more user")
        lines.append(f"   ... {more}: {trace} has callers, readers, importers")
    # A file is imported by its path, and not by a text with the name of one of its definitions.
    doubt = replace(row.doubt, unread=frozenset()) if row.node.is_file else row.doubt
    return lines + [f"   {note}" for note in doubts(doubt, [row.node], asking, unsaid=unsaid)]


def _use_line(use: "Dependant") -> str:
    does = KIND_WORDS[use.relation] + ("" if use.relation is RelationKind.HANDS_ON else " it")
    return f"{at(use, use.lines)}  {name_of(use.node)} {does} ({use.certainty})"


def _defined_lines(node: CodeNode) -> list[str]:
    location = _heading(node) + (", archived" if node.is_archived else "")
    return [location, f"   > {one_line(node.signature)}"] if node.signature else [location]


def bodies_text(answer: CodeAnswer[FoundSymbols, ReadSymbol], call: Call[FindSymbolArguments]) -> str:
    """Return each definition with its code, and one line for each kind of relation and the last change."""

    def lines(row: ReadSymbol) -> list[str]:
        return ["\n".join(filter(None, [_heading(row.node), row.body, *row.around]))]

    tail = [one_line(missing) for missing in answer.result.missing]
    shown = lay_out(answer, call, _count_line(answer.result), lines, tail)
    is_folded = "\n... " in shown and not call.arguments.token_budget
    if is_folded:
        size, focus = map(call.asking.argument, ("token_budget", "focus"))
        shown += f"\nFolded: {size} shows more, and {focus} what is near words."
    return shown


def _share(call: Call[FindSymbolArguments], count: int) -> tuple[int, int]:
    """Return how many characters and lines of code each of some definitions may take."""
    share = room_of(call.tokens) // max(1, count)
    if call.arguments.token_budget:
        return share, share
    return min(share, max(ALL_ROOM // max(1, count), MOST_ROOM)), max(ALL_LINES // max(1, count), MOST_LINES)


def _heading(node: CodeNode) -> str:
    return location_of(node) + ("" if node.is_file else f" ({node.kind})")


def _is_declaration(body: "Body") -> bool:
    """Return whether a header only declares a function, without code."""
    code = [line for number, line in enumerate(body.lines) if number not in body.documentation]
    return in_header(body.node) and "{" not in "".join(code)


def _parts(body: "Body", call: Call[FindSymbolArguments], room: int, most: int) -> list[str]:
    """Return the code; of a long type its beginning and an outline, of a long file an outline."""
    rows = numbered((cut_text(line, ROW_CHARACTERS).text for line in body.lines), body.first)
    if not rows or call.arguments.response_format == "concise":
        return []
    is_long = len(rows) > most or cost_of_lines(rows) > room
    line = _line_of(call.arguments.symbols, body.node)
    if line or not (is_long and body.has_outline):
        worth = _around_line(line - body.first, len(rows)) if line else by_worth(body, call.arguments.focus)
        shown = fold(rows, worth, room, most)
        return [fenced("\n".join(body.lines), "\n".join(shown))]
    if body.node.is_file:
        return outline_lines(body.members, room)
    top = rows[: max(1, min(body.members[0].start_line - body.first, HEAD_LINES))]
    code = fenced("\n".join(body.lines), "\n".join(top))
    return [code, *outline_lines(body.members, room - cost_of(code))]


def _line_of(symbols: Sequence[str], node: CodeNode) -> int:
    """Return the line of a file that one of the symbols names, in which nothing is defined; 0 for none."""
    named = filter(None, map(LOCATION.match, symbols)) if node.is_file else ()
    return next((int(match["line"]) for match in named if match["path"].removeprefix("./") == node.path), 0)


def _around_line(number: int, count: int) -> list[int]:
    return sorted(range(count), key=lambda other: abs(other - number))[:MOST_LINES]


def by_worth(body: "Body", focus: str) -> Iterator[int]:
    """Yield the numbers of lines: the head, those around what matches the focus, or without it code, documentation."""
    wanted = set(query_words(focus))
    line_terms = [wanted.intersection(index_words(line)) for line in body.lines]
    count = Counter(word for words in line_terms for word in words)
    matching = [number for number, words in enumerate(line_terms) if words]
    matching.sort(key=lambda number: -sum(1 / count[word] for word in line_terms[number]))
    around = (number + step for number in matching for step in _AROUND if 0 <= number + step < len(body.lines))
    documentation = sorted(body.documentation)
    code = [number for number in range(len(body.lines)) if number not in body.documentation]
    head = [*documentation[: HEAD_LINES // 2], *code][:HEAD_LINES]
    yield from dict.fromkeys([*head, *(around if matching else [*code, *documentation])])


def _around(body: "Body", asking: Asking, unsaid: str) -> list[str]:
    """Return a line for each kind of relation and the last change. unsaid: a doubt that is not said again."""
    commits = [
        f"{commit.name[:DIGITS_SHOWN]} {day_of(commit)} {json.dumps(commit.subject, ensure_ascii=False)}"
        for commit in body.change.commits
    ]
    change = commits[0] if commits else body.change.note
    relations = [_relations(trace, asking, unsaid) for trace in (body.users, body.uses, body.tests)]
    return [*filter(None, relations), *([f"last change: {change}"] if change else [])]


def _relations(trace: "Trace", asking: Asking, unsaid: str) -> str:
    """Return the relations of one kind in a line: how many, how sure, the first, and what is not known."""
    is_from = trace.direction.is_outgoing
    steps = list({(step.source, step.target): step for step in trace.steps if step.source != step.target}.values())
    kinds = Counter(step.edge.certainty for step in steps)
    counts = ", ".join(f"{kinds[certainty]:,} {IN_WORDS[certainty]}" for certainty in Certainty if kinds[certainty])
    more = f"more ({asking.tool('trace_relations', f'direction={trace.direction}')})"
    ends = listed([_end(step, is_from=is_from) for step in steps], STEPS_SHOWN, more)
    is_judged = not is_from and trace.direction is not Direction.TESTS  # The doubt of tests is that of the callers.
    doubt = doubts(trace.doubt, trace.starts, asking, unsaid=unsaid) if is_judged else []
    none = "none" if is_from or trace.doubt.is_complete else "none certain"
    none += f" within {counted(trace.hops, 'hop')}" if trace.hops > 1 else ""
    at_least = "at least " if trace.doubt.is_cut else ""
    known = f"{trace.direction}: " + (f"{at_least}{counts}: {ends}" if steps else none)
    return f"{known}; {doubt[0][0].lower()}{doubt[0][1:]}" if doubt else known


def _end(step: "Step", *, is_from: bool) -> str:
    if is_from:
        return f"{as_name(step.target.path)}:{step.target.start_line} {name_of(step.target)}"
    return f"{at(step.edge, step.lines)} {name_of(step.source)}"


FIND_SYMBOL = Tool(
    name="find_symbol",
    description=(
        "Each definition of a name, with its users; with body=true its code, callers, tests and last change, "
        "for up to ten names, instead of opening their files."
    ),
    arguments=FindSymbolArguments,
    needs=Capability.RELATIONS,
    find=find_symbol,
    text=lambda answer, call: (bodies_text if call.arguments.body else symbols_text)(answer, call),
    json=code_json,
    is_empty=is_empty,
)
