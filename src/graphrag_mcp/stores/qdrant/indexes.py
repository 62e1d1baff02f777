"""Searches a Qdrant collection: dense vectors by cosine, sparse ones as BM25; other files in the local index."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from qdrant_client import models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, Ranked
from graphrag_mcp.ports import Matrix, ScopePaths, VectorIndex
from graphrag_mcp.stores.keywords import discriminative_terms
from graphrag_mcp.stores.qdrant.bm25 import QdrantFrequencies, document_vector, query_vector
from graphrag_mcp.stores.qdrant.schema import (
    DENSE,
    KEYWORDS,
    POINT_FIELDS,
    QdrantProject,
    any_of,
    in_scope,
    point_of,
)
from graphrag_mcp.stores.replica import ChunkIds, PointRow, read
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex

MOST_HIDDEN = 1000  # Paths that a filter names.
MOST_QUERIED = 2000  # Points of one search.

Wait = Callable[[Callable[[], list[models.Record]]], list[models.Record]]


class QdrantPoints(Struct, frozen=True):
    """The points of one project in one collection, and their chunk ids.

    wait: runs a read of the search, with a time limit. hidden: paths whose points are of no use to the search.
    is_whole: whether it is known that the project was copied.
    """

    project: QdrantProject
    chunk_ids: ChunkIds
    scope_paths: ScopePaths
    wait: Wait = operator.call
    hidden: Sequence[str] = ()
    is_whole: bool = False

    @property
    def frequencies(self) -> QdrantFrequencies:
        """The word counts of the project."""
        return QdrantFrequencies(self.project)

    def query(self, vector: list[float] | models.SparseVector, using: str, limit: int, scope: Scope) -> list[Ranked]:
        """Return the best points inside the scope, best first, without content that the search's index does not have.

        Raises ServerError when there are none because the project was never replicated.
        """
        hidden = [models.Filter(must_not=[any_of("path", self.hidden[:MOST_HIDDEN])])] if self.hidden else []
        wanted, asked = self.project.filter(*in_scope(scope, self.scope_paths), *hidden), limit
        while True:
            points = self.project.query(vector, using, wanted, asked, POINT_FIELDS)
            if not points and not self.is_whole:
                self.frequencies.check()
            rows = [(point, row) for point in points if (row := read(point.payload, PointRow))]
            ids = self.chunk_ids.ids([point_of(str(point.id), row) for point, row in rows])
            found = zip(ids, (point.score for point, _ in rows), strict=True)
            hits = [Ranked(known, score) for known, score in found if known is not None]
            if len(hits) >= limit or len(points) < asked or asked >= MOST_QUERIED:
                return hits[:limit]
            asked *= 4  # The others are of files that are not here any more.

    def read(self, keys: Iterable[str], **wanted: Any) -> dict[str, models.Record]:
        """Return these points by their keys, none while the server fails; wanted: see `QdrantProject.retrieve`."""
        named = list(keys)
        try:
            records = self.wait(lambda: self.project.retrieve(named, **wanted)) if named else []
        except ServerError:
            return {}
        return {str(record.id): record for record in records}


class QdrantVectorIndex:
    """The vector index on a server."""

    remote = True

    def __init__(self, points: QdrantPoints, verify: Callable[[], None] = lambda: None) -> None:
        """verify: raises ServerError when the vectors on the server are of another model."""
        self._points = points
        self._verify = verify

    def search(self, vector: Matrix, limit: int, scope: Scope) -> list[Ranked]:
        self._verify()
        return self._points.query(vector.tolist(), DENSE, limit, scope)

    def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        keys = self._points.chunk_ids.keys(chunk_ids)
        if not keys:
            return {}
        wanted = models.Filter(must=[models.HasIdCondition(has_id=list(keys.values()))])
        points = self._points.project.query(vector.tolist(), DENSE, wanted, len(keys))
        chunk_of = {key: chunk_id for chunk_id, key in keys.items()}
        return {chunk_of[str(point.id)]: point.score for point in points if str(point.id) in chunk_of}

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Matrix]:
        """Return the vectors of those chunks that have one; none while the server fails."""
        keys = self._points.chunk_ids.keys(chunk_ids)
        records = self._points.read(keys.values(), with_payload=False, with_vectors=[DENSE])
        vectors = {
            key: record.vector[DENSE]
            for key, record in records.items()
            if isinstance(record.vector, dict) and DENSE in record.vector
        }
        return {
            chunk_id: np.asarray(vectors[key], dtype=np.float32) for chunk_id, key in keys.items() if key in vectors
        }


class QdrantKeywordIndex:
    """The keyword index on a server: any of the terms may match (see `bm25` for the formula)."""

    remote = True

    def __init__(self, points: QdrantPoints, frequencies: Callable[[Sequence[str]], Frequencies] | None = None) -> None:
        """frequencies: of terms in the project, those on the server by default."""
        self._points = points
        self._frequencies = frequencies or points.frequencies.read

    def chosen(self, terms: Sequence[str]) -> Frequencies:
        """Return the terms by which a search ranks, with the number of chunks that have each."""
        return discriminative_terms(self._frequencies(terms) if terms else Frequencies({}, 0))

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        chosen = self.chosen(terms)
        return self._points.query(query_vector(chosen), KEYWORDS, limit, scope) if chosen.of_terms else []

    def frequencies(self, terms: Sequence[str]) -> None:
        """Return None: it would take another request, and the search would wait for it."""


class OverlaidVectors:
    """Both vector indexes; cosines of either can be compared."""

    remote = True

    def __init__(self, server: VectorIndex, own: VectorIndex) -> None:
        self._server, self._own = server, own

    def search(self, vector: Matrix, limit: int, scope: Scope) -> list[Ranked]:
        return _best([*self._server.search(vector, limit, scope), *self._own.search(vector, limit, scope)], limit)

    def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        own = self._own.similarities(vector, chunk_ids)
        return {**own, **self._server.similarities(vector, [number for number in chunk_ids if number not in own])}

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Matrix]:
        own = self._own.vectors(chunk_ids)
        return {**own, **self._server.vectors([number for number in chunk_ids if number not in own])}


class OverlaidKeywords:
    """Both keyword indexes. The best chunks of the local one are scored again, by the formula of the server."""

    remote = True

    def __init__(self, server: QdrantKeywordIndex, own: SqliteKeywordIndex, mean: float) -> None:
        """mean: length of the chunks; see `bm25`."""
        self._server, self._own, self._mean = server, own, mean
        self.frequencies: Callable[[Sequence[str]], Frequencies | None] = own.frequencies

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        query = query_vector(self._server.chosen(terms))
        words = self._own.words([hit.chunk_id for hit in self._own.search(terms, limit, scope)])
        weight_of = dict(zip(query.indices, query.values, strict=True))
        own: list[Ranked] = []
        for chunk_id, fields in words.items():
            vector = document_vector(fields, self._mean)
            pairs = zip(vector.indices, vector.values, strict=True)
            own.append(Ranked(chunk_id, sum(value * weight_of.get(index, 0.0) for index, value in pairs)))
        return _best([*self._server.search(terms, limit, scope), *own], limit)


def _best(hits: list[Ranked], limit: int) -> list[Ranked]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]
