"""C#."""

from graphrag_mcp.languages.language import Language

LANGUAGES = (
    Language(
        name="csharp",
        title="C#",
        grammar="tree_sitter_c_sharp",
        files=".cs .csx",
        builtins="nameof ToString Equals GetHashCode Task String Object Exception Func Action Type",
        super="base",
        public="public",
        test_types=True,
    ),
)
