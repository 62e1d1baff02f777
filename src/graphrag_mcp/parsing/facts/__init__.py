"""Reads the facts of a file from its syntax tree: one query and one table of expressions for each language."""

from collections.abc import Mapping, Sequence

from graphrag_mcp.model.facts import FileFacts
from graphrag_mcp.parsing.code.syntax import SourceCode
from graphrag_mcp.parsing.facts import ecma, go, java, python
from graphrag_mcp.parsing.facts.expressions import Shapes
from graphrag_mcp.parsing.facts.reader import FactReader
from graphrag_mcp.parsing.languages import Grammar, Matches
from graphrag_mcp.parsing.outline import Definition

SHAPES: Mapping[str, Shapes] = {
    "go": go.SHAPES,
    "python": python.SHAPES,
    "java": java.SHAPES,
    **dict.fromkeys(("javascript", "typescript", "tsx"), ecma.SHAPES),
}


def read_facts(
    matches: Matches, grammar: Grammar, path: str, code: SourceCode, definitions: Sequence[Definition]
) -> FileFacts | None:
    """Return the facts of a file; None where the language has none."""
    language = grammar.row.name
    shapes = SHAPES.get(language)
    return FactReader(code, shapes, definitions).read(matches, path, language) if shapes else None
