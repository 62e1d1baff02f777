"""Repairs: code that a grammar cannot read is read all the same, and nothing moves."""

import time

import pytest

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.syntax import SourceCode, parse_tree
from graphrag_mcp.model.files import UNPARSED, RelationKind
from graphrag_mcp.parsing.parser import parse_file
from tests.parsing.code_samples import parse_lines


def _symbols(path: str, code: str) -> set[tuple[str, int]]:
    return {(one.qualified_name, one.start_line) for one in parse_lines(path, code).symbols}


def _repaired(language: str, code: str) -> bytes:
    """Return what is parsed in place of the code."""
    grammar = load_grammar(language)
    assert grammar is not None
    data = code.encode()
    for repair in grammar.repairs:
        data = repair.change(data, parse_tree(grammar.tree_language, SourceCode(data.decode())).root_node)
    return data


@pytest.mark.parametrize(
    "head",
    [
        "class API Alpha",
        "class API_EXPORT Alpha final",
        "class api_export Alpha",
        "class API OTHER_API Alpha",
        "class API Alpha : public Base",
        "class API Alpha final : public Base, private ns::Other<int>",
        "struct API Alpha",
        "union API Alpha",
        'class DEPRECATED("use (that)") Alpha',
        'class DEPRECATED("x") API Alpha',
        "class alignas(8) API Alpha",
        "class __attribute__((packed)) API Alpha",
        "class Alpha FINAL_MACRO : public Base",
        "class API\n  Alpha\n  : public Base",
        "class API Alpha // why\n ",
        "template <class T> class API Alpha",
        "template <> class API Alpha<bool>",
        "API class Alpha",
        "BEGIN_NAMESPACE\nclass Alpha",
        "BEGIN(x)\nstruct Alpha",
        "export class Alpha",
    ],
)
def test_a_class_behind_macros_is_a_symbol_with_its_members(head: str) -> None:
    """Whatever the macros are, how many, with arguments, before or behind the name."""
    code = f"{head} {{\n public:\n  Alpha();\n  void run();\n  int size() const {{ return 1; }}\n  int count;\n}};"
    line = head.split("\n").index(
        next(row for row in head.split("\n") if "class" in row or "struct" in row or "union" in row)
    )
    found = _symbols("a.hpp", code)
    assert ("Alpha", line + 1) in found
    assert {name for name, _ in found} == {"Alpha", "Alpha.Alpha", "Alpha.run", "Alpha.size", "Alpha.count"}


def test_a_class_behind_a_macro_has_its_bases_and_its_signature_is_that_of_the_file() -> None:
    """The macro is blanked for the parser only."""
    parsed = parse_lines("a.hpp", "class API Alpha : public Base { void run(); };")
    assert ("Alpha", "Base") in {
        (one.source, one.target) for one in parsed.relations if one.kind is RelationKind.INHERITS
    }
    assert parsed.symbols[0].signature == "class API Alpha : public Base"
    assert parsed.chunks[0].text == "class API Alpha : public Base { void run(); };"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("enum class API Kind { A, B };", {"Kind", "Kind.A", "Kind.B"}),
        ("enum API Kind : int { A = 1, B };", {"Kind", "Kind.A", "Kind.B"}),
        ("enum API Kind { A, B };", {"Kind", "Kind.A", "Kind.B"}),
        ("class API Empty {};", {"Empty"}),
        ("class API Outer::Inner { void run(); };", {"Outer.Inner", "Outer.Inner.run"}),
        ("namespace API ns { void run(); }", {"ns", "ns.run"}),
        ("namespace A {\n}  // namespace A\n\nnamespace A {\nclass B { void f(); };\n}", {"A", "A.B", "A.B.f"}),
        ("class B { ~B() NOTHROW override; void f() const QUIET final; };", {"B", "B.f"}),
        ("namespace ns VISIBLE(default) { class A { int x; }; }", {"ns", "ns.A", "ns.A.x"}),
        ("BEGIN_NAMESPACE\nnamespace ns { void run(); }\nEND_NAMESPACE", {"ns", "ns.run"}),
        ("BEGIN_NAMESPACE\ntemplate <class T> class A { int x; };\nEND_NAMESPACE", {"A", "A.x"}),
        ("class A {\n  Q_OBJECT\n  int x;\n public:\n  void run();\n};", {"A", "A.x", "A.run"}),
        ("class A {\n  Q_OBJECT\n public:\n  A();\n public slots:\n  void run();\n};", {"A", "A.A", "A.run"}),
        ("GENERATED(x)\nclass API A : public B {\n  GENERATED_BODY()\n public:\n  void run();\n};", {"A", "A.run"}),
        ("API int x;", {"x"}),
        ("extern API int x;", {"x"}),
        ('extern "C" {\nAPI const char *run(void);\n}', {"run"}),
        ("void run(const char *text, ...) PRINTF_LIKE(1, 2);", {"run"}),
        ("int run(int a) UNUSED;", {"run"}),
        ("ATTRIBUTE(x) static const char *run(void) { return 0; }", {"run"}),
        ("API_INLINE std::shared_ptr<A> run(int a) { return f(a); }", {"run"}),
        ("API_X ns::A *run();\nAPI_X const ns::A stop();", {"run", "stop"}),
        ("API_X Status run(int a) { return f(a); }\nKIND_T stop(int a) { return f(a); }", {"run", "stop"}),
        ("template <class T>\nvoid API_INLINE ns::A<T>::run(int a) { f(a); }", {"ns.A.run"}),
    ],
)
@pytest.mark.parametrize("path", ["a.hpp"])
def test_declarations_behind_macros_are_symbols(path: str, code: str, names: set[str]) -> None:
    """Of types, namespaces, functions and variables; the macros themselves are none."""
    assert {name for name, _ in _symbols(path, code)} == names


