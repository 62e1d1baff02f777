"""After any edits, interruptions and edits in between, a graph is what a copy from scratch is."""

import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from neo4j import Driver

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import ServerError
from graphrag_mcp.index import replica_relations as relations
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.reports import SyncReport
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.stores.neo4j.replica import Neo4jReplica
from graphrag_mcp.stores.neo4j.schema import Neo4jProject
from graphrag_mcp.stores.replica import RelatedFile, ReplicatedFile
from tests.servers.conftest import Place

pytestmark = pytest.mark.server
ROUNDS = 6
A, B = "def first():\n    pass\n", "from a import first\n\n\ndef second():\n    first()\n"
_NODES = "MATCH (n {project: $project}) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties"
_PACKAGES = "MATCH (p:Project {key: $project}) RETURN p.packages AS names"
_EDGES = """MATCH (a {project: $project})-[r]->(b) RETURN elementId(a) AS a, elementId(b) AS b, type(r) AS type,
    properties(r) AS properties, b.name AS name"""


class Interrupted:
    """Fails after some writes of a copy, or edits the project in between, as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        self.edit: Callable[[], None] = lambda: None
        for name in ("write", "relate", "delete", "declare"):
            monkeypatch.setattr(Neo4jReplica, name, self._wrapped(getattr(Neo4jReplica, name)))

    def _wrapped(self, write: Callable[..., None]) -> Callable[..., None]:
        def interrupted(server: Neo4jReplica, what: Sequence[Any]) -> None:
            self.edit()
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    raise ServerError("it broke")
            write(server, what)

        return interrupted


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Interrupted:
    """Small batches, so that there is much to interrupt."""
    for name, size in (("BATCH_FILES", 2), ("BATCH_CHUNKS", 4), ("BATCH_RELATIONS", 4)):
        monkeypatch.setattr(f"graphrag_mcp.index.replicator.{name}", size)
    return Interrupted(monkeypatch)


def _graph(driver: Driver, project: str) -> Counter[tuple[str, ...]]:
    """Return all that a project has in the graph, without its name and what differs with it."""
    nodes = driver.execute_query(_NODES, {"project": project}).records
    names, chunks, found = dict[str, str](), dict[str, str](), Counter[tuple[str, ...]]()
    for node in nodes:
        properties = {name: value for name, value in node["properties"].items() if name != "written_at"}
        if "Chunk" in node["labels"]:
            chunks[properties["key"]] = f"{properties['path']} {properties['version']} {properties['ordinal']}"
            properties["key"] = chunks[properties["key"]]
        names[node["id"]] = f"{sorted(node['labels'])} {properties['key']}".replace(project, "")
        found["node", str(sorted(node["labels"])), str(sorted(properties.items())).replace(project, "")] += 1
    for edge in driver.execute_query(_EDGES, {"project": project}).records:
        properties = {**edge["properties"], "chunk": chunks.get(edge["properties"].get("chunk"))}
        target = names.get(edge["b"], edge["name"])
        if edge["type"] != "IMPORTS" or "Project" not in names[edge["a"]]:  # They follow what other tests copied.
            found[edge["type"], names[edge["a"]], target, str(sorted(properties.items(), key=str))] += 1
    return found


def _sync(app: App, **how: bool) -> SyncReport:
    (report,) = app.sync(agree=lambda _: True, **how)
    return report


def _compare(app: App, place: Place, driver: Driver, fresh: str) -> None:
    """Compare the copy with one from scratch."""
    assert _sync(app).problem == ""
    with closing(place.app(qdrant_url="", project_id=fresh)) as other:
        assert _sync(other, rebuild=True).problem == ""
    here, there = (_graph(driver, project) for project in (place.environ["GRAPHRAG_PROJECT_ID"], fresh))
    assert (here - there, there - here) == (Counter(), Counter())
    assert sum(here.values()) > 20


class Editor:
    """Edits a small project in five languages at random."""

    NAMES = ("alpha", "beta", "gamma", "run")
    TYPES = ("Rate", "Flat", "Box")

    def __init__(self, root: Path, seed: int) -> None:
        self._root, self._choose = root, random.Random(seed)
        self._before: list[tuple[Path, str | None]] = []
        self._paths = [root / path for path in PATHS.split()]
        for path in self._paths:
            self._write(path, self._text(path))
        self._write(root / "go.mod", "module example.org/m\n")

    def edit(self) -> None:
        """Write, remove, move or restore something."""
        choose, path = self._choose, self._choose.choice(self._paths)
        kind = choose.random()
        if kind < 0.25 and self._before:
            self._write(*self._before.pop())
        elif kind < 0.4:
            self._write(path, None)
        elif kind < 0.5 and path.is_file():
            other = choose.choice([one for one in self._paths if one.suffix == path.suffix])
            self._write(other, path.read_text())
            self._write(path, None)
        elif kind < 0.55:
            (self._root / ".graphragarchive").write_text(choose.choice(("old/\n", "web/\n", "docs/\n")))
        else:
            self._write(path, "" if kind < 0.6 else self._text(path))

    def _write(self, path: Path, text: str | None) -> None:
        self._before.append((path, path.read_text() if path.is_file() else None))
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text)

    def _text(self, path: Path) -> str:
        """Fill in the parts of a file at random."""
        parts = PARTS[path.suffix]
        chosen = self._choose.choices(parts, k=self._choose.randint(1, 4))
        head = HEADS.get(path.suffix, "").replace("FOLDER", path.parent.name)

        def fill(match: re.Match[str]) -> str:
            return self._choose.choice(self.TYPES if match[0].isupper() and match[0] == "TYPE" else self.NAMES)

        return head + "".join(re.sub(r"\b(?:TYPE|name)\b", fill, part) for part in chosen)


PATHS = """
pkg/a.py pkg/b.py pkg/c.py pkg/__init__.py tests/test_a.py tax/t.go tax/u.go tax/t_test.go cmd/main.go
web/m.ts web/n.ts j/Rate.java j/Flat.java r/x.rb r/y.rb docs/a.md old/a.py
"""
HEADS = {".go": "package FOLDER\n\n", ".java": "package j;\n\nimport java.util.List;\n\n"}
PARTS = {
    ".py": (
        "from pkg.a import name\n",
        "import pkg.b\nimport json\n",
        "def name(x):\n    return name(x)\n\n\n",
        "class TYPE(object):\n    def name(self):\n        return self.name() + name(1)\n\n\n",
        "def test_name():\n    assert name(1)\n\n\n",
    ),
    ".go": (
        'import "example.org/m/tax"\n\nfunc name() int { return tax.name() }\n\n',
        "func name(x int) int { return name(x) }\n\n",
        "type TYPE interface {\n\tname(a int) int\n}\n\n",
        "type TYPE struct{ f int }\n\nfunc (b TYPE) name(a int) int { return a }\n\n",
        "func name(r TYPE) int { return r.name(1) }\n\n",
    ),
    ".ts": (
        "import { name } from './m'\n",
        "export function name(x: number) { return name(x) }\n",
        "export interface TYPE { name(): number }\n",
        "export class TYPE { name() { return this.name() } }\n",
    ),
    ".java": (
        "class TYPE extends TYPE {\n  int name(int x) { return name(x); }\n}\n",
        "interface TYPE { int name(int x); }\n",
        "class TYPE {\n  int name(TYPE u) { return u.name(1); }\n}\n",
    ),
    ".rb": (
        "require_relative 'x'\n",
        "def name(x)\n  name(x)\nend\n",
        "class TYPE\n  def name\n    name\n  end\nend\n",
    ),
    ".md": ("# name\n\nSee [it](../pkg/a.py).\n\n", "## TYPE\n\nText.\n\n"),
}


@pytest.mark.parametrize("seed", (26, 37, 40))
def test_after_any_edits_a_graph_is_that_of_a_copy_from_scratch(
    make_place: Callable[..., Place], neo4j_driver: Driver, interrupted: Interrupted, seed: int
) -> None:
    """Edits between copies and during them, copies that break anywhere, files that come back."""
    place, choose = make_place(files={}), random.Random(seed)
    place.root.mkdir(exist_ok=True)
    editor = Editor(place.root, seed)
    with closing(place.app(qdrant_url="")) as app:
        app.index()

        def edit_now() -> None:
            if choose.random() < 0.2:
                editor.edit()
                app.index()

        for step in range(ROUNDS):
            for _ in range(choose.randint(1, 4)):
                editor.edit()
            app.index()
            for _ in range(choose.randint(0, 2)):
                interrupted.left, interrupted.edit = choose.randint(0, 8), edit_now
                _sync(app)
                interrupted.left, interrupted.edit = None, lambda: None
                if choose.random() < 0.5:
                    editor.edit()
            app.index()
            _compare(app, place, neo4j_driver, f"fresh-{seed}-{step}")


@pytest.fixture
def pair(make_place: Callable[..., Place]) -> Iterator[tuple[App, Place]]:
    """Two files, of which one calls the other."""
    place = make_place(files={"a.py": A, "b.py": B, "pkg/__init__.py": ""})
    with closing(place.app(qdrant_url="")) as app:
        app.index()
        assert _sync(app).problem == ""
        yield app, place


def _rewrite(app: App, text: str | None) -> None:
    (app.root / "a.py").unlink(missing_ok=True)
    if text is not None:
        (app.root / "a.py").write_text(text)
    app.index()


@pytest.mark.parametrize("other", ["def other():\n    pass\n", None])
def test_a_name_that_goes_and_comes_back_has_its_callers_again(
    pair: tuple[App, Place], neo4j_driver: Driver, interrupted: Interrupted, other: str | None
) -> None:
    """Where the copy in between broke before the relations; and where it came back during one copy."""
    app, place = pair
    _rewrite(app, other)
    interrupted.left = 1
    assert _sync(app).problem == "it broke"
    interrupted.left = None
    _rewrite(app, A)
    _compare(app, place, neo4j_driver, "fresh-back")
    texts = iter([A])
    interrupted.edit = lambda: _rewrite(app, text) if (text := next(texts, None)) else None
    _rewrite(app, other)
    _sync(app)
    interrupted.edit = lambda: None
    _compare(app, place, neo4j_driver, "fresh-again")


def test_what_comes_and_goes_while_relations_are_read_is_read_again(
    pair: tuple[App, Place], neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read in between is of no state that remains."""
    app, place = pair
    (app.root / "b.py").write_text(f"import extra\n{B}")
    app.index()
    assert _sync(app).problem == ""
    source = app._parts.handle.searched().replica_source(place.environ["GRAPHRAG_PROJECT_ID"], "")
    source.forget(f"{app.status().servers[0].name} relations")  # Nothing but relations has to be sent.
    find, once = relations._find_in, iter([True])

    def changing(graph: object, project: str, path: str, *rest: Any) -> object:
        if path != "b.py" or not next(once, False):
            return find(graph, project, path, *rest)  # type: ignore[arg-type]
        (app.root / "extra.py").write_text("")
        app.index()
        try:
            return find(graph, project, path, *rest)  # type: ignore[arg-type]
        finally:
            (app.root / "extra.py").unlink()
            app.index()

    monkeypatch.setattr(relations, "_find_in", changing)
    relations._opened.cache_clear()
    _sync(app)
    assert next(once, None) is None
    _compare(app, place, neo4j_driver, "fresh-between")


