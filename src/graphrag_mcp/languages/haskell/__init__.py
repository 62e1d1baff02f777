"""Haskell."""

from graphrag_mcp.languages.language import Language

LANGUAGES = (
    Language(
        name="haskell",
        title="Haskell",
        grammar="tree_sitter_haskell",
        files=".hs",
        interpreters="runhaskell runghc",
        builtins="return pure show fmap map foldr maybe either fst snd id const not error fromIntegral",
        clauses=True,
        test_types=True,
    ),
)
