"""An index that no process can keep up to date: its writer is stopped, or its folder can only be read."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.stores.sqlite.database import LOG_HEADER_BYTES
from tests.stdio_client import Server
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

HYBRID, SYMBOL, OCCURRENCES, STATUS = "graphrag_hybrid_search", "find_symbol", "find_occurrences", "index_status"
WAIT_SECONDS = 120.0  # A guard.
MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "one.py").write_text("def open_first():\n    return 1\n")
    return folder


def command(root: Path, environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-m", "graphrag_mcp", "--root", str(root), *arguments]
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=WAIT_SECONDS)


def status(server: Server) -> str:
    return server.call(STATUS, {})[0].partition("\n")[0]


@pytest.fixture
def writer(root: Path, environment: dict[str, str]) -> Iterator[Server]:
    """A server that has indexed the project and keeps it up to date."""
    server = Server(root, environment)
    wait_until(lambda: "one.py" in server.call(SYMBOL, {"symbol": "open_first"})[0], WAIT_SECONDS)
    yield server
    server.process.kill()
    server.process.communicate()


@pytest.fixture
def reader(root: Path, environment: dict[str, str], writer: Server) -> Iterator[Server]:
    server = Server(root, environment)
    wait_until(lambda: status(server) == status(writer) == "Index: ready", WAIT_SECONDS)
    yield server
    server.process.kill()
    server.process.communicate()


def test_every_other_process_says_that_the_writer_is_stopped(
    root: Path, environment: dict[str, str], writer: Server, reader: Server
) -> None:
    """With its process id and what to do; when it continues, what was changed meanwhile is found."""
    writer.process.send_signal(signal.SIGSTOP)
    (root / "two.py").write_text("def open_second():\n    return 2\n")
    said = f"process {writer.process.pid}"
    wait_until(lambda: said in status(reader), WAIT_SECONDS)
    answers = [
        reader.call(HYBRID, {"query": "open first"})[0],
        reader.call(SYMBOL, {"symbol": "open_first"})[0],
        reader.call(SYMBOL, {"symbol": "open_second"})[0],
        reader.call(OCCURRENCES, {"text": "open_second"})[0],
        command(root, environment, "search", "open first").stdout,
        command(root, environment, "status").stdout,
    ]
    for answer in answers:
        assert said in answer
        assert f"`kill -CONT {writer.process.pid}`" in answer
    for arguments in (["index"], ["index", "--rebuild"], ["watch"], ["doctor"]):
        ended = command(root, environment, *arguments)
        assert ended.returncode == (1 if arguments == ["doctor"] else 2)
        assert said in ended.stdout + ended.stderr
    writer.process.send_signal(signal.SIGCONT)
    wait_until(lambda: status(reader) == "Index: ready", WAIT_SECONDS)
    wait_until(lambda: "two.py:1-2" in reader.call(SYMBOL, {"symbol": "open_second"})[0], WAIT_SECONDS)
    assert command(root, environment, "doctor").stdout.count("does not answer") == 0


def test_a_stopped_writer_that_is_ended_is_followed_by_another(root: Path, writer: Server, reader: Server) -> None:
    """Its lock is free when it has ended, not before."""
    writer.process.send_signal(signal.SIGSTOP)
    (root / "two.py").write_text("def open_second():\n    return 2\n")
    wait_until(lambda: "does not answer" in status(reader), WAIT_SECONDS)
    writer.process.kill()
    wait_until(lambda: "two.py:1-2" in reader.call(SYMBOL, {"symbol": "open_second"})[0], WAIT_SECONDS)
    wait_until(lambda: status(reader) == "Index: ready", WAIT_SECONDS)


def test_a_writer_that_is_stopped_while_it_builds_keeps_no_call_waiting(
    root: Path, environment: dict[str, str]
) -> None:
    """Others say why the index is not complete, and answer from what there is."""
    for number in range(600):
        (root / f"many{number}.py").write_text(f"def many{number}(): ...\n" * 40)
    writer = Server(root, environment)
    reader = Server(root, environment)
    try:
        wait_until(lambda: "building" in status(writer) and " of 601" in status(writer), WAIT_SECONDS)
        writer.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "does not answer" in status(reader), WAIT_SECONDS)
        text, failed = reader.call(OCCURRENCES, {"text": "many1"})
        assert (failed, "The index is not complete: failed" in text) == (False, True)
        assert str(writer.process.pid) in text
    finally:
        for server in (writer, reader):
            server.process.kill()
            server.process.communicate()


def leave_log(folder: Path, size: int | None) -> None:
    """Leave so many bytes of SQLite's log at most, as a kill does. size: None for no log."""
    (file,) = folder.glob("index-*.sqlite")
    log, shared = (file.with_name(f"{file.name}-{suffix}") for suffix in ("wal", "shm"))
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("UPDATE meta SET value = value")
        left = {log: log.read_bytes()[:size], shared: shared.read_bytes()}
    assert not log.exists()
    for name, content in left.items() if size is not None else ():
        name.write_bytes(content)


def read_only(folder: Path) -> list[str]:
    """Return the words before a command for which a folder can only be read."""
    if os.geteuid():
        folder.chmod(0o500)
        return []
    words = ["unshare", "--mount", "sh", "-c", MOUNTED, str(folder)]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("the administrator writes everywhere, and nothing can be mounted here")
    return words


@pytest.mark.parametrize("log_bytes", [None, 0, LOG_HEADER_BYTES, 10**6])
def test_an_index_in_a_folder_that_can_only_be_read_answers(
    root: Path, environment: dict[str, str], writer: Server, log_bytes: int | None
) -> None:
    """Server and command line, whatever is left of its log; every answer says that it is not kept up to date."""
    writer.process.kill()
    writer.process.wait(WAIT_SECONDS)
    (root / "two.py").write_text("def open_second():\n    return 2\n")
    (folder,) = (root.parent / "data").iterdir()
    leave_log(folder, log_bytes)
    before = read_only(folder)
    python = [*before, sys.executable, "-m", "graphrag_mcp", "--root", str(root)]
    said = "cannot be written, so it is not kept up to date"
    try:
        server = Server(root, environment, command=[*python, "serve"])
        wait_until(lambda: said in status(server), WAIT_SECONDS)
        for tool, given in ((HYBRID, {"query": "open first"}), (SYMBOL, {"symbol": "open_first"})):
            text, failed = server.call(tool, given)
            assert (failed, said in text, "one.py:1-2" in text) == (False, True, True)
        server.close()
        ended = subprocess.run([*python, "search", "open first"], capture_output=True, text=True, env=environment)
        assert (ended.returncode, said in ended.stdout, "one.py:1-2" in ended.stdout) == (0, True, True)
        ended = subprocess.run([*python, "index"], capture_output=True, text=True, env=environment)
        assert (ended.returncode, "set GRAPHRAG_DATA_DIR" in ended.stderr) == (2, True)
    finally:
        folder.chmod(0o700)
