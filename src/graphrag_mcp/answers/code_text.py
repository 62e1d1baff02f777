"""Asks the navigator what a tool call asks, and writes the answer: whole lines within the budget, and what is left."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphrag_mcp.answers.arguments import (
    CodeArguments,
    FindSymbolArguments,
    ImpactArguments,
    OccurrencesArguments,
    TraceArguments,
)
from graphrag_mcp.answers.excerpts import CONCISE_TOKENS, cost_of, room_of
from graphrag_mcp.answers.paging import Page, cursor_at, page_of
from graphrag_mcp.answers.payload import fitting, json_cost
from graphrag_mcp.answers.reasons import resolved
from graphrag_mcp.answers.render import one_line, printable
from graphrag_mcp.model.files import RelationKind, Resolution
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Direction
from graphrag_mcp.model.search import Scope
from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:  # The navigator imports the stores' ports: numpy, which no client waits for.
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.navigator import Found, Navigator
    from graphrag_mcp.graph.tracing import Step, Trace
    from graphrag_mcp.grep.occurrences import Occurrence, Occurrences

USES_SHOWN = 6
ALSO_SHOWN = 7
STOPS_SHOWN = 12
LINE_CHARACTERS = 200
_CERTAIN = ("found in the index", "are certain")  # Without and with lines that may mean it.
_STOPS = (("The graph stops at names that nothing indexed defines", False), ("Not resolved", True))
_PAGING_FRAME = 80  # Characters of total, first and cursor.

_VERBS = {
    Direction.CALLERS: "calls",
    Direction.CALLEES: "calls",
    Direction.IMPORTERS: "imports",
    Direction.IMPORTS: "imports",
    Direction.SUBCLASSES: "inherits from",
    Direction.SUPERCLASSES: "inherits from",
    Direction.TESTS: "tests",
}
_NOUNS = {
    Direction.CALLERS: ("caller",),
    Direction.CALLEES: ("callee",),
    Direction.IMPORTERS: ("importer",),
    Direction.IMPORTS: ("import",),
    Direction.SUBCLASSES: ("subclass", "subclasses"),
    Direction.SUPERCLASSES: ("superclass", "superclasses"),
    Direction.TESTS: ("test",),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The parts of an answer: notes above, rows, notes below; the same as JSON; and the nodes that it shows."""

    head: list[str]
    page: Page[list[str]]
    tail: list[str]
    payload: dict[str, Any]
    nodes: Sequence[CodeNode] = ()


def answer_code(navigator: "Navigator", tool: str, arguments: CodeArguments, first: int, scope: Scope) -> Answer:
    """Return the answer to a call of one of the code tools; `first`: the row that it begins with."""
    match arguments:
        case FindSymbolArguments():
            return _symbols(navigator.symbols(arguments.symbol, scope), arguments, first)
        case TraceArguments():
            traced = navigator.trace(arguments.symbol, arguments.direction, arguments.hops, scope)
            return _trace(traced, arguments, first)
        case ImpactArguments():
            return _impact(navigator.impact(arguments.symbol, arguments.hops, scope), arguments, first)
        case OccurrencesArguments():
            found = navigator.occurrences(
                arguments.text, scope, whole_word=arguments.whole_word, ignore_case=arguments.ignore_case
            )
            return _occurrences(found, arguments, first)
    raise TypeError(f"{tool} is no code tool")


def write(
    answer: Answer,
    tool: str,
    arguments: CodeArguments,
    default_tokens: int,
    notes: Sequence[str] = (),
    stale: Collection[str] = (),
) -> str:
    """Return the answer as text or JSON, as many of its rows as the budget holds; the cursor continues behind them.

    notes: what a reader must know first. stale: files that changed since they were indexed.
    """
    tokens = arguments.token_budget or (CONCISE_TOKENS if arguments.response_format == "concise" else default_tokens)
    if arguments.response_format == "json":
        payload = answer.payload | {"notes": list(notes), "stale": sorted(stale)}
        return printable(json.dumps(_fitting(answer, payload, tool, arguments, room_of(tokens)), ensure_ascii=False))
    changed = [f"Changed since it was indexed, so its lines may be off: {one_line(path)}" for path in sorted(stale)]
    notes = [*notes, *changed]
    room = room_of(tokens) - sum(cost_of(line) + 1 for line in (*answer.head, *notes, *answer.tail)) - 80
    rows: list[str] = []
    kept = 0
    for row in answer.page.rows:
        shown = row[:1] if arguments.response_format == "concise" else row
        room -= sum(cost_of(line) + 1 for line in shown)
        if room < 0 and kept:
            break
        rows += shown
        kept += 1
    page = answer.page
    cursor = cursor_at(page.first + kept, page.total, tool, arguments)
    more = [f'... {page.total - page.first - kept:,} more: cursor="{cursor}"'] if cursor else []
    return printable("\n".join([*notes, *answer.head, *rows, *more, *answer.tail]))


