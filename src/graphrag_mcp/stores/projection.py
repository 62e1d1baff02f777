"""What a server is given to keep of the index, and what it has to be able to do with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphrag_mcp.model.files import Symbol
from graphrag_mcp.model.search import Frequencies, StoredChunk
from graphrag_mcp.ports import Matrix
from graphrag_mcp.stores.points import Point


@dataclass(frozen=True, slots=True)
class ProjectedChunk:
    """One chunk of a file on its way to a server. `words`: of each keyword field, separated by blanks."""

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


@dataclass(frozen=True, slots=True)
class ProjectedEdge:
    """One settled relation, from the chunk in which it stands to a symbol, or to a whole file."""

    ordinal: int
    kind: str
    source: str
    target: str
    target_key: str
    to_file: bool
    confidence: float
    resolution: str


@dataclass(frozen=True, slots=True)
class ProjectedFile:
    """Everything that servers keep of one file; its chunks carry what the file adds to them.

    mark: what is remembered, here, of the server's holding it; it changes with anything that is copied.
    """

    path: str
    version: str
    mark: str
    match_keys: tuple[str, ...]
    path_words: Mapping[str, float]
    chunks: tuple[ProjectedChunk, ...]
    symbols: tuple[ProjectedSymbol, ...]
    edges: tuple[ProjectedEdge, ...]


@dataclass(frozen=True, slots=True)
class Changing:
    """What a write changes for other files.

    names: of definitions that come, go, or change between archived and not. paths: the files that have these.
    new_paths: files that are new, or change so themselves. dependents: files that point at what is no longer meant.
    """

    names: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    new_paths: frozenset[str] = frozenset()
    dependents: frozenset[str] = frozenset()


class Projection(Protocol):
    """A server that holds a copy of the index."""

    @property
    def keeps_edges(self) -> bool: ...

    @property
    def name(self) -> str:
        """What marks are kept under: another server, or another project on it, has another name."""
        ...

    def prepare(self) -> bool:
        """Create what the server lacks: collection, constraints, indexes; tell whether it had nothing at all."""
        ...

    def changing(self, files: Sequence[ProjectedFile], gone: Sequence[str], /) -> Changing:
        """Return what other files have to be sent again for, once these are written and those are removed."""
        ...

    def write(self, files: Sequence[ProjectedFile]) -> None:
        """Replace these files; each of them wholly or not at all."""
        ...

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these files."""
        ...

    def clear(self) -> None:
        """Remove everything of this project."""
        ...

    def finish(self, frequencies: Callable[[], Frequencies], *, changed: bool) -> None:
        """Write what follows from all files together, once each of them is there.

        changed: whether this copy wrote or removed any.
        """
        ...

    def chunks(self) -> int:
        """Return how many chunks the server holds, counted exactly; 0 where there is nothing at all."""
        ...

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version and the number of chunks of each file that the server holds."""
        ...
