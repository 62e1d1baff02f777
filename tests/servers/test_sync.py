"""What is copied to servers: only what they lack, the same from every machine, and right again after any mishap."""

import json
import random
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neo4j import Driver
from qdrant_client import QdrantClient, models

from graphrag_mcp.app.local import App
from graphrag_mcp.cli import doctor
from graphrag_mcp.cli.run import run
from graphrag_mcp.errors import RequestError, ServerError
from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.paths import folders
from graphrag_mcp.model.reports import SyncReport
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.ports import GraphStore
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.stores.neo4j.replica import Neo4jReplica
from graphrag_mcp.stores.qdrant.replica import QdrantReplica
from graphrag_mcp.stores.qdrant.schema import INDEXED_KILOBYTES
from graphrag_mcp.stores.replica import ReplicatedFile
from graphrag_mcp.tools.index_status import render_status
from tests.servers.conftest import Place
from tests.servers.connections import QDRANT_KEY_TO_READ, QDRANT_URL
from tests.waiting import wait_until

pytestmark = pytest.mark.server
PATIENCE_SECONDS = 20.0
FILES = {
    "src/orders.py": "from src.tax import tax_of\n\n\ndef total(order):\n    return sum(order) + tax_of(order)\n",
    "src/tax.py": "def tax_of(order):\n    return 0.2 * sum(order)\n",
    "archive/old.py": "def tax_of_1999(order):\n    return 0.1 * sum(order)\n",
    "docs/guide.md": "---\nsupersedes: [old-guide.md]\n---\n# Guide\n\nSee [the tax](../src/tax.py).\n",
    "docs/old-guide.md": "# Old guide\n\nAdd the tax by hand.\n",
}


def _points(client: QdrantClient, project: str) -> dict[str, Any]:
    match = models.FieldCondition(key="project_id", match=models.MatchValue(value=project))
    records, _ = client.scroll("code", models.Filter(must=[match]), limit=1000, with_vectors=True)
    return {str(one.id): (one.payload, one.vector) for one in records}


def _rows(driver: Driver, statement: str, **parameters: object) -> list[dict[str, Any]]:
    return [dict(record) for record in driver.execute_query(statement, parameters).records]


def _sync(app: App, **how: bool) -> tuple[SyncReport, SyncReport]:
    qdrant, neo4j = app.sync(**how)
    assert (qdrant.problem, neo4j.problem) == ("", "")
    return qdrant, neo4j


_RELATIONS = """MATCH (a {project: $project})-[r]->(t) WHERE r.line IS NOT NULL AND NOT t:External
    MATCH (c:Chunk {key: r.chunk})
    RETURN c.path AS path, type(r) AS kind, a.key AS source, t.key AS target, r.line AS line,
           r.certainty AS certainty"""
_KINDS = {"may_call": "calls", "links": "links_to"}


def _edges(driver: Driver, project: str, kind: str) -> set[tuple[str, str]]:
    kinds = ("CALLS", "MAY_CALL") if kind == "CALLS" else (kind,)
    rows = [row for row in _rows(driver, _RELATIONS, project=project) if row["kind"] in kinds]
    return {(row["path"], row["target"].removeprefix(f"{project}:")) for row in rows}


def _differences(app: App, driver: Driver, project: str) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
    """Return the relations of the index that the server lacks, and those that only the server has."""
    index = app._parts.handle.searched()
    stored = {
        (file.path, edge.kind, edge.source, edge.target, edge.line, edge.certainty)
        for file in index.tree_relations(index.replica_source(project, ""), project, 1).collect(bool).read()
        for edge in file.edges
    }
    rows = _rows(driver, _RELATIONS, project=project)
    fields = ("source", "target", "line", "certainty")
    named = [(row, row["kind"].lower()) for row in rows]
    held = {(row["path"], _KINDS.get(kind, kind), *(row[field] for field in fields)) for row, kind in named}
    return stored - held, held - stored


