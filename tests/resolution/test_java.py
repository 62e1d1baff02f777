"""What names mean in Java."""

import pytest

from graphrag_mcp.model.facts import TYPED, Mark, SymbolId, unpack
from graphrag_mcp.model.facts import pack as pack_facts
from graphrag_mcp.model.values import Instance
from tests.resolution.projects import OTHER, UNDECIDED, Project, read

SHAPE = """package shapes;
public class Shape extends Base implements Named {
  public static final Shape UNIT = new Shape();
  Shape next;
  public Shape() { this(1); }
  public Shape(int size) { super(size); }
  public static Shape of(int size) { return new Shape(size); }
  public Shape grow() { return this; }
  public Shape grow(int by, int... more) { return this; }
  public String name() { return ""; }
  public static class Builder { public Shape build() { return new Shape(); } }
}
"""
BASE = """package shapes;
public class Base {
  protected int area;
  Base(int size) {}
  public void draw() {}
}
"""
NAMED = "package shapes;\npublic interface Named { String name(); default String label() { return name(); } }\n"
LIBRARY = {"shapes/Shape.java": SHAPE, "shapes/Base.java": BASE, "shapes/Named.java": NAMED}
OF, GROW, DRAW, BUILD = (
    "shapes/Shape.java:7 of",
    "shapes/Shape.java:8 grow",
    "shapes/Base.java:5 draw",
    "shapes/Shape.java:11 build",
)


def _in_main(*statements: str, imports: str = "import shapes.Shape;") -> Project:
    """Return a project whose class Main has a method of some statements."""
    body = "\n".join(statements)
    text = f"package app;\n{imports}\nclass Main {{ void main(Object given) {{\n{body}\n}} }}\n"
    return Project({**LIBRARY, "app/Main.java": text})


def test_a_member_of_an_imported_type_is_known_by_its_name() -> None:
    """Static methods and constants are members of the type that is written."""
    project = _in_main("Shape.«of»(1);", "Shape.«UNIT».«next».«grow»();")
    assert project.answers() == [OF, "shapes/Shape.java:3 UNIT", "shapes/Shape.java:4 next", GROW]


def test_a_type_of_the_same_package_needs_no_import() -> None:
    """Every file of a package sees its types, whatever its folder is."""
    project = Project({**LIBRARY, "tests/Use.java": "package shapes;\nclass Use { Shape a = «Shape».«of»(1); }\n"})
    assert project.answers() == ["shapes/Shape.java:2 Shape", OF]


def test_a_type_of_another_package_is_not_seen_without_an_import() -> None:
    """A name that is declared in another package only is of a library."""
    assert _in_main("«Shape» a;", imports="").answer() == OTHER


def test_all_types_of_a_package_can_be_imported() -> None:
    """`import shapes.*` gives all types of the package, and a full name needs no import."""
    assert _in_main("Shape.«of»(1);", imports="import shapes.*;").answer() == OF
    assert _in_main("shapes.Shape.«of»(1);", imports="").answer() == OF


def test_an_import_wins_over_the_own_package() -> None:
    """A type that is imported by its name hides that of the package."""
    files = {**LIBRARY, "app/Shape.java": "package app;\nclass Shape {}\n"}
    text = "package app;\nimport shapes.Shape;\nclass Main { «Shape» a; }\n"
    assert Project({**files, "app/Main.java": text}).answer() == "shapes/Shape.java:2 Shape"


def test_a_static_import_gives_a_member() -> None:
    """Methods and constants are imported by their names, or all of a type."""
    one = "import static shapes.Shape.of;\nimport static shapes.Shape.UNIT;"
    assert _in_main("«of»(1).«grow»(); «UNIT».«draw»();", imports=one).answers() == [
        OF,
        GROW,
        "shapes/Shape.java:3 UNIT",
        DRAW,
    ]
    assert _in_main("«of»(1);", imports="import static shapes.Shape.*;").answer() == OF


def test_an_import_of_a_library_is_not_of_the_project() -> None:
    """A type of the same name in another package is another type."""
    assert _in_main("«Shape».«of»(1);", imports="import java.awt.Shape;").answers() == [OTHER, OTHER]


