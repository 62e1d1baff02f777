"""Relations: what a file alone can say of the graph, and how sure it is."""

import pytest

from graphrag_mcp.model.files import ParsedFile, RelationKind, Resolution
from tests.parsing.code_samples import EXPECTED, SAMPLES, parse_lines, parse_sample


def _edges(parsed: ParsedFile, kind: RelationKind) -> set[tuple[str, str, Resolution, str]]:
    return {
        (edge.source, edge.target, edge.resolution, edge.target_module)
        for edge in parsed.relations
        if edge.kind is kind
    }


LOCAL, IMPORT, UNRESOLVED = Resolution.LOCAL, Resolution.IMPORT, Resolution.UNRESOLVED
LIBRARY = Resolution.LIBRARY


def _expected(name: str, key: str) -> tuple[str, str, Resolution, str]:
    source, target, resolution, module = EXPECTED[name][key]
    return source, target, Resolution(resolution), module


def _having(key: str) -> list[str]:
    return [name for name in SAMPLES if key in EXPECTED[name]]


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("name", _having("imports"))
def test_every_language_yields_its_imports(name: str) -> None:
    """Under the name that the other file gave it, and with that file's place."""
    target, module = EXPECTED[name]["imports"]
    assert ("", target, IMPORT, module) in _edges(parse_sample(name), RelationKind.IMPORTS)


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("name", _having("inherits"))
def test_every_language_with_types_yields_what_they_inherit(name: str) -> None:
    """Classes, traits, mixins, embedded structs, behaviours."""
    assert _expected(name, "inherits") in _edges(parse_sample(name), RelationKind.INHERITS)


@pytest.mark.requirement("004-07")
@pytest.mark.parametrize("name", _having("calls"))
def test_every_language_yields_its_calls(name: str) -> None:
    """From the qualified name of the definition around the call."""
    assert _expected(name, "calls") in _edges(parse_sample(name), RelationKind.CALLS)


@pytest.mark.parametrize("name", _having("uses"))
def test_every_language_with_types_yields_where_they_are_named(name: str) -> None:
    """In signatures, fields and variables."""
    assert _expected(name, "uses") in _edges(parse_sample(name), RelationKind.USES)


@pytest.mark.parametrize(
    ("path", "lines", "module"),
    [
        ("src/a.py", ["import store", "def f(x: store.Box): ..."], "store"),
        ("src/a.ts", ["import * as store from './store'", "function f(x: store.Box) {}"], "/src/store"),
        ("src/a.go", ["package a", 'import "acme.io/shop/app/store"', "func f(x store.Box) {}"], "store"),
        ("src/a.rs", ["use crate::store;", "fn f(x: store::Box2) {}"], "/src/store"),
        ("src/a.cpp", ["namespace store { class Box {}; }", "void f(store::Box x) {}"], ""),
        ("src/a.cs", ["class A { void f(Store.Box x) {} }"], ""),
        ("src/A.java", ["class A { void f(Store.Box x) {} }"], ""),
        ("src/a.kt", ["fun f(x: Store.Box) {}"], ""),
        ("src/a.swift", ["func f(x: Store.Box) {}"], ""),
    ],
)
def test_a_type_is_looked_for_where_its_qualifier_leads(path: str, lines: list[str], module: str) -> None:
    """Not among whatever has its bare name: of a qualifier that says nothing, it may be anything."""
    parsed = parse_lines(path, *lines)
    (used,) = (one for one in parsed.relations if one.kind is RelationKind.USES and one.target.startswith("Box"))
    assert (used.source.rpartition(".")[2], used.target_module) == ("f", module)
    assert used.confidence == (0.3 if not module and path != "src/a.cpp" else used.confidence)


