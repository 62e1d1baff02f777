"""Measure what an investigation costs with these tools, and with ripgrep and the reading of lines.

    python -m benchmarks.context --checkouts DIR --data DIR [--misses]

DIR has a folder for each repository of context.json, named after it, at its commit. `gold` lists the places that an
answer must contain: [path, first line, last line]. `rg` lists the commands of the one arm, `calls` the calls of the
other. A place is contained if a line in it is shown with its path. An investigation with a `patch` [path, before,
after] changes that file of the checkout while both arms run, and then puts it back. Kinds: read (the body of a
function), callers (and tests, before a change), flow (how X reaches Y), diff (what a patch breaks), types (what
implements an interface or derives from a base), delete (the users of a definition, or its place if it has none).
"""

import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import add_option, write_rows
from benchmarks.questions import check_commit
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.table import TOOLS

CONTEXT = Path(__file__).parent / "context.json"
SECONDS = 60

_PATH = r"[\w@$./+-]+\.\w+"
_PLACE = re.compile(rf"(?<![\w./-])({_PATH}):(\d+)\b")
_HEADER = re.compile(rf"^(?:{_PATH}$|\W*(?:\d+\.?\s+)?({_PATH}):\d)")
_LINE = re.compile(r"^\W*(\d+): ")
_SED = re.compile(r"(\d+),(\d+)p")

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an arm took for an investigation, and the places that it did not show."""

    calls: int
    characters: int
    missing: Sequence[str]

    @property
    def is_correct(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class Row:
    """The costs of an investigation with these tools and with ripgrep."""

    kind: str
    ours: Cost
    rg: Cost


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what investigations cost, beside ripgrep.")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder of the indexes; they are used again")
    parser.add_argument("--misses", action="store_true", help="print each investigation, with the places it lacks")
    add_option(parser)
    options = parser.parse_args()
    given = json.loads(CONTEXT.read_text(encoding="utf-8"))
    rows: list[Row] = []
    for repository, commit in given["repositories"].items():
        root = (options.checkouts / repository.rpartition("/")[2]).resolve()
        check_commit(root, commit)
        with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(options.data)}))) as app:
            app.index()
            for one in given["investigations"]:
                if one["repository"] == repository:
                    row = investigate(app, one)
                    rows.append(row)
                    if options.misses:
                        sys.stdout.write(f"{one['id']}: ours {_describe(row.ours)}; rg {_describe(row.rg)}\n")
    for kind in (*dict.fromkeys(row.kind for row in sorted(rows, key=lambda row: row.kind)), "all"):
        chosen = [row for row in rows if kind in (row.kind, "all")]
        sys.stdout.write(report(kind, chosen))
        for arm, costs in (("ours", [row.ours for row in chosen]), ("rg", [row.rg for row in chosen])):
            cells = {
                "correct": f"{sum(cost.is_correct for cost in costs)} of {len(costs)}",
                "characters": str(sum(cost.characters for cost in costs)),
                "calls": str(sum(cost.calls for cost in costs)),
            }
            write_rows(options.figures, {kind: {f"{arm}: {column}": value for column, value in cells.items()}})


def investigate(app: App, given: Mapping[str, Any]) -> Row:
    """Return what both arms take for an investigation."""
    with patched(app, given.get("patch")):
        answers = [ask(app, call["tool"], call["arguments"]) for call in given["calls"]]
        found = [run(app.root, command) for command in given["rg"]]
    ours = {place for answer in answers for place in shown(answer)}
    rg = {place for command, text in zip(given["rg"], found, strict=True) for place in listed(command, text)}
    gold = given["gold"]
    return Row(given["kind"], _cost(answers, missing(gold, ours)), _cost(found, missing(gold, rg)))


@contextmanager
def patched(app: App, patch: Sequence[str] | None) -> Iterator[None]:
    """Change a file of the checkout and index it; afterwards put it back."""
    if patch is None:
        yield
        return
    path, before, after = app.root / patch[0], *patch[1:]
    text = path.read_bytes()
    if text.count(before.encode()) != 1:
        raise SystemExit(f"{path}: the text of the patch stands there {text.count(before.encode())} times, not once")
    path.write_bytes(text.replace(before.encode(), after.encode()))
    try:
        app.index()
        yield
    finally:
        path.write_bytes(text)
        app.index()


def ask(app: App, name: str, arguments: Mapping[str, Any]) -> str:
    """Return the text of an answer, in its default form."""
    tool = TOOLS[name]
    call = tool.read(dict(arguments), app.settings, app.root)
    return tool.write(app.ask(tool.ask, call), call)


def run(root: Path, command: str) -> str:
    """Return what a command prints in the root of the repository."""
    done = subprocess.run(
        shlex.split(command), cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    if done.returncode > 1 or done.stderr:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout


def shown(answer: str) -> Iterator[Place]:
    """Yield the places that an answer shows: a line number stands under its path, or after it."""
    path = ""
    for line in answer.splitlines():
        under = _LINE.match(line)
        if under:
            yield path, int(under[1])
            continue
        header = _HEADER.match(line)
        path = header[1] or line if header else path
        for place in _PLACE.finditer(line):
            yield place[1], int(place[2])


def listed(command: str, text: str) -> Iterator[Place]:
    """Yield the places that ripgrep or sed shows; ripgrep names no path where it is given one file."""
    program, *_, last = shlex.split(command)
    if program == "sed":
        read = _SED.search(command)
        if read:
            yield from ((last, int(read[1]) + number) for number, _ in enumerate(text.splitlines()))
        return
    for line in text.splitlines() if program == "rg" else ():
        named = re.match(rf"(?:({_PATH})[:-])?(\d+)[:-]", line)
        if named:
            yield named[1] or last, int(named[2])


def missing(gold: Sequence[Sequence[Any]], places: set[Place]) -> list[str]:
    """Return the wanted places of which no line is shown."""
    return [
        f"{path}:{first}-{last}"
        for path, first, last in gold
        if not any((path, line) in places for line in range(first, last + 1))
    ]


def _cost(texts: Sequence[str], lacking: Sequence[str]) -> Cost:
    return Cost(len(texts), sum(map(len, texts)), lacking)


def _describe(cost: Cost) -> str:
    lacking = f", lacks {' '.join(cost.missing)}" if cost.missing else ""
    return f"{cost.calls} calls, {cost.characters:,} characters{lacking}"


def report(title: str, rows: Sequence[Row]) -> str:
    """Return the figures of both arms, and the ratios where both are correct."""
    both = [row for row in rows if row.ours.is_correct and row.rg.is_correct]
    lines = [f"{title}: {len(rows)} investigations, {len(both)} correct in both"]
    for name, costs in (("ours", [row.ours for row in rows]), ("rg", [row.rg for row in rows])):
        characters, calls = [cost.characters for cost in costs], [cost.calls for cost in costs]
        lines.append(
            f"  {name:4s} correct {sum(cost.is_correct for cost in costs):2d}"
            f"  characters {statistics.median(characters):,.0f} median, {sum(characters):,} total"
            f"  calls {statistics.median(calls):g} median, {sum(calls)} total"
        )
    if both:
        read = sum(row.ours.characters for row in both) / sum(row.rg.characters for row in both)
        asked = sum(row.ours.calls for row in both) / sum(row.rg.calls for row in both)
        lines.append(f"  ours / rg where both are correct: characters {read:.2f}, calls {asked:.2f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
