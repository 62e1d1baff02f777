"""`impact`: what a change of a symbol, or a diff, may break, and the tests to run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator

from graphrag_mcp.app.protocol import Capability, CodeBackend
from graphrag_mcp.errors import RequestError
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import CodeArguments, Hops, hint
from graphrag_mcp.tools.call import Call, page_of
from graphrag_mcp.tools.code_answer import (
    LINE_CHARACTERS,
    STOPS_SHOWN,
    CodeAnswer,
    at,
    doubt_payload,
    doubts,
    edge_payload,
    if_any,
    lay_out,
    lay_out_json,
    location_of,
    name_of,
    navigate,
    node_payload,
)
from graphrag_mcp.tools.printing import one_line
from graphrag_mcp.tools.test_commands import commands_for
from graphrag_mcp.tools.tool import Tool

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.changes import Affected, Dependant, DiffImpact
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.navigator import Navigator


DIFF_TOKENS = 1_090  # Of an answer about a diff: 3,500 characters.
PLACES_SHOWN, LEAST_PLACES = 40, 5  # That a diff breaks: in all, and of each definition.
OTHERS_SHOWN, PLAIN_SHOWN, COMPANIONS_SHOWN = 3, 5, 3
_CHANGES = {
    "removed": "removed", "moved": "moved", "signature": "with another signature", "body": "with another body",
    "added": "added",
}  # fmt: skip
TESTS_LISTED = 30


class ImpactArguments(CodeArguments):
    """`impact`: of a symbol; without one, of what differs from `base`."""

    symbol: str = Field(
        "",
        max_length=1_000,
        description="A name (refresh), a qualified name (Session.refresh), path::name, path:line, or a file's path; "
        "without one: what differs from base.",
        json_schema_extra=hint("none: of the diff"),
    )
    base: str = Field(
        "",
        max_length=1_000,
        description="A branch or commit (main: since this branch left it), or a range (a..b); without one: HEAD.",
        json_schema_extra=hint("main, a..b"),
    )
    hops: Hops = 3

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.symbol.strip() and self.base:
            raise RequestError("base", "base: give a symbol, or the base of a diff, not both")
        return self


def impact(backend: CodeBackend, call: Call[ImpactArguments]) -> "CodeAnswer[Any, Any]":
    """Return what a change of a symbol may reach, or of what differs from a base."""
    return impact_of_symbol(backend, call) if call.arguments.symbol.strip() else impact_of_diff(backend, call)


def impact_of_diff(
    backend: CodeBackend, call: Call[ImpactArguments], patch: str = ""
) -> "CodeAnswer[DiffImpact, Affected]":
    """Return what a patch affects, or else what differs from the base."""

    def ask(navigator: "Navigator") -> "CodeAnswer[DiffImpact, Affected]":
        found = navigator.difference(call.arguments.base, patch, call.arguments.hops, call.scope)
        page = page_of(found.affected, call.first, call.arguments.limit)
        nodes = [row.node for row in found.affected if row.node] + [test.node for test in found.tests]
        return CodeAnswer(found, page, nodes)

    return navigate(backend, ask)


def impact_of_symbol(backend: CodeBackend, call: Call[ImpactArguments]) -> "CodeAnswer[Impact, tuple[Reached, bool]]":
    """Return what a change may reach; each row has whether it is a test, and tests come last."""

    def ask(navigator: "Navigator") -> "CodeAnswer[Impact, tuple[Reached, bool]]":
        found = navigator.impact(call.arguments.symbol, call.arguments.hops, call.scope)
        rows = [*((row, False) for row in found.reached), *((row, True) for row in found.tests)]
        page = page_of(rows, call.first, call.arguments.limit)
        return CodeAnswer(found, page, [*found.starts, *(row.node for row, _ in page.rows)])

    return navigate(backend, ask)


def impact_text(answer: CodeAnswer[Any, Any], call: Call[ImpactArguments]) -> str:
    """Return what a change may reach, and the tests with the command that runs them."""
    return _symbol_text(answer, call) if call.arguments.symbol.strip() else _diff_text(answer, call)


def _diff_text(answer: "CodeAnswer[DiffImpact, Affected]", call: Call[ImpactArguments]) -> str:
    """Return what a difference breaks or may affect, the gravest first, after the command that runs the tests."""
    found = answer.found
    kinds = Counter(row.definition.change.value for row in found.affected)
    counts = [f"{kinds[change]:,} {words}" for change, words in _CHANGES.items() if kinds[change]]
    counts += [counted(found.of_tests, "definition of tests", "definitions of tests")] if found.of_tests else []
    head = f"{counted(found.files, 'file differs', 'files differ')} from {as_name(found.base)}"
    head += f": {', '.join(counts)}." if counts else "; no definition of code is changed." if found.files else "."
    if any(row.definition.is_breaking for row in found.affected) or found.doubt.is_cut:
        at_least = "at least " if found.doubt.is_cut else ""
        head += f" Certainly broken outside the change: {at_least}{counted(found.broken, 'place')}."
    commands = commands_for(
        (test.node for test in found.tests if not test.is_guess), whole=found.doubt.is_cut or found.is_deeper
    )
    above = [head, *([f"Test: {one_line(' && '.join(commands))}"] if commands else [])]
    shown = [f"{as_name(one.path)} (with {as_name(path)}: {one.together} of {one.of} commits)"
             for path, one in found.together[:COMPANIONS_SHOWN]]  # fmt: skip
    within = counted(call.arguments.hops, "hop")
    tail = [f"Tests that reach the change by more than {within} are not listed."] if found.is_deeper else []
    tail += [f"Usually changed too: {', '.join(shown)}."] if shown else []
    if found.plain:
        rest = f" and {len(found.plain) - PLAIN_SHOWN:,} more" if len(found.plain) > PLAIN_SHOWN else ""
        tail.append(f"Without a changed definition: {', '.join(map(as_name, found.plain[:PLAIN_SHOWN]))}{rest}.")
    tail += [f"Not compared: {counted(found.left, 'more file')}."] if found.left else []
    is_judged = found.affected or found.doubt.is_cut
    tail += doubts(found.doubt, []) if is_judged else []
    tokens = call.tokens if call.arguments.token_budget else min(call.tokens, DIFF_TOKENS)
    having = sum(bool(row.breaks or row.may_break) for row in found.affected)
    most = max(LEAST_PLACES, PLACES_SHOWN // max(having, 1))
    return lay_out(answer, replace(call, tokens=tokens), above, partial(_affected_lines, most=most), tail)


def _affected_lines(row: "Affected", most: int) -> list[str]:
    """Return a changed definition with the places that depend on it. most: how many that it breaks are shown."""
    one = row.definition
    marks = ", public" if one.is_public else ""
    signatures = f"  {as_name(one.signature[:LINE_CHARACTERS])}  was {as_name(one.was[:LINE_CHARACTERS])}"
    changed = signatures if one.change == "signature" else ""
    used = f"  (used by {len(row.others):,} more{_named(row.others) if changed else ''})" if row.others else ""
    lines = [f"{one.change}{marks}  {as_name(one.path)}:{one.line}  {as_name(one.name)}{changed}{used}"]
    for verb, places in (("breaks", row.breaks), ("may break", row.may_break)):
        lines += [f"  {verb} {as_name(place.path)}:{place.line}  {name_of(place.node)}" for place in places[:most]]
        lines += [f"  {verb} {len(places) - most:,} more"] if len(places) > most else []
    return ["\n".join(lines)]


def _named(places: "Sequence[Dependant]") -> str:
    shown = (f"{as_name(place.path)}:{place.line} {name_of(place.node)}" for place in places[:OTHERS_SHOWN])
    return f": {', '.join(shown)}{', …' if len(places) > OTHERS_SHOWN else ''}"


def _symbol_text(answer: "CodeAnswer[Impact, tuple[Reached, bool]]", call: Call[ImpactArguments]) -> str:
    found = answer.found
    starts = ", ".join(location_of(node) for node in found.starts[:3])
    files = len({row.node.path for row in (*found.tests, *found.reached)})
    others = counted(len(found.reached), "definition or file", "definitions and files")
    at_least = "at least " if found.doubt.is_cut else ""
    reached = f"{at_least}{others}, and {counted(len(found.tests), 'test')}, in {counted(files, 'file')}"
    head = f"Changing {starts} may affect {reached} (within {counted(call.arguments.hops, 'hop')})."
    if not answer.page.total and not at_least:
        head = f"No{'' if found.doubt.is_complete else ' certain'} dependants of {starts}."
    usual = [f"{as_name(one.path)} ({one.together} of {one.of} commits)" for one in found.together]
    tail = [f"Usually changed with {as_name(found.starts[0].path)}: {', '.join(usual)}."] if usual else []
    tail += doubts(found.doubt, found.starts, "trace_relations unresolved=true lists them", with_members=True)
    commands = commands_for(
        (row.node for row in found.tests if not row.is_guess), whole=found.doubt.is_cut or found.is_deeper
    )
    return lay_out(answer, call, [head, *(f"Test: {one_line(command)}" for command in commands)], _reached_lines, tail)


def _reached_lines(row: tuple["Reached", bool]) -> list[str]:
    reached, is_test = row
    words = f"{at(reached.edge)}  {name_of(reached.node)} {reached.edge.kind.replace('_', ' ')} {name_of(reached.via)}"
    return [f"{'test ' if is_test else ''}{reached.hops}. {words} ({reached.edge.certainty})"]


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
        **if_any("without_changed_definition", found.plain),
        **if_any("usually_changed_too", [{"with": path, **one._asdict()} for path, one in found.together]),
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
        **if_any("starts", [node_payload(node) for node in found.starts]),
        "rows": [_reached_payload(row, is_test=is_test) for row, is_test in answer.page.rows],
        "test_commands": commands_for(
            (row.node for row in found.tests if not row.is_guess), whole=found.doubt.is_cut or found.is_deeper
        ),
        **if_any("changed_together", [one._asdict() for one in found.together]),
        "doubt": doubt_payload(found.doubt),
        "is_cut": found.doubt.is_cut,
    }
    return lay_out_json(answer, call, payload)


def _reached_payload(row: "Reached", *, is_test: bool) -> dict[str, Any]:
    way = {"via": node_payload(row.via), "hops": row.hops, "path_confidence": row.confidence, "is_test": is_test}
    return node_payload(row.node) | way | {"edge": edge_payload(row.edge)}


IMPACT = Tool(
    name="impact",
    title="Impact",
    description=(
        "For what an edit of a symbol or file may break, before and after it; without a symbol, what your diff breaks. "
        "Returns the tests to run first, then all that depends on it. rg adds uses outside of code."
    ),
    arguments=ImpactArguments,
    needs=Capability.CODE,
    ask=impact,
    text=impact_text,
    json=impact_json,
)
