"""The backends that have to obey the contracts; a new backend adds one opener here and passes every test beside it."""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec import Struct
from msgspec.structs import replace
from neo4j import Driver
from qdrant_client import QdrantClient

from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.index.linking import LinkStage
from graphrag_mcp.index.replicator import synchronise
from graphrag_mcp.index.stores import IndexStores
from graphrag_mcp.index.workers import SearchYield
from graphrag_mcp.model.files import (
    NO_FACTS,
    ArchiveClass,
    Category,
    Chunk,
    DocumentFacts,
    ParsedFile,
    ParseMode,
    Relation,
    Symbol,
)
from graphrag_mcp.parsing.code.imports import module_keys
from graphrag_mcp.ports import ChunkStore, GraphStore, KeywordIndex, Matrix, ScopePaths, VectorIndex
from graphrag_mcp.settings import ServerSettings
from graphrag_mcp.stores.neo4j.graph import Neo4jGraphStore
from graphrag_mcp.stores.neo4j.replica import Neo4jReplica
from graphrag_mcp.stores.neo4j.schema import Neo4jProject
from graphrag_mcp.stores.qdrant.catalog import QdrantCatalog, QdrantScopePaths
from graphrag_mcp.stores.qdrant.indexes import QdrantKeywordIndex, QdrantPoints, QdrantVectorIndex
from graphrag_mcp.stores.qdrant.replica import QdrantReplica
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import ChunkIds, PointIds, Replica
from graphrag_mcp.stores.sqlite.catalog import SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from graphrag_mcp.stores.sqlite.replica import SqliteChunkIds, SqliteReplicaSource
from graphrag_mcp.stores.sqlite.rows import PackedFile, TreeEntry, pack_rows
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter, pack_vectors
from tests.servers.connections import open_qdrant

DIMENSIONS = 8
MODEL = "test"
COLLECTION = "contracts"


class Source(Struct, frozen=True):
    """A file to put into a backend: each chunk is ten lines long, with its words and its vector."""

    path: str
    words: Sequence[str]
    vectors: Sequence[Sequence[float]] = ()
    category: Category = Category.IMPLEMENTATION
    language: str = "python"
    archived: bool = False
    symbols: tuple[Symbol, ...] = ()
    relations: tuple[Relation, ...] = ()
    facts: DocumentFacts = NO_FACTS


