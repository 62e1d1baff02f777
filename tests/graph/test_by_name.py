"""Relations in languages without facts: as names say them, with all lines and with what is not read."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from graphrag_mcp.model.sources import Named
from graphrag_mcp.resolution import candidates, owners
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME
from tests.graph.test_relations import ask, ask_anew, rows
from tests.indexed import indexed

C = {
    "util.h": "int add(int a, int b);\n",
    "util.c": '#include "util.h"\nint add(int a, int b) { return a + b; }\n',
    "main.c": '#include "util.h"\nint twice(void) {\n  add(1, 1);\n  return add(2, 2);\n}\nop table[] = { add };\n',
    "broken.c": "int bad( { add(1,\n@@@ }}}\n",
}


def test_a_caller_in_c_has_all_of_its_lines_and_values_are_mentions(tmp_path: Path) -> None:
    """Both calls of one function, and the table of functions."""
    found = rows(tmp_path, C, "add", Direction.CALLERS)
    assert [row.partition(" ")[0] for row in found] == ["main.c:3", "main.c:4", "main.c:6"]


USERS = {
    "a.rs": "enum Mode { A, B }\n",
    "b.rs": "fn go(x: Mode) -> Mode {\n  match x {\n    Mode::A => 1,\n    Mode::B => 2,\n  }\n}\n",
    "A.cs": "class Kind { public static int One; }\n",
    "B.cs": "class B {\n  Kind Go(Kind x) {\n    var y = new Kind();\n    Kind z = x;\n    return y;\n  }\n}\n",
    "A.php": "<?php\nclass Level { const LOW = 1; const HIGH = 2; }\n",
    "B.php": "<?php\nfunction go(): Level {\n  f(Level::LOW);\n  return new Level(Level::HIGH);\n}\n",
    "a.rb": "class Color\n  RED = 1\n  BLUE = 2\nend\n",
    "b.rb": "def go\n  puts Color::RED\n  x = Color.new\n  Color::BLUE\nend\n",
}


@pytest.mark.parametrize(
    ("symbol", "path", "lines"),
    [
        ("Mode", "b.rs", [1, 3, 4]),
        ("Kind", "B.cs", [2, 3, 4]),
        ("Level", "B.php", [2, 3, 4]),
        ("Color", "b.rb", [2, 3, 4]),
    ],
)
def test_a_user_of_a_type_has_all_of_its_lines(tmp_path: Path, symbol: str, path: str, lines: list[int]) -> None:
    """Each once, whether it creates one or only names the type."""
    found = ask(tmp_path, USERS, symbol, Direction.USERS)
    assert sorted(line for step in found.steps for line in step.lines) == lines
    assert {(step.source.name.lower(), step.edge.path) for step in found.steps} == {("go", path)}


def test_a_caller_by_name_is_one_however_its_receivers_are_written(tmp_path: Path) -> None:
    """Of a parameter without a type, and of what a call returns: no type is known of either."""
    code = "struct A;\nimpl A { fn step(&self) {} }\nstruct B;\nimpl B { fn other(&self) {} }\n"
    uses = "fn go() {\n  let v = f();\n  v.step();\n  f().step();\n}\nfn next() { f().step(); }\n"
    found = ask(tmp_path, {"a.rs": code, "b.rs": uses}, "A.step", Direction.CALLERS)
    assert [(step.source.name, step.lines) for step in found.steps] == [("go", (3, 4)), ("next", (6,))]


REPLACED = {
    "A.cs": "class A { public virtual void Go() {} }\n",
    "B.cs": "class B : A {\n  [Old]\n  public override void Go() {}\n}\n",
    "C.cs": "class C : B { public override void Go() {} }\n",
    "Use.cs": "class Use { void Run(dynamic x) { x.Go(); } }\n",
}


def test_what_overrides_a_method_is_no_further_place_of_its_name(tmp_path: Path) -> None:
    """It is listed, or overrides another one: neither calls it."""
    found = ask(tmp_path, REPLACED, "A.Go", Direction.OVERRIDES, hops=3)
    assert [step.source.qualified_name for step in found.steps] == ["B.Go", "C.Go"]
    assert not found.doubt.undecided | found.doubt.undecided_on_the_way
    assert not ask(tmp_path, REPLACED, "C.Go", Direction.OVERRIDES).doubt.undecided


def test_a_place_that_is_listed_is_in_no_doubt(tmp_path: Path) -> None:
    """However many hops lead to it: a call of what implements the interface."""
    files = {
        "I.php": "<?php\ninterface I { function find(); }\n",
        "R.php": "<?php\nclass R implements I { function find() {} }\n",
        "u.php": "<?php\nfunction one() {\n  $r = new R();\n  $r->find();\n}\n",
    }
    with indexed(tmp_path, files) as app:
        impact = app.navigator().impact("I.find", 3)
    assert [(row.node.name, row.lines) for row in impact.reached] == [("find", (2,)), ("one", (4,))]
    assert not impact.doubt.undecided | impact.doubt.undecided_on_the_way


def test_a_file_of_c_that_does_not_parse_is_counted(tmp_path: Path) -> None:
    """What it calls is not known, as in languages with facts."""
    assert ask(tmp_path, C, "add", Direction.CALLERS).doubt.unparsed == {"broken.c"}


def test_a_value_that_is_no_function_is_not_handed_on(tmp_path: Path) -> None:
    """A constant of the name of an argument is not a function that is passed: it only has the name."""
    files = {"a.c": "const int limit = 1;\n", "b.c": "void go(void) { run(limit); }\n"}
    assert rows(tmp_path, files, "limit", Direction.CALLERS) == ["b.c:1 by name"]


@pytest.mark.parametrize(
    "asked", ["operator bool", "V::operator bool", "V::operator bool() const", "operator bool()", "V.operator bool"]
)
def test_a_conversion_operator_is_found_by_its_name(tmp_path: Path, asked: str) -> None:
    """With and without its type and its parameters."""
    files = {"v.cpp": "struct V { explicit operator bool() const { return test(); } };\n"}
    assert [node.qualified_name for node in ask(tmp_path, files, asked, Direction.CALLEES).starts] == [
        "V.operator bool"
    ]


@pytest.mark.parametrize("sign", ["==", "()", "[]", "->", "<", "*", "<=>", "+", " new", "&"])
def test_an_operator_is_found_by_its_sign(tmp_path: Path, sign: str) -> None:
    """Also where the sign separates names elsewhere."""
    files = {"v.cpp": f"struct V {{ void *operator{sign}(int x) {{ return f(x); }} }};\n"}
    found = ask(tmp_path, files, f"V::operator{sign}", Direction.CALLEES).starts
    assert [node.name for node in found] == [f"operator{sign}"]


def test_a_function_that_a_module_is_has_its_callers(tmp_path: Path) -> None:
    """Through `require`, by the function's own name."""
    files = {
        "one.js": "module.exports = async function doOne({ id }) { return id }\n",
        "use.js": "const doOne = require('./one')\nfunction u(a) { return doOne(a) }\n",
    }
    assert rows(tmp_path, files, "doOne", Direction.CALLERS) == ["use.js:2 certain"]


def test_a_base_is_the_type_and_not_its_constructor(tmp_path: Path) -> None:
    """Each subclass once, and no doubt which of the two is meant."""
    files = {
        "base.h": "class base {\n public:\n  base();\n  explicit base(int x);\n};\n",
        "sub.cpp": '#include "base.h"\nclass sub : public base {\n};\nvoid go() { f(base(1)); }\n',
    }
    assert rows(tmp_path, files, "base", Direction.SUBCLASSES) == ["sub.cpp:2 certain"]
    assert rows(tmp_path, files, "base", Direction.CALLERS) == ["sub.cpp:4 certain"]


def test_what_implements_a_trait_is_the_type_of_the_impl(tmp_path: Path) -> None:
    """Not the file; and the members of an impl for a reference to a generic type are those of the type."""
    code = """trait Read { fn next(&self); }
struct One {}
struct Two<T> { of: T }
impl Read for One { fn next(&self) {} }
impl<T> Read for &mut Two<T> { fn next(&self) { self.step() } }
impl<T> Two<T> { fn step(&self) {} }
"""
    found = ask(tmp_path, {"a.rs": code}, "Read", Direction.IMPLEMENTERS)
    assert [(step.source.name, *step.lines) for step in found.steps] == [("One", 4), ("Two", 5)]
    assert rows(tmp_path, {"a.rs": code}, "Two.step", Direction.CALLERS) == ["a.rs:5 certain"]


