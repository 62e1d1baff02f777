"""What the answers of the code tools share: their pages, their doubts, and how places are written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphrag_mcp.app.protocol import CodeBackend, InFile
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Direction, Doubt, Place
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import PagedArguments
from graphrag_mcp.tools.call import Call, Page
from graphrag_mcp.tools.excerpts import cost_of, room_of, take_fitting
from graphrag_mcp.tools.printing import describe_incomplete, one_line, printable
from graphrag_mcp.tools.search_json import FRAME, json_cost

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.navigator import Navigator
    from graphrag_mcp.graph.tracing import Step


Whole = TypeVar("Whole", covariant=True)
Row = TypeVar("Row", covariant=True)


_CURSOR_ROOM = 80  # Characters of the line with the cursor.
STOPS_SHOWN = 12  # Names at which a trace ends.
PLACES_NAMED = 5  # Of those that are not read.
LINE_CHARACTERS = 200
LINES_SHOWN = 5  # Of one definition.
UNTYPED = "types are not known in this language: names and imports were compared"
_UNRECORDED = "uses of values are not recorded in this language; find_occurrences lists the lines"
_VALUES = (SymbolKind.FIELD, SymbolKind.CONSTANT, SymbolKind.KEY)
OUTGOING = frozenset((Direction.CALLEES, Direction.IMPORTS, Direction.SUPERCLASSES))
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
    Direction.SUBCLASSES: (RelationKind.IMPLEMENTS,),
    Direction.SUPERCLASSES: (RelationKind.IMPLEMENTS,),
    Direction.IMPLEMENTERS: (RelationKind.IMPLEMENTS, RelationKind.OVERRIDES),
    Direction.OVERRIDES: (RelationKind.OVERRIDES,),
    Direction.READERS: (RelationKind.READS,),
    Direction.WRITERS: (RelationKind.WRITES,),
}
KIND_WORDS = {kind: kind.replace("_", " ") for kind in RelationKind} | {RelationKind.HANDS_ON: "hands it on as a value"}
_Row = TypeVar("_Row")
_PAGING_FRAME = 80  # Characters of total, first and cursor.


@dataclass(frozen=True, slots=True)
class CodeAnswer(Generic[Whole, Row]):
    """The answer of a code tool: everything that was found, and the page of its rows that is shown.

    nodes: the definitions and files that are shown. note: that the index is incomplete, "" when it is complete. stale:
    files of the answer that changed since they were indexed. texts: lines by their path and number.
    """

    found: Whole
    page: Page[Row]
    nodes: Sequence[InFile] = ()
    note: str = ""
    stale: Sequence[str] = ()
    texts: Mapping[tuple[str, int], str] = field(default_factory=dict)


def navigate(backend: CodeBackend, ask: Callable[["Navigator"], CodeAnswer[Whole, Row]]) -> CodeAnswer[Whole, Row]:
    """Return the answer with its note and stale files. Raises RequestError, with the note if there is one."""
    note = describe_incomplete(backend.index_state())
    try:
        answer, stale = backend.navigate(ask)
    except RequestError as error:
        raise noted(error, note) from error
    return replace(answer, note=note, stale=sorted(stale))


def noted(error: RequestError, note: str) -> RequestError:
    """Return the error with the note of an incomplete index, which may be why a name or path is not found."""
    return RequestError(error.argument, f"{error}. {note}" if note else str(error))


def lay_out(
    answer: CodeAnswer[Any, _Row],
    call: Call[PagedArguments],
    head: Sequence[str],
    lines: Callable[[_Row], list[str]],
    tail: Sequence[str] = (),
    doubt: str = "so its lines may be off",
) -> str:
    """Return the notes, as many rows as the budget allows, and the cursor to the next row."""
    changed = [f"Changed since it was indexed, {doubt}: {as_name(path)}" for path in answer.stale]
    above = [*([answer.note] if answer.note else []), *changed, *head]
    room = room_of(call.tokens) - sum(cost_of(line) + 1 for line in (*above, *tail)) - _CURSOR_ROOM
    rows: list[str] = []
    kept = 0
    for row in answer.page.rows:
        shown = lines(row)
        if call.arguments.response_format == "concise":
            shown = shown[:1]
        room -= sum(cost_of(line) + 1 for line in shown)
        if room < 0 and kept:
            break
        rows += shown
        kept += 1
    end, total = answer.page.first + kept, answer.page.total
    cursor = call.cursor_at(end, total)
    more = [f'... {total - end:,} more: cursor="{cursor}"'] if cursor else []
    return printable("\n".join([*above, *rows, *more, *tail]))


def doubts(
    doubt: Doubt, starts: Sequence[CodeNode], how: str = "unresolved=true lists them", *, with_members: bool = False
) -> list[str]:
    """Return one line that says what an answer lacks, or that it is complete. with_members: of types, too."""
    names = ", ".join(dict.fromkeys(f"`{one_line(node.name).replace('`', '')}`" for node in starts if not node.is_file))
    name = names if 0 < len(names) < LINE_CHARACTERS else "these names"
    is_type = all(node.kind is SymbolKind.TYPE for node in starts)
    name += " or its members" if doubt.undecided and is_type and with_members else ""
    said = [
        *(["Complete"] if doubt.is_complete else []),
        *_unsure_places(doubt, name, how, is_type=is_type),
        *_unknown_callers(doubt, name),
        *_unread_files(doubt),
        *(_unknown_types(starts) if not doubt.is_typed else []),
    ]
    line = "; ".join(said)
    return [f"{line[0].upper()}{line[1:]}."] if line else []


def _unsure_places(doubt: Doubt, name: str, how: str, *, is_type: bool) -> Iterator[str]:
    if doubt.undecided:
        places = counted(len(doubt.undecided), "more place", "more places")
        how = how if doubt.is_typed and doubt.is_listed else "find_occurrences lists the lines"
        yield f"{places} of {name} {'not decided' if is_type else 'with an unknown receiver'} ({how})"
    if doubt.beyond:
        yield f"{counted(len(doubt.beyond), 'place')} of the names on the way with an unknown receiver"
    if doubt.others:
        yield f"{counted(len(doubt.others), 'mention is another thing', 'mentions are other things')} of that name"
    if doubt.unparsed:
        shown = _first(sorted(doubt.unparsed), 3)
        yield f"{counted(len(doubt.unparsed), 'file has', 'files have')} lines that do not parse: {shown}"


def _unknown_callers(doubt: Doubt, name: str) -> Iterator[str]:
    if doubt.run_by:
        yield f"started from outside of this repository by {', '.join(map(as_name, sorted(doubt.run_by)))}"
    if doubt.outside:
        names = ", ".join(map(as_name, sorted(doubt.outside)))
        yield f"callers outside of this repository are possible: {names}"
    if doubt.methods:
        yield f"{counted(len(doubt.methods), 'method')} of {name}, not listed: {_first(sorted(doubt.methods))}"
    if doubt.is_structural:
        yield "functions are of this type by what they take and give: those listed are handed over as one"
    if doubt.is_implicit:
        yield "calls by operators, loops, `with` and the like are not followed"


def _unread_files(doubt: Doubt) -> Iterator[str]:
    if doubt.unread:
        lines = counted(len(doubt.unread), "line is", "lines are")
        files = counted(len({path for path, _ in doubt.unread}), "file")
        yield f"{lines} not read as code, in {files} with the name: {_first(sorted(doubt.unread))}"
    if doubt.is_cut:
        yield "truncated by a limit: retry with fewer hops or with paths"
    if doubt.pending:
        files = counted(len(doubt.pending), "file is", "files are")
        yield f"{files} not resolved and may have more: {_first(sorted(doubt.pending))}"


def _unknown_types(starts: Sequence[CodeNode]) -> Iterator[str]:
    if all(start.is_file for start in starts):
        yield "imports are compared by path, without configured aliases"
    else:
        yield _UNRECORDED if all(start.kind in _VALUES for start in starts) else UNTYPED


def _first(places: Sequence[str | Place], most: int = PLACES_NAMED) -> str:
    """Return the first of some files or lines."""
    names = (as_name(one) if isinstance(one, str) else f"{as_name(one[0])}:{one[1]}" for one in places[:most])
    return ", ".join(names) + (", ..." if len(places) > most else "")


def location_of(node: CodeNode) -> str:
    if node.is_file:
        return as_name(node.path)
    inherited = f" (inherited by {as_name(node.inherited_by)})" if node.inherited_by else ""
    inherited += f" (nothing is called {as_name(node.asked_as)})" if node.asked_as else ""
    return f"{as_name(node.path)}:{node.start_line}-{node.end_line}  {as_name(node.qualified_name)}{inherited}"


def name_of(node: CodeNode) -> str:
    return "(the file)" if node.is_file else as_name(node.qualified_name)


def target_of(node: CodeNode) -> str:
    if node.is_file:
        return as_name(node.path)
    return f"{as_name(node.qualified_name)}  {as_name(node.path)}:{node.start_line}-{node.end_line}"


def at(edge: CodeEdge) -> str:
    return f"{as_name(edge.path)}:{edge.line}"


def archived_mark(node: CodeNode) -> str:
    return ", archived" if node.is_archived else ""


def in_words(certainty: Certainty, direction: Direction) -> str:
    return IN_WORDS[certainty].replace("call", _DOING.get(direction, "call"))


def use_line(step: "Step") -> str:
    said = KIND_WORDS[step.edge.kind] if step.edge.kind is RelationKind.HANDS_ON else f"{KIND_WORDS[step.edge.kind]} it"
    return f"{at(step.edge)}  {name_of(step.source)} {said} ({step.edge.certainty})"


def shown_line(text: str) -> str:
    return one_line(text[:LINE_CHARACTERS].rstrip())


def lay_out_json(answer: CodeAnswer[Any, Any], call: Call[Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload with as many rows as fit, the notes, and the cursor to the next row."""
    payload |= {"notes": [answer.note] if answer.note else [], "stale": list(answer.stale)}
    room = room_of(call.tokens) - json_cost(payload | {"rows": []}) - _PAGING_FRAME
    rows, _ = take_fitting(payload["rows"], room, FRAME, cost=json_cost)
    first, total = answer.page.first, answer.page.total
    return payload | {"rows": rows, "total": total, "first": first, "cursor": call.cursor_at(first + len(rows), total)}


