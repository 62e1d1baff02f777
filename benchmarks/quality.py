"""Index the benchmark's repositories, ask its queries, and print quality and speed.

    python -m benchmarks.quality --repos-dir CHECKOUTS --benchmark DIR --scope full OUT.json [--setting name=value …]

CHECKOUTS holds one folder per repository of the benchmark, named as in its repos.json and at the revision given there.
OUT.json is a run file for the benchmark's score.py. The indexes are built in a temporary folder, or kept in --data-dir.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from graphrag_mcp.app.local import App
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings

LIMIT = 10


def main() -> None:
    options = read_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["GRAPHRAG_DATA_DIR"] = str(options.data_dir or temporary)
        run(options)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure quality and speed on the benchmark.")
    parser.add_argument("out", type=Path, help="run file to write")
    parser.add_argument("--repos-dir", type=Path, required=True, help="folder of the checkouts")
    parser.add_argument("--benchmark", type=Path, required=True, help="folder of queries.json and repos.json")
    parser.add_argument("--scope", choices=["root", "full"], default="root")
    parser.add_argument("--data-dir", type=Path, help="keep the indexes here and use them again")
    parser.add_argument("--setting", action="append", default=[], help="name=value, as GRAPHRAG_NAME would set it")
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--repos", nargs="*", help="only these repositories")
    add_option(parser)
    return parser.parse_args()


def run(options: argparse.Namespace) -> None:
    queries = json.loads((options.benchmark / "queries.json").read_text())
    repositories = json.loads((options.benchmark / "repos.json").read_text())
    environment = dict(os.environ)
    environment |= {f"GRAPHRAG_{name.upper()}": value for name, _, value in (s.partition("=") for s in options.setting)}
    results: dict[str, list[Any]] = {}
    totals = {"files": 0, "chunks": 0, "wall": 0.0, "cpu": 0.0}
    query_ms: dict[str, list[float]] = {}
    load_embedder().embed_query("loaded once and kept, as in a server; not part of indexing")
    for repository in repositories:
        name = repository["name"]
        if options.repos and name not in options.repos:
            continue
        root = options.repos_dir / name
        start = repository["index_root"] if options.scope == "root" else ""
        app = App(root, load_settings(root, environment), start)
        wall, cpu = time.perf_counter(), cpu_seconds()
        report = app.index()
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
        state = app.index_state()
        for key, value in zip(totals, (state.files_done, state.chunks, wall, cpu), strict=True):
            totals[key] += value
        app.search(SearchRequest("warm up"))
        times = query_ms.setdefault(name, [])
        for query in queries:
            if query["repo"] == name:
                results[query["id"]], elapsed_ms = ask(app, query["query"], options.limit)
                times.append(elapsed_ms)
        app.close()
        print(
            f"{name:<16}{state.files_done:>6} files{state.chunks:>8} chunks{wall:>8.2f} s wall{cpu:>8.2f} s CPU"
            f"{statistics.median(times):>8.2f} ms a query   {report.embedded} embedded",
            flush=True,
        )
    print(
        f"total {totals['files']} files {totals['chunks']} chunks {totals['wall']:.2f} s wall {totals['cpu']:.2f} s CPU"
    )
    everything = sorted(elapsed for times in query_ms.values() for elapsed in times)
    middle, late = statistics.median(everything), everything[int(0.95 * len(everything))]
    print(f"query: p50 {middle:.2f} ms, p95 {late:.2f} ms")
    figures = {"chunks": f"{totals['chunks']}", "indexing, wall clock, s": f"{totals['wall']:.1f}"}
    figures |= {"query, p50, ms": f"{middle:.1f}", "query, p95, ms": f"{late:.1f}"}
    write_rows(options.figures, {row: {"graphrag-mcp": value} for row, value in figures.items()})
    run_name = " ".join(["graphrag-mcp", *options.setting])
    options.out.write_text(json.dumps({"name": run_name, "scope": options.scope, "results": results}))


def ask(app: App, query: str, limit: int) -> tuple[list[tuple[str, int, int]], float]:
    """Return the ranked chunks and the milliseconds that the whole search took."""
    started = time.perf_counter()
    answer = app.search(SearchRequest(query, limit=limit))
    elapsed_ms = (time.perf_counter() - started) * 1000
    return [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in answer.primary], elapsed_ms


def cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    main()
