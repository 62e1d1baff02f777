"""A run beside searches: it waits for them, and comes to its end even so."""

import threading
import time
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index import workers
from graphrag_mcp.index.workers import SearchYield
from graphrag_mcp.settings import load_settings

FILES = 20


@pytest.fixture
def searched() -> threading.Event:
    """What is set while no search is being answered: never."""
    return threading.Event()


def _seconds(search_yield: SearchYield) -> float:
    started = time.monotonic()
    search_yield.yield_to_searches()
    return time.monotonic() - started


def test_a_turn_waits_for_a_search_and_then_lasts(searched: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks at every line of a loop waits once in each turn."""
    monkeypatch.setattr(workers, "TURN_SECONDS", 600.0)
    mine = SearchYield(searched)
    assert _seconds(mine) >= 0.9 * workers.MAX_WAIT_SECONDS
    assert sum(_seconds(mine) for _ in range(100)) < workers.MAX_WAIT_SECONDS
    mine._turn_ends = 0.0
    assert _seconds(mine) >= 0.9 * workers.MAX_WAIT_SECONDS


def test_a_turn_begins_as_soon_as_the_search_is_answered(
    searched: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is not slower than the searches beside it make it."""
    monkeypatch.setattr(workers, "MAX_WAIT_SECONDS", 60.0)
    threading.Timer(0.05, searched.set).start()
    assert _seconds(SearchYield(searched)) < 30
    assert _seconds(SearchYield(searched)) < 30
    assert _seconds(SearchYield(None)) < 30


def test_a_run_gives_way_at_each_file_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside searches without end, the walk, the parser and the model wait; nothing is left out."""
    monkeypatch.setattr(workers, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(workers, "MAX_WAIT_SECONDS", 0.01)
    root = tmp_path / "project"
    root.mkdir()
    for number in range(FILES):
        (root / f"part_{number}.py").write_text(f"def step_{number}():\n    return {number}\n")
    app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WORKERS": "1"}))
    with app._parts.supervisor.search_priority.first():
        report = app.index()
    assert report.added == report.chunks == FILES
    assert report.seconds >= 2 * FILES * workers.MAX_WAIT_SECONDS  # At each file of the walk, and before it is parsed.
    app.close()
