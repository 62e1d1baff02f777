"""Writes the answers of the code tools as JSON: as many rows as the budget allows, and the cursor to the next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphrag_mcp.answers.arguments import (
    FindSymbolArguments,
    HistoryArguments,
    ImpactArguments,
    OccurrencesArguments,
    TraceArguments,
)
from graphrag_mcp.answers.asking import ALSO_SHOWN, USES_SHOWN, CodeAnswer, History, ToldCommit
from graphrag_mcp.answers.bodies import body_payload
from graphrag_mcp.answers.code_text import STOPS_SHOWN, excerpt
from graphrag_mcp.answers.excerpts import room_of, take_fitting
from graphrag_mcp.answers.payload import FRAME, json_cost
from graphrag_mcp.answers.requests import Call
from graphrag_mcp.answers.runner import commands_for
from graphrag_mcp.model.graph import CodeEdge, CodeNode, Doubt
from graphrag_mcp.model.history import day_of

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.changes import Affected, DiffImpact
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.navigator import Found
    from graphrag_mcp.graph.tracing import Step, Trace
    from graphrag_mcp.grep.hits import Hits
    from graphrag_mcp.grep.roles import Placed

TESTS_LISTED = 30
_PAGING_FRAME = 80  # Characters of total, first and cursor.


def symbols_json(answer: CodeAnswer[Any, Any], call: Call[FindSymbolArguments]) -> dict[str, Any]:
    """Return each definition with the references to it, or with its code."""
    if call.arguments.body:
        rows = [node_payload(body.node) | body_payload(body, answer, call) for body in answer.page.rows]
        return lay_out_json(answer, call, {"rows": rows, "missing": answer.found.missing})
    return lay_out_json(answer, call, {"rows": [_found_payload(row) for row in answer.page.rows]})


def trace_json(answer: "CodeAnswer[Trace, Step]", call: Call[TraceArguments]) -> dict[str, Any]:
    """Return each relation with both ends, and the names where the trace stops."""
    found = answer.found
    payload = {
        **_some("starts", [node_payload(node) for node in found.starts]),
        "rows": [_step_payload(step) for step in answer.page.rows],
        **_some("stops", [stop._asdict() for stop in found.stops]),
        "doubt": doubt_payload(found.doubt),
        "is_cut": found.doubt.is_cut,
    }
    return lay_out_json(answer, call, payload)


def impact_json(answer: CodeAnswer[Any, Any], call: Call[ImpactArguments]) -> dict[str, Any]:
    """Return what a change may reach, tests last."""
    return _symbol_json(answer, call) if call.arguments.symbol.strip() else _diff_json(answer, call)


def _diff_json(answer: "CodeAnswer[DiffImpact, Affected]", call: Call[ImpactArguments]) -> dict[str, Any]:
    found = answer.found
    tests = [{"path": test.node.path, "symbol": "" if test.node.is_file else test.node.qualified_name,
              "hops": test.hops, "is_guess": test.is_guess} for test in found.tests]  # fmt: skip
    payload = {
        "base": found.base,
        "files": found.files,
        "broken": found.broken,
        "rows": [_affected_payload(row) for row in answer.page.rows],
        "test_command": " && ".join(
            commands_for(
                (test.node for test in found.tests if not test.is_guess), whole=found.doubt.is_cut or found.is_deeper
            )
        ),
        "tests": tests[:TESTS_LISTED],
        "tests_total": len(tests),
        "tests_changed": found.of_tests,
        "is_deeper": found.is_deeper,
        **_some("without_changed_definition", found.plain),
        **_some("usually_changed_too", [{"with": path, **one._asdict()} for path, one in found.together]),
        "files_left": found.left,
        "doubt": doubt_payload(found.doubt),
        "is_cut": found.doubt.is_cut,
    }
    return lay_out_json(answer, call, payload)


def _affected_payload(row: "Affected") -> dict[str, Any]:
    one = row.definition
    places = {
        name: [node_payload(place.node) | {"at": f"{place.path}:{place.line}", "relation": place.relation.value}
               for place in places[:STOPS_SHOWN]]
        for name, places in (("breaks", row.breaks), ("may_break", row.may_break))
    }  # fmt: skip
    return {
        "change": one.change.value, "path": one.path, "line": one.line, "symbol": one.name, "kind": one.kind.value,
        "signature": one.signature, "was": one.was, "is_public": one.is_public, "is_breaking": one.is_breaking,
        **places, "breaks_total": len(row.breaks), "may_break_total": len(row.may_break), "others": len(row.others),
    }  # fmt: skip


def _symbol_json(answer: "CodeAnswer[Impact, tuple[Reached, bool]]", call: Call[ImpactArguments]) -> dict[str, Any]:
    found = answer.found
    payload = {
        **_some("starts", [node_payload(node) for node in found.starts]),
        "rows": [_reached_payload(row, is_test=is_test) for row, is_test in answer.page.rows],
        "test_commands": commands_for(
            (row.node for row in found.tests if not row.is_guess), whole=found.doubt.is_cut or found.is_deeper
        ),
        **_some("changed_together", [one._asdict() for one in found.together]),
        "doubt": doubt_payload(found.doubt),
        "is_cut": found.doubt.is_cut,
    }
    return lay_out_json(answer, call, payload)


def occurrences_json(answer: "CodeAnswer[Hits, Placed]", call: Call[OccurrencesArguments]) -> dict[str, Any]:
    """Return each line that contains the text, and the files that were not read."""
    found = answer.found.found
    payload = {
        "rows": [_hit_payload(row) for row in answer.page.rows],
        "lines": found.total,
        "files": found.files,
        "files_searched": found.files_searched,
        **_some("unread", found.unread),
    }
    return lay_out_json(answer, call, payload)


def history_json(answer: CodeAnswer[History, ToldCommit], call: Call[HistoryArguments]) -> dict[str, Any]:
    """Return each commit with its files."""
    node = answer.found.node
    payload = {
        **({"of": node_payload(node)} if node else {}),
        "rows": [
            {
                "commit": row.commit.name,
                "date": day_of(row.commit),
                "author": row.commit.author,
                "message": row.commit.message,
                "files": [{"path": path, "symbols": list(symbols)} for path, symbols in row.files.items()],
                "other_files": row.others,
            }
            for row in answer.page.rows
        ],
        "missing": answer.found.note,
    }
    return lay_out_json(answer, call, payload)


def _hit_payload(row: "Placed") -> dict[str, Any]:
    one = row.occurrence
    around = {"before": list(row.before), "after": list(row.after)} if row.before or row.after else {}
    where = {"path": one.path, "line": one.line, "symbol": row.symbol, "role": row.role.value}
    return where | {"text": excerpt(one)} | around


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


def _found_payload(row: "Found") -> dict[str, Any]:
    used = [{"by": node_payload(step.source), **edge_payload(step.edge)} for step in row.used[:USES_SHOWN]]
    also = [node_payload(node) for node in row.also[:ALSO_SHOWN]]
    uses = {"used": used, "used_total": len(row.used), "doubt": doubt_payload(row.doubt)}
    return node_payload(row.node) | {"also": also, "also_total": len(row.also)} | uses


def _some(name: str, values: Sequence[Any]) -> dict[str, Any]:
    return {name: list(values[:STOPS_SHOWN]), f"{name}_total": len(values)}


def _step_payload(step: "Step") -> dict[str, Any]:
    ends = {"source": node_payload(step.source), "target": node_payload(step.target)}
    return {"hop": step.hop, **ends, **edge_payload(step.edge), "lines": list(step.lines)}


def _reached_payload(row: "Reached", *, is_test: bool) -> dict[str, Any]:
    way = {"via": node_payload(row.via), "hops": row.hops, "path_confidence": row.confidence, "is_test": is_test}
    return node_payload(row.node) | way | {"edge": edge_payload(row.edge)}
