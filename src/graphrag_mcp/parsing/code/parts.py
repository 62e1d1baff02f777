"""Parses a part of a file by itself: the lines of a definition."""

from collections.abc import Iterator
from itertools import dropwhile
from textwrap import dedent

from tree_sitter import Node, Tree

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.registry import describe
from graphrag_mcp.languages.syntax import SourceCode, SyntaxTimeoutError
from graphrag_mcp.parsing import SYNTAX_LIMIT_BYTES

_STARS = ("keyword_separator", "list_splat_pattern", "dictionary_splat_pattern")


def parse_part(text: str, language: str) -> Tree | None:
    """Return the tree of a part of a file; None for a language without a grammar, or if it takes too long."""
    try:
        grammar = load_grammar(language, with_query=False)
        code = SourceCode(text)
        if grammar is None or len(code.data) > SYNTAX_LIMIT_BYTES:
            return None
        return grammar.parse(code)
    except SyntaxTimeoutError:
        return None


def documentation_rows(text: str, language: str) -> frozenset[int]:
    """Return the rows, from 0, of the comments before the code of a definition, and of its docstring."""
    tree = parse_part(text, language)
    rows: set[int] = set()
    for node in _documentation(tree.root_node) if tree else ():
        rows.update(range(node.start_point.row, node.end_point.row + (node.end_point.column > 0)))
    return frozenset(rows)


def starred_parameters(text: str, language: str) -> frozenset[str]:
    """Return the parameters that only a name can give, since they are behind a star."""
    tree = parse_part(dedent(text), language) if describe(language).names_arguments else None
    pending = [tree.root_node] if tree else []
    while pending:
        node = pending.pop(0)
        if node.type == "parameters":
            return behind_star(node)
        pending += node.named_children
    return frozenset()


def behind_star(parameters: Node) -> frozenset[str]:
    """Return those of some parameters that only a name can give."""
    behind = dropwhile(lambda part: not _is_star(part), parameters.named_children)
    return frozenset(_name(part) for part in behind if not _is_star(part))


def _is_star(parameter: Node) -> bool:
    """Return whether a parameter is `*`, `*rest` or `*rest: int`."""
    return any(part.type in _STARS for part in (parameter, *parameter.named_children[:1]))


def _name(parameter: Node) -> str:
    while parameter.named_children:  # Its type and its default stand behind it.
        parameter = parameter.named_children[0]
    return (parameter.text or b"").decode()


def _documentation(root: Node) -> Iterator[Node]:
    pending = [root]
    is_code = False  # Whether code came before.
    while pending:
        node = pending.pop()
        if "comment" in node.type:
            if not is_code:
                yield node
        elif node.type == "expression_statement" and [part.type for part in node.named_children] == ["string"]:
            yield node
        elif node.child_count:
            pending += reversed(node.children)
        else:
            is_code = True
