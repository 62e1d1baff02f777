"""`graphrag-mcp ui`: its one line, its port, its end, and what else it costs."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_mcp.cli.options import create_parser
from tests.cli.test_options import imported
from tests.serving.running import running_page

pytestmark = pytest.mark.slow


def test_it_prints_one_address_and_ends_on_an_interrupt(project: Path, tmp_path: Path) -> None:
    """With a token of its own each time; an interrupt is how it is meant to end."""
    tokens = set()
    for _ in range(2):
        with running_page(project, tmp_path) as running:
            tokens.add(running.token)
            assert running.url == f"http://127.0.0.1:{running.port}/?token={running.token}"
            assert running.stop() == 0
            assert running.process.stdout is not None and running.process.stderr is not None
            assert (running.process.stdout.read(), running.process.stderr.read()) == ("", "")
    assert len(tokens) == 2 and all(len(token) >= 32 for token in tokens)


def test_the_port_can_be_chosen(project: Path, tmp_path: Path) -> None:
    """And one that is taken is refused in one sentence; a number that is no port's is wrong usage."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(RuntimeError, match=f"port {port} of 127.0.0.1 cannot be opened"),
            running_page(project, tmp_path, "--port", str(port)),
        ):
            pass
    with running_page(project, tmp_path, "--port", str(port)) as running:
        assert running.port == port
    for wrong in ("70000", "-1"):
        command = [sys.executable, "-m", "graphrag_mcp", "ui", "--root", str(project), "--no-browser", "--port", wrong]
        environment = os.environ | {"GRAPHRAG_DATA_DIR": str(tmp_path)}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert (ended.returncode, ended.stdout) == (2, "") and f"{wrong} is not a port" in ended.stderr


def test_a_wrong_root_ends_it_with_its_sentence(tmp_path: Path) -> None:
    """Before any address is printed."""
    with pytest.raises(RuntimeError, match="does not exist"), running_page(tmp_path / "nowhere", tmp_path):
        pass


def test_a_browser_that_cannot_be_opened_is_no_failure(project: Path, tmp_path: Path) -> None:
    """There is always the address."""
    code = """
import webbrowser, graphrag_mcp.cli.ui as ui
def fail(): raise webbrowser.Error()
webbrowser.get = fail
ui._open_browser("http://127.0.0.1")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_web_server_is_imported_by_this_command_alone() -> None:
    """The help does not pay for it, nor does the MCP server (see `tests/cli/test_options.py`)."""
    assert imported("from graphrag_mcp.cli import commands, serve", "uvicorn", "graphrag_mcp.serving.page") == []
    assert create_parser().parse_args(["ui"]).port == 0
