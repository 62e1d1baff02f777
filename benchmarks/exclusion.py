"""Measure what `excluded_files` costs: latency of the same queries with 0, 10, 20 and 50 % of the files excluded.

    python -m benchmarks.exclusion FOLDER --queries QUERIES.json [--data-dir DIR] [--rounds 3]

FOLDER is a tree of code; its index is built first, or used again when it is in --data-dir. QUERIES.json is a list of
objects with a "query", such as the benchmark's. The shares take turns query by query, so that a busy machine slows all
of them alike. "new list": the list is given for the first time and has to be resolved to files; "same list": again.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.walker import WalkedFile, walk
from graphrag_mcp.model.scope import Scope, normalise_excluded_files
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings

SHARES = (0, 10, 20, 50)  # Per cent.


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what excluded_files costs.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    add_option(parser)
    options = parser.parse_args()
    queries = [one["query"] for one in json.loads(options.queries.read_text())]

    with tempfile.TemporaryDirectory() as scratch:
        data = options.data_dir or scratch
        app = App(options.folder, load_settings(options.folder, {**os.environ, "GRAPHRAG_DATA_DIR": str(data)}))
        app.index()
        files = [one.path for one in walk(ExclusionManager(app.root)) if isinstance(one, WalkedFile)]
        app.search(SearchRequest("warm up"))
        print(f"{len(files)} files, {app.index_state().chunks} chunks, {len(queries)} queries, {options.rounds} rounds")
        report({share: choose(files, share) for share in SHARES}, app, queries, options.rounds, options.figures)
        app.close()


def choose(files: Sequence[str], share: int) -> list[str]:
    """Return a share of the files, the same on every run and each a part of the next."""
    shuffled = random.Random(0).sample(sorted(files), len(files))
    return shuffled[: len(files) * share // 100]


def report(
    excluded: Mapping[int, Sequence[str]], app: App, queries: Sequence[str], rounds: int, figures: str | None
) -> None:
    """Print the medians per share: normalising the list, the first search with it, every further one."""
    normalising = {share: timed(partial(keys_of, files, app.root)) for share, files in excluded.items()}
    keys = {share: keys_of(files, app.root) for share, files in excluded.items()}
    new, same = measure_new(app, keys, queries, rounds), measure_same(app, keys, queries, rounds)
    baseline = statistics.median(same[0])
    print("excluded   normalise   new list   same list   difference to 0 %")
    for share in excluded:
        again = statistics.median(same[share])
        print(
            f"{share:>7} %  {normalising[share]:>7.2f} ms {statistics.median(new[share]):>7.2f} ms "
            f"{again:>8.2f} ms   {again - baseline:>+8.2f} ms"
        )
        cells = {"new list": f"{statistics.median(new[share]):.2f}", "same list": f"{again:.2f}"}
        write_rows(figures, {f"{share} %": cells})


def keys_of(files: Sequence[str], root: Path) -> frozenset[str]:
    return normalise_excluded_files(files, root)[0]


def measure_new(
    app: App, keys: Mapping[int, frozenset[str]], queries: Sequence[str], rounds: int
) -> dict[int, list[float]]:
    """Search with a list that no search has had before: one key more or less makes it another."""
    took: dict[int, list[float]] = {share: [] for share in keys}
    for number, query in enumerate(queries[: 10 * rounds]):
        for share in in_turn(list(keys), number):
            unknown = [f"./no-such-file-{number}.md"] if share else []
            took[share].append(search_time(app, query, keys[share].union(unknown)))
    return took


def measure_same(
    app: App, keys: Mapping[int, frozenset[str]], queries: Sequence[str], rounds: int
) -> dict[int, list[float]]:
    """Search with lists that were used before."""
    took: dict[int, list[float]] = {share: [] for share in keys}
    for _ in range(rounds):
        for number, query in enumerate(queries):
            for share in in_turn(list(keys), number):
                took[share].append(search_time(app, query, keys[share]))
    return took


def in_turn(shares: list[int], number: int) -> list[int]:
    """Begin with another share each time: the first search for a query pays for what the others find cached."""
    start = number % len(shares)
    return shares[start:] + shares[:start]


def search_time(app: App, query: str, excluded: frozenset[str]) -> float:
    return timed(lambda: app.search(SearchRequest(query, scope=Scope(excluded_keys=excluded))))


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
