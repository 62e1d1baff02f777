"""Reads commits from git, the newest first."""

import re
import secrets
import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from itertools import islice

from graphrag_mcp.model.history import Change, Commit
from graphrag_mcp.system.git import MOST_STREAMED, Git, GitError
from graphrag_mcp.text.secrets import mask_secrets
from graphrag_mcp.text.source import is_utf8

MESSAGE_CHARACTERS = 1_000  # The subject has about 60; the rest mostly repeats the code.
LONG_MESSAGE_CHARACTERS = 16_000  # Where a part of a message is wanted; one of twenty squashed commits has 5,000.
_MOST_MESSAGE_BYTES = 1 << 20
_QUESTION_SECONDS = 10.0
_READ_SECONDS = 600.0
_MOST_RECORD_BYTES = 1 << 24  # A longer record of a commit and its changes is cut.
_OPTIONS = ("--no-merges", "--no-ext-diff", "--no-textconv", "--no-color")
_FORMAT = "--format={}%H%x00%ct%x00%as%x00%an <%ae>%x00%B%x00"
_FIELDS = 5
_DAY = re.compile(rb"\d{4}-\d\d-\d\d")
_LAST_SECOND = 253_402_300_799  # The year 9999 ends with this second; a forged commit may have any time.


def is_ancestor(git: Git, older: str, newer: str) -> bool:
    """Return whether a commit is an ancestor of another, or that commit itself."""
    try:
        base = git.run(time.monotonic() + _QUESTION_SECONDS, "merge-base", "--end-of-options", older, newer)
    except GitError:  # The commit is unknown, since the history was rewritten.
        return False
    return base.decode("ascii", "replace").strip() == older


def read_log(git: Git, tip: str, known: str = "") -> Generator[Commit]:
    """Yield the ancestors of a commit, the newest first, without merges.

    known: a commit whose ancestors are left out. Renames are found if a file is at least 90 % the same, in a partial
    clone if it is the same. Raises GitError.
    """
    renames = "-M100%" if git.is_partial else "-M90%"
    deadline = time.monotonic() + _READ_SECONDS
    span = (f"{known}..{tip}",) if known else (tip,)
    commits = read_commits(git, deadline, "--name-status", "-z", renames, "--end-of-options", *span, "--")
    with closing(commits):
        for commit, changes in commits:
            yield commit._replace(changes=tuple(_read_changes(changes.lstrip("\0\n").split("\0"))))


def read_commits(
    git: Git, deadline: float, *arguments: str, most: int = MESSAGE_CHARACTERS
) -> Generator[tuple[Commit, str]]:
    """Yield the commits of `git log`, each with what it prints of the changes. Raises GitError, or GitTimeoutError.

    Each begins with a random number, so that nothing in a message or a file can look like a commit. most: characters
    of a message.
    """
    mark = secrets.token_hex(16)
    blocks = git.blocks(deadline, "log", *_OPTIONS, _FORMAT.format(mark), *arguments, most=MOST_STREAMED)
    with closing(blocks):
        for record in islice(_records(blocks, mark.encode()), 1, None):  # Nothing is before the first mark.
            yield _read_commit(record, most)


def commits_named(
    git: Git, deadline: float, names: Collection[str], *options: str, most: int = MESSAGE_CHARACTERS
) -> list[Commit]:
    """Return the commits with these names, in their order. most: characters of a message. Raises GitError."""
    arguments = ("--no-walk=unsorted", *options, "--end-of-options", *names)
    return [commit for commit, _ in read_commits(git, deadline, *arguments, most=most)] if names else []


def _records(blocks: Iterable[bytes], mark: bytes) -> Iterator[bytes]:
    """Yield what is between the marks; of a very long part, the first 8 MB at least."""
    rest = b""
    for block in blocks:
        *records, rest = (rest + block).split(mark)
        yield from records
        if len(rest) > _MOST_RECORD_BYTES:
            rest = rest[: _MOST_RECORD_BYTES // 2] + rest[-len(mark) :]
    yield rest


_masked_name = lru_cache(1 << 12)(mask_secrets)


def _read_commit(record: bytes, most: int) -> tuple[Commit, str]:
    """Return a commit, and what is printed of its changes. A time that git cannot print is 0."""
    name, seconds, day, author, message, changes = [*record.split(b"\0", _FIELDS), *[b""] * _FIELDS][: _FIELDS + 1]
    if len(message) > _MOST_MESSAGE_BYTES:
        message = b"(a message of more than a megabyte)"
    text = mask_secrets(message.decode("utf-8", "replace").strip())[:most]  # A cut may halve a secret.
    when = min(int(seconds), _LAST_SECOND) if seconds.isdigit() else 0
    day = day if _DAY.fullmatch(day) else b""
    commit = Commit(name.decode(), when, _masked_name(author.decode("utf-8", "replace")), text, (), day.decode())
    return commit, changes.decode("utf-8", "surrogateescape")


def _read_changes(fields: list[str]) -> Iterator[Change]:
    """Yield the changes of `--name-status -z`: a letter, then a path, or two of a rename.

    Only files whose names are UTF-8 are indexed.
    """
    rest = iter(fields)
    for status in rest:
        before = next(rest, "") if status.startswith("R") else ""
        if (path := next(rest, "")) and is_utf8(path):
            yield Change(path, before if is_utf8(before) else "")