IMPORTS = {
    "req/__init__.py": "",
    "req/hooks.py": "HOOKS = 1\ndef hooks(): pass\n",
    "t.py": "from req import hooks\nhooks.HOOKS\n",
    "inc/token.h": "struct Token {};\n",
    "inc/memory.h": "class memory {};\n",
    "inc/yaml.h": "int y();\n",
    "a.cpp": '#include "token.h"\n#include <memory>\n',
    "b.cpp": '#include "inc/memory.h"\nint token;\n',
    "x.py": "import yaml\nimport memory\n",
    "a/Constants.java": "package a;\nclass Constants { static final int CR = 1; enum Kind { A } }\n",
    "a/P.java": "package a;\nimport static a.Constants.CR;\nimport static a.Constants.Kind.A;\nclass P {}\n",
    "src/main.rs": "mod walk;\nfn main() {}\n",
    "src/walk.rs": "fn f() {}\nmod tests {\n  use super::f;\n  use super::super::main;\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("req/hooks.py", ["t.py:1 certain"]),
        ("inc/token.h", ["a.cpp:1 certain"]),
        ("inc/memory.h", ["b.cpp:1 certain"]),
        ("inc/yaml.h", []),
        ("Constants", ["a/P.java:2 certain", "a/P.java:3 certain"]),
        ("Constants.Kind", ["a/P.java:3 certain"]),
        ("src/main.rs", ["src/walk.rs:4 certain"]),
    ],
)
def test_what_is_imported_is_told_from_what_has_its_name(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """A module from what it defines, a header from the library's, a file from one in another language."""
    assert rows(tmp_path, IMPORTS, symbol, Direction.IMPORTERS) == found


RUST = """enum Mode { A, B }
macro_rules! mine { () => {} }
fn mine() {}
fn parse() {}
fn format() { println!("{}", format!("a")); mine!(); }
fn n(x: Mode) { match x { Mode::A => 1, _ => 2 } }
fn o() { assert_eq!(Mode::B, rec(1)); }
fn rec(x: u8) { rec(x); v.iter().any(rec); }
struct Opts { #[arg(value_parser = parse)] a: u8 }
mod tests {
  #[test]
  fn t_rec() { super::rec(2); }
}
"""


@pytest.mark.parametrize(
    ("symbol", "direction", "lines"),
    [
        ("format", Direction.CALLERS, []),
        ("a.rs:2", Direction.CALLERS, [5]),
        ("a.rs:3", Direction.CALLERS, []),
        ("parse", Direction.CALLERS, [9]),
        ("Mode", Direction.USERS, [6, 7]),
        ("rec", Direction.CALLERS, [7, 8, 8, 12]),
        ("rec", Direction.TESTS, [12]),
    ],
)
def test_rust_macros_variants_attributes_and_tests_beside_the_code(
    tmp_path: Path, symbol: str, direction: Direction, lines: list[int]
) -> None:
    """`format!` is no call of `format`, and what is only tokens counts."""
    found = rows(tmp_path, {"a.rs": RUST}, symbol, direction)
    assert sorted(int(one.partition(":")[2].partition(" ")[0]) for one in found) == lines


def test_calls_between_overloads_of_one_name_are_calls(tmp_path: Path) -> None:
    """Which of them is meant is not known, and both are asked for."""
    text = """class X { int f(int a); int f(char b); };
int X::f(int a) { return f('c'); }
int X::f(char b) { return b; }
"""
    assert rows(tmp_path, {"a.cpp": text}, "X.f", Direction.CALLERS) == ["a.cpp:2 certain"]
    assert rows(tmp_path, {"a.cpp": text}, "a.cpp:3", Direction.CALLERS) == ["a.cpp:2 may call"]


OVERLOADS = {
    "k.h": "class K {\n public:\n  void put(int);\n  void put(const char*);\n  int* at(int i);\n"
    "  const int* at(int) const;\n  void only(unsigned int a, char* argv[], Node* const n);\n};\n"
    "inline void K::only(unsigned int x, char** argv, Node* n) {}\n"
    "int Parse(const char* s, int n = -1, std::map<A, B> m = f('=(,'));\nint Parse();\n"
    "int& ref(int a) { return a; }\nint& ref() { return b; }\n",
    "k.cpp": '#include "k.h"\nvoid K::put(int x) {}\nvoid K::put(const char* x) {}\n'
    "int Parse(const char* text, int n, map<A, B> m) { return 1; }\nint Parse() { return 1; }\n",
    "u.cpp": '#include "k.h"\nvoid a(K* k) { k->put(3); }\nvoid b(K* k) { k->at(1); }\n'
    'void c(K* k) { k->only(1, 0, 0); }\nvoid d() { Parse("y"); }\nvoid e() { Parse(); }\nvoid f() { ref(1); }\n'
    "void g() { Parse(1, 2, 3, 4); }\n",
    "W.cs": "class W {\n  static void Log(int x) {}\n  static void Log(string x) {}\n  T Get<T>(int x) => null;\n"
    "  object Get(int x) => null;\n  void A() { Log(1); Get<int>(2); Go(1); Go(); }\n  void Go(int x) {}\n"
    "  void Go() {}\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("k.cpp:2", ["u.cpp:2 may call"]),
        ("k.h:4", ["u.cpp:2 may call"]),
        ("k.h:5", ["u.cpp:3 may call"]),
        ("k.h:7", ["u.cpp:4 certain"]),
        ("k.cpp:4", ["u.cpp:5 certain", "u.cpp:8 may call"]),
        ("k.cpp:5", ["u.cpp:6 certain", "u.cpp:8 may call"]),
        ("k.h:12", ["u.cpp:7 certain"]),
        ("k.h:13", []),
        ("W.cs:2", ["W.cs:6 may call"]),
        ("W.cs:5", ["W.cs:6 may call"]),
        ("W.cs:7", ["W.cs:6 certain"]),
    ],
)
def test_a_call_is_one_of_the_overloads_that_take_it(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """What a header declares and another file defines is one, whatever its parameters are called there."""
    assert rows(tmp_path, OVERLOADS, symbol, Direction.CALLERS) == found


def test_the_same_for_different_builds_is_one_function(tmp_path: Path) -> None:
    """Each of them is called in some build."""
    code = "#if W\nvoid f(int x) {}\n#else\nvoid f(int y) {}\n#endif\nvoid g() { f(3); }\n"
    assert rows(tmp_path, {"a.cpp": code}, "a.cpp:4", Direction.CALLERS) == ["a.cpp:6 certain"]


TYPES = {
    "cart.rs": "pub struct Cart;\nimpl Cart {\n    pub fn build() -> Self { Cart }\n}\n",
    "app.rs": "struct App;\nimpl App {\n    fn build() -> App { App }\n    fn go() {\n        Cart::build();\n"
    "        Vec::build();\n        crate::tools::weigh();\n        std::weigh();\n    }\n}\n",
    "tools.rs": "pub fn weigh() {}\n",
    "Cart.php": "<?php\nclass Shop { static function sum() {} }\nclass Till { static function sum() {} }\n"
    "class Desk extends Till {}\nfunction day() { Shop::sum(); Intl::sum();\n  Desk::sum();\n}\n",
    "cart.rb": "class Crate\n  def self.load\n  end\nend\nclass Truck\n  def self.load\n    Crate.load\n"
    "    LIST.load\n  end\nend\n",
    "Cart.cs": "class Box { public static void Fill() {} }\nclass Bag {\n"
    "  public static void Fill() { Box.Fill(); }\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Cart.build", ["app.rs:5 certain"]),
        ("App.build", []),
        ("weigh", ["app.rs:7 certain"]),
        ("Shop.sum", ["Cart.php:5 certain"]),
        ("Till.sum", ["Cart.php:6 by name"]),
        ("Crate.load", ["cart.rb:7 certain"]),
        ("Truck.load", []),
        ("Box.Fill", ["Cart.cs:3 certain"]),
        ("Bag.Fill", []),
    ],
)
def test_a_type_or_module_before_a_name_says_whose_it_is(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """The own namesake is not meant; nor is anything by a member of what the project does not have."""
    assert rows(tmp_path, TYPES, symbol, Direction.CALLERS) == found


OVERRIDDEN = {
    "shape.php": "<?php\nabstract class Shape {\n  abstract function area();\n  function name() {}\n}\n"
    "class Disc extends Shape {\n  function area() { return 1; }\n}\nclass Other {\n  function area() {}\n}\n",
    "draw.rs": "trait Draw {\n    fn draw(&self);\n}\nstruct Pen;\nimpl Draw for Pen {\n    fn draw(&self) {}\n}\n"
    "impl Pen {\n    fn new() -> Pen { Pen }\n}\n",
    "deep.php": "<?php\ninterface Door { function open(); }\nabstract class Gate implements Door {}\n"
    "class Hatch extends Gate {\n  function open() {}\n}\nfunction go(Door $door) {\n  $door->open();\n}\n",
    "Tool.cs": "interface ITool { void Use(); }\nclass Saw : ITool {\n  public void Use() {}\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Shape.area", ["shape.php:7 "]),
        ("Draw.draw", ["draw.rs:6 "]),
        ("Door.open", ["deep.php:5 "]),
        ("ITool.Use", ["Tool.cs:3 "]),
        ("Other.area", []),
    ],
)
def test_a_method_is_overridden_where_a_type_below_has_its_name(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Whatever else is called the same is none."""
    overrides = rows(tmp_path, OVERRIDDEN, symbol, Direction.OVERRIDES)
    assert [row.partition(" ")[0] + " " for row in overrides] == found


def test_a_call_of_what_a_method_overrides_may_run_it(tmp_path: Path) -> None:
    """Of the own instance in the type above; neither what it calls above itself, nor a call of an instance."""
    files = {
        "shape.php": "<?php\nabstract class Shape {\n  abstract function area();\n  function show() {\n"
        "    return $this->area();\n  }\n}\nclass Disc extends Shape {\n"
        "  function area() { return parent::area(); }\n}\n"
    }
    files["use.php"] = "<?php\nfunction go() {\n  $shape = new Shape();\n  $shape->area();\n}\n"
    assert rows(tmp_path, files, "Disc.area", Direction.CALLERS) == ["shape.php:5 may call"]
    assert rows(tmp_path, files, "Shape.area", Direction.CALLERS) == [
        "shape.php:5 certain",
        "shape.php:9 certain",
        "use.php:4 by name",
    ]


CLASSES = {
    "a.php": "<?php\nclass Cart { function add() {} }\nclass Till { function add() {} }\n"
    "class Shop {\n  private Cart $kept;\n  function go(Till $till, $any) {\n    $till->add();\n"
    "    $this->kept->add();\n    $cart = new Cart();\n    $cart->add();\n  }\n}\n",
    "A.cs": "class Box { public void Fill() {} }\nclass Bag { public void Fill() {} }\nclass Desk {\n  Bag bag;\n"
    "  void Go(Box box) {\n    box.Fill();\n    bag.Fill();\n    var one = new Bag();\n    one.Fill();\n  }\n}\n",
    "a.rs": "struct Pen;\nimpl Pen {\n    fn ink(&self) {}\n}\nstruct Nib;\nimpl Nib {\n    fn ink(&self) {}\n}\n"
    "struct Hand { nib: Nib }\nimpl Hand {\n    fn go(&self, pen: &Pen) {\n        pen.ink();\n"
    "        self.nib.ink();\n    }\n}\n",
    "a.cc": "class Cog { public: void turn() {} };\nclass Rod { public: void turn() {} };\n"
    "void run(Cog& cog, Rod* rod) {\n"
    "  cog.turn();\n  rod->turn();\n}\n",
    "a.rb": "class Log\n  def put\n  end\nend\nclass Net\n  def put\n  end\nend\nclass Uses\n  def initialize\n"
    "    @log = Log.new\n"
    "  end\n  def go\n    @log.put\n    net = Net.new\n    net.put\n  end\nend\n",
    "a.kt": "class Fox {\n  fun run() {}\n}\nclass Hen {\n  fun run() {}\n}\nclass Yard(private val fox: Fox) {\n"
    "  fun go(hen: Hen) {\n    fox.run()\n    hen.run()\n  }\n}\n",
    "a.swift": "class Oak { func grow() {} }\nclass Elm { func grow() {} }\nclass Wood {\n  let oak: Oak\n"
    "  func go(elm: Elm) {\n    self.oak.grow()\n    elm.grow()\n  }\n}\n",
    "a.scala": "class Sea { def rise() = 1 }\nclass Bay { def rise() = 2 }\nclass Map(sea: Sea) {\n"
    "  def go(bay: Bay) = {\n"
    "    sea.rise()\n    bay.rise()\n  }\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Cart.add", ["a.php:8 certain", "a.php:10 by name"]),
        ("Till.add", ["a.php:7 certain"]),
        ("Box.Fill", ["A.cs:6 certain"]),
        ("Bag.Fill", ["A.cs:7 certain", "A.cs:9 certain"]),
        ("Pen.ink", ["a.rs:12 certain"]),
        ("Nib.ink", ["a.rs:13 certain"]),
        ("Cog.turn", ["a.cc:4 certain"]),
        ("Rod.turn", ["a.cc:5 certain"]),
        ("Log.put", ["a.rb:14 by name"]),
        ("Net.put", ["a.rb:16 by name"]),
        ("Fox.run", ["a.kt:9 certain"]),
        ("Hen.run", ["a.kt:10 certain"]),
        ("Oak.grow", ["a.swift:6 certain"]),
        ("Elm.grow", ["a.swift:7 certain"]),
        ("Sea.rise", ["a.scala:5 certain"]),
        ("Bay.rise", ["a.scala:6 certain"]),
    ],
)
def test_a_variable_says_whose_member_is_meant(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Certain where it is declared with the type, by name where it is only given an instance."""
    assert rows(tmp_path, CLASSES, symbol, Direction.CALLERS) == found


SHOPS = """\
struct Cart;
impl Cart { fn new() -> Result<Cart, ()> { Ok(Cart) }  fn pay(&self) {} }
struct Till;
impl Till { fn pay(&self) {} }
enum Shop { Cart(Cart), Till(Till), None }
fn go(shop: Shop) -> Result<(), ()> {
    let any = Cart::new()?;
    any.pay();
    let any = Till::open().await?;
    any.pay();
    let cart = Cart::new().unwrap();
    cart.pay();
    match shop {
        Shop::Cart(one) => one.pay(),
        Shop::Till(one) => one.pay(),
        Some(one) => one.pay(),
    }
    let any: Till = Cart::from(1)?;
    pay::pay();
}
mod pay { pub fn pay() {} }
"""


@pytest.mark.parametrize(("symbol", "lines"), [("Cart.pay", (8, 12, 14)), ("Till.pay", (10, 15))])
def test_what_is_taken_out_of_a_result_or_a_variant_has_a_type(
    tmp_path: Path, symbol: str, lines: tuple[int, ...]
) -> None:
    """By name: each `let` is another variable, and a variant holds what is called as it is, but `Some` anything."""
    found = rows(tmp_path, {"a.rs": SHOPS}, symbol, Direction.CALLERS)
    assert [row for row in found if row != "a.rs:16 by name"] == [f"a.rs:{line} by name" for line in lines]


def test_a_variable_with_several_types_says_nothing(tmp_path: Path) -> None:
    """Nor does the member of a member, whose type another file knows."""
    files = {
        "a.php": "<?php\nclass Cart { function add() {} }\nclass Till { function add() {} }\nfunction go($x) {\n"
        "  $any = new Cart();\n  $any = new Till();\n  $any->add();\n  $cart = new Cart();\n  $x->cart->add();\n}\n"
    }
    found = rows(tmp_path, files, "Cart.add", Direction.CALLERS)
    assert found == ["a.php:7 by name", "a.php:9 by name"]
    assert rows(tmp_path, files, "Till.add", Direction.CALLERS) == found


def test_what_a_type_far_above_is_asked_for_may_run_the_method(tmp_path: Path) -> None:
    """Also where the types between have none."""
    assert rows(tmp_path, OVERRIDDEN, "Hatch.open", Direction.CALLERS) == ["deep.php:8 may call"]


def test_a_path_from_elsewhere_is_by_name_and_a_foreign_value_is_none(tmp_path: Path) -> None:
    """`minus::Pager` is another crate's, or the own one's by its name; `Candidate` is imported from one."""
    files = {
        "pager.rs": "pub struct Pager;\nimpl Pager {\n    pub fn new() -> Pager { Pager }\n}\n",
        "map.rs": "use globset::Candidate;\npub struct Map;\nimpl Map {\n    fn new() -> Map { Map }\n"
        "    fn all(x: Vec<A>) {\n        x.iter().map(Candidate::new);\n        minus::Pager::new();\n"
        "        crate::pager::Pager::new();\n    }\n}\n",
    }
    assert rows(tmp_path, files, "Pager.new", Direction.CALLERS) == ["map.rs:8 certain", "map.rs:7 by name"]
    assert rows(tmp_path, files, "Map.new", Direction.CALLERS) == []


NAMED_BY_MANIFESTS = {
    "Cargo.toml": '[package]\nname = "my-app"\n',
    "vendored/Cargo.toml": '[package]\nname = "my-app"\n',
    "src/pager.rs": "pub struct Pager;\nimpl Pager {\n    pub fn new() -> Pager { Pager }\n"
    "    pub fn go(&self) {}\n}\n",
    "src/main.rs": "use minus::Pager;\nfn a(p: Pager) {\n    Pager::new();\n    p.go();\n}\n",
    "src/bin/tool/main.rs": "use my_app::pager::Pager;\nuse crate::a;\nfn b(p: Pager) {\n"
    "    Pager::new();\n    p.go();\n}\n",
    "composer.json": '{"autoload": {"psr-4": {"Acme\\\\Shop\\\\": "lib/"}}}',
    "lib/Till.php": "<?php\nnamespace Acme\\Shop;\nclass Till { function add() {} static function make() {} }\n",
    "lib/A.php": "<?php\nuse Vendor\\Till;\nfunction a(Till $t) {\n  $t->add();\n  Till::make();\n}\n",
    "lib/B.php": "<?php\nuse Acme\\Shop\\Till;\nfunction b(Till $t) {\n  $t->add();\n  Till::make();\n}\n",
    "Common.cs": "namespace Mine { class Common { public static void Go() {} } }\n",
    "Use.cs": "using System.Data.Common;\nusing Mine;\nclass Use { void Run() {\n  Common.Go();\n} }\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Pager.new", ["src/bin/tool/main.rs:4 certain", "src/main.rs:3 by name"]),
        ("Pager.go", ["src/bin/tool/main.rs:5 certain", "src/main.rs:4 by name"]),
        ("Till.add", ["lib/B.php:4 certain", "lib/A.php:4 by name"]),
        ("Till.make", ["lib/B.php:5 certain", "lib/A.php:5 by name"]),
        ("Common.Go", ["Use.cs:4 certain"]),
    ],
)
def test_what_a_foreign_module_gives_is_not_certainly_ours(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """The manifests say which modules are the project's own."""
    assert rows(tmp_path, NAMED_BY_MANIFESTS, symbol, Direction.CALLERS) == found


CREATED = {
    "a.php": "<?php\nclass Cart { function __construct(int $x) {} }\nclass Sub extends Cart {\n"
    "  function __construct() { parent::__construct(1); }\n}\nclass Low extends Cart {}\n"
    "function go() {\n  new Cart(1);\n  new Sub();\n  new Low(1);\n}\n",
    "a.rb": "class Pen\n  def initialize(x)\n  end\nend\ndef draw\n  Pen.new(1)\nend\n",
    "a.kt": "class Fox { constructor(x: Int) { } }\nfun hunt() {\n  Fox(1)\n}\n",
    "a.swift": "class Oak { init(x: Int) { } }\nfunc plant() {\n  _ = Oak(x: 1)\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Cart.__construct", ["a.php:4 certain", "a.php:8 certain", "a.php:10 certain"]),
        ("Sub.__construct", ["a.php:9 certain"]),
        ("Pen.initialize", ["a.rb:6 certain"]),
        ("Fox.constructor", ["a.kt:3 certain"]),
        ("Oak.init", ["a.swift:3 certain"]),
    ],
)
def test_the_creation_of_an_instance_calls_the_constructor(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Its own, or the nearest above; one that is below is never run for it."""
    assert rows(tmp_path, CREATED, symbol, Direction.CALLERS) == found


HANDED_ON = {
    "a.php": "<?php\nclass Cart { function go() {} static function tell() {} }\nclass Till { function go() {} }\n"
    "function use_it(Cart $c) {\n  array_map([$c, 'go'], []);\n  array_map([Cart::class, 'tell'], []);\n"
    "  $x = ['go', 'tell'];\n}\n",
    "a.rs": "macro_rules! twice { ($e:expr) => { helper($e); other::deep($e) } }\npub fn helper(x: u8) {}\n"
    "pub mod other { pub fn deep(x: u8) {} }\n",
    "A.cs": "enum Row { Fill, Other }\nclass Box {\n  public void Fill() {}\n  public void Sink(int x) {}\n}\n"
    "class Use {\n  void Run(Box b, int Mix) {\n    E += b.Sink;\n    Each(Mix);\n    Each(Row.Fill);\n"
    "    Each(Size.Sink);\n    Each(Free);\n    Action a = Free;\n  }\n  void Mix() {}\n  static void Free() {}\n}\n",
    "a.lua": "local function going() end\nlocal stopping = function() end\nlocal M = {}\nfunction M.runs() end\n"
    "on(stopping, M.runs)\nlocal function f(going) h(going) end\nt = { going = going }\nreturn going\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Cart.go", ["a.php:5 certain"]),
        ("Till.go", []),
        ("Cart.tell", ["a.php:6 certain"]),
        ("helper", ["a.rs:1 certain"]),
        ("deep", ["a.rs:1 certain"]),
        ("Box.Sink", ["A.cs:8 certain"]),
        ("Box.Fill", []),
        ("Use.Mix", []),
        ("Use.Free", ["A.cs:12 certain", "A.cs:13 certain"]),
        ("stopping", ["a.lua:5 certain"]),
        ("M.runs", ["a.lua:5 certain"]),
        ("going", ["a.lua:7 certain", "a.lua:8 certain"]),
    ],
)
def test_a_function_as_a_value_is_told(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """A local variable of its name is none, nor is the member of another type; macros of Rust call, too."""
    assert rows(tmp_path, HANDED_ON, symbol, Direction.CALLERS) == found


def test_a_call_of_the_method_above_means_that_of_the_nearest_type_which_has_one(tmp_path: Path) -> None:
    """Also in another file; what creates other types is not counted among the undecided places."""
    files = {
        "cart.php": "<?php\nclass Cart { function __construct() {} }\nclass Box extends Cart {}\n",
        "far.php": "<?php\nclass Far extends Box {\n  function __construct() {\n    parent::__construct();\n  }\n}\n",
        "till.php": "<?php\nclass Till { function __construct() {} }\nfunction go() {\n  new Till();\n}\n",
        "use.php": "<?php\nfunction use_it() {\n  new Cart();\n  new Till();\n}\n",
    }
    assert rows(tmp_path, files, "Cart.__construct", Direction.CALLERS) == ["far.php:4 by name", "use.php:3 by name"]
    assert not ask(tmp_path, files, "Cart.__construct", Direction.CALLERS, unresolved=True).doubt.undecided


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", '{"autoload": []}', '{"autoload": {"psr-4": {"A": [1, {}]}}}'])
def test_a_broken_manifest_says_nothing(tmp_path: Path, text: str) -> None:
    """Whatever stands in it, what names say is still found."""
    files = {**NAMED_BY_MANIFESTS, "composer.json": text, "Cargo.toml": text, "vendored/Cargo.toml": text}
    assert "lib/B.php:4 by name" in rows(tmp_path, files, "Till.add", Direction.CALLERS)
    assert "src/bin/tool/main.rs:4 by name" in rows(tmp_path, files, "Pager.new", Direction.CALLERS)


def test_calls_among_too_many_overloads_are_undecided_and_told(tmp_path: Path) -> None:
    """None is said only where it is known."""
    overloads = "".join(f"  void go(T{number} x) {{}}\n" for number in range(MOST_OF_A_NAME + 1))
    files = {"A.cs": f"class A {{\n{overloads}  void run() {{ this.go(1); }}\n}}\n"}
    doubt = ask(tmp_path, files, "A.go", Direction.CALLERS, unresolved=True).doubt
    assert doubt.undecided == {("A.cs", MOST_OF_A_NAME + 3)}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (
            {
                "request.rb": "class Request\n  def head(k)\n    k\n  end\nend\n",
                "other.rb": "class Other\n  def head(k)\n    k\n  end\nend\n",
                "use.rb": "require_relative 'request'\ndef serve(request)\n  request.head(1)\nend\n",
            },
            "Request.head",
        ),
        (
            {
                "request.lua": "local M = {}\nfunction M.head() end\nreturn M\n",
                "other.lua": "local N = {}\nfunction N.head() end\nreturn N\n",
                "use.lua": 'require "request"\nlocal function f(request) request.head() end\n',
            },
            "M.head",
        ),
    ],
)
def test_a_parameter_is_no_module_for_its_name(tmp_path: Path, files: dict[str, str], name: str) -> None:
    """An import without an alias binds no name in Ruby and Lua, so a variable of the file's name is anything."""
    assert all("by name" in row for row in rows(tmp_path, files, name, Direction.CALLERS))


PHP = {
    "composer.json": '{"autoload": {"psr-4": {"A\\\\B\\\\": "src/"}}}',
    "src/K.php": "<?php\nnamespace A\\B;\nclass K { static function s() {} }\n",
    "src/X/K.php": "<?php\nnamespace A\\B\\X;\nclass K { static function s() {} }\n",
    "src/T.php": "<?php\nnamespace A\\B;\ntrait T {}\n",
    "src/Use.php": "<?php\nnamespace A\\B;\nclass U {\n use T;\n function x() {\n  new K();\n  return K::s();\n }\n}\n",
    "src/Far.php": "<?php\nnamespace A\\B;\nclass Far {\n function x() {\n  new \\K();\n  new X\\K();\n }\n}\n",
}


def test_a_type_without_a_namespace_is_of_the_files_own(tmp_path: Path) -> None:
    """As PHP reads it; one that is written with a namespace is not."""
    found = rows(tmp_path, PHP, "src/K.php::K", Direction.CALLERS)
    assert ["by name" in row for row in found if row.startswith("src/Use.php")] == [False, False]
    assert all("by name" in row for row in found if row.startswith("src/Far.php"))
    assert not any("by name" in row for row in rows(tmp_path, PHP, "T", Direction.IMPLEMENTERS))
    assert not any("by name" in row for row in rows(tmp_path, PHP, "src/K.php::K.s", Direction.CALLERS))


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"a.rb": "class Bag\n  def []=(k, v)\n  end\nend\n"}, "Bag.[]="),
        ({"a.rb": "class Bag\n  def each\n  end\nend\n"}, "Bag.each"),
        ({"a.kt": "class Bag { operator fun plus(o: Bag): Bag = this }\n"}, "Bag.plus"),
        ({"a.cpp": "struct Bag { ~Bag() { close(); } };\n"}, "Bag.~Bag"),
        ({"a.rs": "struct Bag;\nimpl Drop for Bag { fn drop(&mut self) {} }\n"}, "Bag.drop"),
        ({"a.php": '<?php\nclass Bag { function __toString() { return ""; } }\n'}, "Bag.__toString"),
        ({"a.cs": "class Bag { public void Dispose() {} }\n"}, "Bag.Dispose"),
    ],
)
def test_what_code_calls_without_a_name_is_not_said_to_have_no_callers(
    tmp_path: Path, files: dict[str, str], name: str
) -> None:
    """Operators, and what runs at the end of a scope or in a loop."""
    assert ask(tmp_path, files, name, Direction.CALLERS).doubt.is_implicit
    assert not ask(tmp_path, files, "Bag", Direction.CALLERS).doubt.is_implicit


