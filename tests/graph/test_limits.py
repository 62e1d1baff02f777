"""What a limit leaves out of an answer is said, and is the same on any machine."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.graph import flow
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL
from graphrag_mcp.tools.impact import IMPACT
from graphrag_mcp.tools.tool import Tool
from graphrag_mcp.tools.trace_relations import TRACE
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
    found = app.ask(tool.ask, call)
    return tool.write(found, call), tool.json(found, call)


def test_hops_that_are_left_out_make_an_answer_incomplete(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """With so many callers that the next hop is not followed."""
    monkeypatch.setattr("graphrag_mcp.graph.tracing.MAX_NODES", 5)
    for tool in (TRACE, IMPACT):
        text, data = answer(app, tool, {"symbol": "base", "hops": 2})
        assert "at least" in text.splitlines()[0].lower()
        assert "Complete" not in text
        assert data["doubt"]["is_cut"]


ASKED: list[tuple[Tool, dict[str, object]]] = [
    (TRACE, {"symbol": "base"}),
    (TRACE, {"symbol": "base", "direction": "callees"}),
    (TRACE, {"from": ["use_1"], "to": ["base"]}),
    (IMPACT, {"symbol": "base"}),
    (FIND_SYMBOL, {"symbol": "base"}),
]


@pytest.mark.parametrize(("tool", "arguments"), ASKED)
def test_no_answer_depends_on_the_clock_or_on_earlier_questions(
    app: App, monkeypatch: pytest.MonkeyPatch, tool: Tool, arguments: Mapping[str, object]
) -> None:
    """A clock on which each look takes ten seconds changes nothing."""
    quiet = answer(app, tool, arguments)
    seconds = count(0.0, 10.0)
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    app.navigator().trace("base", Direction.USERS, 2)
    assert answer(app, tool, arguments) == quiet


def test_a_flow_ends_after_so_many_definitions(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any machine, and says so."""
    monkeypatch.setattr(flow, "MOST_EXPANDED", 2)
    first = answer(app, TRACE, {"to": ["base"]})
    assert answer(app, TRACE, {"to": ["base"]}) == first
    assert first[0].startswith("At least")
