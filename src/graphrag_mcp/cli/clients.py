"""The MCP clients that `init` sets up: how each is found, and where and in which format it keeps its servers."""

import hashlib
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from graphrag_mcp.cli import jsonc
from graphrag_mcp.errors import GraphragError

Entries = Mapping[str, Any]
SERVER_NAME = "graphrag"
PROGRAM = PLUGIN = "graphrag-mcp"
NOT_ON_PATH = (
    f"{PROGRAM} is not on PATH, where clients look for it; install it with `uv tool install` or `pipx install`"
)
WORKSPACE = "${workspaceFolder}"
# Claude Code and Copilot CLI, which read one file, show a model only the names of other servers' tools.
ALWAYS_LOADED = {"alwaysLoad": True, "deferTools": "never"}
NAME_CHARACTERS = 32  # The name of a server has no more of its folder: clients prefix each tool with it.


class JsonFormat(Struct, frozen=True):
    """A JSON file, with comments or without, whose servers are in a section. new: the text of a new file.

    Every method raises GraphragError.
    """

    section: str
    new: str = ""

    def read(self, text: str) -> Entries:
        """Return the entries of all servers by name."""
        try:
            return section_of(jsonc.read(text), self.section)
        except ValueError as error:
            raise GraphragError(f"it is not JSON ({error})") from error

    def with_entry(self, text: str, name: str, entry: Entries) -> str:
        """Return the text with an entry; what else a present entry has stays."""
        text = text or self.new
        known = self.read(text).get(name)
        if not isinstance(known, dict):
            return jsonc.with_value(text, (self.section, name), entry)
        for key, value in entry.items():
            if key not in known or known[key] != value:
                text = jsonc.with_value(text, (self.section, name, key), value)
        return text

    def without_entry(self, text: str, name: str) -> str:
        """Return the text without an entry, and without what is empty then."""
        return jsonc.without(text, (self.section, name)) if name in self.read(text) else text


class TomlFormat(Struct, frozen=True):
    """A TOML file with a table [SECTION.NAME] for each server; its methods are those of `JsonFormat`."""

    section: str

    def read(self, text: str) -> Entries:
        try:
            return section_of(tomllib.loads(text), self.section)
        except ValueError as error:
            raise GraphragError(f"it is not TOML ({error})") from error

    def with_entry(self, text: str, name: str, entry: Entries) -> str:
        import tomlkit

        try:
            settings = tomlkit.parse(text)
            servers = settings.setdefault(self.section, tomlkit.table(is_super_table=True))
            ours = servers.setdefault(name, tomlkit.table())
            ours.update({key: value for key, value in entry.items() if ours.get(key) != value})
            return tomlkit.dumps(settings)
        except (tomlkit.exceptions.TOMLKitError, TypeError, AttributeError, ValueError) as error:
            raise GraphragError(f"{error}; each server needs a table [{self.section}.NAME]") from error

    def without_entry(self, text: str, name: str) -> str:
        if name not in self.read(text):
            return text
        header = re.compile(rf"\s*\[\s*{re.escape(self.section)}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*[.\]]")
        kept: list[str] = []
        comments: list[str] = []  # Those behind the entry are of what follows.
        is_ours = False
        for line in text.splitlines(keepends=True):
            if line.lstrip().startswith("["):
                is_ours = header.match(line) is not None
            if not is_ours:
                kept += [*comments, line]
            comments = [*comments, line] if is_ours and (not line.strip() or line.lstrip().startswith("#")) else []
        text = "".join([*kept, *comments])
        if name in self.read(text):
            raise GraphragError(f"{name!r} is not a table of its own; remove it yourself")
        return text if text.strip() else ""


def section_of(settings: Any, name: str) -> Entries:
    """Return the entries in a section, none without it. Raises GraphragError."""
    entries = settings.get(name, {}) if isinstance(settings, dict) else None
    if not isinstance(entries, dict):
        raise GraphragError(f"something else stands where {name!r} is expected")
    return entries


