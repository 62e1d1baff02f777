"""Changes what the grammar of Rust reads as tokens only; every line stays as long as it was."""

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from graphrag_mcp.languages.repairs import Repair, blanked

_ITEMS = frozenset(("fn", "mod", "struct", "enum", "impl", "trait"))
_AROUND = frozenset(("mod_item", "impl_item", "trait_item"))


def _open_macros(data: bytes, root: Node) -> bytes:
    """Return the code with items behind the macros that contain them: `cfg! { fn f() {} }` as `cfg!{} fn f() {}  `."""
    changed = bytearray(data)
    for braces in _macros(root):
        start, stop = braces.start_byte, braces.end_byte
        if data[start - 1 : start + 1] == b" {":
            changed[start - 1 : start + 1] = b"{}"
            changed[stop - 1 : stop] = b" "
            for first, last in _conditions(braces):
                changed[first:last] = blanked(data[first:last], [(0, last - first)])
    return bytes(changed)


def _macros(root: Node) -> Iterator[Node]:
    """Yield the braces of macros that stand where items do, and have some."""
    nodes = list(root.children)
    while nodes:
        node = nodes.pop()
        if node.type == "macro_invocation":
            braces = node.children[-1]
            tokens = [child.type for child in braces.children] if braces.type == "token_tree" else []
            named = (after for kind, after in pairwise(tokens) if kind == "fn")
            if not _ITEMS.isdisjoint(tokens) and all(after == "identifier" for after in named):
                yield braces
        elif node.type in _AROUND and (body := node.child_by_field_name("body")):
            nodes += body.children


def _conditions(braces: Node) -> Iterator[tuple[int, int]]:
    """Yield what is in parentheses behind the names of functions and is no list of parameters: `(x in 0..3)`."""
    before = [""] * 2
    for node in braces.children:
        if before == ["fn", "identifier"] and any(child.text == b"in" for child in node.children):
            yield node.start_byte + 1, node.end_byte - 1
        before = [before[1], node.type]


MACROS = (Repair(_open_macros, is_sure=True),)
