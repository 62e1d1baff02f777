"""Searches a server for the files that it holds as they are here, and the local index for all others, as one list."""

from collections.abc import Callable, Mapping, Sequence

from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, Ranked
from graphrag_mcp.ports import Matrix, VectorIndex
from graphrag_mcp.stores.qdrant.bm25 import document_vector, query_vector
from graphrag_mcp.stores.qdrant.indexes import QdrantKeywordIndex
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex


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
