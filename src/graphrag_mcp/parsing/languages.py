"""Detects the language of a file, and loads a language's grammar on first use.

To add a language: one row in `_TABLE` (its grammar's wheel in pyproject.toml) and one `queries/<name>.scm`.
"""

import importlib
from bisect import bisect_left
from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import NamedTuple

from tree_sitter import Language, Node, Query, QueryCursor, QueryError, Tree

from graphrag_mcp.parsing.code import macros, repairs
from graphrag_mcp.parsing.code.repairs import Repair

Captures = dict[str, list[Node]]
Match = tuple[int, Captures]


class ImportStyle(StrEnum):
    """How a language's import statements name modules; `imports.py` turns each into a path."""

    PYTHON = "python"  # a.b.c, ..a
    PATH = "path"  # ./a/b.js, @scope/package
    INCLUDE = "include"  # a/b.h, found beside the file or on a search path
    GO = "go"  # host/owner/repository/a/b
    RUST = "rust"  # crate::a::b, super::c
    DOTTED = "dotted"  # a.b.C, a\\b\\C: the last segment is the bound name
    MODULE = "module"  # A.B.C is itself the module
    SNAKE = "snake"  # A.BarBaz is the module in a/bar_baz
    NAMESPACE = "namespace"  # Vendor\\A\\C, where the first segment is not a directory


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """The properties of a language, except its query.

    files: extensions (".py") and whole file names. interpreters: names after `#!`. queries: the files of `queries/`
    of its query, if there are others than <name>.scm; an earlier pattern wins. clauses: whether several
    definitions in a row with one name are one function. ascii_only: whether other characters are replaced
    before parsing, because the grammar's scanner reads beyond the end of C's table of characters and may crash.
    repairs: of what the grammar cannot read (`parse_tree`).
    """

    name: str
    package: str
    files: str
    imports: ImportStyle
    interpreters: str = ""
    factory: str = "language"
    queries: str = ""
    clauses: bool = False
    ascii_only: bool = False
    repairs: tuple[Repair, ...] = ()


class Matches(NamedTuple):
    """A syntax tree with what is found in it: for the outline, and for the facts."""

    tree: Tree
    outline: list[Match]
    facts: list[Match]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A loaded language. query: None where this package has none. facts: its first pattern that is of the facts."""

    row: LanguageRow
    language: Language
    query: Query | None
    facts: int = 0

    def find(self, tree: Tree) -> Matches:
        """Return all matches of the query, from one walk over the tree."""
        found = QueryCursor(self.query).matches(tree.root_node) if self.query else []
        outline = [match for match in found if match[0] < self.facts]
        return Matches(tree, outline, [match for match in found if match[0] >= self.facts])


def detect_language(path: str, first_line: str = "") -> str:
    """Return the name of the file's language, "" when it is unknown; `.h` is C unless `is_cpp_header` is true."""
    name = path.rpartition("/")[2]
    if found := _BY_FILE.get(name):
        return found
    stem, dot, extension = name.rpartition(".")
    if dot and stem and (found := _BY_FILE.get("." + extension.lower())):
        return found
    return _language_of_shebang(first_line) if first_line.startswith("#!") else ""


def is_cpp_header(text: str) -> bool:
    """Return whether a `.h` file contains syntax that only C++ has."""
    return any(mark in f"\n{text}" for mark in _CPP_MARKS)


@cache
def load_grammar(name: str) -> Grammar | None:
    """Return the grammar of a language, or None where neither its own wheel nor the language pack is installed.

    Raises tree_sitter.QueryError when the query names a node that the installed grammar does not have.
    """
    row = _ROWS.get(name)
    if row is None:
        return _load_from_pack(name)
    try:
        module = importlib.import_module(row.package)
    except ImportError:
        return None
    language = Language(getattr(module, row.factory)())
    try:
        outline, facts = _query_text(row, ".scm"), _query_text(row, ".facts.scm")
        query = Query(language, outline + facts)
    except QueryError as error:
        raise QueryError(f"{name}: {error}; the installed {row.package} does not fit its query") from error
    starts = map(query.start_byte_for_pattern, range(query.pattern_count))
    return Grammar(row, language, query, bisect_left([*starts], len(outline.encode())))


def _query_text(row: LanguageRow, suffix: str) -> str:
    folder = resources.files(__package__).joinpath("code", "queries")
    files = [folder.joinpath(part + suffix) for part in (row.queries or row.name).split()]
    return "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def syntax_languages() -> list[str]:
    """Return the languages with a query in this package."""
    return list(_ROWS)


def known_languages() -> Set[str]:
    """Return every language that can be detected, with or without a grammar."""
    return _ROWS.keys() | _PACK_FILES.keys()


def _load_from_pack(name: str) -> Grammar | None:
    """Return a grammar of the optional tree-sitter-language-pack: files are cut by syntax but have no symbols."""
    if name not in _PACK_FILES:
        return None
    try:
        pack = importlib.import_module("tree_sitter_language_pack")
        language = pack.get_language(name)
    except (ImportError, LookupError):
        return None
    # Their scanners were not reviewed, and the cuts are the same without other characters.
    row = LanguageRow(name, "tree_sitter_language_pack", files="", imports=ImportStyle.MODULE, ascii_only=True)
    return Grammar(row, language, None)


