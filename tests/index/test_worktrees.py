"""Several work trees of one repository over one index: what they share is stored once, and nothing else is shown."""

import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from tests.golden.check import CORPUS
from tests.index_contents import assert_same_contents, rows
from tests.repositories import commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of a few real sources."""
    root = tmp_path / "project"
    shutil.copytree(CORPUS / "stockroom/orders", root / "stockroom/orders")
    shutil.copy(CORPUS / "stockroom/money.py", root / "stockroom")
    git_init(root)
    return root


@pytest.fixture
def second(repository: Path) -> Path:
    """Another work tree of it, on a branch."""
    tree = repository.parent / "second"
    git(repository, "worktree", "add", "-q", "-b", "topic", str(tree))
    return tree


@pytest.fixture
def apps(repository: Path, second: Path) -> Iterator[tuple[App, App]]:
    """Both trees, indexed."""
    both = opened(repository), opened(second)
    for app in both:
        app.index()
    yield both
    for app in both:
        app.close()


def git_init(root: Path) -> None:
    git(root, "init", "-q")
    commit(root, {})


def opened(root: Path, **environment: str) -> App:
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(root.parent / "data"), **environment}))


def lines_found(app: App, query: str) -> set[str]:
    """Return every line of code that a search and the graph beside it show."""
    result = app.search(SearchRequest(query, limit=20))
    chunks = [hit.chunk for hit in result.primary] + [one.chunk for one in result.expanded]
    return {line for chunk in chunks for line in chunk.text.splitlines()}


def test_a_second_work_tree_costs_next_to_nothing(repository: Path, second: Path) -> None:
    """Its contents are there already: nothing is parsed or embedded, and the file hardly grows."""
    first, other = opened(repository), opened(second)
    whole = first.index()
    before = first.status().index_bytes
    report = other.index()
    assert (report.added, report.embedded, report.reused) == (whole.added, 0, whole.chunks)
    assert other.status().index_file == first.status().index_file
    assert other.status().index_bytes < 1.2 * before
    assert (other.status().files, other.status().chunks) == (first.status().files, first.status().chunks)
    assert other.index().unchanged == whole.added
    first.close()
    other.close()


def test_a_search_shows_no_line_of_another_tree(apps: tuple[App, App], second: Path) -> None:
    """Neither in the results nor in the graph beside them, whatever the other tree changes."""
    first, other = apps
    path = second / "stockroom/money.py"
    path.write_text(path.read_text().replace("def parse_money(", "def read_otherwise("))
    (second / "stockroom/caller.py").write_text(
        "from stockroom.money import parse_money\n\ndef call_it():\n    parse_money('1')\n"
    )
    report = other.index()
    assert (report.added, report.changed) == (1, 1)
    ours, theirs = (
        lines_found(first, "parse_money read an amount of money"),
        lines_found(other, "parse_money read an amount"),
    )
    assert any("def parse_money(" in line for line in ours)
    assert not any("read_otherwise" in line or "call_it" in line for line in ours)
    assert any("read_otherwise" in line for line in theirs)
    assert not any("def parse_money(" in line for line in theirs)
    assert not lines_found(first, "read_otherwise") & {"def read_otherwise("}


def test_what_the_last_tree_leaves_is_removed(apps: tuple[App, App], repository: Path, second: Path) -> None:
    """A content stays while one tree has it, and no longer."""
    first, other = apps
    for tree, app, left in ((second, other, 1), (repository, first, 0)):
        (tree / "stockroom/money.py").unlink()
        assert app.index().removed == 1
        assert rows(first, "SELECT count(*) FROM files WHERE path = 'stockroom/money.py'") == [(left,)]


def test_a_branch_switch_costs_what_differs(apps: tuple[App, App], repository: Path, second: Path) -> None:
    """Only what no tree has is parsed: the other tree's branch costs nothing at all."""
    commit(second, {"stockroom/new_file.py": "def only_on_the_branch():\n    return 1\n"})
    first, other = apps
    other.index()
    git(second, "checkout", "-q", "--detach")
    git(repository, "checkout", "-q", "topic")
    report = first.index()
    assert (report.added, report.changed, report.embedded, report.reused) == (1, 0, 0, 1)
    assert "stockroom/new_file.py" in {
        hit.chunk.path for hit in first.search(SearchRequest("only on the branch")).primary
    }