class Backend(Struct, frozen=True):
    """One set of stores, and how to fill it. `place(chunk_id)` gives (path, ordinal), whatever ids the backend uses."""

    vectors: VectorIndex
    keywords: KeywordIndex
    graph: GraphStore
    catalog: ChunkStore
    write: Callable[[Sequence[Source]], None]
    delete: Callable[[Sequence[str]], None]

    def places(self, chunk_ids: Sequence[int]) -> list[tuple[str, int]]:
        """Return (path, ordinal of the chunk) for each id."""
        chunks = self.catalog.chunks(chunk_ids)
        return [(chunks[one].path, (chunks[one].start_line - 1) // 10) for one in chunk_ids]


@pytest.fixture(
    params=[
        "sqlite",
        "qdrant",
        pytest.param("neo4j", marks=pytest.mark.server),
        pytest.param("servers alone", marks=pytest.mark.server),
    ]
)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Every backend in turn, empty: the embedded one, each server beside it, and servers without any local index."""
    local = _Local(tmp_path)
    if request.param == "sqlite":
        yield local.backend()
    else:
        neo4j: Driver | None = request.getfixturevalue("neo4j_driver") if request.param != "qdrant" else None
        qdrant = open_qdrant() if request.param != "neo4j" else None
        yield _on_servers(local, qdrant, neo4j, alone=request.param == "servers alone")
    local.database.close()


class _Local:
    """The embedded stores, which are what every server's rows are copied from."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "index.sqlite")
        self.scopes = ScopeResolver(self.database, compile_globs)
        self.writer = SqliteIndexWriter(self.database)
        self._model_id = self.writer.model_id(MODEL, DIMENSIONS)
        self.vectors = SqliteVectorIndex(self.database, self.scopes, MODEL, DIMENSIONS)
        self.keywords = SqliteKeywordIndex(self.database, self.scopes)
        self.catalog = SqliteCatalog(self.database, self.scopes)
        self.stores = IndexStores(self.database)
        self.graph = self.stores.stores(None, "").graph

    def write(self, sources: Sequence[Source]) -> None:
        self.writer.write([(file_rows(source), packed_vectors(source)) for source in sources], self._model_id)
        self._link()

    def delete(self, paths: Sequence[str]) -> None:
        self.writer.delete(paths)
        self._link()

    def _link(self) -> None:
        LinkStage(self.database, 1, SearchYield(None)).run()

    def backend(self) -> Backend:
        return Backend(self.vectors, self.keywords, self.graph, self.catalog, self.write, self.delete)


def _on_servers(local: _Local, qdrant: QdrantClient | None, neo4j: Driver | None, *, alone: bool) -> Backend:
    project = f"test-{uuid.uuid4()}"
    source = SqliteReplicaSource(local.database, project, MODEL)
    relations = local.stores.tree_relations(source, project, 1)
    ids: ChunkIds = PointIds() if alone else SqliteChunkIds(local.database, project)
    archived: ScopePaths = local.scopes
    backend = local.backend()
    copies: list[Replica] = []
    if qdrant is not None:
        there = QdrantProject(qdrant, COLLECTION, project)
        if alone:
            archived = QdrantScopePaths(there, compile_globs)
        points = QdrantPoints(there, ids, archived)
        copies.append(QdrantReplica(there, "qdrant", MODEL, DIMENSIONS, source.mean_length, ServerSettings()))
        catalog: ChunkStore = QdrantCatalog(points) if alone else local.catalog
        backend = replace(
            backend, vectors=QdrantVectorIndex(points), keywords=QdrantKeywordIndex(points), catalog=catalog
        )
    if neo4j is not None:
        in_graph = Neo4jProject(neo4j, "", project)
        copies.append(Neo4jReplica(in_graph, "neo4j"))
        backend = replace(backend, graph=Neo4jGraphStore(in_graph, ids, backend.catalog))

    def copy() -> None:
        for one in copies:
            assert synchronise(source, relations, one).problem == ""

    def write(sources: Sequence[Source]) -> None:
        local.write(sources)
        copy()

    def delete(paths: Sequence[str]) -> None:
        local.delete(paths)
        copy()

    copy()
    return replace(backend, write=write, delete=delete)


def file_rows(source: Source) -> PackedFile:
    """Return the rows of a source, as indexing would prepare them."""
    chunks = tuple(
        Chunk(start_line=10 * number + 1, end_line=10 * number + 10, text=words, kind="function")
        for number, words in enumerate(source.words)
    )
    stem = source.path.rsplit("/", 1)[-1].split(".")[0]
    return pack_rows(
        parsed=ParsedFile(
            source.path,
            source.language,
            source.category,
            ParseMode.SYNTAX,
            chunks,
            source.symbols,
            source.relations,
            source.facts,
        ),
        entry=TreeEntry(
            path=source.path,
            content_hash=hashlib.sha256(repr(source).encode()).digest(),
            recipe="recipe",
            size=1,
            changed_ns=1,
            archive=ArchiveClass("in archive/", 0.5) if source.archived else None,
            modified_at=1_700_000_000.0,
        ),
        path_words={stem: 1.0},
        module_keys=module_keys(source.path),
        keywords=[("", stem, "", "", "", chunk.text) for chunk in chunks],
        text_hashes=[f"{source.path}{chunk.text}".encode()[:16] for chunk in chunks],
    )


def packed_vectors(source: Source) -> list[bytes]:
    """Return a unit vector for each chunk: the given ones, the first axis where none is given."""
    given = [*source.vectors, *([[1.0]] * (len(source.words) - len(source.vectors)))]
    return pack_vectors(np.stack([unit(*values) for values in given])) if given else []


def unit(*values: float) -> Matrix:
    """Return a unit vector that begins with these values."""
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)
