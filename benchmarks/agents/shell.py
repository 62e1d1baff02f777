"""The trial for players that run commands in a shell, such as the sub-agents of a client: MCP does not reach those.

    python -m benchmarks.agents.shell deal --checkouts DIR --table DIR [--arms ours none placebo hooks]
    python -m benchmarks.agents.shell count --table DIR --out RECORDS.jsonl

`deal` makes a folder for each task and arm, in random order. Its `task.md` says all that a player needs; `look COMMAND`
runs a command in a copy of the repository, and writes down both. In the arm "ours" one of the commands is `codebase`,
and task.md has what `init --agents` writes into AGENTS.md; in "placebo" that command answers each question alike; in
"none" there is neither. In "hooks" there is neither too, but what `hook` says before a command stands before its
output. A player leaves its answer in `answer.txt`. `count` writes a record for each answer, and prints the table of
trial.py.
"""

import argparse
import json
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agents.tools import PLACEBO, SERVER, neutral
from benchmarks.agents.trial import BESIDE, PROMPT, TASKS, judge, order, prepare, report
from benchmarks.figures import add_option, write_rows
from benchmarks.paired import HERE, environment
from graphrag_mcp.cli.hook_notes import read_notes
from graphrag_mcp.cli.init import SECTION
from graphrag_mcp.cli.usage import OURS, count
from graphrag_mcp.index.paths import IndexPaths

DEALT = ("ours", "none")
TOLD = ("ours", "placebo")  # What `init --agents` writes.
ALL = (*DEALT, "placebo", "hooks")
SECONDS = 120  # Of one command.
MOST_SAID = 30_000  # Characters of its output, as Claude Code cuts them.
ONLY = """Run every command as `{look} 'COMMAND'`: it runs COMMAND with bash in the root of the repository; rg, sed,
cat, find, ls and git are there. Use nothing else to look at the repository, and do not look at this folder. Write your
answer into {answer}, too.
"""
SAYS = "\n\nAGENTS.md of the repository says:\n\n"


def main() -> None:
    """Deal the tasks, run the command of a player, or count what was played."""
    parser = argparse.ArgumentParser(description="Let players that have a shell solve the tasks of the trial.")
    commands = parser.add_subparsers(dest="command", required=True)
    dealing = commands.add_parser("deal")
    dealing.add_argument("--checkouts", type=Path, required=True)
    dealing.add_argument("--tasks", type=Path, default=TASKS)
    dealing.add_argument("--seed", type=int, default=0)
    dealing.add_argument("--arms", nargs="+", choices=ALL, default=DEALT)
    counting = commands.add_parser("count")
    counting.add_argument("--out", type=Path, required=True)
    add_option(counting)
    for command in (dealing, counting):
        command.add_argument("--table", type=Path, required=True)
    looking = commands.add_parser("look")
    looking.add_argument("folder", type=Path)
    looking.add_argument("line")
    options = parser.parse_args()
    if options.command == "look":
        sys.stdout.write(look(options.folder, options.line))
    elif options.command == "deal":
        tasks = json.loads(options.tasks.read_text(encoding="utf-8"))
        deal(options.table.resolve(), options.checkouts.resolve(), tasks, options.arms, options.seed)
    else:
        rows = played(options.table.resolve())
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        sys.stdout.write(report(rows))
        if options.figures:
            write_rows(options.figures, {kind: figures(rows, kind) for kind in (*BESIDE, "all")})


def deal(table: Path, checkouts: Path, tasks: list[dict[str, Any]], arms: Sequence[str], seed: int) -> None:
    """Make the folders of all runs; their numbers say neither the task nor the arm."""
    runs = list(order(tasks, arms, seed))
    numbers = random.Random(seed).sample(range(len(runs)), len(runs))
    for number, (task, arm) in zip(numbers, runs, strict=True):
        folder = table / f"{number:02}"
        root = folder / task["repo"].rpartition("/")[2]
        shutil.copytree(prepare(table / "work", checkouts, task), root)
        given = {"task": task, "arm": arm, "root": str(root), "data": str(table / "data")}
        (table / f"{folder.name}.json").write_text(json.dumps(given), encoding="utf-8")
        runs_us = ["env", f"PYTHONPATH={HERE / 'src'}:{HERE}", sys.executable, "-m"]
        _write_program(folder / "look", shlex.join([*runs_us, "benchmarks.agents.shell", "look", str(folder)]))
        text = PROMPT.format(task=task["task"]).replace("\n", f"\n{_only(folder)}", 1)
        program = [*runs_us, "graphrag_mcp"]
        if arm in ("ours", "hooks"):
            env = environment(HERE, table / "data")
            subprocess.run([*program, "index"], cwd=root, env=env, check=True, capture_output=True)
        if arm in TOLD:
            (folder / "bin").mkdir()
            command = shlex.join(program) if arm == "ours" else f"printf %s {shlex.quote(PLACEBO)} #"
            _write_program(folder / "bin" / SERVER, command)
            text += SAYS + neutral(SECTION)
        (folder / "task.md").write_text(text, encoding="utf-8")


