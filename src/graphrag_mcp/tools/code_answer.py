"""What the answers of the code tools share: their pages, their doubts, and how places are written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from graphrag_mcp.languages.registry import is_unrecorded
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Direction, Doubt, Line
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import MOST_HOPS, PagedArguments
from graphrag_mcp.tools.excerpts import cost_of_lines, room_of, take_fitting
from graphrag_mcp.tools.printing import (
    FRAME,
    Asking,
    as_json,
    describe_incomplete,
    json_cost,
    location,
    one_line,
    printable,
    shortened,
)
from graphrag_mcp.tools.tool import Call, Page

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView, InFile
    from graphrag_mcp.graph.tracing import Dependant

Whole = TypeVar("Whole")
Row = TypeVar("Row", covariant=True)
_CURSOR_ROOM = 80  # Characters of the line with the cursor.
STOPS_SHOWN = 12  # Names at which a trace ends.
PLACES_NAMED = 5  # No more places of one doubt are named.
FEW_PLACES = 8  # As many with an unknown receiver are named; more are listed on request.
LISTED_BY_NAME = "listed by name"
LINE_CHARACTERS = 200
NUMBERS_SHOWN = 100
LINES_SHOWN = 5  # Lines of one definition that are shown with their text; the others are named.
UNTYPED = "in this language types are known only where they are written: names and imports were compared"
UNRECORDED = "uses of values are not recorded in this language"
NO_NAME = "these names"  # What files and too many definitions are called together.
IN_WORDS = {
    Certainty.CERTAIN: "certain",
    Certainty.MAY_CALL: "may call it, one of several targets",
    Certainty.BY_NAME: "by name only",
}
_DOING = {Direction.READERS: "read", Direction.WRITERS: "write", Direction.USERS: "use"}
UNSAID_KINDS = {
    Direction.CALLERS: (RelationKind.CALLS,),
    Direction.CALLEES: (RelationKind.CALLS,),
    Direction.TESTS: (RelationKind.CALLS,),
    Direction.IMPORTERS: (RelationKind.IMPORTS,),
    Direction.IMPORTS: (RelationKind.IMPORTS,),
    Direction.SUBCLASSES: (RelationKind.IMPLEMENTS, RelationKind.INHERITS),
    Direction.SUPERCLASSES: (RelationKind.IMPLEMENTS, RelationKind.INHERITS),
    Direction.IMPLEMENTERS: (RelationKind.IMPLEMENTS, RelationKind.INHERITS, RelationKind.OVERRIDES),
    Direction.OVERRIDES: (RelationKind.OVERRIDES,),
    Direction.READERS: (RelationKind.READS,),
    Direction.WRITERS: (RelationKind.WRITES,),
}
KIND_WORDS = {kind: kind.replace("_", " ") for kind in RelationKind} | {RelationKind.HANDS_ON: "hands it on as a value"}
_PAGING_FRAME = 90  # Characters of rows, total, first and cursor.


class CodeAnswer(Struct, Generic[Whole, Row], frozen=True):
    """The answer of a code tool: what was found, without its rows, and the page of the rows that is shown.

    note: that the index is incomplete, "" when it is complete. stale: files of the answer that changed since they were
    indexed. texts: lines by their path and number.
    """

    result: Whole
    page: Page[Row]
    note: str
    stale: Sequence[str]
    texts: Mapping[tuple[str, int], str]


def answer_of(
    view: "IndexView",
    result: Whole,
    page: Page[Row],
    nodes: Iterable["InFile"] = (),
    texts: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> CodeAnswer[Whole, Row]:
    """Return an answer with what is said of the index that it is from. nodes: the definitions and files it shows."""
    stale = sorted(view.check(nodes))
    return CodeAnswer(result, page, describe_incomplete(view.state), stale, texts)


def is_empty(answer: CodeAnswer[Any, Any]) -> bool:
    """Return whether an answer has no row."""
    return not answer.page.total


def lay_out(
    answer: CodeAnswer[Any, Row],
    call: Call[PagedArguments],
    head: Sequence[str],
    lines: Callable[[Row], list[str]],
    tail: Sequence[str] = (),
    doubt: str = "so its lines may be off",
) -> str:
    """Return the notes, as many rows as the budget allows, and the cursor to the next row."""
    changed = [f"Changed since it was indexed, {doubt}: {as_name(path)}" for path in answer.stale]
    above = [*([answer.note] if answer.note else []), *changed, *head]
    room = room_of(call.tokens) - cost_of_lines((*above, *tail)) - _CURSOR_ROOM
    rows: list[str] = []
    count = 0
    for row in answer.page.rows:
        shown = lines(row)
        if call.arguments.response_format == "concise":
            shown = shown[:1]
        room -= cost_of_lines(shown)
        if room < 0 and count:
            break
        rows += shown
        count += 1
    end, total = answer.page.first + count, answer.page.total
    following = call.next_at(end, total)
    more = [f"... {total - end:,} more: {following}"] if following else []
    return printable("\n".join([*above, *rows, *more, *tail]))


_OF_COPY = "this is from a copy on the servers: uses outside of code, and callers outside of it, were not looked for"


def doubts(
    doubt: Doubt,
    starts: Sequence[CodeNode],
    asking: Asking,
    how: str = "",
    *,
    with_members: bool = False,
    unsaid: str = "",
) -> list[str]:
    """Return one line that says what an answer lacks, or that it is complete.

    how: what lists the places that are not decided, unless it is a trace. with_members: of types, too. unsaid: a part
    that is left out, since it was said before.
    """
    names = ", ".join(dict.fromkeys(f"`{one_line(node.name).replace('`', '')}`" for node in starts if not node.is_file))
    name = names if 0 < len(names) < LINE_CHARACTERS else NO_NAME
    is_type = all(node.kind is SymbolKind.TYPE for node in starts)
    name += " or its members" if doubt.undecided and is_type and with_members else ""
    by_text = lists_the_lines(asking)
    how = how or f"{asking.tool('trace_relations', 'unresolved=true')} lists them"
    how = how if doubt.is_typed and doubt.is_listed else by_text
    said = [
        *(["Complete"] if doubt.is_complete else []),
        *_unsure_places(doubt, name, how, is_type=is_type),
        *_unknown_callers(doubt, name, asking),
        *_files_left(doubt, asking),
        *([_OF_COPY] if doubt.is_copy else []),
        *(_unknown_types(starts, by_text) if not doubt.is_typed else []),
    ]
    line = "; ".join(part for part in said if part != unsaid)
    return [f"{line[0].upper()}{line[1:]}."] if line else []


def lists_the_lines(asking: Asking) -> str:
    """Return what lists all lines with a name."""
    return f"{asking.tool('find_occurrences')} lists the lines"


def further(what: str, does: str, hops: int, asking: Asking, or_else: str = "") -> str:
    """Return that what was reached last may itself be reached, and how to see by what; or_else: how else, unseen."""
    if hops < MOST_HOPS:
        return f"{what} may {does} it by more hops: {asking.argument(f'hops={MOST_HOPS}')} looks further."
    return f"{what} may {does} it by more than {MOST_HOPS} hops{or_else}, which are not followed."


def _unsure_places(doubt: Doubt, name: str, how: str, *, is_type: bool) -> Iterator[str]:
    if doubt.undecided and how == LISTED_BY_NAME:
        yield f"{counted(len(doubt.undecided), 'place')} of {name} by name only, since the receiver is unknown"
    elif doubt.undecided:
        places = counted(len(doubt.undecided), "more place", "more places")
        are_few = len(doubt.undecided) <= FEW_PLACES
        where = f": {first_places(sorted(doubt.undecided), FEW_PLACES)}" if are_few else f" ({how})"
        yield f"{places} of {name} {'not decided' if is_type else 'with an unknown receiver'}{where}"
    if doubt.undecided_on_the_way:
        places = counted(len(doubt.undecided_on_the_way), "more place")
        are_few = len(doubt.undecided_on_the_way) <= FEW_PLACES
        where = f": {first_places(sorted(doubt.undecided_on_the_way), FEW_PLACES)}" if are_few else ""
        yield f"{places} may mean a definition on the way{where}"
    if doubt.others and name != NO_NAME:
        yield f"{counted(len(doubt.others), 'mention is another thing', 'mentions are other things')} of that name"
    if doubt.unparsed:
        shown = first_places(sorted(doubt.unparsed), 3)
        yield f"{counted(len(doubt.unparsed), 'file has', 'files have')} lines that do not parse: {shown}"


def _unknown_callers(doubt: Doubt, name: str, asking: Asking) -> Iterator[str]:
    if doubt.run_by:
        yield f"started from outside of this repository by {', '.join(map(as_name, sorted(doubt.run_by)))}"
    if doubt.callers_outside:
        names = ", ".join(map(as_name, sorted(doubt.callers_outside)))
        yield f"more uses are possible through {names}"
    if doubt.methods:
        yield f"{counted(len(doubt.methods), 'method')} of {name}, not listed: {first_places(sorted(doubt.methods))}"
    if doubt.is_structural:
        yield (
            "a function is of this type by its parameters and result: only those assigned, returned or handed over as "
            "one are listed; users are where the type is named"
        )
    if doubt.is_protocol:
        yield "a type is of this protocol by its members: those that do not name it are not listed"
    if doubt.embedding:
        types = counted(len(doubt.embedding), "type implements", "types implement")
        where = first_places(sorted(doubt.embedding))
        yield f"whether {types} {name}, too, depends on code that is not indexed: {where}"
    if doubt.is_given:
        yield f"a field may be given functions, too: {asking.argument('direction=writers')} lists where"
    if doubt.is_implicit:
        yield "calls by operators, loops, `with` and the like are not followed"


def _files_left(doubt: Doubt, asking: Asking) -> Iterator[str]:
    if doubt.unread:
        lines, files = counted(len(doubt.unread), "line"), counted(len({path for path, _ in doubt.unread}), "file")
        where = f"{lines} in {files} {'has' if len(doubt.unread) == 1 else 'have'} the name in a text or in code"
        yield f"{where} without relations: {first_places(sorted(doubt.unread))}"
    if doubt.is_cut:
        yield "truncated by a limit: retry with fewer hops or with paths"
    if doubt.files_pending:
        yield files_not_resolved(doubt)
    if doubt.archived:
        files = counted(len(doubt.archived), "archived file has", "archived files have")
        yield f"{files} more: {asking.argument('exclude_archived=false')} lists them"


def files_not_resolved(doubt: Doubt) -> str:
    """Return that links of some files may be missing."""
    files = counted(len(doubt.files_pending), "file is", "files are")
    return f"{files} not resolved and may have more: {first_places(sorted(doubt.files_pending))}"


def _is_unrecorded(start: CodeNode) -> bool:
    return start.kind is SymbolKind.KEY or is_unrecorded(start.path, start.kind, start.name)


def _unknown_types(starts: Sequence[CodeNode], by_text: str) -> Iterator[str]:
    if not starts:  # The answer is about a difference.
        yield UNTYPED
    elif all(start.is_file for start in starts):
        yield "imports are compared by path, without configured aliases"
    else:
        yield f"{UNRECORDED}; {by_text}" if all(map(_is_unrecorded, starts)) else UNTYPED


def first_places(places: Sequence[str | Line], most: int = PLACES_NAMED) -> str:
    """Return the first of some files or lines in words."""
    lines: dict[str, list[int]] = {}
    for place in places[:most]:
        path, line = (place, 0) if isinstance(place, str) else place
        lines.setdefault(path, []).append(line)
    names = (f"{as_name(path)}:{line_numbers(own)}" if any(own) else as_name(path) for path, own in lines.items())
    return ", ".join(names) + (f" and {len(places) - most:,} more" if len(places) > most else "")


def location_of(node: CodeNode) -> str:
    if node.is_file:
        return as_name(node.path)
    if not node.path:
        return f"{as_name(node.qualified_name)}, which is defined elsewhere"
    inherited = f" (inherited by {as_name(node.inherited_by)})" if node.inherited_by else ""
    inherited += f" (nothing is called {as_name(node.asked_as)})" if node.asked_as else ""
    return f"{location(node)}  {as_name(node.qualified_name)}{inherited}"


def name_of(node: CodeNode) -> str:
    return "(the file)" if node.is_file else as_name(node.qualified_name)


def target_of(node: CodeNode) -> str:
    return as_name(node.path) if node.is_file else f"{as_name(node.qualified_name)}  {location(node)}"


def at(site: "CodeEdge | Dependant", lines: Sequence[int] = ()) -> str:
    """Return where a relation is, with all of its lines."""
    return f"{as_name(site.path)}:{line_numbers(lines or [site.line])}"


def line_numbers(lines: Sequence[int]) -> str:
    """Return the numbers of lines; generated code may have thousands, so that the last are counted."""
    rest = len(lines) - NUMBERS_SHOWN
    return ", ".join(map(str, lines[:NUMBERS_SHOWN])) + (f" and {rest:,} more" if rest > 0 else "")


def in_words(certainty: Certainty, direction: Direction) -> str:
    """Return how certain a relation is. What may read or write a thing need not have another target."""
    words = IN_WORDS[certainty].replace("call", _DOING.get(direction, "call"))
    return words.partition(",")[0] if direction in (Direction.READERS, Direction.WRITERS) else words


def shown_line(text: str) -> str:
    return one_line(text[:LINE_CHARACTERS].rstrip())


def code_json(answer: CodeAnswer[Any, Any], call: Call[Any]) -> dict[str, Any]:
    """Return the answer with as many rows as fit, the notes, and the cursor to the next row."""
    notes = {"notes": [answer.note] if answer.note else [], "stale": list(answer.stale)}
    whole = shortened(as_json(answer.result)) | notes
    room = room_of(call.tokens) - json_cost(whole) - _PAGING_FRAME
    rows, _ = take_fitting(shortened(as_json(list(answer.page.rows))), room, FRAME, cost=json_cost)
    first, total = answer.page.first, answer.page.total
    paging = {"total": total, "first": first, "cursor": call.cursor_at(first + len(rows), total)}
    return {"rows": rows, **whole, **paging}