def test_the_type_of_a_variable_is_what_is_written() -> None:
    """Of locals, parameters, fields, loops, resources, catches and casts; `var` is what its value is."""
    project = _in_main(
        "Shape a = null; a.«draw»();",
        "var b = Shape.of(1); b.«draw»();",
        "for (Shape c : list) c.«draw»();",
        "try (Shape d = open()) { d.«draw»(); } catch (Shape e) { e.«draw»(); }",
        "((Shape) given).«draw»();",
        "if (given instanceof Shape f) f.«draw»();",
        "Shape[] g = null; g[0].«draw»(); for (var h : g) h.«draw»();",
    )
    assert project.answers() == [DRAW] * 9


def test_a_new_instance_has_the_members_of_its_type() -> None:
    """An expression in front of the dot is followed, not only a name."""
    assert _in_main("new Shape().«grow»().«grow»(1, 2, 3).«draw»();").answers() == [
        GROW,
        "shapes/Shape.java:9 grow",
        DRAW,
    ]


def test_a_nested_type_is_a_member_of_its_type() -> None:
    """It is written with the type around it, imported by its name, or inherited."""
    assert _in_main("new Shape.«Builder»().«build»();").answers() == ["shapes/Shape.java:11 Builder", BUILD]
    assert _in_main("new Builder().«build»();", imports="import shapes.Shape.Builder;").answer() == BUILD
    text = "package app;\nclass Big extends shapes.Shape { Builder b; void f() { b.«build»(); } }\n"
    assert Project({**LIBRARY, "app/Big.java": text}).answer() == BUILD


def test_methods_fields_and_types_of_one_name_are_different_things() -> None:
    """A call means the method, and a read the field or variable, whichever is nearer."""
    text = "class A {\n  A size;\n  A size() { return «size»; }\n  void f(int size) { «size»(); this.«size»; }\n}\n"
    assert Project({"A.java": text}).answers() == ["A.java:2 size", "A.java:3 size", "A.java:2 size"]


def test_members_of_types_around_are_known_by_their_names() -> None:
    """The innermost type that has one of the name counts, also if it inherits it."""
    text = """package shapes;
class Outer {
  void draw() {}
  void save() {}
  class Inner extends Shape { void f() { «draw»(); «save»(); «grow»(); Outer.this.«draw»(); } }
}
"""
    found = Project({**LIBRARY, "shapes/Outer.java": text}).answers()
    assert found == [DRAW, "shapes/Outer.java:4 save", GROW, "shapes/Outer.java:3 draw"]


def test_a_method_around_stays_unknown_where_a_foreign_type_may_have_it() -> None:
    """What a class inherits from a library hides the methods around it; a field or type rarely."""
    text = "class A {\n int n;\n void f() {}\n class B extends lib.C { void g() { «f»(); «n» = 1; «h»(); } }\n}\n"
    assert Project({"A.java": text}).answers() == [UNDECIDED, "A.java:2 n", OTHER]


def test_a_known_foreign_interface_hides_only_its_methods() -> None:
    """Of interfaces of the standard library the methods are known."""
    text = (
        "class A {\n void f() {}\n void run() {}\n Runnable r = new Runnable() { void g() { «f»(); «run»(); } };\n}\n"
    )
    assert Project({"A.java": text}).answers() == ["A.java:2 f", OTHER]


def test_a_static_import_by_name_is_meant_in_a_foreign_subclass() -> None:
    """It would be for nothing if the foreign type had a method of that name."""
    text = "package app;\nimport static shapes.Shape.of;\nclass A extends lib.C { void f() { «of»(1); } }\n"
    assert Project({**LIBRARY, "app/A.java": text}).answer() == OF


def test_super_means_what_is_inherited() -> None:
    """A call of the method that is overridden is no recursion."""
    text = "package shapes;\nclass Big extends Shape {\n  public void draw() { super.«draw»(); «draw»(); }\n}\n"
    assert Project({**LIBRARY, "shapes/Big.java": text}).answers() == [DRAW, "shapes/Big.java:3 draw"]