def look(folder: Path, line: str) -> str:
    """Run a command of a player, and write it down as Claude Code writes a session."""
    given = json.loads((folder.parent / f"{folder.name}.json").read_text(encoding="utf-8"))
    transcript = folder / "session.jsonl"
    call_id = str(transcript.stat().st_size if transcript.exists() else 0)
    env = {**environment(HERE, Path(given["data"])), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    hook = said_before(given["root"], transcript, call_id, line, env) if given["arm"] == "hooks" else ""
    done = subprocess.run(
        ["timeout", str(SECONDS), "bash", "-c", line],
        cwd=given["root"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = str(neutral(hook + done.stdout.decode("utf-8", "replace")))
    said = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}\n... (cut)\n"
    ours = line.replace(f"{SERVER} ", "graphrag-mcp ")
    blocks = (
        {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": ours}},
        {"type": "tool_result", "tool_use_id": call_id, "content": said},
    )
    with transcript.open("a", encoding="utf-8") as session:
        session.writelines(json.dumps({"message": {"content": [block]}}) + "\n" for block in blocks)
    return said


def said_before(root: str, transcript: Path, call_id: str, line: str, env: Mapping[str, str]) -> str:
    """Return what the hook says before a command, as Claude Code shows it."""
    event = {
        "hook_event_name": "PreToolUse",
        "session_id": transcript.parent.name,
        "tool_name": "Bash",
        "tool_input": {"command": line},
        "tool_use_id": call_id,
        "transcript_path": str(transcript),
        "cwd": root,
    }
    command = [sys.executable, "-m", "graphrag_mcp", "hook"]
    done = subprocess.run(command, cwd=root, env=env, input=json.dumps(event).encode(), capture_output=True, check=True)
    context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
    return f"<system-reminder>PreToolUse:Bash hook additional context: {context}</system-reminder>\n" if context else ""


def played(table: Path) -> list[dict[str, Any]]:
    """Return a record for each run that has an answer, in the order of the folders."""
    rows = []
    for answer in sorted(table.glob("*/answer.txt")):
        folder = answer.parent
        given = json.loads((table / f"{folder.name}.json").read_text(encoding="utf-8"))
        usage = count([folder / "session.jsonl"])
        places, right = judge(given["task"], answer.read_text(encoding="utf-8"))
        first = "tool" if usage.first_ours else "own" if usage.sessions else "none"
        numbers = {"calls": usage.look_ups.total(), "tool_calls": usage.look_ups[OURS]}
        searches = {"searches": usage.searches, "with_phrasings": usage.with_phrasings}
        told = {"task": given["task"]["id"], "kind": given["task"]["kind"], "arm": given["arm"]}
        kept = {"characters": usage.kept.total(), "look_ups": dict(usage.look_ups), "tools": dict(usage.tools)}
        notes = read_notes(IndexPaths(Path(given["root"]), given["data"]).hooks)
        hooks = {name: [tally.shown, tally.used, tally.characters] for name, tally in notes.tallies.items()}
        row = {**told, "right": right, "first": first, **numbers, **searches, **kept, "places": places}
        rows.append({**row, "hooks": hooks} if given["arm"] == "hooks" else row)
    return rows


def figures(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, str]:
    """Return the cells of a kind of task: what began with our command, what was right, the mean of what was read.

    A task counts that was played in both arms.
    """
    played_by = [{row["task"] for row in rows if row["arm"] == arm} for arm in DEALT]
    both = [row for row in rows if row["task"] in played_by[0] & played_by[1] and kind in (row["kind"], "all")]
    ours, none = ([row for row in both if row["arm"] == arm] for arm in DEALT)
    first = sum(row["first"] == "tool" for row in ours)
    cells = {"tasks": str(len(ours)), "first": f"{first}/{len(ours)}"}
    for words, chosen in (("", ours), (", without", none)):
        cells[f"right{words}"] = f"{sum(row['right'] for row in chosen)}/{len(chosen)}"
        cells[f"characters{words}"] = f"{statistics.mean(row['characters'] for row in chosen):.0f}"
    return cells


def _only(folder: Path) -> str:
    return ONLY.format(look=folder / "look", answer=folder / "answer.txt")


def _write_program(file: Path, command: str) -> None:
    file.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    file.chmod(0o700)


if __name__ == "__main__":
    main()
