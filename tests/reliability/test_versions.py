"""Two versions of the package on one project: each has its own index file, and none waits for the other."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from graphrag_mcp import __version__
from graphrag_mcp.cli.doctor import examine
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.index.write_lock import Holder, WriteLock
from graphrag_mcp.stores.sqlite.schema import SCHEMA_VERSION
from graphrag_mcp.stores.sqlite.unusable import old_indexes, remove_unused
from tests.reliability.projects import Project
from tests.stdio_client import Server
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

HYBRID = "graphrag_hybrid_search"
DAY = 86_400
# The same code with the number of an older format, from before anything that reads it is imported.
OLDER_SERVER = """
import sys
from graphrag_mcp.stores.sqlite import schema
schema.SCHEMA_VERSION = {number}
from graphrag_mcp.cli.run import run
run(["serve", "--root", sys.argv[1]])
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Project(tmp_path / "project", 20).root


@contextmanager
def serving(root: Path, environment: dict[str, str], *arguments: str) -> Iterator[Server]:
    server = Server(root, environment, arguments=arguments)
    try:
        wait_until(lambda: server.call("index_status", {})[0].startswith("Index: ready"), 30)
        yield server
    finally:
        server.close()


def command(root: Path, environment: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "graphrag_mcp", *words, "--root", str(root)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def older_server(root: Path) -> tuple[str, ...]:
    return "-c", OLDER_SERVER.format(number=SCHEMA_VERSION - 1), str(root)


def test_an_older_server_that_runs_keeps_no_newer_version_waiting(root: Path, environment: dict[str, str]) -> None:
    """The newer one builds its own index, and both follow the edits."""
    with serving(root, environment, *older_server(root)) as older:
        with serving(root, environment) as newer:
            assert newer.call(HYBRID, {"query": "open a file"})[0].startswith("1. ")
            (root / "new.py").write_text("def written_for_both():\n    pass\n")
            for server in (older, newer):
                wait_until(lambda server=server: "new.py" in server.call(HYBRID, {"query": "written_for_both"})[0], 20)
        assert command(root, environment, "index").returncode == 0


def test_a_lock_of_a_version_before_formats_had_their_own_is_not_waited_for(
    root: Path, environment: dict[str, str]
) -> None:
    """Its name has no number, and it writes another file."""
    lock = IndexPaths(root, environment["GRAPHRAG_DATA_DIR"]).write_lock
    lock.parent.mkdir(parents=True)
    with FileLock(lock.with_name(lock.name.replace(f"write-{SCHEMA_VERSION}-", "write-"))):
        assert command(root, environment, "index").returncode == 0


def test_who_waits_is_told_for_which_process(
    root: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its version and its number."""
    place = IndexPaths(root, environment["GRAPHRAG_DATA_DIR"])
    with serving(root, environment) as server:
        name = f"graphrag-mcp {__version__} (process {server.process.pid})"
        done = command(root, environment, "index")
        assert (done.returncode, f"warning: {name} is writing the index" in done.stdout) == (0, True)
        done = command(root, environment, "index", "--rebuild")
        assert (done.returncode, done.stderr.startswith(f"graphrag-mcp: {name} is writing the index")) == (2, True)
        monkeypatch.setenv("GRAPHRAG_DATA_DIR", environment["GRAPHRAG_DATA_DIR"])
        assert f"{name} writes the index" in {one.part: one.text for one in examine(root)}["writer"]
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        assert WriteLock(place.write_lock).holder() is None


def test_the_word_of_a_dead_process_is_never_believed(tmp_path: Path) -> None:
    """What it left beside the lock is locked by nobody, even where another process has its number now."""
    lock = WriteLock(tmp_path / "write-4-abc.lock")
    (tmp_path / f"write-4-abc.9.9.{os.getpid()}.holder").touch()
    assert lock.holder() is None
    other = WriteLock(tmp_path / "write-4-abc.lock")
    assert other.acquire()
    assert not lock.acquire()
    assert lock.holder() is None
    with other.signed():
        assert lock.holder() == Holder(__version__, os.getpid())
        assert len(list(tmp_path.glob("*.holder"))) == 1
    assert lock.holder() is None
    other.release()
    assert lock.acquire()
    lock.release()


def test_nobody_is_told_to_wait_for_an_index_that_no_process_builds(root: Path, environment: dict[str, str]) -> None:
    """After a run that was killed, the next step is another run."""
    place = IndexPaths(root, environment["GRAPHRAG_DATA_DIR"])
    assert command(root, environment, "index").returncode == 0
    with closing(sqlite3.connect(place.file)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE key = 'indexed_at'")
    said = command(root, environment, "search", "zzzz", "--no-update").stdout
    assert "run `graphrag-mcp index`" in said
    assert "Ask again" not in said and "building" not in said
    lock = WriteLock(place.write_lock)
    assert lock.acquire()
    with lock.signed():
        said = command(root, environment, "search", "zzzz", "--no-update").stdout
    lock.release()
    assert f"building (graphrag-mcp {__version__} (process {os.getpid()}) is building the index)" in said


# ---------------------------------------------------------------- what older versions leave


def make_old_index(folder: Path, number: int, days: float) -> Path:
    """Write an index of an older format that was last used so many days ago."""
    path = folder / f"index-{number}.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE files (id)")
        connection.commit()
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def test_an_old_index_is_removed_when_no_process_has_used_it_for_a_month(
    root: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor lists it until then; newer formats and what else lies there stay."""
    folder = IndexPaths(root, environment["GRAPHRAG_DATA_DIR"]).folder
    folder.mkdir(parents=True)
    strange = make_old_index(folder, 1, 31).rename(folder / "index-x.sqlite")
    unused, used, newer = (make_old_index(folder, *one) for one in ((1, 31), (2, 29), (99, 400)))
    monkeypatch.setenv("GRAPHRAG_DATA_DIR", environment["GRAPHRAG_DATA_DIR"])
    listed = [one.text for one in examine(root) if one.part == "older index"]
    assert [text.partition(" is from")[0] for text in listed] == [
        "index-1.sqlite (0.0 MB, last used 31 days ago)",
        "index-2.sqlite (0.0 MB, last used 29 days ago)",
    ]
    assert command(root, environment, "index").returncode == 0
    assert not unused.exists()
    assert used.exists() and newer.exists() and strange.exists()


def test_an_old_index_that_a_process_has_open_is_never_removed(tmp_path: Path) -> None:
    """However long it has only been read."""
    path = make_old_index(tmp_path, 1, 400)
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM files').fetchall();"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout is not None and reader.stdin is not None
        assert reader.stdout.readline() == b"open\n"
        remove_unused(tmp_path, time.time() + 400 * DAY)
        assert path.exists()
        reader.stdin.close()
    remove_unused(tmp_path, time.time() + 400 * DAY)
    assert old_indexes(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
