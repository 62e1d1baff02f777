"""Exact questions without a local index: answered from Neo4j and Qdrant as an index answers them."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing

import anyio
import pytest
from mcp import Client

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteApp
from graphrag_mcp.app.session import WITH_GRAPH, LazySession
from graphrag_mcp.errors import GraphragError, RequestError
from graphrag_mcp.model.fields import outer_fields
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.serving.protocol import create_server
from graphrag_mcp.tools.table import TOOLS
from tests.servers.conftest import Place
from tests.servers.test_cypher import SHOP, _named

pytestmark = pytest.mark.server
NAMES = ("Total", "Flat.Of", "Rate", "Basket", "Sale.total", "add", "sell", "tax/tax.go", "shop/sale.py", "helped")
OF_COPY = "this is from a copy on the servers: uses outside of code, and callers outside of it, were not looked for"
Both = tuple[App, RemoteApp]


@pytest.fixture
def both(make_place: Callable[..., Place]) -> Iterator[Both]:
    """A project with an index, and the same on the servers."""
    place = make_place("shop", SHOP)
    with closing(place.app()) as app, closing(place.remote()) as remote:
        app.index()
        assert [report.problem for report in app.sync()] == ["", ""]
        yield app, remote


@pytest.mark.parametrize("direction", list(Direction))
def test_a_trace_is_that_of_the_index(both: Both, direction: Direction) -> None:
    """Each direction from each of some names, up to three hops."""
    for name in NAMES:
        for hops in (1, 3):
            local, remote = (_steps(asked, name, direction, hops) for asked in both)
            # What a file calls is read from its lines alone; the server knows which methods these may run.
            assert local - remote == set(), (name, hops)
            assert "/" in name or remote - local == set(), (name, hops)


def _steps(asked: App | RemoteApp, name: str, direction: Direction, hops: int) -> set[tuple[object, ...]]:
    with asked.view() as view:
        steps = view.navigator.trace(name, direction, hops, Scope()).steps
    return {(step.hop, *_named(step.source), *_named(step.target), step.edge.relation, step.lines) for step in steps}


@pytest.mark.parametrize("name", NAMES)
def test_text_and_json_are_those_of_the_index(both: Both, name: str) -> None:
    """Of every tool that a server without an index lists, but for what a copy cannot know."""
    for tool in TOOLS.values():
        if tool.needs not in WITH_GRAPH or "symbol" not in outer_fields(tool.arguments):
            continue
        texts = []
        for asked in both:
            call = tool.read({"symbol": name}, asked.settings, asked.root)
            with asked.view() as view:
                found = tool.ask(view, call)
                assert json.dumps(tool.json(found, call))
                texts.append(tool.text(found, call).replace("Test first: ", "Test: "))  # A copy may lack some.
        local, remote = ([line for line in text.split("\n") if not _is_doubt(line)] for text in texts)
        assert set(remote) >= set(local[1:]) if "/" in name else remote == local, (tool.name, name)
        assert "Complete" not in texts[1]
        assert OF_COPY in texts[1].replace("This is", "this is") or "not looked for" in texts[1], tool.name


def _is_doubt(line: str) -> bool:
    said = ("complete", "not looked for", "unknown receiver", "without relations", "more uses", "not listed", "by path")
    return any(words in line.lower() for words in said)


def test_the_code_is_read_from_the_server(both: Both) -> None:
    """With callers and tests; the last change is not known."""
    _, remote = both
    tool = TOOLS["find_symbol"]
    call = tool.read({"symbol": "Total,sell", "body": True}, remote.settings, remote.root)
    with remote.view() as view:
        text = tool.text(tool.ask(view, call), call)
    assert "return amount + rate.Of(amount)" in text
    assert "return basket.total()" in text
    assert "TestTotal" in text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("trace_relations", {"from": "main", "to": "zero"}), ("impact", {"base": "HEAD"}), ("impact", {})],
)
def test_what_needs_an_index_says_so(both: Both, name: str, arguments: dict[str, object]) -> None:
    """A flow and the impact of a diff."""
    _, remote = both
    call = TOOLS[name].read(arguments, remote.settings, remote.root)
    with remote.view() as view, pytest.raises(RequestError, match="needs a local index; leave out --remote"):
        TOOLS[name].ask(view, call)


def test_a_name_that_nothing_has(both: Both) -> None:
    """Names like it are listed; the scope is applied."""
    _, remote = both
    with remote.view() as view, pytest.raises(RequestError, match="similar names: Total"):
        view.navigator.trace("Tota", Direction.CALLERS, 1, Scope())
    with remote.view() as view, pytest.raises(GraphragError):
        view.navigator.trace("Forgotten", Direction.CALLERS, 1, Scope(languages=frozenset({"python"})))


def test_a_server_lists_what_it_can_answer(both: Both) -> None:
    """The three exact tools, without the arguments that need an index."""
    _, remote = both

    async def run() -> None:
        async with Client(create_server(LazySession(lambda: remote, WITH_GRAPH), remote.settings)) as client:
            tools = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
            assert {"find_symbol", "trace_relations", "impact"} <= tools.keys()
            assert not {"find_occurrences", "find_history"} & tools.keys()
            assert {"symbol", "direction", "hops"} <= tools["trace_relations"].keys()
            assert not {"from", "to", "question"} & tools["trace_relations"].keys()
            assert "base" not in tools["impact"]
            found = await client.call_tool("trace_relations", {"symbol": "Total"})
            assert "callers of tax/tax.go:19" in str(found.content)

    anyio.run(run)
