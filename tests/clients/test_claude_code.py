"""Claude Code takes the plugin, and connects to the server; nobody is logged in."""

import json
import shlex
from pathlib import Path

import pytest

from tests.clients.programs import REPOSITORY, Done, run

PLUGIN = "graphrag-mcp@graphrag-mcp"

pytestmark = pytest.mark.clients


def claude(*arguments: str, environ: dict[str, str], folder: Path = REPOSITORY) -> Done:
    done = run("claude", *arguments, environ=environ, folder=folder)
    assert done.code == 0, done.output + done.errors
    return done


def documented() -> list[list[str]]:
    """Return the arguments of the commands with which the documentation installs the plugin."""
    text = (REPOSITORY / "docs" / "set-up.md").read_text(encoding="utf-8")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("claude plugin ")]


def test_the_plugin_is_valid(environ: dict[str, str]) -> None:
    """The marketplace, and the plugin with its skill, without any warning."""
    reports = {}
    for folder in (".", "packaging/claude-code"):
        output = claude("plugin", "validate", "--strict", "--json", folder, environ=environ).output
        reports[folder] = json.loads(output)
        assert reports[folder]["success"], output
    assert reports["packaging/claude-code"]["provides"]["skills"] == ["graphrag-mcp:code-search"]
    assert [hook["event"] for hook in reports["packaging/claude-code"]["provides"]["hooks"]] == ["SessionStart"]


def test_what_init_writes_connects(project: Path, environ: dict[str, str], home: Path) -> None:
    """`graphrag-mcp init` is all it takes, once the user has approved the project's servers, as it says."""
    done = run("graphrag-mcp", "init", "--yes", environ=environ, folder=project)
    assert (done.code, "Pending approval" in done.output) == (0, True)
    assert json.loads((project / ".mcp.json").read_text())["mcpServers"]["graphrag"]["args"] == ["serve"]
    listed = claude("mcp", "list", environ=environ, folder=project).output
    assert "graphrag: graphrag-mcp serve - ⏸ Pending approval" in listed
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"enableAllProjectMcpServers": true}')  # What the user's "yes" to all of a project amounts to.
    listed = claude("mcp", "list", environ=environ, folder=project).output
    settings.unlink()
    assert "graphrag: graphrag-mcp serve - ✔ Connected" in listed


def test_the_plugin_connects_and_brings_its_skill(tmp_path: Path, environ: dict[str, str]) -> None:
    """Once installed as docs/set-up.md says, it serves whatever folder Claude Code is started in."""
    project = tmp_path / "project"
    project.mkdir()
    commands = documented()
    assert [command[:3] for command in commands] == [["plugin", "marketplace", "add"], ["plugin", "install", PLUGIN]]
    for command in commands:
        claude(*command, environ=environ)
    listed = claude("mcp", "list", environ=environ, folder=project).output
    assert "plugin:graphrag-mcp:graphrag: graphrag-mcp serve - ✔ Connected" in listed
    details = claude("plugin", "details", "graphrag-mcp", environ=environ).output
    assert "Skills (1)" in details
    assert "code-search" in details
