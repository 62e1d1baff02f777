"""Writes files to a Qdrant collection, removes them, and lists what the collection has.

The inventory lists a version of a file while the server has all chunks of it: it leaves the list before they are
removed, and enters it after they were written. A search of the server for what is listed, and of the local index for
the rest, misses nothing, also while another machine writes.
"""

import base64
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert
from qdrant_client import models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.settings import ServerSettings
from graphrag_mcp.stores.qdrant import schema
from graphrag_mcp.stores.qdrant.bm25 import QdrantFrequencies, document_vector
from graphrag_mcp.stores.qdrant.connection import READS_ONLY, reaching
from graphrag_mcp.stores.qdrant.history import QdrantCommits
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import (
    Inventory,
    PointRow,
    RelatedFile,
    ReplicatedCommit,
    ReplicatedFile,
    Seconds,
    point_key,
    read,
    version_number,
)
from graphrag_mcp.system.git import is_name

_VERSIONS = 20_000  # One point lists no more; its payload has 210,000 characters then.
BATCH_POINTS = 256  # A request has about a megabyte.


class _FirstPart(Struct, frozen=True):
    """What the first point states. A server is not trusted: all that is counted or shown has bounds."""

    stamp: str
    parts: Annotated[int, Meta(ge=1, le=10_000)]
    chunks: Annotated[int, Meta(ge=0, lt=1 << 53)]
    mean_length: Annotated[float, Meta(gt=0, lt=1 << 33)]
    is_whole: bool
    commit: str
    written_at: Seconds