@pytest.mark.requirement("P-2")
def test_only_what_changed_is_sent(make_place: Callable[..., Place]) -> None:
    """A second sync sends nothing, an edit sends its file, a deletion removes it; on both servers."""
    app = make_place(files=FILES).app()
    app.index()
    assert [report.written for report in _sync(app)] == [5, 5]
    assert [report.written for report in _sync(app)] == [0, 0]
    (app.root / "src/tax.py").write_text("def tax_of(order):\n    return 0.25 * sum(order)\n")
    (app.root / "docs/old-guide.md").unlink()
    app.index()
    qdrant, neo4j = _sync(app)
    assert (qdrant.written, qdrant.removed, neo4j.removed) == (1, 1, 1)
    verified = _sync(app, verify=True)
    assert [(one.missing, one.outdated, one.foreign, one.written) for one in verified] == [(0, 0, 0, 0)] * 2
    app.close()


def test_two_machines_write_the_same_points(make_place: Callable[..., Place], qdrant: QdrantClient) -> None:
    """Ids, payloads and vectors derive from project and content, not from where the clone lies."""
    copies = []
    for name in ("one", "another"):
        app = make_place(name, FILES, project_id="same").app()
        app.index()
        _sync(app, rebuild=True)
        copies.append(_points(qdrant, "same"))
        app.close()
    one, another = copies
    assert list(one) == list(another)
    for key, (payload, vector) in one.items():
        other, other_vector = another[key]
        assert {**payload, "modified_at": 0} == {**other, "modified_at": 0}
        assert vector["keywords"] == other_vector["keywords"]
        assert np.allclose(vector["dense"], other_vector["dense"], atol=1e-6)  # The server normalises in float32.


@pytest.mark.requirement("000-21", "000-25", "K-09")
def test_a_point_says_all_that_filters_and_readers_need(make_place: Callable[..., Place], qdrant: QdrantClient) -> None:
    """Archive tags, match keys, category, language and age are in the payload, by project."""
    place = make_place(files=FILES)
    app = place.app()
    app.index()
    _sync(app)
    payloads = {
        payload["path"]: payload for payload, _ in _points(qdrant, place.environ["GRAPHRAG_PROJECT_ID"]).values()
    }
    app.close()
    old = payloads["archive/old.py"]
    assert (old["is_archived"], bool(old["archive_path"]), old["category"]) == (True, True, "implementation")
    assert old["folders"] == folders("archive/old.py") == ["archive", "archive/old.py"]
    assert "old.py" in old["match_keys"]
    assert payloads["src/tax.py"]["is_archived"] is False
    assert payloads["src/tax.py"]["modified_at"] > 1_000_000_000


@pytest.mark.requirement("003-02")
def test_the_graph_has_the_nodes_and_edges_of_the_code(make_place: Callable[..., Place], neo4j_driver: Driver) -> None:
    """Files, chunks, symbols, sections; each edge with how it was resolved; archive-tagged as in Qdrant."""
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    app = place.app()
    app.index()
    _sync(app)
    app.close()
    assert ("src/orders.py", "src/tax.py#tax_of~0") in _edges(neo4j_driver, project, "CALLS")
    assert ("docs/guide.md", "src/tax.py") in _edges(neo4j_driver, project, "LINKS")
    assert ("docs/guide.md", "docs/old-guide.md") in _edges(neo4j_driver, project, "SUPERSEDES")
    (call,) = _rows(
        neo4j_driver,
        """MATCH (a:Symbol {project: $project})-[r:CALLS]->(:Symbol {name: 'tax_of'})
           RETURN a.name AS caller, r.line AS line, r.certainty AS certainty""",
        project=project,
    )
    assert call == {"caller": "total", "line": 5, "certainty": "certain"}
    sections = _rows(neo4j_driver, "MATCH (s:Section {project: $project}) RETURN s.name AS name", project=project)
    assert {row["name"] for row in sections} == {"Guide", "Old guide"}
    archived = _rows(
        neo4j_driver,
        "MATCH (c:Chunk {project: $project}) WHERE c.is_archived RETURN c.path AS path, c.match_keys AS keys",
        project=project,
    )
    assert [row["path"] for row in archived] == ["archive/old.py"]
    assert "old.py" in archived[0]["keys"]
    found = _rows(
        neo4j_driver, "CALL db.index.fulltext.queryNodes('symbol_names', 'tax_of') YIELD node RETURN node.key"
    )
    assert found