def test_a_declaration_begins_on_its_own_line() -> None:
    """Not on that of the macro before it."""
    assert _symbols("a.hpp", "BEGIN_NAMESPACE\n\nint run(int a) { return 1; }") == {("run", 3)}


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(
    "code",
    [
        "struct point origin(int x) { return y; }",
        "struct A { enum Kind kind : 8; int c; };",
        "static struct point table[] = { { 1, 2 } };",
        "struct point *find(struct point *p) { for (;;) { break; } }",
        "typedef struct point { int x; } point_t;",
        "#define API class X {\nint y;",
        "#ifdef API\nint x;\n#endif",
        "// class API Alpha {\nint x;",
        'const char *t = "class API Alpha {";',
        "enum kind { A, B } kind;",
    ],
)
def test_well_formed_code_is_parsed_as_it_is(language: str, code: str) -> None:
    """A variable or a function of a type is not taken for the type; comments, texts and directives stay."""
    assert _repaired(language, code) == code.encode()


def test_parameters_that_are_declared_behind_their_list_stay() -> None:
    """So old C is written."""
    code = "int f(a, b)\nint a;\nchar *b;\n{ return a; }"
    assert _repaired("c", code) == code.encode()


@pytest.mark.parametrize(
    "code",
    [
        "struct Point p{1, 2};",
        "struct Point origin {};",
        "void f() { struct sockaddr_in addr {}; struct ADDR addr2 {}; }",
        "void f() { for (struct A a : list) { g(a); } }",
        "enum Kind k {A};",
        "struct A f() const { return {}; }",
        "class A final : public B { };",
        "struct __declspec(dllexport) A { int x; };",
        "class alignas(8) A { int x; };",
        "class A { operator bool() const; A operator+(A b); };",
        "template <class T, class U = A> struct B { };",
    ],
)
def test_well_formed_code_of_cpp_is_parsed_as_it_is(code: str) -> None:
    """Variables with values in braces have the same words as a type behind a macro."""
    assert _repaired("cpp", code) == code.encode()


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.ts", "interface T<out A = string, in B, in out C, const D> { a: A }\nclass U {}", {"T", "T.a", "U"}),
        ("a.ts", "class T<in out A> { run() {} }", {"T", "T.run"}),
        (
            "a.ts",
            "class A { static accessor x: number = 1; @d accessor y = 2; run() {} }",
            {"A", "A.x", "A.y", "A.run"},
        ),
        ("a.js", "class A { accessor x = 1; run() {} }", {"A", "A.x", "A.run"}),
        ("a.ts", "using x = open()\nfunction run() {}", {"x", "run"}),
        ("a.ts", "await using x = open()", {"x"}),
        ("a.js", "using x = open()", {"x"}),
    ],
)
def test_what_is_newer_than_the_grammar_is_read(path: str, code: str, names: set[str]) -> None:
    """Variance of type parameters, accessors, and resources that are closed at the end of a block."""
    parsed = parse_lines(path, code)
    assert {one.qualified_name for one in parsed.symbols} == names
    assert parsed.code is not None
    assert not parsed.code.has_errors


