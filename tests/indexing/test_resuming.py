"""A run that is killed: what it committed stays, and the next run does the rest."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrag_mcp.app import App
from graphrag_mcp.settings import Settings, load_settings

FILES = 300
# Small batches, so that a small project has many of them.
INDEX = """
import sys
from graphrag_mcp.cli.run import run
from graphrag_mcp.indexing import indexer
indexer.BATCH_CHUNKS = 20
run(["index", "--root", sys.argv[1]])
"""


def test_a_killed_run_is_resumed_and_leaves_the_index_of_a_clean_run(tmp_path: Path) -> None:
    """004-14, K-16: nothing that was committed is done again, and nothing of the killed batch is left half-written."""
    root = _project(tmp_path / "project")
    settings = _settings(root, tmp_path / "killed")
    _index_until_killed(root, tmp_path / "killed")
    app = App(root, settings)
    state = app.index_state()
    assert state.state == "building"
    before = _ids(app)
    assert 0 < len(before) == state.files_done < FILES

    report = app.index()
    assert (report.unchanged, report.added, report.changed) == (len(before), FILES - len(before), 0)
    assert report.embedded == report.chunks
    assert before.items() <= _ids(app).items()
    assert app.index_state().state == "ready"

    clean = App(root, _settings(root, tmp_path / "clean"))
    clean.index()
    resumed, expected = _contents(app), _contents(clean)
    np.testing.assert_allclose(_vectors(resumed), _vectors(expected), atol=1e-3)  # One step of a float16.
    assert resumed == expected
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
    deadline = time.monotonic() + 20
    while not _has_files(data):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.kill()
    process.wait()


def _has_files(data: Path) -> bool:
    for file in data.rglob("index.sqlite"):
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
                return bool(connection.execute("SELECT 1 FROM files LIMIT 1").fetchone())
        except sqlite3.OperationalError:  # Its tables are being made.
            return False
    return False


def _rows(app: App, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(app.status().index_file)) as connection:
        return connection.execute(sql).fetchall()


def _ids(app: App) -> dict[str, tuple[int, int]]:
    """Return the id of every indexed file with the number of the commit that wrote it."""
    return {path: (one, commit) for path, one, commit in _rows(app, "SELECT path, id, generation FROM files")}


def _contents(app: App) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row that belongs to a file, with the file's path and the chunk's place for the ids."""
    owners = {"chunks": "id >> 16", "vectors": "chunk_id >> 16", "keywords": "rowid >> 16"}
    tables = [*owners, "symbols", "relations", "match_keys", "path_words", "module_keys"]
    contents = {}
    for table in tables:
        names = [row[1] for row in _rows(app, f"PRAGMA table_info({table})")]
        columns = [f"t.{name} & 65535" if name == "chunk_id" else f"t.{name}" for name in names if name not in _NUMBERS]
        owner = owners.get(table, "file_id")
        sql = f"SELECT f.path, {', '.join(columns)} FROM {table} t JOIN files f ON f.id = (t.{owner})"  # noqa: S608
        contents[table] = sorted(_rows(app, sql), key=repr)
    return contents


def _vectors(contents: dict[str, list[tuple[Any, ...]]]) -> NDArray[np.float16]:
    """Take the vectors themselves out of the rows: sums differ in their last bit with the batch they were taken in."""
    rows = contents["vectors"]
    contents["vectors"] = [row[:-1] for row in rows]
    return np.stack([np.frombuffer(row[-1], np.float16) for row in rows])


_NUMBERS = ("id", "file_id")  # Given out in the order of writing, which may differ.
