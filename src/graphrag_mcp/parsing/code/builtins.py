"""The builtin names of each language: every file uses them, so they do not discriminate between chunks."""

from graphrag_mcp.parsing.code import python_names

_JAVASCRIPT = """
    require describe it test expect beforeEach afterEach beforeAll afterAll setTimeout clearTimeout parseInt String
    Number Boolean Array Object Error TypeError Promise Symbol Map Set Date RegExp push map filter forEach slice join
"""
_C = """
    sizeof assert malloc calloc realloc free memset memcpy memmove memcmp strlen strcmp strncmp strcpy strdup printf
    fprintf snprintf sprintf puts abort exit static_cast dynamic_cast reinterpret_cast const_cast move forward defined
    push_back begin end size empty
"""
_JVM = """
    println print toString equals hashCode String Object Integer Long Boolean Override List Map Set listOf mapOf setOf
    Int Unit Any Double Float Short Byte Char Nothing Seq Option Some
"""
_NAMES = {
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": """
        append cap clear close complex copy delete imag len make max min new panic print println real recover string
        byte int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 bool error any rune uintptr
    """,
    "rust": """
        Some None Ok Err Box Vec String Arc Rc Option Result unwrap expect clone into iter map collect
        to_string to_owned println print eprintln format vec panic assert assert_eq assert_ne write writeln matches todo
        unreachable
    """,
    "java": _JVM,
    "kotlin": _JVM,
    "scala": _JVM,
    "c": _C,
    "cpp": _C,
    "csharp": "nameof ToString Equals GetHashCode Task String Object Exception Func Action Type",
    "ruby": """
        puts print require require_relative raise new attr_accessor attr_reader attr_writer include extend private
        protected public each map freeze nil? to_s lambda proc loop
    """,
    "php": """
        isset empty count sprintf array_merge is_array is_string in_array array_keys array_map implode explode strlen
        str_replace
    """,
    "swift": "print String Int Bool Double Any Void Array Dictionary Set Data Error",
    "bash": """
        echo printf cd test set unset export local declare readonly return exit shift eval exec trap read source cat
        grep sed awk rm mkdir cp mv ls true false let type command builtin wait kill
    """,
    "lua": "print require pairs ipairs type tostring tonumber error assert pcall select unpack next",
    "elixir": """
        moduledoc doc typedoc spec type behaviour impl callback defexception
        def defp defmodule defmacro defmacrop defstruct defprotocol defimpl defdelegate defguard alias import require
        use if unless case cond for with raise quote unquote is_nil is_list is_map is_binary is_atom to_string send
    """,
    "haskell": "return pure show fmap map foldr maybe either fst snd id const not error fromIntegral",
}
_BUILTINS = {language: frozenset(names.split()) for language, names in _NAMES.items()}
_BUILTINS["python"] = python_names.BUILTINS
_NONE: frozenset[str] = frozenset()


def builtins_of(language: str) -> frozenset[str]:
    """Return the functions, macros and types of a language that need no import."""
    return _BUILTINS.get(language, _NONE)