class Client(Struct, frozen=True):
    """A client.

    marks: what shows that it is used: a program on PATH, or a path (of the project, of the user, or absolute).
    files: where it may keep its servers: in the project, or one file of the user's for all projects.
    shape: returns the entry that starts a command. extra: what every entry has besides.
    root: how the client passes the project to the server; "" if it starts the server in the project.
    first_use: what the user has to do once, "" if nothing. starts_twice: returns what else starts the server in a
    project, with the next step, "" if nothing does.
    """

    name: str
    title: str
    marks: tuple[str, ...]
    files: tuple[str, ...]
    format: JsonFormat | TomlFormat
    shape: Callable[[list[str]], dict[str, Any]] = lambda command: {"command": command[0], "args": command[1:]}
    extra: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""
    first_use: str = ""
    starts_twice: Callable[[Path], str] = lambda _root: ""

    @property
    def is_shared(self) -> bool:
        """Whether one file of the user's own is for all projects, so that each has an entry with its folder."""
        return self.files[0].startswith("~")

    def is_found(self, root: Path) -> bool:
        """Return whether the client is used on this machine or in a project."""
        return any(
            (root / Path(mark).expanduser()).exists() if "/" in mark else shutil.which(mark) is not None
            for mark in self.marks
        )

    def settings(self, root: Path) -> Path:
        """Return the client's file for a project: the one that exists, else the usual one."""
        files = [root / Path(file).expanduser() for file in self.files]
        return next((file for file in files if os.path.lexists(file)), files[0])

    def entry_name(self, entries: Entries, root: Path) -> str:
        """Return the name of a project's entry: its present one, else a free one."""
        if not self.is_shared:
            return SERVER_NAME
        own = (name for name in entries if name.startswith(SERVER_NAME) and _root_of(entries[name]) == root)
        return next(own, None) or next(name for name in _possible_names(root) if name not in entries)

    def with_entry(self, text: str, root: Path, command: list[str]) -> str:
        """Return the file's text with the entry of a project. Raises GraphragError."""
        entries = self.format.read(text)
        name = self.entry_name(entries, root)
        new = self.format.with_entry(text, name, {**self.extra, **self.shape(command)})
        return self._checked(new, entries, name)

    def without_entry(self, text: str, root: Path) -> str:
        """Return the file's text without the entry of a project. Raises GraphragError."""
        entries = self.format.read(text)
        name = self.entry_name(entries, root)
        return self._checked(self.format.without_entry(text, name), entries, name)

    def command(self, text: str, root: Path) -> str:
        """Return the program that a project's entry starts, "" without an entry. Raises GraphragError."""
        entries = self.format.read(text)
        name = self.entry_name(entries, root)
        words = _words(entries.get(name, {}))
        if name in entries and not words:
            raise GraphragError(f"{name!r} names no command")
        return words[0] if words else ""

    def _checked(self, text: str, before: Entries, name: str) -> str:
        others = {key: value for key, value in self.format.read(text).items() if key != name}
        if others != {key: value for key, value in before.items() if key != name}:
            raise GraphragError("the other servers in it cannot be kept")
        return text


def _words(entry: Any) -> list[str]:
    """Return the command line of an entry, in whatever shape; empty where there is none."""
    command, arguments = (entry.get("command"), entry.get("args", [])) if isinstance(entry, dict) else (None, [])
    words = command if isinstance(command, list) else [command, *(arguments if isinstance(arguments, list) else [])]
    return [str(word) for word in words] if words and isinstance(words[0], str) else []


def _root_of(entry: Any) -> Path | None:
    """Return the folder that an entry serves, None when it contains none."""
    words = _words(entry)
    return Path(words[words.index("--root") + 1]).resolve() if "--root" in words[:-1] else None


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


