"""Follows lines back through the commits that changed them, also where they were moved from another place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graphrag_mcp.history.log import read_commits
from graphrag_mcp.model.history import Commit
from graphrag_mcp.system.git import GitError, GitTimeoutError, run_git

MOST_MOVES = 5
_LEAST_ALIKE = 0.6  # Of the lines that were added, to call it a move.
_FEWEST_LINES = 2  # With letters: a brace is everywhere.
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "-U0")
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_TELLING = re.compile(r"\w{2}")


class Lines(NamedTuple):
    """Lines of a file in a commit, 1-based and inclusive."""

    commit: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evolution:
    """The commits that changed some lines, the newest first. is_whole: whether the first one is among them."""

    commits: tuple[Commit, ...]
    is_whole: bool


def follow_lines(top: Path, lines: Lines, deadline: float) -> Evolution:
    """Return the commits that changed lines, as `git log -L` finds them.

    Where a commit added them as a whole, and removed the same lines elsewhere, they are followed there. deadline: on
    the monotonic clock. Raises GitError when git cannot read the file.
    """
    found: dict[str, Commit] = {}
    origin: Lines | None = lines
    try:
        for _ in range(MOST_MOVES):
            if origin is None:
                break
            place = f"-L{origin.start},{origin.end}:{origin.path}"
            oldest = None
            for oldest in read_commits(top, deadline, place, "--end-of-options", origin.commit, "--"):
                found.setdefault(oldest[0].name, oldest[0])
            origin = _moved_from(top, *oldest, deadline) if oldest else None
    except GitTimeoutError:
        return Evolution(tuple(found.values()), is_whole=False)
    return Evolution(tuple(found.values()), is_whole=True)


def committed_lines(top: Path, head: str, path: str, start: int, end: int, deadline: float) -> Lines | None:
    """Return where lines of a file on the disk are in a commit; None if they are all new."""
    diff = _text(run_git(top, deadline, "diff", *_DIFF, "--end-of-options", head, "--", path))
    shift = 0
    first, last = start, end
    for found in HUNK.finditer(diff):
        old, removed, new, added = hunk_numbers(found)
        if new + added <= start + (not added):
            shift += removed - added
            continue
        if new > end:
            break
        if new <= start and new + added > end:
            return Lines(head, path, old, old + removed - 1) if removed else None
        last += removed - added
    return Lines(head, path, first + shift, max(first + shift, last + shift))


def _moved_from(top: Path, commit: Commit, diff: str, deadline: float) -> Lines | None:
    """Return the lines that a commit removed elsewhere, if the lines that it added are mostly the same."""
    if any(hunk_numbers(found)[1] for found in HUNK.finditer(diff)):
        return None  # They changed lines that were there before.
    added = [line[1:].strip() for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    telling = {line for line in added if _TELLING.search(line)}
    if len(telling) < _FEWEST_LINES:
        return None
    try:
        whole = run_git(
            top, deadline, "diff-tree", "-r", "-p", *_DIFF, "--end-of-options", f"{commit.name}^", commit.name
        )
    except GitTimeoutError:
        raise
    except GitError:  # The first commit.
        return None
    best = max(_removed(_text(whole)), key=lambda one: len(telling & one[1]), default=None)
    if best is None or len(telling & best[1]) < _LEAST_ALIKE * len(telling):
        return None
    path, _, numbered = best
    same = [number for number, line in numbered if line in telling]
    return Lines(f"{commit.name}^", path, min(same), max(same))


def _removed(diff: str) -> Iterator[tuple[str, set[str], list[tuple[int, str]]]]:
    """Yield for each run of removed lines its file, the lines, and the lines with their numbers before."""
    path = ""
    number = left = 0
    run: list[tuple[int, str]] = []
    for line in diff.splitlines():
        if left and line.startswith("-"):
            run.append((number, line[1:].strip()))
            number, left = number + 1, left - 1
            continue
        if run:
            yield path, {text for _, text in run}, run
            run = []
        if line.startswith("--- "):
            path = line[4:].removeprefix("a/").rstrip("\t")
        elif found := HUNK.match(line):
            number, left, _, _ = hunk_numbers(found)
    if run:
        yield path, {text for _, text in run}, run


def hunk_numbers(hunk: re.Match[str]) -> tuple[int, int, int, int]:
    """Return the first line before and the number of lines, then those after."""
    old, removed, new, added = hunk.groups()
    return int(old), int(removed or (removed is None)), int(new), int(added or (added is None))


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")
