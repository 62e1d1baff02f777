"""Reads manifests: which names the project's modules have, and where these are."""

import posixpath
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from graphrag_mcp.languages.registry import LANGUAGES, load_part
from graphrag_mcp.model.files import Manifest

_NAMES = {name: language.name for language in LANGUAGES.values() for name in language.manifests.split()}


def read_manifest(path: str, text: str) -> Manifest | None:
    """Return what a manifest says, None for any other file."""
    folder, name = posixpath.split(path)
    language = next((language for pattern, language in _NAMES.items() if fnmatchcase(name, pattern)), None)
    manifest: Manifest | None = load_part(language, "manifests").read(folder, name, text) if language else None
    return manifest


def joined(folder: str, place: str) -> str:
    """Return the path of a place in a folder, "" for the root."""
    joined = posixpath.normpath(posixpath.join(folder, place))
    return "" if joined == "." else joined


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text of TOML, none if it cannot be read."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def table(value: object, *keys: str) -> Mapping[str, Any]:
    """Return a value, or what is below some keys of it, one in the other, if that is a table; else an empty one."""
    for key in keys:
        value = table(value).get(key)
    return value if isinstance(value, Mapping) else {}
