"""Commits, as git tells them and as the index keeps them."""

from typing import NamedTuple


class Change(NamedTuple):
    """A file that a commit changed; before: its path before the commit renamed it, else ""."""

    path: str
    before: str = ""


class Commit(NamedTuple):
    """A commit with one parent, or none. seconds: since 1970. message: with secrets masked."""

    name: str
    seconds: int
    message: str
    changes: tuple[Change, ...]

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