def _fitting(answer: Answer, payload: dict[str, Any], tool: str, arguments: CodeArguments, room: int) -> dict[str, Any]:
    """Return the payload with as many rows as fit, and the cursor behind them."""
    rows, _ = fitting(payload["rows"], room - json_cost(payload | {"rows": []}) - _PAGING_FRAME, least=1)
    page = answer.page
    cursor = cursor_at(page.first + len(rows), page.total, tool, arguments)
    return payload | {"rows": rows, "total": page.total, "first": page.first, "cursor": cursor}


# ---------------------------------------------------------------- one writer for each tool


def _symbols(found: Sequence["Found"], arguments: FindSymbolArguments, first: int) -> Answer:
    page = page_of(found, first, arguments.limit)
    count = sum(1 + len(one.also) for one in found)
    head = [f"{counted(count, 'definition')} of {one_line(arguments.symbol)}:"]
    payload = {"rows": [_found_payload(one) for one in page.rows]}
    return Answer(head, _as_lines(page, _found_lines), [], payload, [node for one in page.rows for node in _shown(one)])


def _found_lines(one: "Found") -> list[str]:
    lines = _defined_lines(one.node)
    for node in one.also[:ALSO_SHOWN]:
        lines += _defined_lines(node)
    if len(one.also) > ALSO_SHOWN:
        lines.append(f"... {len(one.also) - ALSO_SHOWN:,} more of that name")
    files = len({step.edge.path for step in one.used})
    if one.used:
        lines.append(f"   used {counted(len(one.used), 'time')} in {counted(files, 'file')}:")
        lines += [f"   - {_use(step)}" for step in one.used[:USES_SHOWN]]
    elif not one.undecided:
        lines.append("   no references found in the index")
    if len(one.used) > USES_SHOWN:
        lines.append(f"   ... {len(one.used) - USES_SHOWN:,} more: trace_relations has them all")
    return lines + [f"   {note}" for note in _undecided(one.undecided, [one.node])]


def _defined_lines(node: CodeNode) -> list[str]:
    place = _place(node) + (f" ({node.kind})" if not node.is_file else "") + _archived(node)
    return [place, f"   {one_line(node.signature)}"] if node.signature else [place]


def _undecided(lines: int, starts: Sequence[CodeNode]) -> list[str]:
    """Say how many lines contain the name of a start and may mean it."""
    if not lines:
        return []
    count = counted(lines, "more line uses", "more lines use")
    names = ", ".join(dict.fromkeys(f"`{one_line(node.name)}`" for node in starts if not node.is_file))
    what = names if 0 < len(names) < LINE_CHARACTERS else "a name that is defined there"
    return [f"{count} {what}, on a receiver or from a package that was not resolved; find_occurrences lists each line."]


def _shown(one: "Found") -> Iterable[CodeNode]:
    return (one.node, *one.also[:ALSO_SHOWN], *(step.source for step in one.used[:USES_SHOWN]))


def _use(step: "Step") -> str:
    return f"{_at(step.edge)}  {_name(step.source)} {step.edge.kind.replace('_', ' ')} it ({_certainty(step.edge)})"