@pytest.mark.parametrize(
    ("path", "lines", "expected"),
    [
        ("a.py", ["class Box:", "    def twin(self, other: Box) -> Box: ..."], {("Box.twin", "Box")}),
        ("a.go", ["package a", "type Box struct{}", "func (b *Box) Twin() *Box { return nil }"], {("Box.Twin", "Box")}),
        ("a.rs", ["struct Box2 { all: [Box2; 2] }", "impl Box2 {}"], {("Box2.all", "Box2"), ("Box2", "Box2")}),
        ("a.swift", ["class Box { var next: Box? }", "extension Box: P {}"], {("Box.next", "Box"), ("Box", "Box")}),
        ("a.rs", ["fn f(x: u8) { match x { a::Lid::Up => 1 } }"], {("f", "Lid")}),
        ("a.go", ["package a", "func f() { var x Box; x = Box{} }"], set()),
        ("a.py", ["class Lid(Box): ..."], set()),
        ("a.py", ["def f(x):", "    return Box.make(x)"], {("f", "Box")}),
        ("a.rs", ["fn f() { Lid::new(); }"], {("f", "Lid")}),
        ("a.php", ["<?php", "function f() { return Box::make(); }"], {("f", "Box")}),
        (
            "a.cs",
            ["class A { void f(object o) { var x = o as Box; var t = typeof(Lid); } }"],
            {("A.f", "Box"), ("A.f", "Lid")},
        ),
    ],
)
def test_a_type_is_used_by_others_and_once(path: str, lines: list[str], expected: set[tuple[str, str]]) -> None:
    """Who inherits from it and who makes one say that already; whose method is called, is used."""
    assert {edge[:2] for edge in _edges(parse_lines(path, *lines), RelationKind.USES)} == expected


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("a.py", ["from json import dumps", "def f(): dumps(1)"]),
        ("a.py", ["import os.path", "from os.path import dumps", "def f(): dumps(1)"]),
        ("a.ts", ["import { dumps } from 'node:util'", "function f() { dumps(1) }"]),
        ("a.js", ["import { dumps } from 'fs/promises'", "function f() { dumps(1) }"]),
        ("a.go", ["package a", 'import "encoding/json"', "func f() { json.dumps(1) }"]),
        ("a.rs", ["use std::fmt::dumps;", "fn f() { dumps(1); }"]),
        ("A.java", ["import static java.util.Objects.dumps;", "class A { void f() { dumps(1); } }"]),
    ],
)
def test_what_comes_from_the_language_is_known(path: str, lines: list[str]) -> None:
    """And nothing of the project that happens to have its name."""
    calls = {
        edge.target: edge.resolution for edge in parse_lines(path, *lines).relations if edge.kind is RelationKind.CALLS
    }
    assert calls == {"dumps": LIBRARY}


@pytest.mark.parametrize(
    ("path", "lines", "caller", "called"),
    [
        ("src/a.js", "class Cart { #sum() { return 1 }\n  total() { return this.#sum() } }", "Cart.total", "sum"),
        ("src/a.ts", "class Cart { #sum() { return 1 }\n  total() { return this.#sum() } }", "Cart.total", "sum"),
        ("src/a.rs", "fn r#type() {}\n\nfn caller() {\n    r#type();\n}", "caller", "type"),
    ],
)
def test_a_mark_of_the_language_is_no_part_of_a_name(path: str, lines: str, caller: str, called: str) -> None:
    """A call leads to its definition whichever of the two is marked."""
    parsed = parse_lines(path, *lines.split("\n"))
    assert called in {symbol.name for symbol in parsed.symbols}
    assert (caller, called, LOCAL) in {edge[:3] for edge in _edges(parsed, RelationKind.CALLS)}


@pytest.mark.parametrize("path", ["src/a.js", "src/a.ts"])
def test_a_class_that_is_assigned_is_a_type(path: str) -> None:
    """With its members and its base, as of any class."""
    parsed = parse_lines(path, "module.exports = class Cart extends Basket {", "  total() { return 1 }", "};")
    assert {"Cart", "Cart.total"} <= {symbol.qualified_name for symbol in parsed.symbols}
    assert {edge[:2] for edge in _edges(parsed, RelationKind.INHERITS)} == {("Cart", "Basket")}


@pytest.mark.parametrize("path", ["src/a.js", "src/a.ts"])
@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("export default class extends Basket {", "}", "default"),
        ("module.exports = class extends Basket {", "};", "module.exports"),
        ("shop.Cart = class extends Basket {", "};", "shop.Cart"),
    ],
)
def test_a_class_without_a_name_goes_by_what_it_is_exported_as(path: str, before: str, after: str, name: str) -> None:
    """Its base is its own, not that of its first method."""
    parsed = parse_lines(path, before, "  total() { return sum(1) }", after)
    found = [(symbol.qualified_name, symbol.start_line) for symbol in parsed.symbols]
    assert found == [(name, 1), (f"{name}.total", 2)]
    assert {edge[:2] for edge in _edges(parsed, RelationKind.INHERITS)} == {(name, "Basket")}
    assert {edge[:2] for edge in _edges(parsed, RelationKind.CALLS)} == {(f"{name}.total", "sum")}


@pytest.mark.parametrize("path", ["src/a.js", "src/a.tsx"])
@pytest.mark.parametrize("code", ["function () { return sum(1) }", "() => sum(1)", "function* () { yield sum(1) }"])
def test_a_function_without_a_name_is_exported_as_default(path: str, code: str) -> None:
    """What it calls has a caller."""
    parsed = parse_lines(path, f"export default {code};")
    assert {edge[:2] for edge in _edges(parsed, RelationKind.CALLS)} == {("default", "sum")}


