"""Reads manifests: which names the project's modules have, and where these are."""

import posixpath
import re

from graphrag_mcp.model.manifests import Manifest

_GO_COMMENT = re.compile(r"//.*")
_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_GO_REPLACE = re.compile(r"^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\.\S*)", re.MULTILINE)
_GO_USE = re.compile(r"^\s*(?:use\s+)?(\.\S*)\s*$", re.MULTILINE)


def read_manifest(path: str, text: str) -> Manifest | None:
    """Return what a manifest says, None for any other file."""
    folder, name = posixpath.split(path)
    match name:
        case "go.mod":
            code = _GO_COMMENT.sub("", text)
            module = _GO_MODULE.search(code)
            replaced = {old: (_joined(folder, new),) for old, new in _GO_REPLACE.findall(code)}
            return Manifest(folder, name, module[1] if module else "", replaced)
        case "go.work":
            used = tuple(_joined(folder, use) for use in _GO_USE.findall(_GO_COMMENT.sub("", text)))
            return Manifest(folder, name, targets={"use": used})
    return None


def _joined(folder: str, place: str) -> str:
    joined = posixpath.normpath(posixpath.join(folder, place))
    return "" if joined == "." else joined
