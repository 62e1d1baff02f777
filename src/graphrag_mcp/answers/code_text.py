"""Writes the answers of the code tools as text: whole lines within the budget, and the number left."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from graphrag_mcp.answers.arguments import (
    FindSymbolArguments,
    ImpactArguments,
    OccurrencesArguments,
    PagedArguments,
    TraceArguments,
)
from graphrag_mcp.answers.asking import ALSO_SHOWN, USES_SHOWN, CodeAnswer
from graphrag_mcp.answers.excerpts import cost_of, room_of
from graphrag_mcp.answers.render import one_line, printable
from graphrag_mcp.answers.requests import Call
from graphrag_mcp.answers.runner import commands_for
from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeEdge, CodeNode, Direction, Doubt, Place
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.changes import Affected, Dependant, DiffImpact
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.navigator import Found
    from graphrag_mcp.graph.tracing import Step, Trace
    from graphrag_mcp.grep.hits import Hits
    from graphrag_mcp.grep.occurrences import Occurrence
    from graphrag_mcp.grep.roles import Placed

STOPS_SHOWN = 12
LINE_CHARACTERS = 200
DIFF_TOKENS = 1_090  # Of an answer about a diff: 3,500 characters.
PLACES_SHOWN, LEAST_PLACES = 40, 5  # That a diff breaks: in all, and of each definition.
OTHERS_SHOWN, PLAIN_SHOWN, COMPANIONS_SHOWN = 3, 5, 3
_CHANGES = {
    "removed": "removed", "moved": "moved", "signature": "with another signature", "body": "with another body",
    "added": "added",
}  # fmt: skip
_CURSOR_ROOM = 80  # Characters of the line with the cursor.
_VALUES = (SymbolKind.FIELD, SymbolKind.CONSTANT, SymbolKind.KEY)
_UNTYPED = "types are not known in this language: names and imports were compared"
_UNRECORDED = "uses of values are not recorded in this language; find_occurrences lists the lines"
LINES_SHOWN = 5  # Of one definition.
PLACES_NAMED = 5  # Of those that are not read.
OUTGOING = frozenset((Direction.CALLEES, Direction.IMPORTS, Direction.SUPERCLASSES))
_STOPS = (("Names that nothing indexed defines", False), ("Not decided", True))
IN_WORDS = {
    Certainty.CERTAIN: "certain",
    Certainty.MAY_CALL: "may call it, one of several targets",
    Certainty.BY_NAME: "by name only",
}
_DOING = {Direction.READERS: "read", Direction.WRITERS: "write", Direction.USERS: "use"}
_PLAIN = {
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
_SAID = {kind: kind.replace("_", " ") for kind in RelationKind} | {RelationKind.HANDS_ON: "hands it on as a value"}

_Row = TypeVar("_Row")


def symbols_text(answer: "CodeAnswer[Sequence[Found], Found]", call: Call[FindSymbolArguments]) -> str:
    """Return each definition with the references to it."""
    count = sum(1 + len(row.also) for row in answer.found)
    head = [f"{counted(count, 'definition')}:"] if count > 1 else []
    return lay_out(answer, call, head, _found_lines)


def trace_text(answer: "CodeAnswer[Trace, Step]", call: Call[TraceArguments]) -> str:
    """Return each relation under its file and definition with the text of its lines, and what is not known."""
    found, total = answer.found, answer.page.total
    starts = ", ".join(location_of(node) for node in found.starts[:3])
    more = f" and {len(found.starts) - 3} more of that name" if len(found.starts) > 3 else ""
    within = f" within {counted(found.hops, 'hop')}" if found.hops > 1 else ""
    kinds = Counter(step.edge.certainty for step in found.steps)
    parts = [
        f"{kinds[certainty]:,} {_in_words(certainty, found.direction)}" for certainty in Certainty if kinds[certainty]
    ]
    plural = found.direction.value
    noun = plural.removesuffix("es") if plural.endswith("sses") else plural.removesuffix("s")
    kind = "direct " if found.direction is Direction.SUBCLASSES and found.hops == 1 else ""
    at_least = "At least " if found.doubt.is_cut else ""
    of_callers = (step for step in found.steps if found.direction is Direction.CALLERS)
    accesses = sum(step.edge.kind in (RelationKind.READS, RelationKind.WRITES) for step in of_callers)
    count = counted(total - accesses, kind + noun, kind + plural) if total > accesses else f"No {plural}"
    count += f" and {counted(accesses, 'read or write', 'reads and writes')}" if accesses else ""
    head = f"{at_least}{count}{within} of {starts}{more}{': ' if parts else ''}{', '.join(parts)}."
    if not total and not at_least:
        certain = "" if found.doubt.is_complete else " certain"
        here = " in this repository" if found.direction is Direction.SUPERCLASSES and found.stops else ""
        head = f"No{certain} {found.direction}{here}{within} of {starts}{more}."
    last_path = ""

    def lines(step: "Step") -> list[str]:
        nonlocal last_path
        path = [as_name(step.edge.path)] if step.edge.path != last_path else []
        last_path = step.edge.path
        if found.direction not in OUTGOING and _is_its_definition(step, answer.texts):
            [line] = step.lines
            text = _shown_line(answer.texts[last_path, line].strip())
            return ["\n".join([*path, f"  {line}{_step_words(step, found)}: {text}"])]
        numbers = step.lines[:LINES_SHOWN]
        texts = [f"    {line}: {_shown_line(answer.texts.get((last_path, line), '').strip())}" for line in numbers]
        rest = len(step.lines) - len(numbers)
        return [
            "\n".join(
                [*path, _step_head(step, found), *texts, *([f"    ... {counted(rest, 'more line')}"] if rest else [])]
            )
        ]

    return lay_out(answer, call, [head], lines, _where_it_stops(found, is_listed=call.arguments.unresolved))


def _is_its_definition(step: "Step", texts: Mapping[Place, str]) -> bool:
    """Return whether the one line of a step is the first of its definition and has the whole name."""
    text = texts.get((step.edge.path, step.source.start_line), "")
    is_alone = list(step.lines) == [step.source.start_line] and step.edge.path == step.source.path
    return is_alone and all(part in text for part in step.source.qualified_name.split("."))


def _step_head(step: "Step", found: "Trace") -> str:
    """Return what stands around the lines of a step, and what it does unless it is what was asked for."""
    is_from = found.direction in OUTGOING
    far = step.target if is_from else step.source
    return f"  {_target(far) if is_from else name_of(far)}{_step_words(step, found)}"


def _in_words(certainty: Certainty, direction: Direction) -> str:
    return IN_WORDS[certainty].replace("call", _DOING.get(direction, "call"))


def _step_words(step: "Step", found: "Trace") -> str:
    near = step.source if found.direction in OUTGOING else step.target
    words = []
    if step.hop > 1:
        words.append(f"{step.edge.kind.replace('_', ' ')} {name_of(near)}")
    elif step.edge.kind not in _PLAIN.get(found.direction, ()):
        words.append(_SAID[step.edge.kind])
    if step.source == step.target and step.edge.kind is RelationKind.CALLS:
        words.append("recursion")
    if step.edge.certainty is not Certainty.CERTAIN:
        words.append(_in_words(step.edge.certainty, found.direction))
    return f" ({', '.join(words)})" if words else ""


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


def occurrences_text(answer: "CodeAnswer[Hits, Placed]", call: Call[OccurrencesArguments]) -> str:
    """Return each line with its role, under its file and the definition around it."""
    found = answer.found.found
    count = f"{counted(found.total, 'line')} of {counted(found.files, 'file')}"
    where = f" in {', '.join(map(as_name, call.arguments.paths))}" if call.arguments.paths else ""
    head = [f"{count}; searched: all of {counted(found.files_searched, 'indexed file')}{where}."]
    if not found.files_searched and not found.unread:
        head = [f"0 lines: no file{where} was searched; it is not indexed (index_status says why), or archived."]
    if found.unread:
        head.append(f"Not read, so not counted: {', '.join(map(as_name, found.unread[:STOPS_SHOWN]))}")
    last_path = last_symbol = ""

    def lines(row: "Placed") -> list[str]:
        nonlocal last_path, last_symbol
        one = row.occurrence
        path = [as_name(one.path)] if one.path != last_path else []
        symbol = [f"  in {as_name(row.symbol)}"] if row.symbol and (path or row.symbol != last_symbol) else []
        if not row.symbol and last_symbol and not path:
            symbol = ["  at the top"]
        last_path, last_symbol = one.path, row.symbol
        role = "" if row.role == "other" else f" ({row.role})"
        text = excerpt(one) if call.arguments.context else excerpt(one).strip()
        above = [f"  {one.line - len(row.before) + n}- {_shown_line(text)}" for n, text in enumerate(row.before)]
        below = [f"  {one.line + 1 + n}- {_shown_line(text)}" for n, text in enumerate(row.after)]
        return ["\n".join([*path, *symbol, *above, f"  {one.line}{role}: {one_line(text)}", *below])]

    return lay_out(answer, call, head, lines, doubt="so roles may be off")


def _shown_line(text: str) -> str:
    return one_line(text[:LINE_CHARACTERS].rstrip())


def excerpt(row: "Occurrence") -> str:
    """Return the line; of a long one, the part that contains the text."""
    start = max(0, row.column - LINE_CHARACTERS // 4) if len(row.text) > LINE_CHARACTERS else 0
    return ("…" if start else "") + row.text[start : start + LINE_CHARACTERS]


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


# ---------------------------------------------------------------- the lines of one row


def _found_lines(row: "Found") -> list[str]:
    lines = _defined_lines(row.node)
    for node in row.also[:ALSO_SHOWN]:
        lines += _defined_lines(node)
    if len(row.also) > ALSO_SHOWN:
        lines.append(f"... {len(row.also) - ALSO_SHOWN:,} more of that name")
    files = len({step.edge.path for step in row.used})
    if row.used:
        at_least = "at least " if row.doubt.is_cut else ""
        verb = "imported" if row.node.is_file else "used"
        lines.append(f"   {verb} {at_least}{counted(len(row.used), 'time')} in {counted(files, 'file')}:")
        lines += [f"   - {_use(step)}" for step in row.used[:USES_SHOWN]]
    elif row.doubt.is_complete:
        lines.append("   no references")
    if len(row.used) > USES_SHOWN:
        lines.append(f"   ... {len(row.used) - USES_SHOWN:,} more: use trace_relations for the full list")
    return lines + [f"   {note}" for note in doubts(row.doubt, [row.node])]


def _defined_lines(node: CodeNode) -> list[str]:
    location = location_of(node) + (f" ({node.kind})" if not node.is_file else "") + _archived(node)
    return [location, f"   > {one_line(node.signature)}"] if node.signature else [location]


def doubts(
    doubt: Doubt, starts: Sequence[CodeNode], how: str = "unresolved=true lists them", *, with_members: bool = False
) -> list[str]:
    """Return one line that says what an answer lacks, or that it is complete. with_members: of types, too."""
    names = ", ".join(dict.fromkeys(f"`{one_line(node.name).replace('`', '')}`" for node in starts if not node.is_file))
    name = names if 0 < len(names) < LINE_CHARACTERS else "these names"
    said = []
    if doubt.undecided:
        places = counted(len(doubt.undecided), "more place", "more places")
        how = how if doubt.is_typed and doubt.is_listed else "find_occurrences lists the lines"
        is_type = all(node.kind is SymbolKind.TYPE for node in starts)
        name += " or its members" if is_type and with_members else ""
        said.append(f"{places} of {name} {'not decided' if is_type else 'with an unknown receiver'} ({how})")
    if doubt.beyond:
        said.append(f"{counted(len(doubt.beyond), 'place')} of the names on the way with an unknown receiver")
    if doubt.others:
        said.append(
            f"{counted(len(doubt.others), 'mention is another thing', 'mentions are other things')} of that name"
        )
    if doubt.unparsed:
        shown = ", ".join(map(as_name, sorted(doubt.unparsed)[:3])) + (", ..." if len(doubt.unparsed) > 3 else "")
        said.append(f"{counted(len(doubt.unparsed), 'file has', 'files have')} lines that do not parse: {shown}")
    if doubt.run_by:
        said.append(f"started from outside of this repository by {', '.join(map(as_name, sorted(doubt.run_by)))}")
    if doubt.outside:
        names = ", ".join(map(as_name, sorted(doubt.outside)))
        said.append(f"callers outside of this repository are possible: {names}")
    if doubt.methods:
        first = ", ".join(f"{as_name(path)}:{line}" for path, line in sorted(doubt.methods)[:PLACES_NAMED])
        more = ", ..." if len(doubt.methods) > PLACES_NAMED else ""
        said.append(f"{counted(len(doubt.methods), 'method')} of {name}, not listed: {first}{more}")
    if doubt.is_structural:
        said.append("functions are of this type by what they take and give: those listed are handed over as one")
    if doubt.is_implicit:
        said.append("calls by operators, loops, `with` and the like are not followed")
    if doubt.unread:
        shown = ", ".join(f"{as_name(path)}:{line}" for path, line in sorted(doubt.unread)[:PLACES_NAMED])
        more = ", ..." if len(doubt.unread) > PLACES_NAMED else ""
        lines = counted(len(doubt.unread), "line is", "lines are")
        files = counted(len({path for path, _ in doubt.unread}), "file")
        said.append(f"{lines} not read as code, in {files} with the name: {shown}{more}")
    if doubt.is_cut:
        said.append("truncated by a limit: retry with fewer hops or with paths")
    if doubt.pending:
        files = counted(len(doubt.pending), "file is", "files are")
        shown = ", ".join(map(as_name, sorted(doubt.pending)[:PLACES_NAMED]))
        more = ", ..." if len(doubt.pending) > PLACES_NAMED else ""
        said.append(f"{files} not resolved and may have more: {shown}{more}")
    if not doubt.is_typed and all(start.is_file for start in starts):
        said.append("imports are compared by path, without configured aliases")
    elif not doubt.is_typed:
        is_value = all(start.kind in _VALUES for start in starts)
        said.append(_UNRECORDED if is_value else _UNTYPED)
    if doubt.is_complete:
        said.insert(0, "Complete")
    line = "; ".join(said)
    return [f"{line[0].upper()}{line[1:]}."] if line else []


def _use(step: "Step") -> str:
    said = _SAID[step.edge.kind] if step.edge.kind is RelationKind.HANDS_ON else f"{_SAID[step.edge.kind]} it"
    return f"{at(step.edge)}  {name_of(step.source)} {said} ({step.edge.certainty})"


def _reached_lines(row: tuple["Reached", bool]) -> list[str]:
    reached, is_test = row
    words = f"{at(reached.edge)}  {name_of(reached.node)} {reached.edge.kind.replace('_', ' ')} {name_of(reached.via)}"
    return [f"{'test ' if is_test else ''}{reached.hops}. {words} ({reached.edge.certainty})"]


def _where_it_stops(found: "Trace", *, is_listed: bool) -> list[str]:
    lines = []
    for words, is_defined in _STOPS:
        names = {f"{stop.module}: {stop.name}" if stop.module else stop.name: None for stop in found.stops
                 if stop.is_defined is is_defined}  # fmt: skip
        if names:
            shown = ", ".join(map(as_name, list(names)[:STOPS_SHOWN]))
            rest = f" and {len(names) - STOPS_SHOWN:,} more" if len(names) > STOPS_SHOWN else ""
            is_above = found.direction is Direction.SUPERCLASSES and not is_defined
            lines.append(f"{'Outside of this repository' if is_above else words}: {shown}{rest}.")
    if found.direction is Direction.OVERRIDES and not found.doubt.is_typed:
        lines.append("Overrides are not compared in this language; subclasses and find_occurrences lead to them.")
    if found.direction not in OUTGOING:
        how = ("listed by name",) if is_listed else ()
        lines += doubts(found.doubt, found.starts, *how)
    elif not found.doubt.is_typed and found.direction is not Direction.IMPORTS:
        lines.append(f"{_UNTYPED[0].upper()}{_UNTYPED[1:]}.")
    elif found.doubt.is_cut:
        lines.append("Truncated; retry with fewer hops.")
    return lines


# ---------------------------------------------------------------- words


def location_of(node: CodeNode) -> str:
    if node.is_file:
        return as_name(node.path)
    inherited = f" (inherited by {as_name(node.inherited_by)})" if node.inherited_by else ""
    inherited += f" (nothing is called {as_name(node.asked_as)})" if node.asked_as else ""
    return f"{as_name(node.path)}:{node.start_line}-{node.end_line}  {as_name(node.qualified_name)}{inherited}"


def name_of(node: CodeNode) -> str:
    return "(the file)" if node.is_file else as_name(node.qualified_name)


def _target(node: CodeNode) -> str:
    if node.is_file:
        return as_name(node.path)
    return f"{as_name(node.qualified_name)}  {as_name(node.path)}:{node.start_line}-{node.end_line}"


def at(edge: CodeEdge) -> str:
    return f"{as_name(edge.path)}:{edge.line}"


def _archived(node: CodeNode) -> str:
    return ", archived" if node.is_archived else ""
