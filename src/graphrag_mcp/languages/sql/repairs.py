"""Reads around the bodies of functions in languages that the grammar does not know, such as PL/pgSQL."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from tree_sitter import Node

from graphrag_mcp.languages.repairs import Repair, blanked

_QUOTE = re.compile(rb"\$(?:[A-Za-z_]\w*)?\$")  # A quote of PostgreSQL: what is between two equal ones is a text.
_UNREAD = b";"  # An empty body has an error, so that the file is known to have lines that do not parse.


def _bodies(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the texts between dollar quotes begin and end."""
    opened = None
    for quote in _QUOTE.finditer(data):
        if opened is None:
            opened = quote
        elif quote[0] == opened[0]:
            yield opened.end(), quote.start()
            opened = None


def _without_bodies(data: bytes, root: Node) -> bytes:
    """Return the code without the bodies that are in no statement, and the first of each that swallows another one."""
    statements = [node for node in root.children if root.has_error and not node.is_error]
    starts = [statement.start_byte for statement in statements]
    failed: list[tuple[int, int]] = []
    first: dict[int, tuple[int, int]] = {}
    for start, stop in _bodies(data) if root.has_error else ():
        place = bisect_right(starts, start) - 1
        is_inside = place >= 0 and statements[place].end_byte >= stop
        if not is_inside:
            failed.append((start, stop))
        elif place in first:
            failed.append(first[place])
        else:
            first[place] = start, stop
    failed = [(start, stop) for start, stop in failed if data[start:stop].strip() not in (b"", _UNREAD)]
    changed = bytearray(blanked(data, failed))
    for start, _ in failed:
        changed[start : start + len(_UNREAD)] = _UNREAD
    return bytes(changed)


POSTGRES = (Repair(_without_bodies),)
