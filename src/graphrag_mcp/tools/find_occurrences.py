"""`find_occurrences`: every line with a text or a pattern."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from graphrag_mcp.app.session import Capability
from graphrag_mcp.model.files import VARIABLE, Category
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Case
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.arguments import (
    Categories,
    CodeArguments,
    Entries,
    Paths,
    RowCount,
    globs_of,
    languages_of,
)
from graphrag_mcp.tools.code_answer import (
    LINE_CHARACTERS,
    STOPS_SHOWN,
    CodeAnswer,
    answer_of,
    code_json,
    first_places,
    is_empty,
    lay_out,
    line_numbers,
    location_of,
    shown_line,
)
from graphrag_mcp.tools.printing import one_line
from graphrag_mcp.tools.tool import Call, Page, Tool

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.grep.hits import Placed
    from graphrag_mcp.grep.occurrences import Occurrence, Occurrences

MAXIMUM_CONTEXT = 20
FRAGMENTS_SHOWN = 5
FEW = 20  # Lines; with more, other spellings of the text are not looked for.
PLACES_SHOWN = 10  # No more places of another spelling are named.
LINES_OF_CONSTANT, CONSTANTS_SHOWN, READERS_SHOWN = 3, 3, 5
_PATTERN = re.compile(r"[\\^$*+?|]|\[.*\]|\(.*\)")  # A text with these may be meant as a pattern.


class OccurrencesArguments(CodeArguments, frozen=True, kw_only=True):
    """`find_occurrences`."""

    text: Annotated[str, Meta(min_length=1, max_length=1_000), "A literal text, or a pattern."]
    regex: Annotated[bool, "The text is a pattern of RE2."] = False
    whole_word: Annotated[bool, "Match whole words only."] = False
    case: Annotated[Case, "smart: ignored without capitals."] = Case.SMART
    context: Annotated[int, Meta(ge=0, le=MAXIMUM_CONTEXT), "Lines around each."] = 0
    paths: Paths = ()
    languages: Annotated[Entries, "Only these; empty: all."] = ()
    categories: Annotated[Categories, "Only these; empty: all."] = ()
    limit: RowCount = 50

    def scope(self, root: Path) -> tuple[Scope, tuple[str, ...]]:
        scope, warnings = super().scope(root)
        return replace(
            scope,
            paths=globs_of(self.paths, root),
            languages=languages_of(self.languages),
            categories=frozenset(self.categories),
        ), warnings


def find_occurrences(view: "IndexView", call: Call[OccurrencesArguments]) -> "CodeAnswer[Occurrences, Placed]":
    """Return every line that contains a text."""
    from graphrag_mcp.grep.hits import find_hits
    from graphrag_mcp.grep.near import find_fragments, find_spellings
    from graphrag_mcp.grep.needles import create_needle
    from graphrag_mcp.grep.occurrences import find_occurrences as find_lines

    arguments, last = call.arguments, call.first + call.arguments.limit
    create = partial(create_needle, arguments.text, regex=arguments.regex, whole_word=arguments.whole_word)
    needle = create(case=arguments.case)
    hits = find_hits(needle, call.scope, view.files, last)
    occurrences = hits.occurrences
    may_differ = arguments.case is Case.SMART and not (arguments.regex or arguments.text.islower())
    is_name = occurrences.total and arguments.text.isidentifier()
    if may_differ and not is_name and occurrences.total <= FEW:
        every = find_lines(create(case=Case.IGNORE), list(hits.listed), view.files).total
        occurrences = replace(occurrences, in_other_case=every - occurrences.total)
    if not (arguments.regex or arguments.whole_word) and hits.are_of_tests:
        listed = hits.listed.items()
        code = [path for path, file in listed if not occurrences.total or file.category is not Category.TESTS]
        found = find_fragments(arguments.text, code, view.files, arguments.case)
        occurrences = replace(occurrences, fragments=found)
    if not arguments.regex and occurrences.total <= FEW:
        otherwise = find_spellings(arguments.text, list(hits.listed), view.files)
        occurrences = replace(occurrences, spelled_otherwise=otherwise)
    if call.scope.exclude_archived:
        every_file = view.files.listed(replace(call.scope, exclude_archived=False))
        occurrences = replace(occurrences, archived=len(every_file) - len(hits.listed))
    placed = hits.place(hits.occurrences.lines[call.first : last], arguments.context)
    if not arguments.regex and occurrences.total <= FEW:
        occurrences = replace(occurrences, constants=tuple(_read_constants(view, call, placed)))
    files = {row.path: hits.listed[row.path] for row in placed}
    rows = [replace(row, text=_around_match(row)) for row in placed]
    return answer_of(view, occurrences, Page(rows, call.first, occurrences.total), files.values())


def _read_constants(
    view: "IndexView", call: Call[OccurrencesArguments], rows: "Sequence[Placed]"
) -> "Iterator[tuple[str, tuple[str, ...]]]":
    """Yield the constants and fields that hold a text, each with the places that read it: there it is used."""
    from graphrag_mcp.grep.hits import Role

    strings = ((row.path, row.line) for row in rows if row.role is Role.STRING)
    nodes = ((node, line) for path, line in strings for node in view.navigator.code_at(path, line, line))
    held = [node for node, line in nodes if node.kind in VARIABLE and node.end_line - line < LINES_OF_CONSTANT]
    for node in list(dict.fromkeys(held))[:CONSTANTS_SHOWN]:
        steps = view.navigator.readers(node, call.scope).steps
        sure = [step for step in steps if step.edge.certainty is Certainty.CERTAIN]
        lines: dict[str, set[int]] = {}
        for step in sure:
            lines.setdefault(step.edge.path, set()).update(step.lines)
        if lines:
            places = (f"{as_name(path)}:{line_numbers(sorted(numbers))}" for path, numbers in lines.items())
            yield location_of(node), tuple(places)


def _around_match(row: "Placed | Occurrence") -> str:
    """Return the line; of a long one, the part that contains the text."""
    start = max(0, row.column - LINE_CHARACTERS // 4) if len(row.text) > LINE_CHARACTERS else 0
    return ("…" if start else "") + row.text[start : start + LINE_CHARACTERS]


def occurrences_text(answer: "CodeAnswer[Occurrences, Placed]", call: Call[OccurrencesArguments]) -> str:
    """Return each line with its role, under its file and the definition around it."""
    occurrences = answer.result
    count = f"{counted(occurrences.total, 'line')} of {counted(occurrences.files, 'file')}"
    where = f" in {', '.join(map(as_name, call.arguments.paths))}" if call.arguments.paths else ""
    archived = f", without {occurrences.archived:,} archived" if occurrences.archived else ""
    searched = f"searched: all of {counted(occurrences.files_searched, 'indexed file')}{where}{archived}"
    head = [f"{count}; {searched}."]
    if not occurrences.files_searched and not occurrences.unread:
        status = call.asking.tool("index_status")
        head = [f"0 lines: no file{where} was searched; it is not indexed ({status} says why), or archived."]
    elif not (occurrences.total or occurrences.fragments or call.arguments.regex) and _PATTERN.search(
        call.arguments.text
    ):
        pattern = call.asking.argument("regex=true")
        head.append(f"The text was searched as it is written; with {pattern} it is a pattern.")
    if occurrences.fragments:
        which = "Only tests have the whole text" if occurrences.total else "No line has the whole text"
        head.append(f"{which}; these have parts of it:")
        few = occurrences.fragments[:FRAGMENTS_SHOWN]
        head += [f"  {as_name(row.path)}:{row.line}: {one_line(_around_match(row).strip())}" for row in few]
    if occurrences.in_other_case:
        ignoring = call.asking.argument("case=ignore")
        head.append(f"{counted(occurrences.in_other_case, 'more line')} in another case: {ignoring}.")
    if occurrences.unread:
        head.append(f"Not read, so not counted: {', '.join(map(as_name, occurrences.unread[:STOPS_SHOWN]))}")
    last_path = last_symbol = ""

    def lines(row: "Placed") -> list[str]:
        nonlocal last_path, last_symbol
        path = [as_name(row.path)] if row.path != last_path else []
        symbol = [f"  in {as_name(row.symbol)}"] if row.symbol and (path or row.symbol != last_symbol) else []
        if not row.symbol and last_symbol and not path:
            symbol = ["  at the top"]
        last_path, last_symbol = row.path, row.symbol
        role = "" if row.role == "other" else f" ({row.role})"
        text = row.text if call.arguments.context else row.text.strip()
        above = [f"  {row.line - len(row.before) + n}- {shown_line(text)}" for n, text in enumerate(row.before)]
        below = [f"  {row.line + 1 + n}- {shown_line(text)}" for n, text in enumerate(row.after)]
        return ["\n".join([*path, *symbol, *above, f"  {row.line}{role}: {one_line(text)}", *below])]

    read = [
        f"{name} is read at {'; '.join(places[:READERS_SHOWN])}{'; ...' if len(places) > READERS_SHOWN else ''}."
        for name, places in occurrences.constants
    ]
    for spelling, places in occurrences.spelled_otherwise.items():
        read.append(f"Spelled {spelling}: {first_places(places, PLACES_SHOWN)}.")
    return lay_out(answer, call, head, lines, read, doubt="so roles may be off")


OCCURRENCES = Tool(
    name="find_occurrences",
    description=(
        "Every line with a text or pattern, by file and definition, with totals: for renames, and when "
        "nothing may be missed."
    ),
    arguments=OccurrencesArguments,
    needs=Capability.CODE,
    find=find_occurrences,
    text=occurrences_text,
    json=code_json,
    is_empty=is_empty,
)
