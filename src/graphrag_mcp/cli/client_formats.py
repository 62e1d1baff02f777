"""The formats of the files in which clients list their servers; comments, order and other entries are kept."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphrag_mcp.cli import jsonc
from graphrag_mcp.errors import GraphragError

Entries = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JsonFormat:
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


@dataclass(frozen=True, slots=True)
class TomlFormat:
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
