"""BM25 as a product of sparse vectors: the document carries the saturated term frequencies, the query carries the IDF.

score(q, d) = Σ_t∈q idf(t) · f(t,d)·(k1 + 1) / (f(t,d) + k1·(1 - b + b·|d| / L)), with f(t,d) = Σ_field w_field · tf

This is the formula of SQLite's bm25() with its weights per field (Robertson & Zaragoza, "The Probabilistic Relevance
Framework", 2009), with one difference: L is the mean length at the time of the first copy, so that a document's vector
does not change when another one is written. The idf counts the chunks of one project; Qdrant's own would count the
whole collection, which many projects share.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from qdrant_client import models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.keywords import idf
from graphrag_mcp.stores.qdrant.connection import SYNC
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import point_key
from graphrag_mcp.stores.sqlite.schema import KEYWORD_FIELDS

PARTS = 64  # A repository of 250,000 chunks has the counts of about 8,000 words in each part.
_PARTS_SENT = 16
K1 = 1.2
B = 0.75


def document_vector(fields: Mapping[str, str], mean: float) -> models.SparseVector:
    """Return the vector of a chunk from the words of its fields, which are separated by blanks. mean: see above, L."""
    frequencies: dict[str, float] = defaultdict(float)
    length = 0
    for field, text in fields.items():
        words = text.split()
        length += len(words)
        for word in words:
            frequencies[word] += KEYWORD_FIELDS[field]
    return vector_of(frequencies, length, mean)


def vector_of(counts: Mapping[str, float], length: int, mean: float) -> models.SparseVector:
    """Return the vector of a text from how often it has each word, and how many words it has."""
    frequencies: dict[int, float] = defaultdict(float)
    for word, count in counts.items():
        frequencies[term_index(word)] += count
    norm = K1 * (1 - B + B * length / mean)
    indices = sorted(frequencies)
    values = [frequencies[index] * (K1 + 1) / (frequencies[index] + norm) for index in indices]
    return models.SparseVector(indices=indices, values=values)


def query_vector(frequencies: Frequencies) -> models.SparseVector:
    """Return the vector of a query: the idf of each term."""
    weights = {term_index(term): idf(count, frequencies.chunks) for term, count in frequencies.of_terms.items()}
    indices = sorted(weights)
    return models.SparseVector(indices=indices, values=[weights[index] for index in indices])


@lru_cache(maxsize=200_000)
def term_index(term: str) -> int:
    """Return the term's dimension, 32 bits of its hash: of 100,000 words, about one pair collides."""
    return int.from_bytes(hashlib.blake2b(term.encode(errors="surrogatepass"), digest_size=4).digest())


class QdrantFrequencies:
    """How many chunks of a project have each word; written when a replication is complete.

    The counts are spread over points without vectors, which belong to no project, so no search returns them. A query
    reads only the counts of its own words. A word without a count is in no chunk.
    """

    def __init__(self, project: QdrantProject, name: str = "frequencies") -> None:
        """name: of what is counted, in the keys of the points."""
        self._project = project
        self._keys = [point_key(project.name, name, part) for part in range(PARTS)]

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
