"""The parts of the servers' side that need no server."""

import json
import math
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    ServiceUnavailable,
    SessionExpired,
)
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.errors import IndexStoreError, ServerError, SettingsError
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.index.backends import Servers, project_name
from graphrag_mcp.model.files import RelationKind
from graphrag_mcp.model.graph import CodeEdge, CodeNode
from graphrag_mcp.model.paths import folders
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.search.retrieval import Retriever
from graphrag_mcp.settings import ServerSettings, Settings, load_settings
from graphrag_mcp.stores import breaker
from graphrag_mcp.stores.neo4j import connection as neo4j_connection
from graphrag_mcp.stores.neo4j.graph import Neo4jGraphStore
from graphrag_mcp.stores.neo4j.schema import Neo4jProject
from graphrag_mcp.stores.qdrant import connection
from graphrag_mcp.stores.qdrant.bm25 import K1, B, document_vector, query_vector, term_index
from graphrag_mcp.stores.qdrant.catalog import QdrantCatalog
from graphrag_mcp.stores.qdrant.indexes import QdrantKeywordIndex, QdrantPoints, QdrantVectorIndex
from graphrag_mcp.stores.qdrant.schema import QdrantProject
from graphrag_mcp.stores.replica import PointIds, file_version, point_key
from graphrag_mcp.system.git import origin
from graphrag_mcp.system.threads import DaemonThreads
from tests.repositories import write_files
from tests.servers.faulty import faulty

URL = "http://127.0.0.1:6333"


@pytest.mark.requirement("K-25")
@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/team/tool.git", "example.org/team/tool"),
        ("git@Example.org:team/tool.git", "example.org/team/tool"),
        ("ssh://git@example.org:2222/team/tool/", "example.org/team/tool"),
        ("https://user:secret@example.org/team/tool", "example.org/team/tool"),
        ("/srv/git/tool.git", ""),
        ("../tool", ""),
        ("file:///srv/git/tool.git", ""),
    ],
)
def test_every_form_of_an_origin_names_the_same_project(tmp_path: Path, url: str, name: str) -> None:
    """Clones by https and by ssh mean one project; no user, password or port is in its name."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", url], check=True)
    assert origin(tmp_path) == name
    assert project_name(ServerSettings(qdrant_url=URL), tmp_path, "", lambda: "id") == (name or f"{tmp_path.name}-id")
    assert project_name(ServerSettings(qdrant_url=URL, project_id="mine"), tmp_path, "src", lambda: "id") == "mine/src"


@pytest.mark.requirement("P-2")
def test_keys_say_project_and_content_and_nothing_else() -> None:
    """The same content has the same key everywhere; another content, path, project or parser another one."""
    version = file_version("a.py", b"hash", "recipe")
    key = point_key("project", version, 0)
    assert key == point_key("project", file_version("a.py", b"hash", "recipe"), 0)
    others = {
        point_key("other", version, 0),
        point_key("project", version, 1),
        *(
            point_key("project", file_version(*parts), 0)
            for parts in (("b.py", b"hash", "recipe"), ("a.py", b"other", "recipe"), ("a.py", b"hash", "newer"))
        ),
    }
    assert len(others) == 5
    assert key not in others
    ids = PointIds()
    (number,) = [int(key.replace("-", ""), 16)]
    assert ids.keys([number]) == {number: key}


def test_a_path_lies_in_all_its_folders() -> None:
    """What a path prefix is compared with ends at a folder."""
    assert folders("src/pkg/a.py") == ["src", "src/pkg", "src/pkg/a.py"]


@pytest.mark.requirement("K-25")
def test_sparse_vectors_multiply_to_bm25() -> None:
    """Field weights, saturation and length are in the document, the rarity of each term in the query."""
    vector = document_vector({"names": "total", "body": "total of an order"}, 160.0)
    values = dict(zip(vector.indices, vector.values, strict=True))
    norm = K1 * (1 - B + B * 5 / 160.0)
    assert values[term_index("total")] == pytest.approx(4 * (K1 + 1) / (4 + norm))
    assert values[term_index("order")] == pytest.approx(1 * (K1 + 1) / (1 + norm))
    assert vector.indices == sorted(vector.indices)
    query = query_vector(Frequencies({"total": 3}, 10))
    assert query.indices == [term_index("total")]
    assert query.values == [pytest.approx(math.log(7.5 / 3.5))]


def test_secrets_stay_out_of_files_and_messages(tmp_path: Path) -> None:
    """A key in the repository's file is refused, a key in a URL too, and neither is repeated."""
    (tmp_path / ".graphrag.toml").write_text(
        '[servers]\nneo4j_password = "hunter22"\nqdrant_url = "http://u:hunter22@h"'
    )
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, {})
    assert "GRAPHRAG_NEO4J_PASSWORD" in str(caught.value)
    assert "hunter22" not in str(caught.value)
    (tmp_path / ".graphrag.toml").unlink()
    settings = load_settings(tmp_path, {"GRAPHRAG_QDRANT_API_KEY": "hunter22"})
    assert "hunter22" not in f"{settings!r} {settings} {msgspec.json.encode(settings, enc_hook=str)!r}"


