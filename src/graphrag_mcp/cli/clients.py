"""The MCP clients that `init` sets up: where each keeps its settings, and what stands there for a server."""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrag_mcp.errors import GraphragError

SERVER_NAME = "graphrag"
WORKSPACE = "${workspaceFolder}"


class ClientSettingsError(GraphragError):
    """A client's settings cannot be read, or hold what cannot be kept when they are written."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client.

    settings: where its file lies, for a project. merge: the file's new text, from its old one. command: the program
    that our entry in a file's text starts, "" without one. root: how the client names the project to the server; ""
    where it starts it there, "." where it knows no project, so that the folder itself has to be named.
    """

    name: str
    title: str
    settings: Callable[[Path], Path]
    merge: Callable[[str, Path, list[str]], str]
    command: Callable[[str], str]
    root: str = ""


def merge_json(section: str, extra: Mapping[str, Any]) -> Callable[[str, Path, list[str]], str]:
    """Return a merge into a JSON file whose servers stand in a section; everything else is kept."""

    def merge(text: str, file: Path, command: list[str]) -> str:
        try:
            settings = json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise ClientSettingsError(
                f"{file} is not plain JSON ({error}), so it was left as it is; add this to it yourself:\n"
                + json.dumps({section: {SERVER_NAME: _entry(command, extra)}}, indent=2)
            ) from error
        if not isinstance(settings, dict) or not isinstance(settings.setdefault(section, {}), dict):
            raise ClientSettingsError(f"{file}: expected an object with {section!r}; mend or remove it, then run again")
        known = settings[section].get(SERVER_NAME)
        kept = known if isinstance(known, dict) else {}
        settings[section][SERVER_NAME] = {**kept, **_entry(command, extra)}
        return json.dumps(settings, indent=_indent(text), ensure_ascii=False) + "\n"

    return merge


def merge_toml(text: str, file: Path, command: list[str]) -> str:
    """Return the text of Codex's settings with our table; comments and order are kept."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        settings = tomlkit.parse(text)
        servers = settings.setdefault("mcp_servers", tomlkit.table(is_super_table=True))
        ours = servers.setdefault(SERVER_NAME, tomlkit.table())
        ours["command"], ours["args"] = command[0], command[1:]
    except (TOMLKitError, TypeError, AttributeError, ValueError) as error:
        step = "mend it, with a table [mcp_servers.NAME] for each server, then run again"
        raise ClientSettingsError(f"{file} was left as it is ({error}); {step}") from error
    return tomlkit.dumps(settings)


def command_in_json(section: str) -> Callable[[str], str]:
    """Return a reader of the program that a JSON file starts."""

    def read(text: str) -> str:
        try:
            return _command(json.loads(text) if text.strip() else {}, section)
        except ValueError as error:
            raise ClientSettingsError(f"it is not plain JSON ({error})") from error

    return read


def command_in_toml(text: str) -> str:
    """Return the program that Codex's settings start."""
    try:
        return _command(tomllib.loads(text), "mcp_servers")
    except ValueError as error:
        raise ClientSettingsError(f"it is not TOML ({error})") from error


def _command(settings: Any, section: str) -> str:
    for key in (section, SERVER_NAME):
        if not isinstance(settings, dict):
            raise ClientSettingsError(f"something else stands where {key!r} is expected")
        settings = settings.get(key, {})
    if not isinstance(settings, dict) or (settings and not isinstance(settings.get("command"), str)):
        raise ClientSettingsError(f"{SERVER_NAME!r} names no command")
    return str(settings.get("command", ""))


def _entry(command: list[str], extra: Mapping[str, Any]) -> dict[str, Any]:
    return {**extra, "command": command[0], "args": command[1:]}


def _indent(text: str) -> str:
    """Return what a file is indented with, two spaces for a new one."""
    second = text.lstrip("{\r\n").partition("\n")[0] if text.startswith("{") else ""
    return second[: len(second) - len(second.lstrip(" \t"))] or "  "


def _claude_desktop(_root: Path) -> Path:
    base = "Library/Application Support" if sys.platform == "darwin" else ".config"
    return Path.home() / base / "Claude" / "claude_desktop_config.json"


_MCP_SERVERS = merge_json("mcpServers", {}), command_in_json("mcpServers")
_SERVERS = merge_json("servers", {"type": "stdio"}), command_in_json("servers")

CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", "Claude Code", lambda root: root / ".mcp.json", *_MCP_SERVERS),
        Client("claude-desktop", "Claude Desktop", _claude_desktop, *_MCP_SERVERS, root="."),
        Client("cursor", "Cursor", lambda root: root / ".cursor" / "mcp.json", *_MCP_SERVERS, WORKSPACE),
        Client("vscode", "VS Code", lambda root: root / ".vscode" / "mcp.json", *_SERVERS, WORKSPACE),
        Client(
            "codex", "Codex", lambda _root: Path.home() / ".codex" / "config.toml", merge_toml, command_in_toml, "."
        ),
    )
}
