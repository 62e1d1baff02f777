"""Swift."""

from graphrag_mcp.languages.language import Language

LANGUAGES = (
    Language(
        name="swift",
        title="Swift",
        grammar="tree_sitter_swift",
        files=".swift",
        interpreters="swift",
        packages="*",
        builtins="print String Int Bool Double Any Void Array Dictionary Set Data Error",
        constructors="init",
        imports_names=False,
        hides_private=True,
        typed_members=True,
        unreplaced="fileprivate private",
        overloads=True,
        says_overrides=True,
        platform="c cpp objc",
        public="public",
        test_types=True,
    ),
)
