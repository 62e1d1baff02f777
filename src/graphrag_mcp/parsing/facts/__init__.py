"""Reads the facts of a file from its syntax tree: one query and one table of expressions for each language."""

from collections.abc import Sequence

from graphrag_mcp.languages.grammars import Grammar, Matches
from graphrag_mcp.languages.registry import load_part
from graphrag_mcp.languages.shapes import Shapes
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.facts import FileFacts
from graphrag_mcp.parsing.facts.reader import FactReader
from graphrag_mcp.parsing.outline import Definition


def read_facts(
    matches: Matches, grammar: Grammar, path: str, code: SourceCode, definitions: Sequence[Definition]
) -> FileFacts | None:
    """Return the facts of a file; None where the language has none."""
    language = grammar.language
    if not language.has_facts:
        return None
    shapes: Shapes = load_part(language.name, "shapes").SHAPES
    return FactReader(code, shapes, definitions).read(matches, path, language.name)
