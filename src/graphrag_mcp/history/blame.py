"""Which commit wrote each line, as git ascribes it."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from graphrag_mcp.history.lines import Lines, as_text, is_moved, patched_path
from graphrag_mcp.model.history import ChangedLines
from graphrag_mcp.system.git import Git, GitError, is_name

LEAST_ALIKE, MOST_COMPARED = 0.5, 300  # The share of two lines that is equal, and of how many characters.
LITTLE_CHANGED = 0.8  # The share that is equal where a commit changed a sign or a name.
FOLLOWED = ("-M", "-C")  # Options of `blame`: lines are followed where a commit moved them.
_LINE = re.compile(  # A line of the file begins with a tab, so it cannot look like a head.
    r"^(?P<name>[0-9a-f]{40,64}) (?P<before>\d+) (?P<now>\d+).*\n"
    r"(?:[^\t\n].*\n)*?filename (?P<path>.*)\n\t(?P<text>.*)",
    re.MULTILINE,
)


class Written(NamedTuple):
    """A line with the commit that wrote it, and where. number: in the file whose lines were asked for.

    moved_by: the commit that moved it to where it stands, "" for none.
    """

    commit: str
    place: ChangedLines
    number: int
    text: str
    moved_by: str = ""


def blame(git: Git, lines: Lines, deadline: float, *options: str) -> Iterator[Written]:
    """Yield the lines of a file in their order, each with the commit that wrote it, apart from blanks."""
    # This command has no end of options.
    where = ("-L", f"{lines.start},{lines.end}", lines.commit, "--", lines.path)
    blamed = as_text(git.run(deadline, "blame", "--line-porcelain", "-w", "--root", *options, *where))
    for match in _LINE.finditer(blamed):
        if is_name(match["name"]):
            place = ChangedLines(patched_path(match["path"]), frozenset([int(match["before"])]))
            yield Written(match["name"], place, int(match["now"]), match["text"].strip())


def explained(git: Git, lines: Lines, passed: Sequence[str], deadline: float) -> Written | None:
    """Return the first of some lines with the commit that made it what it is, apart from moves; None for no other.

    passed: commits that do not count, the last of which wrote what stood there; git then takes any line near it for
    what was there before, so that it has to be like it. A line that was moved was written before; one that only equals
    another was not. Raises GitError.
    """
    first = lines._replace(end=lines.start)
    before = next(blame(git, first, deadline, *(f"--ignore-rev={name}" for name in passed), *FOLLOWED), None)
    if before is None:
        raise GitError("git could not tell which commit wrote this line")
    if passed:
        return before if before.commit not in passed and is_earlier(git, before, deadline) else None
    return unmoved(git, next(blame(git, first, deadline), before), before, deadline)


def unmoved(git: Git, own: Written, before: Written, deadline: float) -> Written:
    """Return a line with the commit that wrote it before its own one moved it; its own one if that wrote it.

    before: the line as git ascribes it with copies, too. Raises GitError.
    """
    if own.commit == before.commit:
        return before
    is_new = not is_moved(git, own.commit, own.place.path, own.text, deadline)
    return own if is_new else before._replace(moved_by=own.commit)


def is_earlier(git: Git, written: Written, deadline: float) -> bool:
    """Return whether the line that a commit wrote is like the text that it has now; no where git cannot read it."""
    return likeness(text_then(git, written, deadline), written.text) >= LEAST_ALIKE


def is_reworded(git: Git, written: Written, earlier: Written, deadline: float) -> bool:
    """Return whether a commit changed little of a line that an earlier one wrote, so that this one explains it, too."""
    before, after = (text_then(git, line, deadline) for line in (earlier, written))
    return bool(before) and likeness(before, after) >= LITTLE_CHANGED


def text_then(git: Git, written: Written, deadline: float) -> str:
    """Return a line as its commit wrote it; "" where git cannot read it."""
    try:
        content = as_text(git.run(deadline, "cat-file", "blob", f"{written.commit}:{written.place.path}")).split("\n")
    except GitError:
        return ""
    [number] = written.place.added
    return content[number - 1].strip() if number <= len(content) else ""


def likeness(before: str, after: str) -> float:
    """Return the share of two lines that is equal, of the first MOST_COMPARED characters."""
    return SequenceMatcher(None, before[:MOST_COMPARED], after[:MOST_COMPARED]).ratio()
