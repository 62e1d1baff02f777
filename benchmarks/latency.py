"""Time the default search over stdio beside semble's, in one run.

    python -m venv semble && semble/bin/pip install "semble[mcp]==0.7.0"
    python -m benchmarks.latency --root FOLDER --queries QUERIES.json --semble semble/bin/semble [--rounds N]

QUERIES.json is a list of objects with a "query" (with a "repo": then those of the folder's name are asked). Each query
goes to both servers, in random order. semble indexes all kinds of files, as we do, with the model of this package.
Prints the median and the 90th percentile of each in milliseconds, and the median of the ratios.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import add_option, write_rows
from benchmarks.paired import read_queries, wait_until_ready
from tests.stdio_client import Server

MODEL = Path(__file__).parents[1] / "src" / "graphrag_mcp" / "embedding" / "model"


def main() -> None:
    """Print one line for each server, and one for the ratio."""
    parser = argparse.ArgumentParser(description="Time searches over stdio beside semble.")
    parser.add_argument("--root", type=Path, required=True, help="folder to index and search")
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--semble", type=Path, required=True, help="its command")
    parser.add_argument("--rounds", type=int, default=10, help="how often each query is asked")
    add_option(parser)
    options = parser.parse_args()
    root = options.root.resolve()
    queries = read_queries(options.queries, root.name)
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, "GRAPHRAG_DATA_DIR": data, "SEMBLE_MODEL_NAME": str(MODEL), "HF_HUB_OFFLINE": "1"}
        environment["XDG_CACHE_HOME"] = data
        ours = Server(root, environment)
        peer = Server(root, environment, command=[str(options.semble.resolve())])
        try:
            wait_until_ready(ours)
            sys.stdout.write(ours.call("index_status", {"response_format": "concise"})[0] + "\n")
            report(
                time_both(
                    lambda query: ours.call("graphrag_hybrid_search", {"query": query}),
                    lambda query: peer.call("search", {"query": query, "repo": str(root), "content": "all"}),
                    queries,
                    options.rounds,
                ),
                options.figures,
            )
        finally:
            ours.close()
            peer.close()


Ask = Callable[[str], tuple[str, bool]]


def time_both(ours: Ask, peer: Ask, queries: list[str], rounds: int) -> list[tuple[float, float]]:
    """Return the milliseconds of each call to both, after a round that is not counted."""
    pairs = []
    for number, query in enumerate(queries * (rounds + 1)):
        times = [0.0, 0.0]
        for which in random.sample((0, 1), 2):
            started = time.perf_counter()
            text, failed = (ours, peer)[which](query)
            times[which] = (time.perf_counter() - started) * 1000
            assert not failed, text
        if number >= len(queries):
            pairs.append((times[0], times[1]))
    return pairs


def report(pairs: list[tuple[float, float]], figures: str | None) -> None:
    """Print the figures."""
    for name, times in zip(("graphrag-mcp", "semble"), zip(*pairs, strict=True), strict=True):
        high = statistics.quantiles(times, n=10)[-1]
        sys.stdout.write(f"{name:14} p50 {statistics.median(times):6.2f} ms  p90 {high:6.2f} ms\n")
        write_rows(figures, {name: {"p50": f"{statistics.median(times):.1f}", "p90": f"{high:.1f}"}})
    ratio = statistics.median(ours / peer for ours, peer in pairs)
    sys.stdout.write(f"ratio, call by call {ratio:.2f}  calls {len(pairs)}\n")
    write_rows(figures, {"ratio, call by call": {"p50": f"{ratio:.2f}"}})


if __name__ == "__main__":
    main()