def test_a_class_comes_before_interfaces() -> None:
    """A method of a class above is meant, though an interface declares it too."""
    text = "package shapes;\nclass Big extends Shape implements Named { void f() { «name»(); «label»(); } }\n"
    found = Project({**LIBRARY, "shapes/Big.java": text}).answers()
    assert found == ["shapes/Shape.java:10 name", "shapes/Named.java:2 label"]


def test_a_member_of_a_foreign_type_is_not_of_the_project() -> None:
    """What no type of the project declares comes from the library above, and from Object."""
    text = "class A extends lib.C { void f(A a) { a.«start»(); a.«hashCode»(); } }\n"
    assert Project({"A.java": text}).answers() == [OTHER, OTHER]


def test_a_new_instance_means_the_class_and_its_constructor() -> None:
    """Of the constructors those that take the number of arguments."""
    assert _in_main("new «Shape»(1);", "new «Shape»();").answers() == [
        "shapes/Shape.java:2 Shape, shapes/Shape.java:6 Shape",
        "shapes/Shape.java:2 Shape, shapes/Shape.java:5 Shape",
    ]


def test_constructors_call_each_other() -> None:
    """`this(…)` and `super(…)` are calls of constructors, and enum constants make instances."""
    marked = SHAPE.replace("this(1)", "«this»(1)").replace("super(size)", "«super»(size)")
    found = Project({**LIBRARY, "shapes/Shape.java": marked}).answers()
    assert found == ["shapes/Shape.java:6 Shape", "shapes/Base.java:4 Base"]
    assert Project({"E.java": "enum E {\n  «A»(1);\n  E(int n) {}\n}\n"}).answer() == "E.java:1 E, E.java:3 E"


def test_overloads_are_told_apart_by_their_arguments() -> None:
    """Those that may take them are all meant, also inherited ones; one that is overridden is not."""
    text = """class A {
  void f(int a) {}
  void f(String a) {}
  void f(int a, int b) { this.«f»(a); this.«f»(Lib.make(this)); }
}
class B extends A {
  void f(String a) {}
  void g(B b) { b.«f»(""); b.«f»(Lib.make(b)); b.«f»(1, 2); }
}
"""
    assert Project({"A.java": text}).answers() == [
        "A.java:2 f",
        "A.java:2 f, A.java:3 f",
        "A.java:7 f",
        "A.java:7 f, A.java:2 f",
        "A.java:4 f",
    ]


def test_a_call_with_another_number_of_arguments_means_what_has_the_name() -> None:
    """While a signature is changed, its callers do not fit; what a foreign type above may have stays open."""
    text = """import x.Base;
class A {
  static void f(int a, int b) {}
  void g(A a) { «f»(1); A.«f»(1); a.«g»(); }
}
class B extends A { void h(B b) { «f»(1); b.«g»(); } }
class C extends Base { void f(int a) {} void g(C c) { «f»(1, 2); c.«f»(1, 2); } }
"""
    assert Project({"A.java": text}).answers() == [
        "A.java:3 f", "A.java:3 f", "A.java:4 g", "A.java:3 f", "A.java:4 g", "-", "-",
    ]  # fmt: skip


def test_a_text_or_a_class_is_of_no_other_type() -> None:
    """What lists its parameters comes before what takes any number; a text is no interface of a library."""
    text = """import java.lang.reflect.Type;
import javax.lang.model.type.TypeMirror;
class Name {
  static Name get(TypeMirror mirror, Object other) { return null; }
  static Name get(String name) { return null; }
  static Name get(String name, Type... bounds) { return null; }
  void f() { Name.«get»("T"); Name.«get»("T", CharSequence.class); }
}
"""
    assert Project({"Name.java": text}).answers() == ["Name.java:5 get", "Name.java:6 get"]


