"""Compares the catalog with the tree: a pure function, tested without a disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graphrag_mcp.exclusion.walker import WalkedFile
from graphrag_mcp.stores.sqlite.catalog import FileState


@dataclass(frozen=True, slots=True)
class Changes:
    """The work of one index run. possibly_changed: known files whose size, time or recipe differs."""

    added: tuple[str, ...]
    possibly_changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def compare(
    known: Mapping[str, FileState], found: Mapping[str, WalkedFile], is_current: Callable[[str, str], bool]
) -> Changes:
    """Return which files are new, possibly changed or removed; is_current: whether a recipe is still that of a path."""
    possibly_changed = tuple(
        path
        for path, file in known.items()
        if path in found
        and not (
            (file.size, file.changed_ns) == (found[path].size, found[path].changed_ns) and is_current(path, file.recipe)
        )
    )
    removed = tuple(path for path in known if path not in found)
    return Changes(
        added=tuple(path for path in found if path not in known),
        possibly_changed=possibly_changed,
        removed=removed,
        unchanged=len(known) - len(possibly_changed) - len(removed),
    )
