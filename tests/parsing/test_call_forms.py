"""Calls: in every language, each form of a call or of a function as a value makes the function around it a caller.

`calls.EXTENSION.txt` of a language has on its first line a function with its body at "@", then one form a line; a line
break within one is "⏎".
"""

from collections.abc import Iterator

import pytest

from graphrag_mcp.model.files import RelationKind
from tests.parsing.code_samples import FOLDERS, parse_lines


def _forms() -> Iterator[tuple[str, str, str]]:
    for file in sorted(FOLDERS.glob("*/calls.*.txt")):
        around, *forms = file.read_text(encoding="utf-8").strip().split("\n")
        for form in forms:
            yield file.name.removesuffix(".txt"), form.replace("⏎", "\n"), around.replace("⏎", "\n")


def _called(path: str, code: str) -> set[tuple[str, str]]:
    """Return the functions that the relations of a file say to be called or handed on, each with its caller."""
    kinds = (RelationKind.CALLS, RelationKind.HANDS_ON)
    relations = [one for one in parse_lines(path, code).relations if one.kind in kinds]
    return {(one.source, one.target.rstrip("!")) for one in relations}


@pytest.mark.parametrize(("path", "form", "around"), list(_forms()))
def test_every_form_of_a_call_makes_a_caller(path: str, form: str, around: str) -> None:
    """With a prefix, in a text, as a default, condition or guard, without parentheses, by reference."""
    assert "f" in {target for _, target in _called(path, around.replace("@", form))}


@pytest.mark.parametrize(
    "code",
    [
        "def caller(price)\n  price + 1\nend",
        "def caller\n  price = 1\n  price + 1\nend",
        "def caller\n  price ||= 1\n  price\nend",
        "def caller\n  a, (price, b) = 1\n  price\nend",
        "def caller\n  [1].each { |price| price + 1 }\nend",
        "def caller\n  price = 1\n  [1].each { price }\nend",
        "def caller(a, price: 1, **rest)\n  price\nend",
        "def caller(&price)\n  price\nend",
        "def caller\n  run\nrescue Broken => price\n  price\nend",
        "def caller\n  for price in all do price end\nend",
        "def caller(x)\n  case x\n  in {name: price} then price\n  end\nend",
        "def caller(x)\n  case x\n  in {price:} then price\n  end\nend",
        "caller = ->(price) { price }",
    ],
)
def test_a_local_variable_of_ruby_is_no_call(code: str) -> None:
    """Whatever binds it, in the block around it or in one further out."""
    assert "price" not in {target for _, target in _called("a.rb", code)}


@pytest.mark.parametrize(
    "code",
    [
        "def caller\n  price\n  price = 1\nend",
        "price = 1\ndef caller\n  price\nend",
        "def caller\n  [1].each { |price| price }\n  price\nend",
        "def other(price)\nend\n\ndef caller\n  price\nend",
    ],
)
def test_a_name_of_ruby_is_a_call_where_the_variable_is_not_seen(code: str) -> None:
    """Before it is set, outside of its block, and in another method."""
    assert ("caller", "price") in _called("a.rb", code)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.c", "op t[] = { add };"),
        ("a.c", "struct s k = { .f = add };"),
        ("a.c", "void go(void) { run(add); }"),
        ("a.c", "void go(void) { run(&add); }"),
        ("a.c", "void go(struct s *k) { k->f = add; }"),
        ("a.c", "op go(void) { return add; }"),
        ("a.c", "op go(int x) { return x ? add : 0; }"),
        ("a.c", "void go(void) { op k = (op)add; }"),
        ("a.cpp", "void go() { run(A::add); }"),
        ("a.cpp", "void go() { std::bind(&A::add, this); }"),
        ("a.rs", "fn go() { let k = K { f: add }; }"),
        ("a.rs", "const T: [Op; 1] = [add];"),
        ("a.kt", "fun go() { run(::add) }"),
        ("a.ex", "defmodule A do\n  def go(x), do: Enum.map(x, &add/2)\nend"),
        ("a.rb", "class A\n  before_action :add, only: :show\nend"),
        ("a.rb", "def go\n  method(:add)\nend"),
    ],
)
def test_a_function_as_a_value_is_handed_on(path: str, code: str) -> None:
    """In a table, a field, an argument, a variable, a result, by symbol."""
    assert "add" in {one.target for one in parse_lines(path, code).relations if one.kind is RelationKind.HANDS_ON}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.c", "void go(int add) { run(add); }"),
        ("a.c", "void go(void) { int *add = 0; run(add, &add); }"),
        ("a.c", "static int add;\nvoid go(void) { run(add); }"),
        ("a.c", "void go(void) { run(ADD); }"),
        ("a.rs", "fn go(add: i32) { run(add); }"),
        ("a.rs", "fn go() { if let Some(add) = x { run(add); } }"),
    ],
)
def test_a_variable_is_not_handed_on_as_a_function(path: str, code: str) -> None:
    """Nor what has the form of a constant."""
    found = {one.target.lower() for one in parse_lines(path, code).relations if one.kind is RelationKind.HANDS_ON}
    assert "add" not in found


@pytest.mark.parametrize(
    ("path", "around"),
    [
        ("a.c", "int go() {\n%s\n}"),
        ("a.rb", "def go\n%s\nend"),
        ("a.rs", "fn go() {\n%s\n}"),
        ("a.php", "<?php\nfunction go() {\n%s\n}"),
    ],
)
def test_a_caller_has_all_of_its_lines(path: str, around: str) -> None:
    """Where no facts have the lines, the relations have them."""
    code = around % "add(1, 1);\n\nadd(2, 2);"
    lines = [one.line for one in parse_lines(path, code).relations if one.kind is RelationKind.CALLS]
    first = code.split("\n").index("add(1, 1);") + 1
    assert lines == [first, first + 2]
