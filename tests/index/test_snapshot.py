"""One search reads one commit of the index, whatever is written meanwhile."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Ranked, SearchRequest
from graphrag_mcp.search import retrieval
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite import database
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from tests.repositories import write_files
from tests.waiting import HANG_SECONDS

QUERY = SearchRequest("renew the token of a Session", limit=5)
SOURCES = {
    "session.py": "class Session:\n    def renew(self):\n        '''Renew the token.'''\n        return token()\n",
    "token.py": "def token():\n    '''Return a new token.'''\n    return 1\n",
    "docs/auth.md": "# Tokens\n\nA session renews its token every hour.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project."""
    root = tmp_path / "project"
    write_files(root, SOURCES)
    return root


def opened(root: Path) -> App:
    """Open the project as one process would."""
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(root.parent / "data"), "GRAPHRAG_WORKERS": "1"}))


@pytest.fixture
def traced(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[App, list[tuple[int, str]]]]:
    """An open project, and the statements that its connections run, each with the number of its connection."""
    statements: list[tuple[int, str]] = []
    connect = database.connect
    numbers = iter(range(1000))

    def connect_traced(path: Path) -> sqlite3.Connection:
        connection, number = connect(path), next(numbers)
        connection.set_trace_callback(lambda sql: statements.append((number, sql)))
        return connection

    monkeypatch.setattr(database, "connect", connect_traced)
    with closing(opened(root)) as app:
        app.index()
        app.search(QUERY)
        statements.clear()
        yield app, statements


def test_a_search_uses_one_connection_and_reads_the_version_once(traced: tuple[App, list[tuple[int, str]]]) -> None:
    """All its look-ups, those in other threads too, share one transaction."""
    app, statements = traced
    result = app.search(QUERY)
    assert result.primary
    assert result.meta.search_strategy.fts_enabled
    assert any("MATCH" in sql for _, sql in statements)
    assert len({number for number, _ in statements}) == 1
    assert sum("generation" in sql for _, sql in statements) == 1
    assert [sql for _, sql in statements if sql in ("BEGIN", "ROLLBACK", "COMMIT")] == ["BEGIN", "ROLLBACK"]


def test_what_is_committed_during_a_search_is_seen_by_the_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates from before a commit are not read after it: nothing is half there."""
    monkeypatch.setattr(retrieval, "STORE_TIMEOUT_SECONDS", HANG_SECONDS)  # The store waits for an index run.
    with closing(opened(root)) as app, closing(opened(root)) as writer:
        app.index()
        before = [hit.chunk for hit in app.search(QUERY).primary]
        search = SqliteKeywordIndex.search
        written = threading.Event()

        def search_and_write(index: SqliteKeywordIndex, terms: list[str], limit: int, scope: Scope) -> list[Ranked]:
            found = search(index, terms, limit, scope)
            if not written.is_set():
                written.set()
                (root / "session.py").unlink()
                thread = threading.Thread(target=writer.index)
                thread.start()
                thread.join()
            return found

        monkeypatch.setattr(SqliteKeywordIndex, "search", search_and_write)
        with app.view() as view:
            during = view._search_servers(QUERY, view.state)
        assert written.is_set()
        assert [hit.chunk for hit in during.primary] == before
        after = app.search(QUERY)
        assert {hit.chunk.path for hit in after.primary} == {"token.py", "docs/auth.md"}


def test_a_snapshot_inside_another_is_the_same_one(root: Path) -> None:
    """A caller that reads several things wraps them all."""
    location = IndexPaths(root, str(root.parent / "data"))
    with closing(opened(root)) as app, closing(Handle(root, location, "")) as handle:
        app.index()
        with handle.snapshot() as outer:
            version = outer.database.commit_number()
            (root / "token.py").write_text("def token():\n    return 2\n")
            app.index()
            with handle.snapshot() as inner:
                assert inner is outer
                assert inner.database.commit_number() == version
        with handle.snapshot() as later:
            assert later.database.commit_number() > version


def test_a_run_does_not_wait_for_a_long_question(root: Path) -> None:
    """While it waits to empty the log, no other tree can be written; the next run empties it."""
    with closing(opened(root)) as app, closing(opened(root)) as writer:
        app.index()
        log = Path(f"{app.status().index_file}-wal")
        with app._parts.handle.snapshot():
            (root / "token.py").write_text("def token():\n    return 2\n")
            began = time.monotonic()
            writer.index()
            assert time.monotonic() - began < database.WRITE_TIMEOUT_SECONDS / 2
            assert log.stat().st_size
        writer.index()
        assert not log.stat().st_size


def test_a_thread_that_outlives_a_snapshot_reads_the_last_commit(root: Path) -> None:
    """A server that answers too late finds no transaction of a search that is over."""
    with closing(opened(root)) as app:
        app.index()
        threads = app._parts.orchestrator.retriever._full_text
        go = threading.Event()
        with app._parts.handle.snapshot() as index:
            late = threads.submit(lambda: (go.wait(10), index.catalog.paths(Scope()))[1])
        go.set()
        assert [path for path, _ in late.result(10)] == sorted(SOURCES)
