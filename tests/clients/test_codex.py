"""Codex reads what `init` writes, for each project its own server."""

import json
from pathlib import Path

import pytest

from tests.clients.programs import environment, run

pytestmark = pytest.mark.clients


def test_each_trusted_project_has_its_own_server(tmp_path: Path) -> None:
    """Also in a folder below; before the user trusts a project, Codex reads nothing of it."""
    home = tmp_path / "home"
    home.mkdir()
    environ = environment(home)
    projects = [tmp_path / "one" / "shop", tmp_path / "two" / "shop"]
    for project in projects:
        (project / "src").mkdir(parents=True)
        assert run("git", "init", "--quiet", environ=environ, folder=project).code == 0
        done = run("graphrag-mcp", "init", "--client", "codex", "--yes", environ=environ, folder=project)
        assert "project that you trust" in done.output
        listed = run("codex", "mcp", "list", environ=environ, folder=project)
        assert (listed.code, "graphrag" in listed.output) == (0, False), listed.errors
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("".join(f'[projects."{project}"]\ntrust_level = "trusted"\n' for project in projects))
    for project in projects:
        for folder in (project, project / "src"):
            found = run("codex", "mcp", "get", "graphrag", "--json", environ=environ, folder=folder)
            assert found.code == 0, found.output + found.errors
            assert json.loads(found.output)["transport"]["args"] == ["serve"]
