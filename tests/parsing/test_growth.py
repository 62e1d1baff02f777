"""The work of every stage grows about linearly with the size of a file; steps are counted, not seconds."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.graph.definitions import compare
from graphrag_mcp.history.differing import Differing
from graphrag_mcp.index.prepare import Job, prepare
from graphrag_mcp.model.files import ParseMode
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.resolution import state
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.settings import load_settings
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.facts import SqliteFacts
from tests.resolution.projects import Project

FEW, MANY = 30, 120
MOST = 1.3  # Times what linear growth would be: few files show a second power of what is a small part of the work.

FORMS: dict[str, tuple[str, str, str]] = {  # What is before, what is repeated with a number, and what is after.
    "definitions.py": ("", "def f#(a, b=1):\n    return g(a)\n", ""),
    "classes.py": ("", "class C#(B#):\n    def m(self):\n        self.a = self.m()\n", ""),
    "handlers.py": ("", "try:\n    f#()\nexcept E as e:\n    g(e)\n", ""),
    "handlers_in_one.py": ("try:\n    pass\n", "except E# as e:\n    g(e)\n", ""),
    "loops.py": ("def f():\n", "    for i in a#:\n        g(i)\n", ""),
    "comprehensions.py": ("", "x# = [g(i) for i in a if i]\n", ""),
    "assigned.py": ("", "x# = [y# := g(i) for i in a if i]\n", ""),
    "patterns.py": ("match o:\n", "    case P#(1, a): pass\n", ""),
    "contexts.py": ("", "with a# as b:\n    b()\n", ""),
    "narrowed.py": ("def f(x):\n", "    if isinstance(x, A#):\n        x.f()\n", ""),
    "attributes.py": ("class C:\n", "    def m#(self):\n        self.a# = b\n", ""),
    "nested.py": ("def o():\n    x = 1\n", "    def f#():\n        nonlocal x\n        x = f#()\n", ""),
    "globals.py": ("def f():\n", "    global g#\n    g# = 1\n", ""),
    "overloads.py": ("", "@overload\ndef f(a: int#) -> int: ...\n", ""),
    "variables.py": ("", "x = f#(x)\n", ""),
    "arguments.py": ("C(\n", "1,\n", ")\n"),
    "functions.ts": ("", "export function f#(a: A, b = 1): B { const x = g(a); return x; }\n", ""),
    "interfaces.ts": ("", "interface I# extends J# { a: A; m(b: B): void }\n", ""),
    "classes.ts": ("", "class C# extends B# implements I# { m() { return this.x; } }\n", ""),
    "expressions.ts": ("", "const C# = class extends mix(B#) { m() {} };\n", ""),
    "decorated.ts": ("class C {\n", "@d() m#() {}\n", "}\n"),
    "overloads.ts": ("", "function f(a: A#): B;\n", "function f(a: any) {}\n"),
    "callbacks.ts": ("f(\n", "(x) => x.a#,\n", ");\n"),
    "handlers.js": ("", "try { f#(); } catch (e) { g(e); }\n", ""),
    "pattern.js": ("const [\n", "a#,\n", "] = f();\n"),
    "imports.ts": ("", "import { a#, b as c# } from './m#';\n", ""),
    "elements.go": ("package a\nvar x = T{\n", "1,\n", "}\n"),
    "structures.go": ("package a\n", "type S# struct { A; b B }\n", ""),
    "interfaces.go": ("package a\n", "type I# interface { M(a A) B; J }\n", ""),
    "methods.go": ("package a\n", "func (c *C) M#(a A) B { return c.x }\n", ""),
    "builds.go": ("", "//go:build a#\n", "package a\n"),
    "scopes.go": ("package a\nfunc f() {\n", "if x, err := g#(); err != nil { h(x) }\n", "}\n"),
    "Overloads.java": ("class C {\n", "void m(A# a) { m(a); }\n", "}\n"),
    "Records.java": ("", "record R#(A a, B b) implements I {}\n", ""),
    "Inner.java": ("class O {\n", "class C# extends B { void m() { n(a -> a.b()); } }\n", "}\n"),
    "functions.rs": ("", "/// Doc.\nfn f#(a: A) -> B { let x = g(a); x }\n", ""),
    "modules.rs": ("", "mod m# { fn h#() { super::h#(); crate::m#::h#(); g!({ h#(1) }) } }\n", ""),
    "macros.cpp": ("", "#define M#(a) do { g(a, h(a)); } while (0)\n", ""),
    "nested_macros.cpp": ("", "#define M#(a) " + "{ g(" * 100 + ") }" * 100 + "\n", ""),
    "taken.ts": ("function f(o) {\n", "let { a# } = o; a# = 1;\n", "}\n"),
    "given.kt": ("fun f() {\n", "a#.apply { b() }\n", "}\n"),
    "classes.kt": ("", "class C# : A.B { fun f() = 1 }\n", ""),
    "functions.c": ("", "int f#(int a) { return g(a); }\n", ""),
    "methods.cpp": ("class C { public:\n", "void m#() { x(); }\n", "};\n"),
    "properties.cs": ("class C {\n", "[A] int A# { get; set; }\n", "}\n"),
    "methods.rb": ("class C\n", "  def m#; n; end\n", "end\n"),
    "attributes.rs": ("", "#[test]\n", "fn f() {}\n"),
    "of_one_name.rs": ("struct S;\n", "struct D#;\nimpl D# { fn go(&self) { self.go(); x.go(); } }\n", ""),
    "of_one_name.php": ("<?php\nclass B {}\n", "class D# extends B { function go() { $x->go(); } }\n", ""),
    "variables.cs": ("class A { void M() {\n", "Foo v# = new Foo(); v#.Go();\n", "} }\n"),
    "uses.php": ("<?php\n", "use A\\B#;\nfunction f#() { return g(); }\n", ""),
    "headings.md": ("", "# h#\n\n[a](b#.md) " + "word " * 20 + "\n\n", ""),  # Fewer words are cut into one chunk.
    "keys.yaml": ("", "k#:\n  a:\n    b: 1\n", ""),
    "keys.json": ("{", '"k#": {"a": 1},\n', '"z": 1}'),
    "sections.ini": ("", "[s#]\na = 1\n", ""),
}


def _text(name: str, count: int) -> str:
    before, repeated, after = FORMS[name]
    return before + "".join(repeated.replace("#", str(number)) for number in range(count)) + after


def _steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python run, each round of a loop within a line included."""
    steps = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: count if "graphrag_mcp" in frame.f_code.co_filename else None)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


