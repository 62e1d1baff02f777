"""Reads from git when the last commit changed each file: after a clone or a checkout, an mtime has no meaning.

A file's content is followed from the checked-out commit back to the commit that made it; at a merge, to the first
parent that has the same content. Where no parent has it, the merge itself made it, for example when another project
was merged in as a folder.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from graphrag_mcp.system.git import MOST_STREAMED, Git, GitError, GitTimeoutError
from graphrag_mcp.system.git_files import clean_files
from graphrag_mcp.text.counts import counted

AGES_VERSION = 3  # Increase it when a file would be dated differently: stored ages are then computed again.

_DIFF_OPTIONS = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
_UNREADABLE = "git ended before its whole history was read"
_MOST_PATH_BYTES = 1 << 20


class CommitTimes(dict[str, float | None]):
    """The time of the last commit by path, in seconds since 1970; None where it is unknown. `note`: why."""

    def __init__(self, times: Mapping[str, float | None] | None = None, note: str = "") -> None:
        super().__init__(times or {})
        self.note = note


class Commit(NamedTuple):
    """A commit of the history. changed: the paths that differ from its only parent; not known of merges and roots."""

    name: bytes
    parents: list[bytes]
    seconds: float
    changed: list[bytes]


# It returns the paths that differ from all of these parents.
DifferingPaths = Callable[[Commit, Sequence[bytes]], set[bytes]]


def commit_times(root: Path, files: Mapping[str, int], timeout_seconds: float) -> CommitTimes:
    """Return the commit times of those files that are tracked and have no uncommitted change.

    files: paths relative to `root`, which may lie below the top of the work tree, with their mtime in nanoseconds.
    """
    deadline = time.monotonic() + timeout_seconds
    times: dict[str, float | None] = {}
    try:
        git = Git(root)
        clean = clean_files(git, files, deadline, git.head())
        times |= dict.fromkeys(clean)
        if clean:
            _read_history(git, deadline, times)
    except GitError as error:
        return CommitTimes(times, str(error))
    if git.is_shallow and None in times.values():
        return CommitTimes(times, "the clone is shallow: the age of files older than its history is unknown")
    return CommitTimes(times)


def _read_history(git: Git, deadline: float, times: dict[str, float | None]) -> None:
    """Fill in the time of each file; git is stopped after the last one."""
    head = git.head()
    below = ("--", git.folder) if git.folder else ("--",)
    relative = (f"--relative={git.folder}",) if git.folder else ()
    log = ("log", "--date-order", "--format=%x00%H %ct %P", *relative, *_DIFF_OPTIONS, "--end-of-options", head, "--")
    merges = ("diff-tree", "--stdin", "--no-commit-id", "-r", "-c", *_DIFF_OPTIONS, *below)
    with (
        closing(git.blocks(deadline, *log, most=MOST_STREAMED)) as history,
        git.dialog(deadline, *merges) as compare,
    ):
        commits = _read_log(_fields(history))
        differing = partial(_differing, compare, os.fsencode(git.folder))
        try:
            for path, commit in find_origins(commits, head.encode(), map(os.fsencode, times), differing):
                if commit.parents or not git.is_shallow:  # The oldest commits of a shallow clone look like roots.
                    times[os.fsdecode(path)] = commit.seconds
        except GitError as error:
            missing = sum(seconds is None for seconds in times.values())
            reason = "reading git's history took too long" if isinstance(error, GitTimeoutError) else str(error)
            raise GitError(f"{reason}; without a time: {counted(missing, 'file')}") from error


def _differing(
    compare: Callable[[bytes], bytes], prefix: bytes, commit: Commit, parents: Sequence[bytes]
) -> set[bytes]:
    """Return the paths of a commit that differ from all of these parents, as `git diff-tree --stdin` reports them."""
    answer = compare(b" ".join((commit.name, *parents)))
    return {name.removeprefix(prefix) for name in answer.split(b"\0") if name}


def find_origins(
    commits: Iterable[Commit], head: bytes, paths: Iterable[bytes], differing: DifferingPaths
) -> Iterator[tuple[bytes, Commit]]:
    """Yield each path with the commit that made its content; children come before their parents.

    Raises GitError when the commits end too early.
    """
    waiting = {head: set(paths)}  # The paths wait under the commit to look at next.
    for commit in commits:
        made = waiting.pop(commit.name, set())
        if len(commit.parents) == 1:
            same = made
            made = made.intersection(commit.changed)
            same -= made
            _hand_on(waiting, commit.parents[0], same)
        elif made:
            for number, parent in enumerate(commit.parents):
                if not made:
                    break
                same = made
                made = made & differing(commit, [*commit.parents[: min(number, 1)], parent])
                same -= made
                _hand_on(waiting, parent, same)
        for path in made:
            yield path, commit
        if not waiting:
            return
    raise GitError(_UNREADABLE)


def _hand_on(waiting: dict[bytes, set[bytes]], parent: bytes, paths: set[bytes]) -> None:
    fewer, more = sorted((paths, waiting.get(parent, set())), key=len)
    if more:
        more |= fewer
        waiting[parent] = more


def _fields(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *fields, rest = (rest + block).split(b"\0")
        if len(rest) > _MOST_PATH_BYTES:
            raise GitError(_UNREADABLE)
        yield from fields


def _read_log(fields: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits. Each is an empty field, then its name, time and parents, a line end, and the changed paths.

    Raises GitError where a commit is forged, so that git cannot tell its time.
    """
    commit: Commit | None = None
    is_header = False
    for field in fields:
        if not field:
            is_header = True
        elif is_header:
            if commit is not None:
                yield commit
            name, seconds, *parents = field.split(b" ")
            if not seconds.isdigit():
                raise GitError(_UNREADABLE)
            commit = Commit(name, [parent for parent in parents if parent], float(seconds), [])
            is_header = False
        elif commit is not None:
            commit.changed.append(field if commit.changed else field[1:])
    if commit is not None:
        yield commit
