"""Writes files to a Qdrant collection and removes them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qdrant_client import models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.settings import ServerSettings
from graphrag_mcp.stores.qdrant import schema
from graphrag_mcp.stores.qdrant.bm25 import QdrantFrequencies, document_vector
from graphrag_mcp.stores.qdrant.connection import READS_ONLY, reaching
from graphrag_mcp.stores.qdrant.history import QdrantCommits
from graphrag_mcp.stores.qdrant.inventory import QdrantInventory
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import (
    PointRow,
    RelatedFile,
    ReplicatedCommit,
    ReplicatedFile,
    read,
    version_number,
)

BATCH_POINTS = 256  # A request has about a megabyte.


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
