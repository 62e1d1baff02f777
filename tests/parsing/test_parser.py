"""The entrance: any bytes under any name become a `ParsedFile`, and say why when not by their syntax."""

import subprocess
import sys
import time
import tracemalloc
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tree_sitter import Language

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.syntax import SourceCode, SyntaxTimeoutError, parse_tree
from graphrag_mcp.model.facts import unpack
from graphrag_mcp.model.files import Category, ParsedFile, ParseMode
from graphrag_mcp.parsing.parser import parse_file
from tests.waiting import HANG_SECONDS


def _python() -> Language:
    grammar = load_grammar("python")
    assert grammar is not None
    return grammar.tree_language


@pytest.mark.requirement("004-11")
@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    data=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))),
    path=st.sampled_from(["a.py", "src/b.ts", "c.hs", "d.swift", "e.md", "f", "g.json", "h.php", "i.scala", "x/y.rb"]),
)
def test_no_bytes_raise(data: bytes, path: str) -> None:
    """Whatever is given, a ParsedFile comes back."""
    assert parse_file(path, data).path == path


def test_characters_beyond_the_table_of_a_scanner_do_not_end_the_process() -> None:
    """The scanner of tree-sitter-bash looks any character up in C's table: most far ones are beyond mapped memory."""
    code = """
        from graphrag_mcp.parsing.parser import parse_file
        for point in range(0x10000, 0x110000, 0x400):
            parsed = parse_file("run.sh", f"größe() {{\\n  : {{{chr(point)}\\n}}\\n".encode())
            assert [symbol.name for symbol in parsed.symbols] == ["größe"], parsed
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.requirement("004-13")
def test_a_binary_file_has_no_chunks_and_says_so() -> None:
    """Binary files are skipped."""
    parsed = parse_file("src/a.py", b"\x7fELF\x00\x00\x01")
    assert parsed.chunks == ()
    assert "binary" in parsed.note


def test_utf_16_is_read() -> None:
    """A byte order mark says the encoding."""
    assert [symbol.name for symbol in parse_file("a.py", "def größe(): ...\n".encode("utf-16")).symbols] == ["größe"]


def test_line_numbers_are_those_of_an_editor() -> None:
    """Carriage returns end lines, alone or with a line feed."""
    parsed = parse_file("a.py", b"# one\r\n\r\ndef two(): ...\r\n")
    assert [(symbol.name, symbol.start_line) for symbol in parsed.symbols] == [("two", 3)]


def test_bytes_that_are_no_utf_8_are_replaced_and_said() -> None:
    """The note of the decoder is kept."""
    parsed = parse_file("src/a.py", b"# caf\xe9 is where we meet every day\ndef run(): ...\n")
    assert [symbol.name for symbol in parsed.symbols] == ["run"]
    assert "replaced" in parsed.note


@pytest.mark.parametrize("bracket", ["(", "[", "{", "f(", "if x:\n", "<", "template<"])
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.cpp", "a.rs"])
def test_ten_thousand_nested_brackets_are_parsed(path: str, bracket: str) -> None:
    """Bad input: nothing overflows, and it takes no time to speak of."""
    text = bracket * 10_000
    began = time.process_time()
    parsed = parse_file(path, "\n".join(text[at : at + 100] for at in range(0, len(text), 100)).encode())
    assert parsed.chunks
    assert time.process_time() - began < HANG_SECONDS


@pytest.mark.requirement("004-12", "K-24")
def test_a_file_over_one_megabyte_is_cut_by_lines() -> None:
    """Plain line chunks, no symbols, and a note."""
    parsed = parse_file("src/a.py", b"def run(): ...\n" * 70_000)
    assert (parsed.mode, parsed.language, parsed.symbols) == (ParseMode.TEXT, "python", ())
    assert parsed.note == "by lines: over 1 MB"
    assert parsed.chunks


@pytest.mark.requirement("K-24")
def test_a_long_run_of_brackets_is_cut_by_lines() -> None:
    """The query engine would take minutes for it."""
    parsed = parse_file("src/a.py", b"[\n" * 50_000)
    assert parsed.mode is ParseMode.TEXT
    assert "brackets" in parsed.note


@pytest.mark.requirement("004-12", "K-24")
def test_parsing_stops_at_the_limit_of_steps() -> None:
    """Which are counted, so that a busy machine stores what a quiet one does."""
    with pytest.raises(SyntaxTimeoutError, match="not parsed within 10 steps"):
        parse_tree(_python(), SourceCode("def run(): ...\n" * 20_000), steps=10)


def test_nothing_is_kept_of_what_was_parsed() -> None:
    """A server parses for weeks; tree-sitter 0.26 never lets go of what its read function returns."""
    code = SourceCode("def run(): ...\n" * 2_000)
    parse_tree(_python(), code)
    tracemalloc.start()
    try:
        for _ in range(10):
            parse_tree(_python(), code)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < len(code.data)


def test_a_minified_file_is_a_card() -> None:
    """One line of ten thousand characters has no chunks worth finding."""
    parsed = parse_file("web/app.js", b"function a(){return 1};" * 1000)
    assert (parsed.mode, len(parsed.chunks), parsed.language) == (ParseMode.CARD, 1, "javascript")
    assert parsed.note


def test_markdown_is_cut_by_heading() -> None:
    """Documents have a parser of their own."""
    parsed = parse_file("docs/a.md", b"# One\n\nText.\n")
    assert (parsed.mode, parsed.language) == (ParseMode.MARKDOWN, "markdown")


def test_text_without_a_grammar_is_cut_by_lines() -> None:
    """And that is no defect, so there is nothing to say."""
    parsed = parse_file("notes.txt", b"one\n\ntwo\n")
    assert (parsed.mode, parsed.note) == (ParseMode.TEXT, "")
    assert parsed.chunks


@pytest.mark.requirement("004-11")
def test_an_error_in_the_middle_costs_only_its_own_definition() -> None:
    """A file that someone is typing in keeps its other symbols."""
    parsed = parse_file("a.py", b"def one(): ...\n\ndef broken():\n    x = = 1 +\n\nclass Two:\n    three = 3\n")
    assert {"one", "Two"} <= {symbol.name for symbol in parsed.symbols}
    assert parsed.mode is ParseMode.SYNTAX


def test_an_empty_file_has_nothing() -> None:
    """No chunk, no symbol, no note; but it is a module."""
    parsed = parse_file("src/__init__.py", b"")
    assert parsed.code is not None
    assert replace(parsed, code=None) == ParsedFile(
        "src/__init__.py", "python", Category.IMPLEMENTATION, ParseMode.SYNTAX, ()
    )


def test_the_result_depends_on_the_bytes_alone() -> None:
    """Two processes that parse one file store the same rows."""
    data = b"import os\n\nclass A(os.B):\n    def c(self): return self.d(os.e())\n"
    assert parse_file("a.py", data) == parse_file("a.py", data)


@pytest.mark.parametrize(("path", "call"), [("a.js", ".f()\n"), ("a.rb", ".f()\n"), ("a.cs", ".F()\n")])
def test_a_chain_of_a_hundred_thousand_calls_is_cut_by_lines(path: str, call: str) -> None:
    """The time of a query grows with the square of the depth, so what is too deep is not searched."""
    parsed = parse_file(path, ("x\n" + call * 100_000 + ";").encode())
    assert parsed.mode is ParseMode.TEXT
    assert parsed.note in ("by lines: nested too deeply", "by lines: not parsed within 100,000 steps")


@pytest.mark.parametrize("statement", ["import {%s} from 'x'", "export {%s} from 'x'", "const {%s} = require('x')"])
def test_ten_thousand_names_of_one_module_are_read_in_time(statement: str) -> None:
    """Their source stands behind them, and nothing waits for it in each name."""
    names = ",\n".join(f"name{number}" for number in range(10_000))
    began = time.process_time()
    parsed = parse_file("a.js", (statement % names).encode())
    assert parsed.code is not None
    facts = unpack(parsed.code.data)
    assert len({one.name for one in (*facts.imports, *facts.exports, *facts.bound)} - {""}) == 10_000
    assert time.process_time() - began < HANG_SECONDS


@pytest.mark.parametrize("language", ["c", "go", "java"])
def test_comments_that_nothing_closes_are_not_read_to_the_end_again_and_again(language: str) -> None:
    """A step of the parser may read all that is left: 10,000 of them took 12 seconds."""
    grammar = load_grammar(language)
    assert grammar is not None
    line = "struct S x /* " * 7 + "\n"
    with pytest.raises(SyntaxTimeoutError, match=r"read too often|not parsed within"):
        grammar.parse(SourceCode(line * 4_000))
