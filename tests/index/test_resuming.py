"""A run that is killed: what it committed stays, and the next run does the rest."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.settings import Settings, load_settings
from tests.index_contents import assert_same_contents, file_ids
from tests.waiting import wait_until

FILES = 120
# Small batches, so that a small project has many of them.
INDEX = """
import sys
from graphrag_mcp.cli.run import run
from graphrag_mcp.index import indexer
indexer.BATCH_CHUNKS = 20
run(["index", "--root", sys.argv[1]])
"""


@pytest.mark.slow
@pytest.mark.requirement("004-14", "K-16")
def test_a_killed_run_is_resumed_and_leaves_the_index_of_a_clean_run(tmp_path: Path) -> None:
    """Nothing that was committed is done again, and nothing of the killed batch is left half-written."""
    root = _project(tmp_path / "project")
    settings = _settings(root, tmp_path / "killed")
    _index_until_killed(root, tmp_path / "killed")
    app = App(root, settings)
    state = app.index_state()
    assert state.state == "failed" and "run `graphrag-mcp index`" in state.message
    before = file_ids(app)
    assert 0 < len(before) == state.files_done < FILES

    report = app.index()
    assert (report.unchanged, report.added, report.changed) == (len(before), FILES - len(before), 0)
    assert report.embedded == report.chunks
    assert before.items() <= file_ids(app).items()
    assert app.index_state().state == "ready"

    clean = App(root, _settings(root, tmp_path / "clean"))
    clean.index()
    assert_same_contents(app, clean)
    app.close()
    clean.close()


def _project(root: Path) -> Path:
    root.mkdir()
    for number in range(FILES):
        body = "\n\n".join(f"def step_{number}_{part}(x):\n    return run(x, {part}) + {number}" for part in range(8))
        (root / f"module_{number:03}.py").write_text(f'"""Module {number}."""\n\n{body}\n')
    return root


def _settings(root: Path, data: Path) -> Settings:
    return load_settings(root, {"GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"})


def _index_until_killed(root: Path, data: Path) -> None:
    """Index in a process of its own and kill it as soon as one of its commits can be seen."""
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(data), "GRAPHRAG_WORKERS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", INDEX, str(root)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: process.poll() is not None or _has_files(data), 20)
    assert process.poll() is None
    process.kill()
    process.wait()


def _has_files(data: Path) -> bool:
    for file in data.rglob("index-*.sqlite"):
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
                return bool(connection.execute("SELECT 1 FROM files LIMIT 1").fetchone())
        except sqlite3.OperationalError:  # Its tables are being made.
            return False
    return False
