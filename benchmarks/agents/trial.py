"""Let a coding agent solve tasks with each set of tools, and count what it looked up, kept and got right.

    python -m benchmarks.agents.trial --checkouts DIR --out RECORDS.jsonl --command
        'claude -p {prompt} --mcp-config {config} --strict-mcp-config --output-format stream-json --verbose'

DIR has a folder for each repository of tasks.json, named after it, with its history. A player works in a copy that ends
with the commit of the task. In the command, {prompt} is the task, {config} a file as Claude Code reads it, and {server}
a program that is the MCP server, for clients with other settings. A record is a line of RECORDS.jsonl; a run that is
recorded is not repeated. Look-ups are read from the agent's output or sessions as `graphrag-mcp usage` reads them, or
else from the calls of the server. README.md beside this file has the arms, the kinds and what a record says.
"""

import argparse
import json
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agents.tools import ARMS, SERVER
from benchmarks.paired import HERE, environment
from benchmarks.questions import Span, overlaps
from graphrag_mcp.cli.usage import OURS, Usage, count, default_folders
from graphrag_mcp.search.evaluation.comparison import bootstrap

TASKS = Path(__file__).parent / "tasks.json"
BESIDE = {"fix": 2, "structure": 0, "flow": 3}  # Places beside the gold that a right answer may name.
PROMPT = """You are in the root of a repository. Change no file.

{task}

End with one line of places, separated by commas:
ANSWER: path/of/file:line, path/of/file:line"""

_PLACE = re.compile(r"([\w@$./+-]+):(\d+)(?:-(\d+))?")


def main() -> None:
    """Run what is not recorded yet, and print the table of all records."""
    parser = argparse.ArgumentParser(description="Let an agent solve tasks with and without tools.")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--command", required=True, help="of the agent, with {prompt}, {config} and {server}")
    parser.add_argument("--out", type=Path, required=True, help="file of the records")
    parser.add_argument("--tasks", type=Path, default=TASKS)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=600, help="of a run")
    options = parser.parse_args()
    tasks = json.loads(options.tasks.read_text(encoding="utf-8"))
    rows = read_records(options.out)
    done = {(row["task"], row["arm"]) for row in rows}
    with tempfile.TemporaryDirectory() as work:
        for task, arm in order(tasks, options.arms, options.seed):
            if (task["id"], arm) not in done:
                root = prepare(Path(work), options.checkouts.resolve(), task)
                rows.append(play(Path(work), root, task, arm, options.command, options.seconds))
                with options.out.open("a", encoding="utf-8") as records:
                    records.write(json.dumps(rows[-1]) + "\n")
    sys.stdout.write(report(rows))


def read_records(file: Path) -> list[dict[str, Any]]:
    """Return the records of earlier runs."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def order(
    tasks: Sequence[Mapping[str, Any]], arms: Sequence[str], seed: int
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each task with each arm, both in the random order of a seed."""
    chance = random.Random(seed)
    for task in chance.sample(tasks, len(tasks)):
        for arm in chance.sample(arms, len(arms)):
            yield task, arm


