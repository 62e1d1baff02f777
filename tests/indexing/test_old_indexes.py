"""What becomes of the index files that older versions left."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app import App
from graphrag_mcp.index_place import IndexPlace
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION

DAY_SECONDS = 86_400


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("def load():\n    return 1\n")
    return folder


def index(root: Path) -> IndexPlace:
    """Index the project, and return where."""
    data = root.parent / "data"
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))) as app:
        app.index()
    return IndexPlace(root, str(data))


def leave_index(file: Path, days_ago: float) -> None:
    """Write an index file as a process of an older format left it."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE files (path TEXT)")
    used_at = time.time() - days_ago * DAY_SECONDS
    os.utime(file, (used_at, used_at))


@pytest.mark.parametrize(("days_ago", "stays"), [(29, True), (31, False)])
def test_the_index_of_an_older_format_goes_when_it_was_not_used_for_a_month(
    root: Path, days_ago: int, stays: bool
) -> None:
    """A newer format is another program's, whatever its age."""
    place = index(root)
    old, newer = (place.folder / f"index-{number}.sqlite" for number in (SCHEMA_VERSION - 1, SCHEMA_VERSION + 1))
    leave_index(old, days_ago)
    leave_index(newer, 400)
    assert [one.file for one in place.old_indexes()] == [old]
    index(root)
    assert (old.exists(), newer.exists(), place.file.exists()) == (stays, True, True)


def test_the_index_of_an_older_format_stays_while_a_process_has_it_open(root: Path) -> None:
    """However long ago it last wrote."""
    place = index(root)
    old = place.folder / f"index-{SCHEMA_VERSION - 1}.sqlite"
    leave_index(old, 31)
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("SELECT * FROM files").fetchall()
        used_at = time.time() - 31 * DAY_SECONDS
        for part in place.folder.glob(f"{old.name}*"):
            os.utime(part, (used_at, used_at))
        index(root)
        assert old.exists()
        assert connection.execute("SELECT count(*) FROM files").fetchall() == [(0,)]
    index(root)
    assert not list(place.folder.glob(f"{old.name}*"))


NEWER = """
import sys
from graphrag_mcp.stores.sqlite import schema
schema.SCHEMA_VERSION += 1
from pathlib import Path
from graphrag_mcp.app import App
from graphrag_mcp.settings import load_settings
root = Path(sys.argv[1])
app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": sys.argv[2]}))
print(app.index().added, app.index_state().state)
app.close()
"""


def test_a_server_of_an_older_format_does_not_hold_up_a_newer_one(root: Path) -> None:
    """Each format has a file and a lock of its own."""
    data = str(root.parent / "data")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": data}))) as older:
        older.start()
        assert older.wait_ready(30).state == "ready"
        done = subprocess.run(
            [sys.executable, "-c", NEWER, str(root), data], capture_output=True, text=True, timeout=60, check=False
        )
    assert (done.stdout, done.stderr) == ("1 ready\n", "")
