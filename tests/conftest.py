"""Fixtures of more than one folder."""

from collections.abc import Iterator

import pytest
from neo4j import Driver

from tests.servers.connections import driver_of, start_neo4j
from tests.servers.neo4j_server import Neo4jServer


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what tests/reliability asks: how long to run, and where to write what it gives."""
    parser.addoption("--soak", action="store_true", help="run the reliability tests at full length")
    parser.addoption("--figures", metavar="FILE", help="append their figures to a file, a line of JSON each")


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A real Neo4j, started once."""
    yield from start_neo4j(tmp_path_factory)


@pytest.fixture(scope="session")
def neo4j_driver(neo4j_server: Neo4jServer) -> Iterator[Driver]:
    """A driver connected to it."""
    with driver_of(neo4j_server) as driver:
        yield driver
