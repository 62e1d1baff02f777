"""Files and rules that nobody should write: the run goes on, and says what it left out."""

from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.index import prepare
from graphrag_mcp.index.prepare import Job, Rejected
from graphrag_mcp.index.workers import Quarantine, SearchYield, prepare_all
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.schema import MAX_CHUNKS_PER_FILE

GOOD = "def polish_lantern(lantern):\n    return lantern\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one good file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "good.py").write_text(GOOD)
    return folder


@pytest.fixture
def app(root: Path, tmp_path: Path) -> Iterator[App]:
    """The application over the folder."""
    application = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data"), "GRAPHRAG_WORKERS": "1"}))
    yield application
    application.close()


def _found(app: App, query: str) -> list[str]:
    return [hit.chunk.path for hit in app.search(SearchRequest(query)).primary]


def _reason(app: App, path: str) -> str:
    return dict(app.status().skipped_examples)[path]


@pytest.mark.requirement("004-11", "004-13")
def test_text_in_other_encodings_is_found(app: App, root: Path) -> None:
    """UTF-16 is read, and bytes that are no UTF-8 cost only themselves."""
    (root / "wide.py").write_bytes("def wax_candle():\n    pass\n".encode("utf-16"))
    (root / "broken.py").write_bytes(b"def trim_wick():\n    return '\xff\xfe\xe9'\n")
    app.index()
    assert _found(app, "wax candle")[0] == "wide.py"
    assert _found(app, "trim wick")[0] == "broken.py"


@pytest.mark.requirement("000-44", "004-13")
def test_binary_content_is_left_out_with_its_reason(app: App, root: Path) -> None:
    """NUL bytes under the name of a source file."""
    (root / "image.py").write_bytes(b"\x89PNG\0\0\0" * 100)
    app.index()
    assert "binary" in _reason(app, "image.py")
    assert _found(app, "polish lantern") == ["good.py"]


@pytest.mark.requirement("004-13")
def test_a_file_that_is_left_out_counts_as_that_alone(app: App, root: Path) -> None:
    """Each run reads it again and adds nothing; a known file that becomes binary is removed, once."""
    (root / "data.txt").write_bytes(b"a\0b\0")
    counts = attrgetter("added", "changed", "removed", "unchanged", "skipped")
    assert [counts(app.index()) for _ in range(2)] == [(1, 0, 0, 0, 1), (0, 0, 0, 1, 1)]
    (root / "good.py").write_bytes(b"\0")
    assert [counts(app.index()) for _ in range(2)] == [(0, 0, 1, 0, 2), (0, 0, 0, 0, 2)]


@pytest.mark.requirement("004-12", "K-24")
def test_a_line_of_fifty_megabytes_is_left_out(app: App, root: Path) -> None:
    """Larger than 10 MB; neither read nor parsed."""
    with (root / "line.js").open("wb") as file:
        file.truncate(50_000_000)
    report = app.index()
    assert (report.added, report.skipped) == (1, 1)
    assert _reason(app, "line.js") == "too large"


@pytest.mark.requirement("004-12")
def test_a_long_line_below_the_limit_is_read_in_time(app: App, root: Path) -> None:
    """Three megabytes in one line are cut by length, with a word about it."""
    (root / "line.js").write_text("var lamp=[" + "1," * 1_500_000 + "0]")
    assert app.index().seconds < 100  # It takes one
    assert app.status().files == 2
    assert sum(app.status().fallbacks.values()) == 1


@pytest.mark.requirement("004-11", "004-12")
def test_ten_thousand_brackets_are_read_as_lines(app: App, root: Path) -> None:
    """Neither a crash nor a hang; the reason is counted in the status."""
    (root / "deep.py").write_text("glimmer = " + "[" * 10_000 + "]" * 10_000 + "\n")
    app.index()
    assert app.status().files == 2
    assert sum(app.status().fallbacks.values()) == 1
    assert "deep.py" in _found(app, "glimmer")


def test_a_file_of_more_sections_than_the_index_holds_is_cut_into_passages(app: App, root: Path) -> None:
    """It costs its structure and nothing else: the other files are indexed."""
    (root / "many.md").write_text("# a\n" * (MAX_CHUNKS_PER_FILE + 500) + "\nA glimmer.\n")
    app.index()
    assert "many.md" in _found(app, "glimmer")
    assert _found(app, "polish lantern")[0] == "good.py"
    assert sum(app.status().fallbacks.values()) == 1


def test_a_file_of_more_passages_than_the_index_holds_is_left_out(
    app: App, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes tens of megabytes to be one; here, a smaller limit."""
    monkeypatch.setattr(prepare, "MAX_CHUNKS_PER_FILE", 3)
    (root / "long.txt").write_text(("x" * 1_000 + "\n") * 4)
    app.index()
    assert _reason(app, "long.txt") == "too long: 4 chunks, the limit for one file is 3"
    assert _found(app, "polish lantern") == ["good.py"]


@pytest.mark.requirement("004-14")
def test_a_file_that_vanishes_is_left_out(root: Path) -> None:
    """Between the walk and the reading; the others are read."""
    jobs = [Job(root, name, len(GOOD), 1, 1, "recipe", None, None, 1_000_000) for name in ("gone.py", "good.py")]
    gone, good = prepare_all(jobs, 1, Quarantine(root / "quarantine.json"), SearchYield(None))
    assert gone == Rejected("gone.py", "vanished while it was being indexed")
    assert not isinstance(good, Rejected)


@pytest.mark.requirement("000-09", "B-06")
def test_wrong_lines_of_an_ignore_file_are_warnings_and_the_others_stand(app: App, root: Path, tmp_path: Path) -> None:
    """A missing, a looping and an outside include, each named with file and line."""
    (tmp_path / "outside").write_text("*.py\n")
    (root / "loop").write_text(":include:loop\n")
    (root / "dropped.py").write_text(GOOD)
    lines = [":include:missing", ":include:loop", ":include:../outside", "dropped.py"]
    (root / ".graphragignore").write_text("\n".join(lines) + "\n")
    warnings = " ".join(app.index().warnings)
    for place in (".graphragignore:1", "loop:1", ".graphragignore:3"):
        assert place in warnings
    assert "good.py" in _found(app, "polish lantern")
    assert _reason(app, "dropped.py") == "ignored"
    assert set(app.index().warnings) <= set(app.status().warnings)


@pytest.mark.requirement("000-44", "000-47")
def test_the_status_says_what_share_was_left_out(app: App, root: Path) -> None:
    """The rate over all paths seen, and reasons with their numbers."""
    for name in ("key.pem", ".env", "a.pyc"):
        (root / name).write_text("x")
    app.index()
    status = app.status()
    assert status.exclusion_rate == pytest.approx(3 / 4)
    assert sum(status.skipped.values()) == 3
    assert app.index(rebuild=True).embedded == status.chunks == status.embedded_chunks
