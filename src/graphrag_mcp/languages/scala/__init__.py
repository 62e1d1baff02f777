"""Scala."""

from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="scala",
        title="Scala",
        grammar="tree_sitter_scala",
        files=".scala .sc .sbt",
        imports=ImportStyle.DOTTED,
        interpreters="scala",
        builtins="""
        println print toString equals hashCode String Object Integer Long Boolean Override List Map Set listOf
        mapOf setOf Int Unit Any Double Float Short Byte Char Nothing Seq Option Some
    """,
        packages="java scala",
        library="java javax jdk kotlin kotlinx scala",
        platform="groovy java kotlin",
        test_types=True,
    ),
)
