"""Zig."""

from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="zig",
        title="Zig",
        grammar="tree_sitter_zig",
        files=".zig",
        imports=ImportStyle.PATH,
        inline_tests="test",
    ),
)
