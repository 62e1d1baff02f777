"""The servers that tests run against: a Neo4j that they start themselves, a Qdrant in memory or at a given address."""

import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import pytest
from httpx import Headers
from neo4j import Driver, GraphDatabase
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from graphrag_mcp.stores.qdrant.connection import connect
from tests.servers.neo4j_server import Neo4jServer, why_not_available

# Taken out of the environment, which holds settings of the program.
QDRANT_URL = os.environ.pop("GRAPHRAG_TEST_QDRANT_URL", "")
QDRANT_API_KEY = os.environ.pop("GRAPHRAG_TEST_QDRANT_API_KEY", "")
QDRANT_KEY_TO_READ = os.environ.pop("GRAPHRAG_TEST_QDRANT_KEY_TO_READ", "")
QDRANT_BINARY = os.environ.pop("GRAPHRAG_TEST_QDRANT_BINARY", "")
QDRANT_GRPC_PORT = int(os.environ.pop("GRAPHRAG_TEST_QDRANT_GRPC_PORT", "0"))
RETRY_SECONDS = 120.0
REQUIRED = bool(os.environ.get("REQUIRE_SERVERS"))


def open_qdrant() -> QdrantClient:
    """Return the server that GRAPHRAG_TEST_QDRANT_URL names, else a client that keeps everything in memory."""
    return _given_qdrant() if QDRANT_URL else qdrant_in_memory()


def qdrant_in_memory() -> QdrantClient:
    """Return a client that keeps everything in memory, and may be used from several threads."""
    return cast(QdrantClient, StrictQdrant(QdrantClient(":memory:")))


@cache
def _given_qdrant() -> QdrantClient:
    return connect(QDRANT_URL, QDRANT_API_KEY, QDRANT_GRPC_PORT, 60)


def start_neo4j(factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """Run a server of the tests' own; skip with the reason where that cannot be, fail where it has to be."""
    reason = why_not_available()
    if reason:
        if REQUIRED:
            pytest.fail(reason)
        else:
            pytest.skip(reason)
    with Neo4jServer(factory.mktemp("neo4j"), "correct horse") as server:
        yield server


def driver_of(server: Neo4jServer) -> Driver:
    """Return a driver for the whole test session; tests that write at once wait long on a busy machine."""
    return GraphDatabase.driver(server.uri, auth=("neo4j", server.password), max_transaction_retry_time=RETRY_SECONDS)


class SharedClient:
    """A client that others use too, so closing it does nothing."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    def close(self) -> None:
        """Keep it open."""


class StrictQdrant:
    """Qdrant in memory that remembers payload indexes, and in strict mode refuses filters on fields without one."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client
        self._one_at_a_time = threading.RLock()  # In memory, a search beside a write may break.
        self._strict: set[str] = set()
        self._indexes: dict[str, dict[str, Any]] = defaultdict(dict)

    def __getattr__(self, name: str) -> object:
        method = getattr(self._client, name)

        def call(collection: str = "", *arguments: Any, **named: Any) -> object:
            if collection and name != "collection_exists" and not self._client.collection_exists(collection):
                raise _refusal(404, "Not Found", f"Collection `{collection}` doesn't exist!")
            if collection in self._strict:
                for argument in (*arguments, *named.values()):
                    self._refuse_unindexed(collection, argument)
            with self._one_at_a_time:
                return method(*((collection,) if collection else ()), *arguments, **named)

        return call if callable(method) else method

    def create_collection(self, collection: str, **named: Any) -> object:
        """Create it, and remember whether it is strict."""
        mode: models.StrictModeConfig | None = named.get("strict_mode_config")
        if mode is not None and mode.enabled and mode.unindexed_filtering_retrieve is False:
            self._strict.add(collection)
        with self._one_at_a_time:
            return self._client.create_collection(collection, **named)

    def delete_collection(self, collection: str) -> object:
        """Delete it with its indexes."""
        self._strict.discard(collection)
        self._indexes.pop(collection, None)
        with self._one_at_a_time:
            return self._client.delete_collection(collection)

    def create_payload_index(self, collection: str, field: str, schema: Any, **_: Any) -> None:
        """Remember the index: nothing is faster for it."""
        self._indexes[collection][field] = models.PayloadIndexInfo(data_type=schema.type.value, points=0)

    def get_collection(self, collection: str) -> models.CollectionInfo:
        """Return what there is of it, its indexes too."""
        with self._one_at_a_time:
            found = self._client.get_collection(collection)
        return found.model_copy(update={"payload_schema": dict(self._indexes[collection])})

    def _refuse_unindexed(self, collection: str, argument: object) -> None:
        for condition in _conditions(argument):
            wanted, held = _index_of(condition), self._indexes[collection].get(condition.key)
            if held is None or held.data_type.value != wanted:
                said = f'Index required but not found for "{condition.key}" of one of the following types: [{wanted}]'
                raise _refusal(400, "Bad Request", said)


def _refusal(status: int, reason: str, said: str) -> UnexpectedResponse:
    """Return what the client raises when a server refuses a request."""
    body = json.dumps({"status": {"error": f"{reason.capitalize()}: {said}"}}).encode()
    return UnexpectedResponse(status, reason, body, Headers())


def _conditions(one: object) -> Iterator[models.FieldCondition]:
    """Yield the conditions on fields in a filter, in whatever it is nested."""
    if isinstance(one, models.FieldCondition):
        yield one
    elif isinstance(one, (models.Filter, models.FilterSelector)):
        for part in one.model_fields_set:
            yield from _conditions(getattr(one, part))
    elif isinstance(one, list):
        for part in one:
            yield from _conditions(part)


def _index_of(condition: models.FieldCondition) -> str:
    """Return the kind of index that a condition needs."""
    match = condition.match
    value = match.value if isinstance(match, models.MatchValue) else getattr(match, "any", [None])[0]
    return {bool: "bool", int: "integer", str: "keyword"}.get(type(value), "float")