def test_a_type_that_a_pattern_compares_with_is_used(tmp_path: Path) -> None:
    """In C#, with and without a variable for the value."""
    tests = ("if (x is Deep) {}", "if (x is not Deep) {}", "if (x is Deep d) {}", "switch (x) { case Deep: break; }")
    lines = [f"  void M{number}(object x) {{ {test} }}\n" for number, test in enumerate(tests)]
    files = {"a.cs": "class Deep {}\nclass Use {\n" + "".join(lines) + "}\n"}
    found = [row.partition(" ")[0] for row in rows(tmp_path, files, "Deep", Direction.USERS)]
    assert found == ["a.cs:3", "a.cs:4", "a.cs:5", "a.cs:6"]


MODULES = {
    "Cargo.toml": '[package]\nname = "demo"\n',
    "src/lib.rs": """pub struct Buf;
impl Buf { pub fn make() -> Buf { Buf } }
pub fn helper() {}
pub fn plain() {}
pub fn deep() {}
macro_rules! all { ($($x:expr),*) => { $( deep(); $crate::helper(); )* }; }
pub fn user() { crate::helper(); assert!(crate::inner::one(crate::Buf::make())); plain(); }
pub mod inner {
    pub fn one() { super::helper(); self::two() }
    fn two() {}
    mod low { fn three() { super::super::helper(); helper(); super::two() } }
}
mod tests {
    fn helper() {}
    fn plain() { super::plain(); }
    mod deep { fn calls() { deep(); } }
    fn calls() {
        helper();
        super::helper();
    }
}
""",
    "src/other.rs": "use crate::helper;\nfn o() { helper(); super::plain(); self::p(); }\nfn p() {}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("src/lib.rs:3", ["lib.rs:11", "lib.rs:19", "lib.rs:6", "lib.rs:7", "lib.rs:9", "other.rs:2"]),
        ("tests.helper", ["lib.rs:18"]),
        ("src/lib.rs:4", ["lib.rs:15", "lib.rs:7", "other.rs:2"]),
        ("tests.plain", []),
        ("src/lib.rs:5", ["lib.rs:16", "lib.rs:6"]),
        ("one", ["lib.rs:7"]),
        ("two", ["lib.rs:11", "lib.rs:9"]),
        ("Buf.make", ["lib.rs:7"]),
        ("p", ["other.rs:2"]),
    ],
)
def test_a_path_says_the_module_and_the_innermost_one_decides(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Modules in files have names of their own, as those of tests beside the code mostly do."""
    wanted = [f"src/{place} certain" for place in found]
    assert sorted(rows(tmp_path, MODULES, symbol, Direction.CALLERS)) == wanted


def test_a_type_without_a_name_has_members(tmp_path: Path) -> None:
    """A slice, a tuple or an array implements a trait; a variant with the trait's name is none."""
    types = ["[u8]", "(u8,\n  B)", "[u8; 3]", "()", "&[B]", "dyn B", "[u8; { /* Do\nthis! */ 1 }]"]
    code = "trait Area { fn area(&self); }\nenum Kind { Area }\nstruct B;\n"
    code += "".join(f"impl Area for {kind} {{ fn area(&self) {{}} }}\n" for kind in types)
    found = ask(tmp_path, {"a.rs": code}, "Area.area", Direction.OVERRIDES)
    names = [row.source.qualified_name.removesuffix(".area") for row in found.steps]
    assert names == ["[u8]", "(u8, B)", "[u8; 3]", "()", "[B]", "B", "[]"]
    assert len(rows(tmp_path, {"a.rs": code}, "Area", Direction.IMPLEMENTERS)) == len(types)
    assert rows(tmp_path, {"a.rs": code}, "Kind.Area", Direction.USERS) == []


CRATE = {
    "Cargo.toml": '[package]\nname = "demo"\n',
    "src/lib.rs": "mod directive;\nmod filter;\npub mod writer;\nmod logger;\nuse directive::enabled;\n"
    "pub fn init() {}\n",
    "src/directive.rs": "pub(crate) fn enabled(d: &[u8]) -> bool { true }\n",
    "src/filter.rs": """use crate::enabled;
use std::fmt;
pub struct Filter { level: u8 }
pub struct Formatter;
impl Filter {
    pub fn enabled(&self) -> bool { enabled(&self.d) }
    pub fn level(&self) -> u8 { get(level()) }
}
impl fmt::Display for Formatter { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { todo!() } }
mod tests {
    use super::{enabled, Filter};
    fn a() { fn handler() {} run(handler); assert!(enabled(&[])); }
    fn b() { fn handler() {} run(handler); }
}
""",
    "src/writer.rs": "pub struct Builder;\nimpl Builder { pub fn new() -> Self { Builder } }\n",
    "src/logger.rs": """pub struct Builder { writer: crate::writer::Builder, other: writer::Builder }
pub fn make() -> crate::writer::Builder { check!(crate::writer::Builder::new()) }
pub fn made() { demo::writer::Builder::new(); cookie::Builder::new() }
pub trait Log { type Error; fn log(&self) -> u8; fn keep(&self, x: Result<u8, Self::Error>); }
pub struct Out;
impl Out { pub fn log(&self) -> u8 { 1 } pub fn keep(&self) {} }
impl Log for Out { type Error = u8; fn log(&self) -> u8 { self.log() } fn keep(&self, x: Error) {} }
macro_rules! defs { ($x:expr) => { fn made(self) {} }; }
""",
    "tests/t.rs": "fn main() { demo::init(); }\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("src/directive.rs:1", Direction.CALLERS, ["filter.rs:12 certain", "filter.rs:6 certain"]),
        ("Filter.enabled", Direction.CALLERS, []),
        ("src/filter.rs:3", Direction.CALLERS, ["filter.rs:5 certain"]),
        ("Filter.level", Direction.CALLERS, []),
        ("Formatter", Direction.USERS, ["filter.rs:9 certain"]),
        ("tests.a.handler", Direction.CALLERS, ["filter.rs:12 certain"]),
        ("tests.b.handler", Direction.CALLERS, ["filter.rs:13 certain"]),
        (
            "src/writer.rs:1",
            Direction.USERS,
            [*(f"logger.rs:{line} certain" for line in (1, 1, 2, 3)), "writer.rs:2 certain"],
        ),
        ("src/logger.rs:1", Direction.USERS, []),
        ("src/writer.rs:2", Direction.CALLERS, ["logger.rs:2 certain", "logger.rs:3 certain"]),
        ("src/logger.rs:3", Direction.CALLERS, []),
        ("Log.log", Direction.OVERRIDES, ["logger.rs:7 certain"]),
        ("Log.keep", Direction.OVERRIDES, ["logger.rs:7 certain"]),
        ("Log.Error", Direction.USERS, ["logger.rs:4 certain"]),
        ("init", Direction.CALLERS, ["tests/t.rs:1 certain"]),
    ],
)
def test_a_path_in_a_crate_is_read_as_a_whole(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    """A bare call means no method, another crate's type is none of this one, and what is in a function stays there."""
    assert [row.removeprefix("src/") for row in sorted(rows(tmp_path, CRATE, symbol, direction))] == found


CPP = {
    "a.h": """#pragma once
namespace bm {
class Base {
 public:
  virtual void Set(int) {}
};
namespace internal { int Register(int); }
class EXPORT DEPRECATED("old") Csv : public Base {
 public:
  void Set(int) override;
};
struct Report { static const int kB = 1; void Run() {} };
}
#define BENCH(f) static int reg_##f = ::bm::internal::Register(1)
#define CHECK(x) do { if (!(x)) throw 1; } while (0)
#define CHECK_EQ(a, b) \\
  CHECK((a) == (b))
#define APPLY(make, x) make(x)
class Lock { public: Lock(int) {} };
class Barrier { public:
  bool wait() EXCLUDES(l_) { Lock ml(l_); return true; }
  bool leave() const REQUIRES(l_) EXCLUDES(l_) { return false; }
};
class Manager { Barrier b_; public: bool go() { return b_.wait(); } };
""",
    "b.cc": """#include "a.h"
class Two : public ::bm::Base { public: void Set(int) override {} };
struct Other { void Run() {} };
int make(int x) { return x; }
void use(bm::Report& r, std::unique_ptr<bm::Report> p, foreign::Report* f) {
  r.Run();
  p->Run();
  bm::Report local;
  local.Run();
  auto* heap = new bm::Report();
  heap->Run();
  f->Run();
  int x = bm::Report::kB;
}
void only(int x) { take(bm::Report::kB); }
""",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("Register", Direction.CALLERS, ["a.h:14 certain"]),
        ("CHECK", Direction.CALLERS, ["a.h:17 certain"]),
        ("make", Direction.CALLERS, []),
        ("Base", Direction.SUBCLASSES, ["a.h:8 certain", "b.cc:2 certain"]),
        ("Base.Set", Direction.OVERRIDES, ["a.h:10 certain", "b.cc:2 certain"]),
        ("Barrier.wait", Direction.CALLERS, ["a.h:24 certain"]),
        ("Barrier.leave", Direction.CALLERS, []),
        (
            "Report.Run",
            Direction.CALLERS,
            ["b.cc:11 certain", "b.cc:12 by name", "b.cc:6 certain", "b.cc:7 by name", "b.cc:9 certain"],
        ),
        ("Other.Run", Direction.CALLERS, []),
        ("Report", Direction.USERS, [f"b.cc:{line} certain" for line in (10, 13, 15, 5, 8)]),
    ],
)
def test_macros_and_namespaces_of_cpp_are_read(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    """What a macro calls, macros beside a class and behind a method, and types in namespaces."""
    assert sorted(rows(tmp_path, CPP, symbol, direction)) == found


def test_a_call_through_an_interface_in_another_implementation_may_run_the_method(tmp_path: Path) -> None:
    """But `super.name()` does not, and no method takes the calls of another one on its line."""
    files = {
        "A.cs": "interface IStore { void Put(int x); }\n"
        "class Disk : IStore { public void Put(int x) {} public void Flush() {} }\n"
        "class Cached : IStore {\n  IStore inner;\n  public void Put(int x) { inner.Put(x); }\n}\n"
    }
    assert rows(tmp_path, files, "Disk.Put", Direction.CALLERS) == ["A.cs:5 may call"]
    assert rows(tmp_path, files, "Disk.Flush", Direction.CALLERS) == []


KOTLIN = {
    "main/kotlin/p/Core.kt": """package p
import com.foreign.Spec
abstract class Adapter { abstract fun read(): Int
  interface Factory { fun create(): Adapter } }
class Builder { fun build() = 1 }
sealed interface Ib { fun area(): Int }
data class Sb(val s: Int) : Ib { override fun area() = s }
public class Options
private constructor(
  val strings: String,
) {
  fun size(): Int = 1
}
class One : Adapter.Factory { override fun create(): Adapter = throw Error() }
class By(f: Adapter.Factory) : Adapter.Factory by f
open class Holder { companion object : Adapter.Factory { override fun create(): Adapter = throw Error() } }
class Named { companion object Made : Adapter.Factory { override fun create(): Adapter = throw Error() } }
object Std : Adapter.Factory { override fun create(): Adapter = throw Error() }
fun helper() = 1 // { not }
""",
    "test/kotlin/p/Use.kt": """package p
import com.foreign.Spec
fun a(spec: Spec.Builder) { spec.build() }
fun b(o: Options, f: Adapter.Factory) { o.size(); f.create(); helper(); register(Std) }
fun c() { val made = Sb(1)
  made.area() }
""",
    "main/kotlin/q/Far.kt": "package q\nimport p.helper\nfun d() = helper()\n",
    "main/kotlin/q/Off.kt": "package q\nfun e() = helper()\n",
}
SWIFT = {
    "Sources/M/Core.swift": """import Glibc
protocol Cont { func upd() }
extension Optional: Cont { func upd() {} }
struct Box { static let shared = Box()
  func run() {} }
enum Plat { static func quit() { Glibc.quit() } }
""",
    "Tests/T/T.swift": """@testable import M
final class HelpTests { struct Optional { var a: Int } }
struct Mine: Cont { func upd() {} }
func value() { take(Box.self) }
func shared() { _ = Box.shared }
func method(b: inout Box, o: Box?) { b.run()
  o.run()
  let made = Box()
  made.run()
  let g = Box.run }
""",
}


@pytest.mark.parametrize(
    ("files", "symbol", "direction", "found"),
    [
        (KOTLIN, "Builder.build", Direction.CALLERS, []),
        (KOTLIN, "Adapter", Direction.SUBCLASSES, []),
        (KOTLIN, "Factory", Direction.IMPLEMENTERS, [f"Core.kt:{line} certain" for line in (14, 15, 17, 18)]),
        (KOTLIN, "Factory.create", Direction.CALLERS, ["Use.kt:4 certain"]),
        (KOTLIN, "Options.size", Direction.CALLERS, ["Use.kt:4 certain"]),
        (KOTLIN, "Ib.area", Direction.OVERRIDES, ["Core.kt:7 certain"]),
        (KOTLIN, "Sb.area", Direction.CALLERS, ["Use.kt:6 certain"]),
        (KOTLIN, "helper", Direction.CALLERS, ["Far.kt:3 certain", "Off.kt:2 by name", "Use.kt:4 certain"]),
        (KOTLIN, "Std", Direction.USERS, ["Use.kt:4 certain"]),
        (SWIFT, "Cont", Direction.IMPLEMENTERS, ["Core.swift:3 certain", "T.swift:3 certain"]),
        (SWIFT, "HelpTests.Optional", Direction.SUPERCLASSES, []),
        (SWIFT, "Plat.quit", Direction.CALLERS, []),
        (
            SWIFT,
            "Box",
            Direction.USERS,
            ["Core.swift:4 certain", *(f"T.swift:{line} certain" for line in (10, 4, 5, 6, 8))],
        ),
        (SWIFT, "Box.run", Direction.CALLERS, [f"T.swift:{line} certain" for line in (10, 6, 7, 9)]),
    ],
)
def test_types_in_types_and_in_packages_are_told_apart(
    tmp_path: Path, files: dict[str, str], symbol: str, direction: Direction, found: list[str]
) -> None:
    """A base or type in another one is that one's, a foreign one is none; a package needs no import."""
    assert sorted(row.rpartition("/")[2] for row in rows(tmp_path, files, symbol, direction)) == found


def test_a_test_that_leads_to_a_definition_by_name_is_by_name(tmp_path: Path) -> None:
    """Although it certainly calls what may call the definition."""
    tests = (
        'mod tests {\n  use super::*;\n  #[test] fn works() { number("1"); }\n  #[test] fn is_sure() { sure(x); }\n}\n'
    )
    files = {
        "src/filter.rs": "pub struct Builder;\nimpl Builder {\n  pub fn read(&self, s: &str) -> usize { 1 }\n}\n",
        "src/parser.rs": "pub fn number(part: &str) -> usize { part.read(1) }\n"
        'pub fn sure(b: &Builder) { b.read(""); }\n' + tests,
    }
    found = rows(tmp_path, files, "Builder.read", Direction.TESTS)
    assert sorted(found) == ["src/parser.rs:5 by name", "src/parser.rs:6 certain"]


LOCALS = {
    "Cargo.toml": '[package]\nname = "p"\n',
    "src/lib.rs": "mod m;\nmod n;\n",
    "src/m.rs": "pub fn run() -> i32 { 2 }\n",
    "src/n.rs": """pub fn run() -> i32 { 1 }
    fn a() { let run = || 2; run(); (run)(); println!("{}", run()); }
    fn b(run: fn() -> i32) { run(); }
    fn c() { use crate::m::run; run(); }
    fn d(v: Vec<F>) { for run in v { run(); } }
    fn e(v: Option<F>) { v.map(|run| run()); if let Some(run) = v { run(); } else { go(); }
      run(); println!("{}", self.run()); }
    fn f() { let run = run(); run }
    fn g(Run(x): Run) { Run(1); }
    struct Run(u8);
    """,
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [("src/m.rs:1", ["src/n.rs:4 certain"]), ("src/n.rs:1", ["src/n.rs:7 certain", "src/n.rs:8 certain"])],
)
def test_a_local_variable_that_is_called_is_no_function_of_its_name(
    tmp_path: Path, symbol: str, found: list[str]
) -> None:
    """Nor is what a function imports itself that of the file; a value before a variable's name is not the variable."""
    assert [row for row in rows(tmp_path, LOCALS, symbol, Direction.CALLERS) if row.endswith("certain")] == found
    assert "src/n.rs:9 certain" in rows(tmp_path, LOCALS, "Run", Direction.USERS)


def test_a_field_is_not_called_where_a_method_has_its_name(tmp_path: Path) -> None:
    """The field may have any value."""
    files = {
        "a.rs": "struct Timer {\n  start: u32,\n}\nimpl Timer {\n  fn start() {} }\nfn go() { Timer::start(); }\n",
        "a.php": "<?php\nclass C {\n  private $size;\n  function size() { return 3; }\n"
        "  function go() { return $this->size(); }\n}\n",
    }
    for field in ("a.rs:2", "a.php:3"):
        assert not any(row.endswith("certain") for row in rows(tmp_path, files, field, Direction.CALLERS))
    assert rows(tmp_path, files, "a.rs:5", Direction.CALLERS) == ["a.rs:6 certain"]
    assert rows(tmp_path, files, "a.php:4", Direction.CALLERS) == ["a.php:5 certain"]


GENERIC = {
    "a.rs": """pub type Second = f64;
    pub enum Unit { Second, Milli }
    fn a(d: i32) { Unit::Second.show(d); }
    fn b(d: i32) { format!("{}", take(Some(Unit::Second), d)); }
    fn c() -> Second { 1.0 }
    pub struct Rng;
    impl Rng { fn make() {} }
    fn d<Rng: Area>(r: Rng) -> Vec<Rng> { Rng::make() }
    struct Held<Rng>(Rng);
    fn e(r: Rng) { Rng::make() }
    impl TryFrom<Rng> for usize {
      fn try_from(n: Rng) -> Self { 1 } }
    fn f(x: i64) { usize::try_from(x); }
    """,
    "a.cpp": "class Item {};\ntemplate <typename Item> Item f(Item x) { return Item(x); }\nItem g();\n",
    "a.cs": "class Item {}\nclass Box<Item> { Item x; }\nclass Bag { Item x; }\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("a.rs:1", Direction.USERS, [5]),
        ("Rng", Direction.USERS, [7, 10, 11, 12]),
        ("Rng.make", Direction.CALLERS, [10]),
        ("usize.try_from", Direction.CALLERS, []),
        ("a.cpp:1", Direction.USERS, [3]),
        ("a.cs:1", Direction.USERS, [3]),
    ],
)
def test_a_name_that_means_something_else_where_it_is_used(
    tmp_path: Path, symbol: str, direction: Direction, found: list[int]
) -> None:
    """A variant, a parameter for types, and what a foreign type has besides the project's."""
    certain = [row for row in rows(tmp_path, GENERIC, symbol, direction) if row.endswith("certain")]
    assert sorted({int(row.partition(":")[2].split()[0]) for row in certain}) == found


