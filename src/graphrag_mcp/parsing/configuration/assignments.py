"""Reads the keys of formats with one assignment in a line: INI, Java properties, templates of environment variables."""

from collections.abc import Iterator

from graphrag_mcp.parsing.configuration.key import Key

_COMMENTS = ("#", ";", "!")
_EXPORT = "export "


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


def _assigned(line: str) -> str:
    """Return the name before the first `=` or `:`; "" where there is none, or where it is no single word."""
    end = min((place for mark in "=:" if (place := line.find(mark)) > 0), default=0)
    name = line[:end].rstrip()
    return name if name and not any(letter.isspace() for letter in name) else ""
