"""A project on servers: its own sources, indexed once, copied to a Neo4j and a Qdrant."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.settings import load_settings
from tests.servers.connections import QDRANT_API_KEY, QDRANT_GRPC_PORT, QDRANT_URL, SharedClient, open_qdrant
from tests.servers.neo4j_server import Neo4jServer

PACKAGE = Path(__file__).parents[2] / "src" / "graphrag_mcp"
QUERIES = (
    "reciprocal rank fusion",
    "fuse_rrf",
    "where are ignore files read",
    "which files does a search hide",
    "RelatedCode.neighbours",
    "who calls open_or_replace",
    "split identifiers into words",
    "embedding model fingerprint",
    "recency boost for fresh files",
    "archive penalty",
    "watch the tree for edits",
    "parse front matter",
    "server lock takeover",
    "bm25 field weights",
    "validate tool arguments",
    "duplicate chunks n-grams",
    "commit times from git",
    "render results as text",
    "tree-sitter query captures",
    "settings from the environment",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a project's sources and index are, and the environment that names its servers."""

    root: Path
    environ: Mapping[str, str]

    def app(self, **changes: str) -> App:
        """Open the project; further settings as the environment would give them, "" to take one away."""
        return App(self.root, load_settings(self.root, self._environ(changes)))

    def remote(self, **changes: str) -> RemoteApp:
        """Open the servers alone."""
        return RemoteApp(self.root, load_settings(self.root, self._environ(changes)))

    def _environ(self, changes: Mapping[str, str]) -> dict[str, str]:
        named = {f"GRAPHRAG_{name.upper()}": value for name, value in changes.items()}
        return {name: value for name, value in {**self.environ, **named}.items() if value}


@pytest.fixture(scope="session")
def qdrant() -> QdrantClient:
    """One Qdrant for all projects of the tests."""
    return open_qdrant()


@pytest.fixture(autouse=True)
def _in_memory(qdrant: QdrantClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a real Qdrant, whatever address the settings name leads to the one in memory."""
    if QDRANT_URL:
        return
    shared = SharedClient(qdrant)
    monkeypatch.setattr("graphrag_mcp.stores.qdrant.connection.connect", lambda *_: shared)


@pytest.fixture
def make_place(tmp_path: Path, neo4j_server: Neo4jServer) -> Callable[..., Place]:
    """Make projects: a copy of the package's sources, or the given files."""

    def make(name: str = "project", files: Mapping[str, str] | None = None, project_id: str = "") -> Place:
        root = tmp_path / name
        if files is None:
            shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("model", "__pycache__"))
        for path, text in (files or {}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        environ = {
            "GRAPHRAG_DATA_DIR": str(tmp_path / "data"),
            "GRAPHRAG_QDRANT_URL": QDRANT_URL or "http://127.0.0.1:6333",
            "GRAPHRAG_QDRANT_API_KEY": QDRANT_API_KEY,
            "GRAPHRAG_NEO4J_URI": neo4j_server.uri,
            "GRAPHRAG_NEO4J_PASSWORD": neo4j_server.password,
            "GRAPHRAG_PROJECT_ID": project_id or f"{tmp_path.name}-{name}",
            "GRAPHRAG_WORKERS": "1",
            # A Neo4j that has just begun plans each of its first queries for a second or two.
            "GRAPHRAG_SERVER_TIMEOUT_SECONDS": "30",
        }
        if QDRANT_GRPC_PORT:
            environ["GRAPHRAG_QDRANT_GRPC_PORT"] = str(QDRANT_GRPC_PORT)
        return Place(root, environ)

    return make


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    """The package's own sources."""
    return make_place()


@pytest.fixture
def copied(place: Place) -> Iterator[App]:
    """The package's own sources, indexed and on both servers."""
    app = place.app()
    app.index()
    assert [report.problem for report in app.sync()] == ["", ""]
    yield app
    app.close()
