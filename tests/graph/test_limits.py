"""What a limit leaves out of an answer is said, and is the same on any machine."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphrag_mcp.answers.tools import FIND_SYMBOL, IMPACT, TRACE, Tool
from graphrag_mcp.app.local import App
from graphrag_mcp.graph import navigator, related
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.search import SearchRequest
from tests.indexed import indexed

FILES = {
    "lib.py": "def base():\n    return 1\n\n\ndef middle():\n    return base()\n",
    **{f"user_{n}.py": f"from lib import base\n\n\ndef use_{n}():\n    return base()\n" for n in range(12)},
}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """Return an application over one function with a dozen callers."""
    with indexed(tmp_path, FILES) as app:
        yield app


def answer(app: App, tool: Tool, arguments: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return an answer as text and as JSON."""
    call = tool.read(arguments, app.settings, app.root)
    found = tool.ask(app, call)
    return tool.write(found, call), tool.json(found, call)


CUT: list[tuple[Tool, dict[str, object], int]] = [
    (TRACE, {"symbol": "base"}, 0),
    (TRACE, {"symbol": "base", "direction": "callees"}, 0),
    (TRACE, {"from": ["use_1"], "to": ["base"]}, 0),
    (IMPACT, {"symbol": "base"}, 0),
    (FIND_SYMBOL, {"symbol": "base"}, -1),
]


@pytest.mark.parametrize(("tool", "arguments", "line"), CUT)
def test_an_answer_that_a_limit_cut_begins_with_at_least_and_is_never_complete(
    app: App, monkeypatch: pytest.MonkeyPatch, tool: Tool, arguments: Mapping[str, object], line: int
) -> None:
    """In text in its first line, in JSON as a field."""
    monkeypatch.setattr("graphrag_mcp.app.local.COMMAND_SECONDS", 0.0)
    text, data = answer(app, tool, arguments)
    assert "Complete" not in text
    assert "truncated" in text.lower() or "cut by a limit" in text
    if line == 0:
        assert "at least" in text.splitlines()[0].lower()
        assert data["is_cut"]


def test_hops_that_are_left_out_make_an_answer_incomplete(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """With so many callers that the next hop is not followed."""
    monkeypatch.setattr("graphrag_mcp.graph.tracing.MAX_NODES", 5)
    monkeypatch.setattr("graphrag_mcp.graph.impact.MAX_NODES", 5)
    for tool in (TRACE, IMPACT):
        text, data = answer(app, tool, {"symbol": "base", "hops": 2})
        assert "at least" in text.splitlines()[0].lower()
        assert "Complete" not in text
        assert data["is_cut"]


@pytest.mark.parametrize(("tool", "arguments", "line"), CUT)
def test_on_the_command_line_no_answer_depends_on_the_clock(
    app: App, monkeypatch: pytest.MonkeyPatch, tool: Tool, arguments: Mapping[str, object], line: int
) -> None:
    """A clock on which each look takes ten seconds changes nothing."""
    quiet = answer(app, tool, arguments)
    seconds = count(0.0, 10.0)
    slow = SimpleNamespace(monotonic=lambda: next(seconds))
    monkeypatch.setattr("graphrag_mcp.resolution.search.time", slow)
    monkeypatch.setattr("graphrag_mcp.graph.navigator.time", slow)
    assert answer(app, tool, arguments) == quiet


def test_the_related_code_of_a_search_does_not_depend_on_the_clock_or_on_earlier_questions(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends after so many files, those that an earlier question looked at too."""
    monkeypatch.setattr(related, "FILES", 6)
    asked = SearchRequest("base", limit=1)

    def found() -> list[tuple[str, str, str]]:
        return [(one.chunk.path, one.source, one.target) for one in app.search(asked).expanded]

    first = found()
    app.navigator().trace("base", Direction.USERS, 2)
    slow = SimpleNamespace(monotonic=lambda: 1e9)
    monkeypatch.setattr("graphrag_mcp.resolution.search.time", slow)
    assert [found() for _ in range(8)] == [first] * 8
    monkeypatch.setattr(related, "FILES", 600)
    assert len(found()) > len(first)


def test_a_flow_ends_at_the_same_place_whatever_was_asked_before(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is bounded by the files that it looks at."""
    monkeypatch.setattr(navigator, "FLOW_FILES", 8)
    first = answer(app, TRACE, {"to": ["base"]})
    app.navigator().trace("base", Direction.USERS, 2)
    assert answer(app, TRACE, {"to": ["base"]}) == first
    assert first[0].startswith("At least")
