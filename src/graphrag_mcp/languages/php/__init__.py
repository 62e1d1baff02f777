"""PHP."""

from graphrag_mcp.languages.language import ImportStyle, Language

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
        super="parent",
        bare_members=False,
        public="public",
        test_types=True,
    ),
)
