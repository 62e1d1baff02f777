"""Answers that were called complete and lacked a use, or named a wrong one: each form with what it means."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import ask, rows

DIAMOND = {
    "a.py": "class Base:\n    x = 1\n    def m(self): pass\nclass A(Base):\n    def m(self): super().m()\n"
    "    def n(self): return super().x\nclass B(Base):\n    x = 2\n    def m(self): super().m()\n",
    "b.py": "from a import A, B, Base\nclass C(A, B):\n    def m(self): super(A, self).m()\n"
    "class D(Base):\n    def m(self): Base.m(self)\nclass E(D, B): pass\n",
}
COMPREHENSIONS = {
    "a.py": "n = 0\nclass K:\n    n = 1\n    def m(self, y=[n for _ in range(3)]): pass\n    z = [n for _ in [n]]\n"
    "    w = [n for n in [\n n]]\ndef t(n, y=[n for _ in [1]], z={n for x in [1] for n in [n]}): pass\n"
}
MAKERS = {
    "a.py": "class Z:\n    def go(self): pass\nclass M(type):\n    def __call__(cls): return Z()\n"
    "class A:\n    def __new__(cls): return Z()\n    def go(self): pass\nclass B(metaclass=M): go = A.go\n"
    "class C:\n    def __new__(cls, k):\n        if k: return Z()\n        return super().__new__(cls)\n"
    "    def go(self): pass\nclass D(C):\n    def __new__(cls): return object.__new__(cls)\n    def go(self): pass\n"
    "A().go()\nB().go()\nC(1).go()\nD().go()\n"
}
PYTHON = {
    "of a class, a comprehension sees what it begins with": (
        COMPREHENSIONS,
        "K.n",
        Direction.READERS,
        ["a.py:5 certain", "a.py:7 certain"],
    ),
    "the rest of it sees what the file has": (
        COMPREHENSIONS,
        "a.py:1",
        Direction.READERS,
        ["a.py:4 certain", "a.py:5 certain", "a.py:8 certain"],
    ),
    "what a comprehension assigns is bound around it": (
        {
            "a.py": "class A:\n    def go(self): pass\ny = 1\ndef f(xs):\n    [[y := A() for x in z] for z in xs]\n"
            "    y.go()\n    return lambda: y.go()\ndef g(): return y\n"
        },
        "A.go",
        Direction.CALLERS,
        ["a.py:6 certain", "a.py:7 certain"],
    ),
    "and is no other of its name": (
        {"a.py": "y = 1\ndef f(xs):\n    [y := x for x in xs]\n    print(y)\ndef g(): return y\n"},
        "y",
        Direction.READERS,
        ["a.py:5 certain"],
    ),
    "what super gives on the other side of a diamond": (
        DIAMOND,
        "B.m",
        Direction.CALLERS,
        ["a.py:5 may call"],
    ),
    "a field on the other side of a diamond": (DIAMOND, "B.x", Direction.READERS, ["a.py:6 may call"]),
    "what super gives on no other side": (
        DIAMOND,
        "Base.m",
        Direction.CALLERS,
        ["a.py:5 certain", "a.py:9 certain", "b.py:5 certain"],
    ),
    "a module of a folder without a package file, beside a namesake of the folder": (
        {
            "docs/cmds/t1.py": "def run(): return 1\n",
            "other/cmds.py": "x = 1\n",
            "lib/use.py": "from docs.cmds import t1 as a\ndef test(): a.run()\n",
            "docs/near.py": "from .cmds import t1\ndef test(): t1.run()\n",
        },
        "run",
        Direction.CALLERS,
        ["docs/near.py:2 certain", "lib/use.py:2 certain"],
    ),
    "a union in parentheses": (
        {
            "a.py": "from typing import TypeAlias\nclass A:\n    def go(self): pass\nclass B:\n    def go(self): pass\n"
            "Either: TypeAlias = (A | B)\ndef f(e: Either): e.go()\n"
        },
        "A.go",
        Direction.CALLERS,
        ["a.py:7 may call"],
    ),
    "a default of a method": (
        {"a.py": "class A:\n    _all = {1}\n    def f(self, x=_all): pass\n    g = lambda self, x=_all: x\n"},
        "A._all",
        Direction.READERS,
        ["a.py:3 certain", "a.py:4 certain"],
    ),
    "an annotation of a method": (
        {"a.py": "class A:\n    class In: pass\n    def f(self, x) -> In: pass\n"},
        "A.In",
        Direction.USERS,
        ["a.py:3 certain"],
    ),
    "a type that has the name of a method declared later": (
        {"a.py": "class A:\n    def f(self, x: set[int]): pass\n    def set(self): pass\n"},
        "A.set",
        Direction.USERS,
        [],
    ),
    "a class that type() makes": (
        {"a.py": 'class A: pass\nB = type("B", (A,), {})\ndef make(name): return type(name, (A, B), {})\n'},
        "A",
        Direction.SUBCLASSES,
        ["a.py:2 certain", "a.py:3 certain"],
    ),
    "what another type() makes is no class": (
        {
            "a.py": "class A: pass\ndef type(*of): return 1\nB = type('B', (A,), {})\n",
            "b.py": "from a import A, type\nB = type('B', (A,), {})\ndef f(type): return type('B', (A,), {})\n",
            "c.py": "from a import A\nclass K:\n    def type(self): return type('B', (A,), {})\n",
        },
        "A",
        Direction.SUBCLASSES,
        ["c.py:3 certain"],
    ),
    "what type() makes may have anything": (
        {"a.py": 'class A:\n    def go(self): pass\nB = type("B", (A,), {"go": print})\nB().go()\n'},
        "A.go",
        Direction.CALLERS,
        [],
    ),
    "a field in a pattern": (
        {
            "a.py": "class A:\n    kind: str\ndef f(v):\n    match v:\n        case A(kind='a'): pass\n"
            "        case [A(kind=k)]: pass\n"
        },
        "A.kind",
        Direction.READERS,
        ["a.py:5 certain", "a.py:6 certain"],
    ),
    "what a class makes that gives another": (
        MAKERS,
        "Z.go",
        Direction.CALLERS,
        ["a.py:17 certain", "a.py:18 certain", "a.py:19 may call"],
    ),
    "what a class makes itself": (MAKERS, "D.go", Direction.CALLERS, ["a.py:19 may call", "a.py:20 certain"]),
    "what operators give": (
        {
            "a.py": "class V:\n    def __neg__(self) -> 'V': return self\n    def __eq__(self, o) -> 'V': return self\n"
            "    def __add__(self, o) -> 'V': return self\n    def go(self): pass\n"
            "def f(v: V, n: int):\n    (-v).go()\n    (v == 1).go()\n    (v + 1).go()\n"
            "    (v is n).go()\n    (n + 1).go()\n    (not v).go()\n    (v + n).go()\n    (v == 1 == n).go()\n"
        },
        "V.go",
        Direction.CALLERS,
        ["a.py:7 certain", "a.py:8 certain", "a.py:9 certain"],
    ),
    "a method of a class that is named": (
        {
            "a.py": "class A:\n    def go(self): pass\nclass B(A):\n    def go(self): A.go(self)\nA().go()\n"
            "def f(a: A): a.go()\n"
        },
        "B.go",
        Direction.CALLERS,
        ["a.py:6 may call"],
    ),
}
KOTLIN = """class M {
  fun a(x: Int, y: Int = 2) {}
  fun a(x: Int, y: Int, f: () -> Unit) {}
  fun b(x: Int) {}
  fun b(x: String) {}
  fun c(vararg k: String) {}
  fun c() {}
  fun use() {
    a(1)
    a(1, 2)
    a(1, 2) { c() }
    b(1)
    c("a", "b", "c")
  }
}
"""
GO = 'package a\nimport "sync/atomic"\ntype F struct{ n int32; at *int32 }\nvar total int32\n'
BUILDS = {
    "a_linux.go": "package a\ntype T struct{}\nfunc run() {}\n",
    "a_other.go": "//go:build !linux\n\npackage a\ntype T struct{}\nfunc run() {}\nfunc own() { run() }\n",
    "b_linux_test.go": "package a\nfunc b() { run() }\n",
    "c.go": "//go:build cgo && linux\n\npackage a\nfunc c() { run() }\nfunc (T) Go() {}\n",
    "d.go": "//go:build cgo || linux\n\npackage a\nfunc d(t T) {\n\trun()\n\tt.Go()\n}\n",
    "e.go": "//go:build !linux\n\npackage a\nfunc e(t T) { run(); t.Go() }\nfunc (T) Go() {}\n",
}
MADE_OF = {
    "a.go": "package a\ntype I interface{ M() }\ntype J I\ntype T struct{}\nfunc (T) M() {}\nfunc f(j J) { j.M() }\n"
}
TAKEN = {
    "a.ts": "export class Api { load() { return 1; } name = 'x'; }\nexport function other() { return 2; }\n"
    "export function go(api: Api) {\n  let { load, name } = api;\n  load = other;\n  load();\n  name = 'y';\n"
    "  console.log(name);\n}\nexport function next(api: Api) {\n  let { load, name: own } = api;\n"
    "  if (load()) { let load = 1; load = 2; }\n  console.log(own);\n}\n"
}
CONSTRUCTED = {
    "E.java": "interface Op { int run(int x); }\nenum E {\n  ADD(x -> help(x)), SUB(E::less);\n  final Op op;\n"
    "  E(Op op) { this.op = op; }\n  E() { this(x -> 1); }\n  static int help(int x) { return x; }\n"
    "  static int less(int x) { return x; }\n  int go() { return op.run(1); }\n}\nclass Base<T> { Base(Op op) {} }\n"
    "class Sub extends Base<String> { Sub(boolean b) {\n  super(b ? x -> 2 : E::less); }\n}\n"
}
OTHERS = {
    "Java: what constants of enumerations, this and super are given": (
        CONSTRUCTED,
        "Op.run",
        Direction.OVERRIDES,
        ["E.java:13 certain", "E.java:3 certain", "E.java:6 certain", "E.java:8 certain"],
    ),
    "Java: a function that a constant is given": (
        CONSTRUCTED,
        "E.less",
        Direction.CALLERS,
        ["E.java:13 certain", "E.java:3 certain", "E.java:9 may call"],
    ),
    "TypeScript: what is taken out of a value and set again": (
        TAKEN,
        "Api.load",
        Direction.CALLERS,
        ["a.ts:11 certain", "a.ts:12 certain", "a.ts:4 certain", "a.ts:6 may call"],
    ),
    "TypeScript: what it is set to": (TAKEN, "other", Direction.CALLERS, ["a.ts:5 certain", "a.ts:6 may call"]),
    "TypeScript: a field that is taken out and set again": (
        TAKEN,
        "Api.name",
        Direction.READERS,
        ["a.ts:11 certain", "a.ts:13 certain", "a.ts:4 certain"],
    ),
    "Go: a type that is made of an interface": (MADE_OF, "J", Direction.IMPLEMENTERS, ["a.go:4 certain"]),
    "Go: a call on such a type": (MADE_OF, "T.M", Direction.CALLERS, ["a.go:6 may call"]),
    "Go: a function of one build": (
        BUILDS,
        "a_linux.go:3",
        Direction.CALLERS,
        ["b_linux_test.go:2 certain", "c.go:4 certain", "d.go:5 may call"],
    ),
    "Go: the same of other builds": (
        BUILDS,
        "a_other.go:5",
        Direction.CALLERS,
        ["a_other.go:6 certain", "d.go:5 may call", "e.go:4 certain"],
    ),
    "Go: a function of each build": (
        BUILDS,
        "run",
        Direction.CALLERS,
        ["a_other.go:6 certain", "b_linux_test.go:2 certain", "c.go:4 certain", "d.go:5 certain", "e.go:4 certain"],
    ),
    "Go: a method of one build": (BUILDS, "e.go:5", Direction.CALLERS, ["d.go:6 may call", "e.go:4 certain"]),
    "Go: a type of one build": (BUILDS, "a_linux.go:2", Direction.USERS, ["d.go:4 may call"]),
    "Go: who has an address may read": (
        {"a.go": GO + "func g(f *F) { atomic.AddInt32(&f.n, 1); f.at = &f.n }\n"},
        "F.n",
        Direction.READERS,
        ["a.go:5 may call"],
    ),
    "Go: who has an address may write": (
        {"a.go": GO + "func g(f *F) { f.at = &f.n }\n"},
        "F.n",
        Direction.WRITERS,
        ["a.go:5 may call"],
    ),
    "Go: also that of a variable": (
        {"a.go": GO + "func g() { p := &total; *p = 4 }\nfunc h() { total := 1; _ = &total }\n"},
        "total",
        Direction.WRITERS,
        ["a.go:5 may call"],
    ),
    "Go: an alias of an interface": (
        {"a.go": "package a\ntype I interface{ Run() }\ntype J = I\ntype T struct{}\nfunc (T) Run() {}\n"},
        "J",
        Direction.IMPLEMENTERS,
        ["a.go:4 certain"],
    ),
    "Go: a key without its type": (
        {"a.go": "package a\ntype K struct{ id int }\nvar m = map[K]bool{\n\t{id: 3}: true,\n\t{4}: true,\n}\n"},
        "K.id",
        Direction.WRITERS,
        ["a.go:4 certain", "a.go:5 certain"],
    ),
    "Java: what is updated is read where its value is taken": (
        {
            "A.java": "class A {\nstatic int n;\nint a() { return n++; }\nint b(int k) { return (A.n += k); }\n"
            "void c() { n++; A.n += 2; n = 4; }\nvoid d() { for (n = 0; ; n++) {} }\n}\n"
        },
        "A.n",
        Direction.READERS,
        ["A.java:3 certain", "A.java:4 certain"],
    ),
    "TypeScript: what is updated is read where its value is taken": (
        {
            "a.ts": "export class A {\nn = 0;\na() { return this.n++; }\n"
            "b() { this.n += 2; }\nc() { f(this.n -= 1) }\n}\n"
        },
        "A.n",
        Direction.READERS,
        ["a.ts:3 certain", "a.ts:5 certain"],
    ),
    "Java: lambdas of overloads": (
        {
            "A.java": "interface Then { void accept(String a); }\ninterface Sup { Object get(String c); }\nclass A {\n"
            "static void run(Runnable g, Sup w, Then t) {}\nstatic void run(Sup w, Then t, Object r) {}\n"
            "void f() {\nrun(() -> { },\ns -> { return s; },\ns -> { });\n}\n}\n"
        },
        "Then.accept",
        Direction.OVERRIDES,
        ["A.java:9 certain"],
    ),
    "Java: lambdas that either overload takes": (
        {
            "A.java": "interface One { void one(String a); }\ninterface Two { void two(String a); }\nclass A {\n"
            "A(One o) {}\nA(Two t) {}\nstatic void make() { new A(s -> {}); }\n}\n"
        },
        "One",
        Direction.IMPLEMENTERS,
        ["A.java:6 may call"],
    ),
    "Java: a constructor reference is not given as a class": (
        {
            "A.java": "abstract class Clock { abstract int now(); }\ninterface Make { Object make(); }\nclass Uni {}\n"
            "class A {\nA(Make m) {}\nA(Clock c) {}\nstatic void make() { new A(Uni::new); }\n}\n"
        },
        "Clock",
        Direction.IMPLEMENTERS,
        [],
    ),
    "Java: private members are not inherited": (
        {
            "p/Base.java": "package p;\npublic abstract class Base { private int calc() { return 1; } }\n",
            "Outer.java": "import p.Base;\nclass Outer {\nint calc() { return 2; }\n"
            "Base b = new Base() { int load() { return calc(); } };\n}\n",
        },
        "Outer.calc",
        Direction.CALLERS,
        ["Outer.java:4 certain"],
    ),
    "Kotlin: overloads take some numbers of arguments": (
        {"a.kt": KOTLIN},
        "a.kt:2",
        Direction.CALLERS,
        ["a.kt:10 certain", "a.kt:9 certain"],
    ),
    "Kotlin: a block behind a call is an argument": (
        {"a.kt": KOTLIN},
        "a.kt:3",
        Direction.CALLERS,
        ["a.kt:11 certain"],
    ),
    "Kotlin: overloads that differ by types alone": (
        {"a.kt": KOTLIN},
        "a.kt:4",
        Direction.CALLERS,
        ["a.kt:12 may call"],
    ),
    "Kotlin: any number of arguments": (
        {"a.kt": KOTLIN},
        "a.kt:6",
        Direction.CALLERS,
        ["a.kt:11 may call", "a.kt:13 certain"],
    ),
    "Java: a foreign function is of any overload": (
        {
            "A.java": "import java.util.concurrent.atomic.AtomicInteger;\ninterface Sup<T> { T get(); }\nclass A {\n"
            "static <R> void of(Sup<R> s) {}\nstatic <R> void of(R value) {}\n"
            "void a(AtomicInteger c) { of(c::incrementAndGet); }\n}\n"
        },
        "A.java:4",
        Direction.CALLERS,
        ["A.java:6 may call"],
    ),
}


@pytest.mark.parametrize(("files", "symbol", "direction", "found"), (PYTHON | OTHERS).values(), ids=PYTHON | OTHERS)
def test_an_answer_has_each_use(
    tmp_path: Path, files: dict[str, str], symbol: str, direction: Direction, found: list[str]
) -> None:
    """And none that is wrong."""
    assert sorted(rows(tmp_path, files, symbol, direction)) == found


def test_what_super_calls_may_be_on_the_other_side_of_a_diamond(tmp_path: Path) -> None:
    """From the call as well."""
    found = ask(tmp_path, DIAMOND, "A.m", Direction.CALLEES)
    assert sorted((step.target.qualified_name, step.edge.certainty) for step in found.steps) == [
        ("B.m", "may call"),
        ("Base.m", "certain"),
    ]


def test_what_has_the_methods_of_a_foreign_alias_is_not_known(tmp_path: Path) -> None:
    """The answer names the type that the alias stands for."""
    files = {
        "a.go": 'package a\nimport "io"\ntype C = io.Closer\ntype T struct{}\nfunc (T) Close() error { return nil }\n'
    }
    assert ask(tmp_path, files, "C", Direction.IMPLEMENTERS).doubt.callers_outside == {"io.Closer"}
    code = "package a\ntype I[T any] interface{ Run(T) }\ntype J = I[int]\ntype T struct{}\nfunc (T) Run(s string) {}\n"
    found = ask(tmp_path, {"a.go": code}, "J", Direction.IMPLEMENTERS)
    assert (found.steps, found.doubt.callers_outside) == ((), {"I"})


@pytest.mark.parametrize(
    ("constraint", "outside", "undecided"),
    [
        ("~int | ~string", "union", set()),
        ("~int", "int", set()),
        ("*A", "A", set()),
        ("comparable", "comparable", set()),
        ("", "any", set()),
        ("A | B; M()", "union", {("a.go", 2), ("a.go", 4)}),
    ],
)
def test_what_satisfies_a_constraint_is_not_known(
    tmp_path: Path, constraint: str, outside: str, undecided: set[tuple[str, int]]
) -> None:
    """Having its methods is not enough, and if it has none nothing is looked for."""
    code = "package a\ntype A int\nfunc (A) M() {}\ntype B int\nfunc (B) M() {}\ntype C interface{ %s }\n"
    found = ask(tmp_path, {"a.go": code % constraint}, "C", Direction.IMPLEMENTERS)
    assert (found.steps, found.doubt.callers_outside, found.doubt.undecided) == ((), {outside}, undecided)


@pytest.mark.parametrize(
    ("symbol", "direction", "lines"),
    [("P.x", Direction.READERS, [9, 11]), ("P.m", Direction.CALLERS, []), ("Q.y", Direction.READERS, [9, 11])],
)
def test_a_pattern_by_position_may_read_any_field(
    tmp_path: Path, symbol: str, direction: Direction, lines: list[int]
) -> None:
    """Also of a class above; which one is said by a list of names."""
    code = """class P:
    x: int = 1
    def m(self): pass