def test_an_edge_follows_what_its_name_means(make_place: Callable[..., Place], neo4j_driver: Driver) -> None:
    """A definition that comes, or goes, changes what calls in other files mean: those are sent again."""
    place = make_place(files={"a.rb": "def run\n  help_out()\nend\n", "b.rb": "def help_out\nend\n"})
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    app = place.app()

    def calls() -> set[tuple[str, str]]:
        app.index()
        _sync(app)
        return _edges(neo4j_driver, project, "CALLS")

    assert calls() == {("a.rb", "b.rb#help_out~0")}
    (app.root / "c.rb").write_text("def help_out\n  1\nend\n")
    assert calls() == {("a.rb", "b.rb#help_out~0"), ("a.rb", "c.rb#help_out~0")}
    (app.root / "b.rb").write_text("def other\nend\n")
    assert calls() == {("a.rb", "c.rb#help_out~0")}
    (app.root / "c.rb").unlink()
    assert calls() == set()
    (app.root / "b.rb").write_text("def help_out\nend\n")
    assert calls() == {("a.rb", "b.rb#help_out~0")}
    app.close()


@pytest.mark.parametrize("batch_chunks", [1500, 2])
def test_the_edges_are_what_the_index_settles_after_any_edits(
    make_place: Callable[..., Place], neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch, batch_chunks: int
) -> None:
    """Names gain and lose many definitions, modules and archives come and go: no edge is stale, none is missing."""
    monkeypatch.setattr("graphrag_mcp.index.replicator.BATCH_CHUNKS", batch_chunks)
    choice = random.Random(batch_chunks)
    names = ("one", "two", "three")
    modules = [f"{folder}/m{number}.py" for number in range(7) for folder in ("pkg", "archive")]
    modules += [path.replace(".py", ".rb") for path in modules]
    callers = {f"call_{name}.rb": f"def run\n  {name}()\nend\n" for name in names}
    importers = {f"from_{number}.py": f"from pkg.m{number} import one\n\none()\n" for number in range(3)}
    whole = {f"whole_{number}.py": f"from pkg import m{number}\n" for number in range(3)}
    place = make_place(files={**callers, **importers, **whole})
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    for step in range(12):
        name, defining = choice.choice(names), set(choice.sample(modules, choice.choice((0, 1, 3, 5, 6, 12))))
        for path in modules:
            _define(place.root / path, name, path in defining)
        if step % 4 == 3:
            (place.root / choice.choice(modules)).unlink(missing_ok=True)
        with closing(place.app(archive_patterns=choice.choice(("archive/", "attic/")))) as app:
            app.index()
            _sync(app)
            assert _differences(app, neo4j_driver, project) == (set(), set()), (step, name, len(defining))


def _define(file: Path, name: str, wanted: bool) -> None:
    """Let a module define a name, or not; one that is not there is made for a definition only."""
    text, end = file.read_text() if file.is_file() else "", "end\n" if file.suffix == ".rb" else ""
    definition = f"def {name}(){'' if end else ':'}\n    return 1\n{end}"
    text = text.replace(definition, "") + definition * wanted
    if wanted or file.is_file():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