def _trace(found: "Trace", arguments: TraceArguments, first: int) -> Answer:
    page = page_of(found.steps, first, arguments.limit)
    starts = ", ".join(_place(node) for node in found.starts[:3])
    more = f" and {len(found.starts) - 3} more of that name" if len(found.starts) > 3 else ""
    count = counted(page.total, *_NOUNS[found.direction])
    head = [f"{count} within {counted(arguments.hops, 'hop')} of {starts}{more}:"]
    if not page.total:
        head = [f"No {found.direction} of {starts}{more} {_CERTAIN[bool(found.undecided)]}."]
    payload = {
        **_some("starts", [node_payload(node) for node in found.starts]),
        "rows": [_step_payload(step) for step in page.rows],
        **_some("stops", [one._asdict() for one in found.stops]),
        "guesses_not_followed": found.guessed,
        "undecided": found.undecided,
        "is_cut": found.is_cut,
    }
    nodes = [*found.starts, *(node for step in page.rows for node in (step.source, step.target))]

    def lines(step: "Step") -> list[str]:
        is_use = step.edge.kind is RelationKind.USES and found.direction is Direction.CALLERS
        verb = "uses" if is_use else _VERBS[found.direction]
        words = f"{_at(step.edge)}  {_name(step.source)} {verb} {_target(step.target)}"
        return [f"{step.hop}. {words} ({_certainty(step.edge)})"]

    return Answer(head, _as_lines(page, lines), _where_it_stops(found), payload, nodes)


def _where_it_stops(found: "Trace") -> list[str]:
    lines = []
    for words, is_defined in _STOPS:
        names = {f"{one.module}: {one.name}" if one.module else one.name: None for one in found.stops
                 if one.is_defined is is_defined}  # fmt: skip
        if names:
            shown = ", ".join(one_line(name) for name in list(names)[:STOPS_SHOWN])
            rest = f" and {len(names) - STOPS_SHOWN:,} more" if len(names) > STOPS_SHOWN else ""
            lines.append(f"{words}: {shown}{rest}.")
    if found.guessed:
        guesses = counted(found.guessed, "guess", "guesses")
        why = "several definitions have the name, or the receiver is unknown"
        lines.append(f"Not followed: {guesses}, since {why}.")
    lines += _undecided(found.undecided, found.starts)
    if found.is_cut:
        lines.append("There is more: ask with fewer hops.")
    return lines


def _impact(found: "Impact", arguments: ImpactArguments, first: int) -> Answer:
    rows = [*((one, True) for one in found.tests), *((one, False) for one in found.reached)]
    page = page_of(rows, first, arguments.limit)
    starts = ", ".join(_place(node) for node in found.starts[:3])
    files = len({one.node.path for one, _ in rows})
    others = counted(len(found.reached), "definition or file", "definitions and files")
    reached = f"{others}, and {counted(len(found.tests), 'test')}, in {counted(files, 'file')}"
    head = [f"A change of {starts} may reach {reached} (within {counted(arguments.hops, 'hop')})."]
    if found.tests:
        head[0] += " Tests to run first:"
    if not rows:
        head = [f"No dependants of {starts} {_CERTAIN[bool(found.undecided)]}."]
    payload = {
        **_some("starts", [node_payload(node) for node in found.starts]),
        "rows": [_reached_payload(one, is_test=is_test) for one, is_test in page.rows],
        "undecided": found.undecided,
        "is_cut": found.is_cut,
    }

    def lines(row: tuple["Reached", bool]) -> list[str]:
        one, is_test = row
        words = f"{_at(one.edge)}  {_name(one.node)} {one.edge.kind.replace('_', ' ')} {_name(one.via)}"
        return [f"{'test ' if is_test else ''}{one.hops}. {words} ({_certainty(one.edge)}, {one.confidence:.2f})"]

    tail = _undecided(found.undecided, found.starts) + (["There is more: ask with fewer hops."] if found.is_cut else [])
    return Answer(head, _as_lines(page, lines), tail, payload, [*found.starts, *(one.node for one, _ in page.rows)])


