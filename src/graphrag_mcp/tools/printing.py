"""How answers are written: text of a repository as it may be shown, JSON, and what every answer says of the index."""

import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any

from msgspec import Struct

from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.search import StoredChunk
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name
from graphrag_mcp.tools.excerpts import cost_of

# Shown as symbols: a file may contain escape sequences that control a terminal, or change the reading direction.
_UNSEEN = (*range(0x80, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS: dict[int, int | str | None] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    **{code: f"<{code:x}>" for code in _UNSEEN},
    0x7F: 0x2421,
    ord("\r"): None,
}
_LINE_ENDS = _CONTROLS | {ord("\n"): "␊", ord("\r"): "␍", ord("\t"): " "}
FRAME = 2  # Characters around a value.
LISTED = 20  # Entries of a list beside the rows of an answer, or in one of them.
_COMMANDS = {
    "find_history": "history",
    "find_occurrences": "grep",
    "find_symbol": "find",
    "graphrag_hybrid_search": "search",
    "index_status": "status",
    "trace_relations": "trace",
}
_OPTIONS = {"exclude_archived=false": "--include-archived"}


def printable(text: str) -> str:
    """Replace control characters, and what UTF-8 cannot encode (undecodable bytes in a file's name)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_CONTROLS)


def one_line(text: str) -> str:
    """Keep a name on one line: text after a line end in a file's name would look like part of the answer."""
    return text if text.isprintable() else text.translate(_LINE_ENDS)


def location(of: CodeNode | StoredChunk) -> str:
    """Return where it is: `path:start-end`."""
    return f"{as_name(of.path)}:{of.start_line}-{of.end_line}"


def numbered(lines: Iterable[str], first: int) -> list[str]:
    """Return lines with their numbers, by which they can be named without the file being read."""
    return [f"{number}: {line}" for number, line in enumerate(lines, first)]


def fenced(text: str, shown: str) -> str:
    """Return the part of a text that is shown in a fence that the text cannot close."""
    fence = "`" * (max((len(run) for run in re.findall("`{3,}", text)), default=2) + 1)
    return f"{fence}\n{shown}\n{fence}"


def describe_state(state: IndexState) -> str:
    """Return in a few words how complete the index is."""
    if state.state is not IndexPhase.BUILDING or not state.files_total:
        return f"{state.state} ({state.message})" if state.message else state.state
    words = f"building, {state.files_done:,} of {counted(state.files_total, 'file')}"
    if state.seconds_left is not None:
        words += f", about {max(1, round(state.seconds_left))} s left"
    return words


def describe_incomplete(state: IndexState) -> str:
    """Return the note of an exact answer from an incomplete or old index, "" when it is complete."""
    if state.state is IndexPhase.READY:
        return f"The index may be old: {state.message}." if state.message else ""
    return f"The index is not complete: {describe_state(state)}."


def describe_index(state: IndexState) -> str:
    words = f"Index {describe_state(state)}."
    return words + " The results cover the part indexed so far." if state.state is IndexPhase.BUILDING else words


def as_json(value: Any) -> Any:
    """Return a value as JSON has it.

    A record is an object of its fields, or of what `@shown` names. A set, of texts or places, is a list of texts.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, Mapping):
        return {str(name): as_json(entry) for name, entry in value.items()}
    if isinstance(value, set | frozenset):
        return [entry if isinstance(entry, str) else "{}:{}".format(*entry) for entry in sorted(value)]
    if parts := _parts(value.__class__):
        return {name: as_json(read(value)) for name, read in parts.items()}
    return [as_json(entry) for entry in value] if isinstance(value, list | tuple) else value


@cache
def _parts(record: Hashable) -> Mapping[str, Callable[[Any], Any]]:
    """Return what JSON has of a class of records, by its name, and nothing for another class."""
    names = getattr(record, "__struct_fields__", getattr(record, "_fields", ()))
    parts: Mapping[str, str] = getattr(record, "in_json", {name: name for name in names})
    return {name: attrgetter(part) for name, part in parts.items()}


def shortened(value: Any) -> Any:
    """Return JSON with the first entries of each long list, and beside it their number as `NAME_total`."""
    if isinstance(value, list):
        return [shortened(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    short: dict[str, Any] = {}
    for name, entry in value.items():
        is_long = isinstance(entry, list) and len(entry) > LISTED
        short[name] = shortened(entry[:LISTED] if is_long else entry)
        if is_long:
            short[f"{name}_total"] = len(entry)
    return short


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as the text of JSON."""
    return printable(json.dumps(as_json(value), ensure_ascii=False, indent=indent))


def json_cost(value: Any) -> int:
    """Return how much room a value of JSON takes."""
    return cost_of(json.dumps(value, ensure_ascii=False))


class Asking(Struct, frozen=True):
    """The words of one way to call a tool."""

    in_shell: bool = False

    def tool(self, name: str, argument: str = "") -> str:
        """Return how a tool is called, with at most one argument, such as "unresolved=true"."""
        command = f"graphrag-mcp {_COMMANDS[name]}" if self.in_shell else name
        return f"{command} {self.argument(argument)}" if argument else command

    def argument(self, argument: str) -> str:
        """Return how an argument such as "hops=3" is given; of a name alone, what it is called."""
        if not self.in_shell:
            return argument
        name, _, value = argument.partition("=")
        option = _OPTIONS.get(argument, f"--{name.replace('_', '-')}")
        return option if value in ("", "true", "false") else f"{option} {value}"


MCP = Asking()
SHELL = Asking(in_shell=True)
