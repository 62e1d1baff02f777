"""Whatever happened to the index file: the next run has everything, and a search does not break."""

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import IndexStoreError
from graphrag_mcp.index.indexer import Indexer
from graphrag_mcp.model.reports import IndexReport
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from tests.index_contents import assert_same_contents, contents
from tests.reliability.conftest import Report, Size
from tests.reliability.projects import Project
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

QUERY = SearchRequest("open a cookie session")


class Indexed:
    """A project with its index file, and a sound copy to compare with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = Project(folder / "project", 12)
        self.clean = self.open("clean")
        self.clean.index()
        with self.indexed():
            pass
        (self.file,) = (folder / "data").glob("*/index-*.sqlite")
        self.sound = self.file.read_bytes()

    def open(self, data: str = "data") -> App:
        environment = {"GRAPHRAG_DATA_DIR": str(self.folder / data), "GRAPHRAG_WORKERS": "1"}
        return App(self.project.root, load_settings(self.project.root, environment))

    def indexed(self) -> "closing[App]":
        app = self.open()
        app.index()
        return closing(app)

    def damage(self, data: bytes) -> None:
        for part in self.file.parent.glob(f"{self.file.name}*"):
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        self.file.write_bytes(data)

    def damage_where_nobody_reads(self) -> None:
        """Overwrite the first page of the vectors' table."""
        with closing(sqlite3.connect(self.file)) as connection:
            ((size,),) = connection.execute("PRAGMA page_size").fetchall()
            ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'vectors'").fetchall()
        self.damage(self.sound[: (page - 1) * size] + b"\xff" * size + self.sound[page * size :])

    def assert_recovers(self) -> None:
        """Fail unless a run leaves the index of a clean one, and searches are answered."""
        with self.indexed() as app:
            assert app.search(QUERY).primary
            assert_same_contents(app, self.clean)


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Indexed]:
    one = Indexed(tmp_path)
    yield one
    one.clean.close()


def test_a_file_that_was_cut_short_is_replaced(indexed: Indexed, size: Size, report: Report) -> None:
    """At any length."""
    lengths = [0, 1, 15, 16, 99, 100, 4095, 4096, 4097]
    chance = random.Random(2)
    lengths += [chance.randrange(len(indexed.sound)) for _ in range(size(5, 100))]
    for length in lengths:
        indexed.damage(indexed.sound[:length])
        indexed.assert_recovers()
    report("files cut short", files=len(lengths), failed=0)


def test_a_file_with_foreign_bytes_answers_or_is_replaced(indexed: Indexed, size: Size, report: Report) -> None:
    """Wherever they are: never an exception, and a rebuild has everything."""
    chance = random.Random(3)
    replaced = 0
    runs = size(10, 200)
    for _ in range(runs):
        data = bytearray(indexed.sound)
        start = chance.randrange(len(data))
        data[start : start + 64] = chance.randbytes(64)
        indexed.damage(bytes(data[: len(indexed.sound)]))
        with closing(indexed.open()) as app:
            try:
                app.search(QUERY)
            except (IndexStoreError, sqlite3.DatabaseError):  # The server opens the index anew then.
                replaced += 1
        with closing(indexed.open()) as app:
            app.index()
        with closing(indexed.open()) as app:
            app.index(rebuild=True)
            assert contents(app)["chunks"] == contents(indexed.clean)["chunks"]
    report("files with foreign bytes", files=runs, unreadable=replaced, failed=0)


@pytest.mark.parametrize("serve", [False, True])
def test_damage_that_nothing_meets_is_found_by_the_next_run(indexed: Indexed, serve: bool) -> None:
    """Where neither the start, nor a run that changes nothing, nor a search of another file reads."""
    indexed.damage_where_nobody_reads()
    with closing(indexed.open()) as app:
        if serve:
            app.start()
            wait_until(lambda: app.status().warnings, 20)
            wait_until(lambda: app.index_state().state == "ready", 20)
        else:
            app.index()
        assert_same_contents(app, indexed.clean)
        (warning,) = app.status().warnings
        assert "is damaged" in warning


