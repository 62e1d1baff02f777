"""A search that has no index of its own; Qdrant is in memory, or away."""

import logging
from contextlib import closing
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from graphrag_mcp.app import App
from graphrag_mcp.model import SearchRequest
from graphrag_mcp.remote import RemoteApp
from graphrag_mcp.settings import load_settings
from tests.servers.connections import SharedClient

ENVIRONMENT = {"GRAPHRAG_QDRANT_URL": "http://127.0.0.1:6333", "GRAPHRAG_PROJECT_ID": "project"}


@pytest.fixture
def _copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file in a Qdrant in memory."""
    client = SharedClient(QdrantClient(":memory:"))
    monkeypatch.setattr("graphrag_mcp.stores.qdrant.connection.connect", lambda *_: client)
    root = tmp_path / "project"
    root.mkdir()
    (root / "orders.py").write_text("def total(order):\n    return sum(order)\n")
    environment = {**ENVIRONMENT, "GRAPHRAG_DATA_DIR": str(tmp_path / "data")}
    with closing(App(root, load_settings(root, environment))) as app:
        app.index()
        assert [report.problem for report in app.sync()] == [""]


@pytest.mark.usefixtures("_copied")
def test_without_a_graph_every_search_says_what_to_set_and_none_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A graph that nobody has set up is no failure: it is named, and the log stays empty."""
    with closing(RemoteApp(tmp_path, load_settings(tmp_path, ENVIRONMENT))) as remote, caplog.at_level(logging.WARNING):
        for query in ("total", "who calls total", "the sum of an order"):
            result = remote.search(SearchRequest(query))
            assert [hit.chunk.path for hit in result.primary] == ["orders.py"]
            assert result.meta.unavailable == {"graph": "no graph without a local index; set GRAPHRAG_NEO4J_URI"}
            assert not result.meta.strategy.graph_expansion_enabled
    assert caplog.records == []
