"""How a server's rows are named: ids that every machine computes alike, from the project and the content."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphrag_mcp.model import StoredChunk, Symbol
from graphrag_mcp.ports import Matrix


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk as a server knows it. `version` names what the file's rows were made from."""

    key: str
    path: str
    version: str
    ordinal: int


def file_key(project: str, path: str) -> str:
    """Return the key of a file, whatever its content."""
    return f"{project}:{path}"


def file_version(path: str, content_hash: bytes, recipe: str) -> str:
    """Return what tells one content of one file, parsed and embedded in one way, from every other."""
    name = f"{path}\0{recipe}\0".encode(errors="surrogateescape")
    return hashlib.blake2b(name + content_hash, digest_size=12).hexdigest()


def point_key(project: str, version: str, ordinal: int) -> str:
    """Return the UUID of a chunk; another content of the file has others, so an old one is never taken for a new."""
    name = f"{project}\0{version}\0{ordinal}".encode()
    return str(uuid.UUID(bytes=hashlib.blake2b(name, digest_size=16).digest()))


def folders(path: str) -> list[str]:
    """Return the path and every folder above it: what a path prefix in a scope is compared with."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


class ChunkIds(Protocol):
    """Translates between the points of a server and the chunk ids of a search."""

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        """Return the chunk id of each point; None for a content that the search does not know."""
        ...

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the key of each chunk that is known."""
        ...


class ArchivedPaths(Protocol):
    """Tells which archived files a scope's patterns bring back."""

    def lifted(self, patterns: tuple[str, ...]) -> Sequence[str]:
        """Return the paths of archived files that gitignore globs match."""
        ...


class PointIds:
    """The ids of a search that has no index of its own: the key's 128 bits."""

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        """Return the number that each point's UUID is."""
        return [uuid.UUID(point.key).int for point in points]

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the UUIDs back."""
        return {chunk_id: str(uuid.UUID(int=chunk_id)) for chunk_id in chunk_ids}


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
    """What a write changes for other files: names that come or go, files that are new, files that lose a target."""

    names: frozenset[str] = frozenset()
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

    def prepare(self) -> None:
        """Create what the server lacks: collection, constraints, indexes."""
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

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version and the number of chunks of each file that the server holds."""
        ...
