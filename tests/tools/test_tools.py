"""The table of tools: each row works from its arguments to both forms of its answer."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.app.remote import RemoteView
from graphrag_mcp.app.session import WITH_GRAPH, WITH_INDEX, WITHOUT_INDEX, Capability
from graphrag_mcp.app.view import IndexView
from graphrag_mcp.errors import RequestError
from graphrag_mcp.serving.protocol import describe_server
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.arguments import listed_schema
from graphrag_mcp.tools.table import TOOLS
from tests.repositories import commit, git

CALLS: dict[str, dict[str, Any]] = {
    "graphrag_hybrid_search": {"query": "how is the tax computed"},
    "query_documents": {"query": "how is the tax computed"},
    "query_unique_documents": {"query": "how is the tax computed"},
    "find_symbol": {"symbol": "tax_of"},
    "trace_relations": {"symbol": "tax_of"},
    "impact": {"symbol": "tax_of"},
    "find_occurrences": {"text": "tax_of"},
    "find_history": {"path": "taxes.py"},
    "index_status": {},
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One function, and one that calls it."""
    root = tmp_path_factory.mktemp("project")
    git(root, "init", "--quiet")
    commit(
        root,
        {"taxes.py": "def tax_of(order):\n    return 0.2 * order\n\n\ndef total(order):\n    return tax_of(order)\n"},
    )
    data = tmp_path_factory.mktemp("data")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(data)}))) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("form", ["concise", "detailed", "json"])
def test_every_tool_answers_in_every_form(app: App, name: str, form: str) -> None:
    """Its function and both renderers belong together, and the answer shows what was found."""
    tool = TOOLS[name]
    call = tool.read(CALLS[name] | {"response_format": form}, app.settings, app.root)
    text = tool.write(app.ask(tool.ask, call), call)
    assert ("taxes.py" if CALLS[name] else str(app.root)) in text
    assert text.startswith("{") == (form == "json")
    assert form != "json" or isinstance(json.loads(text), dict)


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_says_what_it_is_and_refuses_other_arguments(app: App, name: str) -> None:
    """A row is found by its name, and its arguments are its own."""
    tool = TOOLS[name]
    assert tool.name == name
    assert tool.description
    with pytest.raises(RequestError, match=f"is not an argument of {name}"):
        tool.read(CALLS[name] | {"colour": "red"}, app.settings, app.root)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_a_file(name: str) -> None:
    """Its arguments and its query are defined in the file of its name; the three searches share one."""
    tool = TOOLS[name]
    file = "search" if tool.needs is Capability.SEARCH else name
    assert {part.__module__ for part in (tool.arguments, tool.find)} == {f"graphrag_mcp.tools.{file}"}


def test_no_two_tools_are_described_alike() -> None:
    """A model chooses by the title and the description."""
    assert len({tool.title or tool.name for tool in TOOLS.values()}) == len(TOOLS)
    assert len({tool.description for tool in TOOLS.values()}) == len(TOOLS)


@pytest.mark.parametrize("name", TOOLS)
def test_a_description_is_short_and_recommends_no_other_tool(name: str) -> None:
    """What the tool does comes first; every session pays for each character."""
    assert len(TOOLS[name].description) <= 300
    assert not re.search(r"\b(rg|grep)\b", TOOLS[name].description)


@pytest.mark.parametrize("name", TOOLS)
def test_a_listed_schema_accepts_what_the_server_does(app: App, name: str) -> None:
    """It has every argument with its type, and the limits that a caller meets; what it lacks decides no value."""
    whole = TOOLS[name].schema(app.settings)
    listed = listed_schema(whole)
    assert listed["properties"].keys() == whole["properties"].keys()
    assert listed.get("required") == whole.get("required")
    for argument, schema in whole["properties"].items():
        short = listed["properties"][argument]
        first = schema.get("anyOf", [schema])[0]
        assert {key: short.get(key) for key in ("type", "enum")} == {key: first.get(key) for key in ("type", "enum")}
        assert short.get("description", "") == schema.get("hint", "")
        if argument != "response_format":  # Who does not choose one needs not know which it is.
            assert short.get("default") == (schema.get("default") or short.get("default"))
        assert "items" not in first or short["items"]["type"] == first["items"]["type"]


def test_what_an_earlier_tool_says_of_an_argument_is_not_repeated(app: App) -> None:
    """A hint, the choices and a `true` stand once; an error names the choices."""
    told: set[str] = set()
    first, second = (listed_schema(TOOLS[name].schema(app.settings), told)["properties"] for name in list(TOOLS)[:2])
    assert "description" in first["paths"]
    assert "enum" in first["categories"]["items"]
    assert second["paths"] == {"type": "array", "items": {"type": "string"}}
    assert second["categories"] == {"type": "array", "items": {"type": "string"}}
    assert second["response_format"] == {"type": "string"}
    assert second["exclude_archived"] == {"type": "boolean"}


@pytest.mark.parametrize("capabilities", [WITH_INDEX, WITH_GRAPH, WITHOUT_INDEX])
def test_the_instructions_name_the_tools_that_are_listed_and_no_other(capabilities: frozenset[Capability]) -> None:
    """A model must not be told to use a tool that it does not have."""
    named = {name for name in TOOLS if name in describe_server(capabilities)}
    assert named == {name for name, tool in TOOLS.items() if tool.needs in capabilities}


def test_each_project_states_what_it_can_answer() -> None:
    """The server believes it before the project is opened."""
    assert IndexView.capabilities == WITH_INDEX
    assert RemoteView.capabilities == WITH_GRAPH
