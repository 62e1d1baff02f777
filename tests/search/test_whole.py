"""A hit that is a part of a long definition is shown with all lines of it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search import focus
from graphrag_mcp.tools.search import HYBRID
from tests.indexed import indexed

STEPS = [f"    heat_oven({number})\n    check_temperature_of_shelf({number})" for number in range(1, 90)]
BAKE = "\n\n".join(["# Bakes.\ndef bake_bread():", *STEPS, '    announce("the loaf is done")']) + "\n"
QUESTION = SearchRequest("announce that the loaf is done", limit=5)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with indexed(tmp_path, {"bake.py": BAKE, "other.py": "def knead_dough():\n    return 1\n"}) as app:
        yield app


def test_a_part_has_all_lines_of_its_definition_once(app: App) -> None:
    """Also the blank ones, which no chunk has, and the comment above; parts of one definition are one result."""
    hits = [hit for hit in app.search(QUESTION).primary if hit.chunk.path == "bake.py"]
    assert [(hit.chunk.start_line, hit.chunk.end_line, hit.chunk.text) for hit in hits] == [
        (1, BAKE.count("\n"), BAKE.rstrip("\n"))
    ]
    assert hits[0].focus is not None and BAKE.split("\n")[hits[0].focus.lines[0] - 1].endswith('done")')
    call = HYBRID.read({"query": QUESTION.query}, app.settings, app.root)
    answer = HYBRID.write(app.ask(HYBRID.ask, call), call)
    assert "bake_bread  (function)" in answer and "part of" not in answer
    assert "the loaf is done" in answer and "def bake_bread" in answer and "... " in answer


def test_of_a_definition_in_too_many_parts_one_is_shown(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(focus, "MOST_PARTS", 1)
    first = next(hit.chunk for hit in app.search(QUESTION).primary if hit.chunk.path == "bake.py")
    assert first.start_line > 1 and first.end_line == BAKE.count("\n")


def test_lines_that_moved_are_found_though_blank_ones_have_blanks(app: App) -> None:
    """The file has changed since it was indexed, above the definition."""
    (app.root / "bake.py").write_text("import oven\n" + BAKE.replace("\n\n", "\n   \n"))
    first = next(hit.chunk for hit in app.search(QUESTION).primary if hit.chunk.path == "bake.py")
    assert (first.start_line, first.stale) == (2, "")


def test_a_function_of_blank_lines_stays_in_parts(tmp_path: Path) -> None:
    """A million of them are in no chunk, and would be lines to read."""
    code = BAKE.replace('    announce("', "\n" * 1_000_000 + '    announce("')
    with indexed(tmp_path, {"bake.py": f"{code}\n"}) as app:
        hits = [hit.chunk for hit in app.search(QUESTION).primary if hit.chunk.path == "bake.py"]
    assert hits and all(hit.end_line - hit.start_line < focus.MOST_LINES for hit in hits)


def test_a_changed_file_of_blanks_is_compared_at_once(app: App) -> None:
    """Their number squared would be steps for an hour."""
    (app.root / "bake.py").write_text(BAKE.replace("def", "async def") + " " * 300_000 + "x\n")
    started = time.process_time()
    first = next(hit.chunk for hit in app.search(QUESTION).primary if hit.chunk.path == "bake.py")
    assert first.stale and time.process_time() - started < 5
