"""One key of a configuration file."""

from typing import NamedTuple


class Key(NamedTuple):
    """path: the names from the outermost to its own. row: the line on which it stands, from 0."""

    path: tuple[str, ...]
    row: int
