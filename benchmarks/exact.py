"""Time the callers of single definitions, and measure the memory of a server that answers all tools.

    python -m benchmarks.exact --root FOLDER --queries QUERIES.json [--before CHECKOUT]

Callers are asked in process, of a hundred definitions at random and of the hundred that most links lead to, each twice:
rows and text. Then a server gets a hundred calls of each tool; with `--before` the server of another checkout gets
them, too. QUERIES.json is a list of objects with a "query". Prints milliseconds, and resident megabytes.
"""

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.context import ask
from benchmarks.figures import add_option, write_rows
from benchmarks.paired import HERE, environment, index, read_queries, wait_until_ready
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from tests.stdio_client import Server

CALLS = 100
_RANDOM = """SELECT t.path || '::' || s.qualified_name FROM symbols s JOIN tree_files t USING (file_id)
    WHERE s.kind IN ('function', 'method') ORDER BY t.path, s.id"""
_MOST_USED = """SELECT t.path || '::' || s.qualified_name FROM links l JOIN symbols s ON s.place = l.target
    JOIN tree_files t USING (file_id) WHERE s.kind IN ('function', 'method')
    GROUP BY s.place ORDER BY count(*) DESC, t.path LIMIT ?"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="another checkout, whose server is measured too")
    add_option(parser)
    options = parser.parse_args()
    root = options.root.resolve()
    with tempfile.TemporaryDirectory() as folder:
        with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": folder}))) as app:
            app.index()
            with closing(sqlite3.connect(app.status().index_file)) as index:
                at_random = random.Random(0).sample([name for (name,) in index.execute(_RANDOM)], CALLS)
                most_used = [name for (name,) in index.execute(_MOST_USED, (CALLS,))]
            for what, symbols in (("random", at_random), ("most used", most_used)):
                for state in ("cold", "warm"):
                    times = sorted(_times(app, symbols))
                    middle, late = statistics.median(times), times[len(times) * 95 // 100]
                    print(f"callers, {what}, {state}: p50 {middle:.1f} ms, p95 {late:.1f} ms")
                    for name, value in (("p50", middle), ("p95", late)):
                        write_rows(
                            options.figures, {f"callers, {what}, {state}, {name}, ms": {"after": f"{value:.1f}"}}
                        )
        for column, checkout in (("before", options.before), ("after", HERE)):
            if checkout:
                size = _memory(root, checkout, Path(folder), at_random, options.queries)
                print(f"{checkout.name}: {size:.0f} MB")
                write_rows(options.figures, {"server after 100 calls of each tool, MB": {column: f"{size:.0f}"}})


def _times(app: App, symbols: Iterable[str]) -> Iterator[float]:
    for symbol in symbols:
        began = time.perf_counter()
        ask(app, "trace_relations", {"symbol": symbol, "direction": "callers"})
        yield (time.perf_counter() - began) * 1000


def _memory(root: Path, checkout: Path, folder: Path, symbols: Sequence[str], queries: Path) -> float:
    """Return the megabytes of a server after so many calls of each tool."""
    data = folder / checkout.name
    index(checkout.resolve(), root, data)
    server = Server(root, environment(checkout.resolve(), data))
    try:
        wait_until_ready(server)
        for name, arguments in _calls(symbols, read_queries(queries, "")):
            server.call(name, arguments)
        status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024
    finally:
        server.close()


def _calls(symbols: Sequence[str], queries: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for symbol, query in zip(symbols, queries[:CALLS], strict=True):
        for name in ("graphrag_hybrid_search", "query_documents", "query_unique_documents", "find_history"):
            yield name, {"query": query}
        yield "find_symbol", {"symbol": symbol.rpartition("::")[2]}
        yield "trace_relations", {"symbol": symbol, "direction": "callers"}
        yield "impact", {"symbol": symbol}
        yield "find_occurrences", {"text": symbol.rpartition(".")[2].rpartition(":")[2]}
        yield "index_status", {}


if __name__ == "__main__":
    main()