def _language_of_shebang(first_line: str) -> str:
    """Return the language of `#!/usr/bin/env -S python3 -u` and its like."""
    for word in first_line[2:].split():
        program = word.rpartition("/")[2]
        if program != "env" and not program.startswith("-") and "=" not in program:
            return _BY_INTERPRETER.get(program.rstrip("0123456789."), "")
    return ""


_CPP_MARKS = (
    *("\nclass ", "\nnamespace ", "\ntemplate ", "\ntemplate<", "\npublic:", "\nprivate:", "\nusing namespace "),
    *("\nenum class ", "\n public:", "\n  public:", "\n    public:", "std::"),
)

_TABLE = (
    LanguageRow(
        "python", "tree_sitter_python", ".py .pyi .pyw .pyx wscript SConstruct SConscript",
        ImportStyle.PYTHON, "python pypy"),
    LanguageRow(
        "javascript", "tree_sitter_javascript", ".js .mjs .cjs .jsx", ImportStyle.PATH, "node",
        queries="javascript ecmascript", repairs=repairs.JAVASCRIPT),
    LanguageRow(
        "typescript", "tree_sitter_typescript", ".ts .mts .cts", ImportStyle.PATH, "deno ts-node tsx bun",
        factory="language_typescript", queries="typescript ecmascript", repairs=repairs.TYPESCRIPT),
    LanguageRow(
        "tsx", "tree_sitter_typescript", ".tsx", ImportStyle.PATH, factory="language_tsx",
        queries="typescript tsx ecmascript", repairs=repairs.TYPESCRIPT),
    LanguageRow("go", "tree_sitter_go", ".go", ImportStyle.GO),
    LanguageRow("rust", "tree_sitter_rust", ".rs", ImportStyle.RUST),
    LanguageRow("java", "tree_sitter_java", ".java", ImportStyle.DOTTED),
    LanguageRow("c", "tree_sitter_c", ".c .h", ImportStyle.INCLUDE, repairs=macros.C_FAMILY),
    LanguageRow(
        "cpp", "tree_sitter_cpp", ".cc .cpp .cxx .c++ .cppm .ixx .hh .hpp .hxx .h++ .inl .ipp .tpp .cu .cuh .ino",
        ImportStyle.INCLUDE, queries="cpp c", repairs=macros.C_FAMILY),
    LanguageRow("csharp", "tree_sitter_c_sharp", ".cs .csx", ImportStyle.MODULE),
    LanguageRow(
        "ruby", "tree_sitter_ruby", ".rb .rake .ru .gemspec Rakefile Gemfile Vagrantfile Podfile Fastfile Brewfile",
        ImportStyle.PATH, "ruby jruby"),
    LanguageRow(
        "php", "tree_sitter_php", ".php .phtml .php5", ImportStyle.NAMESPACE, "php", factory="language_php"),
    LanguageRow("kotlin", "tree_sitter_kotlin", ".kt .kts", ImportStyle.DOTTED, "kotlin"),
    LanguageRow("swift", "tree_sitter_swift", ".swift", ImportStyle.MODULE, "swift"),
    LanguageRow("scala", "tree_sitter_scala", ".scala .sc .sbt", ImportStyle.DOTTED, "scala"),
    LanguageRow(
        "bash", "tree_sitter_bash", ".sh .bash .zsh .ksh .bats .bashrc .zshrc .bash_profile .profile PKGBUILD",
        ImportStyle.PATH, "sh bash zsh ksh dash ash bats", ascii_only=True),  # tree-sitter-bash, issue 337
    LanguageRow("lua", "tree_sitter_lua", ".lua .rockspec", ImportStyle.MODULE, "lua luajit"),
    LanguageRow(
        "elixir", "tree_sitter_elixir", ".ex .exs", ImportStyle.SNAKE, "elixir", clauses=True),
    LanguageRow(
        "haskell", "tree_sitter_haskell", ".hs", ImportStyle.MODULE, "runhaskell runghc", clauses=True),
    LanguageRow("zig", "tree_sitter_zig", ".zig", ImportStyle.PATH),
)  # fmt: skip

# Other languages, by their names in tree-sitter-language-pack.
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
    "sql": ".sql",
    "starlark": ".bzl .star BUILD WORKSPACE",
    "svelte": ".svelte",
    "tcl": ".tcl",
    "verilog": ".v .sv",
    "vhdl": ".vhd .vhdl",
    "vim": ".vim",
    "vue": ".vue",
    "wgsl": ".wgsl",
}

_ROWS = {row.name: row for row in _TABLE}
_BY_FILE = {file: name for name, files in _PACK_FILES.items() for file in files.split()} | {
    file: row.name for row in _TABLE for file in row.files.split()
}
_BY_INTERPRETER = {program: row.name for row in _TABLE for program in row.interpreters.split()}
