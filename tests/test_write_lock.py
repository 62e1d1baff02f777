"""The lock of the one process that writes an index: it is the truth, and a note beside it says who holds it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp import __version__
from graphrag_mcp.write_lock import Holder, WriteLock

HOLD = """
import sys, time, graphrag_mcp
graphrag_mcp.__version__ = sys.argv[2]
from pathlib import Path
from graphrag_mcp.write_lock import WriteLock
lock = WriteLock(Path(sys.argv[1]))
assert lock.acquire()
with lock.signed():
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["0.0.1", __version__])
def holding(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, "subprocess.Popen[str]", str]]:
    """Another process that holds a lock: the lock, the process, and its version."""
    file, version = tmp_path / "write-1.lock", request.param
    command = [sys.executable, "-c", HOLD, str(file), version]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield file, process, version
        process.kill()


def test_the_holder_is_named_with_its_version(holding: tuple[Path, "subprocess.Popen[str]", str]) -> None:
    """And only one of another version is in the way."""
    file, process, version = holding
    lock = WriteLock(file)
    assert not lock.acquire()
    holder = lock.holder()
    assert holder == Holder(version, process.pid)
    assert str(holder) == f"graphrag-mcp {version} (process {process.pid})"
    assert ("takes over" in holder.advice) == (version != __version__)


def test_a_process_that_was_killed_holds_nothing(holding: tuple[Path, "subprocess.Popen[str]", str]) -> None:
    """Whatever note it left, nobody believes it."""
    file, process, _ = holding
    process.kill()
    process.wait()
    lock = WriteLock(file)
    assert lock.holder() is None
    assert lock.acquire()
    with lock.signed():
        assert WriteLock(file).holder() == Holder(__version__, os.getpid())
    lock.release()
    assert [path for path in file.parent.iterdir() if path != file] == []
