"""What a copy on a server is: of one project alone, never emptied unasked, searched for what it holds as it is here."""

import io
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.cli.run import run
from graphrag_mcp.embedding.models import load_embedder
from graphrag_mcp.errors import RemovalError, ServerError
from graphrag_mcp.history import update
from graphrag_mcp.index import replicator
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores import breaker
from graphrag_mcp.stores.qdrant import connection
from graphrag_mcp.stores.qdrant.replica import QdrantReplica
from graphrag_mcp.stores.replica import ReplicatedFile, point_key
from graphrag_mcp.tools.search_answer import search_payload
from tests.repositories import write_files
from tests.servers.connections import SharedClient, open_qdrant
from tests.waiting import wait_until

FILES = {
    "a.py": "def total(order):\n    return sum(order)\n",
    "b.py": "def renew(session):\n    return session.token\n",
    "c.py": "def close(session):\n    session.clear()\n",
    "d.py": "def load(path):\n    return path.read_text()\n",
}
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")
ORIGIN = "example.org/team/shop"
Open = Callable[..., App]


@pytest.fixture
def qdrant(monkeypatch: pytest.MonkeyPatch) -> QdrantClient:
    """An empty Qdrant, to which every address leads."""
    client = open_qdrant()
    if client.collection_exists("code"):
        client.delete_collection("code")
    monkeypatch.setattr(connection, "connect", lambda *_: SharedClient(client))
    return client


def _environment(data: Path, **settings: str) -> dict[str, str]:
    named = {f"GRAPHRAG_{name.upper()}": value for name, value in settings.items()}
    return {
        "GRAPHRAG_DATA_DIR": str(data),
        "GRAPHRAG_QDRANT_URL": "http://127.0.0.1:6333",
        "GRAPHRAG_WORKERS": "1",
        **named,
    }


@pytest.fixture
def open_app(tmp_path: Path, qdrant: QdrantClient) -> Iterator[Open]:
    """Open the app of a folder, with these files in it and an index of its own or another's data folder."""
    apps: list[App] = []

    def open_folder(name: str = "one/shop", files: Mapping[str, str] = FILES, data: str = "", **settings: str) -> App:
        root = tmp_path / name
        write_files(root, files)
        apps.append(App(root, load_settings(root, _environment(tmp_path / (data or f"{name}-data"), **settings))))
        apps[-1].index()
        return apps[-1]

    yield open_folder
    for app in apps:
        app.close()


def _paths(qdrant: QdrantClient) -> dict[str, list[str]]:
    """Return the paths of each project on the server."""
    found: dict[str, list[str]] = {}
    for record in qdrant.scroll("code", limit=1000)[0]:
        payload = record.payload or {}
        if "path" in payload:
            found.setdefault(payload["project_id"], []).append(payload["path"])
    return {project: sorted(set(paths)) for project, paths in found.items()}


def _origin(root: Path, url: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "remote", "add", "origin", url], check=True)


# ---------------------------------------------------------------- one project each


def test_folders_of_one_name_without_an_origin_are_projects_of_their_own(open_app: Open, qdrant: QdrantClient) -> None:
    """Neither sync touches a file of the other, whatever both hold."""
    one = open_app("one/shop")
    other = open_app("other/shop", {"a.py": "def other():\n    pass\n"})
    for app in (one, other, one):
        assert [report.removed for report in app.sync()] == [0]
    assert sorted(_paths(qdrant).values()) == [["a.py"], sorted(FILES)]


def test_a_folder_keeps_its_project_however_often_it_is_opened(open_app: Open, qdrant: QdrantClient) -> None:
    """Its id lies in the data folder, so an index that is built again is the same project."""
    for _ in range(2):
        app = open_app()
        app.sync()
        for file in app._parts.handle.paths.folder.glob("index-*"):
            file.unlink()
    assert list(_paths(qdrant).values()) == [sorted(FILES)]


@pytest.mark.parametrize(
    ("folders", "projects"),
    [
        (("one/shop", "two/shop"), [ORIGIN]),
        (
            ("mono/a", "mono/b", "mono"),
            ["example.org/team/shop", "example.org/team/shop//a", "example.org/team/shop//b"],
        ),
    ],
)
def test_clones_are_one_project_and_folders_of_a_clone_are_not(
    open_app: Open, tmp_path: Path, qdrant: QdrantClient, folders: tuple[str, ...], projects: list[str]
) -> None:
    """The origin names the project, as it always did; a folder below it has other files, so it is another one."""
    for clone in {folder.partition("/")[0] if folder.startswith("mono") else folder for folder in folders}:
        _origin(tmp_path / clone, "git@example.org:team/shop.git")
    for folder in folders:
        open_app(folder, data="data" if folder.startswith("mono") else "").sync()
    assert sorted(_paths(qdrant)) == projects


