"""The MCP clients that `init` sets up: where each keeps its settings, and their format."""

import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from graphrag_mcp.errors import GraphragError

SERVER_NAME = "graphrag"
PROGRAM = PLUGIN = "graphrag-mcp"
NOT_ON_PATH = (
    f"{PROGRAM} is not on PATH, where clients look for it; install it with `uv tool install` or `pipx install`"
)
WORKSPACE = "${workspaceFolder}"
ALWAYS_LOADED = {"alwaysLoad": True}  # Claude Code shows a model only the names of other servers' tools.
NAME_CHARACTERS = 32  # The name of a server has no more of its folder: clients prefix each tool with it.

Entries = Mapping[str, Any]
ChooseName = Callable[[Entries], str]


class ClientSettingsError(GraphragError):
    """A client's settings cannot be read, or cannot be written without loss."""


class SettingsFormat(Protocol):
    """The format of the servers in a client's file."""

    def read(self, text: str) -> Entries:
        """Return the entries of all servers by name. Raises ClientSettingsError."""

    def merge(self, text: str, file: Path, choose_name: ChooseName, command: list[str]) -> str:
        """Return the text with our entry; the rest is unchanged. Raises ClientSettingsError."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client.

    settings: returns its file for a project. root: how the client passes the project to the server; "" if it starts the
    server in the project. is_shared: whether one file of the user's own is for all projects, so that each has an entry
    with its folder. first_use: what the user has to do once, "" if nothing. starts_twice: returns what else starts the
    server in a project, with the next step, "" if nothing does.
    """

    name: str
    title: str
    settings: Callable[[Path], Path]
    format: SettingsFormat
    root: str = ""
    is_shared: bool = False
    first_use: str = ""
    starts_twice: Callable[[Path], str] = lambda _root: ""

    def entry_name(self, entries: Entries, root: Path) -> str:
        """Return the name of a project's entry: its present one, else a free one."""
        if not self.is_shared:
            return SERVER_NAME
        own = (name for name in entries if name.startswith(SERVER_NAME) and _root_of(entries[name]) == root)
        return next(own, None) or next(name for name in _possible_names(root) if name not in entries)

    def merge(self, text: str, file: Path, root: Path, command: list[str]) -> str:
        """Return the file's new text, from its old one. Raises ClientSettingsError."""
        return self.format.merge(text, file, lambda entries: self.entry_name(entries, root), command)

    def command(self, text: str, root: Path) -> str:
        """Return the program that a project's entry starts, "" without an entry. Raises ClientSettingsError."""
        entries = self.format.read(text)
        name = self.entry_name(entries, root)
        entry = entries.get(name, {})
        if not isinstance(entry, dict) or (entry and not isinstance(entry.get("command"), str)):
            raise ClientSettingsError(f"{name!r} names no command")
        return str(entry.get("command", ""))


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """A JSON file whose servers are in a section. extra: what every entry has besides its command."""

    section: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    def read(self, text: str) -> Entries:
        try:
            return _section(json.loads(text) if text.strip() else {}, self.section)
        except ValueError as error:
            raise ClientSettingsError(f"it is not plain JSON ({error})") from error

    def merge(self, text: str, file: Path, choose_name: ChooseName, command: list[str]) -> str:
        entry = {**self.extra, "command": command[0], "args": command[1:]}
        try:
            settings = json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise ClientSettingsError(
                f"{file} is not plain JSON ({error}), so it was left as it is; add this to it yourself:\n"
                + json.dumps({self.section: {choose_name({}): entry}}, indent=2)
            ) from error
        if not isinstance(settings, dict) or not isinstance(settings.setdefault(self.section, {}), dict):
            wanted = f"expected an object with {self.section!r}"
            raise ClientSettingsError(f"{file}: {wanted}; correct or remove it, then run again")
        entries = settings[self.section]
        name = choose_name(entries)
        known = entries.get(name)
        entries[name] = {**(known if isinstance(known, dict) else {}), **entry}
        return json.dumps(settings, indent=indent_of(text), ensure_ascii=False) + "\n"


