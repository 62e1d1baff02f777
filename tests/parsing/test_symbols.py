"""Definitions: every language yields exactly its symbols, with their spans, signatures and docstrings."""

import pytest

from graphrag_mcp.model.files import ParseMode, SymbolKind
from graphrag_mcp.parsing.parser import parse_file
from tests.parsing.code_samples import EXPECTED, SAMPLES, outline_of, parse_lines, parse_sample


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_yields_exactly_its_symbols(name: str) -> None:
    """A grammar that renames a node would silently lose symbols; here it does not."""
    found = [
        f"{symbol.kind} {symbol.qualified_name} {symbol.start_line}-{symbol.end_line}"
        for symbol in parse_sample(name).symbols
    ]
    assert found == EXPECTED[name]["symbols"].strip().split("\n")


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_parsed_by_its_syntax(name: str) -> None:
    """Every language has a grammar and a query that fits it."""
    parsed = parse_sample(name)
    assert (parsed.mode, parsed.note) == (ParseMode.SYNTAX, "")


@pytest.mark.requirement("004-06")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_definition_knows_its_signature_and_what_its_comment_says(name: str) -> None:
    """The signature ends at the body, and the comment directly above or the docstring says what it is for."""
    found = {(one.qualified_name, one.signature, one.docstring) for one in outline_of(name).definitions}
    assert found.issuperset(map(tuple, EXPECTED[name]["described"]))


def test_a_doc_comment_may_stand_above_a_blank_line() -> None:
    """A comment that opens with `/**` describes what follows."""
    text = "/**\n * Sends it.\n */\n\nres.send = function (body) {\n};"
    definitions = outline_of("a.js", text).definitions
    assert [(one.qualified_name, one.docstring) for one in definitions] == [("res.send", "Sends it.")]


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_defined_without_a_name(name: str) -> None:
    """Where a name is deleted, a parser may put one of no letters in its place."""
    defined = {symbol.name for symbol in parse_sample(name).symbols}
    texts = [SAMPLES[name].replace(word, "") for word in sorted(defined)]
    assert all(symbol.name.strip() for text in texts for symbol in parse_file(name, text.encode()).symbols)


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.hpp", "namespace std {\ntypedef decltype(nullptr) nullptr_t;\n}", ["std"]),
        ("a.lua", "function () end\nfunction f() end", ["f"]),
        ("a.ini", "[]\na=1\nb..c=2", ["a", "c"]),
        ("a.json", '{" ": {"a": 1}, "b": 2}', ["a", "b"]),
        ("a.md", "# \n\nSome text.\n\n## Use\n\nMore text.", ["Use"]),
    ],
)
def test_a_blank_name_is_none(path: str, text: str, names: list[str]) -> None:
    """A search for the places of such a name would have no end."""
    assert [symbol.name for symbol in parse_file(path, text.encode()).symbols] == names


def test_an_operator_keeps_its_name() -> None:
    """A name of dots and colons has no qualifier."""
    parsed = parse_lines("src/Op.hs", "module Op where", "", "(.:) :: Int -> Int", "(.:) x = x")
    assert [(found.name, found.qualified_name) for found in parsed.symbols] == [(".:", ".:")]


def test_a_prototype_counts_in_headers_only() -> None:
    """What a header declares is its content; what a source file declares is defined further down."""
    line = "int list_add(list_t *list, int value);"
    assert [found.name for found in parse_lines("include/list.h", line).symbols] == ["list_add"]
    assert parse_lines("src/list.c", line).symbols == ()


def test_several_names_in_one_declaration_are_siblings() -> None:
    """None of them contains another."""
    parsed = parse_lines("src/A.java", "class A {", "  int first, second;", "}")
    assert [found.qualified_name for found in parsed.symbols] == ["A", "A.first", "A.second"]


