"""Reads Go's manifests."""

import re

from graphrag_mcp.languages.manifests import joined
from graphrag_mcp.model.files import Manifest

_COMMENT = re.compile(r"//.*")
_MODULE = re.compile(r"^[ \t]*+module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_REPLACE = re.compile(r"^[ \t]*+(?:replace[ \t]+)?(\S++)(?:[ \t]+v\S++)?[ \t]+=>[ \t]+(\.\S*)", re.MULTILINE)
_USE = re.compile(r"^[ \t]*+(?:use[ \t]+)?(\.\S*+)[ \t\r]*+$", re.MULTILINE)


def read(folder: str, name: str, text: str) -> Manifest:
    """Return what a `go.mod` or a `go.work` says."""
    code = _COMMENT.sub("", text)
    if name == "go.work":
        return Manifest(folder, name, targets={"use": tuple(joined(folder, use) for use in _USE.findall(code))})
    module = _MODULE.search(code)
    replaced = {old: (joined(folder, new),) for old, new in _REPLACE.findall(code)}
    return Manifest(folder, name, module[1] if module else "", replaced)
