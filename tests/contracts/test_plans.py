"""What SQLite reads for a search and for an exact answer: what they are about, however large the repository is."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index.stores import IndexStores
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.database import Database

STEP = 100  # Of SQLite's virtual machine: how often it tells how far it is.

_OF_GRAPH = re.compile(r"\b(links|linked|symbols|module_keys|keywords k)\b")

_VALUES = re.compile(r"x?'[^']*'|(?<![?\w.])\d[\w.]*", re.IGNORECASE)

Write = Callable[[str, int], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a project of eight modules with one function of a common name each, and so many others beside it."""

    def write(name: str, others: int) -> Path:
        root = tmp_path / name / "project"
        root.mkdir(parents=True)
        for number in range(8):
            (root / f"part_{number}.py").write_text(
                f"from part_{(number + 1) % 8} import load\n\n\n"
                f"class Box{number}:\n    def open(self):\n        load()\n\n\n"
                f"def load():\n    return Box{number}()\n\n\n"
                f"def only_{number}():\n    return load()\n"
            )
        for number in range(others):
            (root / f"far_{number}.py").write_text(
                f"from far_{number + 1} import zinc_{number + 1}\n\n\n"
                f"def zinc_{number}():\n    return zinc_{number + 1}()\n"
            )
        return root

    return write


@contextmanager
def _opened(root: Path) -> Iterator[App]:
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(root.parent / "data")}))) as app:
        app.index()
        yield app


@pytest.mark.slow
def test_the_graph_is_not_read_as_a_whole(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a search, an exact answer or a copy of one file: no scan, no Bloom filter, no index made for one query."""
    steps: Counter[str] = Counter()
    databases: list[Database] = []

    def counted(self: Database, sql: str, parameters: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        def count() -> None:
            steps[sql] += 1

        databases.append(self)
        with self.connection() as connection:
            connection.set_progress_handler(count, STEP)
            try:
                return connection.execute(sql, tuple(parameters)).fetchall()
            finally:
                connection.set_progress_handler(None, STEP)

    def ask(others: int) -> Counter[str]:
        with _opened(write(str(others), others)) as app:
            app.navigator().trace("load", Direction.CALLERS, 1)  # Which files are not resolved is read once a commit.
            monkeypatch.setattr(Database, "rows", counted)
            steps.clear()
            databases.clear()
            for query in ("Box3", "who calls only_2", "part_4.py"):
                app.search(SearchRequest(query))
            copied = IndexStores(databases[0]).replica_source("project", "model")
            copied.read(["part_5.py"])
            for name in ("load", "only_1", "Box5", "part_6.py"):
                app.navigator().symbols(name)
                app.navigator().impact(name, 3)
                for direction in Direction:
                    app.navigator().trace(name, direction, 2)
            monkeypatch.undo()
        return Counter({sql: count for sql, count in steps.items() if _OF_GRAPH.search(sql)})

    small, large = ask(100), ask(800)  # Enough in either for all the candidates that a search takes.
    assert small.total() > 100
    assert {sql: (small[sql], count) for sql, count in large.items() if count > 1.5 * small[sql] + 20} == {}


@pytest.mark.slow
def test_an_edit_does_not_read_the_whole_index(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed file, a new one, one that is gone, and one with a content that the index has of it."""
    steps: Counter[str] = Counter()
    connect = Database.connection

    @contextmanager
    def counted(self: Database) -> Iterator[sqlite3.Connection]:
        running = ""

        def begin(statement: str) -> None:
            nonlocal running
            running = _VALUES.sub("?", statement)

        def count() -> None:
            steps[running] += 1

        with connect(self) as connection:
            connection.set_trace_callback(begin)
            connection.set_progress_handler(count, STEP)
            try:
                yield connection
            finally:
                connection.set_progress_handler(None, STEP)
                connection.set_trace_callback(None)

    def edit(others: int) -> Counter[str]:
        root = write(str(others), others)
        steps.clear()
        with _opened(root) as app:
            (root / "part_0.py").write_text("def load():\n    return 0\n")
            (root / "part_1.py").rename(root / "part_9.py")
            touched = (root / "part_2.py").read_text()
            (root / "part_2.py").write_text(touched)
            monkeypatch.setattr(Database, "connection", counted)
            with app._parts.handle.writing():
                app._parts.supervisor._indexer().update(["part_0.py", "part_1.py", "part_2.py", "part_9.py"])
            monkeypatch.undo()
        return Counter(steps)

    small, large = edit(100), edit(800)
    assert any(sql.startswith("INSERT INTO main.links ") for sql in large)
    assert {sql: (small[sql], count) for sql, count in large.items() if count > 1.5 * small[sql] + 20} == {}


def test_what_is_copied_costs_as_much_in_one_statement_as_file_by_file(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settling many relations at once, and comparing all files with a server, take steps in proportion to the files."""
    steps: Counter[str] = Counter()

    def counted(self: Database, sql: str, parameters: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        def count() -> None:
            steps["all"] += 1

        with self.connection() as connection:
            connection.set_progress_handler(count, STEP)
            try:
                return connection.execute(sql, tuple(parameters)).fetchall()
            finally:
                connection.set_progress_handler(None, STEP)

    def ask(others: int) -> dict[str, int]:
        with _opened(write(str(others), others)) as app:
            copied = app._parts.handle.searched().replica_source("project", "model")
            monkeypatch.setattr(Database, "rows", counted)
            found = {}
            paths = sorted(copied.versions())
            for name, ask in {
                "at once": lambda: copied.read(paths),
                "file by file": lambda: [copied.read([path]) for path in paths],
                "versions": copied.versions,
            }.items():
                steps.clear()
                ask()
                found[name] = steps["all"]
            monkeypatch.undo()
        return found

    small, large = ask(100), ask(400)
    assert small["file by file"] > 100
    assert large["at once"] <= 1.2 * large["file by file"]
    assert large["versions"] <= 1.5 * 400 / 100 * small["versions"] + 20


def test_an_index_has_no_statistics_of_names(write: Write) -> None:
    """They are not evenly used: by the mean, SQLite would read every mention of the commonest."""
    root = write("one", 0)
    with _opened(root):
        (index,) = root.parent.glob("data/*/index*.sqlite")
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("ANALYZE")
    (root / "part_0.py").write_text("def load():\n    return 0\n")
    with _opened(root), closing(sqlite3.connect(index)) as connection:
        assert set(connection.execute("SELECT tbl FROM sqlite_stat1")) == {("tree_files",)}


@pytest.mark.parametrize(("said", "is_kept"), [("5 1 1", True), ("15 1 1", True), ("3 1 1", False), ("17 1 1", False)])
def test_files_are_counted_anew_when_there_are_twice_or_half_as_many(write: Write, said: str, is_kept: bool) -> None:
    """A run that changes nothing has nothing to write for it."""
    root = write("one", 0)
    with _opened(root):
        (index,) = root.parent.glob("data/*/index*.sqlite")
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE sqlite_stat1 SET stat = ?", (said,))
    with _opened(root), closing(sqlite3.connect(index)) as connection:
        assert (set(connection.execute("SELECT stat FROM sqlite_stat1")) == {(said,)}) is is_kept
