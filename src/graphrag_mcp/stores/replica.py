"""What is replicated to a server: its records, ids that every machine computes alike, and what a server must do."""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert
from numpy.typing import NDArray

from graphrag_mcp.model.files import Symbol
from graphrag_mcp.model.paths import EVERY_PATH, PathCover
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, StoredChunk
from graphrag_mcp.ports import Matrix, ScopePaths
from graphrag_mcp.stores.sqlite.schema import MAX_CHUNKS_PER_FILE

Seconds = Annotated[float, Meta(gt=-(1 << 33), lt=1 << 33)]  # Since 1970; a date can be made of it.
Path = Annotated[str, Meta(max_length=4_096, pattern=r"(?s)^(?!.*(?:^|/)\.{0,2}(?:/|$))[^\x00]+$")]  # In the project.


class Point(Struct, frozen=True):
    """A chunk on a server. version: identifies the content and recipe of its file."""

    key: str
    path: str
    version: str
    ordinal: int


def file_key(project: str, path: str) -> str:
    """Return the key of a file, whatever its content."""
    return f"{project}:{path}"


def symbol_key(project: str, path: str, qualified_name: str, number: int) -> str:
    """Return the key of a definition. number: of those of its name before it in the file."""
    return f"{file_key(project, path)}#{qualified_name}~{number}"


def file_version(path: str, content_hash: bytes, recipe: str) -> str:
    """Return the id of one content of one file, made with one recipe."""
    name = f"{path}\0{recipe}\0".encode(errors="surrogateescape")
    return hashlib.blake2b(name + content_hash, digest_size=12).hexdigest()


def version_number(version: str) -> int:
    """Return a version in 64 bits: of a million, two are alike once in 40 million repositories."""
    return int(version[:16], 16)


class Inventory(Struct, frozen=True):
    """The file versions that a server holds whole, ascending, by their numbers.

    chunks: of all of them. mean_length: of chunks in words, when the project was first copied. commit: that which was
    checked out where it was written, "" outside of git. written_at: in seconds since 1970. stamp: differs with each.
    is_whole: whether these are all files of the project.
    """

    versions: NDArray[np.uint64]
    chunks: int
    mean_length: float
    commit: str
    written_at: float
    stamp: str
    is_whole: bool


def point_key(project: str, version: str, ordinal: int) -> str:
    """Return the UUID of a chunk; every content of a file has its own, so old and new chunks are never confused."""
    name = f"{project}\0{version}\0{ordinal}".encode()
    return str(uuid.UUID(bytes=hashlib.blake2b(name, digest_size=16).digest()))


class PointRow(Struct, frozen=True):
    """What every server says of a chunk. A server is not trusted: see `read`."""

    path: Path
    version: Annotated[str, Meta(pattern="^[0-9a-f]{24}$")]
    ordinal: Annotated[int, Meta(ge=0, lt=MAX_CHUNKS_PER_FILE)]


_Row = TypeVar("_Row", bound=Struct)


def read(values: object, kind: type[_Row]) -> _Row | None:
    """Return what a server said as a row; None for what no sync wrote: of a wrong type, or with a path to elsewhere."""
    try:
        return convert(values, kind)
    except ValidationError:
        return None