WRITTEN = {
    "b.h": "class Base {\n public:\n  Base(int x);\n  Base();\n};\n"
    "class Top : public Base {\n  Top() : Base(3), Base_(4) {}\n  int Base_;\n};\n",
    "b.cpp": '#include "b.h"\nBase::Base(int x) : y_(x) {}\nDer::Der() : Base(3), m_(4) {}\nvoid a() { Base b(1); }\n'
    "void c() { Base b{1}; }\nvoid d() { Base b(1, 2); }\n",
    "a.php": "<?php\nclass Box {\n  function __construct($x) {}\n  static function make() { return new self(1); }\n"
    "  static function late() { return new static(2); }\n}\nclass Sub extends Box {\n"
    "  function up($x) {\n    if ($x instanceof Box) { return new parent(3); }\n  }\n}\n",
    "a.cs": "class Base {\n  public Base(int x) {}\n  public Base() : this(1) {}\n}\nclass Use : Base {\n"
    "  public Use(int y) : base(7) {}\n  static Use One = new(3);\n  Use? Two { get; } = new(4);\n"
    "  Use Make() => new(5);\n  void Go() { Use u = new(6); }\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("b.cpp:2", Direction.CALLERS, ["b.cpp:3 by name", "b.cpp:4 certain", "b.cpp:5 may call", "b.h:7 certain"]),
        ("Box.__construct", Direction.CALLERS, ["a.php:4 certain", "a.php:5 by name", "a.php:9 certain"]),
        ("Box", Direction.USERS, ["a.php:4 certain", "a.php:5 by name", "a.php:7 certain", "a.php:9 certain"]),
        ("a.cs:2", Direction.CALLERS, ["a.cs:3 certain", "a.cs:6 certain"]),
        ("Use.Use", Direction.CALLERS, [f"a.cs:{line} certain" for line in (10, 7, 8, 9)]),
    ],
)
def test_a_constructor_is_called_however_its_type_is_written(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    """By a word for the type, by that of a variable, or in the list of what a constructor initialises."""
    assert sorted({*rows(tmp_path, WRITTEN, symbol, direction)}) == found


def test_a_constant_is_used_wherever_it_is_a_value(tmp_path: Path) -> None:
    """Of an argument, operand or handler as of what is called with a dot; not where it is defined."""
    code = """class Lost < StandardError; end
    class Lost; end
    class U
      use Lost
      def a; raise Lost; end
      def b(x); x == Lost; end
      def c
        a
      rescue Lost => e
        [Lost]
      end
      def d(x); case x; when Lost then 1; end; end
      def e(x = Lost); y = Lost; end
      def f(Lost:); end
    end
    """
    found = rows(tmp_path, {"a.rb": code}, "Lost", Direction.USERS)
    assert found == [f"a.rb:{line} certain" for line in (4, 5, 6, 9, 10, 12, 13)]


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Parse.String", ["A.cs:4 certain", "A.cs:5 certain"]),
        ("Foo.Read", ["A.cs:14 certain"]),
        ("Document.Read", ["A.cs:15 certain"]),
    ],
)
def test_what_is_before_a_member_says_whose_it_is_in_whatever_words(
    tmp_path: Path, symbol: str, found: list[str]
) -> None:
    """A method may be called as a type of the system, and a field as a type of the project."""
    code = """class Parse { public static int String(string s) { return 1; } }
    class X {
      void A() {
        Parse.String("a");
        Parse.String("b");
      }
    }
    namespace N {
      public class Document { public static void Read(string s) {} }
      public class Foo { public void Read(string s) {} }
      public class Xml { public static Foo Document = null; }
      class Y {
        void B() {
          Xml.Document.Read("x");
          N.Document.Read("y");
        }
      }
    }
    """
    assert rows(tmp_path, {"A.cs": code}, symbol, Direction.CALLERS) == found


