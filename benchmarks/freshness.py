"""Measure how soon a saved edit is found: one process watches, this one searches.

    python -m benchmarks.freshness --root FOLDER [--edits N]

FOLDER is copied into a temporary folder, and edited there. Each edit adds a word that stands nowhere else to one file;
the time runs from when the file is closed until a search finds the word in it.
"""

import argparse
import os
import random
import shutil
import statistics
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.files import ParseMode
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.settings import load_settings

PATIENCE_SECONDS = 30
POLL_SECONDS = 0.01
PAUSE_SECONDS = 0.5  # Between edits, so that each is a batch of its own.


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how soon an edit is found.")
    parser.add_argument("--root", type=Path, required=True, help="folder of any repository; it is copied")
    parser.add_argument("--edits", type=int, default=20)
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "tree")
        shutil.copytree(options.root, root, symlinks=True)
        environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(Path(temporary, "data"))}
        with watching(root, environment):
            report(measure(App(root, load_settings(root, environment)), options.edits), options.figures)


@contextmanager
def watching(root: Path, environment: dict[str, str]) -> Iterator[None]:
    """Keep a watcher running, from when it follows the edits until the block ends."""
    command = [sys.executable, "-m", "graphrag_mcp", "watch", "--root", str(root)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as watcher:
        try:
            assert watcher.stdout is not None
            assert any(line.startswith("watching") for line in watcher.stdout), "the watcher ended"
            yield
        finally:
            watcher.terminate()


def measure(app: App, edits: int) -> list[float]:
    app.search(SearchRequest("warm up"))
    chance = random.Random(0)
    seconds = []
    for path in choose_files(app.root, edits, chance):
        time.sleep(PAUSE_SECONDS)
        seconds.append(time_edit(app, path, "".join(chance.choices(string.ascii_lowercase, k=16))))
    app.close()
    return seconds


def choose_files(root: Path, count: int, chance: random.Random) -> list[str]:
    """Return some files that are indexed by their syntax: all their lines can be found."""
    files = [item.path for item in walk(ExclusionManager(root)) if isinstance(item, WalkedFile)]
    chance.shuffle(files)
    return list(islice((path for path in files if is_source(root, path)), count))


def is_source(root: Path, path: str) -> bool:
    return bool(detect_language(path)) and parse_file(path, (root / path).read_bytes()).mode is ParseMode.SYNTAX


def time_edit(app: App, path: str, word: str) -> float:
    with (app.root / path).open("a", encoding="utf-8") as file:
        file.write(f"\n{word}\n")
    saved = time.perf_counter()
    while not is_found(app, path, word):
        assert time.perf_counter() - saved < PATIENCE_SECONDS, f"the edit of {path} is not found"
        time.sleep(POLL_SECONDS)
    return time.perf_counter() - saved


def is_found(app: App, path: str, word: str) -> bool:
    # Archived files too: chance decides which files are edited.
    hits = app.search(SearchRequest(word, scope=Scope(exclude_archived=False))).primary
    return any(hit.chunk.path == path and word in hit.chunk.text for hit in hits)


def report(seconds: list[float], figures: str | None) -> None:
    cells = {"median": f"{statistics.median(seconds):.2f}", "slowest": f"{max(seconds):.2f}"}
    print(f"{len(seconds)} edits: median {cells['median']} s, slowest {cells['slowest']} s")
    write_rows(figures, {"a saved edit is found, s": cells})


if __name__ == "__main__":
    main()
