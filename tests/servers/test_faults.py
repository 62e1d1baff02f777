"""What goes wrong with servers: the rest answers in time and says so, recovery needs no restart, nothing is lost."""

import logging
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from msgspec.structs import replace
from neo4j import Driver
from qdrant_client import QdrantClient, models

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.errors import ServerError
from graphrag_mcp.index import replicator as copies
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.stores import breaker
from graphrag_mcp.stores.qdrant import connection
from graphrag_mcp.tools.search_answer import search_payload
from tests.servers.conftest import Place
from tests.servers.connections import start_neo4j
from tests.servers.faulty import FAULTS, faulty
from tests.servers.neo4j_server import Neo4jServer
from tests.waiting import wait_until

pytestmark = pytest.mark.server
RECOVERY_SECONDS = 30.0
ANSWER_SECONDS = 60.0  # A silent server costs a second and a half on a quiet machine; a hang never ends.
PATIENCE = "1.2"  # The default.
WRONG = "not the password"
KEY = "a secret key"
FILES = {
    "src/orders.py": "from src.tax import tax_of\n\n\ndef total(order):\n    return sum(order) + tax_of(order)\n",
    "src/tax.py": "def tax_of(order):\n    return 0.2 * sum(order)\n",
    "tests/test_orders.py": "from src.orders import total\n\n\ndef test_total():\n    assert total([1]) == 1.2\n",
}
QUERY = SearchRequest("total of an order", limit=1)
connect_to_qdrant = connection.connect


@pytest.fixture(scope="module")
def breakable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of these tests' own, which they may break."""
    yield from start_neo4j(tmp_path_factory)


@pytest.fixture(autouse=True)
def _short_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "COOLDOWN_SECONDS", 0.3)


@pytest.fixture(autouse=True)
def _mended(breakable: Neo4jServer) -> Iterator[None]:
    """A test that fails must not leave the others without their server."""
    yield
    if breakable.pid is None:
        breakable.start()


@pytest.fixture
def place(make_place: Callable[..., Place], breakable: Neo4jServer) -> Place:
    """Three files, with servers that may break."""
    place = make_place(files=FILES)
    environ = {"NEO4J_URI": breakable.uri, "NEO4J_PASSWORD": breakable.password, "SERVER_TIMEOUT_SECONDS": PATIENCE}
    return replace(place, environ={**place.environ, **{f"GRAPHRAG_{name}": value for name, value in environ.items()}})


@pytest.fixture
def app(place: Place) -> Iterator[App]:
    """The files on both servers."""
    with closing(place.app()) as app:
        app.index()
        assert [report.problem for report in app.sync()] == ["", ""]
        yield app


@pytest.fixture
def remote(app: App, place: Place) -> Iterator[RemoteApp]:
    """The servers alone: nothing else answers from Neo4j."""
    del app
    with closing(place.remote()) as remote:
        # A server that has just begun plans its first query for a second.
        wait_until(lambda: _comes_from_servers(remote), RECOVERY_SECONDS)
        yield remote


def test_a_graph_that_is_killed_is_named_and_comes_back(remote: RemoteApp, breakable: Neo4jServer) -> None:
    """The other signals answer; when the server is back, so are the neighbours, in the same process."""
    breakable.kill()
    result = _search(remote)
    assert result.primary
    assert "Neo4j cannot be reached" in result.meta.unavailable["graph"]
    breakable.start()
    wait_until(lambda: _comes_from_servers(remote), RECOVERY_SECONDS)


def test_a_graph_that_never_answers_is_named_in_time(remote: RemoteApp, breakable: Neo4jServer) -> None:
    """A stopped process accepts connections and says nothing: a search does not wait for it."""
    breakable.suspend()
    try:
        for _ in range(12):  # More than the threads that may hang.
            assert "graph" in _search(remote).meta.unavailable
            time.sleep(0.1)
    finally:
        breakable.resume()
    wait_until(lambda: _comes_from_servers(remote), RECOVERY_SECONDS)


def test_a_graph_that_dies_in_the_middle_of_a_search_is_named_at_once(
    remote: RemoteApp, breakable: Neo4jServer
) -> None:
    """The search waits for an answer when the server goes: it does not wait until its patience ends."""
    breakable.suspend()
    killer = threading.Timer(0.3, breakable.kill)
    killer.start()
    started = time.monotonic()
    result = _search(remote)
    seconds = time.monotonic() - started
    killer.join()
    breakable.start()
    assert result.primary
    assert "Neo4j cannot be reached" in result.meta.unavailable["graph"]
    assert 0.3 <= seconds < float(PATIENCE)
    wait_until(lambda: _comes_from_servers(remote), RECOVERY_SECONDS)