def _plugin(root: Path) -> str:
    """Return that the plugin is enabled, by the settings of Claude Code; the later ones decide."""
    user = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    enabled: dict[str, Any] = {}
    for file in (user / "settings.json", *(root / ".claude" / f"settings{kind}.json" for kind in ("", ".local"))):
        with suppress(OSError, ValueError, GraphragError):
            enabled |= section_of(json.loads(file.read_text(encoding="utf-8")), "enabledPlugins")
    names = [name for name, is_on in enabled.items() if name.partition("@")[0] == PLUGIN and is_on]
    return f"the plugin {names[0]} starts the server too; keep one: `claude plugin disable {names[0]}`" if names else ""


def _asks(client: str) -> str:
    return f"{client} reads this file only in a project that you trust: start it there, and answer that you trust it."


_CLAUDE_CODE_ASKS = (
    "Claude Code asks once whether it may use the server: start `claude` in the project and approve it; until then "
    '`claude mcp list` shows "Pending approval".'
)
_APPS = "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
_CLINE = "cline_mcp_settings.json"
_CLINE_IN_CODE = f"{_APPS}/Code/User/globalStorage/saoudrizwan.claude-dev"
_SERVERS = JsonFormat("mcpServers")

_ROWS = (
    Client(
        "claude-code",
        "Claude Code",
        ("claude", "~/.claude", "./.claude", "./.mcp.json"),
        (".mcp.json",),
        _SERVERS,
        extra=ALWAYS_LOADED,
        first_use=_CLAUDE_CODE_ASKS,
        starts_twice=_plugin,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        (f"{_APPS}/Claude",),
        (f"{_APPS}/Claude/claude_desktop_config.json",),
        _SERVERS,
    ),
    Client("cursor", "Cursor", ("cursor", "~/.cursor", "./.cursor"), (".cursor/mcp.json",), _SERVERS, root=WORKSPACE),
    Client(
        "vscode",
        "VS Code",
        ("code", f"{_APPS}/Code", "./.vscode"),
        (".vscode/mcp.json",),
        JsonFormat("servers"),
        extra={"type": "stdio"},
        root=WORKSPACE,
    ),
    Client(  # It also reads .github/mcp.json, but prefers an entry in this file.
        "copilot-cli",
        "Copilot CLI",
        ("copilot", "~/.copilot"),
        (".mcp.json",),
        _SERVERS,
        extra=ALWAYS_LOADED,
        first_use=_asks("Copilot CLI"),
    ),
    Client(
        "codex",
        "Codex",
        ("codex", "~/.codex", "./.codex"),
        (".codex/config.toml",),
        TomlFormat("mcp_servers"),
        first_use=_asks("Codex"),
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        ("gemini", "~/.gemini", "./.gemini"),
        (".gemini/settings.json",),
        _SERVERS,
        first_use=_asks("Gemini CLI"),
    ),
    Client(
        "opencode",
        "OpenCode",
        ("opencode", "~/.config/opencode", "./opencode.json", "./opencode.jsonc", "./.opencode"),
        ("opencode.json", "opencode.jsonc"),
        JsonFormat("mcp", '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'),  # Which it would add itself.
        shape=lambda command: {"type": "local", "command": command},
    ),
    Client(
        "windsurf", "Windsurf", ("windsurf", "~/.codeium/windsurf"), ("~/.codeium/windsurf/mcp_config.json",), _SERVERS
    ),
    Client(
        "zed",
        "Zed",
        ("zeditor", "~/.config/zed", "./.zed"),
        (".zed/settings.json",),
        JsonFormat("context_servers"),
        first_use=_asks("Zed"),
    ),
    Client(
        "cline",
        "Cline",
        ("cline", "~/.cline", _CLINE_IN_CODE),
        (f"~/.cline/data/settings/{_CLINE}", f"{_CLINE_IN_CODE}/settings/{_CLINE}"),
        _SERVERS,
    ),
    Client("jetbrains", "JetBrains Junie", ("junie", "~/.junie", "./.junie"), (".junie/mcp/mcp.json",), _SERVERS),
)
CLIENTS = {client.name: client for client in _ROWS}
