"""Names that are bound again in languages without facts: the typed variable before them is another one."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Certainty, Direction
from tests.graph.test_relations import ask

RUST = """struct Cart { owner: Owner }
struct Owner;
impl Owner { fn ask(&self) {} }
impl Cart { fn go(&self) {} fn copy(&self) -> Bag { Bag {} } }
struct Bag {}
impl Bag { fn go(&self) {} }
fn run(c: &Cart, bags: Vec<Bag>) {
    c.go();
    %s
}
"""
KOTLIN = """class Cart { fun go() {}; fun copy(): Bag = Bag() }
class Bag { fun go() {} }
class Shop { fun run(c: Cart, bags: List<Bag>) {
    c.go()
    %s
} }
"""
SWIFT = """class Cart { func go() {} func copy() -> Bag { Bag() } }
class Bag { func go() {} }
class Shop { func run(c: Cart, bags: [Bag]) {
    c.go()
    %s
} }
"""
PHP = """<?php
class Cart { function go() {} function copy() { return new Bag(); } }
class Bag { function go() {} }
class Shop { function run(Cart $c, array $bags) {
    $c->go();
    %s
} }
"""
SCALA = """class Cart { def go(): Unit = {}; def copy(): Bag = new Bag() }
class Bag { def go(): Unit = {} }
class Shop { def run(c: Cart, bags: List[Bag]) = {
    c.go()
    %s
} }
"""
HIDDEN = {
    "rust let": ("a.rs", RUST, "let c = c.copy();\n    c.go();"),
    "rust closure": ("a.rs", RUST, "\n    bags.iter().for_each(|c| c.go());"),
    "rust loop": ("a.rs", RUST, "\n    for c in bags { c.go(); }"),
    "rust pattern": ("a.rs", RUST, "\n    match bags.pop() { Some(c) => c.go(), None => {} }"),
    "rust condition": ("a.rs", RUST, "\n    if let Some(c) = bags.pop() { c.go(); }"),
    "kotlin val": ("a.kt", KOTLIN, "val c = make()\n    c.go()"),
    "kotlin lambda": ("a.kt", KOTLIN, "\n    bags.forEach { c -> c.go() }"),
    "kotlin loop": ("a.kt", KOTLIN, "\n    for (c in bags) { c.go() }"),
    "swift let": ("a.swift", SWIFT, "let c = make()\n    c.go()"),
    "swift closure": ("a.swift", SWIFT, "\n    bags.forEach { c in c.go() }"),
    "swift loop": ("a.swift", SWIFT, "\n    for c in bags { c.go() }"),
    "swift condition": ("a.swift", SWIFT, "\n    if let c = bags.first { c.go() }"),
    "swift while": ("a.swift", SWIFT, "\n    while let c = next() { c.go() }"),
    "swift case": ("a.swift", SWIFT, "\n    if case let .some(c) = bags.first { c.go() }"),
    "swift switch": ("a.swift", SWIFT, "\n    switch x { case .some(let c): c.go(); default: break }"),
    "php destructuring": ("a.php", PHP, "[$c, $d] = other();\n    $c->go();"),
    "php keys": ("a.php", PHP, "\n    foreach ($bags as $k => $c) { $c->go(); }"),
    "php global": ("a.php", PHP, "global $c;\n    $c->go();"),
    "php closure": ("a.php", PHP, "\n    each($bags, function ($c) { $c->go(); });"),
    "php arrow": ("a.php", PHP, "\n    each($bags, fn ($c) => $c->go());"),
    "php loop": ("a.php", PHP, "\n    foreach ($bags as $c) { $c->go(); }"),
    "php assignment": ("a.php", PHP, "$c = other();\n    $c->go();"),
    "scala lambda": ("a.scala", SCALA, "\n    bags.foreach(c => c.go())"),
    "scala val": ("a.scala", SCALA, "{ val c = make()\n    c.go() }"),
}


@pytest.mark.parametrize(("path", "code", "again"), HIDDEN.values(), ids=HIDDEN.keys())
def test_a_name_that_is_bound_again_is_another_variable(tmp_path: Path, path: str, code: str, again: str) -> None:
    """`c` was a cart; what it is now is not written, so the second call may be any `go`."""
    name = "Cart.go"
    found = ask(tmp_path, {path: code % again}, name, Direction.CALLERS)
    lines = {(line, step.edge.certainty) for step in found.steps for line in step.lines}
    first = (
        (code % again).split("\n").index(next(row for row in (code % again).split("\n") if "go()" in row.strip()[:8]))
    )
    assert (first + 1, Certainty.CERTAIN) in lines
    assert (first + 3, Certainty.CERTAIN) not in lines


KEPT = {
    "rust the right side still has the one before": ("a.rs", RUST, "let c = c.owner.ask();", "Owner.ask"),
    "rust behind the block": ("a.rs", RUST, "{ let c = bags; } c.owner.ask();", "Owner.ask"),
    "kotlin behind the block": ("a.kt", KOTLIN, "bags.forEach { c -> c }; c.copy()", "Cart.copy"),
    "swift behind a do": ("a.swift", SWIFT, "do { let c = Bag() }; c.copy()", "Cart.copy"),
    "swift the same without nothing": ("a.swift", SWIFT, "if let c = c { c.copy() }", "Cart.copy"),
    "swift a case of its name": ("a.swift", SWIFT, "if case .c = kind { c.copy() }", "Cart.copy"),
    "swift the short form": ("a.swift", SWIFT, "if let c { c.copy() }", "Cart.copy"),
    "php another variable": ("a.php", PHP, "$d = other(); $c->copy();", "Cart.copy"),
}


@pytest.mark.parametrize(("path", "code", "then", "name"), KEPT.values(), ids=KEPT.keys())
def test_what_is_bound_elsewhere_hides_nothing(tmp_path: Path, path: str, code: str, then: str, name: str) -> None:
    found = ask(tmp_path, {path: code % then}, name, Direction.CALLERS)
    assert [step.edge.certainty for step in found.steps] == [Certainty.CERTAIN]


def test_of_two_variables_each_has_its_own_type(tmp_path: Path) -> None:
    """Two blocks of one function may give a name to values of different types."""
    code = """struct Cart {}
impl Cart { fn go(&self) {} }
struct Bag {}
impl Bag { fn go(&self) {} }
fn run() {
    { let c: Cart = make(); c.go(); }
    { let c: Bag = make();
      c.go(); }
}
"""
    for name, line in (("Cart.go", 6), ("Bag.go", 8)):
        found = ask(tmp_path, {"a.rs": code}, name, Direction.CALLERS)
        assert [(step.lines, step.edge.certainty) for step in found.steps] == [((line,), Certainty.CERTAIN)]