@pytest.mark.parametrize("error", [sqlite3.IntegrityError("UNIQUE constraint failed"), KeyError("no such row")])
def test_damage_that_makes_a_run_fail_in_another_way_is_found(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A row that is there twice, say: the file is looked at before anybody is told that it cannot be written."""
    indexed.damage_where_nobody_reads()
    reconcile, errors = Indexer.reconcile, [error]

    def fail_once(indexer: Indexer, *given: Any) -> IndexReport:
        if errors:
            raise errors.pop()
        return reconcile(indexer, *given)

    monkeypatch.setattr(Indexer, "reconcile", fail_once)
    with closing(indexed.open()) as app:
        app.index()
        assert_same_contents(app, indexed.clean)


@pytest.mark.parametrize("version", [1, 2, 99])
def test_a_file_of_another_format_is_moved_aside(indexed: Indexed, version: int) -> None:
    """Under our name; other versions of the package have names of their own."""
    with closing(sqlite3.connect(indexed.file)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    indexed.assert_recovers()
    assert len(list(indexed.file.parent.glob("*unusable*"))) == 1


def test_the_index_of_another_version_of_the_package_is_left_alone(indexed: Indexed) -> None:
    """Two versions may be in use side by side."""
    other = indexed.file.with_name("index-99.sqlite")
    other.write_bytes(b"of tomorrow")
    indexed.assert_recovers()
    assert other.read_bytes() == b"of tomorrow"


def test_only_the_last_damaged_file_is_kept(indexed: Indexed) -> None:
    """They would fill the disk."""
    for _ in range(3):
        indexed.damage(b"not an index" * 1000)
        indexed.assert_recovers()
    assert len(list(indexed.file.parent.glob("*unusable*"))) == 1


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: file.unlink(),
        lambda file: shutil.rmtree(file.parent),
        lambda file: file.rename(file.with_suffix(".moved")),
    ],
)
def test_a_file_that_vanishes_under_a_running_process_is_made_again(
    indexed: Indexed, harm: Callable[[Path], None]
) -> None:
    """As when somebody clears the data folder: the next search does not break, and the next run has everything."""
    with indexed.indexed() as app:
        assert app.search(QUERY).primary
        harm(indexed.file)
        app.search(QUERY)
        app.index()
        assert app.search(QUERY).primary
        assert_same_contents(app, indexed.clean)


def test_a_log_that_belongs_to_another_file_changes_nothing(indexed: Indexed) -> None:
    """A write-ahead log of an older copy, as a restored backup may leave it."""
    indexed.damage(indexed.sound)
    Path(f"{indexed.file}-wal").write_bytes(os.urandom(40_000))
    indexed.assert_recovers()


def test_a_folder_in_its_place_is_said(indexed: Indexed) -> None:
    """One sentence, and nothing is removed."""
    indexed.file.unlink()
    indexed.file.mkdir()
    (indexed.file / "precious").touch()
    with closing(indexed.open()) as app, pytest.raises(IndexStoreError, match=r"cannot be .*index-\d+\.sqlite|cannot"):
        app.index()
    assert (indexed.file / "precious").exists()


def test_a_clock_that_goes_backwards_loses_no_edit(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are told apart by whether their time differs, not by which is later."""
    path = indexed.project.paths[0]
    monkeypatch.setattr(time, "time", lambda: 1_000_000_000.0)
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000 * 10**9)
    path.write_text("def written_in_the_past():\n    return 1\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    with closing(indexed.open()) as app:
        assert app.index().changed == 1
        hit = app.search(SearchRequest("written_in_the_past")).primary[0]
        assert (hit.chunk.symbol, hit.chunk.stale) == ("written_in_the_past", "")
        assert app.index().changed == 0
