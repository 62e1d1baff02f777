"""Compares the catalog with the tree: a pure function, tested without a disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Stat(Protocol):
    """The size of a file in bytes, and the time of its last change in nanoseconds."""

    @property
    def size(self) -> int: ...
    @property
    def changed_ns(self) -> int: ...


class KnownFile(Stat, Protocol):
    """A file in the catalog; `recipe`: the versions of parser, context and model that made its rows."""

    @property
    def recipe(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Changes:
    """The work of one index run. possibly_changed: known files whose size, time or recipe differs."""

    added: tuple[str, ...]
    possibly_changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def compare(
    known: Mapping[str, KnownFile], found: Mapping[str, Stat], is_current: Callable[[str, str], bool]
) -> Changes:
    """Return which files are new, possibly changed or removed; is_current: whether a recipe is still that of a path."""
    possibly_changed = tuple(
        path
        for path, file in known.items()
        if path in found and not (_same(file, found[path]) and is_current(path, file.recipe))
    )
    removed = tuple(path for path in known if path not in found)
    return Changes(
        added=tuple(path for path in found if path not in known),
        possibly_changed=possibly_changed,
        removed=removed,
        unchanged=len(known) - len(possibly_changed) - len(removed),
    )


def _same(file: Stat, stat: Stat) -> bool:
    return file.size == stat.size and file.changed_ns == stat.changed_ns
