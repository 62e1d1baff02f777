"""Members and those of types above in languages without facts: properties, static ones, bounds of types."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from graphrag_mcp.tools.trace_relations import TRACE
from tests.graph.test_relations import ask_anew, rows
from tests.indexed import indexed

PROPERTIES = {
    "a.cs": "interface IShape { string Label { get; } }\n"
    "abstract class Shape : IShape {\n"
    '  public string Label => "";\n'
    "  [Key(1)] public abstract int Size { get; }\n"
    "  public virtual int Edge { get; set; }\n"
    "  public int Plain = 1;\n"
    "  private int Own { get; }\n"
    "}\n"
    "class Ring : Shape {\n"
    "  public override int Size => 2;\n"
    "  public new int Edge => 3;\n"
    "  public int Plain = 4;\n"
    "  public int Own => 5;\n"
    "}\n"
    "record Dot(string Label) : IShape;\n",
    "a.kt": "interface Tree { val bark: String }\n"
    "open class Oak(override val bark: String) : Tree { open val leaf = 1; val root = 2 }\n"
    "class Elm(bark: String) : Oak(bark) { override val leaf = 3 }\n",
    "a.swift": "protocol Boat {\n  var mast: Int { get }\n  static var kind: String { get }\n}\n"
    "extension Boat {\n  var flag: Int { 1 }\n}\n"
    "class Sloop: Boat {\n  private(set) var mast = 1\n"
    '  static let kind = ""\n  let flag = 2\n  var keel: Int { 1 }\n}\n'
    "class Yawl: Sloop {\n  override var keel: Int { 2 }\n}\n",
    "a.php": "<?php\ninterface Cheese { public string $rind { get; } }\n"
    "abstract class Brie implements Cheese {\n  public string $rind;\n  protected $age = 1;\n"
    "  abstract public int $fat { get; }\n}\n"
    "class Ripe extends Brie {\n  protected $age = 2;\n  public int $fat = 3;\n}\n",
    "a.rs": "trait Limit { const MOST: usize; fn go(&self); }\nstruct Few;\n"
    "impl Limit for Few {\n    const MOST: usize = 3;\n    fn go(&self) {}\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("IShape.Label", ["a.cs:3 certain", "a.cs:15 certain"]),
        ("Shape.Size", ["a.cs:10 certain"]),
        ("Shape.Edge", []),
        ("Shape.Plain", []),
        ("Shape.Own", []),
        ("Tree.bark", ["a.kt:2 certain"]),
        ("Oak.leaf", ["a.kt:3 certain"]),
        ("Boat.mast", ["a.swift:9 certain"]),
        ("Boat.kind", ["a.swift:10 certain"]),
        ("Boat.flag", []),
        ("Sloop.keel", ["a.swift:15 certain"]),
        ("Cheese.rind", ["a.php:4 certain"]),
        ("Brie.age", []),
        ("Brie.fat", ["a.php:10 certain"]),
        ("Limit.MOST", ["a.rs:4 certain"]),
    ],
)
def test_a_property_overrides_what_it_says_or_what_is_demanded(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """A plain field with the name of one above, and a property that hides one, override none."""
    assert rows(tmp_path, PROPERTIES, symbol, Direction.OVERRIDES) == found


def test_a_property_overrides_no_more_when_the_one_above_changes(tmp_path: Path) -> None:
    """The file of the type below is resolved again, though nothing of it changed."""
    below = "class Low : High {\n  public int Size = 2;\n}\n"
    for word, found in (("interface", 1), ("class", 0)):
        above = f"{word} High {{\n  int Size {{ get; }}\n}}\n"
        trace = ask_anew(tmp_path, {"High.cs": above, "Low.cs": below}, "High.Size", Direction.OVERRIDES)
        assert len(trace.steps) == found


def test_a_type_above_that_only_a_member_is_called_like_is_outside(tmp_path: Path) -> None:
    """A type of the repository would be one."""
    code = "class Tag : Mark { public virtual int Size => 1; }\nclass Pen { int Mark { get; } }\n"
    with indexed(tmp_path, {"a.cs": code}) as app:
        call = TRACE.read({"symbol": "Tag.Size", "direction": "overrides"}, app.settings, app.root)
        assert "what is outside of this repository: Mark." in TRACE.write(app.ask(TRACE.ask, call), call)


CALLED = {
    "a.cs": "class Fault {\n"
    "  public static Fault Make(int a) => null;\n  public virtual void Show(int a) {}\n"
    "  public virtual void Show() {}\n"
    "}\n"
    "class Crash : Fault {\n"
    "  public static Crash Make(Fault a) => null;\n  public override void Show() {}\n  private void Hide() {}\n"
    "}\n"
    "class Use {\n  void One(Fault fault) {\n    Fault.Make(1);\n    fault.Show();\n    fault.Show(2);\n  }\n}\n",
    "a.php": "<?php\nclass Plant {\n  static function grow() { static::water(); }\n  static function water() {}\n}\n"
    "class Fern extends Plant {\n  static function water() {}\n}\nfunction go(Plant $x) {\n  Plant::water();\n"
    "  $x->water();\n}\n",
    "a.rb": "class Stove\n  def self.light\n  end\nend\nclass Range < Stove\n  def self.light\n  end\nend\n"
    "Stove.light\n",
    "a.cpp": "struct Reel { virtual void spin(); static void wind(); };\n"
    "struct Coil : Reel { void spin() override; static void wind(); };\n"
    "void go(Reel &reel) {\n  reel.spin();\n  Reel::wind();\n}\n",
    "a.rs": "trait Fish { fn swim(&self); }\nstruct Carp;\nimpl Fish for Carp {\n    fn swim(&self) {}\n}\n"
    "fn go(x: &dyn Fish) {\n    Fish::swim(x);\n    x.swim();\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Crash.Make", []),
        ("Crash.Show", ["a.cs:14 may call"]),
        ("Fern.water", ["a.php:3 may call", "a.php:11 may call"]),
        ("Range.light", []),
        ("Coil.spin", ["a.cpp:4 may call"]),
        ("Coil.wind", []),
        ("Carp.swim", ["a.rs:7 may call", "a.rs:8 may call"]),
    ],
)
def test_a_call_of_a_type_or_with_other_arguments_reaches_nothing_below(
    tmp_path: Path, symbol: str, found: list[str]
) -> None:
    """But what is before the name of a member of a trait is no receiver."""
    assert rows(tmp_path, CALLED, symbol, Direction.CALLERS) == found


def test_a_static_method_overrides_none(tmp_path: Path) -> None:
    """Unless that is abstract."""
    code = (
        "interface ISum { static abstract int Zero(); static int One() => 1; }\n"
        "class Sum : ISum {\n  public static int Zero() => 0;\n  public static int One() => 2;\n}\n"
    )
    for symbol, found in (("ISum.Zero", ["a.cs:3 certain"]), ("ISum.One", [])):
        assert rows(tmp_path, {"a.cs": code}, symbol, Direction.OVERRIDES) == found


BOUNDS = {
    "a.cs": "interface ISink { void Pour(); }\ninterface IOther { void Pour(); }\n"
    "class A<T> where T : class, ISink {\n  T own;\n"
    "  void One<S>(S sink) where S : struct, IOther {\n    sink.Pour();\n    own.Pour();\n  }\n"
    "  void Two<S>(S sink) where S : ISink, IOther {\n    sink.Pour();\n  }\n}\n",
    "a.rs": "trait Source { fn drink(&self); fn make(); }\ntrait Other { fn drink(&self); }\n"
    "struct Cup<R> { inner: R }\nimpl<R: Source> Cup<R> {\n    fn one(&self) {\n        self.inner.drink();\n    }\n}\n"
    "fn two<R>(mut r: R) where R: Other + Send + 'static {\n    r.drink();\n}\n"
    "fn three(r: &mut impl Source, d: &dyn Other, b: Box<dyn Source>) {\n"
    "    r.drink();\n    d.drink();\n    b.drink();\n}\n"
    "fn four<R: Source>() {\n    R::make();\n}\n",
    "a.kt": "interface Bell { fun ring() }\ninterface Gong { fun ring() }\n"
    "class Tower<T : Bell>(val own: T) {\n    fun <S> one(s: S) where S : Gong {\n"
    "        s.ring()\n        own.ring()\n    }\n}\n",
    "a.swift": "protocol Lamp { func shine() }\nprotocol Star { func shine() }\n"
    "func one<T: Lamp, U>(x: T, u: U, y: some Star, z: any Lamp) where U: Star {\n"
    "  x.shine()\n  u.shine()\n  y.shine()\n  z.shine()\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("ISink.Pour", ["a.cs:7 certain", "a.cs:10 by name"]),
        ("IOther.Pour", ["a.cs:6 certain", "a.cs:10 by name"]),
        ("Source.drink", ["a.rs:6 certain", "a.rs:13 certain", "a.rs:15 certain"]),
        ("Other.drink", ["a.rs:10 certain", "a.rs:14 certain"]),
        ("Source.make", ["a.rs:18 certain"]),
        ("Bell.ring", ["a.kt:6 certain"]),
        ("Gong.ring", ["a.kt:5 certain"]),
        ("Lamp.shine", ["a.swift:4 certain", "a.swift:7 certain"]),
        ("Star.shine", ["a.swift:5 certain", "a.swift:6 certain"]),
    ],
)
def test_a_value_of_a_bounded_type_has_the_members_of_its_bound(tmp_path: Path, symbol: str, found: list[str]) -> None:
    """Of several bounds each may have the member."""
    assert rows(tmp_path, BOUNDS, symbol, Direction.CALLERS) == found


def test_a_property_named_like_a_type_bounds_nothing(tmp_path: Path) -> None:
    """`Pump` is the type of the parameter, whatever the property of that name is."""
    code = (
        "class Pump { public void Run() {} }\nclass Fan { public void Run() {} }\n"
        "class Use {\n  Fan Pump { get; }\n  void Go(Pump pump) {\n    pump.Run();\n  }\n}\n"
    )
    assert rows(tmp_path, {"a.cs": code}, "Pump.Run", Direction.CALLERS) == ["a.cs:6 certain"]


def test_a_private_method_overrides_none(tmp_path: Path) -> None:
    text = "open class Account { private fun audit() {} }\nclass Premium : Account() { private fun audit() {} }\n"
    assert rows(tmp_path, {"a.kt": text}, "Account.audit", Direction.OVERRIDES) == []
