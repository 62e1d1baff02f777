"""What users are told of errors: one sentence with a next step, and never the name of an exception."""

import builtins
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from graphrag_mcp.errors import IndexDamagedError, IndexStoreError, RequestError
from graphrag_mcp.index.failures import explain
from graphrag_mcp.stores.sqlite import database
from graphrag_mcp.stores.sqlite.database import Database, connect, has_tables
from graphrag_mcp.stores.sqlite.unusable import replace_if_unusable

NAMES = {name for name in (*vars(builtins), *vars(sqlite3)) if name.endswith("Error")}


def sqlite_error(code: int, text: str) -> sqlite3.Error:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (sqlite_error(sqlite3.SQLITE_BUSY, "database is locked"), "retry in a moment"),
        (sqlite_error(sqlite3.SQLITE_CORRUPT, "database disk image is malformed"), "run `graphrag-mcp index`"),
        (sqlite_error(sqlite3.SQLITE_NOTADB, "file is not a database"), "run `graphrag-mcp index`"),
        (sqlite_error(sqlite3.SQLITE_IOERR, "disk I/O error"), "check the disk"),
        (MemoryError(), "close other programs"),
        (OSError(28, "No space left on device"), "make room"),
        (PermissionError(13, "Permission denied", "/data/x"), "check the disk and its permissions"),
        (RequestError("query", "query is required: give text"), "give text"),
    ],
)
def test_an_error_is_explained_by_a_sentence_with_a_next_step(error: Exception, step: str) -> None:
    """Without the name of its class."""
    text = explain(error)
    assert step in text
    assert not any(name in text for name in NAMES)


@pytest.mark.parametrize("error", [KeyError("path"), ValueError("odd"), OSError("no number")])
def test_an_error_that_nobody_expected_is_not_explained(error: Exception) -> None:
    """What it means is for its log."""
    assert explain(error) == ""


def test_harm_to_an_open_file_is_told_from_what_sqlite_does(tmp_path: Path) -> None:
    """It grows and its log is emptied, but neither is ever cut or removed while it is open."""
    path = tmp_path / "index-4.sqlite"
    with closing(Database(path, "/root")) as database, closing(Database(path, "/root")) as other:
        with other.transaction() as connection:
            connection.execute("INSERT INTO main.meta VALUES (1, 'key', ?)", ("x" * 100_000,))
            connection.execute("DELETE FROM main.meta")
        with other.connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert database.commit_number() == 0
        assert database.harm() == ""
        other.close()
        assert database.harm() == ""
        os.truncate(path, path.stat().st_size - 4096)
        assert database.harm() == "it was cut short"
    with closing(Database(tmp_path / "other.sqlite", "/root")) as database:
        assert database.commit_number() == 0
        database.path.with_name("other.sqlite-wal").unlink()
        assert database.harm() == "its log was removed"


def test_a_file_whose_tables_are_being_made_is_no_other_format(tmp_path: Path) -> None:
    """Another process commits them between any two statements of the one that opens the file."""
    path = tmp_path / "index.sqlite"
    with closing(connect(path)) as opened:
        asked: list[str] = []

        def make_tables(statement: str) -> None:
            asked.append(statement)
            if len(asked) == 2:
                Database(path, "/root").close()

        opened.set_trace_callback(make_tables)
        has_tables(opened, path)
        opened.set_trace_callback(None)
        Database(path, "/root").close()
        assert has_tables(opened, path)


def test_a_file_is_created_by_many_at_once(tmp_path: Path) -> None:
    """SQLite refuses one of two connections that turn the log on at the same moment."""
    for number in range(50):
        path, start = tmp_path / f"{number}.sqlite", threading.Barrier(4)

        def create(path: Path = path, start: threading.Barrier = start) -> int:
            start.wait()
            with closing(Database(path, "/root")) as database:
                return database.tree.tree_id

        with ThreadPoolExecutor(4) as threads:
            assert len({made.result() for made in [threads.submit(create) for _ in range(4)]}) == 1


def test_a_process_that_does_not_stop_creating_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do about it; a file that is there needs no lock."""
    monkeypatch.setattr(database, "WRITE_TIMEOUT_SECONDS", 0.1)
    Database(tmp_path / "index.sqlite", "/root").close()
    with FileLock(tmp_path / "create.lock"):
        Database(tmp_path / "index.sqlite", "/root").close()
        (tmp_path / "new.sqlite").touch()
        wanted = r"another process is creating it, and does not end\); end that process, or try again"
        with pytest.raises(IndexStoreError, match=wanted):
            Database(tmp_path / "new.sqlite", "/root")
        with pytest.raises(IndexStoreError, match=wanted):
            replace_if_unusable(tmp_path / "new.sqlite", "head")


def test_a_file_that_is_no_index_is_damaged(tmp_path: Path) -> None:
    """And one of another format: neither is a disk that fails."""
    path = tmp_path / "index-4.sqlite"
    path.write_bytes(b"not an index" * 1_000)
    with pytest.raises(IndexDamagedError, match="file is not a database"):
        Database(path)
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexDamagedError, match="has format 99"):
        Database(path)


@pytest.mark.parametrize(
    ("shell", "told"),
    [
        ("search abc --root . >&-", "standard output is closed"),
        ("search abc --root . >/dev/full", "No space left on device; make room"),
        ("serve --root . <&-", "standard input or output is closed"),
        ("serve --root . </dev/null >&-", "standard input or output is closed"),
    ],
)
def test_a_stream_that_cannot_be_used_is_a_sentence(shell: str, told: str, tmp_path: Path) -> None:
    """And an error."""
    (tmp_path / "a.py").write_text("def abc():\n    pass\n")
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m graphrag_mcp {shell}', sys.executable],
        cwd=tmp_path,
        env={**os.environ, "GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WORKERS": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]  # A slow machine shows its progress before.
    assert last.startswith("graphrag-mcp: ") and told in last
    assert not any(name in done.stderr for name in NAMES)


def test_a_lock_that_another_process_keeps_is_named() -> None:
    """A stopped process would otherwise keep others waiting without a word."""
    assert explain(Timeout("/data/replace.lock")) == (
        "/data/replace.lock is held by another graphrag-mcp, which does not answer (stopped?); end it"
    )
