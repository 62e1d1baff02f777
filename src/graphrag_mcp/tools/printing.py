"""Text of a repository as an answer may show it, and what every answer says of the index."""

import re
from collections.abc import Iterable

from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.search import StoredChunk
from graphrag_mcp.text.counts import counted
from graphrag_mcp.text.names import as_name

# Shown as symbols: a file may contain escape sequences that control a terminal, or change the reading direction.
_UNSEEN = (*range(0x80, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS: dict[int, int | str | None] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    **{code: f"<{code:x}>" for code in _UNSEEN},
    0x7F: 0x2421,
    ord("\r"): None,
}
_LINE_ENDS = _CONTROLS | {ord("\n"): "␊", ord("\r"): "␍", ord("\t"): " "}


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
