"""The MCP Inspector calls everything that the server lists, in both eras of the protocol."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.programs import run

pytestmark = pytest.mark.clients

ERAS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
# A value for every argument that a tool, a prompt or a resource template requires, by the argument's name.
VALUES = {
    "query": "where are sessions refreshed",
    "question": "where are sessions refreshed",
    "symbol": "Session.refresh",
    "text": "sign",
    "path": "session.py",
    "line": "1",
    "tokens": "500",
}
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(params=ERAS)
def ask(request: pytest.FixtureRequest, project: Path, environ: dict[str, str]) -> Ask:
    """Call one method of the server with the Inspector, in one era; it has to exit with 0."""

    def call(method: str, *options: str) -> dict[str, Any]:
        how = [
            "--cli",
            "--method",
            method,
            *options,  # Before the others: that of a prompt's arguments takes whatever is no option behind it.
            "--protocol-era",
            request.param,
            "--format",
            "json",
            "--connect-timeout",
            "60000",
        ]
        done = run("mcp-inspector", *how, "graphrag-mcp", "serve", "--root", project, environ=environ)
        assert done.code == 0, f"{method} {options}: {done.errors}{done.output}"
        result: dict[str, Any] = done.json()["result"]
        return result

    call.era = request.param  # type: ignore[attr-defined]
    return call


def test_it_speaks_the_protocol_of_the_era(ask: Ask) -> None:
    """Both are really spoken: the Inspector does not fall back to the other."""
    assert ask("initialize")["protocolVersion"] == ERAS[ask.era]  # type: ignore[attr-defined]


def test_every_tool_is_portable_and_answers(ask: Ask) -> None:
    """--strict finds no schema that a client would refuse, and a valid call of each tool has an answer."""
    for tool in ask("tools/list", "--strict")["tools"]:
        accepted = tool["inputSchema"]["properties"]
        arguments = json.dumps({name: value for name, value in VALUES.items() if name in accepted})
        answer = ask("tools/call", "--tool-name", tool["name"], "--tool-args-json", arguments)
        assert not answer.get("isError"), tool["name"]
        assert "session.py" in str(answer["content"]) or tool["name"] == "index_status"


def test_every_resource_can_be_read(ask: Ask) -> None:
    """What is listed has contents, and so has every template once it is filled in."""
    uris = [one["uri"] for one in ask("resources/list")["resources"]]
    templates = [one["uriTemplate"] for one in ask("resources/templates/list")["resourceTemplates"]]
    uris += [re.sub(r"\{(\W?)(\w+)\}", _expand, one) for one in templates]
    assert len(uris) == len(set(uris)) == 5
    for uri in uris:
        assert ask("resources/read", "--uri", uri)["contents"], uri


def _expand(found: re.Match[str]) -> str:
    """Return the value of an expression of a URI template (RFC 6570)."""
    operator, name = found.groups()
    return f"?{name}={VALUES[name]}" if operator == "?" else VALUES[name]


def test_every_prompt_can_be_had(ask: Ask) -> None:
    """Each has messages, with all of its arguments given."""
    prompts = ask("prompts/list")["prompts"]
    assert prompts
    for prompt in prompts:
        given = [f"{one['name']}={VALUES[one['name']]}" for one in prompt.get("arguments", [])]
        arguments = ["--prompt-args", *given] if given else []
        assert ask("prompts/get", "--prompt-name", prompt["name"], *arguments)["messages"], prompt["name"]
