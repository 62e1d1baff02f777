"""Changes what a grammar cannot read, so that the code around it is read: byte for byte, so that nothing moves."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from tree_sitter import Node

# A member of a type that begins with `<` or `(` ends the one before without a semicolon; found is the blank before it.
_BEFORE_MEMBER = (
    rb"(?<=[\w>\]})'\"])([ \t]*\n(?:[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)?\n)*)[ \t](?=[ \t]*%s)"
)
_MODIFIERS = re.compile(
    rb"(?<=[<,])(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+"
    rb"((?:(?:in|out|const)[ \t]+)+)(?=[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\b))"  # of type parameters
    rb"|(?<![\w$.])accessor(?=[ \t]+[#\[\w$])"
)
_USING = re.compile(rb"(?<![\w$.])(await[ \t]+)?using(?=[ \t]+[A-Za-z_$][\w$]*\s*(?:=[^=>]|of\b))")


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


def _end_members(before: re.Pattern[bytes], data: bytes, root: Node) -> bytes:
    return before.sub(rb"\1;", data) if root.has_error else data


def _without_modifiers(data: bytes, root: Node) -> bytes:
    spans = (found.span(found.lastindex or 0) for found in _MODIFIERS.finditer(data))
    return blanked(data, spans) if root.has_error else data


def _using_as_const(data: bytes, _root: Node) -> bytes:
    """Return `const x = ...` for `using x = ...`, which the grammar reads as an expression or not at all."""
    return _USING.sub(lambda found: b" " * len(found[1] or b"") + b"const", data) if b"using" in data else data


JAVASCRIPT = (Repair(_without_modifiers), Repair(_using_as_const, is_sure=True))
TYPESCRIPT = (
    *(Repair(partial(_end_members, re.compile(_BEFORE_MEMBER % begin))) for begin in (rb"<", rb"[<(]")),
    *JAVASCRIPT,
)