def test_without_an_index_a_folder_of_the_same_name_is_not_taken_for_the_project(
    open_app: Open, tmp_path: Path, qdrant: QdrantClient
) -> None:
    """A search without an index is of the folder that was copied here; for any other it says which name to set."""
    app = open_app()
    app.sync()
    environment = _environment(tmp_path / "one/shop-data")
    with closing(RemoteApp(app.root, load_settings(app.root, environment))) as remote:
        assert [hit.chunk.path for hit in remote.search(SearchRequest("total")).primary][:1] == ["a.py"]
    stranger = tmp_path / "other/shop"
    stranger.mkdir(parents=True)
    with pytest.raises(ServerError, match="GRAPHRAG_PROJECT_ID"):
        RemoteApp(stranger, load_settings(stranger, environment))


# ---------------------------------------------------------------- nothing is emptied unasked


@pytest.mark.parametrize("rebuild", [False, True])
@pytest.mark.parametrize("has_marks", [False, True])
def test_most_of_a_project_is_removed_only_when_that_is_agreed(
    open_app: Open, qdrant: QdrantClient, has_marks: bool, rebuild: bool
) -> None:
    """Files that are gone here, or that another clone copied, stay on the server until somebody agrees."""
    first = open_app(project_id="team")
    first.sync()
    if has_marks:
        for path in ("a.py", "b.py", "c.py"):
            (first.root / path).unlink()
        first.index()
    app = first if has_marks else open_app("empty", {"d.py": FILES["d.py"]}, project_id="team")
    with pytest.raises(RemovalError, match=r"remove 3 of the project's 4 files on Qdrant .* \(a\.py, b\.py, c\.py\)"):
        app.sync(rebuild=rebuild)
    assert _paths(qdrant) == {"team": sorted(FILES)}
    asked: list[str] = []

    def agree(removal: str) -> bool:
        asked.append(removal)
        return True

    (report,) = app.sync(rebuild=rebuild, agree=agree)
    assert (len(asked), report.problem, _paths(qdrant)) == (1, "", {"team": ["d.py"]})


def test_half_of_a_project_goes_without_a_question(open_app: Open, qdrant: QdrantClient) -> None:
    """Deleting files is everyday work."""
    app = open_app()
    app.sync()
    for path in ("a.py", "b.py"):
        (app.root / path).unlink()
    app.index()
    assert [report.removed for report in app.sync()] == [2]


def test_following_never_empties_a_project(
    open_app: Open, qdrant: QdrantClient, caplog: pytest.LogCaptureFixture
) -> None:
    """A server in the background cannot ask, so it removes nothing and says so."""
    open_app(project_id="team").sync()
    app = open_app("empty", {"d.py": FILES["d.py"]}, project_id="team", sync_servers="true")
    app.start()
    wait_until(lambda: "sync --yes" in caplog.text, 20)
    assert _paths(qdrant) == {"team": sorted(FILES)}


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "options", "kept"), [(None, (), True), ("n\n", (), True), ("y\n", (), False), (None, ("--yes",), False)]
)
def test_the_command_asks_a_terminal_and_nobody_else(
    open_app: Open,
    tmp_path: Path,
    qdrant: QdrantClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str | None,
    options: tuple[str, ...],
    kept: bool,
) -> None:
    """In a pipeline it fails and names the option; it shows what would go."""
    open_app(project_id="team").sync()
    empty = tmp_path / "empty"
    empty.mkdir()
    for name, value in _environment(tmp_path / "data", project_id="team").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.StringIO() if answer is None else _Terminal(answer))
    assert run(["sync", "--root", str(empty), *options]) == (2 if kept else 0)
    written = capsys.readouterr()
    assert ("sync --yes" in written.err) is kept
    assert ("Remove 4 of the project's 4 files" in written.out) is (answer is not None)
    assert (sorted(FILES) in _paths(qdrant).values()) is kept


