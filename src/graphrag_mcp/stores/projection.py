"""What is replicated to a server, and the operations that a server must support."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphrag_mcp.model.files import Symbol
from graphrag_mcp.model.search import Frequencies, StoredChunk
from graphrag_mcp.ports import Matrix
from graphrag_mcp.stores.points import Point


@dataclass(frozen=True, slots=True)
class ProjectedChunk:
    """One chunk to replicate. words: those of each keyword field, separated by blanks."""

    point: Point
    chunk: StoredChunk
    words: Mapping[str, str]
    vector: Matrix | None


@dataclass(frozen=True, slots=True)
class ProjectedSymbol:
    """A definition, and the ordinal of the chunk that it begins in."""

    key: str
    ordinal: int
    symbol: Symbol


SHARED = "one of several"  # The certainty of what is one of several things that a name may mean.


@dataclass(frozen=True, slots=True)
class ProjectedEdge:
    """One relation between symbols, or whole files, by their keys. ordinal: of the chunk that has the line."""

    kind: str
    source: str
    target: str
    of_file: bool
    to_file: bool
    line: int
    certainty: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class ProjectedFile:
    """Everything that is replicated of one file.

    mark: recorded in the index file when the server has confirmed the file; it changes with the file's data.
    """

    path: str
    version: str
    mark: str
    match_keys: tuple[str, ...]
    path_words: Mapping[str, float]
    chunks: tuple[ProjectedChunk, ...]
    symbols: tuple[ProjectedSymbol, ...]
    edges: tuple[ProjectedEdge, ...]


def fields_of(file: ProjectedFile, chunk: ProjectedChunk) -> dict[str, Any]:
    """Return what every server keeps of a chunk and its file."""
    stored = chunk.chunk
    return {
        "path": file.path,
        "version": file.version,
        "ordinal": chunk.point.ordinal,
        "match_keys": list(file.match_keys),
        "is_archived": stored.archive is not None,
        "archive_path": stored.archive.reason if stored.archive else None,
        "category": stored.category.value,
        "language": stored.language,
        "start_line": stored.start_line,
        "end_line": stored.end_line,
    }


class Projection(Protocol):
    """A server that holds a replica of the index."""

    @property
    def keeps_edges(self) -> bool: ...

    @property
    def name(self) -> str:
        """Identifies this replica in the index file: server, collection or database, and project."""

    def prepare(self) -> bool:
        """Create the collection, constraints and indexes that are missing; return whether there was nothing before."""

    def write(self, files: Sequence[ProjectedFile]) -> None:
        """Replace these files; each completely or not at all."""

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these files."""

    def clear(self) -> None:
        """Remove everything of this project."""

    def finish(self, frequencies: Callable[[], Frequencies], *, changed: bool) -> None:
        """Write what depends on all files, after the last of them.

        changed: whether this run wrote or removed any file.
        """

    def chunks(self) -> int:
        """Return how many chunks the server holds, counted exactly."""

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version and the number of chunks of each file that the server holds."""
