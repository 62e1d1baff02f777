"""A Qdrant that is killed in the middle of a copy or of a search; needs a server of its own (`make test-qdrant`)."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.index import replicator
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores import breaker
from tests.servers.conftest import PACKAGE, QUERIES
from tests.servers.connections import QDRANT_BINARY
from tests.servers.qdrant_server import QdrantServer
from tests.waiting import wait_until

pytestmark = [pytest.mark.server, pytest.mark.skipif(not QDRANT_BINARY, reason="no Qdrant that may be killed")]
PATIENCE_SECONDS = 60.0


@pytest.fixture
def _in_memory() -> None:
    """These tests connect to a real server."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[QdrantServer]:
    """A server with its own data."""
    (tmp_path / "qdrant").mkdir()
    with QdrantServer(Path(QDRANT_BINARY), tmp_path / "qdrant") as server:
        yield server


@pytest.fixture
def app(tmp_path: Path, server: QdrantServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """The package's own sources, indexed and not copied yet; copies are made in small batches."""
    monkeypatch.setattr(replicator, "BATCH_CHUNKS", 50)
    monkeypatch.setattr(breaker, "COOLDOWN_SECONDS", 0.1)
    root = tmp_path / "project"
    shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("model", "__pycache__"))
    environ = {
        "GRAPHRAG_DATA_DIR": str(tmp_path / "data"),
        "GRAPHRAG_QDRANT_URL": server.url,
        "GRAPHRAG_QDRANT_API_KEY": server.key,
        "GRAPHRAG_PROJECT_ID": "killed",
    }
    with closing(App(root, load_settings(root, environ))) as app:
        app.index()
        yield app


def _top(app: App | RemoteApp, query: str) -> list[tuple[str, int]]:
    return [(hit.chunk.path, hit.chunk.start_line) for hit in app.search(SearchRequest(query)).primary]


def test_a_copy_that_is_killed_loses_nothing(app: App, server: QdrantServer) -> None:
    """The sync says so, searches are those of the local index meanwhile and afterwards, and the rest follows."""
    wanted = {query: _top(app, query) for query in QUERIES}
    assert all(wanted.values())
    (report,) = app.sync(progress=lambda _name, done, _total: server.kill() if done else None)
    assert report.problem.startswith("Qdrant cannot be reached")
    missing = app.search(SearchRequest(QUERIES[0])).meta.unavailable
    assert set(missing) == {"keyword", "vector"}
    assert all(why.endswith("answered from the local index") for why in missing.values())
    assert {query: _top(app, query) for query in QUERIES} == wanted
    server.start()
    wait_until(lambda: not app.search(SearchRequest("fuse")).meta.unavailable, PATIENCE_SECONDS)
    assert {query: _top(app, query) for query in QUERIES} == wanted
    (report,) = app.sync()
    assert report.problem == ""
    (report,) = app.sync(verify=True)
    assert (report.missing, report.outdated, report.foreign, report.written) == (0, 0, 0, 0)
    assert {query: _top(app, query) for query in QUERIES} == wanted


def test_a_search_whose_server_is_killed_is_answered(app: App, server: QdrantServer) -> None:
    """Each search has its answer, whenever the server dies; when it is back, it answers again."""
    (report,) = app.sync()
    assert report.problem == ""
    wanted = {query: _top(app, query) for query in QUERIES}
    killer = threading.Timer(0.05, server.kill)
    killer.start()
    for query in QUERIES * 3:
        assert _top(app, query) == wanted[query]
    killer.join()
    assert "cannot be reached" in app.search(SearchRequest(QUERIES[0])).meta.unavailable["vector"]
    server.start()
    wait_until(lambda: not app.search(SearchRequest("fuse")).meta.unavailable, PATIENCE_SECONDS)
    with closing(RemoteApp(app.root, app.settings)) as remote:
        assert all(_top(remote, query) for query in QUERIES)
