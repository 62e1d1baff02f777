"""The ids of files and chunks on a server: every machine computes the same ones from project and content."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphrag_mcp.model.paths import EVERY_PATH, PathCover
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import ScopePaths


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk on a server. version: identifies the content and recipe of its file."""

    key: str
    path: str
    version: str
    ordinal: int


def file_key(project: str, path: str) -> str:
    """Return the key of a file, whatever its content."""
    return f"{project}:{path}"


def file_version(path: str, content_hash: bytes, recipe: str) -> str:
    """Return the id of one content of one file, made with one recipe."""
    name = f"{path}\0{recipe}\0".encode(errors="surrogateescape")
    return hashlib.blake2b(name + content_hash, digest_size=12).hexdigest()


def point_key(project: str, version: str, ordinal: int) -> str:
    """Return the UUID of a chunk; every content of a file has its own, so old and new chunks are never confused."""
    name = f"{project}\0{version}\0{ordinal}".encode()
    return str(uuid.UUID(bytes=hashlib.blake2b(name, digest_size=16).digest()))


class ChunkIds(Protocol):
    """Translates between the points of a server and the chunk ids of a search."""

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        """Return the chunk id of each point; None for a content that is not in the index of the search."""

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the key of each chunk; chunks that are not known are left out."""


def scope_cover(scope: Scope, paths: ScopePaths) -> PathCover:
    """Return the files that the `paths` of a scope choose, as a server is told of them."""
    return paths.chosen(scope.paths).cover if scope.paths else EVERY_PATH


class PointIds:
    """The chunk ids of a search without a local index: the 128 bits of the key."""

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        """Return each point's UUID as a number."""
        return [uuid.UUID(point.key).int for point in points]

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the UUID of each id."""
        return {chunk_id: str(uuid.UUID(int=chunk_id)) for chunk_id in chunk_ids}