CONSTANTS = {
    "a.py": (
        """A = B = 1
C, D = 1, 2
if x:
    E = 1
    def g(): local = 2
    if y:
        F = 1
    else:
        G = 1
elif z:
    H: int = 1
else:
    I = 1
try:
    J = 1
except E:
    K = 1
with a:
    L = 1
""",
        "A B C D E g F G H I J K L",
    ),
    "b.py": ("class P:\n    A, B = 1, 2\n    if x:\n        C = 1\n    else:\n        D = 2\n", "P P.A P.B P.C P.D"),
    "a.h": (
        """#ifndef A_H
extern int a;
int f(void) {
#ifdef X
  int local = 1;
#endif
  return 0;
}
#ifdef D
int b = 1;
#else
int c = 0;
#endif
#endif
""",
        "a f b c",
    ),
    "a.hpp": (
        """namespace y {
const char* const A = "x";
const char* const B[] = {"x"};
const T& C = x;
}
extern "C" { int d; }
""",
        "y y.A y.B y.C d",
    ),
    "a.ts": (
        """export const { a, b: c, d = 1 } = obj;
export const [e, f] = g();
function k() { const { local } = 1 }
""",
        "a c d e f k",
    ),
}


@pytest.mark.parametrize("path", CONSTANTS)
def test_what_a_file_declares_in_blocks_and_patterns_is_a_constant(path: str) -> None:
    """In branches, guards, chains and tuples; what a function declares is none."""
    text, names = CONSTANTS[path]
    assert [one.qualified_name for one in parse_lines(path, *text.split("\n")).symbols] == names.split()


@pytest.mark.parametrize("language", ["py", "js", "java", "rb"])
def test_names_need_not_be_ascii(language: str) -> None:
    """Byte offsets of the tree and characters of the text are kept apart."""
    code = {
        "py": "# äöü\nclass Größe:\n    def länge(self):\n        pass\n",
        "js": "// äöü\nclass Größe {\n  länge() {}\n}\n",
        "java": "// äöü\nclass Größe {\n  void länge() {}\n}\n",
        "rb": "# äöü\nclass Größe\n  def länge\n  end\nend\n",
    }[language]
    names = [(found.qualified_name, found.kind) for found in parse_lines(f"src/a.{language}", code).symbols]
    assert names == [("Größe", SymbolKind.TYPE), ("Größe.länge", SymbolKind.METHOD)]


@pytest.mark.parametrize(
    ("path", "text", "signature"),
    [
        ("a.py", "def save(  # noqa: C901, it is long\n    path,  # where\n):\n    pass\n", "def save( path, )"),
        ("a.ts", "function save( // here\n  path: string, /* where */\n) {\n}\n", "function save( path: string, )"),
        ("a.go", "package a\n\nfunc save(\n\tpath string, // where\n) {\n}\n", "func save( path string, )"),
        ("a.py", 'def save(mark="#"):\n    pass\n', 'def save(mark="#")'),
    ],
)
def test_a_signature_has_no_comments(path: str, text: str, signature: str) -> None:
    """They say something of a parameter or to a linter, and would cut the rest of the signature off."""
    assert [one.signature for one in outline_of(path, text).definitions] == [signature]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("type A = { a: () => string } & Date\n", ["A", "A.a"]),
        (
            "type A = { a: 1 } | ({ b: 2 } & { c: 3 }) | { a: 4; in: { no: 5 } }\n",
            ["A", "A.a", "A.b", "A.c", "A.a", "A.in"],
        ),
        ("type A = { a: 1 }[] | Promise<{ b: 2 }>\n", ["A"]),
        ("function f(a: { b: 1 } | { c: 2 }) {}\n", ["f"]),
    ],
)
def test_the_types_of_which_one_is_made_have_its_fields(text: str, names: list[str]) -> None:
    """Beside each other or each at a time; what is in them is of others."""
    assert [symbol.qualified_name for symbol in parse_lines("a.ts", text).symbols] == names


def test_what_does_not_parse_defines_no_functions() -> None:
    """A statement that a directive parts, and what a constructor behind a macro initialises."""
    parted = "int run(int c) {\n#if X\n  if (c) { go(); }\n#endif\n#if Y\n  else if (c) { go(); }\n#endif\n}\n"
    assert [symbol.name for symbol in parse_file("a.c", parted.encode()).symbols] == ["run"]
    code = "struct Arg {\n  CX Arg(int* v) : type_(1), p_(v) {}\n  int p_;\n};\n"
    found = parse_file("a.cpp", code.encode()).symbols
    assert [symbol.qualified_name for symbol in found] == ["Arg", "Arg.Arg", "Arg.p_"]
