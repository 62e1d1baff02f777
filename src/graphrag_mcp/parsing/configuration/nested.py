"""Reads the keys of YAML, TOML and JSON from their syntax trees."""

import importlib
from collections.abc import Iterator
from functools import cache, partial

from tree_sitter import Language, Node

from graphrag_mcp.parsing.code.syntax import SourceCode, SyntaxTimeoutError, parse_tree
from graphrag_mcp.parsing.configuration.key import Key

_PAIRS = frozenset({"pair", "block_mapping_pair", "flow_pair"})
_TABLES = frozenset({"table"})
# Nodes between a key and the keys below it. Lists are not among them.
_AROUND = frozenset(
    {"stream", "document", "block_node", "flow_node", "block_mapping", "flow_mapping", "object", "inline_table"}
)
_NO_NAMES = frozenset({"<<", ""})  # The first is YAML's merge of another mapping.
_QUOTES = "\"'"


@cache
def _language(package: str) -> Language:
    return Language(importlib.import_module(package).language())


def _read(package: str, text: str) -> Iterator[Key]:
    """Yield the keys in the order of the text; none where it cannot be parsed in time."""
    code = SourceCode(text)
    try:
        tree = parse_tree(_language(package), code, ascii_only=not text.isascii())
    except SyntaxTimeoutError:
        return
    yield from _below(tree.root_node, (), code)


yaml_keys = partial(_read, "tree_sitter_yaml")
toml_keys = partial(_read, "tree_sitter_toml")
json_keys = partial(_read, "tree_sitter_json")


def _below(root: Node, outer: tuple[str, ...], code: SourceCode) -> Iterator[Key]:
    """Yield the keys below a node. The tree is as deep as the text is nested, so there is no recursion."""
    pending = [(child, outer) for child in reversed(root.named_children)]
    while pending:
        node, path = pending.pop()
        if node.type in _PAIRS or node.type in _TABLES:
            children = node.named_children
            if children and (parts := _parts(children[0], code)):
                inner = (*path, *parts)
                yield Key(inner, children[0].start_point.row)
                pending += [(value, inner) for value in reversed(children[1:])]
        elif node.type in _AROUND:
            pending += [(child, path) for child in reversed(node.named_children)]


def _parts(name: Node, code: SourceCode) -> tuple[str, ...]:
    """Return the names in a key: several of TOML's `a.b`, one of any other."""
    if name.type == "dotted_key":
        return tuple(part for child in name.named_children for part in _parts(child, code))
    text = code.node_text(name).strip().strip(_QUOTES)
    return () if text in _NO_NAMES or "\n" in text else (text,)
