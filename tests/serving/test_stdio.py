"""The server as its own process: what is on the wire, and when it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client, StdioServerParameters

from graphrag_mcp.tools.table import TOOLS
from tests.repositories import SESSION
from tests.stdio_client import Server
from tests.waiting import wait_until

HYBRID = "graphrag_hybrid_search"
PATIENCE_SECONDS = 5.0
EXIT_SECONDS = 30.0  # A hundredth of it on a quiet machine; what lingers does not end.


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "session.py").write_text(SESSION)
    (root / "README.md").write_text("# Visits\n\nHow sessions are kept.\n")
    return root


@pytest.mark.requirement("P-1", "K-06")
def test_a_session_over_the_wire(repository: Path, environment: dict[str, str]) -> None:
    """Tools, answers and refusals; nothing but JSON-RPC on standard output; gone when input ends."""
    server = Server(repository, environment)
    listed = server.ask("tools/list", {})["result"]["tools"]
    assert [tool["name"] for tool in listed] == list(TOOLS)
    loaded = [tool["name"] for tool in listed if tool.get("_meta") == {"anthropic/alwaysLoad": True}]
    assert loaded == [HYBRID, "trace_relations"]

    text, failed = server.call(HYBRID, {"query": "renew a token"})
    assert not failed
    assert "src/session.py" in text
    assert "refresh_token" in text
    assert "`queries`" in text  # It is told once, unless they are given.
    assert "`queries`" not in server.call(HYBRID, {"query": "renew a token"})[0]

    text, failed = server.call(HYBRID, {"query": "renew a token", "limit": 26, "colour": "red"})
    assert failed
    assert text.startswith("2 problems:")
    text, failed = server.call("query_documents", {"query": "visits", "excluded_files": ["/etc/hosts"]})
    assert not failed
    assert "Warning: excluded_files: '/etc/hosts' is outside the project root" in text
    text, failed = server.call("index_status", {})
    assert not failed
    assert "Files: 2" in text

    _send_long_lists(server)
    _break_lines(server)

    started = time.monotonic()
    assert server.close() == b""
    assert time.monotonic() - started < EXIT_SECONDS


def test_the_list_of_tools_is_short_and_always_the_same(repository: Path, environment: dict[str, str]) -> None:
    """Every session pays for it, and a client may keep it: the same bytes from each process, 7,000 at most."""
    lines = []
    for seed in ("1", "2"):
        server = Server(repository, environment | {"PYTHONHASHSEED": seed})
        server.ask("tools/list", {})
        lines.append(server.last_line)
        server.close()
    assert lines[0] == lines[1]
    assert len(lines[0]) <= 7_000


def test_a_server_without_an_index_lists_only_what_can_work(
    repository: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """Tools, prompts, resources and instructions; a tool that is not listed is refused in one sentence."""
    arguments = ("-m", "graphrag_mcp", "serve", "--remote", "--root", str(repository))
    # No Qdrant: each search says so, and none fails.
    away = {"GRAPHRAG_QDRANT_URL": "http://127.0.0.1:9", "GRAPHRAG_PROJECT_ID": "project"}
    with (tmp_path / "errors").open("wb") as stderr:
        server = Server(repository, environment | away, stderr, arguments)
        tools = [tool["name"] for tool in server.ask("tools/list", {})["result"]["tools"]]
        assert tools == [HYBRID, "query_documents", "query_unique_documents", "index_status"]
        assert set(server.introduction["capabilities"]) & {"resources", "completions"} == set()
        named = {name for name in TOOLS if name in server.introduction["instructions"]}
        assert named == set(tools)
        assert [one["name"] for one in server.ask("prompts/list", {})["result"]["prompts"]] == ["locate"]

        for name in tools:
            text, failed = server.call(name, {} if name == "index_status" else {"query": "renew a token"})
            assert (failed, "check GRAPHRAG_QDRANT_URL" in text) == (False, True)
        for name in set(TOOLS) - set(tools):
            text, failed = server.call(name, {"symbol": "Session"})
            assert failed
            assert (
                text
                == f"'{name}' needs a local index, so start the server without --remote; there are: " + ", ".join(tools)
            )
        error = server.ask("resources/read", {"uri": "graphrag://map"})["error"]
        assert error["message"].endswith("use initialize, ping, tools/list, tools/call, prompts/list, prompts/get")
        error = server.ask("prompts/get", {"name": "tour"})["error"]
        assert error["message"] == "'tour' is not a prompt; there are: locate"
        server.close()
    assert b"Traceback" not in (tmp_path / "errors").read_bytes()


def _send_long_lists(server: Server) -> None:
    """Send lists beyond the limit: each is refused at once, and none is called a damaged index."""
    lists = [("find_occurrences", "paths", "src", 1_000), (HYBRID, "include_patterns", "**/a*/**/[a-z]*", 20_000)]
    lists += [(HYBRID, name, "a", 260_000) for name in ("excluded_files", "languages")]
    for tool, name, entry, count in lists:
        asked = time.monotonic()
        text, failed = server.call(tool, {"query" if tool == HYBRID else "text": "renew", name: [entry] * count})
        assert (text, failed) == (f"{name}: at most 200 entries, {count:,} were given; send fewer", True)
        assert time.monotonic() - asked < EXIT_SECONDS


def _break_lines(server: Server) -> None:
    """Half a surrogate pair and what is no JSON would leave the client waiting if nobody answered."""
    line = rb'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"query_documents",'
    server.send_line(line + rb'"arguments":{"query":"broken \ud83d emoji"}}}')
    answer = server.receive()
    assert answer["id"] == 77
    assert "query contains an unpaired surrogate" in answer["error"]["message"]
    server.send_line(b"{nonsense")
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    server.send_line(b'{"jsonrpc":"2.0","id":79,"method":"ping","params":' + b"[" * 250 + b"]" * 250 + b"}")
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (79, -32700)
    assert answer["error"]["message"].startswith("This cannot be read as JSON: recursion limit exceeded")
    server.send_line(b"")
    server.send_line(b'{"jsonrpc":"2.0","id":78,"method":"ping","params":{"note":"\xff\xfe"}}')
    assert server.receive()["id"] == 78


@pytest.mark.requirement("P-1")
def test_the_sdks_client_gets_answers_in_both_eras(repository: Path, environment: dict[str, str]) -> None:
    """The handshake protocol and the stateless one; with a root that does not exist, each call says so."""
    answers: dict[tuple[str, bool], str] = {}

    async def ask(era: Literal["auto", "legacy"], root: Path) -> None:
        arguments = ["-m", "graphrag_mcp", "--root", str(root)]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        async with Client(parameters, mode=era) as client:
            result = await client.call_tool(HYBRID, {"query": "Session.refresh_token"})
        content: Any = result.content[0]
        answers[era, bool(result.is_error)] = content.text

    async def run() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ask, "auto", repository)
            group.start_soon(ask, "legacy", repository)
            group.start_soon(ask, "auto", repository / "nowhere")

    anyio.run(run)
    assert "defines `Session.refresh_token`" in answers["auto", False]
    assert "defines `Session.refresh_token`" in answers["legacy", False]
    assert "nowhere does not exist" in answers["auto", True]


@pytest.mark.slow
@pytest.mark.requirement("P-1")
def test_a_signal_ends_the_server_while_it_indexes(
    repository: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """Clients kill a server that lingers; a call is being answered and the index is being built."""
    for position in range(300):
        (repository / "src" / f"module{position}.py").write_text(SESSION.replace("Session", f"Session{position}") * 20)
    numbers = (signal.SIGTERM, signal.SIGINT)
    servers = [Server(repository, {**environment, "GRAPHRAG_DATA_DIR": str(tmp_path / n.name)}) for n in numbers]
    for server, number in zip(servers, numbers, strict=True):
        server.start_asking("tools/call", {"name": HYBRID, "arguments": {"query": "renew a token"}})
        wait_until(lambda folder=tmp_path / number.name: any(folder.rglob("index-*.sqlite")), PATIENCE_SECONDS)
        started = time.monotonic()
        server.process.send_signal(number)
        assert server.process.wait(EXIT_SECONDS) == 0
        assert time.monotonic() - started < EXIT_SECONDS
        server.close()


@pytest.mark.slow
@pytest.mark.requirement("P-1", "004-14")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_leaving_in_the_middle_of_an_index_run_is_quiet(
    number: signal.Signals, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The processes that parse end too, and nobody complains, neither of the run nor of leaked objects."""
    root, errors = tmp_path / "large", tmp_path / "errors"
    root.mkdir()
    for place in range(400):
        (root / f"module_{place}.py").write_text(f"# {place}\n" + SESSION * 20)
    with errors.open("wb") as stderr:
        server = Server(root, {**environment, "GRAPHRAG_WORKERS": "2"}, stderr)
        server.ask("tools/list", {})
        wait_until(lambda: len(_children(server.process.pid)) >= 2, PATIENCE_SECONDS)
        children = _children(server.process.pid)
        server.process.send_signal(number)
        assert server.process.wait(EXIT_SECONDS) == 0
    wait_until(lambda: not any(map(_is_alive, children)), PATIENCE_SECONDS)
    assert server.close() == b""
    assert errors.read_text() == ""


@pytest.mark.slow
@pytest.mark.requirement("P-1")
def test_a_server_whose_client_vanished_ends(repository: Path, environment: dict[str, str]) -> None:
    """No orphan, even when another process keeps the pipe open."""
    command = [sys.executable, "-m", "graphrag_mcp", "--root", str(repository)]
    script = f"import subprocess, time; print(subprocess.Popen({command!r}).pid, flush=True); time.sleep(60)"
    read_end, write_end = os.pipe()  # Held open here, so that the server sees no end of input.
    client = subprocess.Popen([sys.executable, "-c", script], stdin=read_end, stdout=subprocess.PIPE, env=environment)
    assert client.stdout is not None
    pid = int(client.stdout.readline())
    os.write(write_end, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    client.stdout.readline()  # The answer: the server is up.
    client.kill()
    wait_until(lambda: not _is_alive(pid), PATIENCE_SECONDS)
    client.communicate()
    os.close(read_end)
    os.close(write_end)


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return list(map(int, listed.stdout.split()))


def _is_alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state) and not state.startswith("Z")  # Some containers have nobody who collects the dead.
