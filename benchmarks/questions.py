"""Ask the everyday questions as an agent does, over stdio, beside the `rg` command that stands with each.

    python -m benchmarks.questions --checkouts DIR [--questions FILE.json] [--arguments JSON] [--misses]

DIR has a folder for each repository, named after it, at the commit of its questions. The first N locations answer a
question if each group of its gold overlaps one of them: those of the results, and behind them the further places up to
the tenth. "named" counts the lines at which an answer points ("also here") as well. `rg` answers a question if each
group has one of its first 20 lines.
`--arguments` are sent with every call, for example '{"limit": 10, "response_format": "concise"}'.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from benchmarks.paired import wait_until_ready
from tests.stdio_client import Server

QUESTIONS = Path(__file__).parent / "everyday" / "open.json"
CATEGORIES = {
    "a": "exact keys and defaults",
    "b": "error and log texts",
    "c": "features",
    "d": "symbols",
    "e": "how it works",
    "f": "documents, build, versions",
    "g": "two things",
    "h": "long symptoms",
    "i": "stated restrictions",
}
DEPTHS = (1, 3, 5, 10)
LINES_READ = 20  # Of rg's output: what an agent looks at.
RG_SECONDS = 60

_HEAD = re.compile(r"^\d+\. (.+?):(\d+)-(\d+)(?:  |$)", re.MULTILINE)

Span = tuple[str, int, int]


def main() -> None:
    """Print the share of questions that are answered, by category."""
    parser = argparse.ArgumentParser(description="Ask everyday questions.")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--arguments", type=json.loads, default={})
    parser.add_argument("--misses", action="store_true", help="print the questions that are not answered")
    add_option(parser)
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text(encoding="utf-8"))
    rows = []
    for repo in sorted({question["repo"] for question in questions}):
        root = (options.checkouts / repo.rpartition("/")[2]).resolve()
        asked = [question for question in questions if question["repo"] == repo]
        check_commit(root, asked[0]["commit"])
        rows += ask_all(root, asked, options.arguments)
    report(rows, options.figures)
    if options.misses:
        for row in rows:
            if not row["within"][5]:
                sys.stdout.write(f"{row['id']}  {'rg' if row['rg'] else '  '}  {row['query']}\n")


def check_commit(root: Path, commit: str) -> None:
    """Stop when a checkout is not at the commit whose lines the gold names."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert head.strip() == commit, f"{root} is at {head.strip()}, the questions need {commit}"


def ask_all(root: Path, questions: Sequence[dict[str, Any]], arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each question with what the search and rg found of it."""
    rows = []
    with tempfile.TemporaryDirectory() as data:
        server = Server(root, {**os.environ, "GRAPHRAG_DATA_DIR": data})
        try:
            wait_until_ready(server)
            for question in questions:
                call = {"query": question["query"], **arguments}
                text, failed = server.call("graphrag_hybrid_search", call)
                assert not failed, text
                found = locations(text)
                within = {depth: is_answered(question["gold"], found[:depth]) for depth in DEPTHS}
                named = is_answered(question["gold"], found[: DEPTHS[-1]] + pointed(text))
                by_rg = is_answered(question["gold"], lines_of(question.get("rg_words") or question["rg"], root))
                rows.append({**question, "within": within, "named": named, "rg": by_rg, "characters": len(text)})
        finally:
            server.close()
    return rows


def locations(text: str) -> list[Span]:
    """Return the locations of the results and of the further places, in their order."""
    return [(path, int(start), int(end)) for path, start, end in _HEAD.findall(text)]


def pointed(text: str) -> list[Span]:
    """Return the lines of other definitions at which the results point, each in the file of its result."""
    found: list[Span] = []
    path = ""
    for line in text.split("\n"):
        if head := _HEAD.match(line):
            path = head[1]
        elif line.startswith("   also here: "):
            found += [(path, int(number), int(number)) for number in re.findall(r":(\d+)(?:, |$)", line)]
    return found


def lines_of(command: str, root: Path) -> list[Span]:
    """Return the first lines that a command finds."""
    command = command.replace("rg ", "rg --sort=path --with-filename --line-number --no-heading --color=never ", 1)
    done = subprocess.run(
        ["bash", "-c", command], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RG_SECONDS
    )
    found = re.findall(r"^(?:\./)?(.+?):(\d+):", done.stdout, re.MULTILINE)
    return [(path, int(line), int(line)) for path, line in found[:LINES_READ]]


def is_answered(gold: Sequence[Sequence[dict[str, Any]]], found: Sequence[Span]) -> bool:
    """Tell whether each group has an alternative that overlaps something found."""
    return all(any(overlaps(location, span) for location in group for span in found) for group in gold)


def overlaps(location: dict[str, Any], span: Span) -> bool:
    """Tell whether two spans share a line; both are inclusive."""
    path, start, end = span
    return bool(location["path"] == path and location["start"] <= end and start <= location["end"])


def report(rows: Sequence[dict[str, Any]], figures: str | None) -> None:
    """Print one line for each category and one for all."""
    sys.stdout.write(
        f"{'':10} {'n':>4} " + " ".join(f"in {depth:<3}" for depth in DEPTHS) + "  named  rg    characters\n"
    )
    categories = sorted({row["category"] for row in rows})
    for name in [*categories, "all"]:
        chosen = [row for row in rows if name in ("all", row["category"])]
        shares = {depth: sum(row["within"][depth] for row in chosen) / len(chosen) for depth in DEPTHS}
        by_rg, named = (sum(row[name] for row in chosen) / len(chosen) for name in ("rg", "named"))
        size = statistics.median(row["characters"] for row in chosen)
        within = " ".join(f"{share:6.3f}" for share in shares.values())
        sys.stdout.write(f"{name:10} {len(chosen):4} {within} {named:6.3f} {by_rg:6.3f} {size:8.0f}\n")
        cells = {f"in {depth}": f"{share:.3f}" for depth, share in shares.items()}
        cells |= {"n": str(len(chosen)), "named": f"{named:.3f}", "rg": f"{by_rg:.3f}", "characters": f"{size:.0f}"}
        write_rows(figures, {CATEGORIES.get(name, name): cells})


if __name__ == "__main__":
    main()