def test_a_graph_that_is_down_at_the_start_is_filled_once_it_is_up(
    place: Place, breakable: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local index answers meanwhile; when it comes, it gets its copy, in the same process and unasked."""
    monkeypatch.setattr(copies, "SYNC_RETRY_SECONDS", 0.2)
    breakable.kill()
    with closing(place.app(sync_servers="true")) as app:
        app.start()
        assert app.wait_ready(20).state == "ready"
        wait_until(lambda: "Neo4j cannot be reached" in app.status().servers[1].problem, RECOVERY_SECONDS)
        assert _search(app).expanded
        assert "graph" not in _search(app).meta.unavailable
        breakable.start()
        wait_until(lambda: [server.problem for server in app.status().servers] == ["", ""], RECOVERY_SECONDS)
        wait_until(lambda: app.status().servers[1].pending == 0, RECOVERY_SECONDS)


def test_a_write_that_is_killed_is_finished_later(
    app: App, breakable: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server confirmed is not sent again, what it did not is; nothing is embedded again."""
    for number in range(60):
        (app.root / f"src/extra_{number}.py").write_text(f"def extra_{number}():\n    return total([{number}])\n")
    embedded = app.index().embedded
    monkeypatch.setattr("graphrag_mcp.index.replicator.BATCH_CHUNKS", 5)
    killer = threading.Timer(0.3, breakable.kill)
    killer.start()
    cut_short = app.sync()[1]
    killer.join()
    assert embedded == 60
    breakable.start()
    wait_until(lambda: app.sync()[1].problem == "", RECOVERY_SECONDS)
    verified = app.sync(verify=True)[1]
    assert (verified.missing, verified.outdated, verified.foreign, verified.written) == (0, 0, 0, 0)
    assert cut_short.written < 60 or not cut_short.problem
    assert app.index().embedded == 0


def test_a_full_disk_loses_nothing(app: App, breakable: Neo4jServer) -> None:
    """A server that can no longer write says so; the file is sent once it can."""
    (app.root / "src/later.py").write_text("def later():\n    return total([])\n")
    app.index()
    limits = resource.prlimit(breakable.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(breakable.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
    report = app.sync()[1]
    assert report.problem.startswith("Neo4j")
    breakable.kill()
    breakable.start()
    wait_until(lambda: app.sync()[1].problem == "", RECOVERY_SECONDS)
    assert app.sync(verify=True)[1].missing == 0


def test_a_wrong_password_is_named_and_not_shown(make_place: Callable[..., Place], breakable: Neo4jServer) -> None:
    """The next step is in the message, the secret is not."""
    app = make_place(files=FILES).app(neo4j_uri=breakable.uri, neo4j_password=WRONG, server_timeout_seconds=PATIENCE)
    app.index()
    reason = app.sync()[1].problem
    assert "GRAPHRAG_NEO4J_PASSWORD" in reason
    assert WRONG not in reason + repr(_search(app)) + repr(app.status()) + repr(app.settings)
    app.close()


@pytest.mark.parametrize("grpc", ["", "9"])
def test_no_secret_is_in_the_log(
    make_place: Callable[..., Place],
    breakable: Neo4jServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    grpc: str,
) -> None:
    """Neither ours nor that of a client library, however much is logged, whether it goes well or not."""
    monkeypatch.setattr(connection, "connect", connect_to_qdrant)
    caplog.set_level(logging.DEBUG)
    with faulty("401") as url:
        for password in (breakable.password, WRONG):
            changes = {"qdrant_url": url, "qdrant_api_key": KEY, "qdrant_grpc_port": grpc}
            place = make_place(files=FILES, name=password.replace(" ", "-"))
            with closing(place.app(neo4j_uri=breakable.uri, neo4j_password=password, **changes)) as app:
                app.index()
                told = repr(app.sync()) + repr(_search(app)) + repr(app.status()) + repr(app.settings)
            with closing(place.remote(neo4j_uri=breakable.uri, neo4j_password=password, **changes)) as remote:
                told += repr(remote.search(QUERY)) + repr(remote.status())
    shown = capfd.readouterr()
    told += caplog.text + shown.out + shown.err
    assert "Neo4j refuses the credentials" in told  # So that it is known to look at the right place.
    assert "neo4j.io" in {record.name for record in caplog.records}
    for secret in (breakable.password, WRONG, KEY):
        assert secret not in told


def test_vectors_of_another_size_are_refused(make_place: Callable[..., Place], qdrant: QdrantClient) -> None:
    """A collection of another model is not written into."""
    size = models.VectorParams(size=3, distance=models.Distance.COSINE)
    qdrant.create_collection("other-size", vectors_config={"dense": size})
    app = make_place(files=FILES).app(qdrant_collection="other-size", neo4j_uri="")
    app.index()
    assert "GRAPHRAG_QDRANT_COLLECTION" in app.sync()[0].problem
    app.close()
    qdrant.delete_collection("other-size")


class TestQdrant:
    """A Qdrant that is away in every way there is; the client is the real one."""

    @pytest.fixture(autouse=True)
    def _real_client(self, _in_memory: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "connect", connect_to_qdrant)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_the_graph_and_the_rest_answer_in_time(self, make_place: Callable[..., Place], fault: str) -> None:
        """Neither list comes from the server, so what is left is what the index here knows; both are named."""
        with faulty(fault) as url:
            app = make_place(files=FILES).app(
                qdrant_url=url, qdrant_grpc_port="", neo4j_uri="", qdrant_api_key=KEY, server_timeout_seconds=PATIENCE
            )
            app.index()
            result = _search(app, SearchRequest("total", limit=1))
            reasons = result.meta.unavailable
            assert set(reasons) == {"keyword", "vector"}
            assert [hit.chunk.path for hit in result.primary] == ["src/orders.py"]
            assert KEY not in repr(reasons) + repr(app.status())
            app.close()

    def test_what_could_not_be_sent_is_told_and_stays_pending(self, make_place: Callable[..., Place]) -> None:
        """The status says how much is missing; the next sync sends it, and nothing is embedded again."""
        with faulty("refuses") as url:
            app = make_place(files=FILES).app(qdrant_url=url, qdrant_grpc_port="", neo4j_uri="")
            app.index()
            (report,) = app.sync()
            assert "GRAPHRAG_QDRANT_URL" in report.problem
            assert app.status().servers[0].pending == len(FILES)
            app.close()


def _search(app: App | RemoteApp, request: SearchRequest = QUERY) -> SearchResult:
    """Search, and insist on an answer in time."""
    started = time.monotonic()
    result = app.search(request)
    assert time.monotonic() - started < ANSWER_SECONDS
    return result


def _comes_from_servers(app: RemoteApp) -> bool:
    """Tell whether a search has its neighbours."""
    result = _search(app)
    return bool(result.expanded) and not result.meta.unavailable


LABELLED = {
    "Symbol": ("name_key", "name", "qualified_name", "kind", "start_line", "signature"),
    "Chunk": ("path", "version", "ordinal", "match_keys", "category", "is_archived"),
    "File": ("path", "version", "relations"),
    "Project": ("commit", "written_at", "name"),
}
RELATIONSHIP = "({project: $project})-[n]->()"
PROPERTIES = [(f"(n:{label} {{project: $project}})", name) for label, names in LABELLED.items() for name in names]
PROPERTIES += [(RELATIONSHIP, name) for name in ("line", "certainty", "chunk")]
LIES: list[object] = [None, -1, 1e300, "x" * 300_000, "../../etc/passwd", [1], True]


def test_whatever_a_neo4j_says_a_search_answers(
    make_place: Callable[..., Place], neo4j_driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    """No value of any property makes a search, the list of projects or a status fail but in one sentence."""
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    with closing(place.app()) as app, closing(place.remote()) as remote:
        app.index()
        assert [report.problem for report in app.sync()] == ["", ""]
        for pattern, name in PROPERTIES:
            for lie in LIES:
                lie = lie[:8_000] if isinstance(lie, str) and name == "name_key" else lie  # It is indexed.
                lying = f"MATCH {pattern} SET n.truth = n.{name}, n.{name} = $lie"
                neo4j_driver.execute_query(lying, {"project": project, "lie": lie})
                shown = repr(search_payload(remote.search(SearchRequest("who calls tax_of"))))
                assert "etc/passwd" not in shown, (name, lie)
                assert len(shown) < 200_000, (name, lie)
                for ask in (app._parts.servers.projects, app.status):
                    try:
                        ask()
                    except ServerError as error:
                        assert "\n" not in str(error), (name, lie)
                true = f"MATCH {pattern} SET n.{name} = n.truth REMOVE n.truth"
                neo4j_driver.execute_query(true, {"project": project})
        assert [report.problem for report in app.sync(verify=True, agree=lambda _: True)] == ["", ""]
    assert "Traceback" not in caplog.text


def test_no_name_of_a_repository_ends_a_copy(make_place: Callable[..., Place]) -> None:
    """However long: of a heading, a key, a module, a package; none is too long for an index of the server."""
    long = "x" * 30_000
    files = {
        **FILES,
        "guide.md": f"# {long}\n\nText.\n",
        "options.json": f'{{"{long}": 1}}\n',
        "a.js": f'import one from "{long}";\none();\n',
        "b.rb": f"class {long.upper()}\nend\nclass {long.upper()}Two\nend\n",
        os.fsdecode(b"caf\xe9.py"): "def coffee():\n    return tea()\n\n\ndef tea():\n    return coffee()\n",
        "c.py": f"import {long}\n\n\ndef {long}():\n    return {long}2()\n",
    }
    with closing(make_place(files=files).app()) as app:
        app.index()
        assert [report.problem for report in app.sync()] == ["", ""]
        assert [report.written for report in app.sync(verify=True)] == [0, 0]
