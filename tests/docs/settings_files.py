"""Checks the settings that a page shows with what reads them: clients' files, .graphrag.toml, ignore files."""

import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphrag_mcp.cli.clients import CLIENTS, SERVER_NAME
from graphrag_mcp.cli.options import create_parser
from graphrag_mcp.errors import SettingsError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.settings import SETTINGS_FILE, Settings, load_settings
from tests.docs.blocks import Block, PageError

_SECTIONS = {"mcpServers": "claude-code", "servers": "vscode", "mcp_servers": "codex"}


def check_settings_file(block: Block, text: str) -> None:
    """Raise PageError when a block is not accepted by the part of the program that it is for."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            _check(block.language, text, Path(folder))
        except (ValueError, SettingsError, AssertionError, SystemExit) as error:
            raise PageError(f"{block.place}: {error!r}") from None


def _check(language: str, text: str, folder: Path) -> None:
    if language == "gitignore":
        (folder / ".gitignore").touch()
        (folder / ".graphragignore").write_text(text, encoding="utf-8")
        warnings = ExclusionManager(folder).warnings
        assert not warnings, warnings
        return
    read: Callable[[str], dict[str, Any]] = json.loads if language == "json" else tomllib.loads
    values = read(text)
    section = next((section for section in _SECTIONS if section in values and _is_client(values[section])), None)
    if section:
        entries = CLIENTS[_SECTIONS[section]].format.read(text)
        assert all(name.startswith(SERVER_NAME) for name in entries), f"{section} has another name than {SERVER_NAME}"
        for server in values[section].values():
            _check_server(server, folder)
    else:
        assert language == "toml", "neither a call (name and arguments) nor a client's settings"
        (folder / SETTINGS_FILE).write_text(text, encoding="utf-8")
        assert load_settings(folder, {}) != Settings(), "every value is the default"


def _is_client(servers: Mapping[str, Any]) -> bool:
    return any(isinstance(server, dict) and "command" in server for server in servers.values())


def _check_server(server: Mapping[str, Any], folder: Path) -> None:
    arguments = list(_after_program([server["command"], *server["args"]]))
    assert create_parser().parse_args(arguments).command == "serve"
    load_settings(folder, server.get("env", {}))


def _after_program(words: list[str]) -> Iterator[str]:
    place = next(number for number, word in enumerate(words) if word.endswith("graphrag-mcp"))
    yield from words[place + 1 :]
