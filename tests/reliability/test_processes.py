"""Any number of processes on one project: one writes, all read, and nobody notices."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.reliability.conftest import Report, Size
from tests.reliability.projects import NOUNS, VERBS, Project
from tests.stdio_client import Server
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

SERVERS = 4
TAKEOVER_SECONDS = 5.0
VISIBLE_SECONDS = 1.0
HYBRID = "graphrag_hybrid_search"


class Caller(threading.Thread):
    """Does the same thing over and over, and keeps what went wrong."""

    def __init__(self, work: Callable[[], str]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._stop_now = threading.Event()
        self.calls = 0
        self.errors: list[str] = []

    def run(self) -> None:
        """Call until told to stop."""
        while not self._stop_now.is_set():
            if error := self._work():
                self.errors.append(error)
            self.calls += 1

    def stop(self) -> None:
        """End after the call under way."""
        self._stop_now.set()
        self.join(30)


def test_servers_and_command_lines_share_an_index_while_it_is_edited(
    tmp_path: Path, environment: dict[str, str], size: Size, report: Report
) -> None:
    """Four servers and two command lines: one writer at any time, no error, no chunk twice."""
    project = Project(tmp_path / "project", 40)
    servers = [Server(project.root, environment) for _ in range(SERVERS)]
    callers = [Caller(searching(server)) for server in servers]
    callers += [
        Caller(commanding(project.root, environment, *words)) for words in (("search", "open a file"), ("status",))
    ]
    for caller in callers:
        caller.start()
    writers: set[int] = set()
    edits = 0
    deadline = time.monotonic() + size(6, 60)
    while time.monotonic() < deadline:
        project.edit()
        edits += 1
        now = lock_holders(tmp_path)
        assert len(now) <= 1
        writers |= now
        time.sleep(0.05)
    for caller in callers:
        caller.stop()
    assert [error for caller in callers for error in caller.errors] == []
    text = servers[0].call("index_status", {"response_format": "json"})[0]
    chunks = eventually_same(project, tmp_path)
    for server in servers:
        server.close()
    calls = [caller.calls for caller in callers]
    report("processes", seconds=size(6, 60), calls=calls, edits=edits, writers=len(writers), chunks=chunks, errors=0)
    assert json.loads(text)["state"]["state"] == "ready"


def test_a_writer_that_is_killed_is_followed_by_another(
    tmp_path: Path, environment: dict[str, str], size: Size, report: Report
) -> None:
    """Within five seconds, however often it happens, and the edits made meanwhile are found."""
    project = Project(tmp_path / "project", 10)
    servers = {server.process.pid: server for server in (Server(project.root, environment) for _ in range(3))}
    for server in servers.values():
        server.start_asking("tools/call", {"name": HYBRID, "arguments": {"query": "open a file"}})
    seconds: list[float] = []
    for _ in range(size(1, 5)):
        (writer,) = wait_until(lambda: lock_holders(tmp_path) & set(servers), 20)
        dead = servers.pop(writer)
        dead.process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        (project.root / "new.py").write_text(f"def written_after_{writer}():\n    pass\n")
        wait_until(lambda: lock_holders(tmp_path) & set(servers), TAKEOVER_SECONDS)
        seconds.append(time.monotonic() - killed)
        dead.close()
        wait_until(lambda writer=writer: f"written_after_{writer}" in names(tmp_path), 10)
        other = Server(project.root, environment)
        other.start_asking("tools/call", {"name": HYBRID, "arguments": {"query": "open a file"}})
        servers[other.process.pid] = other
    for server in servers.values():
        server.close()
    report("takeover", kills=len(seconds), seconds=[round(one, 2) for one in seconds])
    assert max(seconds) <= TAKEOVER_SECONDS * size(10, 1)


def test_a_commit_is_seen_by_the_others(
    tmp_path: Path, environment: dict[str, str], size: Size, report: Report
) -> None:
    """Within a second of the commit, by processes that only read."""
    project = Project(tmp_path / "project", 10)
    writer, reader = (Server(project.root, environment) for _ in range(2))
    for server in (writer, reader):
        server.call(HYBRID, {"query": "open a file"})
    seconds: list[float] = []
    for number in range(size(3, 20)):
        name = f"seen_by_everybody_{number}"
        (project.root / f"{name}.py").write_text(f"def {name}():\n    pass\n")
        wait_until(lambda name=name: name in names(tmp_path), 10)
        committed = time.monotonic()
        wait_until(lambda name=name: f"{name}.py" in reader.call(HYBRID, {"query": name, "limit": 1})[0], 10)
        seconds.append(time.monotonic() - committed)
    writer.close()
    reader.close()
    report("commits seen by readers", commits=len(seconds), most_seconds=round(max(seconds), 3))
    assert max(seconds) <= VISIBLE_SECONDS * size(60, 1)


def searching(server: Server) -> Callable[[], str]:
    """Return a call of a server's tool, which returns what is wrong with the answer."""
    words = iter(range(10**9))

    def search() -> str:
        number = next(words)
        query = f"{VERBS[number % len(VERBS)]} {NOUNS[number % len(NOUNS)]}"
        text, failed = server.call(HYBRID, {"query": query, "limit": 5})
        return text if failed else ""

    return search


def commanding(root: Path, environment: dict[str, str], *words: str) -> Callable[[], str]:
    """Return a call of the command line, which returns what is wrong with it."""

    def command() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "graphrag_mcp", *words, "--root", str(root)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stderr or "failed" if done.returncode > 1 or "Traceback" in done.stderr else ""

    return command


def lock_holders(folder: Path) -> set[int]:
    """Return the processes that hold the write lock, as the kernel tells."""
    files = list(folder.glob("data/*/write-*.lock"))
    inodes = {file.stat().st_ino for file in files}
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return {int(lock[4]) for lock in locks if lock[1] == "FLOCK" and int(lock[5].rpartition(":")[2]) in inodes}


def names(folder: Path) -> set[str]:
    """Return the names of all definitions that are committed."""
    return {name for (name,) in query(folder, "SELECT name FROM symbols")}


def eventually_same(project: Project, folder: Path) -> int:
    """Wait until the index has exactly the project's files, and return how many chunks; each is there once."""
    present = {path.relative_to(project.root).as_posix() for path in project.paths}
    wait_until(lambda: {path for (path,) in query(folder, "SELECT path FROM tree_files")} == present, 15)
    chunks = query(folder, "SELECT f.path, c.start_line FROM chunks c JOIN files f ON f.id = c.file_id")
    assert len(set(chunks)) == len(chunks)
    return len(chunks)


def query(folder: Path, sql: str) -> list[tuple[str, ...]]:
    for file in folder.glob("data/*/index-*.sqlite"):
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            try:
                return connection.execute(sql).fetchall()
            except sqlite3.OperationalError:  # Its tables are being made.
                return []
    return []
