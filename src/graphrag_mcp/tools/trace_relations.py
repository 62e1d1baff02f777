"""`trace_relations`: the relations of a symbol, or how code reaches other code."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from msgspec.structs import replace

from graphrag_mcp.app.session import Capability
from graphrag_mcp.errors import RequestError
from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.graph import ACCESSING, OF_USES, Certainty, Direction, Line
from graphrag_mcp.text.counts import counted, listed
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import MOST_HOPS, Hops
from graphrag_mcp.tools.code_answer import (
    FEW_PLACES,
    KIND_WORDS,
    LINES_SHOWN,
    LISTED_BY_NAME,
    STOPS_SHOWN,
    UNRECORDED,
    UNSAID_KINDS,
    UNTYPED,
    CodeAnswer,
    answer_of,
    code_json,
    doubts,
    files_not_resolved,
    first_places,
    further,
    in_words,
    is_empty,
    lay_out,
    line_numbers,
    lists_the_lines,
    location_of,
    name_of,
    shown_line,
    target_of,
)
from graphrag_mcp.tools.flow import FlowArguments, find_flow, flow_text
from graphrag_mcp.tools.printing import Asking, location
from graphrag_mcp.tools.tool import Call, Tool, page_of

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.tracing import Naming, Step, Trace
    from graphrag_mcp.model.graph import CodeNode

# In these directions all levels are followed, each below the one before.
_LEVELLED = (Direction.SUBCLASSES, Direction.IMPLEMENTERS, Direction.OVERRIDES, Direction.SUPERCLASSES)
_MOST_LEVELS = 100
_ATTRIBUTES = 5  # No more lines of annotations are read above the name of a method.
FEW_TESTS = 5  # With fewer nearby, those further away are looked for too,
MANY_TESTS = 25  # and listed unless they are more: then most of them only pass through it.
_STOPS = (("Outside of what is indexed", False), ("Not decided", True))
_ABOVE = {
    Direction.SUPERCLASSES: "Outside of this repository",
    Direction.OVERRIDES: "It may override a member of what is outside of this repository",
}


class TraceArguments(FlowArguments, frozen=True, kw_only=True):
    """`trace_relations`: the relations of a symbol, or how code reaches other code."""

    direction: Annotated[Direction, "Which relation to follow."] = Direction.CALLERS
    hops: Annotated[Hops, "How far to follow; without it, all levels of types, overrides."] = 1
    unresolved: Annotated[bool, "Also list places whose receiver is not known."] = False

    @property
    def is_whole(self) -> bool:
        """Whether all levels are meant: of types and overrides, if no number of hops is given."""
        return self.direction in _LEVELLED and "hops" not in self.given

    def __post_init__(self) -> None:
        if not self.symbol.strip() and not self.is_flow:
            raise RequestError("symbol", "symbol is required, or from, to or question")
        if self.symbol.strip() and self.from_:
            raise RequestError("symbol", "symbol and from both say where to start; give one of them")


def trace_relations(view: "IndexView", call: Call[TraceArguments]) -> CodeAnswer[Any, Any]:
    """Return the relations of one kind that start at a name, or how code reaches other code."""
    return find_flow(view, call) if call.arguments.is_flow else _trace(view, call)


def _trace(view: "IndexView", call: Call[TraceArguments]) -> "CodeAnswer[Trace, Step]":
    arguments, navigator = call.arguments, view.navigator
    follow = partial(
        navigator.trace, arguments.symbol, arguments.direction, scope=call.scope, unresolved=arguments.unresolved
    )
    trace = follow(_MOST_LEVELS if arguments.is_whole else arguments.hops)
    may_look_further = arguments.direction is Direction.TESTS and "hops" not in arguments.given
    if may_look_further and trace.is_deeper and len(trace.steps) < FEW_TESTS:
        further_away = follow(MOST_HOPS)
        is_short = not trace.steps or len(further_away.steps) <= MANY_TESTS
        trace = further_away if is_short else trace
    if not trace.steps and arguments.direction in OF_USES and 0 < len(trace.doubt.undecided) <= FEW_PLACES:
        trace = navigator.trace(arguments.symbol, arguments.direction, trace.hops, call.scope, unresolved=True)
    page = page_of(trace.steps, call.first, arguments.limit)
    nodes = filter(attrgetter("path"), (*trace.starts, *(end for row in page.rows for end in (row.source, row.target))))
    texts = navigator.texts({(step.edge.path, line) for step in page.rows for line in (*step.lines, *_head_of(step))})
    return answer_of(view, trace, page, nodes, texts)


def trace_text(answer: "CodeAnswer[Trace, Step]", call: Call[TraceArguments]) -> str:
    """Return each relation under its file and definition with the text of its lines, and what is not known."""
    trace = answer.result
    head = _head(trace, call)
    last_path = ""

    def lines(step: "Step") -> list[str]:
        nonlocal last_path
        path = [as_name(step.edge.path)] if step.edge.path != last_path else []
        last_path = step.edge.path
        if not trace.direction.is_outgoing and _is_its_definition(step, answer.texts):
            [line] = step.lines
            text = shown_line(answer.texts[last_path, line].strip())
            return ["\n".join([*path, f"  {line}{_step_words(step, trace)}: {text}"])]
        is_whole = trace.direction is not Direction.USERS or (trace.naming and step in trace.naming.steps)
        shown = LINES_SHOWN if is_whole else 1
        numbers = [_named_line(step, answer.texts)] if _head_of(step) else step.lines[:shown]
        texts = [f"    {line}: {shown_line(answer.texts.get((last_path, line), '').strip())}" for line in numbers]
        rest = line_numbers(step.lines[shown:])
        far = step.far_end(trace.direction)
        head_of_step = f"  {target_of(far) if trace.direction.is_outgoing else name_of(far)}{_step_words(step, trace)}"
        return ["\n".join([*path, head_of_step, *texts, *([f"    also {rest}"] if rest else [])])]

    return lay_out(answer, call, [head], lines, _where_it_stops(trace, call))


def _head(trace: "Trace", call: Call[TraceArguments]) -> str:
    """Return what was found of what, and how sure that is."""
    total = len(trace.steps)
    starts = listed(list(map(location_of, _related(trace))), 3, "more of that name")
    if naming := trace.naming:
        recorded = replace(trace, steps=trace.steps[: total - len(naming.steps)], naming=None)
        head = _head(recorded, call).removesuffix(".") if recorded.steps else ""
        return _named_head(naming, head, starts, trace)
    within = f" within {counted(trace.hops, 'hop')}" if trace.hops > 1 and not call.arguments.is_whole else ""
    parts = _parts(trace)
    plural = trace.direction.value
    noun = plural.removesuffix("es") if plural.endswith("sses") else plural.removesuffix("s")
    kind = "direct " if trace.direction in _LEVELLED and trace.hops == 1 else ""
    at_least = "At least " if trace.doubt.is_cut else ""
    accesses = sum(_is_access(step, trace) for step in trace.steps)
    far_ends = {step.far_end(trace.direction) for step in trace.steps if not _is_access(step, trace)}
    count = counted(len(far_ends), kind + noun, kind + plural) if far_ends else f"No {plural}"
    count += f" and {counted(accesses, 'read or write', 'reads and writes')}" if accesses else ""
    if trace.direction is Direction.TESTS and 0 < trace.cases < total:
        count = (
            f"{counted(trace.cases, 'test')} and {counted(total - trace.cases, 'helper of tests', 'helpers of tests')}"
        )
    head = f"{at_least}{count}{within} of {starts}{': ' if parts else ''}{', '.join(parts)}."
    is_listed = [step.edge.certainty is Certainty.BY_NAME and not step.edge.is_named for step in trace.steps]
    if total and all(is_listed):
        return f"No certain {trace.direction}{within} of {starts}; {', '.join(parts)}."
    if not total and not at_least:
        certain = "" if trace.doubt.is_complete else " certain"
        here = " in this repository" if trace.direction is Direction.SUPERCLASSES and trace.stops else ""
        return f"No{certain} {trace.direction}{here}{within} of {starts}."
    return head


def _named_head(naming: "Naming", recorded: str, starts: str, trace: "Trace") -> str:
    """Return how many lines have the name of a value. recorded: what is said of its relations, "" for none."""
    is_one, more = naming.lines <= 1, "other " if recorded else ""
    lines = counted(naming.lines, f"{more}line", f"{more}lines") if naming.lines else f"no {more}line"
    does = ("sets" if is_one else "set") if trace.direction is Direction.WRITERS else "has" if is_one else "have"
    what = "what has the name" if trace.direction is Direction.WRITERS else "the name"
    lines = f"at least {lines}" if trace.doubt.is_cut and naming.lines else lines
    whose = "" if recorded else f" of {starts}"
    said = f"{lines} of code {does} {what}{whose}{', by name only' if naming.lines else ''}."
    return f"{recorded}; {said}" if recorded else f"{said[0].upper()}{said[1:]}"


def _related(trace: "Trace") -> Sequence["CodeNode"]:
    """Return what was asked for: of types and methods of one name those that have something below them, if any has."""
    above = {step.target for step in trace.steps}
    having = [start for start in trace.starts if start in above]
    return having if having and trace.direction in _LEVELLED and not trace.direction.is_outgoing else trace.starts


def _parts(trace: "Trace") -> list[str]:
    """Return how many relations there are of each certainty; a definition with several counts as the surest.

    Of tests that are more than one hop away it is not known whether they run what is asked for.
    """
    is_far = {step for step in trace.steps if trace.direction is Direction.TESTS and step.hop > 1}
    far = sum(step.edge.certainty is Certainty.CERTAIN for step in is_far)
    best: dict[object, Certainty] = {}
    for step in sorted(trace.steps, key=lambda step: list(Certainty).index(step.edge.certainty)):
        best.setdefault((step.far_end(trace.direction), _is_access(step, trace) and step), step.edge.certainty)
    kinds = Counter(best.values())
    kinds[Certainty.CERTAIN] -= far
    certain, *others = [
        f"{kinds[certainty]:,} {in_words(certainty, trace.direction)}" if kinds[certainty] else ""
        for certainty in Certainty
    ]
    return list(filter(None, [certain, f"{far:,} may run it through other code" if far else "", *others]))


def _is_its_definition(step: "Step", texts: Mapping[Line, str]) -> bool:
    """Return whether the one line of a step is the first of its definition and has the whole name."""
    text = texts.get((step.edge.path, step.source.start_line), "")
    is_alone = list(step.lines) == [step.source.start_line] and step.edge.path == step.source.path
    return is_alone and step.source.qualified_name in text


def _head_of(step: "Step") -> Sequence[int]:
    """Return the first lines of a method that overrides another: those before its name have attributes."""
    first = step.source.start_line
    is_own = step.edge.relation is RelationKind.OVERRIDES and step.edge.line == first
    return range(first, min(first + _ATTRIBUTES, step.source.end_line) + 1) if is_own else ()


def _named_line(step: "Step", texts: Mapping[Line, str]) -> int:
    """Return the line that has the name of a method, else its first."""
    word = re.compile(rf"\b{re.escape(step.source.name)}\b")
    named = (line for line in _head_of(step) if word.search(texts.get((step.edge.path, line), "")))
    return next(named, step.edge.line)


def _is_access(step: "Step", trace: "Trace") -> bool:
    """Return whether it is counted apart from the callers: as a read or a write."""
    return trace.direction is Direction.CALLERS and step.edge.relation in ACCESSING


def _step_words(step: "Step", trace: "Trace") -> str:
    near = step.source if trace.direction.is_outgoing else step.target
    words = []
    if step.hop > 1:
        does = "below" if trace.direction in _LEVELLED else step.edge.relation.replace("_", " ")
        does = "from" if trace.direction.is_outgoing else does
        words.append(f"{does} {name_of(near)}")
    elif step.edge.relation not in UNSAID_KINDS.get(trace.direction, ()):
        words.append(KIND_WORDS[step.edge.relation])
    is_certain = step.edge.certainty is Certainty.CERTAIN
    names = [start.qualified_name for start in trace.starts]
    is_one = names.count(step.target.qualified_name) <= 1  # Else another overload may be meant.
    if is_one and step.source == step.target and step.edge.relation is RelationKind.CALLS and is_certain:
        words.append("recursion")
    if is_certain and step.hop == 1 and not trace.direction.is_outgoing and (meant := _which(step.target, trace)):
        words.append(f"means {meant}")
    if not is_certain:
        is_write = step.edge.relation is RelationKind.WRITES
        words.append(in_words(step.edge.certainty, Direction.WRITERS if is_write else trace.direction))
    return f" ({', '.join(words)})" if words else ""


def _which(target: "CodeNode", trace: "Trace") -> str:
    """Return which of several definitions of a name is meant, by its qualifier or its place; "" where there is one.

    Of overloads only the file: another line of the step may mean another one.
    """
    starts = Counter((start.path, start.qualified_name) for start in trace.starts)
    if len(starts) < 2 or (target.path, target.qualified_name) not in starts or trace.direction in _LEVELLED:
        return ""
    namesakes = [path for path, name in starts if name == target.qualified_name]
    if any(_are_of_one_unit(path, target.path) for path in namesakes):
        return ""  # Files of one unit that define the same are for different builds.
    if len(namesakes) == 1 and "." in target.qualified_name:
        return name_of(target)
    return location(target) if starts[target.path, target.qualified_name] == 1 else as_name(target.path)


def _are_of_one_unit(path: str, other: str) -> bool:
    """Return whether two files share all names: of a package of Go."""
    language = detect_language(path)
    is_shared = language in FACT_LANGUAGES and policy_of(language).modules.whole_unit
    return is_shared and path != other and posixpath.dirname(path) == posixpath.dirname(other)


def _where_it_stops(trace: "Trace", call: Call[TraceArguments]) -> list[str]:
    asking = call.asking
    lines = []
    for words, is_defined in _STOPS:
        stops = [stop for stop in trace.stops if stop.is_defined is is_defined]
        named = (as_name(f"{stop.module}: {stop.name}" if stop.module else stop.name) for stop in stops)
        if names := list(dict.fromkeys(named)):
            said = words if is_defined else _ABOVE.get(trace.direction, words)
            lines.append(f"{said}: {listed(names, STOPS_SHOWN)}.")
    if trace.imports:
        lines.append(f"Imported at {first_places(trace.imports)}.")
    if trace.named:
        lines.append(f"Tests named like it: {listed([target_of(node) for node in trace.named], STOPS_SHOWN)}.")
    if trace.direction is Direction.OVERRIDES and not trace.doubt.is_typed:
        lines.append("Overrides are compared by name, with the types above.")
    if not trace.direction.is_outgoing:
        is_listed = any(step.edge.certainty is Certainty.BY_NAME and not step.edge.is_named for step in trace.steps)
        how = LISTED_BY_NAME if is_listed else f"{asking.argument('unresolved=true')} lists them"
        is_further = trace.direction is Direction.TESTS and trace.is_deeper
        if is_further:
            tests = "More tests" if trace.steps else "Tests"
            lines.append(further(tests, "reach", trace.hops, asking, " or by starting the program"))
        unsaid = f"{UNRECORDED}; {lists_the_lines(asking)}" if trace.naming else ""
        is_said = is_further and trace.doubt.is_complete
        lines += doubts(trace.doubt, trace.starts, asking, how, unsaid=unsaid) if not is_said else []
        lines += _of_names(trace.naming, trace.direction, asking) if trace.naming else []
    elif not trace.doubt.is_typed and trace.direction is not Direction.IMPORTS:
        lines.append(f"{UNTYPED[0].upper()}{UNTYPED[1:]}.")
    elif trace.doubt.is_cut:
        lines.append("Truncated; retry with fewer hops.")
    if trace.direction.is_outgoing and trace.doubt.files_pending:
        lines.append(f"{files_not_resolved(trace.doubt)}.")
    return lines


def _of_names(naming: "Naming", direction: Direction, asking: Asking) -> Iterator[str]:
    """Yield what the lines with a name are, and where more of them are."""
    if naming.left_out and direction is Direction.WRITERS:
        lines = counted(naming.left_out, "more line has", "more lines have")
        how = asking.argument("direction=users")
        yield f"{lines} the name and do not plainly set it; a pointer, reference or macro may: {how} lists them."
    elif naming.left_out:
        lines, how = counted(naming.left_out, "more line"), asking.argument("direction=writers")
        yield f"{lines} of code only {'sets' if naming.left_out == 1 else 'set'} it: {how} lists them."
    same = f", the same for {counted(naming.values, 'definition')}" if naming.values > 1 else ""
    others = counted(naming.other_definitions, "more definition has", "more definitions have")
    said = f"; {others} the name" if naming.other_definitions else ""
    by_name = f"names were compared in its code, outside of comments and strings{same}{said}"
    yield f"Not all uses of values are recorded in this language: {by_name}; {lists_the_lines(asking)}."


TRACE = Tool(
    name="trace_relations",
    description=(
        "Every caller, user, import, subclass or test of a symbol, with its line and code, and whether that "
        "is all: instead of a text search and reading each hit. from, to, question: how one thing reaches or "
        "affects another."
    ),
    arguments=TraceArguments,
    needs=Capability.RELATIONS,
    find=trace_relations,
    text=lambda found, call: (flow_text if call.arguments.is_flow else trace_text)(found, call),
    json=code_json,
    is_empty=is_empty,
    of_index=("from", "to", "question"),
)
