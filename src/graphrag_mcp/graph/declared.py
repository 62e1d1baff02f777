"""Functions that a header declares and another file defines: the definition stands for both."""

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from graphrag_mcp.languages.registry import describe, detect_language
from graphrag_mcp.model.files import CALLABLE, HEADER_SUFFIXES
from graphrag_mcp.model.graph import CodeNode

if TYPE_CHECKING:  # It imports the parser, which most questions do not need.
    from graphrag_mcp.graph.definitions import ChangedDefinition

_OF_ITS_FILE = "static "  # The signature of a function that no other file may call begins so.


def in_header(node: "CodeNode | ChangedDefinition") -> bool:
    """Return whether a function stands in a header, and so may only be declared there."""
    return node.kind in CALLABLE and node.path.endswith(HEADER_SUFFIXES)


def may_define(node: "CodeNode | ChangedDefinition") -> bool:
    """Return whether a function may be one that a header declares."""
    is_outside = not in_header(node) and describe(detect_language(node.path)).headers
    return is_outside and node.kind in CALLABLE and not node.signature.startswith(_OF_ITS_FILE)


def standing(nodes: Sequence[CodeNode], *, is_followed: bool) -> CodeNode:
    """Return which of several nodes that one place means stands for all: what defines that which a header declares.

    is_followed: even if several files define it, for several builds; else the header's stands for all of these.
    """
    declared = [node for node in nodes if in_header(node)]
    defining = [node for node in nodes if may_define(node)] if declared else []
    if defining:
        is_one = is_followed or len({node.path for node in defining}) == 1
        nodes = defining if is_one else declared
    return max(nodes, key=attrgetter("start_line"))
