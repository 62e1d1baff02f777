"""Claude Code takes the plugin, and connects to the server; nobody is logged in."""

import json
import shlex
from pathlib import Path

import pytest

from tests.clients.fake_api import api_that_calls
from tests.clients.programs import REPOSITORY, Done, environment, run

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


def test_hooks_are_heard_by_the_model(project: Path, tmp_path: Path) -> None:
    """In a session that a model of ours leads: what an edit breaks, what a search is for, and whether that was used."""
    environ = environment(tmp_path, ANTHROPIC_API_KEY="none")
    for command in (["init", "--hooks", "--yes"], ["index"]):
        assert run("graphrag-mcp", *command, environ=environ, folder=project).code == 0
    session = str(project / "session.py")
    with api_that_calls(
        [
            ("Grep", {"pattern": "Session"}),
            ("Bash", {"command": "cd . && rg -n refresh | head -3", "description": "search"}),
            ("Bash", {"command": "ls", "description": "list"}),
            ("Read", {"file_path": session}),
            ("Edit", {"file_path": session, "old_string": "sign(session: Session)", "new_string": "sign()"}),
            ("Read", {"file_path": session}),
        ]
    ) as api:
        environ["ANTHROPIC_BASE_URL"] = api.url
        arguments = ("-p", "go", "--allowedTools", "Read Edit Grep Bash", "--permission-mode", "acceptEdits")
        claude(*arguments, environ=environ, folder=project)
    heard = json.dumps(api.requests[-1]["messages"])
    said = {
        "PreToolUse:Grep": "`Session` is defined at session.py:4 (2 certain users, 1 in tests); ",
        "PreToolUse:Bash": "`refresh` is defined at session.py:7 (1 certain caller, 1 in tests); ",
        "PostToolUse:Edit": "`sign` takes 0 arguments now; 1 certain call passes 1: session.py:9.",
    }
    assert heard.count("hook additional context") == len(said)
    for hook, text in said.items():
        assert f"{hook} hook additional context: graphrag-mcp: {text}" in heard
    counted = run("graphrag-mcp", "usage", environ=environ, folder=project).output
    assert "Hook before a search: 2 of 2 texts used, " in counted
    assert "Hook after an edit: 1 of 1 text used, " in counted
