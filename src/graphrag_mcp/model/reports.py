"""Reports of index runs, of replications and of the index itself."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct, field


class Progress(Struct, frozen=True):
    """The progress of an index run."""

    files_done: int
    files_total: int
    chunks: int
    seconds_left: float | None = None


class IndexReport(Struct, frozen=True):
    """The result of one index run, in files; `embedded` and `reused` count vectors of chunks.

    failures: see `Status`.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)


class IndexPhase(StrEnum):
    """Where an index is in its life."""

    EMPTY = "empty"
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"

    @property
    def is_settled(self) -> bool:
        """Whether no run is going on that would change it."""
        return self in (IndexPhase.READY, IndexPhase.FAILED)


class IndexState(Struct, frozen=True):
    """How complete the index is."""

    state: IndexPhase
    files_done: int = 0
    files_total: int = 0
    chunks: int = 0
    seconds_left: float | None = None
    message: str = ""


class SyncReport(Struct, frozen=True):
    """The result of one replication to a server, in files; `problem`: why it is incomplete, "" when it is complete.

    missing, outdated, foreign: files that a comparison found missing on the server, there in another version, or there
    but not in the index; the run corrected them.
    """

    server: str
    written: int = 0
    removed: int = 0
    chunks: int = 0
    missing: int = 0
    outdated: int = 0
    foreign: int = 0
    seconds: float = 0.0
    problem: str = ""


class ServerState(Struct, frozen=True):
    """The state of one replica; `problem`: the last failure, "" without one.

    pending: files whose current content was not sent from here. sent: the number of chunks that were sent; None when
    none ever was. held: the number of the project's chunks on the server; None when the server did not answer.
    may_write: whether the key may write, as far as is known.
    """

    name: str
    pending: int
    problem: str = ""
    sent: int | None = None
    held: int | None = None
    may_write: bool = True

    @property
    def next_step(self) -> str:
        """What brings the replica up to date."""
        if self.may_write:
            return "run `graphrag-mcp sync` to send them"
        return "this key may only read: `graphrag-mcp sync` has to run where the key is that may write"

    @property
    def lost(self) -> int:
        """How many of the chunks that were sent are missing on the server."""
        return max((self.sent or 0) - self.held, 0) if self.held is not None else 0

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether the replica was written by another machine."""
        return self.sent is None and bool(self.held)


class HeldProject(NamedTuple):
    """A project on a server: Qdrant or Neo4j. commit, written_at: of the last copy; "" and 0 where not known."""

    name: str
    server: str
    chunks: int
    commit: str
    written_at: float


class SkippedPath(NamedTuple):
    """A path that was left out, and why."""

    path: str
    reason: str


class Status(Struct, frozen=True):
    """The state of the index of one project.

    branch: the checked-out branch, "" outside of git. trees: work trees that share the index file. commits: past
    commits that the search knows; no_history: why there are none. second_model: of the second look, "" for none;
    second_chunks: how many it has embedded.
    skipped: reason to number of paths; skipped_examples: some of the paths. fallbacks: why files were not parsed by
    their syntax. failures: the stages that failed on files, by path. exclusion_rate: the fraction of the paths that
    were left out, 0 to 1.
    """

    root: str
    index_file: str
    index_bytes: int
    state: IndexState
    branch: str = ""
    trees: int = 1
    commits: int = 0
    no_history: str = ""
    files: int = 0
    chunks: int = 0
    symbols: int = 0
    relations: int = 0
    model: str = ""
    model_available: bool = False
    embedded_chunks: int = 0
    second_model: str = ""
    second_chunks: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    categories: Mapping[str, int] = field(default_factory=dict)
    archived_files: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    skipped_examples: tuple[SkippedPath, ...] = ()
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    exclusion_rate: float = 0.0
    servers: tuple[ServerState, ...] = ()
    warnings: tuple[str, ...] = ()
    last_indexed: datetime | None = None


class IndexedFile(Struct, frozen=True):
    """One indexed file; `archived`: why it is archived, "" when it is not.

    modified_at: seconds since 1970. note: why it was not parsed by its syntax, "" when it was.
    """

    path: str
    language: str
    category: str
    size: int
    modified_at: float | None
    chunks: int
    symbols: int
    archived: str = ""
    note: str = ""
