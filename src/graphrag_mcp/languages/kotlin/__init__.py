"""Kotlin."""

from graphrag_mcp.languages.java import BUILTINS, LIBRARY
from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="kotlin",
        title="Kotlin",
        grammar="tree_sitter_kotlin",
        files=".kt .kts",
        imports=ImportStyle.DOTTED,
        interpreters="kotlin",
        repairs="KOTLIN",
        builtins=BUILTINS,
        constructors="constructor",
        packages="java kotlin",
        library=LIBRARY,
        hides_private=True,
        typed_members=True,
        unreplaced="private",
        platform="groovy java scala",
        test_types=True,
    ),
)
