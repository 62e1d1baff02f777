"""Closing the index while other threads use it, as when a damaged one is opened anew."""

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index.linking import FEW_FILES
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.database import Database

SLOW = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000000) SELECT count(*) FROM n"


def test_what_is_being_read_is_read_to_its_end(tmp_path: Path) -> None:
    """SQLite crashes the process when a connection is closed under a query."""
    database = Database(tmp_path / "index.sqlite")
    begun = threading.Event()

    def read() -> list[tuple[int]]:
        with database.connection() as connection:
            connection.set_progress_handler(begun.set, 1_000)
        return database.rows(SLOW)

    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read)
        assert begun.wait(10)
        database.close()
        assert reading.result(10) == [(2_000_000,)]
        with pytest.raises(sqlite3.ProgrammingError):
            threads.submit(database.commit_number).result(10)
    with pytest.raises(sqlite3.ProgrammingError):
        database.commit_number()


def test_threads_that_ended_leave_no_file_open(tmp_path: Path) -> None:
    """A server's threads come and go with parallel calls, and it may run for weeks."""
    index = tmp_path / "index.sqlite"

    def files_open() -> int:
        places = (os.path.realpath(file) for file in Path("/proc/self/fd").iterdir())
        return sum(place.startswith(str(index)) for place in places)

    with closing(Database(index)) as database:
        for _ in range(20):
            thread = threading.Thread(target=database.commit_number)
            thread.start()
            thread.join()
        database.commit_number()
        assert 0 < files_open() <= 4  # This thread's file and log, perhaps those of the last one.


@pytest.mark.slow
def test_an_application_is_closed_at_any_moment(tmp_path: Path) -> None:
    """Whatever the thread that keeps the index is doing then, nothing breaks."""
    root = tmp_path / "project"
    root.mkdir()
    for number in range(50):
        (root / f"module_{number}.py").write_text(f"def run_{number}():\n    pass\n")
    settings = load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})
    for turn in range(20):
        app = App(root, settings)
        app.start()
        app.wait_ready(turn * 0.005)
        app.close()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_leaves_no_file_open(tmp_path: Path, workers: str) -> None:
    """Neither here nor in the processes that wait for the next run: a damaged file could not be replaced."""
    root = tmp_path / "project"
    root.mkdir()
    for number in range(2 * FEW_FILES):
        (root / f"module_{number}.py").write_text(f"def run_{number}():\n    pass\n")
    with closing(
        App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WORKERS": workers}))
    ) as app:
        app.index()
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    files = [file for process in ("self", *children) for file in Path(f"/proc/{process}/fd").iterdir()]
    assert [file for file in files if os.path.realpath(file).startswith(str(tmp_path / "data"))] == []
