"""`impact`: what a change of a symbol, or a diff, may break, and the tests to run."""

from collections import Counter
from collections.abc import Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from graphrag_mcp.app.session import Capability
from graphrag_mcp.errors import RequestError
from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import ROWS, SYMBOL, CodeArguments, Hops, hint
from graphrag_mcp.tools.code_answer import (
    LINE_CHARACTERS,
    CodeAnswer,
    answer_of,
    at,
    code_json,
    doubts,
    first_places,
    further,
    is_empty,
    lay_out,
    location_of,
    name_of,
    target_of,
)
from graphrag_mcp.tools.printing import one_line
from graphrag_mcp.tools.tool import Call, Tool, page_of

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.changes import DiffImpact
    from graphrag_mcp.graph.dependants import Affected
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.tracing import Dependant
    from graphrag_mcp.model.graph import CodeNode

TESTS_SHOWN, NEAR_TESTS_SHOWN = 3, 10  # Tests of a type or a diff; tests that call what a diff changes.
UNSURE_TESTS = 10  # That are reached by name only, unless a limit above the usual one asks for more.
ALSO_SHOWN = 3  # Other names that a file has.
DIFF_TOKENS = 1_090  # An answer about a diff has no more: 3,500 characters.
PLACES_SHOWN, LEAST_PLACES = 40, 5  # That a diff breaks: in all, and of each definition.
FEW_CHANGES = 5  # If more definitions changed, the users that nothing breaks are counted.
OTHERS_SHOWN, PLAIN_SHOWN, COMPANIONS_SHOWN = 4, 5, 3
_CHANGES = {
    "removed": "removed", "moved": "moved", "signature": "with another signature", "body": "with another body",
    "added": "added",
}  # fmt: skip


class ImpactArguments(CodeArguments, frozen=True, kw_only=True):
    """`impact`: of a symbol; without one, of what differs from `base`."""

    symbol: Annotated[
        str, Meta(max_length=1_000), f"{SYMBOL}; without one: what differs from base.", hint("none: of the diff")
    ] = ""
    base: Annotated[
        str,
        Meta(max_length=1_000),
        "A branch or commit (main: since this branch left it), or a range (a..b); without one: HEAD.",
        hint("main, a..b"),
    ] = ""
    hops: Hops = 3

    def __post_init__(self) -> None:
        if self.symbol.strip() and self.base:
            raise RequestError("base", "base: give a symbol, or the base of a diff, not both")


def impact(view: "IndexView", call: Call[ImpactArguments]) -> "CodeAnswer[Any, Any]":
    """Return what a change of a symbol may reach, or of what differs from a base."""
    return impact_of_symbol(view, call) if call.arguments.symbol.strip() else impact_of_diff(view, call)


def impact_of_diff(
    view: "IndexView", call: Call[ImpactArguments], patch: str = ""
) -> "CodeAnswer[DiffImpact, Affected]":
    """Return what a patch affects, or else what differs from the base."""
    difference = view.navigator.difference(call.arguments.base, patch, call.arguments.hops, call.scope)
    page = page_of(difference.affected, call.first, call.arguments.limit)
    nodes = [row.node for row in difference.affected if row.node] + [test.node for test in difference.tests]
    return answer_of(view, difference, page, nodes)


def impact_of_symbol(view: "IndexView", call: Call[ImpactArguments]) -> "CodeAnswer[Impact, Reached]":
    """Return what a change may reach, tests last."""
    reach = view.navigator.impact(call.arguments.symbol, call.arguments.hops, call.scope)
    unsure = _unsure_left(reach, call)
    tests = reach.tests[: len(reach.tests) - unsure]
    page = page_of([*reach.reached, *tests], call.first, call.arguments.limit)
    return answer_of(view, reach, page, [*reach.starts, *(row.node for row in page.rows)])


def _asks_for_more(call: Call[ImpactArguments]) -> bool:
    """Return whether more rows are asked for than an answer usually has."""
    return call.arguments.limit > ROWS


def _unsure_left(reach: "Impact", call: Call[ImpactArguments]) -> int:
    """Return how many tests, those that are reached by name only, are counted and not listed."""
    if _asks_for_more(call) or call.arguments.response_format == "json":
        return 0
    return max(0, sum(test.is_by_name for test in reach.tests) - UNSURE_TESTS)


def impact_text(answer: CodeAnswer[Any, Any], call: Call[ImpactArguments]) -> str:
    """Return what a change may reach, and the tests with the command that runs them."""
    return _symbol_text(answer, call) if call.arguments.symbol.strip() else _diff_text(answer, call)


def _reach_types(affected: "DiffImpact | Impact") -> str:
    """Return which tests reach the types of what changes, or else of what depends on it."""
    tests, names = affected.tests_of_types, [name_of(node) for node in affected.tests_of_types]
    types = listed([name_of(node) for node in affected.types_tested], TESTS_SHOWN)
    return f"{counted(len(tests), 'test reaches', 'tests reach')} {types}: {listed(names, TESTS_SHOWN)}"


