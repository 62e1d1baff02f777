"""What index runs, copies to servers and the index itself report: frozen, slotted values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index run is."""

    files_done: int
    files_total: int
    chunks: int
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one index run did, in files; `embedded` and `reused` count the vectors of chunks."""

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


@dataclass(frozen=True, slots=True)
class IndexState:
    """How complete the index is."""

    state: IndexPhase
    files_done: int = 0
    files_total: int = 0
    chunks: int = 0
    seconds_left: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What was copied to one server, in files; `problem` says why the rest was not, "" when all was.

    missing, outdated, foreign: what a comparison found before: files the server lacked, had in another version, or had
    though the index does not; all three are put right by the run.
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


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server that holds a copy of the index, and what went wrong last, "" when nothing did.

    pending: files that it was not given from here as they are now. given: their chunks that it was given; None when
    nothing was ever copied from here. held: the project's chunks that it counts; None when it could not be asked.
    """

    name: str
    pending: int
    problem: str = ""
    given: int | None = None
    held: int | None = None

    @property
    def lost(self) -> int:
        """How many of the chunks that it was given it no longer has."""
        return max((self.given or 0) - self.held, 0) if self.held is not None else 0

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether it holds a copy that another machine made."""
        return self.given is None and bool(self.held)


@dataclass(frozen=True, slots=True)
class Status:
    """Everything a user may want to know of the index of one project.

    branch: what the work tree has checked out, "" outside of git. trees: work trees that share the index file.
    skipped: reason to number of paths; skipped_examples: some (path, reason). fallbacks: why files were not parsed by
    their syntax. exclusion_rate: the share of all paths that were left out, 0 to 1.
    """

    root: str
    index_file: str
    index_bytes: int
    state: IndexState
    branch: str = ""
    trees: int = 1
    files: int = 0
    chunks: int = 0
    symbols: int = 0
    relations: int = 0
    model: str = ""
    model_available: bool = False
    embedded_chunks: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    categories: Mapping[str, int] = field(default_factory=dict)
    archived_files: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    skipped_examples: tuple[tuple[str, str], ...] = ()
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    exclusion_rate: float = 0.0
    servers: tuple[ServerState, ...] = ()
    warnings: tuple[str, ...] = ()
    last_indexed: float | None = None


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What is indexed of one file; `archived`: why it counts as archived, "" when it does not.

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


@dataclass(frozen=True, slots=True)
class FileAge:
    """When a file was changed last, and how much of the index it is."""

    path: str
    chunks: int
    modified_at: float | None
    is_archived: bool
