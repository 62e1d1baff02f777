"""Lists the languages, and detects that of a file. To add one: its folder, and its name here."""

from collections.abc import Set
from functools import cache
from importlib import import_module
from types import ModuleType

from graphrag_mcp.languages.language import Language
from graphrag_mcp.model.files import VARIABLE, SymbolKind

FOLDERS = """
    python ecmascript go rust java c csharp ruby php kotlin swift scala bash lua elixir haskell zig sql
""".split()  # noqa: SIM905 - eighteen quotes read worse.

# Other languages, by their names in tree-sitter-language-pack: their files are cut by syntax where it is installed.
_PACK_FILES = {
    "ada": ".adb .ads",
    "clojure": ".clj .cljs .cljc",
    "cmake": ".cmake CMakeLists.txt",
    "commonlisp": ".lisp .cl",
    "d": ".d",
    "dart": ".dart",
    "elm": ".elm",
    "erlang": ".erl .hrl",
    "fortran": ".f90 .f95 .f03",
    "gleam": ".gleam",
    "glsl": ".glsl .vert .frag",
    "groovy": ".groovy .gradle Jenkinsfile",
    "hcl": ".tf .hcl",
    "julia": ".jl",
    "nim": ".nim",
    "nix": ".nix",
    "objc": ".m .mm",
    "ocaml": ".ml",
    "ocaml_interface": ".mli",
    "pascal": ".pas",
    "perl": ".pl .pm",
    "powershell": ".ps1 .psm1",
    "proto": ".proto",
    "purescript": ".purs",
    "r": ".r",
    "racket": ".rkt",
    "scheme": ".scm .ss",
    "solidity": ".sol",
    "starlark": ".bzl .star BUILD WORKSPACE",
    "svelte": ".svelte",
    "tcl": ".tcl",
    "verilog": ".v .sv",
    "vhdl": ".vhd .vhdl",
    "vim": ".vim",
    "vue": ".vue",
    "wgsl": ".wgsl",
}

_LISTED: list[tuple[str, Language]] = [
    (folder, language) for folder in FOLDERS for language in import_module(f"{__package__}.{folder}").LANGUAGES
]
LANGUAGES = {language.name: language for _, language in _LISTED}
_FOLDERS = {language.name: f"{__package__}.{folder}" for folder, language in _LISTED}
FACT_LANGUAGES = frozenset(name for name, language in LANGUAGES.items() if language.has_facts)
_OTHER = Language(name="", title="", grammar="", files="")

_BY_FILE = {file: name for name, files in _PACK_FILES.items() for file in files.split()} | {
    file: name for name, language in LANGUAGES.items() for file in language.files.split()
}
_WITH_INLINE_TESTS = tuple(
    file for language in LANGUAGES.values() if language.inline_tests for file in language.files.split()
)
_BY_INTERPRETER = {program: name for name, language in LANGUAGES.items() for program in language.interpreters.split()}
CODE_EXTENSIONS = frozenset(
    file[1:] for language in LANGUAGES.values() for file in language.files.split() if file[0] == "."
)

# Syntax that only C++ has.
_CPP_MARKS = (
    *("\nclass ", "\nnamespace ", "\ntemplate ", "\ntemplate<", "\npublic:", "\nprivate:", "\nusing namespace "),
    *("\nenum class ", "\n public:", "\n  public:", "\n    public:", "std::"),
)


def describe(name: str) -> Language:
    """Return what describes a language; for one without a folder, what holds for most."""
    return LANGUAGES.get(name, _OTHER)


@cache
def load_part(name: str, part: str) -> ModuleType:
    """Return a module of a language's folder: its policy, for example."""
    return import_module(f"{_FOLDERS[name]}.{part}")


def folder_of(name: str) -> str:
    """Return the folder of a language, as a package."""
    return _FOLDERS[name]


def counts_parameters(name: str) -> bool:
    """Return whether a definition of a language without facts says how many arguments it takes at least."""
    arguments = describe(name).arguments
    return arguments is not None and bool(arguments.parameters)


@cache
def builtins_of(name: str) -> frozenset[str]:
    """Return the functions, macros and types of a language that need no import."""
    return frozenset(describe(name).builtins.split())


@cache
def library_of(name: str) -> frozenset[str]:
    """Return the first path segments of a language's standard library."""
    return frozenset(describe(name).library.split())


@cache
def family_of(name: str) -> frozenset[str]:
    """Return the languages that share their facts with a language."""
    family = describe(name).family
    return frozenset(other for other, language in LANGUAGES.items() if family and language.family == family) | {name}


@cache
def platform_of(name: str) -> frozenset[str]:
    """Return the languages whose definitions code of a language may mean by their names."""
    return frozenset(describe(name).platform.split()) | {name}


def is_unrecorded(path: str, kind: SymbolKind, name: str) -> bool:
    """Return whether nothing records where a value that a file defines is used."""
    language = describe(detect_language(path))
    is_called = kind is SymbolKind.FIELD and language.calls_fields and not name[:1].isupper()
    return kind in VARIABLE and not (language.has_facts or is_called)


def detect_language(path: str, first_line: str = "") -> str:
    """Return the name of the file's language, "" when it is unknown; `.h` is C unless `is_cpp_header` is true."""
    name = path.rpartition("/")[2]
    if language := _BY_FILE.get(name):
        return language
    stem, dot, extension = name.rpartition(".")
    if dot and stem and (language := _BY_FILE.get("." + extension.lower())):
        return language
    return _language_of_shebang(first_line) if first_line.startswith("#!") else ""


def language_of(path: str, text: str) -> str:
    """Return the name of the language of a file with this text."""
    language = detect_language(path, text.partition("\n")[0] if text.startswith("#!") else "")
    return "cpp" if language == "c" and path.endswith(".h") and is_cpp_header(text) else language


def is_inline_test(path: str, qualified_name: str) -> bool:
    """Return whether a definition is of tests that are in the file of what they test, by a module or by a title."""
    modules = describe(detect_language(path)).inline_tests.split()
    return bool(modules) and ('"' in qualified_name or not set(modules).isdisjoint(qualified_name.split(".")))


def has_inline_tests(path: str) -> bool:
    """Return whether a file may contain the tests of its own code."""
    return path.endswith(_WITH_INLINE_TESTS)


def is_cpp_header(text: str) -> bool:
    """Return whether a `.h` file contains syntax that only C++ has."""
    return any(mark in f"\n{text}" for mark in _CPP_MARKS)


def known_languages() -> Set[str]:
    """Return every language that can be detected, with or without a grammar."""
    return LANGUAGES.keys() | _PACK_FILES.keys()


def _language_of_shebang(first_line: str) -> str:
    """Return the language of `#!/usr/bin/env -S python3 -u` and its like."""
    for word in first_line[2:].split():
        program = word.rpartition("/")[2]
        if program != "env" and not program.startswith("-") and "=" not in program:
            return _BY_INTERPRETER.get(program.rstrip("0123456789."), "")
    return ""