PUT = """class Box<T> {
  void put(int a) {}
  void put(long a) {}
  void put(char a) {}
  void put(double a) {}
  void put(String a) {}
  void put(int[] a) {}
  void put(Object a) {}
  void put(String... a) {}
  void put(Runnable a) {}
  void put(Own a) {}
}
class Own { static Own with() { return null; } }
class Lower extends Own {}
class Use<E> { void use(Box<String> o, int n, Integer boxed, float f, byte b, String[] texts, E any, Lower lower) {
  o.«put»(%s);
} }
"""


@pytest.mark.parametrize(
    ("argument", "lines"),
    [
        ("1", [2]),
        ("-1", [2]),
        ("n++", [2]),
        ("1 + 2", [2]),
        ("(byte) 1", [2]),
        ("b", [2]),
        ("1L", [3]),
        ("1 + 2L", [3]),
        ("'c'", [4]),
        ("1.5", [5]),
        ("f", [5]),
        ('"a"', [6]),
        ('"a" + n', [6]),
        ("new int[] {1}", [7]),
        ("boxed", [8]),
        ("true", [8]),
        ("n > 1", [8]),
        ("!true", [8]),
        ("new Object()", [8]),
        ("any", [8]),
        ("texts", [9]),
        ('"a", "b"', [9]),
        ("", [9]),
        ("new Own()", [11]),
        ("lower", [11]),
        ("Own.with()", [11]),
        ("lib.Other.VALUE", [2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_the_type_of_an_argument_chooses_the_overload(argument: str, lines: list[int]) -> None:
    """By the language's phases: subtypes and wider numbers, then objects for numbers, then any number of arguments."""
    found = Project({"A.java": PUT % argument}).answer()
    assert found == ", ".join(f"A.java:{line} put" for line in lines)


def test_a_creation_means_the_constructor_that_takes_its_arguments() -> None:
    """Of an enumeration too, whose constants may have no arguments."""
    text = """class Box {
  Box(int a) { «this»("");  }
  Box(String a) {}
  Box(int a, String b) {}
  static Box f() { new «Box»("") {}; return new «Box»(1, ""); }
}
enum E {
  «A», «B»(2);
  E() {}
  E(int n) {}
}
"""
    assert Project({"A.java": text}).answers() == [
        "A.java:3 Box",
        "A.java:1 Box, A.java:3 Box",
        "A.java:1 Box, A.java:4 Box",
        "A.java:7 E, A.java:9 E",
        "A.java:7 E, A.java:10 E",
    ]


def test_the_types_of_the_arguments_decide_what_an_overload_gives() -> None:
    """Where several take them, what is made of the result is that of any."""
    text = """class A {
  A f(String a) { return this; }
  B f(B b) { return b; }
  void g(B b) { f("").«x»(); f(b).«x»(); f(null).«x»(); }
  void x() {}
}
class B { void x() {} }
"""
    assert Project({"A.java": text}).answers() == ["A.java:5 x", "A.java:7 x", "A.java:5 x, A.java:7 x"]


def test_type_arguments_replace_type_parameters() -> None:
    """Of a variable, of a base, and of a generic method by its arguments or by a class that is handed over."""
    text = """class Box<T> {
  T held;
  T get() { return held; }
  static <U> U same(U u) { return u; }
  static <U> U make(Class<U> kind) { return null; }
}
class Item { void use() {} }
class Items extends Box<Item> {
  void f(Box<Item> a, Item b) { a.get().«use»(); a.held.«use»(); get().«use»();
    Box.same(b).«use»(); Box.make(Item.class).«use»(); Box.<Item>make(null).«use»(); }
}
"""
    assert Project({"Box.java": text}).answers() == ["Box.java:7 use"] * 6


def test_a_type_parameter_has_the_members_of_its_limit() -> None:
    """Without a limit only those of Object."""
    text = "class A { void f() {} }\nclass B<T extends A, U> { void g(T t, U u) { t.«f»(); u.«f»(); } }\n"
    assert Project({"A.java": text}).answers() == ["A.java:1 f", OTHER]


def test_containers_of_the_standard_library_give_what_they_hold() -> None:
    """Lists, maps, loops, optional values and streams, with functions that are handed to them."""
    text = """import java.util.*;
import java.util.concurrent.atomic.AtomicReference;
class Item { Item next; void use() {} }
class A {
  List<Item> all; Map<String, List<Item>> named; AtomicReference<Item> one; ArrayList<Item> more;
  void f() {
    all.get(0).«use»(); named.get("").get(0).«use»(); one.get().«use»(); more.iterator().next().«use»();
    for (var item : more) item.«use»();
    for (Map.Entry<String, List<Item>> entry : named.entrySet()) entry.getValue().get(0).«use»();
    all.forEach(item -> item.«use»());
    all.stream().map(item -> item.next).findFirst().get().«use»();
    all.stream().map(A::same).filter(item -> item.next != null).forEach(item -> item.«use»());
    named.values().stream().flatMap(items -> items.stream()).findAny().orElse(null).«use»();
  }
  static Item same(Item item) { return item; }
}
"""
    assert Project({"A.java": text}).answers() == ["A.java:3 use"] * 10


def test_what_the_standard_library_does_not_declare_here_is_foreign() -> None:
    """Its types have more members than those of which the results are known."""
    text = "import java.util.*;\nclass A { void f(List<A> all) { all.«other»(); all.other().«f»(null); } }\n"
    assert Project({"A.java": text}).answers() == [OTHER, UNDECIDED]


def test_a_parameter_of_a_lambda_is_unknown_where_nothing_says_its_type() -> None:
    """A generic method that is given nothing else may work on anything."""
    text = """import java.util.*;
class A { A next; void f(List<A> all) { all.sort(Comparator.comparing(one -> one.«next»)); } }
"""
    assert Project({"A.java": text}).answer() == UNDECIDED


def test_what_a_foreign_container_gives_is_unknown() -> None:
    """Its own methods are foreign, but what they give may be of the project."""
    text = "import lib.Cage;\nclass A {\n  void f(Cage<A> c, Cage<String> s) { c.«get»().«f»(); s.get().«f»(); }\n}\n"
    assert Project({"A.java": text}).answers() == [OTHER, UNDECIDED, OTHER]


def test_an_anonymous_class_is_a_type_with_its_base() -> None:
    """Its members are known inside by their names, and it inherits those of its base."""
    text = """package app;
import shapes.Named;
class A {
  Named n = new Named() {
    public String name() { return «label»() + «help»(); }
    String help() { return ""; }
  };
}
"""
    project = Project({**LIBRARY, "app/A.java": text})
    assert project.answers() == ["shapes/Named.java:2 label", "app/A.java:6 help"]
    (nameless,) = (one for one in project.facts("app/A.java").declared if one.kind == "type" and not one.name)  # type: ignore[union-attr]
    assert [base.type for base in nameless.bases] == ["Named"]


def test_the_body_of_an_enum_constant_is_below_the_enum() -> None:
    """Constants hold instances of the enum, and in a `case` they need no name before them."""
    text = """enum E {
  A { void f() { «help»(); } }, B;
  void help() {}
  static void g(E e) { A.«help»(); switch (e) { case «B»: break; } }
}
"""
    assert Project({"E.java": text}).answers() == ["E.java:3 help", "E.java:3 help", "E.java:2 B"]


def test_a_parameter_of_a_lambda_is_what_its_interface_gives() -> None:
    """The interface is that of the parameter, the variable or the cast where the lambda stands."""
    text = """interface Visitor<T> { void visit(T item, int place); }
class Item { void use() {} }
class A {
  static void each(Visitor<Item> visitor) {}
  void f() {
    each((item, place) -> item.«use»());
    Visitor<Item> v = (item, place) -> { item.«use»(); };
    v = (Visitor<Item>) (item, place) -> item.«use»();
  }
}
"""
    assert Project({"A.java": text}).answers() == ["A.java:2 use"] * 3


def test_a_method_reference_is_a_function_as_a_value() -> None:
    """A constructor reference means the class and all its constructors."""
    project = _in_main("run(Shape::«of»);", "run(new Shape()::«draw»);", "run(Shape::«new»);".replace("«new»", "new"))
    assert project.answers() == [OF, DRAW]
    assert _in_main("run(«Shape»::new);").answer() == ", ".join(f"shapes/Shape.java:{line} Shape" for line in (2, 5, 6))


def test_what_is_handed_over_as_a_function_is_recorded() -> None:
    """With the function and the number of the argument, or with what the variable is."""
    facts = read("A.java", "class A { void f() { run(1, this::f); Task t = () -> f(); } }\n")
    assert facts is not None
    assert [(flow.into, flow.argument, flow.value) for flow in facts.flows] == [
        ("run", 1, "this#f"),
        ("Task!", TYPED, "#2"),
    ]


def test_facts_say_what_a_method_is() -> None:
    """Static, private, abstract and default methods, and what they take."""
    text = "interface A { void f(int a); default void g() {} static void h() {} private void i(String... b) {} }\n"
    facts = read("A.java", text)
    assert facts is not None
    marks = {one.name: one.marks for one in facts.declared}
    assert marks == {
        "A": (Mark.INTERFACE,),
        "f": (Mark.ABSTRACT,),
        "g": (Mark.DEFAULT,),
        "h": (Mark.STATIC,),
        "i": (Mark.PRIVATE,),
    }
    assert unpack(pack_facts(facts).data) == facts


def test_an_annotation_is_a_type_and_its_elements_are_methods() -> None:
    """Also one that is a member of another type."""
    text = "@interface A {\n  int size();\n  @interface B {}\n}\n@«A»(«size» = 1) @A.«B» class C {}\n"
    assert Project({"A.java": text}).answers() == ["A.java:1 A", "A.java:2 size", "A.java:3 B"]


def test_the_component_of_a_record_is_a_field() -> None:
    """Its accessor is not written, so a call of it means the component."""
    text = "record R(R next) { R f() { return «next».«next»(); } }\n"
    assert Project({"R.java": text}).answers() == ["R.java:1 next", "R.java:1 next"]


def test_the_nearest_of_several_types_of_one_name_is_meant() -> None:
    """Modules may have packages of the same name; where two are as near, it is not known."""
    files = {f"{module}/p/A.java": "package p;\nclass A {}\n" for module in ("x", "y")}
    use = "package p;\nclass Use { «A» a; }\n"
    assert Project({**files, "y/q/Use.java": use}).answer() == "y/p/A.java:2 A"
    assert Project({**files, "z/Use.java": use}).answer() == UNDECIDED


def test_a_file_with_errors_never_proves_that_a_name_is_foreign() -> None:
    """What is declared in the broken part is not known."""
    text = "class A {\n  void f() { «g»(); }\n  void } ( {\n"
    assert Project({"A.java": text}).answer() == UNDECIDED


def test_what_takes_a_function_is_the_interface_that_it_implements() -> None:
    """A lambda or a method reference is an implementer of what its place expects."""
    text = """interface Task { void run(); }
class A {
  static void start(int n, Task task) {}
  void f() { start(1, () -> {}); Task own = this::f; }
}
"""
    project = Project({"A.java": text})
    facts = project.facts("A.java")
    assert facts is not None
    assert [project.resolver.taker("A.java", flow) for flow in facts.flows] == [Instance((SymbolId("A.java", 0),))] * 2


@pytest.mark.parametrize(
    "code",
    [
        "ImmutableList.of(new A(), new A()).get(0).«run»()",
        "Iterables.getOnlyElement(all).«run»()",
        "ImmutableMap.<String, A>builder().put(name, new A()).build().get(name).«run»()",
        "Executors.newCachedThreadPool().submit(() -> new A()).get().«run»()",
    ],
)
def test_the_collections_that_most_projects_use_give_what_is_in_them(code: str) -> None:
    """Those of the language and of Guava, and its executors."""
    imports = "import com.google.common.collect.*;\nimport java.util.concurrent.*;\nimport java.util.List;\n"
    text = f"{imports}class A {{\n  void run() {{}}\n  void f(List<A> all, String name) {{\n    {code};\n  }}\n}}\n"
    assert Project({"A.java": text}).answer() == "A.java:5 run"
