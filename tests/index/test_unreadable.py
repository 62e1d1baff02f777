"""What cannot be read right now is not gone."""

from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index.indexer import without_unreadable
from graphrag_mcp.index.prepare import Job, Rejected, prepare
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.catalog import FileState


@pytest.mark.requirement("K-16")
def test_a_root_that_is_away_for_a_while_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    """An unmounted disk does not empty the index, and the report says what happened."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "jar.py").write_text("def open_cookie_jar():\n    pass\n")
    app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))
    app.index()
    root.rename(tmp_path / "away")
    report = app.index()
    assert (report.removed, report.unchanged) == (0, 0)
    assert any("1 file could not be read" in warning for warning in report.warnings)
    assert [hit.chunk.path for hit in app.search(SearchRequest("open cookie jar")).primary] == ["jar.py"]
    (tmp_path / "away").rename(root)
    assert (app.index().unchanged, app.status().skipped) == (1, {})
    app.close()


@pytest.mark.requirement("K-16")
@pytest.mark.parametrize(
    ("place", "kept"),
    [("src/", {"src/a.py", "src/deep/b.py"}), ("src/a.py", {"src/a.py"}), ("src/deep", {"src/deep/b.py"}), ("sr/", ())],
)
def test_all_below_an_unreadable_place_is_out_of_sight(place: str, kept: set[str]) -> None:
    """A folder that cannot be listed hides its files, and no others."""
    known = {path: FileState(1, 1, b"", "") for path in ("src/a.py", "src/deep/b.py", "src2/a.py")}
    seen, hidden = without_unreadable(known, {place: "unreadable", "src2/": "ignored"})
    assert (set(known) - set(seen), hidden) == (set(kept), len(kept))


@pytest.mark.requirement("004-14", "K-16")
def test_only_a_file_that_exists_and_cannot_be_read_may_be_the_same_later(tmp_path: Path) -> None:
    """Its rows stay; those of one that is gone do not."""
    (tmp_path / "folder.py").mkdir()
    outcomes = [prepare(Job(tmp_path, name, 1, 1, 1, "recipe", None, None, 1_000)) for name in ("folder.py", "gone.py")]
    assert [one.may_pass for one in outcomes if isinstance(one, Rejected)] == [True, False]
