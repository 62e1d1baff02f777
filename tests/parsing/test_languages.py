"""Languages: which one a file is written in, and that its grammar loads."""

import pytest

from graphrag_mcp.model.facts import FACT_LANGUAGES
from graphrag_mcp.parsing.facts import SHAPES
from graphrag_mcp.parsing.languages import detect_language, is_cpp_header, load_grammar, syntax_languages
from graphrag_mcp.resolution.languages import POLICIES


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("src/app.PY", "python"),
        ("web/index.mjs", "javascript"),
        ("web/page.tsx", "tsx"),
        ("web/page.mts", "typescript"),
        ("include/list.h", "c"),
        ("src/list.hpp", "cpp"),
        ("Rakefile", "ruby"),
        ("test/run.bats", "bash"),
        (".bashrc", "bash"),
        ("lib/bank.exs", "elixir"),
        ("CMakeLists.txt", "cmake"),
        ("README.md", ""),
        ("py", ""),
    ],
)
def test_a_path_says_the_language(path: str, language: str) -> None:
    """Extensions and well-known names decide."""
    assert detect_language(path) == language


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/env -S python3.12 -u", "python"),
        ("#!/usr/bin/env LANG=C ruby", "ruby"),
        ("#! /usr/local/bin/node --harmony", "javascript"),
        ("#!/opt/unknown", ""),
        ("#!", ""),
    ],
)
def test_a_shebang_says_the_language(first_line: str, language: str) -> None:
    """A script without an extension is code."""
    assert detect_language("bin/tool", first_line) == language


def test_a_header_is_c_unless_it_is_clearly_cpp() -> None:
    """Guards for C++ compilers do not make a header C++."""
    assert not is_cpp_header('#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n')
    assert is_cpp_header("#pragma once\nnamespace shop {\nint f();\n}\n")


@pytest.mark.parametrize("language", syntax_languages())
def test_every_query_fits_the_installed_grammar(language: str) -> None:
    """A query that names an unknown node raises; none does."""
    grammar = load_grammar(language)
    assert grammar is not None
    assert grammar.query is not None


def test_a_language_without_a_grammar_has_none() -> None:
    """What is not installed is no error."""
    assert load_grammar("klingon") is None


def test_a_language_with_facts_has_a_table_and_a_policy() -> None:
    """Facts are read, stored and resolved for the same languages."""
    assert set(FACT_LANGUAGES) == set(POLICIES) == set(SHAPES)