@pytest.mark.parametrize(
    "code", ["f(a, out)", "const x = a < in_;", "using(x)", "const using = 1", "x.using = 2", "a.accessor\nb()"]
)
def test_words_that_are_names_stay(code: str) -> None:
    """They are no keywords where no declaration follows on the line."""
    assert _repaired("typescript", code) == code.encode()


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("struct V { explicit operator bool() const { return true; } };", {"V.operator bool"}),
        ("struct V { operator int(); };", {"V.operator int"}),
        ("struct V { operator T *() const; };", {"V.operator T*"}),
        ("struct V { template <class T> operator T() const; };", {"V.operator T"}),
        ("V::operator bool() const { return true; }", {"V.operator bool"}),
        ("struct V { operator std::string() const; };", {"V.operator std::string"}),
        ("struct V { bool operator==(const V& o) const; };", {"V.operator=="}),
        ("struct V { auto operator<=>(const V&) const = default; };", {"V.operator<=>"}),
        ("struct V { V& operator()(int x); };", {"V.operator()"}),
        ("struct V { V *operator->() { return this; } };", {"V.operator->"}),
        ("struct V { void *operator new[](size_t n); };", {"V.operator new[]"}),
        ("struct V { friend bool operator<(const V&, const V&); };", {"V.operator<"}),
        ('int operator""_x(unsigned long long v) { return v; }', {'operator""_x'}),
        ("bool V::operator == (const V& o) const { return 1; }", {"V.operator=="}),
    ],
)
def test_an_operator_is_named_without_its_parameters(code: str, names: set[str]) -> None:
    """Conversions, comparisons, calls, allocation and literals, inside and outside of their type."""
    assert {name for name, _ in _symbols("a.hpp", code)} - {"V"} == names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("module.exports = async function doOne() {}", {"doOne"}),
        ("module.exports = function* doOne() {}", {"doOne"}),
        ("exports = module.exports = function doOne() {}", {"doOne"}),
        ("module.exports = class Two { go() {} }", {"Two", "Two.go"}),
        ("module.exports = class { go() {} }", {"module.exports", "module.exports.go"}),
        ("module.exports = () => 1", {"module.exports"}),
        ("exports.x = function other() {}", {"x"}),
        ("module.exports.x = function* () {}", {"x"}),
        (
            "module.exports = { a() {}, b: function c() {}, 'd-e': () => 1, f: class { g() {} } }",
            {"a", "b", "d-e", "f", "f.g"},
        ),
        ("export default async function () {}", {"default"}),
        ("const O = { m: function* () {} }", {"O", "O.m"}),
    ],
)
def test_what_a_module_of_commonjs_exports_has_a_name(code: str, names: set[str]) -> None:
    """Its own, or that of the property; what has none is named as it is exported."""
    assert {name for name, _ in _symbols("a.js", code)} == names


@pytest.mark.parametrize(
    ("path", "code", "is_noted"),
    [
        ("a.c", "int f( {\n@@@ }}} add(1", True),
        ("a.rb", "def f(\n  ) ) end end", True),
        ("a.c", "int f(void) { return add(1); }", False),
        ("a.c", "int f(void) { EACH(x) g(x); return 1; }", False),
    ],
)
def test_a_file_says_that_some_of_its_lines_do_not_parse(path: str, code: str, is_noted: bool) -> None:
    """A macro that lacks its semicolon hides nothing."""
    assert ("lines that do not parse" in parse_lines(path, code).note) is is_noted


BODY = """CREATE FUNCTION one(p text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v text;
BEGIN
{}
  RETURN v;
END;
$$;

CREATE FUNCTION two(p text)
RETURNS SETOF job
LANGUAGE plpgsql
AS $body$
BEGIN
  PERFORM one(p);
END;
$body$;

CREATE FUNCTION three(p text) RETURNS text LANGUAGE sql AS $$ SELECT p $$;
"""


@pytest.mark.parametrize(
    "code",
    [
        "  v := next_id(p);",
        "  FOR r IN SELECT * FROM job LOOP v := r.id; END LOOP;",
        "  SELECT * INTO v FROM job WHERE id = p FOR UPDATE SKIP LOCKED;",
        "  IF p IS NULL THEN v := 1; ELSE PERFORM publish(p, 'waiting', build('id', v)); END IF;",
        "  v := $q$ CREATE FUNCTION no() $q$;",
    ],
)
def test_a_function_that_the_grammar_cannot_read_leaves_those_after_it(code: str) -> None:
    """Each function of PostgreSQL has its own lines; that some are not read is known."""
    parsed = parse_file("functions.sql", BODY.format(code).encode())
    found = [(symbol.name, symbol.start_line, symbol.end_line) for symbol in parsed.symbols]
    assert found == [("one", 1, 9), ("two", 11, 18), ("three", 20, 20)]
    assert parsed.note == UNPARSED


def test_a_million_dollar_quotes_are_read_in_one_pass() -> None:
    """None of which is closed, or each of which is in another one."""
    for text in ("".join(f"$t{number}$ " for number in range(60_000)), "$$ $a$ " * 60_000):
        started = time.process_time()
        parse_file("quotes.sql", f"CREATE (;\n{text}".encode())
        assert time.process_time() - started < 20


def test_items_in_the_braces_of_a_macro_are_read() -> None:
    """The macro is still invoked; what is no item, or no function, stays as it is."""
    code = """proptest! {
    #[test]
    fn halves(x in 0..3, y in any::<u8>()) { half(x); }
}
impl Stream {
    cfg_net! {
        pub fn connect(&self) {}
    }
}
odd! { fn => weird }
fields! { static ref X: u8 = 1; }
"""
    parsed = parse_file("a.rs", code.encode())
    found = [(symbol.qualified_name, symbol.start_line, symbol.end_line) for symbol in parsed.symbols]
    assert found == [('"halves"', 2, 3), ("Stream.connect", 7, 7)]
    calls = [(each.target, each.line) for each in parsed.relations if each.kind is RelationKind.CALLS]
    assert calls == [("proptest", 1), ("half", 3), ("cfg_net", 6), ("odd", 10), ("fields", 11)]
    assert not parsed.note
