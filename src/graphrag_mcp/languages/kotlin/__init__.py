"""Kotlin."""

from graphrag_mcp.languages.java import BUILTINS, LIBRARY
from graphrag_mcp.languages.language import Arguments, ImportStyle, Language

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
        overloads=True,
        says_overrides=True,
        arguments=Arguments(
            calls="call_expression",
            parameters="parameter",
            uncounted="block_comment line_comment parameter_modifiers",
            lists="value_arguments function_value_parameters",
            behind="annotated_lambda",
            spread="spread_expression *",
        ),
        platform="groovy java scala",
        test_types=True,
    ),
)
