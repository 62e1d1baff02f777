"""The number of chunks with each word, stored on the server: BM25 weighs the words of a query by it.

The counts are spread over points without vectors, which belong to no project, so no search returns them. A query reads
only the counts of its own words. A word without a count is in no chunk.
"""

from collections import defaultdict
from collections.abc import Sequence

from qdrant_client import models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.points import point_key
from graphrag_mcp.stores.qdrant.bm25 import term_index
from graphrag_mcp.stores.qdrant.connection import SYNC
from graphrag_mcp.stores.qdrant.schema import QdrantProject

PARTS = 64  # A repository of 250,000 chunks has about 8,000 words in each.
_PARTS_SENT = 16


class QdrantFrequencies:
    """The word counts of one project in one collection; written when a replication is complete."""

    def __init__(self, project: QdrantProject) -> None:
        self._project = project
        self._keys = [point_key(project.name, "frequencies", part) for part in range(PARTS)]

    def exist(self) -> bool:
        """Whether the project was ever replicated completely."""
        return bool(self._project.retrieve(self._keys[:1], with_payload=False))

    def check(self) -> None:
        """Raise ServerError, with the next step, unless the project was replicated completely, and is still there."""
        project = self._project
        records = project.retrieve(self._keys[:1], with_payload=["chunks"])
        if not records or ((records[0].payload or {}).get("chunks") and not project.first(1, ["path"])):
            raise ServerError(
                f"Qdrant's collection {project.collection!r} holds no complete copy of {project.name!r}{SYNC}"
            )

    def lost(self) -> int:
        """Return how many chunks of the last complete copy are missing, counted exactly."""
        records = self._project.retrieve(self._keys[:1], with_payload=["chunks"])
        whole = (records[0].payload or {}).get("chunks", 0) if records else 0
        return max(whole - self._project.count(), 0)

    def read(self, terms: Sequence[str]) -> Frequencies:
        """Return how many chunks have each of the terms. Raises ServerError like `check`."""
        index_of = {term: term_index(term) for term in terms if term}
        parts = {0, *(index % PARTS for index in index_of.values())}
        fields = ["chunks", *(f"counts.{index:x}" for index in index_of.values())]
        records = self._project.retrieve([self._keys[part] for part in sorted(parts)], with_payload=fields)
        if not records:
            self.check()
        counts: dict[str, int] = {}
        for record in records:
            counts |= (record.payload or {}).get("counts", {})
        chunks = max(((record.payload or {}).get("chunks", 0) for record in records), default=0)
        return Frequencies({term: counts.get(f"{index:x}", 0) for term, index in index_of.items()}, chunks)

    def write(self, frequencies: Frequencies) -> None:
        """Replace the counts."""
        parts: dict[int, dict[str, int]] = defaultdict(dict)
        for term, count in frequencies.of_terms.items():
            index = term_index(term)
            part = parts[index % PARTS]
            part[f"{index:x}"] = max(count, part.get(f"{index:x}", 0))
        points = [
            models.PointStruct(
                id=key,
                vector={},
                payload={"frequencies_of": self._project.name, "chunks": frequencies.chunks, "counts": parts[number]},
            )
            for number, key in enumerate(self._keys)
        ]
        self._project.upsert(points, _PARTS_SENT)

    def delete(self) -> None:
        """Remove the counts, so that the replica counts as incomplete."""
        self._project.delete(models.PointIdsList(points=list(self._keys)))
