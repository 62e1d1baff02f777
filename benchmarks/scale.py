"""Measure a large index: latency of queries in a warm process, its resident memory, and an unchanged re-index.

    python benchmarks/scale.py FOLDER --queries QUERIES.json --data-dir DIR

FOLDER is any large tree of code; the index is built in --data-dir by a process of its own, or used again when it is
there.
QUERIES.json is a list of objects with a "query", such as the benchmark's.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from graphrag_mcp.app import App
from graphrag_mcp.model import SearchRequest
from graphrag_mcp.settings import load_settings


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a large index.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    options = parser.parse_args()

    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(options.data_dir)}
    command = [sys.executable, "-m", "graphrag_mcp", "index", "--root", str(options.folder)]
    for label in ("index", "unchanged re-index"):
        started = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        print(f"{label}: {time.perf_counter() - started:.2f} s, whole process")

    app = App(options.folder, load_settings(options.folder, environment))
    queries = [one["query"] for one in json.loads(options.queries.read_text())]
    started = time.perf_counter()
    app.search(SearchRequest(queries[0]))
    print(f"first search, model and vectors loaded by it: {time.perf_counter() - started:.2f} s")
    state = app.index_state()
    elapsed = sorted(timed(app, query) for query in queries)
    print(f"{state.files_done} files, {state.chunks} chunks, {app.status().index_bytes / 1e6:.0f} MB on disk")
    print(f"query: p50 {statistics.median(elapsed):.1f} ms, p95 {elapsed[int(0.95 * len(elapsed))]:.1f} ms")
    print(f"resident memory: {resident_megabytes():.0f} MB")


def timed(app: App, query: str) -> float:
    started = time.perf_counter()
    app.search(SearchRequest(query))
    return (time.perf_counter() - started) * 1000


def resident_megabytes() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
