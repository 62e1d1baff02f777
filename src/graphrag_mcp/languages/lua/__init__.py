"""Lua."""

from graphrag_mcp.languages.language import ImportStyle, Language

LANGUAGES = (
    Language(
        name="lua",
        title="Lua",
        grammar="tree_sitter_lua",
        files=".lua .rockspec",
        imports=ImportStyle.OPENED,
        interpreters="lua luajit",
        builtins="print require pairs ipairs type tostring tonumber error assert pcall select unpack next",
        bare_members=False,
    ),
)
