"""Projects on servers: a Neo4j and a Qdrant that all tests share."""

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from msgspec import Struct
from qdrant_client import QdrantClient

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.settings import load_settings
from tests.repositories import write_files
from tests.servers.connections import QDRANT_API_KEY, QDRANT_GRPC_PORT, QDRANT_URL, SharedClient, open_qdrant
from tests.servers.neo4j_server import Neo4jServer

PACKAGE = Path(__file__).parents[2] / "src" / "graphrag_mcp"
NOT_COPIED = (
    "model",
    "languages",
    "resolution",
    "cli",
    "serving",
)  # No query asks for them; copying them takes a minute.
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


class Place(Struct, frozen=True):
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


@pytest.fixture(scope="module")
def qdrant() -> QdrantClient:
    """One Qdrant for the projects of a file: in memory, each search looks at every point of every project."""
    return open_qdrant()


def search_in_memory(qdrant: QdrantClient, patch: pytest.MonkeyPatch) -> None:
    """Without a real Qdrant, let whatever address the settings name lead to the one in memory."""
    if QDRANT_URL:
        return
    shared = SharedClient(qdrant)
    patch.setattr("graphrag_mcp.stores.qdrant.connection.connect", lambda *_: shared)


@pytest.fixture(autouse=True)
def _in_memory(qdrant: QdrantClient, monkeypatch: pytest.MonkeyPatch) -> None:
    search_in_memory(qdrant, monkeypatch)


def place_in(
    folder: Path,
    neo4j: Neo4jServer,
    name: str = "project",
    files: Mapping[str, str] | None = None,
    project_id: str = "",
) -> Place:
    """Make a project in a folder: of the given files, else a copy of most of the package's sources."""
    root = folder / name
    if files is None:
        shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__", *NOT_COPIED))
    write_files(root, (files or {}))
    environ = {
        "GRAPHRAG_DATA_DIR": str(folder / "data"),
        "GRAPHRAG_QDRANT_URL": QDRANT_URL or "http://127.0.0.1:6333",
        "GRAPHRAG_QDRANT_API_KEY": QDRANT_API_KEY,
        "GRAPHRAG_NEO4J_URI": neo4j.uri,
        "GRAPHRAG_NEO4J_PASSWORD": neo4j.password,
        "GRAPHRAG_PROJECT_ID": project_id or f"{folder.name}-{name}",
        "GRAPHRAG_WORKERS": "1",
        # A Neo4j that has just begun plans each of its first queries for a second or two.
        "GRAPHRAG_SERVER_TIMEOUT_SECONDS": "30",
    }
    if QDRANT_GRPC_PORT:
        environ["GRAPHRAG_QDRANT_GRPC_PORT"] = str(QDRANT_GRPC_PORT)
    return Place(root, environ)


@pytest.fixture
def make_place(tmp_path: Path, neo4j_server: Neo4jServer) -> Callable[..., Place]:
    """Make projects in the folder of a test."""
    return partial(place_in, tmp_path, neo4j_server)