class Q(P):
    y: int = 2
def f(o, p: Q):
    match o:
        case P(x=1): pass
        case [P(1), *_]: pass
        case P(): pass
        case Q(_, k): pass
    print(p.x, p.y, p.m())
"""
    undecided = ask(tmp_path, {"a.py": code}, symbol, direction).doubt.undecided
    assert sorted(line for _, line in undecided) == lines


@pytest.mark.parametrize(
    ("use", "found", "outside"),
    [
        ("field(default_factory=Item)", [], {"Item as a value"}),
        ("[Item]", [], {"Item as a value"}),
        ("run(Item)", ["b.py:2 may call"], {"Item as a value"}),
        ("Item()", ["b.py:9 certain"], set()),
        ("Item.make()", [], set()),
        ("isinstance(x, Item)", [], set()),
        ("1\ntry: pass\nexcept (Item, KeyError): pass\nexcept Item as e: pass", [], set()),
        ("1\ndef f(x: Item, y: list[Item]) -> Item: pass", [], set()),
    ],
)
def test_a_class_that_is_a_value_may_be_called_where_that_is(
    tmp_path: Path, use: str, found: list[str], outside: set[str]
) -> None:
    """By its parameter in the project, and by what others do with it."""
    code = "def run(kind):\n    return kind()\n\n\nclass Item:\n    def __init__(self): pass\n    @staticmethod\n"
    code += "    def make(): return 1\nx = "
    trace = ask(tmp_path, {"b.py": code + use + "\n"}, "Item.__init__", Direction.CALLERS)
    assert [f"{step.edge.path}:{step.edge.line} {step.edge.certainty}" for step in trace.steps] == found
    assert trace.doubt.callers_outside == outside


def test_a_member_of_an_import_that_is_not_decided_may_be_a_function(tmp_path: Path) -> None:
    """A script in a package imports its neighbour, or what is installed under that name."""
    files = {"app/__init__.py": "", "app/items.py": "def go(): return 1\n", "app/main.py": "import items\nitems.go()\n"}
    assert ask(tmp_path, files, "go", Direction.CALLERS).doubt.undecided == {("app/main.py", 2)}


def test_what_the_standard_library_gives_is_none_of_the_project(tmp_path: Path) -> None:
    """A thread, a match and a file are what they are, whatever their functions are given."""
    code = """import queue, re, subprocess, threading
class Job:
    def start(self): pass
    def touch(self): pass
def f(tmp_path, given):
    thread = threading.Thread(target=f)
    thread.start()
    re.match(given, given).start()
    subprocess.run(given).stdout.start()
    (tmp_path / given).touch()
    with open(given) as file:
        file.start()
    queue.Queue(given).get().start()
def test_f(tmp_path):
    (tmp_path / "x").touch()
"""
    undecided = ask(tmp_path, {"test_a.py": code}, "Job.start", Direction.CALLERS).doubt.undecided
    assert undecided == {("test_a.py", 13)}
    assert ask(tmp_path, {"test_a.py": code}, "Job.touch", Direction.CALLERS).doubt.undecided == {("test_a.py", 10)}
