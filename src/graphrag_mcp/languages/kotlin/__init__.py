"""Kotlin."""

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
        builtins="""
        println print toString equals hashCode String Object Integer Long Boolean Override List Map Set listOf
        mapOf setOf Int Unit Any Double Float Short Byte Char Nothing Seq Option Some
    """,
        constructors="constructor",
        packages="java kotlin",
        library="java javax jdk kotlin kotlinx scala",
        hides_private=True,
        typed_members=True,
        unreplaced="private",
        platform="groovy java scala",
        test_types=True,
    ),
)
