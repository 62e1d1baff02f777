"""Measure `find_occurrences` beside ripgrep, on the same repository, one after the other.

    python benchmarks/occurrences.py --root FOLDER [--runs N] TEXT ...

The index is kept in a temporary folder, unless GRAPHRAG_DATA_DIR names one. ripgrep prints every line of the files that
it searches by default; ours is the whole tool call, with the text of its answer. Each figure is the median of the runs,
which alternate; "first call" is the first of the process, which masks the files with secrets.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from graphrag_mcp.answers.tools import OCCURRENCES
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure find_occurrences beside ripgrep.")
    parser.add_argument("--root", type=Path, required=True, help="folder of any repository")
    parser.add_argument("--runs", type=int, default=9, help="the median of so many")
    parser.add_argument("texts", nargs="+", metavar="TEXT", help="what to look for, as whole words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = {"GRAPHRAG_DATA_DIR": os.environ.get("GRAPHRAG_DATA_DIR", folder)}
        with closing(App(options.root, load_settings(options.root, data))) as app:
            app.index()
            print(f"{app.status().files:,} files; first call: {_seconds(lambda: ask(app, 'nowhere_at_all')):.2f} s")
            for text in options.texts:
                compare(app, text, options.runs)


def compare(app: App, text: str, runs: int) -> None:
    """Print the medians, and how many occurrences each has found."""
    answer, lines = ask(app, text), ripgrep(app.root, text)
    pairs = [(_seconds(lambda: ask(app, text)), _seconds(lambda: ripgrep(app.root, text))) for _ in range(runs)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{text}: {ours:.3f} s, ripgrep {theirs:.3f} s, {ours / theirs:.1f} times; ", end="")
    print(f"{answer.partition(';')[0]}, ripgrep {lines:,} lines")


def ask(app: App, text: str) -> str:
    """Return what the tool answers."""
    call = OCCURRENCES.read({"text": text}, app.settings, app.root)
    return OCCURRENCES.write(OCCURRENCES.ask(app, call), call)


def ripgrep(root: Path, text: str) -> int:
    """Return how many lines ripgrep prints."""
    command = ["rg", "--line-number", "--fixed-strings", "--word-regexp", "--", text, "."]
    return subprocess.run(command, cwd=root, capture_output=True).stdout.count(b"\n")


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
