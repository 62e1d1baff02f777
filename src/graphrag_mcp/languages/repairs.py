"""Changes what a grammar cannot read, so that the code around it is read: byte for byte, so that nothing moves."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node


class Repair(NamedTuple):
    """A change of the bytes that are parsed, given their tree; is_sure: right as long as it adds no errors."""

    change: Callable[[bytes, Node], bytes]
    is_sure: bool = False


def blanked(data: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return the bytes with blanks in spans; line breaks stay."""
    changed = bytearray(data)
    for start, end in spans:
        changed[start:end] = re.sub(rb"\S", b" ", data[start:end])
    return bytes(changed)


def errors(root: Node, kinds: Collection[str] = ()) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes that are errors or missing, none within another, with the innermost node of some kinds around.

    An error in none of them is around itself. No node is asked for its parent, which would be looked for from the root.
    """
    nodes: list[tuple[Node, Node | None]] = [(root, None)] if root.has_error else []
    while nodes:
        node, around = nodes.pop()
        if node.is_error or node.is_missing:
            yield node, around or node
        else:
            inner = node if node.type in kinds else around
            nodes += [(child, inner) for child in node.children if child.has_error]