def test_relations_that_could_not_be_read_are_told_and_read_again(
    pair: tuple[App, Place], neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy without them is not whole."""
    app, place = pair
    (app.root / "b.py").write_text(B + "\n\nsecond()\n")
    app.index()
    find = relations._find_in

    def failing(graph: object, project: str, path: str, *rest: Any) -> object:
        if path == "a.py":
            raise RecursionError("too deep")
        return find(graph, project, path, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(relations, "_find_in", failing)
        assert "the relations to a.py could not be read (RecursionError: too deep)" in _sync(app).problem
        assert app.status().servers[0].pending == 1
    _compare(app, place, neo4j_driver, "fresh-whole")


def test_a_first_copy_that_broke_among_the_relations_states_its_packages_later(
    make_place: Callable[..., Place], neo4j_driver: Driver, interrupted: Interrupted
) -> None:
    """Also where no file is left to send; a name that is no text is none."""
    files = {"a.py": A, "b.py": B, "package.json": '{"name": "\\ud800pkg"}', "web/package.json": '{"name": "shop"}'}
    place = make_place(files=files)
    with closing(place.app(qdrant_url="")) as app:
        app.index()
        for interrupted.left in (4, 3, 2, 1):
            _sync(app)
        interrupted.left = None
        assert _sync(app).problem == ""
        asked = {"project": place.environ["GRAPHRAG_PROJECT_ID"]}
        records = neo4j_driver.execute_query(
            "MATCH (p:Project {key: $project}) RETURN p.packages AS names", asked
        ).records
        assert records[0]["names"] == ["shop"]


def test_projects_that_are_copied_at_the_same_time_are_joined_once(
    make_place: Callable[..., Place], neo4j_driver: Driver
) -> None:
    """However often they state at once what they import."""
    modules = ("one", "two", "three", "four")
    replicas, problems = [], list[str]()
    for name in modules:
        imports = "".join(f'import "example.org/{other}"\n' for other in modules if other != name)
        files = {"go.mod": f"module example.org/{name}\n", "m.go": f"package m\n\n{imports}\n"}
        with closing(make_place(name, files).app(qdrant_url="")) as app:
            app.index()
            assert _sync(app).problem == ""
            replicas.append(Neo4jReplica(Neo4jProject(neo4j_driver, "", app._parts.servers.project), ""))

    def state(replica: Neo4jReplica, name: str) -> None:
        try:
            for _ in range(20):
                replica.declare([f"example.org/{name}"])
        except ServerError as error:
            problems.append(str(error))

    threads = [threading.Thread(target=state, args=pair) for pair in zip(replicas, modules, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    between = "MATCH (a:Project)-[r:IMPORTS]->(b:Project) WHERE a.key IN $all AND b.key IN $all RETURN count(r) AS n"
    projects = [replica._project.name for replica in replicas]
    assert (neo4j_driver.execute_query(between, {"all": projects}).records[0]["n"], problems) == (12, [])


def test_a_file_without_text_is_a_file(make_place: Callable[..., Place]) -> None:
    """An empty `__init__.py` has importers, and is found without an index."""
    place = make_place(files={"p/__init__.py": "", "use.py": "import p\n"})
    with closing(place.app()) as app, closing(place.remote()) as remote:
        app.index()
        app.sync()
        for asked in (app, remote):
            with asked.view() as view:
                trace = view.navigator.trace("p/__init__.py", Direction.IMPORTERS, 1, Scope())
                assert [step.source.path for step in trace.steps] == ["use.py"]


def test_projects_that_share_a_package_are_copied_and_removed_at_the_same_time(neo4j_driver: Driver) -> None:
    """Each has the packages that it imports as nodes of its own, so none is in another's way."""
    problems = list[str]()
    replicas = [Neo4jReplica(Neo4jProject(neo4j_driver, "", f"sharing-{uuid4()}"), "") for _ in range(4)]
    replicas[0].prepare()
    file = ReplicatedFile("m.py", "1", "1", Category.IMPLEMENTATION, "python", (), {}, (), ())
    related = RelatedFile("m.py", (), [(f"shared{number}", number) for number in range(1, 30)], (), (), "1")

    def come_and_go(replica: Neo4jReplica) -> None:
        try:
            for _ in range(10):
                replica.clear()
                replica.write([file])
                replica.relate([related])
        except ServerError as error:
            problems.append(str(error))

    threads = [threading.Thread(target=come_and_go, args=(replica,)) for replica in replicas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = "MATCH (f:File)-[:IMPORTS]->(x:External) WHERE f.project IN $all RETURN count(*) AS n"
    named = {"all": [replica._project.name for replica in replicas]}
    assert (neo4j_driver.execute_query(count, named).records[0]["n"], problems) == (4 * 29, [])
    for replica in replicas:
        replica.clear()
    left = neo4j_driver.execute_query("MATCH (x:External) WHERE x.name STARTS WITH 'shared' RETURN count(x) AS n")
    assert left.records[0]["n"] == 0