@pytest.mark.parametrize("path", ["src/a.js", "src/a.ts"])
def test_a_method_of_an_exported_expression_begins_where_it_stands(path: str) -> None:
    """The base of the class around it, which has no name, and calls before it are not its own."""
    parsed = parse_lines(path, "export default connect(state)(class extends Basket {", "  total() { return 1 }", "});")
    assert [(symbol.qualified_name, symbol.start_line) for symbol in parsed.symbols] == [("total", 2)]
    assert not _edges(parsed, RelationKind.INHERITS)
    assert {edge[:2] for edge in _edges(parsed, RelationKind.CALLS)} == {("", "connect")}


def test_what_a_sealed_type_permits_is_no_base() -> None:
    """It is the other way round; what it extends is a base."""
    parsed = parse_lines("src/A.java", "public sealed interface A extends B permits C, D {}", "class C implements A {}")
    assert {edge[:2] for edge in _edges(parsed, RelationKind.INHERITS)} == {("A", "B"), ("C", "A")}


def test_a_definition_is_contained_in_the_one_around_it() -> None:
    """The file contains what nothing else does."""
    parsed = parse_lines("src/a.py", "class A:", "    def b(self):", "        pass")
    assert _edges(parsed, RelationKind.CONTAINS) == {
        ("", "A", Resolution.SYNTAX, ""),
        ("A", "b", Resolution.SYNTAX, ""),
    }


@pytest.mark.requirement("K-20")
def test_a_method_of_an_unknown_value_is_never_resolved() -> None:
    """A call guessed by name is no fact, though the file has one method of the name."""
    parsed = parse_lines("src/a.py", "class A:", "    def load(self): ...", "def run(value):", "    value.load()")
    assert _edges(parsed, RelationKind.CALLS) == {("run", "load", UNRESOLVED, "")}


def test_one_of_two_definitions_is_no_target() -> None:
    """Two nested functions of one name leave the call open."""
    parsed = parse_lines(
        "src/a.py", "def a():", "    def c(): ...", "def b():", "    def c(): ...", "def run():", "    c2 = cc(c())"
    )
    assert all(edge[2] is UNRESOLVED for edge in _edges(parsed, RelationKind.CALLS))


def test_names_of_the_language_are_marked() -> None:
    """The project may define them too, which a file alone cannot know."""
    parsed = parse_lines("src/a.py", "def run(x):", "    print(len(x))")
    assert _edges(parsed, RelationKind.CALLS) == {("run", name, Resolution.BUILTIN, "") for name in ("print", "len")}


@pytest.mark.parametrize(
    ("path", "expression"),
    [
        ("src/a.py", '{"a": 1}.get("a")'),
        ("src/a.py", '", ".get(x)'),
        ("src/a.py", "x[0].get()"),
        ("src/a.py", "make().get()"),
        ("src/a.py", "(x or y).get()"),
        ("src/a.ts", "(x as Q).get()"),
        ("src/a.ts", "new Q().get()"),
        ("src/a.ts", "x[0].get()"),
        ("src/A.java", "((Q) x).get();"),
        ("src/A.java", "new Q().get();"),
        ("src/A.java", '"text".get();'),
        ("src/a.go", "x[0].get()"),
        ("src/a.go", "x.(Q).get()"),
        ("src/a.rs", "(x as Q).get();"),
        ("src/A.cs", "((Q) x).get();"),
        ("src/a.kt", "(x as Q).get()"),
        ("src/a.cpp", "static_cast<Q>(x).get();"),
        ("src/a.rb", "[1].get"),
        ("src/a.php", "(fn() => 1)->get();"),
    ],
)
def test_the_value_of_an_expression_is_an_unknown_receiver(path: str, expression: str) -> None:
    """And not none: the type around the call may have a member of that name."""
    lines = {
        "py": ["class Q:", "    def get(self): ...", "    def look(self, x, y):", f"        {expression}"],
        "ts": ["class Q {", "  get() {}", f"  look(x) {{ {expression} }}", "}"],
        "java": ["class Q {", "  void get() {}", f"  void look(Object x) {{ {expression} }}", "}"],
        "go": ["package a", "func (q Q) get() {}", f"func (q Q) look() {{ {expression} }}"],
        "rs": ["impl Q {", "  fn get(&self) {}", f"  fn look(&self) {{ {expression} }}", "}"],
        "cs": ["class Q {", "  void get() {}", f"  void look(object x) {{ {expression} }}", "}"],
        "kt": ["class Q {", "  fun get() {}", f"  fun look(x: Any) {{ {expression} }}", "}"],
        "cpp": ["class Q {", "  void get() {}", f"  void look(int x) {{ {expression} }}", "};"],
        "rb": ["class Q", "  def get; end", "  def look", f"    {expression}()", "  end", "end"],
        "php": ["<?php", "class Q {", "  function get() {}", f"  function look() {{ {expression} }}", "}"],
    }[path.rpartition(".")[2]]
    calls = {edge for edge in _edges(parse_lines(path, *lines), RelationKind.CALLS) if edge[1] == "get"}
    assert [edge[2] for edge in calls] == [Resolution.UNKNOWN]