def _occurrences(found: "Occurrences", arguments: OccurrencesArguments, first: int) -> Answer:
    page = page_of(found.lines, first, arguments.limit)
    lines_of_files = f"{counted(len(found.lines), 'line')} of {counted(found.files, 'file')}"
    places = f"{counted(found.total, 'occurrence')} on {lines_of_files}"
    where = f" in {', '.join(map(one_line, arguments.paths))}" if arguments.paths else ""
    head = [f"{places}; read: all of {counted(found.files_read, 'indexed file')}{where}."]
    if not found.files_read and not found.unread:
        head = [f"0 occurrences: no file{where} was searched; it is not indexed (index_status says why), or archived."]
    if found.unread:
        head.append(f"Not read, so not counted: {', '.join(map(one_line, found.unread[:STOPS_SHOWN]))}")
    last = [""]

    def lines(one: "Occurrence") -> list[str]:
        heading = [one_line(one.path)] if one.path != last[0] else []
        last[0] = one.path
        return ["\n".join([*heading, f"  {one.line}: {one_line(_excerpt(one).strip())}"])]

    payload = {
        "rows": [{"path": one.path, "line": one.line, "text": _excerpt(one), "count": one.count} for one in page.rows],
        "occurrences": found.total,
        "files": found.files,
        "files_read": found.files_read,
        **_some("unread", found.unread),
        "is_cut": found.is_cut,
    }
    tail = ["There are more lines than are kept: narrow it with paths."] if found.is_cut else []
    return Answer(head, _as_lines(page, lines), tail, payload)


def _excerpt(one: "Occurrence") -> str:
    """Return the line, of a long one the part that holds the text."""
    start = max(0, one.column - LINE_CHARACTERS // 4) if len(one.text) > LINE_CHARACTERS else 0
    return ("…" if start else "") + one.text[start : start + LINE_CHARACTERS]


def _as_lines(page: Page[Any], lines: Callable[[Any], list[str]]) -> Page[list[str]]:
    return Page([lines(row) for row in page.rows], page.first, page.total)


# ---------------------------------------------------------------- words


def _place(node: CodeNode) -> str:
    if node.is_file:
        return one_line(node.path)
    return one_line(f"{node.path}:{node.start_line}-{node.end_line}  {node.qualified_name}")


def _name(node: CodeNode) -> str:
    return "(the file)" if node.is_file else one_line(node.qualified_name)


def _target(node: CodeNode) -> str:
    return one_line(node.path if node.is_file else f"{node.qualified_name}  {node.path}:{node.start_line}")


def _at(edge: CodeEdge) -> str:
    return one_line(f"{edge.path}:{edge.line}")


def _archived(node: CodeNode) -> str:
    return ", archived" if node.is_archived else ""


def _certainty(edge: CodeEdge) -> str:
    return resolved(edge.resolution) + ("" if edge.resolution is Resolution.SYNTAX else f", {edge.confidence:.2f}")


# ---------------------------------------------------------------- JSON


def node_payload(node: CodeNode) -> dict[str, Any]:
    """Return a definition or file as JSON has it."""
    return {
        "path": node.path,
        "start_line": node.start_line,
        "end_line": node.end_line,
        "symbol": "" if node.is_file else node.qualified_name,
        "kind": "file" if node.is_file else node.kind.value,
        "signature": node.signature,
        "category": node.category.value,
        "is_archived": node.is_archived,
    }


def edge_payload(edge: CodeEdge) -> dict[str, Any]:
    """Return a relation as JSON has it, without its ends."""
    return {
        "relation": edge.kind.value,
        "path": edge.path,
        "line": edge.line,
        "confidence": edge.confidence,
        "resolution": edge.resolution.value,
    }


def _found_payload(one: "Found") -> dict[str, Any]:
    used = [{"by": node_payload(step.source), **edge_payload(step.edge)} for step in one.used[:USES_SHOWN]]
    also = [node_payload(node) for node in one.also[:ALSO_SHOWN]]
    uses = {"used": used, "used_total": len(one.used), "undecided": one.undecided}
    return node_payload(one.node) | {"also": also, "also_total": len(one.also)} | uses


def _some(name: str, values: Sequence[Any]) -> dict[str, Any]:
    return {name: list(values[:STOPS_SHOWN]), f"{name}_total": len(values)}


def _step_payload(step: "Step") -> dict[str, Any]:
    ends = {"source": node_payload(step.source), "target": node_payload(step.target)}
    return {"hop": step.hop, **ends, **edge_payload(step.edge)}


def _reached_payload(one: "Reached", *, is_test: bool) -> dict[str, Any]:
    way = {"via": node_payload(one.via), "hops": one.hops, "path_confidence": one.confidence, "is_test": is_test}
    return node_payload(one.node) | way | {"edge": edge_payload(one.edge)}