def prepare(work: Path, checkouts: Path, task: Mapping[str, Any]) -> Path:
    """Return an indexed copy of a repository that knows no later commit than that of the task."""
    name, commit = task["repo"].rpartition("/")[2], task["commit"]
    root: Path = work / f"{name}-{commit[:8]}" / name
    if root.exists():
        git(root, "reset", "--quiet", "--hard")
        git(root, "clean", "--quiet", "-fdx")
        return root
    root.mkdir(parents=True)
    git(root, "init", "--quiet")
    git(root, "fetch", "--quiet", "--no-tags", str(checkouts / name), commit)
    git(root, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    index = [sys.executable, "-m", "graphrag_mcp", "index", "--root", str(root)]
    subprocess.run(index, env=environment(HERE, work / "data"), check=True, capture_output=True)
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def play(work: Path, root: Path, task: Mapping[str, Any], arm: str, command: str, seconds: int) -> dict[str, Any]:
    """Let the agent solve a task with the tools of an arm, and return the record."""
    folder = Path(tempfile.mkdtemp(dir=work))
    given = {"arm": arm, "root": str(root), "data": str(work / "data")}
    (folder / "run.json").write_text(json.dumps(given), encoding="utf-8")
    server = folder / "server"
    start = shlex.join(["env", f"PYTHONPATH={HERE / 'src'}:{HERE}", sys.executable, "-m", "benchmarks.agents.tools"])
    server.write_text(f"#!/bin/sh\nexec {start} {shlex.quote(str(folder))}\n", encoding="utf-8")
    server.chmod(0o700)
    config = folder / "config.json"
    entry = {"command": str(server), "args": [], "alwaysLoad": True}
    config.write_text(json.dumps({"mcpServers": {SERVER: entry}}), encoding="utf-8")
    names = {"{prompt}": PROMPT.format(task=task["task"]), "{config}": str(config), "{server}": str(server)}
    words = [
        re.sub("|".join(map(re.escape, names)), lambda name: names[name[0]], word) for word in shlex.split(command)
    ]
    started, clock = time.time(), time.monotonic()
    with (folder / "output").open("wb") as output:
        try:
            process = subprocess.run(
                words, cwd=root, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, timeout=seconds
            )
            status = str(process.returncode)
        except subprocess.TimeoutExpired:
            status = "timeout"
    said = (folder / "output").read_text(encoding="utf-8", errors="replace")
    places, right = judge(task, final_text(said))
    seen = looked_up(folder, root, said, started)
    row = {"task": task["id"], "kind": task["kind"], "arm": arm, "right": right, **seen, "status": status}
    return {**row, "seconds": round(time.monotonic() - clock, 1), "places": places, "command": command}


def looked_up(folder: Path, root: Path, said: str, started: float) -> dict[str, Any]:
    """Return the first look-up ("tool", "own" or "none"), the number of all, and the characters of their answers."""
    sessions = (file for place in default_folders(root) for file in place.rglob("*.jsonl"))
    kept = [file.read_text(encoding="utf-8", errors="replace") for file in sessions if file.stat().st_mtime >= started]
    usage = Usage()
    for texts in ([said], kept):
        files = [folder / f"transcript-{number}.jsonl" for number, _ in enumerate(texts)]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text.replace(f"{SERVER}__", "graphrag__"), encoding="utf-8")
        usage = count(files, str(root))
        if usage.sessions:
            break
    recorded = folder / "calls.jsonl"
    calls = [json.loads(line) for line in recorded.read_text().splitlines()] if recorded.exists() else []
    if not usage.sessions and calls:  # The agent writes no transcript that can be read.
        usage.sessions = usage.first_ours = 1
        usage.look_ups[OURS] = len(calls)
        usage.kept["ours"] = sum(call["characters"] for call in calls)
    first = "tool" if usage.first_ours else "own" if usage.sessions else "none"
    numbers = {"calls": usage.look_ups.total(), "tool_calls": usage.look_ups[OURS]}
    return {"first": first, **numbers, "characters": usage.kept.total(), "look_ups": dict(usage.look_ups)}


def final_text(said: str) -> str:
    """Return the agent's last message: of a stream of events their result, or else all that it printed."""
    last = ""
    for line in said.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        item = event.get("item") if isinstance(event, dict) else None
        text = event.get("result") if item is None and isinstance(event, dict) else (item or {}).get("text")
        last = text if isinstance(text, str) else last
    return last or said


def judge(task: Mapping[str, Any], text: str) -> tuple[list[Span], bool]:
    """Return the places of an answer, and whether they are right: each wanted one, and few beside them."""
    answer = text.rpartition("ANSWER:")[2] if "ANSWER:" in text else ""
    found = [(path.removeprefix("./"), int(a), int(b or a)) for path, a, b in _PLACE.findall(answer)]
    wanted = all(any(overlaps(place, span) for place in group for span in found) for group in task["gold"])
    beside = [span for span in found if not any(overlaps(place, span) for group in task["gold"] for place in group)]
    return found, wanted and len(beside) <= BESIDE[task["kind"]]


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each arm and kind, and how many more tasks are right with our tools than with others."""
    text = f"{'':10} {'':10} {'n':>3}  right  tool first  calls  characters\n"
    arms = list(dict.fromkeys((*ARMS, *(row["arm"] for row in rows))))
    for arm in arms:
        for kind in (*BESIDE, "all"):
            if chosen := [row for row in rows if row["arm"] == arm and kind in (row["kind"], "all")]:
                right, first = sum(row["right"] for row in chosen), sum(row["first"] == "tool" for row in chosen)
                calls, size = (statistics.mean(row[name] for row in chosen) for name in ("calls", "characters"))
                text += f"{arm:10} {kind:10} {len(chosen):3} {right:6} {first:11} {calls:6.1f} {size:11,.0f}\n"
    by_arm = {arm: {row["task"]: row["right"] for row in rows if row["arm"] == arm} for arm in arms}
    for arm in arms:
        if arm != "ours" and (shared := sorted(by_arm["ours"].keys() & by_arm[arm].keys())):
            mean, low, high = bootstrap([by_arm["ours"][task] - by_arm[arm][task] for task in shared])
            text += f"right, ours - {arm}: {mean:+.3f} [{low:+.3f}, {high:+.3f}], {len(shared)} tasks\n"
    return text


if __name__ == "__main__":
    main()
