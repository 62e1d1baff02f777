"""Tests that a title names are definitions of their own, and no name in code means one."""

from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.files import SymbolKind
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.settings import load_settings
from tests.tools.test_code_answers import ask

JAVASCRIPT = r"""
const { parse } = require('./parse');
describe('parse', () => {
  beforeEach(() => { prepare(); });
  it('can\'t "lose" it', async () => { parse(1); });
  it.only(`takes ${kind}`, function () { parse(2); });
  test.each([[1, 2]])('adds %i', (a, b) => { parse(a); });
  test('in time', { timeout: 5 }, () => { function helper() {} helper(); });
  it('in a zone', fakeAsync(() => { parse(4); }));
  it('parse', () => { parse(5); });
  it.todo('later');
});
tap.test('through a harness', (t) => { parse(6); });
words.test('this is no test');
"""
TITLES = ["can't lose it", "takes ${kind}", "adds %i", "in time", "in a zone", "parse", "through a harness"]
OTHERS = {
    "cart_test.cc": (
        (
            "TEST(Cart, Adds) { add(1); }\nTEST_F(Cart, Takes) {\n  take(1);\n}\n"
            'TEST_CASE("it sums", "[cart]") {\n  sum(1);\n}\nint TESTING(int a, int b) { return a; }\n'
        ),
        ['"Cart.Adds" 1-1', '"Cart.Takes" 2-4', '"it sums" 5-7', "TESTING 8-8"],
    ),
    "cart_spec.rb": (
        'describe Cart do\n  it "adds" do\n    cart.add 1\n  end\n  it "later"\nend\n',
        ['"adds" 2-4'],
    ),
    "cart_test.exs": (
        (
            'defmodule CartTest do\n  describe "add" do\n    test "adds", %{cart: cart} do\n      add(cart)\n'
            "    end\n  end\nend\n"
        ),
        ["CartTest 1-7", 'CartTest."adds" 3-5'],
    ),
    "cart_spec.lua": (
        'describe("cart", function()\n  it("adds", function()\n    cart.add(1)\n  end)\nend)\n',
        ['"adds" 2-4'],
    ),
    "CartTest.php": (
        "<?php\nit('adds', function () {\n    add(1);\n});\ntest(\"takes $kind\", fn () => take(1));\n",
        ['"adds" 2-4', '"takes $kind" 5-5'],
    ),
    "CartSpec.scala": (
        (
            'class CartSpec extends AnyFunSuite {\n  test("adds") { add(1) }\n  "a cart" should "sum" in {\n'
            "    sum(1)\n  }\n}\n"
        ),
        ["CartSpec 1-6", 'CartSpec."adds" 2-2', 'CartSpec."a cart should sum" 3-5'],
    ),
    "CartSpec.hs": ('spec = describe "cart" $ do\n  it "adds" $ add 1\n', ["spec 1-2", 'spec."adds" 2-2']),
    "src/cart.rs": (
        (
            "fn add() {}\n#[test]\nfn adds() {\n    add();\n}\n#[tokio::test]\n#[ignore]\nasync fn later() {}\n"
            "#[cfg(unix)]\n/// Comes last.\n#[tokio::test]\n#[ignore]\n#[should_panic]\n// Twice.\nfn last() {}\n"
            "mod tests {\n    #[test]\n    fn sums() {}\n}\n"
        ),
        ["add 1-1", '"adds" 2-5', '"later" 6-8', '"last" 9-15', "tests 16-19", "tests.sums 17-18"],
    ),
    "tests/cart.rs": ("#[test]\nfn adds() {}\n", ["adds 1-2"]),
    "cart.zig": (
        'test "adds" {\n    add(1);\n}\ntest add {\n    add(1);\n}\nfn add(a: u8) void {}\n',
        ['"adds" 1-3', '"add" 4-6', "add 7-7"],
    ),
}


@pytest.mark.parametrize("path", ["parse.test.js", "parse.test.ts", "parse.test.tsx"])
def test_the_titles_of_javascript(path: str) -> None:
    """Whatever runs them: with options, a table, a wrapper, or through a harness."""
    symbols = parse_file(path, JAVASCRIPT.encode()).symbols
    assert [symbol.name for symbol in symbols if '"' in symbol.name] == [f'"{title}"' for title in TITLES]


@pytest.mark.parametrize("path", OTHERS)
def test_the_titles_of_other_languages(path: str) -> None:
    """A title, or two names that make one; what only looks like a test is none."""
    text, expected = OTHERS[path]
    symbols = parse_file(path, text.encode()).symbols
    assert [f"{symbol.qualified_name} {symbol.start_line}-{symbol.end_line}" for symbol in symbols] == expected


def test_a_title_is_one_line_of_bounded_length() -> None:
    """A repository says what it likes in a title."""
    text = f"test(`a\n\n\"); b `, () => {{}});\ntest('{'x ' * 500}', () => {{}});\n"
    names = [symbol.name for symbol in parse_file("a.test.js", text.encode()).symbols]
    assert names[0] == '"a ); b"'
    assert len(names[1]) <= 102


def test_a_call_reaches_the_function_and_not_the_test_of_its_name(tmp_path: Path) -> None:
    """The test that calls is named by its title, and found by it, with and without the quotes."""
    (tmp_path / "parse.js").write_text("exports.parse = function (text) {\n  return text;\n};\n")
    (tmp_path / "parse.test.js").write_text(JAVASCRIPT)
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        text = ask(app, "trace_relations", symbol="parse", direction="tests")
        shown = [title for title in TITLES if f'  "{title}"' in text]
        assert shown == [title for title in TITLES if title != "in time"]
        for name in ("adds %i", '"adds %i"'):
            assert "started from outside of this repository" in ask(app, "trace_relations", symbol=name)
    kinds = {symbol.kind for symbol in parse_file("parse.test.js", JAVASCRIPT.encode()).symbols}
    assert kinds == {SymbolKind.FUNCTION}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/cart.rs", "fn add() {}\n\n#[test]\nfn adds() {\n    add();\n}\n"),
        ("src/cart.zig", 'fn add() void {}\n\ntest "adds" {\n    add();\n}\n'),
    ],
)
def test_a_test_beside_the_code_is_one(tmp_path: Path, path: str, text: str) -> None:
    """By its mark or its title, without a module around it."""
    (tmp_path / "src").mkdir()
    (tmp_path / path).write_text(text)
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as app:
        app.index()
        assert '"adds"' in ask(app, "trace_relations", symbol="add", direction="tests")