def test_a_work_tree_that_is_removed_is_forgotten(apps: tuple[App, App], repository: Path, second: Path) -> None:
    """The next run in another tree removes it, and what only it had."""
    first, other = apps
    (second / "mine.py").write_text("def only_here():\n    pass\n")
    other.index()
    git(repository, "worktree", "remove", "--force", str(second))
    first.index()
    assert rows(first, "SELECT count(*) FROM trees") == [(1,)]
    assert rows(first, "SELECT count(*) FROM files WHERE path = 'mine.py'") == [(0,)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_work_tree_whose_name_is_no_utf_8_is_not_forgotten(repository: Path) -> None:
    """It is there, though the index cannot hold its name as it is."""
    odd = Path(os.fsdecode(os.fsencode(repository.parent) + b"/caf\xe9"))
    git(repository, "worktree", "add", "-q", "--detach", str(odd))
    with closing(opened(odd)) as other, closing(opened(repository)) as first:
        other.index()
        first.index()
        assert rows(first, "SELECT count(*) FROM trees") == [(2,)]


@pytest.mark.slow
def test_trees_are_indexed_side_by_side(repository: Path, tmp_path: Path) -> None:
    """Each tree has its own writer; the file that they share ends as if one had written after the other."""
    trees = [repository, *(tmp_path / f"tree{number}" for number in range(3))]
    for number, tree in enumerate(trees[1:]):
        git(repository, "worktree", "add", "-q", "--detach", str(tree))
        (tree / f"only_{number}.py").write_text(f"def only_in_{number}():\n    return {number}\n")
    apps = [opened(tree, GRAPHRAG_WORKERS="1") for tree in trees]
    threads = [threading.Thread(target=app.index) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = [App(tree, load_settings(tree, {"GRAPHRAG_DATA_DIR": str(tmp_path / "again")})) for tree in trees]
    for app in alone:
        app.index()
    assert_same_contents(apps[0], alone[0])
    for app in (*apps, *alone):
        app.close()


def test_tidying_is_left_to_who_writes(repository: Path) -> None:
    """A run does not fail at its very end because another tree's writer holds the file: its rows are committed."""
    app = opened(repository)
    app.index()
    index = app._parts.handle.written()
    with index.database.connection() as connection:
        connection.execute("DELETE FROM sqlite_stat1")  # So that there is something to do.
        connection.execute("PRAGMA busy_timeout = 10")
        connection.execute("SELECT count(*) FROM main.symbols WHERE name_key = 'x' AND file_id = 1").fetchall()
    with closing(sqlite3.connect(index.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        index.writer.checkpoint()
        other.execute("ROLLBACK")
    app.close()


def test_status_names_the_tree(apps: tuple[App, App], second: Path) -> None:
    """Who has several sessions sees which tree this one answers for."""
    status = apps[1].status()
    assert (status.root, status.branch, status.trees) == (str(second), "topic", 2)


@pytest.mark.requirement("K-04")
def test_archive_patterns_reach_files_that_are_indexed(repository: Path) -> None:
    """Another setting counts at the next run, without an edit."""
    app = opened(repository)
    app.index()
    app.close()
    app = opened(repository, GRAPHRAG_ARCHIVE_PATTERNS="stockroom/money.py")
    assert app.index().changed == 0
    assert app.status().archived_files == 1
    assert "stockroom/money.py" not in {hit.chunk.path for hit in app.search(SearchRequest("parse_money")).primary}
    app.close()
