"""Which names of a file are local variables, and so mean nothing that is defined elsewhere."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.syntax import SourceCode

# What a node says of names, in the order of what begins at one place: `captures.py` has the roles.
NAMING_ROLES = ("block.own", "block", "bound", "bare", "handed")


class Naming(NamedTuple):
    """One node that says something of names."""

    start: int
    role: str
    node: Node
    captures: Captures


def not_local(namings: Iterable[Naming], code: SourceCode) -> Iterator[Naming]:
    """Yield the bare and handed names that are no variables of a block around them."""
    blocks: list[tuple[float, bool, set[str]]] = [(float("inf"), True, set())]  # End, whether it is closed, variables.
    for naming in sorted(namings, key=lambda naming: (naming.start, NAMING_ROLES.index(naming.role))):
        while blocks[-1][0] <= naming.start:
            blocks.pop()
        if naming.role in ("block.own", "block"):
            blocks.append((naming.node.end_byte, naming.role == "block.own", set()))
        elif naming.role == "bound":
            blocks[-1][2].add(code.node_text(naming.node).rstrip(":"))
        elif not _is_bound(code.node_text(naming.node), blocks):
            yield naming


def _is_bound(name: str, blocks: Sequence[tuple[float, bool, set[str]]]) -> bool:
    for _, is_closed, names in reversed(blocks):
        if name in names:
            return True
        if is_closed:
            break
    return False
