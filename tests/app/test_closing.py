"""What runs in the background when a project is closed."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag_mcp.app import local
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import IndexingSettings, ServerSettings, Settings
from tests.waiting import wait_until

NOWHERE = "127.0.0.1:9"


def _app(folder: Path, **servers: bool) -> App:
    root = folder / "project"
    root.mkdir()
    (root / "tax.py").write_text("def tax_of(order):\n    return 0.2 * sum(order)\n")
    nowhere = ServerSettings(qdrant_url=f"http://{NOWHERE}", neo4j_uri=f"bolt://{NOWHERE}", **servers)
    return App(root, Settings(servers=nowhere, indexing=IndexingSettings(data_dir=str(folder / "data"))))


@pytest.mark.parametrize("when", ["at once", "indexed"])
@pytest.mark.parametrize("sync_servers", [False, True])
def test_a_closed_project_leaves_nothing_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync_servers: bool, when: str
) -> None:
    """Every thread ends: an error of one fails this test."""
    monkeypatch.setattr(local, "BUILDING_SECONDS", 0.5)  # A project that is closed at once is never built.
    before = set(threading.enumerate())
    app = _app(tmp_path, sync_servers=sync_servers)
    app.start()
    if when == "indexed":
        app.wait_ready(20)
    app.close()
    shutil.rmtree(tmp_path / "data", ignore_errors=True)
    wait_until(lambda: set(threading.enumerate()) <= before, 30)


def test_what_waits_for_an_index_that_is_closed_and_deleted_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import of the clients waits until no search needs the processor, and a project may be closed meanwhile."""
    before = set(threading.enumerate())
    waits: list[Callable[[], object]] = []
    monkeypatch.setattr("graphrag_mcp.index.backends.Servers.load_soon", lambda _, wait: waits.append(wait))
    app = _app(tmp_path)
    app.start()
    app.wait_ready(20)
    app.close()
    wait_until(lambda: set(threading.enumerate()) <= before, 30)
    shutil.rmtree(tmp_path / "data")
    waits[0]()
    assert not (tmp_path / "data").exists()