def test_the_surest_of_several_calls_of_a_name_is_kept() -> None:
    """Whichever comes first."""
    own = "        self.get()"
    other = '        {"a": 1}.get("a")'
    for first, second in ((own, other), (other, own)):
        parsed = parse_lines("src/a.py", "class Q:", "    def get(self): ...", "    def look(self):", first, second)
        assert ("Q.look", "get", LOCAL, "") in _edges(parsed, RelationKind.CALLS)


def test_a_test_tests_what_it_is_named_after_and_what_it_calls() -> None:
    """ "is X tested" is answered from these, with modest confidence."""
    parsed = parse_lines("tests/test_cart.py", "from shop import cart", "def test_total():", "    cart.total()")
    assert _edges(parsed, RelationKind.TESTS) == {
        ("", "cart", UNRESOLVED, ""),
        ("test_total", "total", UNRESOLVED, ""),
    }
    assert all(edge.confidence <= 0.6 for edge in parsed.relations if edge.kind is RelationKind.TESTS)


@pytest.mark.parametrize(
    ("path", "line", "target"),
    [
        ("src/test/java/CartTest.java", "class CartTest {}", "Cart"),
        ("shop/cart_test.go", "func TestTotal() {}", "Total"),
        ("web/cart.spec.ts", "const a = 1;", "cart"),
        ("spec/cart_spec.rb", "class Foo; end", "cart"),
    ],
)
def test_test_names_of_every_fashion_are_understood(path: str, line: str, target: str) -> None:
    """FooTest, TestFoo, foo_test, foo.spec: all name foo."""
    assert target in {edge.target for edge in parse_lines(path, line).relations if edge.kind is RelationKind.TESTS}


def test_tests_beside_the_code_test_it() -> None:
    """Rust keeps them in a module of the same file."""
    module = "/src/shop/shape"  # Of `super`.
    assert ("tests.area_is_positive", "draw_all", IMPORT, module) in _edges(
        parse_sample("shape.rs"), RelationKind.TESTS
    )


@pytest.mark.parametrize(
    ("path", "lines", "expected"),
    [
        (
            "a.rs",
            [
                "#[derive(Debug, far::Eq)]",
                "#[repr(u8)]",
                "// Of it.",
                "#[cfg_attr(x, derive(Ord,))]",
                "enum Box2 { A }",
            ],
            {("Box2", "Debug", 1), ("Box2", "Eq", 1), ("Box2", "Ord", 4)},
        ),
        ("a.rs", ["#[derive(Debug)]", "", "#[other(Ord)]", "struct Lid;"], {("Lid", "Debug", 1)}),
        ("a.hs", ["data Box = A", "  deriving (Show, M.Eq)"], {("Box", "Show", 2), ("Box", "Eq", 2)}),
        ("a.hs", ["newtype Box = A Int deriving newtype Num"], {("Box", "Num", 1)}),
        ("a.hs", ["data Box = A", "deriving instance Show Box"], {("Box", "Show", 2)}),
        ("a.scala", ["case class Box(x: Int) derives Eq, far.Show"], {("Box", "Eq", 1), ("Box", "Show", 1)}),
    ],
)
def test_what_is_derived_is_above_a_type(path: str, lines: list[str], expected: set[tuple[str, str, int]]) -> None:
    """On the line on which it is said: in an attribute of the type, or in a clause."""
    relations = parse_lines(path, *lines).relations
    found = {(one.source, one.target, one.line) for one in relations if one.kind is RelationKind.INHERITS}
    assert found == expected


def test_a_name_that_ends_with_a_quote_is_no_title() -> None:
    """The title of a test begins with one."""
    parsed = parse_lines("a.kt", "open class A", 'class `q"` : A() { }')
    assert {(row.source, row.target) for row in parsed.relations if row.kind is RelationKind.INHERITS} == {('q"', "A")}