ONE_OF_TWO = {
    "a.java": "class V {\n  void put(int x) {}\n  void put(String x) {}\n}\n"
    "class U { void go(V v) { v.put(lib.X.one()); } }\n",
    "a.swift": "class V {\n  func put(_ x: Int) {}\n  func put(_ x: String) {}\n}\nfunc go(v: V) { v.put(1) }\n",
    "a.scala": "class V {\n  def put(x: Int): Unit = {}\n  def put(x: String): Unit = {}\n}\n"
    "object U { def go(v: V) = v.put(1) }\n",
    "b.scala": "class V {\n  def put(x: Int)(y: Int): Unit = {}\n  def put(x: Int): Unit = {}\n}\n"
    "object U { def go(v: V) = v.put(1)(2) }\n",
    "a.kt": "class V {\n  fun put(x: Int) {}\n  fun put(x: String) {}\n}\nfun go(v: V) { v.put(1) }\n",
    "a.cs": "class V {\n  void put(int x) {}\n  void put(string x) {}\n}\nclass U { void Go(V v) { v.put(1); } }\n",
    "a.cpp": "struct V {\n  void put(int x) {}\n  void put(double x) {}\n};\nvoid go(V v) { v.put(1); }\n",
}


@pytest.mark.parametrize("path", ONE_OF_TWO)
def test_a_call_of_an_overload_is_certain_if_all_are_asked_for(tmp_path: Path, path: str) -> None:
    """Which of them it is does not matter then; of one of them it is only possible."""
    files = {path: ONE_OF_TWO[path]}
    assert rows(tmp_path, files, "V.put", Direction.CALLERS) == [f"{path}:5 certain"]
    assert rows(tmp_path, files, f"{path}:3", Direction.CALLERS) == [f"{path}:5 may call"]