class ChunkIds(Protocol):
    """Translates between the points of a server and the chunk ids of a search."""

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        """Return the chunk id of each point; None for a content that is not in the index of the search."""

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the key of each chunk; chunks that are not known are left out."""


def scope_cover(scope: Scope, paths: ScopePaths) -> PathCover:
    """Return the files that the `paths` of a scope choose, in the form that a server can filter by."""
    return paths.chosen(scope.paths).cover if scope.paths else EVERY_PATH


class PointIds:
    """The chunk ids of a search without a local index: the 128 bits of the key."""

    def ids(self, points: Sequence[Point]) -> list[int | None]:
        """Return each point's UUID as a number; None for a point with another id, which no sync wrote."""
        return [number_of(point.key) for point in points]

    def keys(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the UUID of each id."""
        return {chunk_id: str(uuid.UUID(int=chunk_id)) for chunk_id in chunk_ids}


def number_of(key: str) -> int | None:
    """Return the 128 bits of a UUID; None for another text."""
    try:
        return uuid.UUID(key).int
    except ValueError:
        return None


class ReplicatedChunk(Struct, frozen=True):
    """One chunk to replicate. words: those of each keyword field, separated by blanks."""

    point: Point
    chunk: StoredChunk
    words: Mapping[str, str]
    vector: "Matrix | None"


class ReplicatedSymbol(Struct, frozen=True):
    """A definition, and the ordinal of the chunk that it begins in."""

    key: str
    ordinal: int
    symbol: Symbol


SHARED = "one of several"  # A relation has this certainty if its name has several possible targets.


class ReplicatedEdge(NamedTuple):
    """One relation between symbols, or whole files, by their keys. chunk: the key of the chunk that has the line."""

    kind: str
    source: str
    target: str
    of_file: bool
    to_file: bool
    line: int
    certainty: str
    chunk: str


class RelatedFile(Struct, frozen=True):
    """What the lines of one file refer to. mark: differs with any of it.

    outside: the packages that it imports which the project does not have, with the lines. undecided: the names that it
    uses of which nothing more is known, with the lines. interfaces: the keys of those that it declares.
    """

    path: str
    edges: Sequence[ReplicatedEdge]
    outside: Sequence[tuple[str, int]]
    undecided: Sequence[tuple[str, int]]
    interfaces: Sequence[str]
    mark: str


class ReplicatedCommit(Struct, frozen=True):
    """A past commit. words: of its message, with how often. files: how many with code it changed.

    paths: as they are now. digest: changes with them.
    """

    name: str
    seconds: int
    subject: str
    files: int
    words: Mapping[str, int]
    paths: Sequence[str]
    digest: str


class ReplicatedFile(Struct, frozen=True):
    """What is replicated of one file, without its relations.

    mark: recorded in the index file when the server has confirmed the file; it changes with the file's data. calls: the
    names that it calls, with their lines.
    """

    path: str
    version: str
    mark: str
    category: str
    language: str
    match_keys: tuple[str, ...]
    path_words: Mapping[str, float]
    chunks: tuple[ReplicatedChunk, ...]
    symbols: tuple[ReplicatedSymbol, ...]
    calls: Sequence[tuple[int, str]] = ()


def fields_of(file: ReplicatedFile, chunk: ReplicatedChunk) -> dict[str, Any]:
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


class Replica(Protocol):
    """A server that holds a replica of the index."""

    @property
    def keeps_relations(self) -> bool: ...

    @property
    def name(self) -> str:
        """Identifies this replica in the index file: server, collection or database, and project."""

    def prepare(self) -> bool:
        """Create the collection, constraints and indexes that are missing; return whether there was nothing before."""

    def write(self, files: Sequence[ReplicatedFile]) -> None:
        """Replace these files; each completely or not at all."""

    def relate(self, files: Sequence[RelatedFile]) -> None:
        """Replace the relations of these files, where the server keeps relations."""

    def declare(self, packages: Sequence[str]) -> None:
        """State under which names other projects may import this one, and which projects import each other."""

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these files."""

    def clear(self) -> None:
        """Remove everything of this project."""

    def state(self, held: Mapping[str, tuple[str, int]], commit: str, *, is_whole: bool) -> None:
        """State which files are held whole, with version and number of chunks. commit, is_whole: as in `Inventory`."""

    def finish(self, frequencies: Callable[[], Frequencies], *, changed: bool) -> None:
        """Write what depends on all files, after the last of them.

        changed: whether this run wrote or removed any file.
        """

    def write_commits(self, tip: str, commits: Callable[[], Sequence[ReplicatedCommit]]) -> None:
        """Bring the past commits to those of a tip, where the server keeps them."""

    def chunks(self) -> int:
        """Return how many chunks the server holds, counted exactly."""

    def may_write(self) -> bool:
        """Return whether the key may write, as far as the server says; nothing is written."""

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version and the number of chunks of each file that the server holds."""