def _broken(affected: "DiffImpact") -> str:
    """Return how much a difference certainly breaks, and where that is not decided."""
    open_rows = [row for row in affected.affected if not row.is_decided]
    is_breaking = any(row.definition.is_breaking for row in affected.affected if row.is_decided)
    said = ""
    if is_breaking or affected.broken or (affected.doubt.is_cut and not open_rows):
        at_least = "at least " if affected.doubt.is_cut else ""
        said = f" Certainly broken outside the change: {at_least}{counted(affected.broken, 'place')}."
    if open_rows:
        titles = {describe(detect_language(row.definition.path)).title: None for row in open_rows}
        where = f" in {listed(list(titles), TESTS_SHOWN)}" if all(titles) else ""
        others = sum(len(row.may_break) for row in open_rows) - affected.not_decided
        users = counted(affected.not_decided, "certain user") if affected.not_decided else "no certain user"
        by_name = f" and {others:,} by name" if others else ""
        said += f" What {'else ' if said else ''}breaks is not decided{where}: {users}{by_name}."
    return said


def _diff_text(answer: "CodeAnswer[DiffImpact, Affected]", call: Call[ImpactArguments]) -> str:
    """Return what a difference breaks or may affect, the gravest first, after the command that runs the tests."""
    affected = answer.result
    kinds = Counter(row.definition.change.value for row in affected.affected)
    counts = [f"{kinds[change]:,} {words}" for change, words in _CHANGES.items() if kinds[change]]
    if affected.tests_changed:
        counts.append(counted(affected.tests_changed, "definition of tests", "definitions of tests"))
    head = f"{counted(affected.files, 'file differs', 'files differ')} from {as_name(affected.base)}"
    head += f": {', '.join(counts)}." if counts else "; no definition of code is changed." if affected.files else "."
    head += _broken(affected)
    within = counted(call.arguments.hops, "hop")
    tests = _tests_line(affected, within, call.arguments.limit if _asks_for_more(call) else TESTS_SHOWN)
    above = [head, *([tests] if tests else [])]
    shown = [f"{as_name(file.path)} (with {as_name(file.beside)}: {file.together} of {file.of} commits)"
             for file in affected.together[:COMPANIONS_SHOWN]]  # fmt: skip
    tail = [f"No test is known to reach it within {within}."] if affected.is_deeper and not tests else []
    for text, places in affected.texts_left.items():
        tail.append(f'The text "{as_name(text)}", which is removed, is still at {first_places(places)}.')
    if further_on := [target_of(row.node) for row in affected.reached]:
        tail.append(f"Reached through them: {listed(further_on, OTHERS_SHOWN)}.")
    tail += [f"Usually changed too: {', '.join(shown)}."] if shown else []
    if plain := list(map(as_name, affected.without_definition)):
        tail.append(f"Without a changed definition: {listed(plain, PLAIN_SHOWN)}.")
    tail += [f"Not compared: {counted(affected.files_left, 'more file')}."] if affected.files_left else []
    is_judged = affected.doubt.is_cut or (affected.affected and not (affected.is_deeper and affected.doubt.is_complete))
    tail += doubts(affected.doubt, [], call.asking) if is_judged else []
    tokens = call.tokens if call.arguments.token_budget else min(call.tokens, DIFF_TOKENS)
    having = sum(bool(row.breaks or row.may_break) for row in affected.affected)
    most = max(LEAST_PLACES, PLACES_SHOWN // max(having, 1))
    names_all = len(affected.affected) <= FEW_CHANGES
    lines = partial(_affected_lines, most=most, names_all=names_all)
    return lay_out(answer, replace(call, tokens=tokens), above, lines, tail)


def _tests_line(affected: "DiffImpact", within: str, most: int) -> str:
    """Return how many tests a difference reaches and what runs them, else where the first ones are; "" for none.

    most: the tests that are named, the surest and nearest first; those that call what is changed all are.
    """
    commands = affected.test_commands
    ways = {test.node: (test.is_guess, test.hops) for test in affected.tests}
    started = sorted(affected.started, key=ways.__getitem__)
    near = [node for node, (is_guess, hops) in ways.items() if hops == 1 and not (is_guess or node.is_file)]
    most = max(most, min(NEAR_TESTS_SHOWN, len(set(near).intersection(started))))
    is_named = 0 < len(started) <= most or affected.is_deeper or not commands  # Else the command names them.
    names = [name_of(node) if commands else target_of(node) for node in started]
    named = f": {listed(names, most)}" if is_named and names else ""
    if helping := [target_of(node) for node in near if node not in started]:
        named += f"; called beside tests by {listed(helping, NEAR_TESTS_SHOWN)}"
    more = "; more are further away" if affected.is_deeper else ""
    is_sure = not all(test.is_guess for test in affected.tests)
    found = f"{counted(len(started), 'test')}{'' if is_sure else ' by name'} within {within}{named}"
    if set(affected.tests_of_types).difference(started):
        found, more = f"{found if started else f'none within {within}'}; {_reach_types(affected)}", ""
    if commands:
        return f"Test ({found}{more}): {one_line(' && '.join(commands))}"
    return f"Test: {found}{more}." if started or helping or affected.tests_of_types else ""


def _affected_lines(row: "Affected", most: int, *, names_all: bool) -> list[str]:
    """Return a changed definition with the places that depend on it.

    most: how many that it breaks are shown. names_all: whether the users of one with the same signature are named.
    """
    definition = row.definition
    marks = ", public" if definition.is_public else ""
    signatures = f"  {as_name(definition.signature[:LINE_CHARACTERS])}  was {as_name(definition.was[:LINE_CHARACTERS])}"
    changed = signatures if definition.change == "signature" else ""
    used = _named(row.others) if changed or names_all else ""
    used = f"  (used by {len(row.others):,} more{_by_name(row.others)}{used})" if row.others else ""
    place = f"{as_name(definition.path)}:{definition.line}  {as_name(definition.symbol)}"
    lines = [f"{definition.change}{marks}  {place}{changed}{used}"]
    for verb, places in (("breaks", row.breaks), ("may break", row.may_break)):
        lines += [f"  {verb} {at(place)}  {name_of(place.node)}{_unless_sure(place)}" for place in places[:most]]
        lines += [f"  {verb} {len(places) - most:,} more"] if len(places) > most else []
    return ["\n".join(lines)]


def _by_name(places: "Sequence[Dependant]") -> str:
    count = sum(place.certainty is Certainty.BY_NAME for place in places)
    return f", {count:,} by name" if count else ""


def _unless_sure(place: "Dependant") -> str:
    return f" ({place.certainty})" if place.certainty is Certainty.BY_NAME else ""


def _named(places: "Sequence[Dependant]") -> str:
    shown = (f"{at(place)} {name_of(place.node)}" for place in places[:OTHERS_SHOWN])
    return f": {', '.join(shown)}{', …' if len(places) > OTHERS_SHOWN else ''}"


def _symbol_text(answer: "CodeAnswer[Impact, Reached]", call: Call[ImpactArguments]) -> str:
    affected = answer.result
    starts = ", ".join(location_of(node) for node in affected.starts[:3])
    files = len({row.node.path for row in (*affected.tests, *affected.reached)})
    others = counted(len(affected.reached), "definition or file", "definitions and files")
    others = others if affected.reached or not affected.doubt.undecided else "no certain definition"
    at_least = "at least " if affected.doubt.is_cut else ""
    cases = affected.started
    helpers = sum(row.node not in cases for row in affected.tests)
    tests = counted(len(affected.tests) - helpers, "test")
    if helpers:
        helping = counted(helpers, "helper of tests", "helpers of tests")
        tests = f", {tests} and {helping}" if cases else f", and {counted(helpers, 'definition')} beside tests"
    else:
        tests = f", and {tests}"
    reached = f"{at_least}{others}{tests}, in {counted(files, 'file')}"
    head = f"Changing {starts} may affect {reached} (within {counted(call.arguments.hops, 'hop')})."
    if not answer.page.total and not at_least:
        head = f"No{'' if affected.doubt.is_complete else ' certain'} dependants of {starts}."
    if affected.tests_of_types:
        head += f" {_reach_types(affected)}."
    usual = [f"{as_name(file.path)} ({file.together} of {file.of} commits)" for file in affected.together]
    tail = [f"Usually changed with {as_name(affected.starts[0].path)}: {', '.join(usual)}."] if usual else []
    if affected.is_deeper:
        tail.append(further("More", "depend on", call.arguments.hops, call.asking))
    if unsure := _unsure_left(affected, call):
        limit = call.asking.argument("limit=500")
        tail.append(f"{counted(unsure, 'more test is', 'more tests are')} reached by name only: {limit} lists them.")
    if not (affected.is_deeper and affected.doubt.is_complete):
        tail += doubts(affected.doubt, affected.starts, call.asking, with_members=True)
    is_all = affected.doubt.is_complete and not affected.is_deeper
    commands = [f"Test{'' if is_all else ' first'}: {one_line(command)}" for command in affected.test_commands]
    return lay_out(answer, call, [head, *commands], partial(_reached_lines, cases), tail)


def _reached_lines(cases: "Set[CodeNode]", row: "Reached") -> list[str]:
    does = " and ".join(kind.replace("_", " ") for kind in row.relations)
    words = f"{at(row.edge, row.lines)}  {name_of(row.node)} {does} {name_of(row.via)}"
    others = [f"{as_name(name)}:{', '.join(map(str, lines))}" for name, lines in row.also.items()]
    is_import = set(row.relations) == {"imports"}  # What else a file imports says nothing of the name.
    also = f"; also {listed(others, ALSO_SHOWN)}" if others and not is_import else ""
    what = ("test " if row.node in cases or not cases else "helper ") if row.is_test else ""
    return [f"{what}{row.hops}. {words} ({row.edge.certainty}){also}"]


IMPACT = Tool(
    name="impact",
    description=(
        "What an edit of a symbol or file may break, and which tests to run first; without a symbol, what "
        "your diff breaks."
    ),
    arguments=ImpactArguments,
    needs=Capability.RELATIONS,
    find=impact,
    text=impact_text,
    json=code_json,
    is_empty=is_empty,
    of_index=("base",),
)