def test_a_call_that_may_mean_an_overload_elsewhere_stays_possible(tmp_path: Path) -> None:
    """Two types have the name, and the receiver is not known."""
    other = "class W {\n  fun put(x: Int) {}\n  fun put(x: String) {}\n}\n"
    files = {"a.kt": ONE_OF_TWO["a.kt"], "b.kt": other, "c.kt": "fun all(x: Any) { make(x).put(1) }\n"}
    assert "c.kt:1 certain" not in rows(tmp_path, files, "V.put", Direction.CALLERS)


GIVEN = """class Box {
    fun close() {}
    fun go(s: java.io.Writer) {
        s.apply { close() }
        with(s) { close() }
        s.run { listOf(1).forEach { close() } }
        s.apply<Any> { close() }
        s.apply({ close() })
        s.let { close() }
        s.apply { helper(); Box() }
    }
}
fun helper() {}
"""
GIVEN_IN_RUBY = """class Box
  def close; end
  def go(o)
    o.instance_eval do
      close
      close()
    end
    o.tap { close }
  end
end
"""


@pytest.mark.parametrize(
    ("files", "symbol", "found"),
    [
        ({"a.kt": GIVEN}, "Box.close", ["a.kt:9 certain", *(f"a.kt:{line} by name" for line in range(4, 9))]),
        ({"a.kt": GIVEN}, "helper", ["a.kt:10 certain"]),
        ({"a.kt": GIVEN}, "Box", ["a.kt:10 certain"]),
        ({"a.kt": GIVEN, "b.kt": "class Other { fun close() {} }\n"}, "Other.close",
         [f"a.kt:{line} by name" for line in range(4, 9)]),
        ({"a.rb": GIVEN_IN_RUBY}, "Box.close", ["a.rb:8 certain", "a.rb:5 by name", "a.rb:6 by name"]),
    ],
)  # fmt: skip
def test_a_bare_call_may_be_of_the_value_that_its_block_is_given(
    tmp_path: Path, files: dict[str, str], symbol: str, found: list[str]
) -> None:
    """Where the file has a function of that name, this is meant."""
    assert rows(tmp_path, files, symbol, Direction.CALLERS) == found