def _assert_linear(work: Callable[[int], Callable[[], object]], least: int = FEW, most: int = MANY) -> None:
    little = work(least)
    little()  # What is loaded once.
    steps = _steps(little)  # They are counted before a larger file takes the place of the small one.
    assert _steps(work(most)) <= MOST * most / least * steps


@pytest.mark.parametrize("name", FORMS)
def test_reading_a_file_grows_linearly(name: str, tmp_path: Path) -> None:
    """Its outline, chunks, relations, facts and rows."""

    def work(count: int) -> Callable[[], object]:
        path = tmp_path / name
        path.write_text(_text(name, count))
        return lambda: prepare(Job(tmp_path, name, 1, 1, 1, "recipe", None, None, 10_000_000))

    _assert_linear(work)


def _nested(count: int) -> str:
    around = "".join(f"mod m{number} {{\n" for number in range(count))
    return f"{around}fn go() {{\n{''.join(f'a.b{number}();' for number in range(4 * count))}\n}}\n{'}' * count}\n"


def test_a_receiver_in_deep_code_is_looked_up_once(tmp_path: Path) -> None:
    """Not in each of the definitions around it for each call."""

    def work(count: int) -> Callable[[], object]:
        (tmp_path / "a.rs").write_text(_nested(count))
        return lambda: prepare(Job(tmp_path, "a.rs", 1, 1, 1, "recipe", None, None, 10_000_000))

    _assert_linear(work)


