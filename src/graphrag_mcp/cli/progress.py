"""Shows the progress of an index run: one changing line on a terminal, else a line every LOG_SECONDS."""

import sys
import time

from graphrag_mcp.model.reports import Progress
from graphrag_mcp.text.counts import counted

TERMINAL_SECONDS = 0.1  # Faster than this, a line only flickers.
LOG_SECONDS = 3.0
_CLEAR_LINE = "\r\x1b[K"


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

    def __call__(self, progress: Progress) -> None:
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


def describe(progress: Progress) -> str:
    """Return, for example, "indexing 3,120 of 8,400 files, 21,004 chunks, about 40 s left"."""
    files, chunks = counted(progress.files_total, "file"), counted(progress.chunks, "chunk")
    words = f"indexing {progress.files_done:,} of {files}, {chunks}"
    if progress.seconds_left is not None:
        words += f", about {max(1, round(progress.seconds_left))} s left"
    return words
