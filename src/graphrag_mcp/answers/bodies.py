"""Writes definitions with their code: whole if short, else folded around what matters, and what is around them."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from graphrag_mcp.answers.arguments import FindSymbolArguments
from graphrag_mcp.answers.asking import CodeAnswer, MissingSymbols
from graphrag_mcp.answers.code_text import IN_WORDS, OUTGOING, at, doubts, lay_out, location_of, name_of
from graphrag_mcp.answers.excerpts import cost_of, cut_text, room_of
from graphrag_mcp.answers.outlines import outline_lines
from graphrag_mcp.answers.render import fenced, one_line
from graphrag_mcp.answers.requests import Call
from graphrag_mcp.model.graph import Certainty, Direction
from graphrag_mcp.model.history import DIGITS_SHOWN, day_of
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.text.words import index_words, query_words

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.reading import Body
    from graphrag_mcp.graph.tracing import Step, Trace

MOST_ROOM = 3_500  # Characters of one definition, unless the call gives a budget.
MOST_LINES = 60  # Of code, likewise.
HEAD_LINES = 8  # That are shown before others, at most half of them documentation.
ROW_CHARACTERS = 400  # Of one line of code.
STEPS_SHOWN = 3
UNRESOLVED = "trace_relations unresolved=true lists them"
_AROUND = (0, -1, 1, -2, 2)  # The lines that are shown around one that matches, the nearest first.


def bodies_text(answer: "CodeAnswer[MissingSymbols, Body]", call: Call[FindSymbolArguments]) -> str:
    """Return each definition with its code, and one line for each kind of relation and the last change."""
    found, total = answer.found, answer.page.total
    head = [counted(total, "definition") + ":"] if total > 1 else []
    tail = [one_line(missing) for missing in found.missing]
    room, most = _share(answer, call)

    def lines(body: "Body") -> list[str]:
        return ["\n".join([_heading(body), *_parts(body, call, room, most), *_around(body)])]

    shown = lay_out(answer, call, head, lines, tail)
    is_folded = "\n... " in shown and not call.arguments.token_budget
    return shown + ("\nFolded: token_budget shows more, and focus what is near words." if is_folded else "")


def body_payload(
    body: "Body", answer: "CodeAnswer[MissingSymbols, Body]", call: Call[FindSymbolArguments]
) -> dict[str, Any]:
    """Return the code of a definition and what is around it, as the text has it."""
    room, most = _share(answer, call)
    return {"body": "\n".join(_parts(body, call, room, most)), "around": _around(body)}


def _share(answer: "CodeAnswer[MissingSymbols, Body]", call: Call[FindSymbolArguments]) -> tuple[int, int]:
    """Return how many characters and lines of code one definition may take."""
    share = room_of(call.tokens) // max(1, len(answer.page.rows))
    return (share, share) if call.arguments.token_budget else (min(share, MOST_ROOM), MOST_LINES)


def _heading(body: "Body") -> str:
    return location_of(body.node) + ("" if body.node.is_file else f" ({body.node.kind})")


def _parts(body: "Body", call: Call[FindSymbolArguments], room: int, most: int) -> list[str]:
    """Return the code; of a long type its beginning and an outline, of a long file an outline."""
    room -= sum(cost_of(line) + 1 for line in (_heading(body), *_around(body)))
    rows = [f"{body.first + n}: {cut_text(line, ROW_CHARACTERS).text}" for n, line in enumerate(body.lines)]
    if not rows or call.arguments.response_format == "concise":
        return []
    is_long = len(rows) > most or sum(cost_of(row) + 1 for row in rows) > room
    if not (is_long and body.has_outline):
        shown = fold(body.first, rows, by_worth(body, call.arguments.focus), room, most)
        return [fenced("\n".join(body.lines), "", "\n".join(shown))]
    if body.node.is_file:
        return outline_lines(body.members, room)
    top = rows[: max(1, min(body.members[0].start_line - body.first, HEAD_LINES))]
    code = fenced("\n".join(body.lines), "", "\n".join(top))
    return [code, *outline_lines(body.members, room - cost_of(code))]


def fold(first: int, rows: Sequence[str], by_worth: Iterable[int], room: int, most: int) -> list[str]:
    """Return as many rows as fit, those that matter most, and for each run of others how many they are."""
    kept: set[int] = set()
    for number in by_worth:
        room -= cost_of(rows[number]) + 1
        if room < 0 or len(kept) == most:
            break
        kept.add(number)
    shown: list[str] = []
    for is_kept, run in groupby(range(len(rows)), kept.__contains__):
        numbers = list(run)
        hidden = f"... {counted(len(numbers), 'line')} ({first + numbers[0]}-{first + numbers[-1]})"
        is_shorter = is_kept or (cost_of(rows[numbers[0]]) <= len(hidden) and len(numbers) == 1)
        shown += [rows[number] for number in numbers] if is_shorter else [hidden]
    return shown


def by_worth(body: "Body", focus: str) -> Iterator[int]:
    """Yield the numbers of lines: the head, those around what matches the focus, or without it code, documentation."""
    wanted = set(query_words(focus))
    found = [wanted.intersection(index_words(line)) for line in body.lines]
    count = Counter(word for words in found for word in words)
    matching = [number for number, words in enumerate(found) if words]
    matching.sort(key=lambda number: -sum(1 / count[word] for word in found[number]))
    around = (number + step for number in matching for step in _AROUND if 0 <= number + step < len(body.lines))
    documentation = sorted(body.documentation)
    code = [number for number in range(len(body.lines)) if number not in body.documentation]
    head = [*documentation[: HEAD_LINES // 2], *code][:HEAD_LINES]
    yield from dict.fromkeys([*head, *(around if matching else [*code, *documentation])])


# ---------------------------------------------------------------- what is around it


def _around(body: "Body") -> list[str]:
    commits = [
        f"{one.name[:DIGITS_SHOWN]} {day_of(one)} {json.dumps(one.subject, ensure_ascii=False)}"
        for one in body.change.commits
    ]
    change = commits[0] if commits else body.change.note
    traces = (body.users, body.uses, body.tests)
    return [*filter(None, map(_relations, traces)), *([f"last change: {change}"] if change else [])]


def _relations(found: "Trace") -> str:
    """Return the relations of one kind in a line: how many, how sure, the first, and what is not known."""
    is_from = found.direction in OUTGOING
    steps = list({(step.source, step.target): step for step in found.steps if step.source != step.target}.values())
    kinds = Counter(step.edge.certainty for step in steps)
    counts = ", ".join(f"{kinds[one]:,} {IN_WORDS[one]}" for one in Certainty if kinds[one])
    ends = ", ".join(_end(step, is_from=is_from) for step in steps[:STEPS_SHOWN])
    left = len(steps) - STEPS_SHOWN
    more = f" and {left:,} more (trace_relations direction={found.direction})" if left > 0 else ""
    is_judged = not is_from and found.direction is not Direction.TESTS  # Whose doubt is that of the callers.
    doubt = doubts(found.doubt, found.starts, UNRESOLVED) if is_judged else []
    none = "none" if is_from or found.doubt.is_complete else "none certain"
    none += f" within {counted(found.hops, 'hop')}" if found.hops > 1 else ""
    at_least = "at least " if found.doubt.is_cut else ""
    known = f"{found.direction}: " + (f"{at_least}{counts}: {ends}{more}" if steps else none)
    return f"{known}; {doubt[0][0].lower()}{doubt[0][1:]}" if doubt else known


def _end(step: "Step", *, is_from: bool) -> str:
    if is_from:
        return f"{as_name(step.target.path)}:{step.target.start_line} {name_of(step.target)}"
    return f"{at(step.edge)} {name_of(step.source)}"
