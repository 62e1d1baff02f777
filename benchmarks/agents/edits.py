"""What the hook says after an edit, on the edits of real commits: is it right, how long is it, and is it used?

    python -m benchmarks.agents.edits --checkouts DIR [--commits 40]

A commit counts that changes what a function takes. The tree of its parent is indexed, one file is written as the
commit has it, and `hook` gets the event that Claude Code sends. A place that it names is right if the commit edits
that line: whoever made the commit had to find it. Each text is printed, with the places that the commit does not edit.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.agents.trial import TASKS
from benchmarks.paired import HERE, environment
from graphrag_mcp.graph.unfitting import Edit

MOST_SEEN = 1_000  # Commits of a repository that are looked at.
NEAR = 3  # Lines between a named line and an edited one: a call may end later.
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
_PLACE = re.compile(r"([\w@$./+-]+):(\d+)")


def main() -> None:
    """Print a line for each text, and the counts of each repository."""
    parser = argparse.ArgumentParser(description="Measure the hook after edits on the commits of repositories.")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=40, help="of a repository, the newest first")
    options = parser.parse_args()
    tasks = json.loads(TASKS.read_text(encoding="utf-8"))
    for name in sorted({task["repo"].rpartition("/")[2] for task in tasks}):
        with tempfile.TemporaryDirectory() as work:
            cells = measure(Path(work), options.checkouts.resolve() / name, options.commits)
        sys.stdout.write(f"{name}: {cells}\n")


def measure(work: Path, checkout: Path, most: int) -> dict[str, str]:
    """Return the cells of a repository."""
    root = work / checkout.name
    git(work, "clone", "--quiet", "--no-checkout", str(checkout), str(root))
    edits, texts, places, right, sizes, times = 0, 0, 0, 0, list[int](), list[float]()
    seen = set[str]()
    for commit, path in changing(root):
        if commit not in seen and len(seen) == most:
            break
        seen.add(commit)
        edits += 1
        text, seconds = said_after(work, root, commit, path)
        times.append(seconds)
        if text:
            named = [(file, int(line)) for file, line in _PLACE.findall(text)]
            wrong = [place for place in named if not is_edited(root, commit, *place)]
            texts, places, right = texts + 1, places + len(named), right + len(named) - len(wrong)
            sizes.append(len(text))
            sys.stdout.write(f"{checkout.name} {commit[:9]} {path}: {text}\n")
            sys.stdout.writelines(f"    not edited: {file}:{line}\n" for file, line in wrong)
    return {
        "commits": str(len(seen)),
        "edits": str(edits),
        "texts": str(texts),
        "places right": f"{right}/{places}",
        "characters": f"{statistics.mean(sizes):.0f}" if sizes else "-",
        "ms": f"{1_000 * statistics.median(times):.0f}" if times else "-",
    }


def changing(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the commits that change what a function of a file takes, each with the file, the newest first."""
    for commit in git(root, "rev-list", "--no-merges", f"--max-count={MOST_SEEN}", "HEAD").split():
        names = git(
            root,
            "diff-tree",
            "--root",
            "-r",
            "--no-renames",
            "--ignore-submodules",
            "--diff-filter=M",
            "--name-only",
            commit,
        )
        for path in names.splitlines()[1:]:
            before, after = (git(root, "show", f"{at}:{path}") for at in (f"{commit}^", commit))
            if Edit(path, before, after).functions:
                yield commit, path


def said_after(work: Path, root: Path, commit: str, path: str) -> tuple[str, float]:
    """Return what the hook says when the file is edited as in the commit, and how many seconds that takes."""
    env = environment(HERE, work / "data")
    git(root, "checkout", "--quiet", "--force", "--detach", f"{commit}^")
    program = [sys.executable, "-m", "graphrag_mcp"]
    subprocess.run([*program, "index"], cwd=root, env=env, check=True, capture_output=True)
    file = root / path
    before = file.read_text(encoding="utf-8")
    file.write_text(git(root, "show", f"{commit}:{path}"), encoding="utf-8")
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": commit,
        "tool_name": "Edit",
        "tool_input": {"file_path": str(file)},
        "tool_response": {"originalFile": before},
        "tool_use_id": "1",
        "cwd": str(root),
    }
    for notes in (work / "data").glob("*/hooks-*.json"):  # A hook that is not used says nothing more.
        notes.unlink()
    started = time.perf_counter()
    done = subprocess.run(
        [*program, "hook"], cwd=root, env=env, input=json.dumps(event).encode(), capture_output=True, check=True
    )
    seconds = time.perf_counter() - started
    answer = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
    return answer, seconds


def is_edited(root: Path, commit: str, path: str, line: int) -> bool:
    """Return whether a commit edits a line of the tree before it, or one near it."""
    diff = git(root, "diff", "--unified=0", "--no-renames", f"{commit}^", commit, "--", path)
    hunks = ((int(start), int(count or 1)) for start, count in _HUNK.findall(diff))
    return any(start - NEAR <= line <= start + count - 1 + NEAR for start, count in hunks)


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
