"""Qdrant in strict mode: no search may filter by a field that has no payload index."""

import uuid
from collections.abc import Iterator, Mapping

import pytest
from qdrant_client import QdrantClient, models

from graphrag_mcp.errors import ServerError
from graphrag_mcp.model.files import DocumentStatus
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import ServerSettings
from graphrag_mcp.stores.qdrant.catalog import QdrantCatalog, QdrantScopePaths
from graphrag_mcp.stores.qdrant.connection import reaching
from graphrag_mcp.stores.qdrant.indexes import QdrantPoints
from graphrag_mcp.stores.qdrant.replica import QdrantReplica
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import PointIds
from tests.servers.connections import open_qdrant

DIMENSIONS = 8
OLDER_INDEXES: Mapping[str, models.PayloadFieldSchema] = {
    "project_id": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD),
    "ordinal": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER),
    "is_archived": models.BoolIndexParams(type=models.BoolIndexType.BOOL),
}


@pytest.fixture
def qdrant() -> QdrantClient:
    """The server of the tests."""
    return open_qdrant()


@pytest.fixture
def older(qdrant: QdrantClient) -> Iterator[str]:
    """A collection as an older version made it: fewer indexes, and words weighed by the whole collection."""
    name = f"older-{uuid.uuid4()}"
    qdrant.create_collection(
        name,
        vectors_config={"dense": models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)},
        sparse_vectors_config={"keywords": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        strict_mode_config=models.StrictModeConfig(
            enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
        ),
    )
    for field, schema in OLDER_INDEXES.items():
        qdrant.create_payload_index(name, field, schema, wait=True)
    yield name
    qdrant.delete_collection(name)


def _projection(client: QdrantClient, collection: str) -> QdrantReplica:
    project = QdrantProject(client, collection, "project")
    return QdrantReplica(project, "qdrant", "model", DIMENSIONS, lambda: 100.0, ServerSettings())


def _catalog(client: QdrantClient, collection: str) -> QdrantCatalog:
    project = QdrantProject(client, collection, "project")
    return QdrantCatalog(QdrantPoints(project, PointIds(), QdrantScopePaths(project, lambda _globs, _argument: bool)))


def test_a_field_without_an_index_is_refused_with_the_reason(qdrant: QdrantClient, older: str) -> None:
    """The message quotes the sentence of Qdrant, which names the field."""
    with pytest.raises(ServerError, match=r"Index required but not found for .*facts\.status"):
        _catalog(qdrant, older).documents(DocumentStatus.REJECTED, 5, Scope())


def test_a_collection_that_exists_gets_the_indexes_that_it_lacks(qdrant: QdrantClient, older: str) -> None:
    """After `sync`, every filter of a search is answered."""
    assert _projection(qdrant, older).prepare() is False
    catalog = _catalog(qdrant, older)
    scope = Scope(paths=("src",), languages=frozenset({"python"}), excluded_keys=frozenset({"a.py"}))
    assert catalog.documents(DocumentStatus.REJECTED, 5, scope) == []
    assert catalog.find_paths(["word"], 5, scope) == []


def test_a_collection_that_exists_stops_weighing_words_by_all_projects(qdrant: QdrantClient, older: str) -> None:
    """Each search weighs them by its own project."""
    _projection(qdrant, older).prepare()
    sparse = qdrant.get_collection(older).config.params.sparse_vectors
    assert sparse is not None
    assert sparse["keywords"].modifier in (None, models.Modifier.NONE)


def test_a_collection_with_another_distance_is_refused(qdrant: QdrantClient) -> None:
    """Its order would be another one."""
    name = f"euclid-{uuid.uuid4()}"
    with reaching():
        qdrant.create_collection(
            name, vectors_config={"dense": models.VectorParams(size=DIMENSIONS, distance=models.Distance.EUCLID)}
        )
    with pytest.raises(Exception, match=r"compared by Euclid.*GRAPHRAG_QDRANT_COLLECTION"):
        _projection(qdrant, name).prepare()
    qdrant.delete_collection(name)
