"""Collects values by their keys."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> defaultdict[_Key, list[_Value]]:
    """Return the values of each key, in their order; none for another key."""
    groups: defaultdict[_Key, list[_Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def preferred(values: Sequence[_Value], is_meant: Callable[[_Value], bool]) -> list[_Value]:
    """Return those of some values that are meant, all where none is."""
    return list(filter(is_meant, values)) or [*values]


def of_each(find: Callable[[_Key], Iterable[_Value]], keys: Iterable[_Key]) -> Iterator[_Value]:
    """Yield what is found for each of some keys."""
    return chain.from_iterable(map(find, keys))


def firsts(values: Iterable[_Value], key: Callable[[_Value], Hashable]) -> list[_Value]:
    """Return the first value of each key, in their order."""
    found: dict[Hashable, _Value] = {}
    for value in values:
        found.setdefault(key(value), value)
    return list(found.values())