# ---------------------------------------------------------------- what differs is said


def _warnings(app: App | RemoteApp, query: str = "total") -> str:
    result = app.search(SearchRequest(query))
    assert "keyword" not in result.meta.unavailable
    return "\n".join(result.meta.warnings)


def _answers(app: App, query: str = "order session path") -> list[tuple[str, str]]:
    """Return the hits of a search that asked the server: path and text, best first."""
    result = app.search(SearchRequest(query, limit=20))
    assert result.meta.unavailable == {}
    return [(hit.chunk.path, f"{hit.chunk.text}\n") for hit in result.primary]


def test_what_the_server_does_not_hold_is_searched_here(open_app: Open) -> None:
    """Edited, new, renamed and deleted files: each content of the tree is found once, and nothing else."""
    app = open_app()
    app.sync()
    assert sorted(_answers(app)) == sorted(FILES.items())
    edited = {"a.py": "# Edited.\n" + FILES["a.py"], "e.py": "def added(order):\n    pass\n", "f.py": FILES["c.py"]}
    for path, text in edited.items():
        (app.root / path).write_text(text)
    for path in ("b.py", "c.py"):
        (app.root / path).unlink()
    (app.root / "d.py").touch()
    app.index()
    wanted = sorted({"d.py": FILES["d.py"], **edited}.items())
    assert sorted(_answers(app)) == wanted
    app.sync()
    assert sorted(_answers(app)) == wanted


@pytest.mark.parametrize("query", ["total", "close the session", "where is a path loaded"])
def test_a_search_beside_a_server_ranks_as_the_local_index_does(open_app: Open, query: str) -> None:
    """Scores of both are of one scale, so the order is the same whichever of them has a file."""
    app = open_app(
        files={**FILES, **{f"{name}.py": f"def {name}(order):\n    return order.{name}\n" for name in "xyz"}}
    )
    app.sync()
    for path in ("c.py", "x.py"):
        (app.root / path).write_text("# The session is loaded.\n" + (app.root / path).read_text())
    app.index()
    alone = App(app.root, load_settings(app.root, {"GRAPHRAG_DATA_DIR": str(app.root.parent / "shop-data")}))
    with closing(alone):
        local = [hit.chunk.path for hit in alone.search(SearchRequest(query, limit=20)).primary]
    assert [path for path, _ in _answers(app, query)] == local