# Each mention of a variable that is declared everywhere means all of its declarations.
RESOLVED = [name for name in FORMS if name.endswith((".py", ".ts", ".js")) and name != "variables.py"]


@pytest.mark.parametrize("name", RESOLVED)
def test_resolving_what_a_file_mentions_grows_linearly(name: str) -> None:
    """Each mention is looked up without reading all that the file declares and binds."""

    def work(count: int) -> Callable[[], object]:
        project = Project({name: _text(name, count)})
        return lambda: list(_resolved(project, name))

    _assert_linear(work)


def _resolved(project: Project, path: str) -> Iterator[object]:
    facts = project.facts(path)
    assert facts is not None
    assert facts.mentions
    resolver = Resolver(project)  # One that remembers nothing.
    for mention in facts.mentions:
        yield resolver.resolve(path, mention)


# Each call is compared with all overloads, and each mention of a variable with all that it is given.
LINKED = [name for name in FORMS if not name.endswith((".md", ".yaml", ".json", ".ini"))]
LINKED = [name for name in LINKED if name not in ("variables.py", "contexts.py", "Overloads.java")]


@pytest.mark.parametrize("name", LINKED)
def test_linking_a_file_grows_linearly(name: str, tmp_path: Path) -> None:
    """From the index, in languages with facts and in those whose names are compared."""
    _assert_linear(lambda count: _linking(name, _text(name, count), tmp_path / f"{count}"), 10, 40)


def _linking(name: str, text: str, root: Path) -> Callable[[], object]:
    """Return what links a file of an index."""
    root.mkdir(exist_ok=True)
    (root / name).write_text(text)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(root.parent / "data")}))) as app:
        app.index()
        index = Database(Path(app.status().index_file), str(root))
    return lambda: Linker(SqliteFacts(index)).link(name)


def _wide(count: int) -> str:
    """Return types that are below one with many others above it, which each has two above it."""
    above = "".join(f"interface I{number} extends I{number + 1}, I{number + 2} {{}}\n" for number in range(count))
    names = ", ".join(f"I{number}" for number in range(count))
    below = "".join(f"class C{number} extends A {{ function m() {{ new C{number}(); }} }}\n" for number in range(count))
    return f"<?php\n{above}class A implements {names} {{}}\n{below}"


def _overloads(count: int) -> str:
    return "class A {\n" + "".join(f"void go(T{number} x) {{ x.go(); go(x); }}\n" for number in range(count)) + "}\n"


def _interfaces(count: int) -> str:
    types = "".join(f"interface I{number} {{ function g{number}(); }}\n" for number in range(count))
    methods = "".join(f"function m{number}() {{}}\n" for number in range(count))
    return f"<?php\n{types}class C implements {', '.join(f'I{number}' for number in range(count))} {{\n{methods}}}\n"


def _chain(count: int) -> str:
    classes = (f"class C{number} extends C{number - 1} {{ function m{number}() {{}} }}\n" for number in range(1, count))
    return "<?php\nclass C0 {}\n" + "".join(classes)


def _modules(count: int) -> str:
    return "".join(f"mod m{number} {{ pub fn go() {{ go(); crate::go(); }} }}\n" for number in range(count))


def _constructors(count: int) -> str:
    makers, made = "".join(f"A(B{number} b) {{}}\n" for number in range(count)), "new A(1);\n" * count
    return f"class A {{\n{makers}void make() {{\n{made}}}\n}}\n"


def _inherited(count: int) -> str:
    above, below = ("".join(f"void m({kind}{number} x) {{}}\n" for number in range(count)) for kind in "XY")
    return f"class A {{\n{above}}}\nclass B extends A {{\n{below}void go() {{\n{'m(1);' * count}}}\n}}\n"


def _elements(count: int) -> str:
    return "x = f()\n" + "x = x[0]\n" * count + "x()\n"


