"""What a search shows is what the file holds now, or says that it may not be."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.exclusion import walker
from graphrag_mcp.index import freshness, prepare
from graphrag_mcp.index.freshness import CHANGED, UNREADABLE
from graphrag_mcp.model.search import SearchRequest, SearchResult, StoredChunk
from graphrag_mcp.settings import load_settings

CODE = "def open_cookie_jar(path):\n    return Jar(path)\n\n\ndef close_cookie_jar(jar):\n    jar.close()\n"
QUERY = SearchRequest("open_cookie_jar")

Open = Callable[..., App]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one file, which is trusted by its time at once."""
    for module in (freshness, prepare):
        monkeypatch.setattr(module, "RECENT_NS", 0)
    root = tmp_path / "project"
    root.mkdir()
    (root / "jar.py").write_text(CODE)
    return root


@pytest.fixture
def open_app(root: Path) -> Iterator[Open]:
    """Opens an indexed application; with `serving`, one that runs in the background and does not watch."""
    opened: list[App] = []

    def open_one(serving: bool = False) -> App:
        environment = {"GRAPHRAG_DATA_DIR": str(root.parent / "data"), "GRAPHRAG_WATCH": "off"}
        app = App(root, load_settings(root, environment))
        opened.append(app)
        if serving:
            app.start()
            assert app.wait_ready(20).state == "ready"
        else:
            app.index()
        return app

    yield open_one
    for app in opened:
        app.close()


def first(result: SearchResult) -> StoredChunk:
    return result.primary[0].chunk


def lines_of(root: Path, chunk: StoredChunk) -> str:
    return "\n".join((root / chunk.path).read_text().split("\n")[chunk.start_line - 1 : chunk.end_line])


def test_lines_that_moved_are_shown_where_they_are(root: Path, open_app: Open) -> None:
    """An edit above them changes no line of them."""
    app = open_app()
    before = first(app.search(QUERY))
    (root / "jar.py").write_text("import os\n\n\n" + CODE)
    now = first(app.search(QUERY))
    assert (now.start_line, now.end_line, now.stale) == (before.start_line + 3, before.end_line + 3, "")
    assert lines_of(root, now) == now.text.rstrip("\n")


def test_what_matched_moves_with_its_lines(root: Path, open_app: Open) -> None:
    """The definition and its best lines; definitions elsewhere in a changed file are not pointed at."""
    app = open_app()
    before = app.search(SearchRequest("close_cookie_jar")).primary[0].focus
    assert before is not None
    assert before.symbol is not None
    assert (before.symbol.name, before.start_line) == ("close_cookie_jar", 5)
    assert [symbol.name for symbol in before.also_here] == ["open_cookie_jar"]
    (root / "jar.py").write_text("import os\n\n\n" + CODE)
    after = app.search(SearchRequest("close_cookie_jar")).primary[0].focus
    assert after is not None
    assert after.symbol is not None
    assert (after.symbol.name, after.symbol.start_line, after.start_line) == ("close_cookie_jar", 8, 8)
    assert [line - 3 for line in after.lines] == list(before.lines)
    assert after.also_here == ()


def test_lines_that_changed_are_marked(root: Path, open_app: Open) -> None:
    """What is shown then is what was indexed, and says so."""
    app = open_app()
    (root / "jar.py").write_text(CODE.replace("Jar(path)", "Jar(path, lazy=True)").replace("jar.close()", "jar.end()"))
    assert first(app.search(QUERY)).stale == CHANGED


def test_a_server_indexes_what_changed_before_it_is_shown(root: Path, open_app: Open) -> None:
    """Even though nothing watches."""
    app = open_app(serving=True)
    (root / "jar.py").write_text(CODE.replace("Jar(path)", "Jar(path, lazy=True)"))
    found = first(app.search(QUERY))
    assert "lazy=True" in found.text
    assert found.stale == ""


def test_a_removed_file_is_left_out(root: Path, open_app: Open) -> None:
    """There is nothing to read there."""
    app = open_app()
    (root / "jar.py").unlink()
    result = app.search(QUERY)
    assert result.primary == ()
    assert "their files were deleted" in result.meta.warnings[-1]


def test_a_change_that_leaves_size_and_time_is_seen_while_it_may_be_one(
    root: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system counts time in steps; two writes in one step look like one."""
    moment = time.time_ns()
    for module in (freshness, walker):
        monkeypatch.setattr(module, "changed_ns", lambda _: moment)
    for module in (freshness, prepare):
        monkeypatch.setattr(module, "RECENT_NS", 60_000_000_000)
    app = open_app()
    (root / "jar.py").write_text(CODE.replace("Jar(path)", "Box(path)"))
    assert first(app.search(QUERY)).stale == CHANGED
    assert app.index().changed == 1


def test_files_of_one_size_and_time_may_change_places(root: Path, open_app: Open) -> None:
    """Those of an archive have one time, and a move brings it along."""
    other = CODE.replace("jar", "box")
    (root / "box.py").write_text(other)
    for name in ("jar.py", "box.py"):
        os.utime(root / name, (1_700_000_000, 1_700_000_000))
    app = open_app()
    assert first(app.search(QUERY)).path == "jar.py"
    for source, target in (("jar.py", "there"), ("box.py", "jar.py"), ("there", "box.py")):
        (root / source).rename(root / target)
    assert first(app.search(QUERY)).stale == CHANGED
    assert app.index().changed == 2
    found = first(app.search(QUERY))
    assert (found.path, found.stale) == ("box.py", "")


def test_what_became_a_symlink_is_not_followed(root: Path, open_app: Open, tmp_path: Path) -> None:
    """It may lead anywhere."""
    app = open_app()
    (tmp_path / "elsewhere.py").write_text("x = 1\n" + CODE)
    (root / "jar.py").unlink()
    (root / "jar.py").symlink_to(tmp_path / "elsewhere.py")
    found = first(app.search(QUERY))
    assert (found.start_line, found.stale) == (1, UNREADABLE)


def test_a_touched_file_is_as_fresh_as_before(root: Path, open_app: Open) -> None:
    """Its content decides."""
    app = open_app()
    os.utime(root / "jar.py")
    assert first(app.search(QUERY)).stale == ""
