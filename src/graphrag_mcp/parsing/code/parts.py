"""Parses a part of a file by itself: the lines of a definition."""

from collections.abc import Iterator

from tree_sitter import Node, QueryError, Tree

from graphrag_mcp.parsing.code.syntax import SourceCode, SyntaxTimeoutError, parse_tree
from graphrag_mcp.parsing.languages import load_grammar
from graphrag_mcp.parsing.parser import SYNTAX_LIMIT_BYTES


def parse_part(text: str, language: str) -> Tree | None:
    """Return the tree of a part of a file; None for a language without a grammar, or if it takes too long."""
    try:
        grammar = load_grammar(language)
        code = SourceCode(text)
        if grammar is None or len(code.data) > SYNTAX_LIMIT_BYTES:
            return None
        return parse_tree(grammar.language, code, ascii_only=grammar.row.ascii_only, unended=grammar.row.unended)
    except (SyntaxTimeoutError, QueryError):
        return None


def documentation_rows(text: str, language: str) -> frozenset[int]:
    """Return the rows, from 0, of the comments before the code of a definition, and of its docstring."""
    tree = parse_part(text, language)
    rows: set[int] = set()
    for node in _documentation(tree.root_node) if tree else ():
        rows.update(range(node.start_point.row, node.end_point.row + (node.end_point.column > 0)))
    return frozenset(rows)


def _documentation(root: Node) -> Iterator[Node]:
    pending = [root]
    is_code = False  # Whether code came before.
    while pending:
        node = pending.pop()
        if "comment" in node.type:
            if not is_code:
                yield node
        elif node.type == "expression_statement" and [one.type for one in node.named_children] == ["string"]:
            yield node
        elif node.child_count:
            pending += reversed(node.children)
        else:
            is_code = True