OF_OVERLOADS = {
    "a.cpp": "struct Base {\n  virtual void run(int x);\n  virtual void stop() const;\n};\n"
    "struct A : Base { void run(double x); void stop(); };\n"
    "struct B : A { void run(int) override; void stop() const; };\n"
    "struct C : Base { void run(number x) override; };\nvoid go(Base* b) { b->run(1); }\n",
    "a.kt": "interface Sink<T> {\n  fun put(x: Int)\n  fun put(x: String)\n  fun any(x: T)\n}\n"
    "class A : Sink<Long> {\n  override fun put(y: Int) {}\n  override fun put(y: String) {}\n"
    "  override fun any(x: Long) {}\n}\n",
    "a.cs": "class B {\n  public virtual int X => F(1);\n  public virtual void Put(int a) {}\n"
    "  public virtual void Put(string b) {}\n}\nclass M : B { public override void Put(int a) {} }\nclass D : M {\n"
    "  public override int X => G(2);\n  public override void Put(int c) {}\n"
    "  public override void Put(string c) {}\n}\n",
    "c.cs": "class B { public virtual void Put(int a) {} }\nclass M : B { public override void Put(int b) {} }\n"
    "class N : B { public void Put(int a) {} }\nclass O : B { public new void Put(int a) {} }\n",
    "b.cpp": "struct Base {\n  virtual void run(int x\n    , int y);\n};\n"
    "struct A : Base { void run(int x, int y); };\n",
    "b.swift": "public protocol Adapter {\n"
    "  func adapt(_ x: Int, for s: S, done: @escaping @Sendable (_ result: R<Int, any Error>) -> Void)\n"
    "  func adapt(_ x: Int, using s: S, done: @escaping @Sendable (_ result: R<Int, any Error>) -> Void)\n}\n"
    "public protocol Interceptor: Adapter {}\nextension Interceptor {\n"
    "  public func adapt(_ x: Int, for s: S, done: @escaping (R<Int, any Error>) -> Void) {}\n}\n"
    "class One: Interceptor {\n  func adapt(_ y: Int, using s: S, done: @escaping (R<Int, any Error>) -> Void) {}\n}\n",
    "a.swift": "class B {\n  func put(at x: Int) {}\n  func put(_ x: Int) {}\n}\n"
    "class D: B { override func put(at y: Int) {} }\n",
}


