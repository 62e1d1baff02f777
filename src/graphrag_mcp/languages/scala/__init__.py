"""Scala."""

from graphrag_mcp.languages.java import BUILTINS, LIBRARY
from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="scala",
        title="Scala",
        grammar="tree_sitter_scala",
        files=".scala .sc .sbt",
        imports=ImportStyle.DOTTED,
        interpreters="scala",
        builtins=BUILTINS,
        packages="java scala",
        library=LIBRARY,
        overloads=True,
        platform="groovy java kotlin",
        test_types=True,
    ),
)
