"""Drive semble over the benchmark's checkouts, so that it can be compared with this project on the same machine.

    python -m benchmarks.peer_semble RUN.json --repos-dir CHECKOUTS --benchmark DIR --model DIR --scope full

Runs in an environment of its own with `semble==0.7.0`. CHECKOUTS holds a folder per repository of the benchmark, named
as in its repos.json and at the revision given there. RUN.json is written for the benchmark's score.py; the figures of
speed go to standard output. Nothing is taken from or left in semble's cache.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

TOP_K = 10  # semble's own default, with which its published figures were made; it ranks a pool of five times as many.


@dataclass(frozen=True, slots=True)
class Timing:
    """What building one index took; `cpu_seconds` counts every thread and child process."""

    name: str
    chunks: int
    wall_seconds: float
    cpu_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Run semble over the benchmark.")
    parser.add_argument("out", type=Path, help="run file to write")
    parser.add_argument("--repos-dir", type=Path, required=True, help="folder of the checkouts")
    parser.add_argument("--benchmark", type=Path, required=True, help="folder of queries.json and repos.json")
    parser.add_argument("--model", type=Path, required=True, help="model2vec folder")
    parser.add_argument("--scope", choices=["root", "full"], default="root")
    parser.add_argument("--content", choices=["code", "all"], default="code", help="all: documents and settings too")
    parser.add_argument("--top-k", type=int, default=TOP_K, help="chunks asked for per query")
    parser.add_argument("--answers", type=Path, help="write what its tool answers, for tokens.py")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as cache:
        os.environ["SEMBLE_CACHE_LOCATION"] = cache
        run_benchmark(options)


def run_benchmark(options: argparse.Namespace) -> None:
    from semble import ContentType
    from semble.index.dense import load_model

    content = [ContentType.CODE] if options.content == "code" else list(ContentType)
    queries = json.loads((options.benchmark / "queries.json").read_text())
    repositories = json.loads((options.benchmark / "repos.json").read_text())
    load_model(str(options.model))  # Loaded once and kept, as in a server; not part of indexing.

    results: dict[str, list[Any]] = {}
    timings: list[Timing] = []
    query_ms: list[float] = []
    answers: dict[str, list[Any]] = {}
    for repository in repositories:
        prefix = repository["index_root"] if options.scope == "root" else ""
        folder = options.repos_dir / repository["name"] / prefix
        index, timing = build_index(repository["name"], folder, content, str(options.model))
        timings.append(timing)
        print_row(timing)
        for query in queries:
            if query["repo"] == repository["name"]:
                results[query["id"]], elapsed_ms = search(index, query["query"], prefix, options.top_k)
                query_ms.append(elapsed_ms)
                if options.answers:
                    answers[query["id"]] = answer(index, query["query"], prefix, options.top_k)

    report(timings, query_ms)
    name = f"semble 0.7.0, {options.content}, {options.model.name}"
    options.out.write_text(json.dumps({"name": name, "scope": options.scope, "results": results}))
    if options.answers:
        options.answers.write_text(json.dumps(answers))


def build_index(name: str, folder: Path, content: list[Any], model: str) -> tuple[Any, Timing]:
    from semble import SembleIndex

    wall, cpu = time.perf_counter(), cpu_seconds()
    index = SembleIndex.from_path(folder, content=content, model_path=model)
    timing = Timing(name, len(index.chunks), time.perf_counter() - wall, cpu_seconds() - cpu)
    return index, timing


def cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def search(index: Any, query: str, prefix: str, top_k: int) -> tuple[list[tuple[str, int, int]], float]:
    """Return the ranked chunks, their paths relative to the repository, and the milliseconds that it took."""
    started = time.perf_counter()
    found = index.search(query, top_k=top_k)
    elapsed_ms = (time.perf_counter() - started) * 1000
    chunks = [result.chunk for result in found]
    return [(str(PurePosixPath(prefix, c.file_path)), c.start_line, c.end_line) for c in chunks], elapsed_ms


def answer(index: Any, query: str, prefix: str, top_k: int) -> list[dict[str, Any]]:
    """Return the results as its tool words them, with whole chunks, their paths relative to the repository."""
    from semble.utils import format_results

    results: list[dict[str, Any]] = format_results(query, index.search(query, top_k=top_k))["results"]
    return [one | {"file_path": str(PurePosixPath(prefix, one["file_path"]))} for one in results]


def report(timings: list[Timing], query_ms: list[float]) -> None:
    chunks = sum(timing.chunks for timing in timings)
    wall_seconds = sum(timing.wall_seconds for timing in timings)
    print_row(Timing("total", chunks, wall_seconds, sum(timing.cpu_seconds for timing in timings)))
    p95 = statistics.quantiles(query_ms, n=20)[-1]
    print(f"query: p50 {statistics.median(query_ms):.2f} ms, p95 {p95:.2f} ms, {len(query_ms)} queries")


def print_row(timing: Timing) -> None:
    print(
        f"{timing.name:<16}{timing.chunks:>8} chunks{timing.wall_seconds:>8.2f} s wall{timing.cpu_seconds:>8.2f} s CPU",
        flush=True,
    )


if __name__ == "__main__":
    main()
