"""C#."""

from graphrag_mcp.languages.language import Arguments, ImportStyle, Language

LANGUAGES = (
    Language(
        name="csharp",
        title="C#",
        grammar="tree_sitter_c_sharp",
        files=".cs .csx",
        builtins="nameof ToString Equals GetHashCode Task String Object Exception Func Action Type",
        imports=ImportStyle.OPENED,
        super="base",
        implicit="Deconstruct Dispose DisposeAsync Equals GetEnumerator GetHashCode MoveNext ToString",
        arguments=Arguments(
            calls="invocation_expression object_creation_expression implicit_object_creation_expression",
            parameters="parameter",
            uncounted="comment",
        ),
        overloads=True,
        says_overrides=True,
        overrides_exactly=True,
        hides_private=True,
        attribute_ending="Attribute",
        typed_members=True,
        unreplaced="const new private static",
        public="public",
        test_types=True,
    ),
)
