"""When the index is copied to servers in the background, and what is said when that fails."""

import logging
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import ServerError
from graphrag_mcp.index import replicator as copies
from graphrag_mcp.index.backends import Servers
from graphrag_mcp.index.replicator import Replicator
from graphrag_mcp.ports import Embedder
from graphrag_mcp.settings import ServerSettings, load_settings
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource

NOWHERE = ServerSettings(neo4j_uri="bolt://127.0.0.1:9")


class _Failing:
    """A source that cannot be opened, for one reason after another; the last one sets `done` and stays."""

    def __init__(self, *reasons: str) -> None:
        self._reasons = list(reasons)
        self.done = threading.Event()
        self.attempts = 0

    def __call__(self) -> tuple[SqliteReplicaSource, Embedder]:
        self.attempts += 1
        if len(self._reasons) == 1:
            self.done.set()
        raise ServerError(self._reasons.pop(0) if len(self._reasons) > 1 else self._reasons[0])


def _follow(folder: Path, source: _Failing, commit: Callable[[], int | None], seconds: float) -> None:
    """Follow commits for so long after the source has failed for the last reason."""
    stop = threading.Event()
    follower = Replicator(Servers(NOWHERE, "project"), source, folder / "sync.lock", stop)
    thread = threading.Thread(target=follower.follow, args=(commit,))
    thread.start()
    source.done.wait(seconds)
    stop.wait(seconds)
    stop.set()
    thread.join()


def test_a_problem_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """However often it is met, as when no model can be loaded; another one is told too."""
    monkeypatch.setattr(copies, "SYNC_RETRY_SECONDS", 0.001)
    source = _Failing("no model", "no disk", "no model", "no disk", "no disk")
    with caplog.at_level(logging.WARNING):
        _follow(tmp_path, source, lambda: 1, 0.2)
    assert source.attempts > 5
    assert [record.message.rpartition(": ")[2] for record in caplog.records] == ["no model", "no disk"]


def test_what_failed_is_left_alone_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it was: neither a server nor a model that is missing is asked for again with every turn."""
    monkeypatch.setattr(copies, "SYNC_SECONDS", 0.001)
    source = _Failing("no model")
    _follow(tmp_path, source, lambda: 1, 0.2)
    assert source.attempts == 1


def test_only_the_process_that_writes_the_index_copies_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of processes follow one index; the others would only look up what there is to copy."""
    monkeypatch.setattr(copies, "SYNC_SECONDS", 0.001)
    source = _Failing("never opened")
    _follow(tmp_path, source, lambda: None, 0.1)
    assert source.attempts == 0
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def run():\n    pass\n")
    settings = load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")})
    with closing(App(root, settings)) as writer, closing(App(root, settings)) as reader:
        for app in (writer, reader):
            app.start()
            assert app.wait_ready(10).state == "ready"
        assert writer._own_commit() is not None
        assert reader._own_commit() is None