def node_payload(node: CodeNode) -> dict[str, Any]:
    """Return a definition or file as a JSON object."""
    return {
        "path": node.path,
        "start_line": node.start_line,
        "end_line": node.end_line,
        "symbol": "" if node.is_file else node.qualified_name,
        "kind": "file" if node.is_file else node.kind.value,
        "signature": node.signature,
        "category": node.category.value,
        "is_archived": node.is_archived,
        **({"inherited_by": node.inherited_by} if node.inherited_by else {}),
        **({"asked_as": node.asked_as} if node.asked_as else {}),
    }


def edge_payload(edge: CodeEdge) -> dict[str, Any]:
    """Return a relation as a JSON object, without its ends."""
    return {
        "relation": edge.kind.value,
        "path": edge.path,
        "line": edge.line,
        "certainty": edge.certainty.value,
        "confidence": edge.confidence,
    }


def doubt_payload(doubt: Doubt) -> dict[str, Any]:
    """Return what keeps an answer from being complete as a JSON object."""
    return {
        "undecided": len(doubt.undecided),
        "undecided_on_the_way": len(doubt.beyond),
        "others": len(doubt.others),
        "callers_outside": sorted(doubt.outside),
        "run_by": sorted(doubt.run_by),
        "unparsed": sorted(doubt.unparsed),
        "unread": [f"{path}:{line}" for path, line in sorted(doubt.unread)[:STOPS_SHOWN]],
        "unread_total": len(doubt.unread),
        "is_cut": doubt.is_cut,
        "files_pending": sorted(doubt.pending),
        "is_typed": doubt.is_typed,
        "is_complete": doubt.is_complete,
    }


def if_any(name: str, values: Sequence[Any]) -> dict[str, Any]:
    return {name: list(values[:STOPS_SHOWN]), f"{name}_total": len(values)}
