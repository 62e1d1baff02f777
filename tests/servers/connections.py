"""The servers that tests run against: a Neo4j that they start themselves, a Qdrant in memory or at a given address."""

import os
from collections.abc import Iterator
from functools import cache

import pytest
from neo4j import Driver, GraphDatabase
from qdrant_client import QdrantClient

from tests.servers.neo4j_server import Neo4jServer, why_not_available

# Taken out of the environment, which holds settings of the program.
QDRANT_URL = os.environ.pop("GRAPHRAG_TEST_QDRANT_URL", "")
QDRANT_API_KEY = os.environ.pop("GRAPHRAG_TEST_QDRANT_API_KEY", "")
REQUIRED = bool(os.environ.get("REQUIRE_SERVERS"))


def open_qdrant() -> QdrantClient:
    """Return the server that GRAPHRAG_TEST_QDRANT_URL names, else a client that keeps everything in memory."""
    return _given_qdrant() if QDRANT_URL else QdrantClient(":memory:")


@cache
def _given_qdrant() -> QdrantClient:
    return QdrantClient(url=QDRANT_URL, api_key=QDRANT_API_KEY or None)


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
    """Return a driver for the whole test session."""
    return GraphDatabase.driver(server.uri, auth=("neo4j", server.password))


class SharedClient:
    """A client that others use too, so closing it does nothing."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    def close(self) -> None:
        """Keep it open."""
