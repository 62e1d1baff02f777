"""Fixtures and options of more than one folder."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from graphrag_mcp.embedding import models
from graphrag_mcp.embedding.static import PACKAGE_MODEL
from graphrag_mcp.system.process import collect_rarely
from tests.golden.golden import Golden

if TYPE_CHECKING:
    from neo4j import Driver

    from tests.servers.neo4j_server import Neo4jServer


MEMORY = Path("/dev/shm")  # A file system in memory, on Linux.
MEMORY_BYTES = 4_000_000_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of tests/reliability: how long to run, and where to write the figures."""
    parser.addoption("--soak", action="store_true", help="run the reliability tests at full length")
    parser.addoption("--figures", metavar="FILE", help="append their figures to a file, a line of JSON each")


def pytest_configure() -> None:
    """Keep temporary folders in memory where there is room: the tests make a thousand indexes, none of which lasts."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    gc.disable()  # Until `pytest_collection_finish`.


def pytest_collection_finish() -> None:
    """Collect garbage as the program does: each pass over all tests and modules would take a quarter of a second."""
    collect_rarely()


@pytest.fixture(scope="session", autouse=True)
def one_copy_of_the_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each index that a test makes keeps the package's model, as links to one copy: it has four megabytes."""
    copy = shutil.copytree(PACKAGE_MODEL, tmp_path_factory.mktemp("kept") / "model")

    def link(source: Path, target: Path) -> None:
        if source.parent == PACKAGE_MODEL:
            os.link(copy / source.name, target)
        else:
            shutil.copyfile(source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "shutil", SimpleNamespace(copyfile=link, rmtree=shutil.rmtree))
        yield


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a process of its own, which keeps its indexes in a temporary folder."""
    return {**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WORKERS": "1"}


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Golden]:
    """The golden corpus, indexed once; tests only read it."""
    golden = Golden(tmp_path_factory.mktemp("golden"))
    yield golden
    golden.close()


# Importing a server's library takes a second, so only the tests that use one import it.


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Neo4jServer]":
    """A real Neo4j, started once."""
    from tests.servers.connections import start_neo4j

    yield from start_neo4j(tmp_path_factory)


@pytest.fixture(scope="session")
def neo4j_driver(neo4j_server: "Neo4jServer") -> "Iterator[Driver]":
    """A driver connected to it."""
    from tests.servers.connections import driver_of

    with driver_of(neo4j_server) as driver:
        yield driver
