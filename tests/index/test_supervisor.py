"""The supervisor: searches go first, and its state is that of the file."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.index.supervisor import SearchPriority, Supervisor
from graphrag_mcp.model.reports import IndexPhase, Progress
from graphrag_mcp.settings import IndexingSettings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def first():\n    return 1\n")
    return root


def supervise(root: Path, stop: threading.Event) -> tuple[Supervisor, Handle]:
    """Return a supervisor of the project's index that is not started, and its handle."""
    settings = IndexingSettings(workers=1, watch="off")
    handle = Handle(root, IndexPaths(root, str(root.parent / "data")), "")
    return Supervisor(root, "", settings, handle, ExclusionManager(root, settings), stop, (root, "")), handle


def test_an_index_run_waits_while_any_search_is_answered() -> None:
    """Searches are counted: the second one's end lets it go on, not the first one's."""
    priority = SearchPriority()
    assert priority.idle.is_set()
    with priority.first():
        with priority.first():
            assert not priority.idle.is_set()
        assert not priority.idle.is_set()
    assert priority.idle.is_set()


def test_a_run_goes_from_empty_to_ready_and_says_how_far_it_is(root: Path) -> None:
    """Before the first run the file tells that it is empty; during it, progress is the state."""
    supervisor, handle = supervise(root, threading.Event())
    with closing(handle):
        assert supervisor.state().state is IndexPhase.EMPTY
        seen: list[tuple[IndexPhase, int]] = []

        def note(step: Progress) -> None:
            seen.append((supervisor.state().state, step.files_done))

        report = supervisor.index(progress=note)
        assert report.added == 1
        assert {state for state, _ in seen} == {IndexPhase.BUILDING}
        state = supervisor.state()
        assert (state.state, state.files_done, state.chunks) == (IndexPhase.READY, 1, report.chunks)
        assert supervisor.settled.is_set()


def test_a_command_refreshes_nothing_before_it_shows_a_result(root: Path) -> None:
    """Only a server does, which writes the index anyway."""
    supervisor, handle = supervise(root, threading.Event())
    with closing(handle):
        supervisor.index()
        (root / "a.py").write_text("def second():\n    return 2\n")
        assert not supervisor.refresh_stale(["a.py"])


def test_a_server_refreshes_the_files_that_a_search_shows(root: Path) -> None:
    """At once, and without following the edits."""
    stop = threading.Event()
    supervisor, handle = supervise(root, stop)
    with closing(handle):
        supervisor.start()
        assert supervisor.wait_ready(30).state is IndexPhase.READY
        (root / "a.py").write_text("def second():\n    return 2\n")
        assert supervisor.refresh_stale(["a.py"])
        assert handle.searched().symbols.names() == ["second"]
        stop.set()
        supervisor._background.join(30)  # type: ignore[union-attr]