@pytest.mark.parametrize(
    ("path", "symbol", "direction", "found"),
    [
        ("a.cpp", "Base.run", Direction.OVERRIDES, ["a.cpp:6 certain", "a.cpp:7 certain"]),
        ("a.cpp", "Base.stop", Direction.OVERRIDES, ["a.cpp:6 certain"]),
        ("a.cpp", "A.run", Direction.CALLERS, []),
        ("a.cpp", "B.run", Direction.CALLERS, ["a.cpp:8 may call"]),
        ("b.cpp", "Base.run", Direction.OVERRIDES, ["b.cpp:5 certain"]),
        ("a.kt", "a.kt:2", Direction.OVERRIDES, ["a.kt:7 certain"]),
        ("a.kt", "Sink.any", Direction.OVERRIDES, ["a.kt:9 certain"]),
        ("a.cs", "a.cs:3", Direction.OVERRIDES, ["a.cs:6 certain"]),
        ("a.cs", "a.cs:4", Direction.OVERRIDES, ["a.cs:10 certain"]),
        ("c.cs", "B.Put", Direction.OVERRIDES, ["c.cs:2 certain"]),
        ("a.cs", "M.Put", Direction.OVERRIDES, ["a.cs:9 certain"]),
        ("a.cs", "B.X", Direction.OVERRIDES, ["a.cs:8 certain"]),
        ("b.swift", "b.swift:2", Direction.OVERRIDES, ["b.swift:7 certain"]),
        ("b.swift", "b.swift:3", Direction.OVERRIDES, ["b.swift:10 certain"]),
        ("a.swift", "a.swift:2", Direction.OVERRIDES, ["a.swift:5 certain"]),
        ("a.swift", "a.swift:3", Direction.OVERRIDES, []),
    ],
)
def test_a_method_overrides_the_overload_that_has_its_parameters(
    tmp_path: Path, path: str, symbol: str, direction: Direction, found: list[str]
) -> None:
    """If none has them as they are written, those with as many; in C++ only what says that it overrides."""
    assert rows(tmp_path, {path: OF_OVERLOADS[path]}, symbol, direction) == found


@pytest.mark.parametrize(
    ("path", "code", "symbol", "found"),
    [
        ("a.rs", "struct DB;\nimpl DB { fn own() {} }\nfn go() {\n  DB::own();\n  each(DB::own);\n}\n", "DB.own",
         ["a.rs:4 certain", "a.rs:5 certain"]),
        ("a.cpp", "struct DB { static void own(); };\nvoid go() {\n  DB::own();\n}\n", "DB.own", ["a.cpp:3 certain"]),
        ("a.php", "<?php\nclass DB { static function own() {} }\nfunction go() {\n  DB::own();\n}\n", "DB.own",
         ["a.php:4 certain"]),
    ],
)  # fmt: skip
def test_a_type_in_capitals_is_one_before_a_path(
    tmp_path: Path, path: str, code: str, symbol: str, found: list[str]
) -> None:
    """No constant has members there, and what is a parameter for types is known."""
    assert rows(tmp_path, {path: code}, symbol, Direction.CALLERS) == found


def test_a_method_is_compared_with_a_few_overloads_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many types above have one with other parameters."""
    compared: list[str] = []

    def are_alike(own: Named, other: Named) -> bool:
        compared.append(own.name)
        return candidates.are_alike(own, other)

    monkeypatch.setattr(owners, "are_alike", are_alike)
    types = range(1, 40)
    code = "struct C0 {};\n" + "".join(f"struct C{i} : C{i - 1} {{ void put(T{i} x); }};\n" for i in types)
    assert not ask_anew(tmp_path, {"a.cpp": code}, "C1.put", Direction.OVERRIDES).steps
    assert 0 < len(compared) <= len(types) * owners.MOST_OVERLOADS
