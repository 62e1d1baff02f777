"""Reads commits from git, the newest first."""

import time
from collections.abc import Generator, Iterator
from functools import lru_cache
from pathlib import Path

from graphrag_mcp.model.history import Change, Commit
from graphrag_mcp.system.git import GitError, GitTimeoutError, run_git, start_git, stopped_at
from graphrag_mcp.system.git_dirs import find_common_folder, find_work_tree
from graphrag_mcp.text.secrets import mask_secrets

NO_REPOSITORY = "not a Git repository"
MESSAGE_CHARACTERS = 1_000  # Of which the subject has about 60; the rest repeats what the code says.
_QUESTION_SECONDS = 10.0
_LIST_SECONDS = 60.0
_READ_SECONDS = 600.0
_READ_BYTES = 1 << 16
_RECORD = b"\x01\x02"  # git removes neither from a message, but nobody writes them.
_FORMAT = "--format=%x01%x02%H %ct%x00%an <%ae>%x00%B%x00"
_OPTIONS = ("--no-merges", "--no-ext-diff", "--no-textconv", "--no-color", _FORMAT)


def why_no_history(root: Path) -> str:
    """Return why the history of a folder cannot be used; "" if it can."""
    git = _git_folder(root)
    if git is None:
        return NO_REPOSITORY
    return "the clone is shallow" if (git / "shallow").exists() else ""


def is_partial(root: Path) -> bool:
    """Return whether a clone lacks files of past commits, which it would have to fetch to compare them."""
    git = _git_folder(root)
    return git is not None and any((git / "objects" / "pack").glob("*.promisor"))


def _git_folder(root: Path) -> Path | None:
    top = find_work_tree(root)
    return find_common_folder(top) if top is not None else None


def head_of(root: Path) -> str:
    """Return the commit that is checked out. Raises GitError when there is none."""
    return _ask(root, "rev-parse", "--verify", "--quiet", "HEAD")


def find_folder(root: Path) -> tuple[Path, str]:
    """Return the top of the work tree, and the folder in it with "/" at its end, "" for the top itself."""
    top = find_work_tree(root) or root
    folder = root.relative_to(top).as_posix()
    return top, "" if folder == "." else f"{folder}/"


def paths_in(root: Path, tip: str) -> list[str]:
    """Return the files of a commit. Raises GitError."""
    listing = run_git(root, time.monotonic() + _LIST_SECONDS, "ls-tree", "-r", "-z", "--name-only", "--full-tree", tip)
    return listing.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")


def is_ancestor(root: Path, older: str, newer: str) -> bool:
    """Return whether a commit is an ancestor of another, or that commit itself."""
    try:
        return _ask(root, "merge-base", older, newer) == older
    except GitError:  # Unknown, since the history was rewritten.
        return False


def read_log(root: Path, tip: str, known: str = "") -> Generator[Commit]:
    """Yield the ancestors of a commit, the newest first, without merges.

    known: a commit whose ancestors are left out. Renames are found if a file is at least 90 % the same, in a partial
    clone if it is the same. Raises GitError.
    """
    renames = "-M100%" if is_partial(root) else "-M90%"
    deadline = time.monotonic() + _READ_SECONDS
    span = (f"{known}..{tip}",) if known else (tip,)
    for commit, changes in read_commits(
        root, deadline, "--name-status", "-z", renames, "--end-of-options", *span, "--"
    ):
        found = tuple(_read_changes(changes.lstrip("\0\n").split("\0")))
        if found:
            yield commit._replace(changes=found)


def read_commits(root: Path, deadline: float, *arguments: str) -> Generator[tuple[Commit, str]]:
    """Yield the commits of `git log`, each with what it prints of the changes. Raises GitError, or GitTimeoutError."""
    with start_git(root, "log", *_OPTIONS, *arguments) as process, stopped_at(deadline, process) as late:
        rest = b""
        while process.stdout is not None and (block := process.stdout.read(_READ_BYTES)):
            *records, rest = (rest + block).split(_RECORD)
            yield from filter(None, map(_read_commit, records))
        if late.is_set():
            raise GitTimeoutError("git was not ready in time")
        yield from filter(None, [_read_commit(rest)])
        if process.wait():
            raise GitError("git could not read the history")


@lru_cache(maxsize=1 << 12)
def _masked_name(author: str) -> str:
    return mask_secrets(author)


def _read_commit(record: bytes) -> tuple[Commit, str] | None:
    head, author, message, changes = [*record.split(b"\0", 3), b"", b"", b""][:4]
    name, _, seconds = head.decode("ascii", "replace").partition(" ")
    if not seconds.isdigit():
        return None
    said = mask_secrets(message.decode("utf-8", "replace").strip()[: 2 * MESSAGE_CHARACTERS])[:MESSAGE_CHARACTERS]
    commit = Commit(name, int(seconds), _masked_name(author.decode("utf-8", "replace")), said)
    return commit, changes.decode("utf-8", "surrogateescape")


def _read_changes(fields: list[str]) -> Iterator[Change]:
    """Yield the changes of `--name-status -z`: a letter, then a path, or two of a rename."""
    rest = iter(fields)
    for status in rest:
        path = next(rest, "")
        if status[:1] in "RC" and status:
            after = next(rest, "")
            yield Change(after, path if status[0] == "R" else "")
        elif path:
            yield Change(path)


def _ask(root: Path, *arguments: str) -> str:
    answer = run_git(root, time.monotonic() + _QUESTION_SECONDS, *arguments)
    return answer.decode("ascii", "replace").strip()
