"""Clients take what `init` writes, by their own parsers; those that start servers connect."""

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.cli import jsonc
from graphrag_mcp.cli.clients import CLIENTS
from tests.cli.test_jsonc import ADDED, ENTRY, PATH
from tests.clients.programs import FOLDER, Done, environment, run

pytestmark = pytest.mark.clients

CLINE = """
import { resolveMcpServerRegistrations } from "@cline/core";
console.log(JSON.stringify(resolveMcpServerRegistrations({ filePath: process.argv[1] })));
"""
JSONC = """
import jsonc from "jsonc-parser";
import { readFileSync } from "node:fs";
const parsed = JSON.parse(readFileSync(0, "utf-8")).map((text) => {
  const errors = [];
  return { value: jsonc.parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true }), errors };
});
console.log(JSON.stringify(parsed));
"""
Command = Callable[..., Done]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project that no other test has written to."""
    root = tmp_path / "shop"
    root.mkdir()
    (root / "shop.py").write_text("def sell():\n    pass\n")
    return root


@pytest.fixture
def command(tmp_path: Path, shop: Path) -> Command:
    """Run a program in the project, with a home of its own; it has to exit with 0."""
    environ = environment(tmp_path)

    def call(*words: str | Path) -> Done:
        done = run(*words, environ=environ, folder=shop)
        assert done.code == 0, done.output + done.errors
        return done

    return call


def test_every_client_that_is_installed_is_found_and_connects(command: Command, shop: Path, tmp_path: Path) -> None:
    """Without arguments, in an empty home; trust is what a user is told to give."""
    written = command("graphrag-mcp", "init", "--yes").output
    programs = {"claude": "Claude Code", "copilot": "Copilot CLI", "codex": "Codex", "gemini": "Gemini CLI"}
    if (sys.platform, platform.machine()) == ("linux", "x86_64"):
        programs["opencode"] = "OpenCode"
    for title in programs.values():
        assert f"{title}: {shop}" in written
    trust = {
        ".claude/settings.json": {"enableAllProjectMcpServers": True},
        ".gemini/trustedFolders.json": {str(shop): "TRUST_FOLDER"},
        ".copilot/config.json": {"trusted_folders": [str(shop)]},
    }
    for name, settings in trust.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(settings))
    (tmp_path / ".codex").mkdir(exist_ok=True)
    (tmp_path / ".codex/config.toml").write_text(f'[projects."{shop}"]\ntrust_level = "trusted"\n')
    listed = {name: command(name, "mcp", "list") for name in programs}
    assert "graphrag: graphrag-mcp serve - ✔ Connected" in listed["claude"].output
    gemini = listed["gemini"].output + listed["gemini"].errors
    assert "✓ graphrag: graphrag-mcp serve (stdio) - Connected" in gemini
    for text in ("✓ graphrag", "connected") if "opencode" in listed else ():
        assert text in listed["opencode"].output
    assert "graphrag" in listed["codex"].output
    assert "graphrag (local)" in listed["copilot"].output
    entry = command("copilot", "mcp", "get", "graphrag", "--json").json()["graphrag"]
    assert (entry["command"], entry["args"], entry["deferTools"]) == ("graphrag-mcp", ["serve"], "never")


def test_cline_takes_its_entry(command: Command, shop: Path, tmp_path: Path) -> None:
    """Beside that of another project."""
    file = tmp_path / ".cline/data/settings/cline_mcp_settings.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"graphrag": {"command": "x", "args": ["serve", "--root", "/elsewhere"]}}}')
    command("graphrag-mcp", "init", "--client", "cline", "--yes")
    servers = {one["name"]: one["transport"] for one in _node(CLINE, str(file))}
    assert list(servers) == ["graphrag", "graphrag-shop"]
    assert servers["graphrag-shop"]["args"] == ["serve", "--root", str(shop)]
    assert Path(servers["graphrag-shop"]["command"]) == Path(sys.executable).with_name("graphrag-mcp")


def test_vs_code_s_parser_reads_what_is_edited() -> None:
    """Comments, trailing commas and byte order marks are where it expects them; VS Code and Zed have no other form."""
    texts = [jsonc.with_value(text, PATH, ENTRY) for text, _ in ADDED]
    texts += [jsonc.without(text, PATH) for text in texts]
    for client in CLIENTS.values():
        if Path(client.files[0]).suffix == ".json":
            texts.append(client.with_entry("{ // mine\n}", Path("/shop"), ["graphrag-mcp", "serve"]))
    for text, parsed in zip(
        texts, _node(JSONC, given=json.dumps([text.lstrip("\ufeff") for text in texts])), strict=True
    ):
        assert parsed["errors"] == [], text
        assert parsed.get("value", {}) == jsonc.read(text), text


def _node(program: str, *arguments: str, given: str = "") -> Any:
    """Run a module beside the clients' packages, and return the JSON that it prints."""
    node = FOLDER / "node_modules" / ".bin" / "node"
    command = [node if node.exists() else str(shutil.which("node")), "--input-type=module", "-e", program, *arguments]
    done = subprocess.run(command, cwd=FOLDER, input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
