"""Measure how long it takes from a wheel to the first useful answer: two commands, then the client's start.

    python -m benchmarks.setup --repo CHECKOUT --query WORDS --expect PATH [--installer pip|uv] [--runs N]

In a fresh virtual environment and on a copy of the repository: `pip install`, or uv's, with its cache and without, then
`graphrag-mcp init --yes`, then the server as the written `.mcp.json` starts it. The answer is useful when PATH is the
first result. All times are seconds; "answer" and "complete" (the index) count from the server's start. Making the
virtual environment is not counted: pipx and uv do that within their install.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.figures import add_option, write_rows
from benchmarks.startup import PROTOCOL, receive, send

TARGET_SECONDS = 60
TOO_LONG_SECONDS = 600
POLL_SECONDS = 0.2
# The command, and the option that has it load everything anew.
INSTALLERS = {
    "pip": (["pip", "install", "--quiet"], "--no-cache-dir"),
    "uv": (["uv", "pip", "install", "--quiet"], "--no-cache"),
}


class Times(NamedTuple):
    """One run. total: from the install to the useful answer."""

    install: float
    init: float
    start: float
    answer: float
    complete: float
    total: float


class Question(NamedTuple):
    """What is asked, and the file that has to come first."""

    query: str
    expected: str


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the way from a wheel to the first useful answer.")
    parser.add_argument("--repo", type=Path, required=True, help="a checkout; it is copied")
    parser.add_argument("--query", required=True, help="a question about it")
    parser.add_argument("--expect", required=True, help="the file that has to be the first result")
    parser.add_argument("--installer", choices=INSTALLERS, default="pip", help="what installs the wheel")
    parser.add_argument("--runs", type=int, default=3, help="the median of so many")
    add_option(parser)
    options = parser.parse_args()
    question = Question(options.query, options.expect)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        print(f"{options.repo.name}: {count_lines(options.repo):,} lines; target {TARGET_SECONDS} s for total")
        for name, more in (("with its cache", []), ("without", [INSTALLERS[options.installer][1]])):
            install = [*INSTALLERS[options.installer][0], *more, str(wheel)]
            runs = [measure(options.repo, install, question) for _ in range(options.runs)]
            report(f"{options.installer} {name}", runs, options.figures)


def measure(repository: Path, installing: list[str], question: Question) -> Times:
    """Go the whole way once, in folders of its own."""
    with tempfile.TemporaryDirectory() as folder:
        project, venv = Path(folder) / "project", Path(folder) / "venv"
        shutil.copytree(repository, project, symlinks=True)
        (project / ".mcp.json").unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHRAG_")}
        environment["GRAPHRAG_DATA_DIR"] = str(Path(folder) / "data")
        environment["PATH"] = os.pathsep.join([str(venv / "bin"), environment["PATH"]])
        environment["VIRTUAL_ENV"] = str(venv)
        install = time_command(installing, project, environment)
        init = time_command(["graphrag-mcp", "init", "--yes"], project, environment)
        start, answer, complete = ask_server(project, environment, question)
        return Times(install, init, start, answer, complete, install + init + answer)


def ask_server(project: Path, environment: Mapping[str, str], question: Question) -> tuple[float, float, float]:
    """Start the server as its client would; return when its tools, the useful answer and the whole index were there."""
    entry = json.loads((project / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["graphrag"]
    opening = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
    started = time.perf_counter()
    with subprocess.Popen(
        [entry["command"], *entry["args"]],
        cwd=project,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            send(server, {"id": 1, "method": "initialize", "params": opening})
            receive(server)
            send(server, {"method": "notifications/initialized"})
            send(server, {"id": 2, "method": "tools/list"})
            receive(server)
            start = time.perf_counter() - started
            await_useful_answer(server, question)
            answer = time.perf_counter() - started
            await_index(server)
            return start, answer, time.perf_counter() - started
        finally:
            server.kill()


def await_useful_answer(server: subprocess.Popen[str], question: Question) -> None:
    deadline = time.monotonic() + TOO_LONG_SECONDS
    while time.monotonic() < deadline:
        found = call(server, "graphrag_hybrid_search", query=question.query)["primary"]
        if found and found[0]["path"] == question.expected:
            return
        time.sleep(POLL_SECONDS)
    sys.exit(f"{question.expected} never came first; ask something that it answers best")


def await_index(server: subprocess.Popen[str]) -> None:
    while call(server, "index_status")["state"]["state"] != "ready":
        time.sleep(POLL_SECONDS)


def call(server: subprocess.Popen[str], tool: str, **arguments: str) -> dict[str, Any]:
    """Call a tool and return its answer; what else the server says meanwhile is dropped."""
    params = {"name": tool, "arguments": {**arguments, "response_format": "json"}}
    send(server, {"id": 3, "method": "tools/call", "params": params})
    while "id" not in (message := receive(server)):
        pass
    answer: dict[str, Any] = json.loads(message["result"]["content"][0]["text"])
    return answer


def report(name: str, runs: list[Times], figures: str | None) -> None:
    columns = zip(Times._fields, zip(*runs, strict=True), strict=True)
    medians = {field: f"{statistics.median(values):.1f}" for field, values in columns}
    shown = ", ".join(f"{field} {median}" for field, median in medians.items())
    print(f"{name}: {shown}  (totals: {', '.join(f'{one.total:.1f}' for one in runs)})", flush=True)
    write_rows(figures, {name: medians})


def build_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(Path(__file__).parents[1])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def count_lines(repository: Path) -> int:
    """Return the lines of the tracked files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, check=True, capture_output=True).stdout
    files = (repository / os.fsdecode(name) for name in listed.split(b"\0") if name)
    return sum(file.read_bytes().count(b"\n") for file in files if file.is_file())


def time_command(command: list[str], folder: Path, environment: Mapping[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
