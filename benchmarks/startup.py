"""Measure how soon a new server process answers `initialize` and `tools/list`, whatever the state of its index.

    python -m benchmarks.startup --root FOLDER [--runs N]

The index is kept in a temporary folder. The requests are written by hand, so that no client's own start is measured.
"empty": the folder has no index yet. "full": it has one. "building": another process is making it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows

PROTOCOL = "2025-06-18"
BUILD_START_SECONDS = 60  # A process that has not begun its index by then never will.

Times = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the start of the server.")
    parser.add_argument("--root", type=Path, required=True, help="folder of any repository")
    parser.add_argument("--runs", type=int, default=9, help="the median of so many")
    add_option(parser)
    options = parser.parse_args()
    for state, measure in (("empty", measure_empty), ("full", measure_full), ("building", measure_building)):
        report(state, measure(options.root, options.runs), options.figures)


def measure_empty(root: Path, runs: int) -> list[Times]:
    times = []
    for _ in range(runs):
        with data_folder() as environment:
            times.append(start_server(root, environment))
    return times


def measure_full(root: Path, runs: int) -> list[Times]:
    with data_folder() as environment:
        subprocess.run(command("index", root), env=environment, check=True, stdout=subprocess.DEVNULL)
        return [start_server(root, environment) for _ in range(runs)]


def measure_building(root: Path, runs: int) -> list[Times]:
    times = []
    for _ in range(runs):
        with data_folder() as environment, building(root, environment):
            times.append(start_server(root, environment))
    return times


def start_server(root: Path, environment: Mapping[str, str]) -> Times:
    """Return the seconds from the start of the process to the answers to `initialize` and to `tools/list`."""
    opening = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
    started = time.perf_counter()
    with subprocess.Popen(
        command("serve", root), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        send(server, {"id": 1, "method": "initialize", "params": opening})
        assert "serverInfo" in receive(server)["result"]
        initialized = time.perf_counter() - started
        send(server, {"method": "notifications/initialized"})
        send(server, {"id": 2, "method": "tools/list"})
        assert receive(server)["result"]["tools"]
        listed = time.perf_counter() - started
        server.kill()
    return initialized, listed


def send(server: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def receive(server: subprocess.Popen[str]) -> dict[str, Any]:
    assert server.stdout is not None
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


@contextmanager
def data_folder() -> Iterator[dict[str, str]]:
    """Give an environment whose index files lie in a folder of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield {**os.environ, "GRAPHRAG_DATA_DIR": folder}


@contextmanager
def building(root: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Let another process index `root`, from when its first rows are written until the block ends."""
    with subprocess.Popen(command("index", root), env=environment, stdout=subprocess.DEVNULL) as indexer:
        try:
            await_index(Path(environment["GRAPHRAG_DATA_DIR"]))
            yield
            assert indexer.poll() is None, "the index was complete before the server answered; take a larger --root"
        finally:
            indexer.kill()


def await_index(folder: Path) -> None:
    deadline = time.monotonic() + BUILD_START_SECONDS
    while not any(folder.glob("*/index-*.sqlite-wal")):
        assert time.monotonic() < deadline, "no index was begun"
        time.sleep(0.01)


def command(name: str, root: Path) -> list[str]:
    return [sys.executable, "-m", "graphrag_mcp", name, "--root", str(root)]


def report(state: str, times: list[Times], figures: str | None) -> None:
    for answer, seconds in zip(("initialize", "tools/list"), zip(*times, strict=True), strict=True):
        print(f"{state:<10}{answer:<12}median {statistics.median(seconds):.3f} s, slowest {max(seconds):.3f} s")
        write_rows(figures, {state: {answer: f"{statistics.median(seconds):.2f}"}})


if __name__ == "__main__":
    main()