@pytest.mark.parametrize("reads_only", [False, True])
def test_a_copy_that_lost_chunks_is_not_searched(open_app: Open, qdrant: QdrantClient, reads_only: bool) -> None:
    """The answer is that of the local index, for whoever copied them and for whoever only reads, and says why."""
    writer = open_app(project_id="team")
    writer.sync()
    app = open_app("reader", project_id="team") if reads_only else writer
    lost = models.FieldCondition(key="path", match=models.MatchAny(any=["a.py", "b.py"]))
    qdrant.delete("code", models.Filter(must=[lost]))
    result = app.search(SearchRequest("order session path", limit=20))
    assert sorted(hit.chunk.path for hit in result.primary) == sorted(FILES)
    assert {why.partition(";")[0] for why in result.meta.unavailable.values()} == {
        "Qdrant has lost 2 of 4 chunks of 'team'"
    }


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_copy_that_ended_half_way_is_searched_for_what_it_has(
    open_app: Open, qdrant: QdrantClient, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    """A first copy, or one of a whole new content; nothing is missed, by another clone either."""
    monkeypatch.setattr(replicator, "BATCH_FILES", 1)
    monkeypatch.setattr(replicator, "BATCH_CHUNKS", 1)
    app = open_app(project_id="team")
    app.sync()
    for path in FILES:
        (app.root / path).write_text("# Edited.\n" + FILES[path])
    app.index()
    write, written = QdrantReplica.write, list[str]()

    def fail_soon(self: QdrantReplica, files: Sequence[ReplicatedFile]) -> None:
        if len(written) == 2:
            raise ServerError("the server was killed")
        written.extend(file.path for file in files)
        write(self, files)

    monkeypatch.setattr(QdrantReplica, "write", fail_soon)
    assert [report.problem for report in app.sync(rebuild=rebuild)] == ["the server was killed"]
    other = open_app("other", project_id="team")
    for reader, before in ((app, "# Edited.\n"), (other, "")):
        result = reader.search(SearchRequest("order session path", limit=20))
        found = sorted((hit.chunk.path, f"{hit.chunk.text}\n") for hit in result.primary)
        assert result.meta.unavailable == {}
        assert found == sorted((path, before + text) for path, text in FILES.items())
    with closing(RemoteApp(app.root, app.settings)) as remote:
        assert "copy is not whole" in str(remote.search(SearchRequest("total")).meta.warnings)


def test_a_copy_of_another_commit_is_named(open_app: Open) -> None:
    """With the number of files that were searched here."""
    first = open_app("one", project_id="team")
    for app in (first, open_app("two", project_id="team")):
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", app.root.name]):
            subprocess.run(["git", "-C", str(app.root), *IDENTITY, *command], check=True)
    first.sync()
    assert _warnings(first) == ""
    assert _warnings(app) == ""
    (app.root / "a.py").write_text("def other():\n    pass\n")
    app.index()
    commit = subprocess.run(["git", "-C", str(first.root), "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    assert f"Qdrant holds commit {commit[:8]} of 20" in _warnings(app)
    assert _warnings(app).endswith("; 1 of 4 files differ and were searched here")
    (first.root / "a.py").write_text("def own():\n    pass\n")
    first.index()
    assert _warnings(first) == ""


def test_a_search_while_the_copy_changes_is_asked_again(
    open_app: Open, qdrant: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine replaces a file between the look at the inventory and the search."""
    writer, reader = open_app("one", project_id="team"), open_app("two", project_id="team")
    writer.sync()
    assert sorted(_answers(reader)) == sorted(FILES.items())
    (writer.root / "a.py").write_text("def new(order):\n    pass\n")
    writer.index()
    search = SearchOrchestrator.search

    def search_after_sync(self: SearchOrchestrator, *asked: Any) -> Any:
        monkeypatch.setattr(SearchOrchestrator, "search", search)
        writer.sync()
        return search(self, *asked)

    monkeypatch.setattr(SearchOrchestrator, "search", search_after_sync)
    assert sorted(_answers(reader)) == sorted(FILES.items())


@pytest.mark.parametrize(
    "payload",
    [
        {"versions": "not base64"},
        {"versions": "QUJD"},
        {"parts": "many"},
        {"chunks": None},
        {"commit": 7},
        {"written_at": "yesterday"},
        {"mean_length": "long"},
        {"written_at": 1e300},
        {"parts": 1e300},
        {"parts": 0},
        {"chunks": -1},
        {"stamp": 7},
    ],
)
def test_an_inventory_that_is_none_is_not_trusted(
    open_app: Open, qdrant: QdrantClient, monkeypatch: pytest.MonkeyPatch, payload: Mapping[str, Any]
) -> None:
    """Whatever a server answers, the local index does."""
    monkeypatch.setattr(breaker, "COOLDOWN_SECONDS", 0.0)
    app = open_app(project_id="team")
    app.sync()
    qdrant.set_payload("code", dict(payload), [point_key("team", "inventory", 0)])
    result = app.search(SearchRequest("order session path", limit=20))
    assert sorted(hit.chunk.path for hit in result.primary) == sorted(FILES)
    assert "holds no complete copy of 'team'" in result.meta.unavailable["keyword"]
    app.sync()
    assert sorted(_answers(app)) == sorted(FILES.items())


def test_without_an_index_lost_chunks_are_counted(open_app: Open, tmp_path: Path, qdrant: QdrantClient) -> None:
    """The copy itself says how many chunks it had when it was complete."""
    app = open_app(project_id="team")
    app.sync()
    settings = load_settings(tmp_path, _environment(tmp_path / "none", project_id="team"))
    with closing(RemoteApp(tmp_path, settings)) as remote:
        assert _warnings(remote) == ""
    lost = models.FieldCondition(key="path", match=models.MatchAny(any=["a.py", "b.py"]))
    qdrant.delete("code", models.Filter(must=[lost]))
    with closing(RemoteApp(tmp_path, settings)) as remote:
        assert "Qdrant has lost 2 of 4 chunks of 'team'" in _warnings(remote)


SECRET = "ghp_" + "a1B2" * 9
PATHS = ["../../etc/passwd", "/etc/passwd", "a\x00b", "src//a.py"]
LIES: list[object] = [None, 7, -1, 1e300, 1 << 62, "", "x" * 300_000, *PATHS, [], [[1]], {"a": 1}, True]


@pytest.mark.slow
def test_whatever_a_server_says_a_search_answers(open_app: Open, qdrant: QdrantClient, tmp_path: Path) -> None:
    """Each field of each point with each lie: no failure, no path out of the project, with an index and without."""
    app = open_app(project_id="team")
    app.sync()
    settings = load_settings(app.root, _environment(tmp_path / "none", project_id="team"))
    points = {str(point.id): dict(point.payload or {}) for point in qdrant.scroll("code", limit=1000)[0]}
    ((key, honest),) = ((key, values) for key, values in points.items() if values.get("path") == "a.py")
    for field in (*honest, "outline"):
        for lie in LIES:
            qdrant.overwrite_payload("code", {**honest, field: lie}, [key])
            with closing(RemoteApp(app.root, settings)) as remote:
                for searched in (app, remote):
                    result = searched.search(SearchRequest("order session path", limit=20))
                    assert search_payload(result)
                    assert {hit.chunk.path for hit in result.primary} <= set(FILES), (field, lie)
                    assert {hit.chunk.path for hit in result.primary} >= set(FILES) - {"a.py"}, (field, lie)
                assert len(remote.status().languages) >= 1


def test_a_point_with_an_id_that_no_sync_wrote_is_left_out(
    open_app: Open, qdrant: QdrantClient, tmp_path: Path
) -> None:
    """Another program may number its points; whatever they say, the others are found."""
    app = open_app(project_id="team")
    app.sync()
    settings = load_settings(app.root, _environment(tmp_path / "none", project_id="team"))
    for record in qdrant.scroll("code", limit=1000, with_vectors=True)[0]:
        vector: Any = record.vector
        qdrant.upsert(
            "code", [models.PointStruct(id=hash(record.id) % 1_000_003, vector=vector, payload=record.payload)]
        )
    with closing(RemoteApp(app.root, settings)) as remote:
        result = remote.search(SearchRequest("order session path", limit=20))
    assert {hit.chunk.path for hit in result.primary} == set(FILES)


def test_text_of_a_server_is_masked(open_app: Open, qdrant: QdrantClient, tmp_path: Path) -> None:
    """A search without an index shows what the server says, but no secret."""
    app = open_app(project_id="team")
    app.sync()
    text = f"def total(order):\n    token = '{SECRET}'\n"
    points = ((str(point.id), point.payload or {}) for point in qdrant.scroll("code", limit=99)[0])
    (key,) = (key for key, values in points if values.get("path") == "a.py")
    qdrant.set_payload("code", {"text": text, "signature": f"def total({SECRET})"}, [key])
    settings = load_settings(app.root, _environment(tmp_path / "none", project_id="team"))
    with closing(RemoteApp(app.root, settings)) as remote:
        shown = repr(remote.search(SearchRequest("total order", limit=20)))
    assert "def total(order)" in shown
    assert SECRET not in shown


# ---------------------------------------------------------------- what the servers hold


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `servers` with some arguments, and return what it prints."""
    for name, value in _environment(tmp_path / "data").items():
        monkeypatch.setenv(name, value)

    def call(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run(["servers", *arguments, "--root", str(tmp_path)]) == code
        written = capsys.readouterr()
        return written.err if code else written.out

    return call


def test_the_projects_of_a_server_are_listed_and_old_ones_removed(
    open_app: Open, qdrant: QdrantClient, told: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with its chunks, its commit and the day; what was not copied for long goes after a question."""
    assert told("list") == "The servers hold no project.\n"
    for name in ("old", "new"):
        open_app(name, project_id=name).sync()
    day = datetime.now(UTC).date()
    assert told("list") == f"new  Qdrant: 4 chunks, copied {day}\nold  Qdrant: 4 chunks, copied {day}\n"
    qdrant.set_payload("code", {"written_at": time.time() - 40 * 86_400}, [point_key("old", "inventory", 0)])
    assert "copied 20" in told("list")
    assert told("prune", "--days", "60") == "No copy is older than 60 days.\n"
    assert told("prune", "--days", "30") == "kept old on Qdrant\n"
    assert sorted(_paths(qdrant)) == ["new", "old"]
    assert told("prune", "--days", "30", "--yes") == "removed old from Qdrant\n"
    assert told("list") == f"new  Qdrant: 4 chunks, copied {day}\n"
    assert sorted(_paths(qdrant)) == ["new"]


def test_removing_old_projects_needs_a_number_of_days(told: Callable[..., str], qdrant: QdrantClient) -> None:
    """Nothing goes by a default."""
    for days in ([], ["--days", "0"]):
        assert "give the days without a copy" in told("prune", *days, code=2)


def test_without_a_server_there_is_nothing_to_list(told: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the settings."""
    monkeypatch.delenv("GRAPHRAG_QDRANT_URL")
    assert "GRAPHRAG_QDRANT_URL" in told("list", code=2)


# ---------------------------------------------------------------- without an index


def _remembered(app: App | RemoteApp, query: str) -> list[tuple[str, str]]:
    """Return the files of the first hits with what past commits say of them."""
    result = app.search(SearchRequest(query))
    assert "history" not in result.meta.unavailable
    factors = [(hit.chunk.path, factor) for hit in result.primary for factor in hit.factors]
    return [(path, factor.note) for path, factor in factors if factor.name == "history"]


def test_without_an_index_past_commits_are_known(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the index knows them, after a rename, an edit and a commit that is taken back."""
    monkeypatch.setattr(update, "FEWEST_COMMITS", 1)
    app = open_app(project_id="team")
    settings = load_settings(app.root, _environment(tmp_path / "none", project_id="team"))

    def commit(message: str) -> None:
        for command in (["add", "--all"], ["commit", "--quiet", "--message", message]):
            subprocess.run(["git", "-C", str(app.root), *IDENTITY, *command], check=True)
        app.index()
        app.sync()

    def check(query: str, wanted: list[str]) -> None:
        with closing(RemoteApp(app.root, settings)) as remote:
            known = _remembered(remote, query)
        assert known == _remembered(app, query)
        assert [path for path, _ in known] == wanted

    subprocess.run(["git", "init", "--quiet", str(app.root)], check=True)
    commit("Begin the warehouse")
    (app.root / "a.py").write_text(FILES["a.py"] + "\n\ndef other():\n    pass\n")
    commit("Count the pallets of the forklift")
    check("pallets of the forklift", ["a.py"])
    (app.root / "a.py").rename(app.root / "renamed.py")
    commit("Move it")
    check("pallets of the forklift", ["renamed.py"])
    subprocess.run(["git", "-C", str(app.root), "reset", "--quiet", "--hard", "HEAD~2"], check=True)
    app.index()
    app.sync()
    check("pallets of the forklift", [])


# ---------------------------------------------------------------- what failed is not a server


class _Broken:
    """A model that loads and then fails."""

    def __init__(self, model: Any) -> None:
        self.fingerprint, self.dimensions = model.fingerprint, model.dimensions

    def embed_query(self, text: str) -> None:
        raise RuntimeError("out of order")


@pytest.mark.parametrize("fails_late", [False, True])
def test_without_a_model_a_search_with_servers_runs_once(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, fails_late: bool
) -> None:
    """The local index has no model either, so nothing is gained by searching it again, and no server is blamed."""
    app = open_app()
    app.sync()
    if fails_late:
        broken = _Broken(load_embedder(""))
        monkeypatch.setattr(app._parts.handle, "model_of", lambda _: (broken, ""))
    else:
        monkeypatch.setattr(app._parts.handle, "model_of", lambda _: (None, "no model is installed"))
    searched: list[str] = []
    search = SearchOrchestrator.search

    def count(self: SearchOrchestrator, request: SearchRequest, *rest: Any) -> Any:
        searched.append(request.query)
        return search(self, request, *rest)

    monkeypatch.setattr(SearchOrchestrator, "search", count)
    result = app.search(SearchRequest("total"))
    assert searched == ["total"]
    assert "answered from the local index" not in str(result.meta.unavailable)
    assert [hit.chunk.path for hit in result.primary][:1] == ["a.py"]
    assert "vector" in result.meta.unavailable


def test_the_stores_of_a_server_that_fails_are_searched_locally(
    open_app: Open, qdrant: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server failed at is answered by the index, and said."""
    app = open_app()
    app.sync()
    qdrant.delete_collection("code")
    result = app.search(SearchRequest("total"))
    assert {"answered from the local index" in why for why in result.meta.unavailable.values()} == {True}
    assert set(result.meta.unavailable) == {"keyword", "vector"}
    assert result.meta.warnings == ()
