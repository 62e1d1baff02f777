"""What a person sees in a terminal: colours, a pager, the progress of a run; a file or a pipe gets plain text."""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING

from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:  # Nothing that is installed may be imported before a server has taken its streams.
    from graphrag_mcp.model.reports import Progress

Spans = Callable[[str], Sequence[tuple[int, int]]]

_PAGER, _LESS = "less", "FRX"  # As git: quit if it fits on one screen, keep colours, keep the screen.
_PATH, _LINE, _MATCH, _NOTE, _STRONG, _FAINT, _END = (
    f"\x1b[{style}m" for style in ("35", "32", "1;31", "33", "1", "2", "")
)
_FENCE = re.compile(r"(`{3,})\w*$")
_NUMBERED = re.compile(r" *\d+(?: \([a-z ]+\))?[:-] ")
_RULES = [  # By the beginning of a line; a line of a file that looks alike has colours too, and nothing else happens.
    (re.compile(pattern), style)
    for pattern, style in (
        (r"((?:test )?\d+\. )(\S+?)(:\d[-\d]*)", rf"\1{_PATH}\2{_LINE}\3{_END}"),
        (r"(- |)(\S+?)(:\d[-\d]*)(?=  ?\S)", rf"\1{_PATH}\2{_LINE}\3{_END}"),
        (r"( *)(\d+)(?=(?: \([a-z ]+\))?[:-] | \| )", rf"\1{_LINE}\2{_END}"),
        (r"([^\s/.]*[/.]\S+)$", rf"{_PATH}\1{_END}"),
        (r"(Complete\.)$", rf"{_STRONG}\1{_END}"),
        (r"((?:Warning|Not searched):|Nothing matches|The index |Index |Restricted to )", rf"{_NOTE}\1{_END}"),
    )
]
TERMINAL_SECONDS = 0.1  # Faster than this, a line only flickers.
LOG_SECONDS = 3.0
_CLEAR_LINE = "\r\x1b[K"


def show(text: str) -> None:
    """Print an answer."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def has_colours(when: str, stream: IO[str], environ: Mapping[str, str]) -> bool:
    """Return whether to write colours. when: `always`, `never`, or `auto`: to a terminal, unless NO_COLOR is set."""
    if when != "auto":
        return when == "always"
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"


def coloured(text: str, spans: Spans | None = None) -> str:
    """Return an answer with colours. text: without control characters. spans: what to mark of a numbered line."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            is_end = line == fence
            lines.append(f"{_FAINT}{line}{_END}" if is_end else line)
            fence = "" if is_end else fence
        elif opening := _FENCE.match(line):
            fence = opening[1]
            lines.append(f"{_FAINT}{line}{_END}")
        else:
            lines.append(_coloured_line(line, spans))
    return "\n".join(lines)


def _coloured_line(line: str, spans: Spans | None) -> str:
    tail = ""
    if spans and (number := _NUMBERED.match(line)):
        line, code = number[0], line[number.end() :]
        end = 0
        for start, stop in spans(code):
            tail += f"{code[end:start]}{_MATCH}{code[start:stop]}{_END}"
            end = stop
        tail += code[end:]
    for pattern, style in _RULES:
        if found := pattern.match(line):
            return found.expand(style) + line[found.end() :] + tail
    return line + tail


def page(text: str, environ: Mapping[str, str]) -> bool:
    """Show a text in $PAGER, else in less; return False if there is none, or it is `cat`."""
    try:
        command = shlex.split(environ.get("PAGER", _PAGER))
        if command in ([], ["cat"]):
            return False
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": _LESS, **environ})
    except (OSError, ValueError):
        return False
    left: bytes | None = f"{text}\n".encode("utf-8", "backslashreplace")
    while True:
        try:
            pager.communicate(left)
            return True
        except KeyboardInterrupt:  # It is meant for the pager, which shows the rest.
            left = None


class ProgressLine:
    """A `progress` for `App.index`, used in a `with` block that ends the line."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._is_terminal = self._stream.isatty()
        self._shown_at = 0.0
        self._started_at = time.monotonic()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._is_terminal and self._shown_at:
            self._write(_CLEAR_LINE)

    def __call__(self, progress: "Progress") -> None:
        """Show the progress, unless something was shown a moment ago."""
        self._show(describe(progress))

    def files(self, server: str, done: int, total: int) -> None:
        """Show how many files a server has been sent, likewise."""
        self._show(f"{server}: {done:,} of {counted(total, 'file')}")

    def _show(self, words: str) -> None:
        now = time.monotonic()
        if self._is_terminal:
            if now - self._shown_at >= TERMINAL_SECONDS:
                self._write(_CLEAR_LINE + words)
                self._shown_at = now
        elif now - (self._shown_at or self._started_at) >= LOG_SECONDS:
            self._write(words + "\n")
            self._shown_at = now

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def describe(progress: "Progress") -> str:
    """Return, for example, "indexing 3,120 of 8,400 files, 21,004 chunks, about 40 s left"."""
    files, chunks = counted(progress.files_total, "file"), counted(progress.chunks, "chunk")
    words = f"indexing {progress.files_done:,} of {files}, {chunks}"
    if progress.seconds_left is not None:
        words += f", about {max(1, round(progress.seconds_left))} s left"
    return words
