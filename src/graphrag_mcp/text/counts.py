"""Writes numbers with what they count."""

from collections.abc import Sequence


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 file`, `2 files`, `10,000 files`; `plural` is needed where it is not the noun with an "s"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], most: int, rest: str = "more") -> str:
    """Return `a, b`, or the first of more than `most` names and how many others there are: `a, b and 3 more`."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} {rest}" if len(names) > most else shown
