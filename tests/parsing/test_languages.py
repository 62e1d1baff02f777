"""Languages: which one a file is written in, and that its grammar loads."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.policy import Policy, policy_of
from graphrag_mcp.languages.registry import (
    FACT_LANGUAGES,
    FOLDERS,
    LANGUAGES,
    detect_language,
    is_cpp_header,
    known_languages,
    load_part,
)
from graphrag_mcp.languages.shapes import Shapes

PACKAGE = Path(__file__).parents[2] / "src" / "graphrag_mcp"


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


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_query_fits_the_installed_grammar(language: str) -> None:
    """A query that names an unknown node raises; none does."""
    grammar = load_grammar(language)
    assert grammar is not None
    assert grammar.query is not None


def test_a_language_without_a_grammar_has_none() -> None:
    """What is not installed is no error."""
    assert load_grammar("klingon") is None


@pytest.mark.parametrize("language", sorted(FACT_LANGUAGES))
def test_a_language_with_facts_has_shapes_a_policy_and_a_runner_of_tests(language: str) -> None:
    """Facts are read, stored and resolved for the same languages."""
    assert isinstance(load_part(language, "shapes").SHAPES, Shapes)
    assert isinstance(policy_of(language), Policy)
    assert callable(load_part(language, "testing").command)


def test_a_folder_is_a_language_and_the_other_way_round() -> None:
    """No folder is forgotten in the registry."""
    folders = {path.parent.name for path in (PACKAGE / "languages").glob("*/__init__.py")}
    assert folders == set(FOLDERS)


def _named(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are names of languages, or lists of them; texts for people are neither."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = (known_languages() | {"golang", "c++", "c#"}) - {"d", "r"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.split()
            if words and names.issuperset(words):
                yield f"{path.name} {node.value}"


def test_only_the_folders_of_languages_name_languages() -> None:
    """A language lives in one place: what is particular to it is asked of its description, shapes or policy."""
    modules = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "languages"]
    found = [named for path in modules for named in _named(path)]
    # The program's own Python, and a shell that completes commands.
    assert [named for named in found if named not in ("doctor.py python", "options.py bash")] == []
