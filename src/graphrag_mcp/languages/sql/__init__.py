"""SQL, in the dialects of the usual databases."""

from graphrag_mcp.languages.language import Language

LANGUAGES = (
    Language(
        name="sql",
        title="SQL",
        grammar="tree_sitter_sql",
        repairs="POSTGRES",
        files=".sql .ddl .psql",
        builtins="""
            abs avg cast ceil coalesce concat count current_date current_timestamp date_trunc extract floor format
            greatest ifnull isnull json_agg jsonb_build_object lag lead least length lower ltrim max min now nullif
            nvl rank replace round row_number rtrim string_agg substr substring sum to_char to_date trim upper
        """,
        bare_members=False,
        imports_names=False,
    ),
)
