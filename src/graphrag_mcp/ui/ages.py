"""Sums up the ages of files by folder, in at most TILES tiles per folder."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from graphrag_mcp.model.reports import FileAge
from graphrag_mcp.text.counts import counted

TILES = 60  # In one folder; the rest is one more tile.


def age_tree(files: Sequence[FileAge], folder: str) -> dict[str, Any]:
    """Return the contents of a folder, and of each folder in it: `{name, path, chunks, files, modified_at, ...}`.

    modified_at: of a folder, that of its newest file. archived: the number of archived files.
    """
    depth = folder.count("/") + 1 if folder else 0
    inside = _by_part(files, depth)
    tiles = [_group(name, folder, below) for name, below in inside.items()]
    return {"folder": folder, "files": len(files), **_cut(tiles)}


def _group(name: str, folder: str, files: Sequence[FileAge]) -> dict[str, Any]:
    """Return a tile with those inside it; a folder whose only entry is a folder is merged with it."""
    path = _joined(folder, name)
    if files[0].path == path:
        return _tile(name, folder, files) | {"tiles": []}
    while len(inside := _by_part(files, path.count("/") + 1)) == 1 and files[0].path != f"{path}/{next(iter(inside))}":
        path, name = f"{path}/{next(iter(inside))}", f"{name}/{next(iter(inside))}"
    return _tile(name, folder, files) | {"tiles": _tiles(files, path)}


def _tiles(files: Sequence[FileAge], folder: str) -> list[dict[str, Any]]:
    inside = _by_part(files, folder.count("/") + 1)
    tiles: list[dict[str, Any]] = _cut([_tile(name, folder, below) for name, below in inside.items()])["tiles"]
    return tiles


def _by_part(files: Sequence[FileAge], depth: int) -> dict[str, list[FileAge]]:
    parts = defaultdict[str, list[FileAge]](list)
    for file in files:
        parts[file.path.split("/")[depth]].append(file)
    return parts


def _tile(name: str, folder: str, files: Sequence[FileAge]) -> dict[str, Any]:
    path = _joined(folder, name)
    times = [file.modified_at for file in files if file.modified_at is not None]
    return {
        "name": name,
        "path": path,
        "is_file": len(files) == 1 and files[0].path == path,
        "files": len(files),
        "chunks": sum(file.chunks for file in files),
        "archived": sum(file.is_archived for file in files),
        "modified_at": max(times, default=None),
    }


def _cut(tiles: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the largest tiles, and one for all others."""
    ordered = sorted(tiles, key=lambda tile: (-tile["chunks"], tile["name"]))
    shown, rest = ordered[:TILES], ordered[TILES:]
    if rest:
        total = {name: sum(tile[name] for tile in rest) for name in ("files", "chunks", "archived")}
        newest = max((tile["modified_at"] for tile in rest if tile["modified_at"] is not None), default=None)
        name = counted(len(rest), "smaller one")
        shown.append({"name": name, "path": "", "is_file": False, "modified_at": newest, "tiles": [], **total})
    return {"tiles": shown}


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
