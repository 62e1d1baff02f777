"""The lock of the one process that writes an index."""

import os
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from graphrag_mcp import __version__
from graphrag_mcp.index import write_lock
from graphrag_mcp.index.write_lock import Holder, WriteLock
from tests.waiting import wait_until


@pytest.mark.parametrize(
    ("holder", "advice"),
    [
        (Holder(), "it keeps the index up to date, so you can search now"),
        (Holder(__version__, 7), "it keeps the index up to date, so you can search now"),
        (Holder("0.0.1", 7), f"end that process, and graphrag-mcp {__version__} takes over"),
        (
            Holder(__version__, 7, is_silent=True),
            "it does not answer (stopped?): continue it (`kill -CONT 7`), or end it",
        ),
    ],
)
def test_only_a_holder_of_another_version_is_in_the_way(holder: Holder, advice: str) -> None:
    """One of this version does what this process would do."""
    assert holder.advice == advice


def test_a_holder_that_beats_is_not_silent_and_one_that_stops_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note of an old time may be that of a machine that slept: the next beat decides."""
    monkeypatch.setattr(write_lock, "BEAT_SECONDS", 0.05)
    lock = WriteLock(tmp_path / "write.lock")
    with lock.signed():
        (note,) = tmp_path.glob("*.holder")
        os.utime(note, (1, 1))
        assert lock.holder() == Holder(__version__, os.getpid())
        monkeypatch.setattr(write_lock, "BEAT_SECONDS", 0.5)  # It has not beaten for longer than others wait.
        monkeypatch.setattr(os, "utime", lambda _: None)
        wait_until(lambda: (set_time(note) or lock.holder()) == Holder(__version__, os.getpid(), is_silent=True), 20)
    assert lock.holder() is None


def set_time(note: Path) -> None:
    """Set the time of a note as a process would have that stopped long ago."""
    subprocess.run(["touch", "-d", "2001-01-01", str(note)], check=True)


def test_a_holder_of_another_version_is_not_judged(tmp_path: Path) -> None:
    """It may not beat at all."""
    note = tmp_path / "write.0.0.1.7.holder"
    with FileLock(note):
        os.utime(note, (1, 1))
        assert WriteLock(tmp_path / "write.lock").holder() == Holder("0.0.1", 7)
