"""Chunks: the laws that hold for any text, and where the cuts fall in ordinary code."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.syntax import SourceCode, statement_rows
from graphrag_mcp.model.files import Chunk, ParsedFile, ParseMode
from graphrag_mcp.parsing.code.chunker import MAX_CHARS, cut_spans
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.parser import parse_file
from tests.parsing.code_samples import SAMPLES, parse_lines, parse_sample

_SLACK = 100  # A lone `}` or `impl X {` may come on top.


def _assert_laws(parsed: ParsedFile, text: str) -> None:
    lines = text.split("\n")
    covered: set[int] = set()
    last = 0
    for chunk in parsed.chunks:
        assert last < chunk.start_line <= chunk.end_line <= len(lines)
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert len(chunk.text) <= MAX_CHARS + _SLACK or chunk.start_line == chunk.end_line
        last = chunk.end_line
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    assert not [line for number, line in enumerate(lines, 1) if line.strip() and number not in covered]


@st.composite
def _mangled(draw: st.DrawFn, text: str) -> str:
    """A sample as an editor may leave it: cut off, with a piece gone, doubled, or moved to the front."""
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    return draw(
        st.sampled_from(
            [text[:end], text[start:], text[:start] + text[end:], text[:end] + text[start:], text * 3 + text[start:end]]
        )
    )


@pytest.mark.requirement("004-07", "004-11")
@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=12, derandomize=True, deadline=None)
@given(data=st.data())
def test_chunks_are_ordered_whole_lines_that_cover_the_file(name: str, data: st.DataObject) -> None:
    """For any text in any language, broken or not."""
    text = data.draw(_mangled(SAMPLES[name]))
    _assert_laws(parse_file(f"src/{name}", text.encode()), text)


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=4, derandomize=True, deadline=None)
@given(data=st.data())
def test_symbols_lie_in_the_file_and_members_in_their_type(name: str, data: st.DataObject) -> None:
    """Spans are exact, also in broken text."""
    text = data.draw(_mangled(SAMPLES[name]))
    parsed = parse_file(f"src/{name}", text.encode())
    for symbol in parsed.symbols:
        assert 1 <= symbol.start_line <= symbol.end_line <= text.count("\n") + 1
        assert symbol.qualified_name.endswith(symbol.name)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_symbol_is_named_by_the_chunk_it_begins_in(name: str) -> None:
    """The keyword index finds a definition by the names of its chunk."""
    parsed = parse_sample(name)
    for symbol in parsed.symbols:
        (chunk,) = [chunk for chunk in parsed.chunks if chunk.start_line <= symbol.start_line <= chunk.end_line]
        assert symbol.name in chunk.names


def _function(name: str, lines: int, indent: str = "") -> list[str]:
    body = [f"{indent}    total_{name} = compute(total_{name}, {number})" for number in range(lines)]
    return [f"{indent}def {name}():", *body, ""]


def _spans(chunks: Sequence[Chunk]) -> list[tuple[str, str, int, int]]:
    return [(chunk.kind, chunk.symbol, chunk.start_line, chunk.end_line) for chunk in chunks]


def test_a_function_is_one_chunk_with_the_comments_above_it() -> None:
    """What is too large to share a chunk stands alone, decorators and comments included."""
    code = ["# About one.", "@cached", *_function("one", 25), "# About two.", *_function("two", 25)]
    assert _spans(parse_lines("src/a.py", *code).chunks) == [("function", "one", 1, 28), ("function", "two", 30, 56)]


def test_small_neighbours_share_a_chunk() -> None:
    """The chunk is named after the longest, and says the names of all."""
    chunks = parse_lines("src/a.py", *_function("one", 2), *_function("two", 4), *_function("three", 1)).chunks
    assert [(chunk.symbol, chunk.names) for chunk in chunks] == [("two", ("one", "two", "three"))]


def test_a_small_class_is_one_chunk() -> None:
    """Its methods are shown together."""
    code = ["class A:", *_function("one", 3, "    "), *_function("two", 3, "    ")]
    assert _spans(parse_lines("src/a.py", *code).chunks) == [("type", "A", 1, 10)]


def test_a_large_class_is_cut_into_its_header_and_its_members() -> None:
    """Each member knows the class around it."""
    header = ["class A:", '    """Counts."""', *(f"    field_{number} = {number}" for number in range(40))]
    code = [*header, *_function("one", 20, "    "), *_function("two", 20, "    ")]
    chunks = parse_lines("src/a.py", *code).chunks
    assert [(chunk.kind, chunk.symbol, chunk.enclosing) for chunk in chunks] == [
        ("type", "A", ()),
        ("method", "A.one", ("A",)),
        ("method", "A.two", ("A",)),
    ]


def test_nothing_is_joined_across_the_boundary_of_a_class() -> None:
    """The last member of a large class stays apart from the function below it."""
    code = ["class A:", *_function("zero", 20, "    "), *_function("one", 20, "    "), *_function("two", 1, "    ")]
    code += _function("three", 1)
    chunks = parse_lines("src/a.py", *code).chunks
    assert [chunk.symbol for chunk in chunks] == ["A", "A.one", "A.two", "three"]


def test_a_large_function_is_cut_between_statements() -> None:
    """No part begins inside a statement that spans lines."""
    call = ["    result = compute(", *(f"        argument_{number}," for number in range(12)), "    )"]
    parsed = parse_lines("src/a.py", "def run():", *(call * 12))
    lines = "\n".join(["def run():", *(call * 12)]).split("\n")
    assert len(parsed.chunks) > 2
    assert {lines[chunk.start_line - 1] for chunk in parsed.chunks[1:]} == {"    result = compute("}
    assert {(chunk.kind, chunk.symbol) for chunk in parsed.chunks} == {("function", "run")}
    assert [chunk.names for chunk in parsed.chunks] == [("run",), *[()] * (len(parsed.chunks) - 1)]


def test_a_closing_brace_belongs_to_what_it_closes() -> None:
    """A rest of a few characters is no chunk."""
    methods = [
        f"  method{number}() {{\n" + f"    this.compute{number}(this.value);\n" * 35 + "  }\n" for number in range(2)
    ]
    parsed = parse_lines("src/a.js", "class A {", *methods, "}", "", "run();")
    assert all(len(chunk.text) > 5 for chunk in parsed.chunks)
    assert parsed.chunks[-2].text.endswith("\n}")


def test_a_chunk_carries_the_words_of_its_comments() -> None:
    """Comment marks are no words."""
    (chunk,) = parse_lines("src/a.c", "/* Adds", " * up. */", "int add(void) {", "  return 1; // really", "}").chunks
    assert chunk.comments == "Adds\nup.\nreally"


def test_a_script_without_definitions_is_cut_all_the_same() -> None:
    """Between statements, each part a block."""
    parsed = parse_lines("bin/run.sh", *[f"docker build --tag image-{number} ." for number in range(200)])
    assert parsed.mode is ParseMode.SYNTAX
    assert len(parsed.chunks) > 3
    assert {chunk.kind for chunk in parsed.chunks} == {"block"}


def test_a_grammar_without_a_query_still_gives_chunks_by_syntax() -> None:
    """The long tail of languages: no symbols, but no cut inside a statement either."""
    grammar = load_grammar("python")
    assert grammar is not None
    statement = ["total = compute(", *(f"    argument_{number}," for number in range(12)), ")"]
    lines = statement * 12
    code = SourceCode("\n".join(lines))
    tree = grammar.parse(code)
    without = replace(grammar, query=None)
    outline = read_outline(without.find(tree, code), without, "a.py", code)
    spans = cut_spans(lines, outline.definitions, lambda: statement_rows(tree, code, MAX_CHARS))
    assert not outline.definitions
    assert len(spans) > 1
    assert {lines[span.first] for span in spans} == {"total = compute("}


@pytest.mark.requirement("004-11")
def test_types_may_nest_without_end() -> None:
    """Nothing recurses over the tree."""
    depth = 400
    code = ["class A {" * depth, "int x = compute(1);\n" * 200, "}" * depth]
    parsed = parse_lines("src/A.java", *code)
    _assert_laws(parsed, "\n".join(code))
