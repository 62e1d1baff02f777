"""Ask the everyday questions as an agent does, over stdio, beside the `rg` command that stands with each.

    python -m benchmarks.questions --checkouts DIR [--questions FILE.json] [--before CHECKOUT] [--arguments JSON]
                                   [--misses]

DIR has a folder for each repository, named after it, at the commit of its questions. The first N locations answer a
question if each group of its gold overlaps one of them: those of the results, and behind them the further places up to
the tenth. "file" is the share of questions with a right file of each group in the first five. "named" counts the lines
at which an answer points ("also here") as well. `rg` answers a question if each group has one of its first 20 lines.
`--arguments` are sent with every call, for example '{"limit": 10, "response_format": "concise"}'. `--before` asks
another checkout of this program as well, with its own .venv if it has one, and prints what was won and lost since.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from benchmarks.paired import HERE, environment, wait_until_ready
from graphrag_mcp.search.evaluation.comparison import bootstrap
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
FILES_SEEN = 5
LINES_READ = 20  # Of rg's output: what an agent looks at.
RG_SECONDS = 60

_HEAD = re.compile(r"^\d+\. (.+?):(\d+)-(\d+)(?:  |$)", re.MULTILINE)

Span = tuple[str, int, int]


def main() -> None:
    """Print the share of questions that are answered, by category."""
    parser = argparse.ArgumentParser(description="Ask everyday questions.")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--before", type=Path, help="another checkout of this program")
    parser.add_argument("--arguments", type=json.loads, default={})
    parser.add_argument("--misses", action="store_true", help="print the questions that are not answered")
    add_option(parser)
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    before: list[dict[str, Any]] = []
    for repo in sorted({question["repo"] for question in questions}):
        root = (options.checkouts / repo.rpartition("/")[2]).resolve()
        asked = [question for question in questions if question["repo"] == repo]
        check_commit(root, asked[0]["commit"])
        rows += ask_all(root, asked, options.arguments)
        if options.before:
            before += ask_all(root, asked, options.arguments, options.before.resolve())
    report(rows, options.figures)
    if options.before:
        report(before, None)
        sys.stdout.write(compared(before, rows))
    if options.misses:
        sys.stdout.write("".join(described(row) for row in rows if not row["within"][5]))


def check_commit(root: Path, commit: str) -> None:
    """Stop when a checkout is not at the commit whose lines the gold names."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert head.strip() == commit, f"{root} is at {head.strip()}, the questions need {commit}"


def ask_all(
    root: Path, questions: Sequence[dict[str, Any]], arguments: dict[str, Any], checkout: Path = HERE
) -> list[dict[str, Any]]:
    """Return each question with what the search and rg found of it. checkout: of this program, which answers."""
    rows = []
    python = checkout / ".venv" / "bin" / "python"
    program = [str(python) if python.exists() else sys.executable, "-m", "graphrag_mcp"]
    with tempfile.TemporaryDirectory() as data:
        variables = environment(checkout, Path(data))
        # A server is ready before it has read the past commits, which change the order; this run reads them.
        subprocess.run([*program, "index", "--root", str(root)], env=variables, check=True, capture_output=True)
        server = Server(root, variables, command=[*program, "serve", "--root", str(root)])
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
                row = {"within": within, "file": has_files(question["gold"], found[:FILES_SEEN]), "named": named}
                rows.append({**question, **row, "rg": by_rg, "characters": len(text), "found": found})
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


def has_files(gold: Sequence[Sequence[dict[str, Any]]], found: Sequence[Span]) -> bool:
    """Tell whether a file of each group is among those found."""
    paths = {path for path, _, _ in found}
    return all(any(location["path"] in paths for location in group) for group in gold)


def overlaps(location: dict[str, Any], span: Span) -> bool:
    """Tell whether two spans share a line; both are inclusive."""
    path, start, end = span
    return bool(location["path"] == path and location["start"] <= end and start <= location["end"])


def report(rows: Sequence[dict[str, Any]], figures: str | None) -> None:
    """Print one line for each category and one for all."""
    sys.stdout.write(
        f"{'':10} {'n':>4} " + " ".join(f"in {depth:<3}" for depth in DEPTHS) + "  file   named  rg    characters\n"
    )
    categories = sorted({row["category"] for row in rows})
    for name in [*categories, "all"]:
        chosen = [row for row in rows if name in ("all", row["category"])]
        shares = {depth: sum(row["within"][depth] for row in chosen) / len(chosen) for depth in DEPTHS}
        by_rg, named, file = (sum(row[key] for row in chosen) / len(chosen) for key in ("rg", "named", "file"))
        size = statistics.median(row["characters"] for row in chosen)
        within = " ".join(f"{share:6.3f}" for share in shares.values())
        sys.stdout.write(f"{name:10} {len(chosen):4} {within} {file:6.3f} {named:6.3f} {by_rg:6.3f} {size:8.0f}\n")
        cells = {f"in {depth}": f"{share:.3f}" for depth, share in shares.items()}
        cells |= {"n": str(len(chosen)), "named": f"{named:.3f}", "rg": f"{by_rg:.3f}", "characters": f"{size:.0f}"}
        write_rows(figures, {CATEGORIES.get(name, name): cells})


def compared(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> str:
    """Return what was won and lost between two runs of the same questions, with the 95 % interval of the difference."""
    text = ""
    for name in (*DEPTHS, "file"):
        pairs = [(row["id"], hits(old)[name], hits(row)[name]) for old, row in zip(before, after, strict=True)]
        mean, low, high = bootstrap([new - old for _, old, new in pairs])
        text += f"{name if name == 'file' else f'in {name}':6} {mean:+.3f} [{low:+.3f}, {high:+.3f}]\n"
        for title, sign in (("won", 1), ("lost", -1)):
            ids = [question for question, old, new in pairs if new - old == sign]
            text += f"  {len(ids)} {title}: {' '.join(ids)}\n"
    return text


def hits(row: dict[str, Any]) -> dict[int | str, bool]:
    """Return at which depths a question is answered, and whether the right files are seen."""
    return {**row["within"], "file": row["file"]}


def described(row: dict[str, Any]) -> str:
    """Return a question that is not answered, its first location, and the places that were wanted."""
    first = "{}:{}-{}".format(*row["found"][0]) if row["found"] else "nothing"
    gold = " and ".join(" or ".join("{path}:{start}-{end}".format(**place) for place in group) for group in row["gold"])
    return f"{row['id']}  {'rg' if row['rg'] else '  '}  {row['query']}\n    first {first}\n    gold  {gold}\n"


if __name__ == "__main__":
    main()
