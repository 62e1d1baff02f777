"""C and C++."""

from msgspec.structs import replace

from graphrag_mcp.languages.language import Arguments, ImportStyle, Language

_C = Language(
    name="c",
    title="C",
    grammar="tree_sitter_c",
    files=".c .h",
    imports=ImportStyle.INCLUDE,
    queries="c",
    repairs="MACROS",
    builtins="""
        sizeof assert malloc calloc realloc free memset memcpy memmove memcmp strlen strcmp strncmp strcpy
        strdup printf fprintf snprintf sprintf puts abort exit static_cast dynamic_cast reinterpret_cast
        const_cast move forward defined push_back begin end size empty
    """,
    bare_members=False,
    headers=True,
    family="cpp",
    imports_names=False,
    arguments=Arguments(
        calls="call_expression",
        parameters="parameter_declaration",
        uncounted="comment",
        has_macros=True,
        is_open=True,
    ),
    platform="cpp objc swift",
    test_runs=r"(?i)run_?(?:all_?|unit_?)?tests?",
)
_CPP = replace(
    _C,
    name="cpp",
    title="C++",
    grammar="tree_sitter_cpp",
    files=".cc .cpp .cxx .c++ .cppm .ixx .hh .hpp .hxx .h++ .inl .ipp .tpp .cu .cuh .ino",
    queries="cpp c",
    bare_members=True,
    unreplaced="static",
    overloads=True,
    arguments=Arguments(
        calls="call_expression new_expression",
        parameters="parameter_declaration",
        optional="optional_parameter_declaration",
        uncounted="comment",
        spread="parameter_pack_expansion",
        has_macros=True,
    ),
    platform="c objc swift",
    test_types=True,
)
LANGUAGES = (_C, _CPP)