@pytest.mark.parametrize("uri", ["http://h:7687", "bolt://", "h:7687"])
def test_a_wrong_address_is_named(tmp_path: Path, uri: str) -> None:
    """The schemes that are accepted are in the message."""
    with pytest.raises(SettingsError, match=r"neo4j\+s://"):
        load_settings(tmp_path, {"GRAPHRAG_NEO4J_URI": uri})


def test_remote_needs_a_server(tmp_path: Path) -> None:
    """Searching without an index and without a server is refused at once, with the next step."""
    with pytest.raises(ServerError, match="GRAPHRAG_QDRANT_URL"):
        RemoteApp(tmp_path, Settings())


def test_a_missing_client_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Naming a server without its client library says what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ServerError, match="pip install"):
        RemoteApp(tmp_path, Settings(servers=ServerSettings(qdrant_url=URL, project_id="project")))


def test_threads_that_hang_are_no_more_than_the_limit() -> None:
    """A server that never answers holds a few threads, which do not keep the process; the rest waits its turn."""
    threads = DaemonThreads(2, "hanging")
    release = threading.Event()
    waiting = [threads.submit(lambda: release.wait(10)) for _ in range(5)]
    mine = [thread for thread in threading.enumerate() if thread.name.startswith("hanging")]
    assert len(mine) == 2
    assert all(thread.daemon for thread in mine)
    release.set()
    assert [future.result(5) for future in waiting] == [True] * 5
    assert isinstance(threads.submit(lambda: 1 // 0).exception(5), ZeroDivisionError)
    threads.close()


@pytest.mark.requirement("002-20")
def test_what_a_document_supersedes_is_a_relation() -> None:
    """By path, by name or as a wikilink, so that the graph leads from the successor to what it replaced."""
    text = "---\nsupersedes:\n  - ../old/first.md\n  - second\n  - '[[third]]'\n---\n# New\n"
    parsed = parse_file("docs/new/guide.md", text.encode())
    found = [one.target_module for one in parsed.relations if one.kind is RelationKind.SUPERSEDES]
    assert found == ["/docs/old/first", "second", "third"]


def test_the_relations_of_a_file_are_sent_again_when_they_change(tmp_path: Path) -> None:
    """Alone: the file is not; and what does not follow from a change is not."""
    root = tmp_path / "project"
    files = {
        "caller.py": "from pkg.tools import get\n\nget()\n",
        "other.py": "from pkg.tools import put\n\nput()\n",
        "pkg/tools.py": "def get():\n    pass\n\n\ndef put():\n    pass\n",
    }
    write_files(root, files)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:

        def related() -> dict[str, str]:
            return {file.path: file.mark for file in index.tree_relations(source, "project", 1).collect(bool).read()}

        app.index()
        index = app._parts.handle.searched()
        source = index.replica_source("project", "")
        source.mark("server", {file.path: file.mark for file in source.read(sorted(files))})
        before, mark = related(), source.relations_mark()
        (root / "pkg/tools.py").write_text("\n\ndef put():\n    pass\n")
        app.index()
        assert source.pending("server") == ["pkg/tools.py"]
        assert source.relations_mark() != mark
        assert {path for path, now in related().items() if now != before[path]} == {"caller.py"}


def test_a_file_whose_relations_cannot_be_read_does_not_end_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are read, and what is missing is told: it must not count as whole."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def first():\n    pass\n")
    (root / "b.py").write_text("from a import first\n\n\ndef second():\n    first()\n\n\nsecond()\n")

    def fail(self: Relations, node: CodeNode, *rest: Any) -> list[CodeEdge]:
        if node.path == "a.py":
            raise RecursionError("too deep")
        return decided(self, node, *rest)

    decided = Relations.decided
    monkeypatch.setattr(Relations, "decided", fail)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        index = app._parts.handle.searched()
        collected = index.tree_relations(index.replica_source("project", ""), "project", 1).collect(bool)
        edges = {file.path: [edge.target for edge in file.edges] for file in collected.read()}
    assert edges == {"a.py": [], "b.py": ["project:b.py#second~0"]}
    assert (
        collected.problem == "the relations to a.py could not be read (RecursionError: too deep); the rest was copied"
    )


class _Nobody:
    """A client that must not be used."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was asked for")


def test_for_nothing_no_server_is_asked() -> None:
    """A list without ids, names or words has an answer here: no round trip is made for it."""
    nobody: Any = _Nobody()
    ids = PointIds()
    points = QdrantPoints(QdrantProject(nobody, "code", "project"), ids, nobody)
    catalog = QdrantCatalog(points)
    graph = Neo4jGraphStore(Neo4jProject(nobody, "", "project"), ids, catalog)
    assert not catalog.chunks([])
    assert not catalog.files([])
    assert not catalog.find_paths([], 5, Scope())
    assert not QdrantVectorIndex(points).vectors([])
    assert not QdrantKeywordIndex(points).search([], 5, Scope())
    assert not graph.find_symbols([], Scope(), 5)
    assert not graph.mentions([], Scope())
    assert not graph.neighbours([], 2, 5, Scope())


def test_reads_of_a_server_that_failed_are_refused_until_the_cooldown_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search reads after its look-ups waits for a third of the time, and then not at all for a while."""
    monkeypatch.setattr(breaker, "COOLDOWN_SECONDS", 600.0)
    reads = Servers(ServerSettings(server_timeout_seconds=0.3), "project").reads
    release, asked, started = threading.Event(), [], time.monotonic()
    for number in range(20):
        with pytest.raises(ServerError, match=r"no answer within 0\.1 s"):
            reads(lambda number=number: (asked.append(number), release.wait(60)))
    assert asked == [0]
    assert "no answer" in reads.problem_since(started)
    release.set()
    reads._breaker._closes_at, reads._seconds = 0.0, 60.0  # The cooldown ends.
    assert reads(lambda: "an answer") == "an answer"
    assert reads.problem_since(time.monotonic()) == ""
    reads.close()


def test_a_server_that_was_given_no_time_did_not_fail() -> None:
    """A graph that hangs takes the time of the search; the catalog is named, and asked by the next one."""
    release, unavailable = threading.Event(), dict[str, str]()
    with closing(Retriever(0.2)) as retriever:
        started = time.monotonic()
        hanging = retriever.start("graph", True, lambda: [release.wait(60)], since=started)
        assert retriever.finish(hanging, unavailable) == ()
        late = retriever.start("catalog", True, lambda: [1], since=started)
        assert retriever.finish(late, unavailable) == ()
        assert unavailable == {
            "graph": "no answer within 0.2 s",
            "catalog": "another server took the time of this search",
        }
        assert retriever.server_failed("graph", started)
        assert not retriever.server_failed("catalog", started)
        assert retriever.finish(retriever.start("catalog", True, lambda: [1]), {}) == [1]
        release.set()


def test_each_server_is_connected_once_for_each_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two searches at the same time share a connection; a copy has its own, which waits longer and tries again."""
    connected: list[tuple[object, ...]] = []

    class Connection:
        def close(self) -> None:
            pass

    def connect(*how: object) -> Connection:
        time.sleep(0.02)  # Long enough for everybody to want one.
        connected.append(how)
        return Connection()

    monkeypatch.setattr("graphrag_mcp.stores.qdrant.connection.connect", connect)
    monkeypatch.setattr("graphrag_mcp.stores.neo4j.connection.connect", connect)
    uri = "bolt://127.0.0.1:9"
    both = Servers(ServerSettings(qdrant_url=URL, neo4j_uri=uri, server_timeout_seconds=60), "project")
    for open_one in (both._qdrant, both._neo4j):
        with ThreadPoolExecutor(8) as threads:
            assert len(set(threads.map(open_one, ["read", "write"] * 4))) == 2
    assert sorted(how[-2:] for how in connected if how[0] == uri) == [(60.0, 0.0), (60.0, 30.0)]
    assert len(connected) == 4
    both.close()
    for open_one in (both._qdrant, both._neo4j):
        with pytest.raises(ServerError, match="closed"):
            open_one("write")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ResponseHandlingException(httpx.ConnectError("refused")), "cannot be reached (ConnectError: refused)"),
        (UnexpectedResponse(401, "", b"", httpx.Headers()), "rejects the API key (HTTP 401)"),
        (UnexpectedResponse(503, "Busy", b"", httpx.Headers()), "answered with HTTP 503 (Busy)"),
        (ResourceExhaustedResponse("slow down", 3), "failed (ResourceExhaustedResponse: slow down)"),
        (json.JSONDecodeError("no JSON", "<html>", 0), "sent an unexpected answer (JSONDecodeError)"),
        (AssertionError("Search returned None"), "sent an unexpected answer (AssertionError)"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "failed (UnicodeEncodeError: "),
    ],
)
def test_what_qdrants_client_raises_is_told_in_one_sentence(error: Exception, told: str) -> None:
    """The sentence says what to look at."""
    with pytest.raises(ServerError) as caught, connection.reaching():
        raise error
    assert str(caught.value).startswith(f"Qdrant {told}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ServiceUnavailable("refused"), "cannot be reached"),
        (SessionExpired("killed"), "cannot be reached"),
        (ConnectionAcquisitionTimeoutError("frozen"), "cannot be reached"),
        (AuthError("no"), "refuses the credentials"),
        (ConfigurationError("odd"), "failed (ConfigurationError: odd)"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "failed (UnicodeEncodeError: "),
    ],
)
def test_what_neo4js_driver_raises_is_told_in_one_sentence(error: Exception, told: str) -> None:
    """The sentence says what to look at."""
    with pytest.raises(ServerError) as caught, neo4j_connection.reaching():
        raise error
    assert str(caught.value).startswith(f"Neo4j {told}")


@pytest.mark.parametrize("reaching", [connection.reaching, neo4j_connection.reaching])
@pytest.mark.parametrize("error", [KeyError("path"), TypeError("a mistake of ours"), IndexStoreError("other size")])
def test_no_server_is_blamed_for_what_it_did_not_do(
    reaching: Callable[[], AbstractContextManager[None]], error: Exception
) -> None:
    """A mistake in our own code stays visible as one, and what we raise on purpose stays what it is."""
    with pytest.raises(type(error)), reaching():
        raise error


@pytest.mark.parametrize("key", ["sécret key", "secret\nkey"])
def test_a_key_that_no_request_can_hold_is_not_shown(key: str) -> None:
    """The client would quote it; a line end, as files have it, is no part of a key."""
    with pytest.raises(ServerError, match="GRAPHRAG_QDRANT_API_KEY") as caught:
        connection.connect(URL, key, 0, 1.0)
    assert "cret" not in str(caught.value)
    with faulty("401") as url:
        client = connection.connect(url, "secret key\n", 0, 1.0)
        with pytest.raises(ServerError, match="rejects the API key"), connection.reaching():
            client.collection_exists("code")
        client.close()