class QdrantInventory:
    """The inventory of one project, in points that belong to no project, so no search returns them."""

    def __init__(self, project: QdrantProject) -> None:
        self._project = project

    def stamp(self) -> str:
        """Return what differs with each inventory; "" where there is none."""
        records = self._project.retrieve([self._key(0)], with_payload=["stamp"])
        return str((records[0].payload or {}).get("stamp", "")) if records else ""

    def read(self) -> Inventory | None:
        """Return the inventory; None where the project was never copied, is being rebuilt, or it cannot be understood.

        Of one that is being written, only what is already there counts.
        """
        try:
            return self._read()
        except (KeyError, TypeError, ValueError, ValidationError):
            return None

    def _read(self) -> Inventory | None:
        records = self._project.retrieve([self._key(0)], with_payload=True)
        first = (records[0].payload or {}) if records else {}
        if not first:
            return None
        row = convert(first, _FirstPart)
        records += self._project.retrieve([self._key(part) for part in range(1, row.parts)], with_payload=True)
        packed = [values["versions"] for values in (record.payload or {} for record in records)
                  if values["stamp"] == row.stamp]  # fmt: skip
        versions = np.frombuffer(b"".join(map(base64.b64decode, packed)), dtype="<u8")
        commit = row.commit if is_name(row.commit) else ""
        written_at, is_whole = row.written_at, row.is_whole
        return Inventory(np.sort(versions), row.chunks, row.mean_length, commit, written_at, row.stamp, is_whole)

    def write(self, versions: Collection[int], chunks: int, mean_length: float, commit: str, *, is_whole: bool) -> None:
        """Replace the inventory. versions: their numbers. chunks: of all these files. mean_length: as it was before."""
        known = np.sort(np.fromiter(versions, dtype="<u8", count=len(versions)))
        stamp, parts = secrets.token_hex(8), max(1, -(-len(known) // _VERSIONS))
        about = {"inventory_of": self._project.name, "stamp": stamp}
        whole = {
            "parts": parts,
            "chunks": chunks,
            "mean_length": mean_length,
            "is_whole": is_whole,
            "commit": commit,
            "written_at": time.time(),
        }
        points = [
            models.PointStruct(
                id=self._key(part),
                vector={},
                payload={
                    **about,
                    **(whole if part == 0 else {}),
                    "versions": base64.b64encode(known[part * _VERSIONS : (part + 1) * _VERSIONS].tobytes()).decode(),
                },
            )
            for part in range(parts)
        ]
        self._project.upsert(points, 1)

    def delete(self) -> None:
        """Remove it, so that nothing counts as held."""
        self._project.delete(models.PointIdsList(points=[self._key(0)]))

    def _key(self, part: int) -> str:
        return point_key(self._project.name, "inventory", part)


class QdrantReplica:
    """The replica of one project in one collection."""

    keeps_relations = False

    def __init__(
        self,
        project: QdrantProject,
        name: str,
        model: str,
        dimensions: int,
        mean_length: Callable[[], float],
        settings: ServerSettings,
    ) -> None:
        """name: identifies the replica. model, dimensions: of the vectors.

        mean_length: returns that of the chunks in words; asked when the project is copied for the first time. settings:
        how the collection is made if it is not there.
        """
        self.name = name
        self._project = project
        self._model = model
        self._dimensions = dimensions
        self._mean_length = mean_length
        self._settings = settings
        self._mean = 0.0
        self._frequencies = QdrantFrequencies(project)
        self._inventory = QdrantInventory(project)

    def prepare(self) -> bool:
        with reaching():
            is_new = schema.create_collection(
                self._project.client, self._project.collection, self._dimensions, self._settings
            )
        inventory = None if is_new else self._inventory.read()
        self._mean = inventory.mean_length if inventory and inventory.chunks else self._mean_length()
        return is_new

    def write(self, files: Sequence[ReplicatedFile]) -> None:
        """Replace these files: write the new points, then remove the old ones."""
        self._project.upsert(list(self._points(files)), BATCH_POINTS)
        outdated = self._project.filter(schema.any_of("path", [file.path for file in files]))
        outdated.must_not = [schema.any_of("version", sorted({file.version for file in files}))]
        self._project.delete(outdated)

    def delete(self, paths: Sequence[str]) -> None:
        self._project.delete(self._project.filter(schema.any_of("path", paths)))

    def clear(self) -> None:
        self._mean = self._mean_length()
        self._inventory.delete()
        QdrantCommits(self._project).delete()
        self._frequencies.delete()
        self._project.delete(self._project.filter())

    def state(self, held: Mapping[str, tuple[str, int]], commit: str, *, is_whole: bool) -> None:
        versions = {version_number(version) for version, _ in held.values()}
        chunks = sum(count for _, count in held.values())
        self._inventory.write(versions, chunks, self._mean, commit, is_whole=is_whole)

    def relate(self, files: Sequence[RelatedFile]) -> None:
        """Do nothing: it keeps no relations."""

    def declare(self, packages: Sequence[str]) -> None:
        """Do nothing: it keeps no relations."""

    def finish(self, frequencies: Callable[[], Frequencies], *, changed: bool) -> None:
        """Write the word counts of the project."""
        if changed or not self._frequencies.exist():
            self._frequencies.write(frequencies())
        with reaching():
            schema.build_index(self._project.client, self._project.collection)

    def write_commits(self, tip: str, commits: Callable[[], Sequence[ReplicatedCommit]]) -> None:
        QdrantCommits(self._project).write(tip, commits)

    def chunks(self) -> int:
        project = self._project
        with reaching():
            if not project.client.collection_exists(project.collection):
                return 0
        return project.count()

    def may_write(self) -> bool:
        """Ask for an update of nothing, which the server refuses for one reason or the other."""
        try:
            self._project.delete(models.PointIdsList(points=[]))
        except ServerError as error:
            return READS_ONLY not in str(error)
        return True

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version and number of points of each file; the version is "" for a file with two versions."""
        versions_by_path: dict[str, tuple[str, int]] = {}
        rows = (read(values, PointRow) for values in self._project.scroll(schema.POINT_FIELDS))
        for row in filter(None, rows):
            version, count = versions_by_path.get(row.path, (row.version, 0))
            versions_by_path[row.path] = (version if version == row.version else "", count + 1)
        return versions_by_path

    def _points(self, files: Sequence[ReplicatedFile]) -> Iterator[models.PointStruct]:
        for file in files:
            for chunk in file.chunks:
                vector: dict[str, Any] = {schema.KEYWORDS: document_vector(chunk.words, self._mean)}
                if chunk.vector is not None:
                    vector[schema.DENSE] = chunk.vector.tolist()
                yield models.PointStruct(
                    id=chunk.point.key,
                    vector=vector,
                    payload=schema.payload(self._project.name, self._model, file, chunk),
                )
