"""How many arguments calls give and functions take, in languages without facts."""

import pytest

from graphrag_mcp.model.files import ANY_COUNT, RelationKind, SymbolKind
from graphrag_mcp.parsing.parser import parse_file

ANY = tuple(ANY_COUNT)
MANY = ANY_COUNT.most

TAKEN = [
    ("a.rb", "def f(a, (x, y), b = 1, k:, m: 2, **o, &c)\nend\n", (2, 3)),
    ("a.rb", "def f\nend\n", (0, 0)),
    ("a.rb", "def self.f a, *rest\nend\n", ANY),
    ("a.rb", "def f(...) = g(...)\n", ANY),
    ("a.cs", 'class A { int f(int a, string b = "x") => 1; }', (1, 2)),
    ("a.cs", "class A { static int f(this A a, int b) => 1; }", (1, 2)),
    ("a.cs", "class A { void f(int a, params int[] b) {} }", ANY),
    ("a.php", "<?php function f(int $a, &$b = 1) {}", (1, MANY)),
    ("a.php", "<?php function f(...$a) {}", ANY),
    ("a.rs", "impl A { fn f(&self, a: u8, _: B) {} }", (3, 3)),
    ("a.rs", "impl A { fn f(self: Box<Self>) {} }", (1, 1)),
    ("a.rs", "fn f((a, b): (u8, u8)) {}", (1, 1)),
    ("a.c", "char *f(int a, char *b) { return b; }", (2, 2)),
    ("a.c", "void f(void) {}", (0, 0)),
    ("a.c", "void f() {}", ANY),
    ("a.cs", "class A { void f(int a, [Optional] int b) {} }", (1, 2)),
    ("a.rs", "fn f(#[cfg(unix)] a: u8) {}", ANY),
    ("a.c", "int f(int a, ...) { return a; }", ANY),
    ("a.c", "int f(a, b) int a; int b; { return a; }", ANY),
    ("a.cpp", "int f(int a, int b = 2) { return a; }", (1, 2)),
    ("a.cpp", "int& f(int a, ...) { return a; }", (1, MANY)),
    ("a.cpp", "void f() {}", (0, 0)),
    ("a.cpp", "template <class... T> void f(T... t) {}", ANY),
    ("a.swift", "func f(a: Int) {}", ANY),
    ("a.kt", "fun f(a: Int, vararg b: Int, c: Int = 3) {}", (1, 255)),
]
GIVEN = [
    ("a.rb", "f(1, b, &c)", (2, 2)),
    ("a.rb", "f 1, k: 2, 'a' => 3", (1, 2)),
    ("a.rb", "x.f", (0, 0)),
    ("a.rb", "x.f { |a| 1 }", (0, 0)),
    ("a.rb", "g(x.f, 1)", (0, 0)),
    ("a.rb", "f(*all)", ANY),
    ("a.rb", "f(1, <<~EOS)\n  text\nEOS\n", (2, 2)),
    ("a.rb", "alias g f", ANY),
    ("a.rb", "x.each do\n  alias g f\nend", ANY),
    ("a.rb", "g(&:f)", ANY),
    ("a.cs", "class A { void G() { f(a, out var q, b: 3); } }", (3, 3)),
    ("a.cs", "class A { void G() { g(() => x?.f<int>(1), 2); } }", (1, 1)),
    ("a.php", "<?php f(1, name: 2);", (2, 2)),
    ("a.php", "<?php f(...$all);", ANY),
    ("a.php", "<?php $g = f(...);", ANY),
    ("a.rs", "fn g() { f(1, /* c */ 2); }", (2, 2)),
    ("a.rs", "fn g() { a.f::<T>(1); }", (2, 2)),
    ("a.rs", "fn g() { A::f(&a, 1); }", (2, 2)),
    ("a.rs", 'fn g() { h(println!("{}", f(1, 2))); }', (2, 2)),
    ("a.rs", "fn g() { vec![f(1,)].len(); }", (1, 1)),
    ("a.rs", 'fn g() { format!("{}", x.f(1)).push(2, 3); }', (2, 2)),
    ("a.rs", "fn g() { vec![A::f(), x]; }", (0, 0)),
    ("a.rs", "fn g() { vec![f(|a, b| a)]; }", ANY),
    ("a.rs", "fn g() { vec![f(a as M<A, B>)]; }", ANY),
    ("a.rs", "macro_rules! m { ($($x:expr),*) => { f($($x),*) }; }", ANY),
    ("a.c", "void g() { p->f(1, (int){2}); }", (2, 2)),
    ("a.c", "void g() { f(PAIR); }", (1, MANY)),
    ("a.cpp", "void g() { f(x...); }", ANY),
    ("a.cpp", "void g() { A::f(1, {2, 3}); }", (2, 2)),
    ("a.swift", "func g() { f(1) }", ANY),
    ("a.kt", "fun g() { f(1) { 2 } }", (2, 2)),
]


@pytest.mark.parametrize(("path", "text", "count"), TAKEN)
def test_what_a_function_takes(path: str, text: str, count: tuple[int, int]) -> None:
    symbols = parse_file(path, text.encode()).symbols
    found = [symbol for symbol in symbols if symbol.name == "f" and symbol.kind is not SymbolKind.TYPE]
    assert [tuple(symbol.takes) for symbol in found] == [count]


@pytest.mark.parametrize(("path", "text", "count"), GIVEN)
def test_what_a_call_gives(path: str, text: str, count: tuple[int, int]) -> None:
    relations = parse_file(path, text.encode()).relations
    calls = [each for each in relations if each.kind is RelationKind.CALLS and each.target == "f"]
    assert [tuple(call.given) for call in calls] == [count]


def test_a_list_of_many_arguments_is_not_counted() -> None:
    """Nor a list that does not parse."""
    for inside in (", ".join(["1"] * 100), "1, )("):
        relations = parse_file("a.c", f"void g() {{ f({inside}); }}".encode()).relations
        assert all(each.given == ANY_COUNT for each in relations if each.target == "f")
