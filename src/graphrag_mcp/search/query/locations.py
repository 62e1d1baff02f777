"""Reads the locations in a question: `tree.go:243`, `File "app.py", line 12`, the frames of a stack trace."""

import re
from collections.abc import Sequence
from typing import NamedTuple

MAX_LOCATIONS = 30  # The frames of a trace; the innermost come first or last.
_LOCATION = re.compile(r"(?<![\w./\\-])(?P<path>[\w./\\-]+\.[A-Za-z]\w{0,7})(?::|\"?, line )(?P<line>\d{1,7})\b")


class Location(NamedTuple):
    """A line of a file as a question writes it; the path may be that of another machine."""

    path: str
    line: int


def read_locations(text: str) -> tuple[Location, ...]:
    """Return the locations in a text, in their order."""
    locations = (Location(match["path"].replace("\\", "/"), int(match["line"])) for match in _LOCATION.finditer(text))
    return tuple(dict.fromkeys(locations))[:MAX_LOCATIONS]


def lines_in(locations: Sequence[Location], path: str) -> list[int]:
    """Return the lines of a file that are named."""
    return [location.line for location in locations if names_path(location.path.lstrip("./"), path)]


def names_path(name: str, path: str) -> bool:
    """Return whether a path in the query means this file; a path in another machine's stack trace ends with it."""
    if path == name or path.endswith("/" + name) or ("/" in path and name.endswith("/" + path)):
        return True
    return path.startswith(name + "/") or f"/{name}/" in path
