"""How a server's rows are named: ids that every machine computes alike, from the project and the content."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


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