def test_an_edit_during_the_first_copy_is_not_missed(
    make_place: Callable[..., Place], neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent before its name was defined is sent again, though the server held nothing at first."""
    monkeypatch.setattr("graphrag_mcp.index.replicator.BATCH_CHUNKS", 1)
    place = make_place(files={"a.rb": "def run\n  get()\nend\n", **{f"m{number}.rb": "# 0\n" for number in range(3)}})
    with closing(place.app()) as app:
        app.index()

        def edit(server: str, done: int, _total: int) -> None:
            if server.startswith("Neo4j") and done == 1:
                (place.root / "m2.rb").write_text("def get\nend\n")
                app.index()

        app.sync(progress=edit)
        assert _edges(neo4j_driver, place.environ["GRAPHRAG_PROJECT_ID"], "CALLS") == {("a.rb", "m2.rb#get~0")}


def test_a_copy_that_is_resumed_sends_the_rest(
    make_place: Callable[..., Place], neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it ended among the files or among the relations; then it is what a whole copy is."""
    monkeypatch.setattr("graphrag_mcp.index.replicator.BATCH_CHUNKS", 1)
    monkeypatch.setattr("graphrag_mcp.index.replicator.BATCH_RELATIONS", 0)
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    with closing(place.app(qdrant_url="")) as app:
        app.index()
        for name in ("write", "relate"):
            with monkeypatch.context() as broken:
                _break_after(broken, name, 2)
                (report,) = app.sync()
                assert (report.problem, report.written) == ("it broke", {"write": 2, "relate": 3}[name])
            assert app.status().servers[0].pending > 0
        (report,) = app.sync()
        assert (report.problem, report.written) == ("", 0)
        assert app.status().servers[0].pending == 0
        assert _differences(app, neo4j_driver, project) == (set(), set())


def _break_after(monkeypatch: pytest.MonkeyPatch, name: str, batches: int) -> None:
    left, whole = iter(range(batches)), getattr(Neo4jReplica, name)

    def write(self: Neo4jReplica, files: Sequence[Any]) -> None:
        if next(left, None) is None:
            raise ServerError("it broke")
        whole(self, files)

    monkeypatch.setattr(Neo4jReplica, name, write)


def test_an_import_is_settled_however_many_share_its_name(
    make_place: Callable[..., Place], neo4j_driver: Driver
) -> None:
    """Importers follow their module when it gains a name that everything defines, and when it is archived."""
    others = {f"m{number}.py": "def get():\n    pass\n" for number in range(20)}
    users = {"user.py": "from pkg.tools import get\n\nget()\n", "whole.py": "from pkg import tools\n"}
    place = make_place(files={**others, **users, "pkg/tools.py": "# 0\n", "old/pkg/tools.py": "# 0\n"})
    for path, text, archived in (
        ("pkg/tools.py", "# 1\n", "attic/"),
        ("old/pkg/tools.py", "# 1\n", "old/"),
        ("pkg/tools.py", "def get():\n    pass\n", "old/"),
        ("pkg/tools.py", "# 1\n", "old/"),
    ):
        (place.root / path).write_text(text)
        with closing(place.app(archive_patterns=archived)) as app:
            app.index()
            _sync(app)
            assert _differences(app, neo4j_driver, place.environ["GRAPHRAG_PROJECT_ID"]) == (set(), set())


def test_verify_finds_and_mends_what_others_did(
    make_place: Callable[..., Place], qdrant: QdrantClient, neo4j_driver: Driver
) -> None:
    """`sync --verify`: lost and foreign rows are found on the servers themselves, and put right."""
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    app = place.app()
    app.index()
    _sync(app)
    key, (payload, vector) = next(iter(_points(qdrant, project).items()))
    foreign = models.PointStruct(
        id="11111111-2222-3333-4444-555555555555", vector=vector, payload={**payload, "path": "gone.py"}
    )
    qdrant.upsert("code", [foreign])
    qdrant.delete("code", [key])
    neo4j_driver.execute_query(
        "MATCH (c:Chunk {project: $project, path: 'src/tax.py'}) DETACH DELETE c", {"project": project}
    )
    on_qdrant, on_neo4j = _sync(app, verify=True)
    assert (on_qdrant.missing + on_qdrant.outdated, on_qdrant.foreign, on_qdrant.written) == (1, 1, 1)
    assert (on_neo4j.outdated, on_neo4j.foreign) == (1, 0)
    assert [(one.missing, one.outdated, one.foreign) for one in _sync(app, verify=True)] == [(0, 0, 0)] * 2
    app.close()


@pytest.mark.requirement("K-25")
def test_projects_share_servers_and_never_meet(make_place: Callable[..., Place]) -> None:
    """One collection, one graph, any number of projects; a rebuild of one leaves the other alone."""
    one, another = make_place("one", FILES).app(), make_place("another", {"only.py": "def tax_of():\n    pass\n"}).app()
    for app in (one, another):
        app.index()
        _sync(app)
    _sync(one, rebuild=True)
    assert {hit.chunk.path for hit in another.search(SearchRequest("tax_of")).primary} == {"only.py"}
    assert "only.py" not in {hit.chunk.path for hit in one.search(SearchRequest("tax_of")).primary}
    one.close()
    another.close()


def test_a_server_copies_while_it_serves(make_place: Callable[..., Place]) -> None:
    """Where it is asked to: what the index commits is on the servers soon after, without anybody calling sync."""
    app = make_place(files=FILES).app(sync_servers="true")
    app.start()
    app.wait_ready(20)
    wait_until(
        lambda: all(not server.pending for server in app.status().servers) and bool(app.status().files),
        PATIENCE_SECONDS,
    )
    (app.root / "src/new.py").write_text("def brand_new_function():\n    pass\n")
    wait_until(
        lambda: "src/new.py" in [hit.chunk.path for hit in app.search(SearchRequest("brand_new_function")).primary],
        PATIENCE_SECONDS,
    )
    app.close()


def test_serving_writes_nothing_to_servers_unless_it_is_asked_to(
    make_place: Callable[..., Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who searches a team's servers does not overwrite them: only `sync` writes."""
    copied: list[str] = []
    monkeypatch.setattr("graphrag_mcp.app.parts.Replicator.start_following", lambda *_: copied.append("began"))
    for changes, expected in (({}, []), ({"sync_servers": "true"}, ["began"])):
        with closing(make_place(f"project-{len(changes)}", FILES).app(**changes)) as app:
            app.start()
            app.wait_ready(20)
        assert copied == expected


@pytest.mark.parametrize("how", ["deleted", "emptied", "without points"])
def test_a_lost_copy_is_noticed_and_sent_again(
    make_place: Callable[..., Place], qdrant: QdrantClient, neo4j_driver: Driver, how: str
) -> None:
    """The status says that it is gone, the search says that it did not use it, and the next sync fills it."""
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    with closing(place.app(qdrant_collection=f"lost-{how}")) as app:
        app.index()
        sent = [report.chunks for report in _sync(app)]
        assert [(state.sent, state.held) for state in app.status().servers] == [(count, count) for count in sent]
        if how == "deleted":
            qdrant.delete_collection(f"lost-{how}")
        elif how == "without points":  # The word counts are still there.
            of_project = models.FieldCondition(key="project_id", match=models.MatchValue(value=project))
            qdrant.delete("lost-without points", models.Filter(must=[of_project]))
        else:
            everything = models.Filter(must=[models.HasIdCondition(has_id=list(_ids(qdrant, f"lost-{how}")))])
            qdrant.delete(f"lost-{how}", everything)
        neo4j_driver.execute_query("MATCH (n {project: $project}) DETACH DELETE n", {"project": project})
        assert [state.lost for state in app.status().servers] == sent
        assert "has lost" in render_status(app.status())
        result = app.search(SearchRequest("tax_of"))
        assert {"keyword", "vector"} <= set(result.meta.unavailable)
        assert "graphrag-mcp sync" in result.meta.unavailable["vector"]
        assert [report.chunks for report in _sync(app)] == sent
        # A server that failed is not asked again for some seconds.
        wait_until(lambda: app.search(SearchRequest("tax_of")).meta.unavailable == {}, PATIENCE_SECONDS)
    qdrant.delete_collection(f"lost-{how}")


def _ids(client: QdrantClient, collection: str) -> list[Any]:
    records, _ = client.scroll(collection, limit=1000, with_payload=False)
    return [one.id for one in records]


def test_a_machine_without_marks_removes_what_is_gone(make_place: Callable[..., Place], qdrant: QdrantClient) -> None:
    """A fresh runner compares first: a file that was deleted since goes from both servers."""
    project = str(uuid.uuid4())
    fewer = {path: text for path, text in FILES.items() if path != "src/tax.py"}
    for name, files in (("first", FILES), ("fresh", fewer)):
        with closing(make_place(name, files, project_id=project).app()) as app:
            app.index()
            reports = _sync(app)
    assert [(report.foreign, report.removed) for report in reports] == [(1, 1), (1, 1)]
    assert "src/tax.py" not in {payload["path"] for payload, _ in _points(qdrant, project).values()}


def test_the_copy_of_another_machine_is_told_as_such(make_place: Callable[..., Place]) -> None:
    """A developer who never copied is not told to send what the team's servers have."""
    team = str(uuid.uuid4())
    with closing(make_place("ci", FILES, project_id=team).app()) as app:
        app.index()
        _sync(app)
    with closing(make_place("developer", FILES, project_id=team).app()) as app:
        app.index()
        assert all(state.is_from_elsewhere and not state.lost for state in app.status().servers)
        assert "by another machine" in render_status(app.status())


def test_a_server_that_is_being_filled_lacks_nothing(
    make_place: Callable[..., Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local index answers for what it does not hold yet."""
    may_write, write = threading.Event(), QdrantReplica.write

    def write_later(replica: QdrantReplica, files: Sequence[ReplicatedFile]) -> None:
        may_write.wait(30)
        write(replica, files)

    monkeypatch.setattr(QdrantReplica, "write", write_later)
    with closing(make_place(files=FILES).app(sync_servers="true")) as app:
        app.start()
        app.wait_ready(20)
        for is_full in (False, True):
            if is_full:
                may_write.set()
            pending = 0 if is_full else len(FILES)
            wait_until(lambda pending=pending: app.status().servers[0].pending == pending, PATIENCE_SECONDS)
            wait_until(lambda: not app.search(SearchRequest("tax_of")).meta.unavailable, PATIENCE_SECONDS)
            assert app.search(SearchRequest("tax_of")).primary[0].chunk.path == "src/tax.py"


def test_lost_relations_are_seen_and_sent_again(make_place: Callable[..., Place], neo4j_driver: Driver) -> None:
    """Somebody deleted a few in the database: a comparison counts those of each file."""
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    with closing(place.app()) as app:
        app.index()
        _sync(app)
        before = _edges(neo4j_driver, project, "CALLS")
        assert before
        _rows(neo4j_driver, "MATCH (a {project: $project})-[r:CALLS]->() DELETE r", project=project)
        assert not _edges(neo4j_driver, project, "CALLS")
        assert _sync(app, verify=True)[1].outdated == len({path for path, _ in before})
        assert _edges(neo4j_driver, project, "CALLS") == before
        assert _sync(app, verify=True)[1].outdated == 0


def test_both_servers_tell_their_projects_and_lose_old_ones(
    make_place: Callable[..., Place],
    neo4j_driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`servers list` and `servers prune`: each server by itself."""
    place = make_place(files=FILES)
    project = place.environ["GRAPHRAG_PROJECT_ID"]
    with closing(place.app()) as app:
        app.index()
        _sync(app)
    for name, value in place.environ.items():
        monkeypatch.setenv(name, value)

    def told(*arguments: str) -> list[str]:
        capsys.readouterr()
        assert run(["servers", *arguments, "--root", str(place.root)]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if project in line]

    assert [line.partition(", copied")[0] for line in told("list")] == [
        f"{project}  Neo4j: 5 chunks",
        f"{project}  Qdrant: 5 chunks",
    ]
    old = "MATCH (p:Project {key: $project}) SET p.written_at = datetime() - duration({days: 400})"
    _rows(neo4j_driver, old, project=project)
    assert told("prune", "--days", "300", "--yes") == [f"removed {project} from Neo4j"]
    assert [line.partition(", copied")[0] for line in told("list")] == [f"{project}  Qdrant: 5 chunks"]
    count = "MATCH (n {project: $project}) RETURN count(n) AS nodes"
    assert _rows(neo4j_driver, count, project=project) == [{"nodes": 0}]


def test_remote_reads_what_ci_wrote(make_place: Callable[..., Place]) -> None:
    """`--remote`: scope, archives and graph as with an index, and no file is written."""
    place = make_place(files=FILES)
    app = place.app()
    app.index()
    _sync(app)
    app.close()
    elsewhere = make_place("elsewhere", {}, project_id=place.environ["GRAPHRAG_PROJECT_ID"])
    remote = elsewhere.remote()
    result = remote.search(SearchRequest("tax_of", limit=1))
    assert [hit.chunk.path for hit in result.primary] == ["src/tax.py"]
    assert [one.chunk.path for one in result.expanded if one.direction == "in"] == ["src/orders.py"]
    assert result.meta.unavailable == {}
    old = SearchRequest("tax_of_1999", scope=Scope(include_patterns=("archive/",)))
    assert "archive/old.py" in [hit.chunk.path for hit in remote.search(old).primary]
    assert "archive/old.py" not in [hit.chunk.path for hit in remote.search(SearchRequest("tax_of_1999")).primary]
    assert not elsewhere.root.exists()
    remote.close()


def test_the_command_line_copies_verifies_and_searches(
    make_place: Callable[..., Place], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From files to a search on servers in two commands."""
    place = make_place(files=FILES)
    for name, value in place.environ.items():
        monkeypatch.setenv(name, value)
    assert run(["sync", "--root", str(place.root), "--json"]) == 0
    assert [report["written"] for report in json.loads(capsys.readouterr().out)] == [5, 5]
    assert run(["sync", "--root", str(place.root), "--verify"]) == 0
    assert "it lacked 0" in capsys.readouterr().out
    assert run(["search", "tax_of", "--remote", "--root", str(place.root)]) == 0
    assert "src/tax.py" in capsys.readouterr().out
    assert run(["status", "--root", str(place.root)]) == 0
    shown = capsys.readouterr()
    assert "up to date" in shown.out
    assert place.environ["GRAPHRAG_NEO4J_PASSWORD"] not in shown.out + shown.err
    for name in ("GRAPHRAG_QDRANT_URL", "GRAPHRAG_NEO4J_URI"):
        monkeypatch.delenv(name)
    assert run(["sync", "--root", str(place.root)]) == 2
    assert "GRAPHRAG_QDRANT_URL" in capsys.readouterr().err


@pytest.mark.requirement("B-22")
def test_hostile_texts_are_looked_for_and_nothing_else(
    make_place: Callable[..., Place], qdrant: QdrantClient, neo4j_driver: Driver, request: pytest.FixtureRequest
) -> None:
    """500 texts made to break out of Cypher, JSON and filters, in every argument: the answer is that without.

    With --soak; else a fifth of them, among which is each kind twice.
    """
    texts = _hostile(250 if request.config.getoption("--soak") else 50)
    place = make_place(files=FILES)
    with closing(place.app()) as app, closing(place.remote()) as remote:
        app.index()
        _sync(app)
        count = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS nodes, count(r) AS edges"
        before = _rows(neo4j_driver, count), qdrant.count("code").count
        for stores in (app.stores(), remote.servers.remote_only(None, "", lambda: None)):
            assert stores.graph is not None
            (caller,) = [one.chunk_id for one in stores.graph.find_symbols(["total"], Scope(), 5)]

            def ask_graph(text: str, scope: Scope, graph: GraphStore = stores.graph, one: int = caller) -> list[object]:
                found = graph.find_symbols([text, "tax_of"], scope, 5)
                return [found, graph.neighbours([one], 1, 5, scope), graph.mentions([one], scope)]

            def ask_lists(text: str, scope: Scope, stores: Stores = stores) -> list[object]:
                words = stores.keywords.search([text, "tax"], 5, scope)
                return [*words, *stores.catalog.find_paths([text, "tax"], 5, scope)]

            usual, listed = (ask("", Scope(paths=("src",))) for ask in (ask_graph, ask_lists))
            assert all(usual)
            assert len(listed) > 2
            for number, text in enumerate(texts):
                hostile = Scope(
                    paths=("src", *(() if _SPECIAL.intersection(text) else _pattern(text))),
                    languages=frozenset({"python", text}),
                    excluded_keys=frozenset({text}),
                    include_patterns=_pattern(text),
                )
                assert ask_graph(text, hostile) == usual
                if number < 25:  # Qdrant in memory looks at every point of every test.
                    assert ask_lists(text, hostile) == listed
        for text in _hostile(25):
            result = app.search(SearchRequest(f"tax_of {text}"))
            assert result.meta.unavailable == {}
            assert "src/tax.py" in [hit.chunk.path for hit in result.primary]
        assert before == (_rows(neo4j_driver, count), qdrant.count("code").count)


def _pattern(text: str) -> tuple[str, ...]:
    """Return the text as an include pattern, unless it is one that can match nothing, which a search refuses."""
    try:
        compile_globs([text])
    except RequestError:
        return ()
    return (text,)


_SPECIAL = frozenset("*?[!\\#")  # Characters of globs, which may match files.


def _hostile(count: int) -> list[str]:
    seeds = (
        "') DETACH DELETE n //", '"}) MATCH (n) DETACH DELETE n //', "`) SET n.x = 1 //", "$project", "{{key}}",
        "\\u0027", "*", "?", "~", "AND OR NOT", "((((", "]]", "\x00", "\x1b[2J", "🦀" * 50, "a" * 3000,
        "../../etc/passwd", "'; CALL dbms.killTransactions() //", "%s%n", "${jndi:ldap://x}", "null",
        "\u202e", "ǆ", "\n\r\t", "-1",
    )  # fmt: skip
    return [f"{seeds[number % len(seeds)]}{number // len(seeds) or ''}" for number in range(count)]


@pytest.mark.skipif(not QDRANT_URL, reason="the Qdrant in memory has no shards")
def test_a_new_collection_is_made_as_the_settings_say(make_place: Callable[..., Place], qdrant: QdrantClient) -> None:
    """Shards, copies, disk and bytes; each project has an index of its own, which is built after the first copy."""
    place = make_place(files=FILES)
    sizes = {"qdrant_shards": "3", "qdrant_replicas": "2", "qdrant_on_disk": "true", "qdrant_quantized": "true"}
    with closing(place.app(qdrant_collection="sized", neo4j_uri="", **sizes)) as app:
        app.index()
        assert [report.problem for report in app.sync()] == [""]
        config = qdrant.get_collection("sized").config
        params = config.params
        assert (params.shard_number, params.replication_factor, params.on_disk_payload) == (3, 2, True)
        assert params.write_consistency_factor == 1
        assert config.quantization_config is not None
        assert (config.hnsw_config.m, config.hnsw_config.payload_m) == (0, 16)
        assert config.optimizer_config.indexing_threshold == INDEXED_KILOBYTES
        assert {hit.chunk.path for hit in app.search(SearchRequest("tax_of")).primary} >= {"src/tax.py"}


def test_vectors_are_indexed_after_the_first_copy(
    make_place: Callable[..., Place], monkeypatch: pytest.MonkeyPatch, qdrant: QdrantClient
) -> None:
    """Also where that was killed: by the next copy."""
    built: list[str] = []
    monkeypatch.setattr("graphrag_mcp.stores.qdrant.schema.build_index", lambda _, collection: built.append(collection))
    with closing(make_place(files=FILES).app(qdrant_collection="filled", neo4j_uri="")) as app:
        app.index()
        for _ in range(2):
            assert [report.problem for report in app.sync()] == [""]
    assert built == ["filled"] * 2
    assert qdrant.collection_exists("filled")


@pytest.mark.skipif(not QDRANT_KEY_TO_READ, reason="the Qdrant in memory has no keys")
def test_a_key_that_may_only_read_is_named(make_place: Callable[..., Place]) -> None:
    """It searches; the status and `doctor` name it, and what to do instead of a copy; a copy is refused."""
    place = make_place(files=FILES)
    with closing(place.app(neo4j_uri="")) as app:
        app.index()
        app.sync()
        assert [state.may_write for state in app.status().servers] == [True]
    with closing(place.app(neo4j_uri="", qdrant_api_key=QDRANT_KEY_TO_READ)) as app:
        assert {hit.chunk.path for hit in app.search(SearchRequest("tax_of")).primary} >= {"src/tax.py"}
        assert "up to date; this key may only read" in render_status(app.status())
        assert doctor._servers(app.root, app.settings)[1].endswith("; the key may only read")
        (app.root / "src/tax.py").write_text("def tax_of(order):\n    return 0.3 * sum(order)\n")
        app.index()
        assert "has to run where the key is that may write" in render_status(app.status())
        assert "may only read" in app.sync()[0].problem
