"""Commits, as git tells them and as the index keeps them."""

import time
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct, field

DIGITS_SHOWN = 7  # Digits of a commit's name.


class Change(NamedTuple):
    """A file that a commit changed; before: its path before the commit renamed it, else ""."""

    path: str
    before: str = ""


class Commit(NamedTuple):
    """A commit with one parent, or none. author, message: with secrets masked.

    seconds: since 1970, when it was committed. day: when it was written, where its author was.
    """

    name: str
    seconds: int
    author: str
    message: str
    changes: tuple[Change, ...] = ()
    day: str = ""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0].strip()


class Recalled(NamedTuple):
    """A commit whose message matches a question, with its score: BM25, higher is better."""

    commit_id: int
    name: str
    seconds: int
    subject: str
    score: float


class Touched(NamedTuple):
    """A file of the tree that a commit changed. chunk_id: its first. files: how many with code the commit changed."""

    commit_id: int
    chunk_id: int
    files: int


class Companion(NamedTuple):
    """A file that changed in `together` of the last `of` commits of another one, `beside`."""

    path: str
    together: int
    of: int
    beside: str


class CommitRange(Struct, frozen=True):
    """Which commits are meant. since, until: days or times as git reads them. author: a part of name or address."""

    since: str = ""
    until: str = ""
    author: str = ""

    @property
    def options(self) -> list[str]:
        """The options of `git log`."""
        limits = (("--since", self.since), ("--until", self.until), ("--author", self.author))
        fixed = ["--regexp-ignore-case", "--fixed-strings"] if self.author else []
        return [*(f"{name}={value}" for name, value in limits if value), *fixed]


class ChangedLines(NamedTuple):
    """The numbers of the lines that a commit added to a file, and of those before it that it removed; None: unknown.

    name: in place of numbers, what the lines contain.
    """

    path: str
    added: frozenset[int]
    removed: frozenset[int] | None = None
    name: str = ""


class Told(Struct, frozen=True):
    """Commits that answer a question, the best or newest first. note: what is missing, "" for nothing.

    changed: the lines that a commit changed, by its name, where the question is of lines. added_by: the commit that
    added these, "" if it is not known. moved: those that moved lines to where they stand.
    """

    commits: tuple[Commit, ...]
    note: str = ""
    changed: Mapping[str, ChangedLines] = field(default_factory=dict)
    added_by: str = ""
    moved: frozenset[str] = frozenset()


def day_of(commit: Recalled | Commit) -> str:
    """Return the day on which a commit was written; of one that the index recalls, that on which it was committed."""
    if isinstance(commit, Commit) and commit.day:
        return commit.day
    return time.strftime("%Y-%m-%d", time.gmtime(commit.seconds))


def described(commit: Recalled) -> str:
    """Return the short name of a commit, its day and its subject."""
    return f"{commit.name[:DIGITS_SHOWN]} {day_of(commit)}: {commit.subject}"
