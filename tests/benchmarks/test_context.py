"""The benchmark of investigations: they are well formed, and the places that a text shows are counted."""

import json
import shlex
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.context import CONTEXT, ask, listed, missing, shown
from graphrag_mcp.app.local import App
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.arguments import parse_arguments
from graphrag_mcp.tools.table import TOOLS

GIVEN = json.loads(CONTEXT.read_text(encoding="utf-8"))
KINDS = ("read", "callers", "flow", "diff", "types", "delete")
ANSWER = """3 callers of lib/lamp.py:3-9  Lamp.light: 3 certain.
lib/wick.py
  Wick.burn
    6: lamp.light()
tests: 1 certain: tests/test_lamp.py:12 test_light
1 lib/oil.py:30  refill
    33: lamp.light()
"""


def test_there_are_thirty_investigations_and_five_of_each_kind() -> None:
    """Fewer would say little about a kind."""
    kinds = [given["kind"] for given in GIVEN["investigations"]]
    assert len(kinds) >= 30
    assert min(kinds.count(kind) for kind in KINDS) >= 5
    assert set(kinds) == set(KINDS)


@pytest.mark.parametrize("given", GIVEN["investigations"], ids=lambda given: str(given["id"]))
def test_each_investigation_has_both_arms_and_places(given: dict[str, Any]) -> None:
    """The commands only read, and the calls have arguments that their tools accept."""
    assert given["repository"] in GIVEN["repositories"]
    assert given["gold"]
    assert all(0 < first <= last for _, first, last in given["gold"])
    assert all(shlex.split(command)[0] in ("rg", "sed") or command == "git diff" for command in given["rg"])
    assert given["rg"]
    assert given["calls"]
    for call in given["calls"]:
        parse_arguments(call["tool"], TOOLS[call["tool"]].arguments, call["arguments"])
    assert ("patch" in given) == (given["kind"] == "diff")


def test_a_line_of_an_answer_counts_for_the_path_above_it() -> None:
    """A path may stand alone, with its line, or in a list; a qualified name is no path."""
    assert set(shown(ANSWER)) == {
        ("lib/lamp.py", 3), ("lib/wick.py", 6), ("tests/test_lamp.py", 12), ("lib/oil.py", 30), ("lib/oil.py", 33),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "text", "places"),
    [
        ("rg -n light", "a-1.py:6:lamp.light()\na-1.py-7-pass\n", {("a-1.py", 6), ("a-1.py", 7)}),
        ("rg -n light a.py", "6:lamp.light()\n", {("a.py", 6)}),
        ("sed -n 4,9p a.py", "x: 1\n12:34\n", {("a.py", 4), ("a.py", 5)}),  # The file ends before line 9.
        ("git diff", "a.py:6: no place\n", set()),
    ],
)
def test_a_line_of_a_command_counts_for_its_file(command: str, text: str, places: set[tuple[str, int]]) -> None:
    """Ripgrep writes path and line; sed prints the lines from the first that it was given."""
    assert set(listed(command, text)) == places


def test_a_place_is_missing_if_no_line_in_it_is_shown() -> None:
    """Both ends belong to it."""
    gold = [["a.py", 3, 5], ["a.py", 6, 8], ["b.py", 3, 3]]
    assert missing(gold, {("a.py", 5), ("a.py", 9)}) == ["a.py:6-8", "b.py:3-3"]


def test_a_tool_is_asked_as_an_agent_asks_it(tmp_path: Path) -> None:
    """The text of the answer."""
    (tmp_path / "a.py").write_text("def run(): pass\nrun()\n")
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        assert "1 caller of a.py:1-1  run" in ask(app, "trace_relations", {"symbol": "run"})