def _asked_above(count: int) -> str:
    chain = "".join(f"class C{number} extends C{number - 1} {{}}\n" for number in range(1, 100))
    others = "".join(f"class D{number} {{ static function m{number}() {{}} }}\n" for number in range(count))
    return f"<?php\nclass C0 {{}}\n{chain}{others}" + "".join(f"C99::m{number}();\n" for number in range(count))


def _macros(count: int) -> str:
    return "a! { fn f(x in 1) {} } mod m { " * (count // 10) + "}" * (count // 10) + "b! { fn g() {} }\n" * count


def _diamonds(count: int) -> str:
    """Return types with two above each, which have one above both: as many ways lead up as there are numbers."""
    kinds = ("class A{0}(B{0}, C{0})", "class B{0}(A{1})", "class C{0}(A{1})")
    methods = ":\n    def m(self):\n        self.m()\n"
    return "".join(kind.format(number, number + 1) + methods for number in range(count) for kind in kinds)


def _sides(count: int) -> str:
    """Return classes that each have overloads and an interface, and others with them above."""
    overloads = "void go(int x) { go(1); super.go(x); } void go(String s) {} public A own(A a) { return own(a); }"
    kinds = "class C{0} extends C{1} implements I{0} {{ {2} }}\ninterface I{0} {{ A own(A a); }}\n"
    return "".join(kinds.format(number, number + 1, overloads) for number in range(count))


def _operations(count: int) -> str:
    """Return functions that are given for an interface with as many methods."""
    methods = "".join(f"void m{number}();\n" for number in range(count))
    given = "take(x -> x.go());\n" * count
    return f"interface I {{\n{methods}}}\nclass A {{\nvoid take(I i) {{}}\nvoid give() {{\n{given}}}\n}}\n"


def _specific(count: int) -> str:
    """Return calls that take any of many overloads, each with its type below that of the one after."""
    overloads = "".join(f"void m(I{number} x) {{}}\n" for number in range(count))
    above = "".join(f"interface I{number} extends I{number + 1} {{}}\n" for number in range(count))
    return f"class A {{\n{overloads}void go() {{\n{'m(null);' * count}}}\n}}\n{above}"


LEAST = 220  # More than most limits; twice as many show whether all are looked at.
CUT_OFF = {
    "above.php": _asked_above,
    "macros.rs": _macros,
    "modules.rs": _modules,
    "Makers.java": _constructors,
    "Inherited.java": _inherited,
    "elements.py": _elements,
    "overloads.cs": _overloads,
    "interfaces.php": _interfaces,
    "chain.php": _chain,
    "wide.php": _wide,
    "diamonds.py": _diamonds,
    "Operations.java": _operations,
}
CUT_OFF_EARLIER = ("above.php", "interfaces.php", "wide.php", "diamonds.py", "Operations.java")
CUT_OFF_LATE = ("Makers.java", "chain.php", "elements.py", "wide.php", "diamonds.py")  # Each takes seconds.


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in CUT_OFF_LATE)) for name in CUT_OFF]
)
def test_what_is_cut_off_bounds_the_links_of_a_file(name: str, tmp_path: Path) -> None:
    """More overloads are not told apart, and types further above are not climbed to."""
    least = LEAST // 2 if name in CUT_OFF_EARLIER else LEAST
    _assert_linear(lambda count: _linking(name, CUT_OFF[name](count), tmp_path / f"{count}"), least, 2 * least)


