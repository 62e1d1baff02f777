"""Compare this checkout with another one beside it: the time of searches over stdio, and the CPU time of index runs.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.paired --before ../before --root FOLDER --queries QUERIES.json [--rounds N] [--runs N]

FOLDER is copied, since files are edited. QUERIES.json is a list of objects with a "query" (with a "repo": then those
of the folder's name are asked). Both servers run at once; each query goes to both, in random order, so that a noisy
machine disturbs both alike. Prints the median of each, and the median of the ratios, query by query or run by run.
"""

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from tests.stdio_client import Server

HERE = Path(__file__).parents[1]
READY_SECONDS = 600
MINIMUM_QUERY = 2  # Characters.
EDITED_FILES = 5
CODE = {".py", ".ts", ".js", ".go", ".rs", ".java", ".c", ".swift", ".php", ".rb", ".cs"}


def main() -> None:
    """Print a table of both checkouts."""
    parser = argparse.ArgumentParser(description="Compare two checkouts in one run.")
    parser.add_argument("--before", type=Path, required=True, help="the other checkout")
    parser.add_argument("--root", type=Path, required=True, help="folder to index and search")
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=10, help="how often each query is asked")
    parser.add_argument("--runs", type=int, default=5, help="index runs of each checkout")
    add_option(parser)
    options = parser.parse_args()
    checkouts = (options.before.resolve(), HERE)
    queries = read_queries(options.queries, options.root.resolve().name)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / options.root.resolve().name
        shutil.copytree(options.root, root, symlinks=True)
        for name, pairs in (
            ("search, ms", time_searches(checkouts, root, Path(folder), queries, options.rounds)),
            *time_runs(checkouts, root, Path(folder), options.runs),
        ):
            before, after = (statistics.median(times) for times in zip(*pairs, strict=True))
            ratio = statistics.median(after / before for before, after in pairs)
            print(f"{name:24} before {before:9.2f}  after {after:9.2f}  ratio {ratio:.3f}  pairs {len(pairs)}")
            write_rows(options.figures, {f"{root.name}: {name}": {"before": f"{before:.1f}", "after": f"{after:.1f}"}})


def read_queries(file: Path, repo: str) -> list[str]:
    """Return the texts that the tool accepts; of several repositories, those of this one."""
    entries = json.loads(file.read_text(encoding="utf-8"))
    texts = [entry["query"] for entry in entries if entry.get("repo", repo).rpartition("/")[2] == repo]
    return [text for text in texts if len(text) >= MINIMUM_QUERY]


def time_searches(
    checkouts: Sequence[Path], root: Path, folder: Path, queries: Sequence[str], rounds: int
) -> list[tuple[float, ...]]:
    """Return the milliseconds of each call of the search tool, one tuple a query with both servers' times."""
    servers = [Server(root, environment(checkout, folder / f"data-{n}")) for n, checkout in enumerate(checkouts)]
    try:
        for server in servers:
            wait_until_ready(server)
            for query in queries:
                ask(server, query)
        pairs = []
        for query in [*queries] * rounds:
            times = [0.0] * len(servers)
            for number in random.sample(range(len(servers)), len(servers)):
                times[number] = ask(servers[number], query)
            pairs.append(tuple(times))
        return pairs
    finally:
        for server in servers:
            server.close()


def time_runs(
    checkouts: Sequence[Path], root: Path, folder: Path, runs: int
) -> list[tuple[str, list[tuple[float, ...]]]]:
    """Return the CPU seconds of first runs and of runs after some edits, and the megabytes of the index."""
    first, edited, sizes = [], [], []
    files = sorted(path for path in root.rglob("*") if path.suffix in CODE and path.is_file())[:EDITED_FILES]
    for run in range(runs):
        data = [folder / f"run-{run}-{number}" for number in range(len(checkouts))]
        both = list(zip(checkouts, data, strict=True))
        first.append(tuple(index(checkout, root, place) for checkout, place in both))
        sizes.append(tuple(megabytes(place) for place in data))
        for file in files:
            file.write_bytes(file.read_bytes() + b"\n")
        edited.append(tuple(index(checkout, root, place) for checkout, place in both))
    return [("first run, CPU s", first), ("run after edits, CPU s", edited), ("index, MB", sizes)]


def environment(checkout: Path, data: Path) -> dict[str, str]:
    """Return the environment in which Python imports this checkout."""
    return {**os.environ, "PYTHONPATH": str(checkout / "src"), "GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"}


def wait_until_ready(server: Server) -> None:
    """Wait until the index is complete."""
    deadline = time.monotonic() + READY_SECONDS
    while not server.call("index_status", {})[0].startswith("Index: ready"):
        assert time.monotonic() < deadline, "the index was not complete in time"
        time.sleep(0.2)


def ask(server: Server, query: str) -> float:
    """Return the milliseconds of one search."""
    started = time.perf_counter()
    text, failed = server.call("graphrag_hybrid_search", {"query": query})
    assert not failed, text
    return (time.perf_counter() - started) * 1000


def index(checkout: Path, root: Path, data: Path) -> float:
    """Return the CPU seconds of one index run and of the processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "graphrag_mcp", "index", "--root", str(root)]
    subprocess.run(command, env=environment(checkout, data), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def megabytes(folder: Path) -> float:
    """Return the size of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


if __name__ == "__main__":
    main()
