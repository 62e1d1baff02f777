"""Following edits: real files, the real observer."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphrag_mcp.app import App
from graphrag_mcp.indexing import watcher
from graphrag_mcp.indexing.watcher import Batch, watch
from graphrag_mcp.reports import IndexReport
from graphrag_mcp.results import SearchRequest
from graphrag_mcp.settings import load_settings

FRESH_SECONDS = 2.0  # The promise: a saved edit is searchable two seconds later.


class Watched:
    """An application that follows a project in a thread."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root = root
        self.app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))
        self.app.index()
        self.reports: list[IndexReport] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.app.watch, args=(self.stop, self.reports.append))
        self.thread.start()
        time.sleep(0.3)

    def finds(self, query: str, path: str) -> bool:
        """Tell whether a search for the query has the file first."""
        hits = self.app.search(SearchRequest(query)).primary
        return bool(hits) and hits[0].chunk.path == path

    def close(self) -> None:
        """End the thread and the application."""
        self.stop.set()
        self.thread.join(5)
        self.app.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A watched project of two files."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/one.py").write_text("def first_thing():\n    pass\n")
    (root / "src/two.py").write_text("def second_thing():\n    pass\n")
    watched = Watched(root, tmp_path / "data")
    yield watched
    watched.close()


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


def test_a_saved_edit_is_searchable_within_two_seconds(watched: Watched) -> None:
    """B-32: trailing debounce of at most two seconds, no edit lost."""
    (watched.root / "src/one.py").write_text("def handle_zebra_crossing():\n    pass\n")
    assert _within(FRESH_SECONDS, lambda: watched.finds("handle_zebra_crossing", "src/one.py"))


def test_edits_in_quick_succession_end_with_the_last(watched: Watched) -> None:
    """B-32: no cool-down drops the last edit of a burst."""
    for number in range(20):
        (watched.root / "src/one.py").write_text(f"def burst_number_{number}():\n    pass\n")
        time.sleep(0.02)
    assert _within(FRESH_SECONDS, lambda: watched.finds("burst_number_19", "src/one.py"))


def test_a_move_is_a_deletion_and_a_creation(watched: Watched) -> None:
    """B-32: move = delete + create, for files and for folders."""
    (watched.root / "src").rename(watched.root / "lib")
    assert _within(2 * FRESH_SECONDS, lambda: watched.finds("first_thing", "lib/one.py"))
    paths = {hit.chunk.path for hit in watched.app.search(SearchRequest("second_thing", limit=25)).primary}
    assert not [path for path in paths if path.startswith("src/")]


def test_an_edit_of_the_ignore_file_purges_and_restores(watched: Watched) -> None:
    """K-16: edits to ignore files take effect at once."""
    rules = watched.root / ".graphragignore"
    rules.write_text("one.py\n")
    assert _within(FRESH_SECONDS, lambda: not watched.finds("first_thing", "src/one.py"))
    rules.write_text("")
    assert _within(FRESH_SECONDS, lambda: watched.finds("first_thing", "src/one.py"))


def test_ignored_files_wake_nobody(watched: Watched) -> None:
    """The watcher uses the same ExclusionManager as the walker."""
    (watched.root / "node_modules/x").mkdir(parents=True)
    (watched.root / "node_modules/x/index.js").write_text("function ignored() {}")
    (watched.root / "src/three.py").write_text("def third_thing():\n    pass\n")
    assert _within(FRESH_SECONDS, lambda: watched.finds("third_thing", "src/three.py"))
    assert _within(FRESH_SECONDS, lambda: bool(watched.reports))  # A run is told of after its commit.
    assert sum(report.added for report in watched.reports) == 1


def test_lost_events_lead_to_a_full_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B-32: more events than can be kept become one comparison of the whole tree."""
    monkeypatch.setattr(watcher, "MAX_PATHS", 3)
    stop = threading.Event()
    batches: list[Batch] = []

    def follow() -> None:
        for batch in watch(tmp_path, lambda path, is_dir: True, 0.1, stop):
            batches.append(batch)
            if len(batches) > 1:
                stop.set()

    thread = threading.Thread(target=follow)
    thread.start()
    time.sleep(0.2)
    for number in range(10):
        (tmp_path / f"{number}.py").write_text("x")
    thread.join(5)
    assert batches[0] == Batch((), everything=True)
    assert batches[1].everything


def test_what_was_left_out_and_is_gone_is_no_longer_listed(watched: Watched) -> None:
    """A file's reason goes with the file, and does not wait for the next comparison of the whole tree."""
    (watched.root / "src/image.py").write_bytes(b"\x89PNG\0\0\0")
    assert _within(FRESH_SECONDS, lambda: "src/image.py" in dict(watched.app.status().skipped_examples))
    (watched.root / "src/image.py").unlink()
    assert _within(FRESH_SECONDS, lambda: not watched.app.status().skipped_examples)
