"""The official conformance suite, over HTTP: what it asks of any server, and what our server offers."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clients.programs import Done, run
from tests.waiting import wait_until

pytestmark = pytest.mark.clients

START_SECONDS = 30
APPLICABLE = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",  # Calls a tool that we do not have: the answer has to say that it is an error.
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "resources-list",
    "prompts-list",
)
_FIXTURES = "calls a tool, a resource or a prompt of the suite's own"
NOT_APPLICABLE = {
    # It passes, but with the error that the tool is unknown as the "simple text".
    "tools-call-simple-text": _FIXTURES,
    "tools-call-image": _FIXTURES,
    "tools-call-audio": _FIXTURES,
    "tools-call-embedded-resource": _FIXTURES,
    "tools-call-mixed-content": _FIXTURES,
    "tools-call-with-logging": _FIXTURES,
    "tools-call-with-progress": _FIXTURES,
    "json-schema-2020-12": _FIXTURES,
    "resources-read-text": _FIXTURES,
    "resources-read-binary": _FIXTURES,
    "resources-templates-read": _FIXTURES,
    "prompts-get-simple": _FIXTURES,
    "prompts-get-with-args": _FIXTURES,
    "prompts-get-embedded-resource": _FIXTURES,
    "prompts-get-with-image": _FIXTURES,
    "completion-complete": "completes an argument of the suite's own prompt",
    "server-sse-polling": "calls a tool of the suite's own, and resumes its stream: our server has no HTTP transport",
    "logging-set-level": "logging is deprecated: our server logs to standard error",
    "tools-call-sampling": "our server asks nothing of the client's model",
    "tools-call-elicitation": "our server asks nothing of the user",
    "elicitation-sep1034-defaults": "our server asks nothing of the user",
    "elicitation-sep1330-enums": "our server asks nothing of the user",
    "resources-subscribe": "our server offers no subscriptions",
    "resources-unsubscribe": "our server offers no subscriptions",
}


@pytest.fixture(scope="module")
def url(project: Path, environ: dict[str, str]) -> Iterator[str]:
    """The server's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command: list[str | Path] = [sys.executable, Path(__file__).with_name("http_server.py"), project, str(port)]
    with subprocess.Popen(command, env=environ) as process:
        try:
            _await_port(port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


@pytest.mark.parametrize("scenario", APPLICABLE)
def test_it_conforms(scenario: str, url: str, environ: dict[str, str]) -> None:
    """Every scenario passes that does not need the suite's own tools, or what our server does not offer."""
    assert_conforms(_conformance("server", "--url", url, "--scenario", scenario, environ=environ))


def test_no_scenario_is_forgotten(environ: dict[str, str]) -> None:
    """A scenario that a new version of the suite brings has to be put on one of the lists."""
    listed = set(re.findall(r"^  - (\S+)", _conformance("list", "--server", environ=environ).output, re.MULTILINE))
    assert listed == {*APPLICABLE, *NOT_APPLICABLE}


def assert_conforms(done: Done) -> None:
    assert done.code == 0, done.output + done.errors
    assert re.search(r"Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings", done.output), done.output


def _conformance(*arguments: str, environ: dict[str, str]) -> Done:
    return run("conformance", *arguments, environ=environ)


def _await_port(port: int) -> None:
    wait_until(lambda: _accepts(port), START_SECONDS)


def _accepts(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False
