"""A search over real stores, with vectors that the test chooses and a record of what each store was asked."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct, field

from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.index.linking import LinkStage
from graphrag_mcp.index.stores import IndexStores
from graphrag_mcp.index.workers import SearchYield
from graphrag_mcp.model.files import Category, DocumentStatus, Symbol
from graphrag_mcp.model.reports import IndexPhase, IndexState
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies, Ranked, SearchRequest, SearchResult, StoredChunk, StoredFile
from graphrag_mcp.ports import Matrix, ScopePaths
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.settings import RankingPart, RetrievalSettings
from graphrag_mcp.stores.sqlite.catalog import SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter
from tests.contracts.conftest import DIMENSIONS, Source, file_rows, packed_vectors, unit

MODEL = "test"

# Nothing is dropped as a duplicate: the texts of these tests are alike.
DUPLICATES = (RankingPart.SAME_TEXT, RankingPart.NEAR_COPIES, RankingPart.EQUAL_VECTORS)
NO_DEDUP = RetrievalSettings(switched_off=DUPLICATES)


class AxisEmbedder:
    """Embeds every text as the first axis."""

    fingerprint = MODEL
    dimensions = DIMENSIONS

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return np.stack([unit(1.0)] * len(texts))

    def embed_query(self, text: str) -> Matrix:
        return unit(1.0)


class RecordingVectors(Struct):
    """A vector index that remembers how many candidates it was asked for, and what it answered."""

    remote = False

    inner: SqliteVectorIndex
    limits: list[int] = field(default_factory=list)
    answers: list[list[Ranked]] = field(default_factory=list)

    def search(self, vector: Matrix, limit: int, scope: Scope) -> list[Ranked]:
        self.limits.append(limit)
        self.answers.append(self.inner.search(vector, limit, scope))
        return self.answers[-1]

    def similarities(self, vector: Matrix, chunk_ids: Sequence[int]) -> Mapping[int, float]:
        return self.inner.similarities(vector, chunk_ids)

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Matrix]:
        return self.inner.vectors(chunk_ids)


class RecordingKeywords(Struct):
    """A keyword index that remembers how many candidates it was asked for, and what it answered."""

    remote = False

    inner: SqliteKeywordIndex
    limits: list[int] = field(default_factory=list)
    answers: list[list[Ranked]] = field(default_factory=list)

    def search(self, terms: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        self.limits.append(limit)
        self.answers.append(self.inner.search(terms, limit, scope))
        return self.answers[-1]

    def frequencies(self, terms: Sequence[str]) -> Frequencies:
        return self.inner.frequencies(terms)


class RecordingCatalog(Struct):
    """A catalog that counts how often the files of candidates are looked up."""

    remote = False

    inner: SqliteCatalog
    file_lookups: int = 0

    def chunks(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        return self.inner.chunks(chunk_ids)

    def files(self, chunk_ids: Sequence[int]) -> Mapping[int, StoredFile]:
        self.file_lookups += 1
        return self.inner.files(chunk_ids)

    def definitions(self, file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        return self.inner.definitions(file_ids)

    def documents(self, status: DocumentStatus, limit: int, scope: Scope) -> list[int]:
        return self.inner.documents(status, limit, scope)

    def languages(self) -> Collection[str]:
        return self.inner.languages()

    @property
    def scope_paths(self) -> ScopePaths:
        return self.inner.scope_paths

    def paths(self, scope: Scope) -> list[tuple[str, Category]]:
        return self.inner.paths(scope)

    def find_paths(self, words: Sequence[str], limit: int, scope: Scope) -> list[Ranked]:
        return self.inner.find_paths(words, limit, scope)


class Bench:
    """Stores filled with some sources, and the search over them."""

    def __init__(self, folder: Path, sources: Sequence[Source]) -> None:
        self._database = Database(folder / "index.sqlite")
        scopes = ScopeResolver(self._database, compile_globs)
        writer = SqliteIndexWriter(self._database)
        rows = [(file_rows(source), packed_vectors(source)) for source in sources]
        writer.write(rows, writer.model_id(MODEL, DIMENSIONS))
        self.vectors = RecordingVectors(SqliteVectorIndex(self._database, scopes, MODEL, DIMENSIONS))
        self.keywords = RecordingKeywords(SqliteKeywordIndex(self._database, scopes))
        self.catalog = RecordingCatalog(SqliteCatalog(self._database, scopes))
        LinkStage(self._database, 1, SearchYield(None)).run()
        graph = IndexStores(self._database).stores(None, "").graph
        self.stores = Stores(self.catalog, self.keywords, graph, self.vectors, AxisEmbedder())

    def search(self, request: SearchRequest, settings: RetrievalSettings = NO_DEDUP) -> SearchResult:
        """Answer one request, at a time when every source is old."""
        orchestrator = SearchOrchestrator(settings, clock=lambda: 1_800_000_000.0)
        try:
            return orchestrator.search(request, self.stores, IndexState(IndexPhase.READY))
        finally:
            orchestrator.close()

    def close(self) -> None:
        """Close the index file."""
        self._database.close()


def garnets(count: int) -> list[Source]:
    """Return files that both lists find, in the order of their numbers: less of the axis, more other words."""
    return [
        Source(f"src/file_{number:03}.py", ["garnet " + "straw " * number], [[1.0, 0.05 * number]])
        for number in range(count)
    ]


def paths(result: SearchResult) -> list[str]:
    """Return the paths of the hits, best first."""
    return [hit.chunk.path for hit in result.primary]
