"""Killed at any point, an index run loses nothing that was committed and redoes at most a batch."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import Settings, load_settings
from tests.index_contents import assert_same_contents
from tests.reliability.conftest import Report, Size
from tests.reliability.killed import BATCH_CHUNKS
from tests.reliability.projects import Project

pytestmark = pytest.mark.slow

FILES = 60
FILES_OF_A_BATCH = BATCH_CHUNKS  # A file has a chunk at least.
LONGEST_RUN_SECONDS = 60


def test_a_kill_at_a_random_moment_loses_nothing(tmp_path: Path, size: Size, report: Report) -> None:
    """Whatever was committed before it is there after it; the rest of the run is what is left to do."""
    project = Project(tmp_path / "project", FILES)
    chance = random.Random(1)
    kills = runs = lost = 0
    wanted = size(4, 200)
    longest = 1.5
    while kills < wanted:
        for _ in range(chance.randint(1, 10)):
            project.edit()
        before = committed(tmp_path)
        process = start(project.root, tmp_path)
        time.sleep(chance.uniform(0.3, longest))
        killed = process.poll() is None
        if killed:
            process.send_signal(signal.SIGKILL)
        process.wait(LONGEST_RUN_SECONDS)
        kills += killed
        runs += 1
        longest = longest * 1.05 if killed else longest * 0.9
        present = {path.relative_to(project.root).as_posix() for path in project.paths}
        lost += len((before & present) - committed(tmp_path))
    report("kills at random moments", kills=kills, runs=runs, committed_files_lost=lost)
    assert lost == 0
    assert_as_a_clean_run(project, tmp_path)


def test_a_kill_at_a_commit_redoes_at_most_one_batch(tmp_path: Path, size: Size, report: Report) -> None:
    """Right before a commit what it held is lost, and that is no more than a batch; right after it nothing is."""
    after_the_last: set[str] = set()
    largest = 0
    for number in range(1, size(4, 60)):
        before, after = (killed_at(tmp_path / f"{when}-{number}", number, when) for when in ("before", "after"))
        if before is None or after is None:  # The whole run has fewer commits.
            break
        assert before == after_the_last <= after
        largest = max(largest, len(after - before))
        after_the_last = after
    report("kills at commits", commits=number - 1, most_files_redone=largest, files_of_a_batch=FILES_OF_A_BATCH)
    assert 0 < largest <= FILES_OF_A_BATCH


def killed_at(folder: Path, number: int, when: str) -> set[str] | None:
    """Return what is committed after a kill at a commit; then finish the index. None when there is no such commit."""
    project = Project(folder / "project", FILES)
    ended = start(project.root, folder, str(number), when).wait(LONGEST_RUN_SECONDS)
    if ended == 0:
        return None
    assert ended == -signal.SIGKILL
    done = committed(folder)
    app = App(project.root, settings(project.root, folder))
    result = app.index()
    app.close()
    assert (result.unchanged, result.added, result.changed) == (len(done), FILES - len(done), 0)
    assert_as_a_clean_run(project, folder)
    return done


def start(root: Path, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start the process that is to be killed."""
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(folder / "data"), "GRAPHRAG_WORKERS": "1"}
    command = [sys.executable, "-m", "tests.reliability.killed", str(root), *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def settings(root: Path, folder: Path, data: str = "data") -> Settings:
    return load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / data), "GRAPHRAG_WORKERS": "1"})


def committed(folder: Path) -> set[str]:
    """Return the paths that the index file holds."""
    for file in folder.glob("data/*/index-*.sqlite"):
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            try:
                return {path for (path,) in connection.execute("SELECT path FROM tree_files")}
            except sqlite3.OperationalError:  # Killed before its tables were there.
                return set()
    return set()


def assert_as_a_clean_run(project: Project, folder: Path) -> None:
    """Finish the index, and compare it with one that was never interrupted."""
    finished, clean = (App(project.root, settings(project.root, folder, data)) for data in ("data", "clean"))
    finished.index()
    clean.index()
    assert_same_contents(finished, clean)
    finished.close()
    clean.close()
