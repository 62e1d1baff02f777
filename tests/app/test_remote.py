"""A search that has no index of its own; Qdrant is in memory, or away."""

import json
import logging
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.app.session import WITHOUT_INDEX
from graphrag_mcp.errors import ServerError
from graphrag_mcp.index.backends import Servers
from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import ChunkMention, GraphNeighbour, SearchRequest, SearchResult, SymbolMatch
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.neo4j import graph
from graphrag_mcp.stores.qdrant import connection
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS
from tests.servers.connections import SharedClient, qdrant_in_memory
from tests.servers.faulty import FAULTS, faulty

ANSWER_SECONDS = 60.0  # A silent server costs a second and a half on a quiet machine; a hang never ends.
CONNECT = connection.connect
ENVIRONMENT = {"GRAPHRAG_QDRANT_URL": "http://127.0.0.1:6333", "GRAPHRAG_PROJECT_ID": "project"}


@pytest.fixture
def _copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file in a Qdrant in memory."""
    client = SharedClient(qdrant_in_memory())
    monkeypatch.setattr(connection, "connect", lambda *_: client)
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
            assert not result.meta.search_strategy.graph_expansion_enabled
    assert caplog.records == []


@pytest.mark.usefixtures("_copied")
def test_every_tool_that_is_listed_answers_from_the_servers(tmp_path: Path) -> None:
    """What the capabilities promise is kept, in text and in JSON."""
    settings = load_settings(tmp_path, ENVIRONMENT)
    tools = [tool for tool in TOOLS.values() if tool.needs in WITHOUT_INDEX]
    assert {tool.name for tool in tools} == {*SEARCH_TOOLS, "index_status"}
    with closing(RemoteApp(tmp_path, settings)) as app, app.view() as remote:
        for tool in tools:
            asked = {"query": "total"} if tool.name in SEARCH_TOOLS else {}
            call = tool.read(asked, settings, tmp_path)
            found = tool.ask(remote, call)
            assert ("orders.py" if asked else "Files: 1") in tool.text(found, call)
            assert json.dumps(tool.json(found, call))
        with pytest.raises(ServerError, match="set GRAPHRAG_NEO4J_URI"):
            TOOLS["find_symbol"].ask(remote, TOOLS["find_symbol"].read({"symbol": "total"}, settings, tmp_path))


@pytest.mark.parametrize("fault", FAULTS)
def test_without_qdrant_the_answer_is_empty_in_time_and_says_why(tmp_path: Path, fault: str) -> None:
    """Nothing is left to search: both lists are named, and a question is answered like a name."""
    with faulty(fault) as url:
        settings = load_settings(tmp_path, {**ENVIRONMENT, "GRAPHRAG_QDRANT_URL": url})
        with closing(RemoteApp(tmp_path, settings)) as remote:
            for query in ("who calls total", "Order.total"):
                result = _search(remote, query)
                assert result.primary == ()
                assert {"keyword", "vector"} <= set(result.meta.unavailable)


@pytest.mark.usefixtures("_copied")
@pytest.mark.parametrize("fault", FAULTS)
def test_what_the_graph_alone_finds_cannot_be_read_without_qdrant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """The texts are on Qdrant too: the search does not fail for that, nor wait any longer, and says so."""

    class Graph:
        remote = True

        def find_symbols(self, names: Sequence[str], scope: Scope, limit: int) -> list[SymbolMatch]:
            return [SymbolMatch(1, "orders.py", Symbol("total", "total", SymbolKind.FUNCTION, 1, 2))]

        def mentions(self, chunk_ids: Sequence[int], scope: Scope) -> list[ChunkMention]:
            return []

        def neighbours(self, *_: object) -> list[GraphNeighbour]:
            return []

    monkeypatch.setattr(connection, "connect", CONNECT)
    monkeypatch.setattr(graph, "Neo4jGraphStore", lambda *_: Graph())
    with faulty(fault) as url:
        changes = {"GRAPHRAG_QDRANT_URL": url, "GRAPHRAG_NEO4J_URI": "bolt://127.0.0.1:9"}
        with closing(RemoteApp(tmp_path, load_settings(tmp_path, {**ENVIRONMENT, **changes}))) as remote:
            result = _search(remote, "total")
            assert result.primary == ()
            assert {"keyword", "vector", "catalog"} <= set(result.meta.unavailable)


def test_the_status_says_that_qdrant_is_away(tmp_path: Path) -> None:
    """Nothing is known of the index then, and that is said."""
    with faulty("refuses") as url:
        settings = load_settings(tmp_path, {**ENVIRONMENT, "GRAPHRAG_QDRANT_URL": url})
        with closing(RemoteApp(tmp_path, settings)) as remote:
            status = remote.status()
            assert (status.state.state, status.files) == ("failed", 0)
            assert "GRAPHRAG_QDRANT_URL" in status.state.message


@pytest.mark.usefixtures("_copied")
def test_vectors_of_another_model_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances between two models' vectors mean nothing; the words still do."""
    monkeypatch.setattr(Servers, "model", lambda _: "another model")
    with closing(RemoteApp(tmp_path, load_settings(tmp_path, ENVIRONMENT))) as remote:
        for _ in range(2):
            result = _search(remote, "total")
            assert [hit.chunk.path for hit in result.primary] == ["orders.py"]
            assert "GRAPHRAG_EMBEDDING_MODEL" in result.meta.unavailable["vector"]
        assert "GRAPHRAG_EMBEDDING_MODEL" in remote.status().warnings[0]


def _search(remote: RemoteApp, query: str) -> SearchResult:
    """Search, and insist on an answer in time."""
    remote._load_model()  # Which the first search of a process waits for.
    started = time.monotonic()
    result = remote.search(SearchRequest(query))
    assert time.monotonic() - started < ANSWER_SECONDS
    return result
