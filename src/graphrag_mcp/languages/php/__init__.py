"""PHP."""

from graphrag_mcp.languages.language import Arguments, ImportStyle, Language

LANGUAGES = (
    Language(
        name="php",
        title="PHP",
        grammar="tree_sitter_php",
        files=".php .phtml .php5",
        imports=ImportStyle.NAMESPACE,
        manifests="composer.json",
        interpreters="php",
        factory="language_php",
        is_embedded=True,
        builtins="""
        isset empty count sprintf array_merge is_array is_string in_array array_keys array_map implode explode
        strlen str_replace
    """,
        constructors="__construct",
        unreplaced="private",
        arguments=Arguments(
            calls="""function_call_expression member_call_expression nullsafe_member_call_expression
                scoped_call_expression object_creation_expression""",
            parameters="simple_parameter property_promotion_parameter",
            uncounted="comment",
            spread="variadic_placeholder variadic_unpacking",
            takes_more=True,
        ),
        super="parent",
        bare_members=False,
        typed_members=True,
        public="public",
        test_types=True,
    ),
)