@pytest.mark.parametrize(("name", "make"), [("Sides.java", _sides), ("Specific.java", _specific)])
def test_what_is_compared_in_a_file_counts_as_its_steps(
    name: str, make: Callable[[int], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members with those of types above, and overloads with each other: what is left is not decided."""
    monkeypatch.setattr(state, "MAX_OF_FILE", 8_000)
    _assert_linear(lambda count: _linking(name, make(count), tmp_path / f"{count}"), 30, 90)


def _circle(count: int) -> dict[str, str]:
    """Return modules that each pass on what all others export, which has none of the names that they import."""
    return {
        f"m{number}.ts": "".join(f"export * from './m{other}';\n" for other in range(count) if other != number)
        + f"import {{ {', '.join(f'f{other}' for other in range(10))} }} from './m{(number + 1) % count}';\n"
        + "".join(f"f{other}();\n" for other in range(10))
        for number in range(count)
    }


def _each_other(count: int) -> dict[str, str]:
    """Return functions of which each returns what three others do."""
    others = [[(number * factor + factor // 2) % count for factor in (7, 5, 3)] for number in range(count)]
    bodies = ("".join(f"if (a) return f{other}(); " for other in row) for row in others)
    functions = "".join(f"function f{number}() {{ {body}}}\n" for number, body in enumerate(bodies))
    return {"m0.ts": functions + "".join(f"f{number}().x();\n" for number in range(count))}


@pytest.mark.parametrize("files", [_circle(8), _each_other(16)])
def test_what_goes_in_circles_takes_a_file_as_many_steps_as_it_is_long(files: dict[str, str]) -> None:
    """Each way around is another: what is left is not decided."""
    project = Project(files)
    assert _steps(lambda: Linker(project).link("m0.ts")) < 5_000_000


@pytest.mark.parametrize(
    ("manifest", "content", "name"),
    [
        ("tsconfig.json", '{{"compilerOptions": {{"paths": {{"*": [{0}]}}}}}}', "a.ts"),
        ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere = [{0}]\n", "a.py"),
    ],
)
def test_an_import_is_looked_for_in_few_places_of_a_manifest(manifest: str, content: str, name: str) -> None:
    """However many it names."""

    def reads(places: int) -> int:
        text = 'import x from "x/y";\n' if name == "a.ts" else "import x.y\n"
        named = ", ".join(f'"p{number}/*"' if name == "a.ts" else f'"p{number}"' for number in range(places))
        linked = Linker(Project({manifest: content.format(named), name: text})).link(name)
        return len(linked.of_imports)

    assert reads(5) < reads(20) == reads(60)


def test_a_name_with_many_definitions_costs_what_is_shown_of_them(tmp_path: Path) -> None:
    """Each is used in as many places as there are."""

    def work(count: int) -> Callable[[], object]:
        root = tmp_path / f"{count}"
        root.mkdir()
        below = "".join(f"class C{number}(B):\n    def m(self): pass\n" for number in range(count))
        calls = "    b.m()\n" * count
        text = f"class B:\n    def m(self): pass\n{below}def use(b: B):\n{calls}"
        (root / "a.py").write_text(text)
        app = App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))
        app.index()
        apps.append(app)
        return lambda: app.navigator().symbols("m")[:3]

    apps: list[App] = []
    try:
        _assert_linear(work, 30, 90)
    finally:
        for app in apps:
            app.close()


def test_a_comprehension_that_doubles_with_each_clause_is_unknown() -> None:
    """Each variable is twice in what the one before is taken from."""
    clauses = " ".join(f"for x{number} in (x{number + 1}, x{number + 1})" for number in reversed(range(60)))
    assert not parse_file("a.py", f"x = [(x0, x0) for x60 in y {clauses}]\n".encode()).failures


@pytest.mark.parametrize(("name", "end"), [("a.ts", "m() {} }\n"), ("a.py", "def f(): pass\n")])
def test_thousands_of_decorators_are_too_many(name: str, end: str) -> None:
    """Each of them may be the first of those of the definition."""
    text = ("class A {\n" if name == "a.ts" else "") + "@d\n" * 2_200 + end
    parsed = parse_file(name, text.encode())
    assert [failure.reason for failure in parsed.failures] == ["too much of the same beside each other or nested"]
    assert parsed.mode is ParseMode.TEXT


@pytest.mark.parametrize("name", ["definitions.py", "classes.py", "overloads.ts", "Overloads.java"])
def test_comparing_a_file_grows_linearly(name: str) -> None:
    """Of a new file all definitions are compared with nothing."""

    def work(count: int) -> Callable[[], object]:
        return lambda: compare(Differing(name, name, _text(name, 1).encode(), _text(name, count).encode()))

    _assert_linear(work)
