"""Compares the catalog with the tree: pure, so that every case can be tested without a disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Stat(Protocol):
    """Size in bytes of a file, and when it was last changed, in nanoseconds."""

    @property
    def size(self) -> int: ...
    @property
    def changed_ns(self) -> int: ...


class KnownFile(Stat, Protocol):
    """What the catalog remembers of a file; `recipe` names what its rows were made with."""

    @property
    def recipe(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Changes:
    """What an index run has to do. suspects: known files whose size, time or recipe differs."""

    added: tuple[str, ...]
    suspects: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def compare(known: Mapping[str, KnownFile], found: Mapping[str, Stat], is_current: Callable[[str], bool]) -> Changes:
    """Tell apart what is new, what may have changed and what is gone; `is_current` judges the recipe of known rows."""
    suspects = tuple(
        path
        for path, file in known.items()
        if path in found and not (_same(file, found[path]) and is_current(file.recipe))
    )
    removed = tuple(path for path in known if path not in found)
    return Changes(
        added=tuple(path for path in found if path not in known),
        suspects=suspects,
        removed=removed,
        unchanged=len(known) - len(suspects) - len(removed),
    )


def _same(file: Stat, stat: Stat) -> bool:
    return file.size == stat.size and file.changed_ns == stat.changed_ns
