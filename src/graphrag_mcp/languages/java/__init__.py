"""Java."""

from graphrag_mcp.languages.language import ImportStyle, Language

# What the languages of its platform share.
BUILTINS = """
    println print toString equals hashCode String Object Integer Long Boolean Override List Map Set listOf
    mapOf setOf Int Unit Any Double Float Short Byte Char Nothing Seq Option Some
"""
LIBRARY = "java javax jdk kotlin kotlinx scala"

LANGUAGES = (
    Language(
        name="java",
        title="Java",
        grammar="tree_sitter_java",
        files=".java",
        imports=ImportStyle.DOTTED,
        builtins=BUILTINS,
        library=LIBRARY,
        platform="groovy kotlin scala",
        has_facts=True,
        types_calls=True,
        public="public",
        loads_types=True,
        beside="clj cljc gradle groovy kt kts sc scala",
        test_types=True,
    ),
)
