"""Reads the manifests of PHP: where the namespaces of a project are."""

import json

from graphrag_mcp.languages.manifests import joined, table
from graphrag_mcp.model.files import Manifest


def read(folder: str, name: str, text: str) -> Manifest:
    """Return what a `composer.json` says of its own namespaces (PSR-4)."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = {}
    targets: dict[str, tuple[str, ...]] = {}
    for section in ("autoload", "autoload-dev"):
        for namespace, places in table(read, section, "psr-4").items():
            listed = places if isinstance(places, list) else [places]
            prefix = namespace.strip("\\").replace("\\", "/")
            folders = tuple(joined(folder, place) for place in listed if isinstance(place, str))
            targets[prefix] = targets.get(prefix, ()) + folders
    return Manifest(folder, name, "", targets)
