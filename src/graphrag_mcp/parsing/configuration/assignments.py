"""Reads the keys of formats with one setting in a line: INI, properties, environment templates, `name value`."""

import re
from collections.abc import Iterator
from operator import itemgetter

from graphrag_mcp.parsing.configuration.key import Key

_COMMENTS = ("#", ";", "!")
_EXPORT = "export "
_SPACED = re.compile(r"[A-Za-z][\w.-]*(?=[ \t]+\S)")  # `maxmemory 100mb`
_MOST_LINES = 0.8  # The share of lines that shows a format.


def assigned_keys(text: str) -> Iterator[Key]:
    """Yield the keys in the order of the text, below the section in which they stand.

    An indented line, and one after a backslash, continue the value before them.
    """
    section: tuple[str, ...] = ()
    continued = False
    for row, line in enumerate(text.split("\n")):
        continues, continued = continued, line.endswith("\\")
        stated = line.strip()
        if continues or not stated or stated.startswith(_COMMENTS) or line[0].isspace():
            continue
        if stated.startswith("[") and stated.endswith("]"):
            section = (stated[1:-1].strip(),)
            yield Key(section, row)
        elif name := _assigned(stated.removeprefix(_EXPORT)):
            yield Key((*section, *name.split(".")), row)


def conf_keys(text: str) -> Iterator[Key]:
    """Yield the keys of a `.conf` file: assigned ones, or the first words where most lines are a name and its value.

    Such a name may be repeated, as `location` is; its first line counts.
    """
    lines = [line.strip() for line in text.split("\n")]
    stated = [line for line in lines if line[:1].isalnum()]
    if sum(map(bool, map(_assigned, stated))) > len(stated) / 2:
        yield from assigned_keys(text)
    elif sum(map(bool, map(_SPACED.match, stated))) >= _MOST_LINES * len(stated):
        first = {match[0]: row for row in reversed(range(len(lines))) if (match := _SPACED.match(lines[row]))}
        yield from (Key((name,), row) for name, row in sorted(first.items(), key=itemgetter(1)))


def _assigned(line: str) -> str:
    """Return the name before the first `=` or `:`; "" where there is none, or where it is no single word."""
    end = min((place for mark in "=:" if (place := line.find(mark)) > 0), default=0)
    name = line[:end].rstrip()
    return name if name and not any(letter.isspace() for letter in name) else ""
