"""Reads the manifests of JavaScript and TypeScript."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphrag_mcp.languages.manifests import joined, table
from graphrag_mcp.model.files import OUTPUT, Manifest

_TEXT = r'("(?:[^"\\\n]|\\.)*+"?)'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])", re.DOTALL)


def read(folder: str, name: str, text: str) -> Manifest | None:
    """Return what a `package.json`, or a configuration of TypeScript, says."""
    return _read_package(folder, _json(text)) if name == "package.json" else _read_paths(folder, name, _json(text))


def _read_package(folder: str, package: Mapping[str, Any]) -> Manifest:
    """Return the name of a package and where its entries are, "." and others; an entry "#x" is for its own files."""
    exports = package.get("exports")
    entries = exports if isinstance(exports, dict) and any(key.startswith(".") for key in exports) else {".": exports}
    main = [package.get(key) for key in ("source", "module", "main", "types")]
    entries = {**entries, ".": [entries.get("."), *main], **table(package.get("imports"))}
    name = package.get("name")
    targets = {key: tuple(joined(folder, place) for place in _places(value)) for key, value in entries.items()}
    kinds = ("peerDependencies", "optionalDependencies", "devDependencies", "dependencies")
    needs = {package_name: version for kind in kinds for package_name, version in table(package.get(kind)).items()}
    requires = {need: version for need, version in needs.items() if isinstance(version, str)}
    named, version = (text if isinstance(text, str) else "" for text in (name, package.get("version")))
    return Manifest(folder, "package.json", named, targets, version, requires)


def _read_paths(folder: str, name: str, config: Mapping[str, Any]) -> Manifest | None:
    """Return the `paths` of a configuration of TypeScript."""
    options = table(config.get("compilerOptions"))
    base, paths = options.get("baseUrl"), table(options.get("paths"))
    origin = joined(folder, base) if isinstance(base, str) else folder
    targets = {key: tuple(joined(origin, place) for place in _places(value)) for key, value in paths.items()}
    if isinstance(base, str):
        targets["*"] = (joined(origin, "*"),)
    out, root = options.get("outDir"), options.get("rootDir", "src")
    if isinstance(out, str) and isinstance(root, str):
        targets[OUTPUT] = (joined(folder, out), joined(folder, root))
    return Manifest(folder, name, targets=targets) if targets else None


def _places(value: object) -> Iterator[str]:
    """Return the paths in an entry: of every condition, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _places(entry)


def _json(text: str) -> Mapping[str, Any]:
    """Return the object of a text of JSON, in which there may be comments and trailing commas."""
    for left_out in (_COMMENT, _TRAILING):
        text = left_out.sub(lambda match: match[1] or "", text)
    try:
        return table(json.loads(text))
    except (ValueError, RecursionError):
        return {}
