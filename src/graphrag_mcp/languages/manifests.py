"""Reads manifests: which names the project's modules have, and where these are."""

import posixpath
from fnmatch import fnmatchcase

from graphrag_mcp.languages.registry import LANGUAGES, load_part
from graphrag_mcp.model.manifests import Manifest

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