class TomlFormat:
    """A TOML file with a table [mcp_servers.NAME] for each server; comments and order are kept."""

    def read(self, text: str) -> Entries:
        try:
            return _section(tomllib.loads(text), "mcp_servers")
        except ValueError as error:
            raise ClientSettingsError(f"it is not TOML ({error})") from error

    def merge(self, text: str, file: Path, choose_name: ChooseName, command: list[str]) -> str:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            settings = tomlkit.parse(text)
            servers = settings.setdefault("mcp_servers", tomlkit.table(is_super_table=True))
            ours = servers.setdefault(choose_name(servers), tomlkit.table())
            ours["command"], ours["args"] = command[0], command[1:]
        except (TOMLKitError, TypeError, AttributeError, ValueError) as error:
            step = "correct it, with a table [mcp_servers.NAME] for each server, then run again"
            raise ClientSettingsError(f"{file} was left as it is ({error}); {step}") from error
        return tomlkit.dumps(settings)


def _section(settings: Any, name: str) -> Entries:
    entries = settings.get(name, {}) if isinstance(settings, dict) else None
    if not isinstance(entries, dict):
        raise ClientSettingsError(f"something else stands where {name!r} is expected")
    return entries


def _root_of(entry: Any) -> Path | None:
    """Return the folder that an entry serves, None when it contains none."""
    arguments = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(arguments, list) or "--root" not in arguments[:-1]:
        return None
    return Path(str(arguments[arguments.index("--root") + 1])).resolve()


def _possible_names(root: Path) -> Iterator[str]:
    """Yield names for a project's entry: with its folder, then with the folder above too, then with a number."""
    folder, above = (
        re.sub(r"[^A-Za-z0-9_]+", "-", name)[:NAME_CHARACTERS].strip("-") for name in (root.name, root.parent.name)
    )
    folder = folder or hashlib.blake2b(str(root).encode(errors="surrogateescape"), digest_size=4).hexdigest()
    yield f"{SERVER_NAME}-{folder}"
    if above:
        yield f"{SERVER_NAME}-{above}-{folder}"
    yield from (f"{SERVER_NAME}-{folder}-{number}" for number in count(2))


def indent_of(text: str) -> str:
    """Return the indentation of a file, two spaces for a new one."""
    second = text.lstrip("{\r\n").partition("\n")[0] if text.startswith("{") else ""
    return second[: len(second) - len(second.lstrip(" \t"))] or "  "


def _claude_desktop(_root: Path) -> Path:
    base = "Library/Application Support" if sys.platform == "darwin" else ".config"
    return Path.home() / base / "Claude" / "claude_desktop_config.json"


def _plugin(root: Path) -> str:
    """Return that the plugin is enabled, by the settings of Claude Code; the later ones decide."""
    user = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    enabled: dict[str, Any] = {}
    for file in (user / "settings.json", *(root / ".claude" / f"settings{kind}.json" for kind in ("", ".local"))):
        with suppress(OSError, ValueError, ClientSettingsError):
            enabled |= _section(json.loads(file.read_text(encoding="utf-8")), "enabledPlugins")
    names = [name for name, is_on in enabled.items() if name.partition("@")[0] == PLUGIN and is_on]
    return f"the plugin {names[0]} starts the server too; keep one: `claude plugin disable {names[0]}`" if names else ""


_CLAUDE_CODE_ASKS = (
    "Claude Code asks once whether it may use the server: start `claude` in the project and approve it; until then "
    '`claude mcp list` shows "Pending approval".'
)
_CODEX_ASKS = (
    "Codex reads this file only in a project that you trust: start `codex` in the project's folder, which is what the "
    "server searches then, and answer that you trust it."
)

CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            lambda root: root / ".mcp.json",
            JsonFormat("mcpServers", ALWAYS_LOADED),
            first_use=_CLAUDE_CODE_ASKS,
            starts_twice=_plugin,
        ),
        Client("claude-desktop", "Claude Desktop", _claude_desktop, JsonFormat("mcpServers"), is_shared=True),
        Client("cursor", "Cursor", lambda root: root / ".cursor" / "mcp.json", JsonFormat("mcpServers"), WORKSPACE),
        Client(
            "vscode",
            "VS Code",
            lambda root: root / ".vscode" / "mcp.json",
            JsonFormat("servers", {"type": "stdio"}),
            WORKSPACE,
        ),
        Client(
            "codex",
            "Codex",
            lambda root: root / ".codex" / "config.toml",
            TomlFormat(),
            first_use=_CODEX_ASKS,
        ),
    )
}
