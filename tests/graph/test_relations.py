"""Relations to one definition, as they are asked of an index."""

import json
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.graph.tracing import Trace
from graphrag_mcp.index.linking import LinkStage
from graphrag_mcp.model.files import CALLABLE, RelationKind
from graphrag_mcp.model.graph import Direction
from graphrag_mcp.resolution import state
from graphrag_mcp.settings import load_settings
from graphrag_mcp.text.names import without_constructor
from graphrag_mcp.tools.trace_relations import TRACE


def rows(folder: Path, files: Mapping[str, str], symbol: str, direction: Direction) -> list[str]:
    """Return "file:line certainty" of each place that a trace reports."""
    found = ask(folder, files, symbol, direction)
    return [f"{step.edge.path}:{line} {step.edge.certainty}" for step in found.steps for line in step.lines]


def ask(
    folder: Path,
    files: Mapping[str, str],
    symbol: str,
    direction: Direction,
    *,
    hops: int = 1,
    unresolved: bool = False,
) -> Trace:
    """Return a trace in an index of some files, which is made when they are first asked about and then kept."""
    shared = folder.parent / f"asked-{sha256(json.dumps(files).encode()).hexdigest()}"
    if not shared.exists():
        return ask_anew(shared, files, symbol, direction, hops=hops, unresolved=unresolved)
    with closing(_open(shared)) as app:
        return app.navigator().trace(symbol, direction, hops, unresolved=unresolved)


def ask_anew(
    folder: Path,
    files: Mapping[str, str],
    symbol: str,
    direction: Direction,
    *,
    hops: int = 1,
    unresolved: bool = False,
) -> Trace:
    """Return a trace after files of a folder were written and indexed."""
    for name, text in files.items():
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / name).write_text(text)
    with closing(_open(folder)) as app:
        app.index()
        return app.navigator().trace(symbol, direction, hops, unresolved=unresolved)


def _open(folder: Path) -> App:
    root = folder / "project"
    return App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data")}))


FUNCTIONS = "def run(): pass\ndef other(): pass\ndef make(): return run\nclass Box:\n    def open(self): pass\n"


@pytest.mark.parametrize(
    ("code", "symbol", "found"),
    [
        ("from lib import run\nx = run\nx()", "run", "certain"),
        ("from lib import run\ndef f():\n    y, x = 1, run\n    x()", "run", "certain"),
        ("from lib import run, other\nx = run if a else other\nx()", "run", "may call"),
        ("from lib import make\nmake()()", "run", "certain"),
        ("from lib import make\nx = make()\nx()", "run", "certain"),
        ("from lib import run\ndef f(x=run):\n    x = unknown(x)\n    x()", "run", ""),
        ("from lib import run\nclass C:\n    x = run\n    def f(self):\n        self.x()", "run", "may call"),
        ("from lib import Box\nx = Box().open\nx()", "open", "certain"),
        ("from lib import Box\nX = Box\nX()", "Box", "certain"),
    ],
)
def test_a_call_by_another_name_is_one_of_what_it_holds(tmp_path: Path, code: str, symbol: str, found: str) -> None:
    """A variable, a field, or what a call gives; of one of several it is said that it may be."""
    place = f"main.py:{len(code.splitlines())} "
    calls = rows(tmp_path, {"lib.py": FUNCTIONS, "main.py": code + "\n"}, symbol, Direction.CALLERS)
    assert [one for one in calls if one.startswith(place)] == ([place + found] if found else [])


def test_a_decorator_that_gives_another_function_is_called_first(tmp_path: Path) -> None:
    """Then a call only may reach the decorated one."""
    code = "def wrap(f):\n    def inner(): f()\n    return inner\ndef same(f): return f\n"
    code += "@wrap\ndef far(): pass\n@same\ndef near(): pass\nfar()\nnear()\n"
    assert rows(tmp_path / "a", {"main.py": code}, "far", Direction.CALLERS) == ["main.py:9 may call"]
    assert rows(tmp_path / "b", {"main.py": code}, "near", Direction.CALLERS) == ["main.py:10 certain"]
    assert "main.py:9 certain" in rows(tmp_path / "c", {"main.py": code}, "wrap.inner", Direction.CALLERS)


def test_who_creates_a_type_calls_the_constructor_that_it_inherits(tmp_path: Path) -> None:
    """A type with a constructor of its own calls that."""
    code = "class A:\n    def __init__(self): pass\nclass B(A): pass\nclass C(A):\n    def __init__(self): pass\n"
    code += "B()\nC()\n"
    assert rows(tmp_path, {"main.py": code}, "A.__init__", Direction.CALLERS) == ["main.py:6 certain"]


FIXTURES = {
    "lib.py": "class Client:\n    def get(self): pass\ndef connect(): return Client()\n",
    "tests/conftest.py": "import pytest, lib\n@pytest.fixture\n\ndef client():\n    yield lib.connect()\n",
    "tests/unit/test_a.py": "def test_a(client):\n    client.get()\n",
    "tests/test_b.py": "import pytest\n@pytest.fixture()\ndef client(): ...\ndef test_b(client): ...\n",
    "tests/test_c.py": "import pytest\n@pytest.mark.parametrize('b,client', 1)\ndef test_c(b, client): client.get()\n",
    "other/test_d.py": "def test_d(client): client.get()\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("tests/conftest.py:4", Direction.CALLERS, ["tests/unit/test_a.py:1 may call"]),
        ("tests/test_b.py:3", Direction.CALLERS, ["tests/test_b.py:4 may call"]),
        ("Client.get", Direction.CALLERS, ["tests/unit/test_a.py:2 certain"]),
        ("connect", Direction.TESTS, ["tests/conftest.py:5 certain", "tests/unit/test_a.py:1 may call"]),
    ],
)
def test_a_test_may_call_the_fixture_that_a_parameter_names(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    """The nearest of its file and the folders above, unless the values are listed; it gives what the fixture gives."""
    assert rows(tmp_path, FIXTURES, symbol, direction) == found


GUESSES = """class A {
  int get(int x) { return x; }
  public String toString() { return ""; }
  void f(A a) {
    Lib.make(a).get(1);
    Lib.make(a).get();
    Lib.make(a).toString();
  }
}
"""


def test_a_place_is_a_guess_only_where_it_could_mean_the_definition(tmp_path: Path) -> None:
    """A call with other arguments cannot; what every object has is counted, not listed."""
    found = ask(tmp_path / "a", {"A.java": GUESSES}, "A.get", Direction.CALLERS, unresolved=True)
    assert [step.lines for step in found.steps] == [(5,)]
    found = ask(tmp_path / "b", {"A.java": GUESSES}, "A.toString", Direction.CALLERS, unresolved=True)
    assert (found.steps, found.doubt.undecided, found.doubt.is_listed) == ((), {("A.java", 7)}, False)


LAMBDAS = {
    "Task.java": "interface Task { void run(); }\n",
    "Runner.java": "class Runner {\n  static void take(int n, Task task) { task.run(); }\n  Runner(Task task) {}\n}\n",
    "A.java": """class A {
  void a() { Runner.take(1, () -> {}); }
  void b() { new Runner(A::c); }
  static void c() {}
  void d() { Other.take(1, () -> {}); }
  Task e() { return () -> {}; }
}
""",
}


def test_a_function_implements_the_interface_that_its_place_expects(tmp_path: Path) -> None:
    """A lambda as the function around it, a method reference as the method."""
    found = ask(tmp_path, LAMBDAS, "Task", Direction.IMPLEMENTERS)
    assert [(step.source.qualified_name, step.edge.line) for step in found.steps] == [
        ("A.a", 2),
        ("A.c", 4),
        ("A.e", 6),
    ]


WRITES = {
    "a.go": (
        """package a

var level int

type Box struct{ n int }

func f(b *Box, xs []int, c chan int) {
  level = 1; b.n = 1
  level += 1; b.n += 1
  level++; b.n++
  level--; b.n--
  for level = range xs {}; for b.n = range xs {}
  (level) = 3; (b.n) = 3
  select { case level = <-c: case b.n = <-c: }
  level, b.n = 1, 2
  print(level, b.n)
}
""",
        range(8, 16),
    ),
    "a.ts": (
        """let level = 0
class Box { n = 0 }
function f(b: Box, o: any) {
  level = 1; b.n = 1
  level += 1; b.n += 1
  level++; --b.n;
  [level, b.n] = o;
  ;({ c: level, d: b.n } = o);
  ;({ level, ...b.n } = o);
  [level = 1, b.n = 2] = o;
  for (level of o) for (b.n of o) {};
  (level) = 2; (b.n) = 2
  print(level, b.n)
}
""",
        range(4, 13),
    ),
    "a.py": (
        """level = 0
class Box:
    n = 0
def f(b: Box, o):
    global level
    level = 1; b.n = 1
    level += 1; b.n += 1
    level, b.n = o
    for level, b.n in o: pass
    with o as (level, b.n): pass
    del level, b.n
    [level, *b.n] = o
    print(level, b.n)
""",
        range(6, 13),
    ),
    "A.java": (
        """class Box { int n; static int level;
  void f(Box b) {
    level = 1; b.n = 1;
    level += 1; b.n += 1;
    level++; --b.n;
    print(level, b.n);
  }
}
""",
        range(3, 6),
    ),
}


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize("name", ["level", "n"])
def test_whatever_gives_a_variable_another_value_writes_it(tmp_path: Path, path: str, name: str) -> None:
    """Assignments of every form, loops and blocks that give it something, and what takes it away."""
    text, lines = WRITES[path]
    owner = "Box." if name == "n" or path == "A.java" else ""
    found = rows(tmp_path, {path: text}, owner + name, Direction.WRITERS)
    assert found == [f"{path}:{line} certain" for line in lines]


def test_a_member_of_a_type_without_a_name_is_no_callee(tmp_path: Path) -> None:
    """It is not said that its file is called."""
    code = """function helper() {}
export function run(given: unknown) {
  helper();
  (given as { subscribe: (f: () => void) => void }).subscribe(helper);
}
"""
    assert rows(tmp_path, {"a.ts": code}, "run", Direction.CALLEES) == ["a.ts:3 certain"]


@pytest.mark.parametrize(
    ("symbol", "lines"), [("Converter", [3, 5, 6]), ("Converter.convert", [3, 5, 6]), ("Converter.other", [])]
)
def test_a_function_of_a_library_that_is_handed_over_implements_an_interface(
    tmp_path: Path, symbol: str, lines: list[int]
) -> None:
    """As a lambda does, and its only operation; it is shown where it is handed over."""
    code = """interface Converter { int convert(String text); default void other() {} }
class A {
  Converter held = Integer::parseInt;
  void add(java.util.List<Converter> all) {
    all.add(Integer::valueOf);
    use(Integer::parseInt);
    other(Integer::parseInt);
  }
  void use(Converter one) {}
  void other(java.util.function.Function<String, Integer> one) {}
}
"""
    found = rows(tmp_path, {"A.java": code}, symbol, Direction.IMPLEMENTERS)
    assert found == [f"A.java:{line} certain" for line in lines]


FILLS = {
    "a.py": """CACHE = {}
N = 0
def f(k):
    CACHE[k] = 1
    CACHE[k] += 1
    CACHE[k], other = 1, 2
    del CACHE[k]
    del CACHE[k], other
    print(CACHE[k])
""",
    "a.ts": """const CACHE: Record<string, number> = {};

export function f(k: string) {
  CACHE[k] = 1;
  CACHE[k] += 1;
  CACHE[k]++;
  delete CACHE[k];
  print(CACHE[k]);
}
""",
    "a.go": """package a
var CACHE = map[string]int{}
func f(k string) {
	CACHE[k] = 1
	CACHE[k] += 1
	CACHE[k]++
	delete(CACHE, k)
	clear(CACHE)
	print(CACHE[k])
}
""",
    "A.java": """class A {
  static int[] CACHE = new int[9];
  void f(int k) {
    CACHE[k] = 1;
    A.CACHE[k] += 1;
    CACHE[k]++;
    --CACHE[k];
    print(CACHE[k]);
  }
}
""",
}


def test_a_method_that_an_interface_has_from_a_foreign_one_is_run_by_calls_of_the_interface(tmp_path: Path) -> None:
    """Of the types that satisfy the interface, from both ends; also where one has the method by embedding another."""
    text = """package a

import "io"

type Client interface { io.Closer; Ping() error }
type First struct{}
func (f *First) Close() error { return nil }
func (f *First) Ping() error { return nil }
type Base struct{}
func (b *Base) Close() error { return nil }
type Second struct{ *Base }
func (s *Second) Ping() error { return nil }
type Other struct{}
func (o *Other) Close() error { return nil }
func use(c Client) { c.Close() }
"""
    found = {
        kind: rows(tmp_path, {"a.go": text}, f"{kind}.Close", Direction.CALLERS) for kind in ("First", "Base", "Other")
    }
    assert found == {"First": ["a.go:15 may call"], "Base": ["a.go:15 may call"], "Other": []}
    assert rows(tmp_path, {"a.go": text}, "use", Direction.CALLEES) == ["a.go:15 may call", "a.go:15 may call"]


@pytest.mark.parametrize("path", FILLS)
def test_whatever_changes_an_element_writes_its_collection(tmp_path: Path, path: str) -> None:
    """It is set, replaced, or taken out; what looks it up reads."""
    lines = FILLS[path].splitlines()
    changed = [
        number for number, line in enumerate(lines, 1) if number > 3 and "print" not in line and line.strip("} ")
    ]
    owner = "A." if path == "A.java" else ""
    found = rows(tmp_path, {path: FILLS[path]}, f"{owner}CACHE", Direction.WRITERS)
    assert found == [f"{path}:{line} certain" for line in changed]


def test_a_call_through_a_foreign_interface_may_run_a_method_of_the_project(tmp_path: Path) -> None:
    """Types of the standard library that are no interfaces, and packages, cannot; nor one that lacks other methods."""
    text = """package a

import ("bytes"; "net/http"; "lib.org/log"; "lib.org/x.v3")

type Writer interface { http.ResponseWriter; Size() int }
type writer struct{}
func (w *writer) WriteHeader(code int) {}
func (w *writer) Len() int { return 0 }
func (w *writer) Print() {}
func f(w http.ResponseWriter, v Writer, b bytes.Buffer, l log.Logger) {
  w.WriteHeader(1)
  v.WriteHeader(1)
  b.Len()
  l.Print()
  x.Print()
}
"""
    found = {
        name: ask(tmp_path, {"a.go": text}, f"writer.{name}", Direction.CALLERS).doubt.undecided
        for name in ("WriteHeader", "Len", "Print")
    }
    assert found == {"WriteHeader": {("a.go", 11)}, "Len": set(), "Print": {("a.go", 14)}}


SHAPES = """interface Shape { area(): number; draw(): void; name?(): string }
interface Named { title(): string }
class Square { area() { return 1 } draw() {} }
class Field { area() { return 1 } }
class Label implements Named { title() { return '' } }
const round = { area() { return 3 }, draw() {} }
function f(s: Shape, n: Named) { s.area(); n.title() }
"""


@pytest.mark.parametrize(("method", "lines"), [("Square.area", {7}), ("Field.area", set()), ("Label.title", set())])
def test_a_call_of_an_interface_may_run_a_method_of_any_type_like_it(
    tmp_path: Path, method: str, lines: set[int]
) -> None:
    """If it has all of its methods; one of a type that names the interface may be called as ever."""
    found = ask(tmp_path, {"a.ts": SHAPES}, method, Direction.CALLERS)
    assert {line for _, line in found.doubt.undecided} == lines


def test_a_type_with_the_methods_of_an_interface_may_implement_it(tmp_path: Path) -> None:
    """Optional ones may be missing; one that names the interface does so for certain."""
    shapes = ask(tmp_path, {"a.ts": SHAPES}, "Shape", Direction.IMPLEMENTERS)
    assert not shapes.steps
    assert {line for _, line in shapes.doubt.undecided} == {3, 6}
    named = ask(tmp_path, {"a.ts": SHAPES}, "Named", Direction.IMPLEMENTERS)
    assert [step.source.name for step in named.steps] == ["Label"]
    assert not named.doubt.undecided


def test_a_call_of_an_interface_may_call_what_implements_it_by_name(tmp_path: Path) -> None:
    """In TypeScript a class inherits nothing from it, and is below it."""
    assert rows(tmp_path, {"a.ts": SHAPES}, "Label.title", Direction.CALLERS) == ["a.ts:7 may call"]


CIRCLES = """type A = (x: A) => A
type B = C
type C = B
interface I { (): I }
interface J extends J { (): J }
function f<T extends T>(t: T) { t.run(); t[0].run(); t() }
function g<T extends U, U extends T>(t: T, u: U) { t.run(); for (const x of t) x.run(); u()() }
class K { run() {} }
const a: A = x => x
const b: B = x => x
const i: I = () => i
function h<T extends () => T>(t: T) { t()()().run() }
function k<T extends Array<T>>(t: T) { t[0][0].run(); for (const y of t) for (const z of y) z.run() }
"""


@pytest.mark.parametrize(("symbol", "lines"), [("A", [9]), ("B", []), ("I", [11])])
def test_types_that_are_made_of_themselves_are_followed_once(tmp_path: Path, symbol: str, lines: list[int]) -> None:
    found = ask(tmp_path, {"a.ts": CIRCLES}, symbol, Direction.IMPLEMENTERS)
    assert [line for step in found.steps for line in step.lines] == lines
    assert not found.doubt.files_pending


BOUNDED = """class Handler { run() {} }
async function all<H extends Array<Handler>>({ handlers }: { handlers: H }) {
  for (const handler of handlers) await handler.run()
}
function first<H extends Handler[]>(handlers: H) { handlers[0].run() }
function calls<F extends () => Handler>(make: F) { make().run() }
"""


def test_a_type_parameter_has_the_elements_and_results_of_what_it_is_at_least(tmp_path: Path) -> None:
    assert rows(tmp_path, {"a.ts": BOUNDED}, "Handler.run", Direction.CALLERS) == [
        f"a.ts:{line} certain" for line in (3, 5, 6)
    ]


FUNCTION_TYPES = """
export type Middleware = (next: (a: number) => number) => (b: number) => number
interface Fn { (a: number): void }
interface Options { onError?: Fn, wrap: Middleware }

const immutable: Middleware = next => b => next(b)
const cast = ((next) => b => next(b)) as unknown as Middleware
function make(n: number): Middleware { return next => b => next(b + n) }
const table: Record<string, Middleware> = { one: immutable, two: next => b => 1 }
const options: Options = { onError: a => {}, wrap: make(1) }
class Box { wrap: Middleware = next => b => 3 }
function use(wrap: Middleware) { return wrap }
use(next => b => 2)
const fetching: typeof make = n => immutable
const either: Middleware = table ? immutable : next => b => 4
const plain = (next) => (b) => 5
function is_hot(a: number) { return next => b => 6 }
const by: Middleware = (is_hot) ? immutable : immutable
const asked: Middleware = is_hot ? immutable : immutable
"""


@pytest.mark.parametrize(
    ("symbol", "lines"), [("Middleware", [6, 7, 8, 9, 11, 13, 15]), ("Fn", [10])], ids=["alias", "interface"]
)
def test_functions_of_a_function_type_implement_it(tmp_path: Path, symbol: str, lines: list[int]) -> None:
    """Those that are assigned, cast, returned, kept in a table or handed over where the type is expected."""
    found = ask(tmp_path, {"a.ts": FUNCTION_TYPES}, symbol, Direction.IMPLEMENTERS)
    assert sorted({line for step in found.steps for line in step.lines}) == lines
    assert found.doubt.is_structural


def test_an_option_does_not_replace_a_function_of_the_platform(tmp_path: Path) -> None:
    """`fetch` in an object that is handed over is not the one that is called."""
    code = "import { serve } from 'srv'\nclass A { json() {} }\nserve({ fetch: () => null })\nfetch('/').json()\n"
    assert not ask(tmp_path, {"a.ts": code}, "A.json", Direction.CALLERS).doubt.undecided


def test_a_call_on_one_of_several_types_may_call_each(tmp_path: Path) -> None:
    """Which of them the value is, is not known."""
    text = "class A { stop() {} }\nclass B { stop() {} }\nfunction f(u: A | B) { u.stop() }\n"
    assert rows(tmp_path, {"a.ts": text}, "B.stop", Direction.CALLERS) == ["a.ts:3 may call"]


ATTRIBUTES = """class Answer:
    kind = None
    maker = dict
    def __init__(self, kind):
        self.kind = kind
    def head(self):
        return self.kind
    def make(self):
        return self.maker()
    def __enter__(self):
        return self

class Stream(Answer):
    def __init__(self, kind):
        self.kind = self.kind if kind is None else kind

class Page(Answer):
    kind = "page"
"""


@pytest.mark.parametrize(
    ("symbol", "direction", "found"),
    [
        ("Answer.kind", Direction.WRITERS, ["a.py:5 certain", "a.py:15 certain"]),
        ("Answer.kind", Direction.READERS, ["a.py:7 certain", "a.py:15 certain"]),
        ("Page.kind", Direction.READERS, ["a.py:7 may call"]),
        ("Answer.kind", Direction.OVERRIDES, ["a.py:18 certain"]),
        ("Answer.maker", Direction.READERS, ["a.py:9 certain"]),
    ],
)
def test_an_attribute_of_python_is_that_of_the_types_above_and_below(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str]
) -> None:
    """What a method of a subclass assigns is the attribute above; what a subclass declares may be read above."""
    assert rows(tmp_path, {"a.py": ATTRIBUTES}, symbol, direction) == found


def test_what_python_calls_by_itself_is_never_complete(tmp_path: Path) -> None:
    """`with Answer()` calls `__enter__`, and nothing names it."""
    assert not ask(tmp_path, {"a.py": ATTRIBUTES}, "Answer.__enter__", Direction.CALLERS).doubt.is_complete
    assert not ask(tmp_path, {"a.py": ATTRIBUTES}, "Answer.make", Direction.CALLERS).doubt.is_implicit


def test_an_import_of_a_package_is_none_of_a_file_with_its_name(tmp_path: Path) -> None:
    """`require('supertest')` does not mean a file called supertest.js in another folder."""
    files = {
        "helpers/supertest.js": "module.exports = () => 1\n",
        "a.js": "const request = require('supertest')\nrequest()\n",
        "b.js": "const request = require('./helpers/supertest')\nrequest()\n",
    }
    assert rows(tmp_path, files, "helpers/supertest.js", Direction.IMPORTERS) == ["b.js:1 certain"]


FOREIGN_CALLS = {
    "java": """import lib.Conn; import lib.Other; import java.util.Iterator;
class Mine implements Conn, Iterator<String> { public int grab(int n) { return n; } public String next() {} }
class Use { void use(Conn c, Other o, Iterator<String> i, String s) {
  c.grab(1);
  o.grab(1);
  Conn.grab(1);
  s.grab(1);
  take(c::grab);
  i.next();
} }
abstract class Base implements Conn { void run() {
  grab(1);
} }
class Deep extends Base { public int grab(int n) { return n; } }
""",
    "py": """from lib import Conn
import lib
class Mine(Conn):
    def grab(self, n): return n
    @property
    def size(self): return 1
class Held(dict):
    def get(self, key): return key
def use(c: Conn, o: lib.Other, s: str, d: dict):
    c.grab(1)
    o.grab(1)
    lib.grab(1)
    s.grab(1)
    d.get(1)
    c.size
""",
    "ts": """import { Conn, Other } from 'lib'
class Mine implements Conn { grab(n: number) { return n } }
class Held extends Map<string, string> { get(key: string) { return key } }
function use(c: Conn, o: Other, m: Map<string, string>) {
  c.grab(1)
  o.grab(1)
  m.get('a')
}
""",
}


@pytest.mark.parametrize(
    ("language", "symbol", "found"),
    [
        ("java", "Mine.grab", ["4 may call", "8 may call", "5 by name"]),
        ("java", "Mine.next", ["9 may call"]),
        ("java", "Deep.grab", ["4 may call", "8 may call", "12 may call", "5 by name"]),
        ("py", "Mine.grab", ["10 may call", "11 by name"]),
        ("py", "Held.get", ["14 may call"]),
        ("py", "Mine.size", ["15 may call"]),
        ("ts", "Mine.grab", ["5 may call", "6 by name"]),
        ("ts", "Held.get", ["7 may call"]),
    ],
)
def test_a_call_through_a_foreign_base_type_may_run_the_method_of_the_type_below(
    tmp_path: Path, language: str, symbol: str, found: list[str]
) -> None:
    """Through another foreign type it is not decided; a module, a builtin and a final type are none."""
    trace = ask(tmp_path, {f"a.{language}": FOREIGN_CALLS[language]}, symbol, Direction.CALLERS, unresolved=True)
    assert [f"{line} {step.edge.certainty}" for step in trace.steps for line in step.lines] == found


def test_a_foreign_base_whose_members_are_known_leaves_the_others_decided(tmp_path: Path) -> None:
    """No iterator has `size`, so a call of that on a foreign value is another thing."""
    text = "import java.util.*;\nclass Mine implements Iterator<String> { int size() { return 1; } }\n"
    text += "class Use { void use(lib.Other o, Iterator<String> i) { o.size(); i.size(); } }\n"
    trace = ask(tmp_path, {"Mine.java": text}, "Mine.size", Direction.CALLERS)
    assert (trace.steps, trace.doubt.is_complete) == ((), True)


CONSTRUCTORS = """class Base {
  Base() {}
  Base(String a) {}
  Base(int a, int... more) {}
}
class Leaf extends Base {
  Leaf() { super("x"); }
  Leaf(int a) { a++; }
  Leaf(long a) { this(); }
}
class Plain extends Base {}
class Deep extends Plain {}
class Below extends Plain { Below() { System.gc(); } }
class Use { void use(Object o) {
  new Leaf();
  new Deep();
  new Base(1);
  new Base("") {};
  new Base(o.hashCode(), 1);
  Leaf leaf = Lib.make(Leaf::new);
} }
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (2, ["8 certain", "13 certain", "16 certain"]),
        (3, ["7 certain", "18 certain"]),
        (4, ["17 certain", "19 certain"]),
        (7, ["9 certain", "15 certain", "20 may call"]),
        (8, ["20 may call"]),
    ],
)
def test_a_creation_calls_the_constructor_that_is_chosen(tmp_path: Path, line: int, found: list[str]) -> None:
    """A base's one runs for a type without constructors, and for a constructor that does not name another."""
    trace = ask(tmp_path, {"A.java": CONSTRUCTORS}, f"A.java:{line}", Direction.CALLERS)
    places = sorted((line, step.edge.certainty) for step in trace.steps for line in step.lines)
    assert [f"{line} {certainty}" for line, certainty in places] == found


def test_one_of_several_overloads_that_may_take_an_argument_is_not_certain(tmp_path: Path) -> None:
    """A foreign value may have any type."""
    text = "class A {\n  void f(int a) {}\n  void f(String a) {}\n  void g(A a) { a.f(Lib.get()); }\n}\n"
    assert rows(tmp_path, {"A.java": text}, "A.java:2", Direction.CALLERS) == ["A.java:4 may call"]


def test_parentheses_mean_a_method_and_parameters_one_overload(tmp_path: Path) -> None:
    """A field of the same name is another thing, also on the same line."""
    text = "class A { int tag; int tag() { return tag; }\n  int at(int a) { return at(a, tag()); }\n"
    text += "  int at(int a, java.util.Map<String, int[]> b) { return 1; }\n}\n"
    assert rows(tmp_path / "a", {"A.java": text}, "A.tag()", Direction.CALLERS) == ["A.java:2 certain"]
    written = "A.at(int, Map<String, int[]>)"
    assert rows(tmp_path / "b", {"A.java": text}, written, Direction.CALLERS) == ["A.java:2 certain"]
    assert rows(tmp_path / "c", {"A.java": text}, "A.at(int a)", Direction.CALLERS) == []


def test_what_other_languages_of_the_platform_call_is_listed(tmp_path: Path) -> None:
    """Their types are not known, so the answer is not complete; another platform's names are other things."""
    files = {
        "Money.java": "public class Money {\n  public static Money zero() { return null; }\n}\n",
        "shop.kt": "fun shop() = Money.zero()\n",
        "S.scala": "object S { def x(): Int = Money.zero() }\n",
        "a.py": "def f(m): return m.zero()\n",
    }
    trace = ask(tmp_path, files, "Money.zero", Direction.CALLERS)
    assert {step.edge.path for step in trace.steps} == {"shop.kt", "S.scala"}
    assert (trace.doubt.is_complete, trace.doubt.undecided) == (False, frozenset())


GO = """package a

import ("fmt"; "sort"; "sync"; "example.com/metrics")

type Nexter interface { Next(done <-chan struct{}, to interface{ Close() error }, at struct{ X int }) int }
type Steps struct{}
func (s *Steps) Next(done <-chan struct{}, to interface{ Close() error }, at struct{ X int }) int { return 1 }
func next(n Nexter) { n.Next(nil, nil, struct{ X int }{}) }
type Other struct{}
func (s *Other) Next(done <-chan struct{}, to interface{ Close() error }, at struct{ Y int }) int { return 1 }

type Wide interface { lib.Core; Extra() int }
type Two struct{ lib.Core }
func (t *Two) Extra() int { return 1 }
func wide(w Wide) { w.Extra() }

type base []string
func (b base) Len() int { return 1 }
func (b base) Swap(i, j int) {}
type byLength struct { base }
func (b byLength) Less(i, j int) bool { return true }
func (b byLength) String() string { return "" }
func (b byLength) Plain() {}
func (b byLength) Found() { reflect.ValueOf(b).MethodByName("Plain") }

type Check func(args []string) error
func one(args []string) error { return nil }
func two(args []string) error { return nil }
func run(c Check) { c(nil) }
func all() { run(one); run(Check(two)) }
//export Given
func Given() {}
type meter struct{}
func (m *meter) Collect() {}
func (m *meter) hide() {}
func given(m *meter) { metrics.Register(m); fmt.Println(m) }
type gauge struct{}
func (g gauge) Collect() {}
var _ metrics.Collector = (*gauge)(nil)
type loose struct{}
func (l loose) Collect() {}
func loosen(p sync.Pool) { fmt.Println(&loose{}); p.Put(&loose{}); metrics.Register(nil, &other{}) }
func main() {}
"""


@pytest.mark.parametrize(
    ("symbol", "direction", "found", "is_complete"),
    [
        ("Nexter", Direction.IMPLEMENTERS, ["6 certain"], False),
        ("Steps.Next", Direction.CALLERS, ["8 may call"], True),
        ("Wide", Direction.IMPLEMENTERS, ["13 by name"], False),
        ("Wide.Extra", Direction.OVERRIDES, ["14 by name"], False),
        ("Two.Extra", Direction.CALLERS, ["15 by name"], False),
        ("Check", Direction.IMPLEMENTERS, ["27 certain", "28 certain"], False),
        ("byLength.Plain", Direction.CALLERS, ["24 by name"], False),
        ("byLength.Found", Direction.CALLERS, [], True),
    ],
)
def test_types_of_go_are_compared_by_what_they_are(
    tmp_path: Path, symbol: str, direction: Direction, found: list[str], *, is_complete: bool
) -> None:
    """Types without a name by their members; what is foreign, structural or found by a text is not known."""
    trace = ask(tmp_path, {"go.mod": "module x\n", "a.go": GO}, symbol, direction, unresolved=True)
    assert [f"{line} {step.edge.certainty}" for step in trace.steps for line in step.lines] == found
    assert trace.doubt.is_complete is is_complete


OUTSIDE = """import lib.Conn; import java.util.*;
class A implements Comparable<A>, Conn {
  public int compareTo(A o) { return 1; }
  public int compareTo(A o, int b) { return 1; }
  @Override public void on() {}
  public void off() {}
  public boolean equals(Object o) { return true; }
  @Bean A make() { return null; }
  @Nullable A none() { return null; }
  @Test void check() {}
  @Inject A() {}
  private void readObject(java.io.ObjectInputStream s) {}
  public static void main(String[] a) { Class<?> k = A.class.getMethod("off"); k.getMethod("none"); }
}
class B implements Conn { public void off() {} private void hide() {} }
class C extends A { @Override public void on() {} public void check() {} }
@Component class D { D() {} }
"""


@pytest.mark.parametrize(
    ("language", "symbol", "outside", "run_by"),
    [
        ("go", "base.Len", {"sort.Interface"}, set()),
        ("go", "byLength.Less", {"sort.Interface"}, set()),
        ("go", "byLength.String", {"expvar.Var", "fmt.Stringer"}, set()),
        ("go", "byLength.Found", set(), set()),
        ("go", "Given", {"other languages"}, set()),
        ("go", "meter.Collect", {"example.com/metrics.Register"}, set()),
        ("go", "meter.hide", set(), set()),
        ("go", "gauge.Collect", {"example.com/metrics.Collector"}, set()),
        ("go", "loose.Collect", set(), set()),
        ("go", "main", set(), {"the Go runtime"}),
        ("java", "A.java:3", {"Comparable"}, set()),
        ("java", "A.java:4", set(), set()),
        ("java", "A.on", {"lib.Conn"}, set()),
        ("java", "A.off", set(), set()),
        ("java", "A.equals", {"Object"}, set()),
        ("java", "A.make", {"@Bean"}, set()),
        ("java", "A.none", set(), set()),
        ("java", "A.check", set(), {"@Test"}),
        ("java", "A.java:11", {"@Inject"}, set()),
        ("java", "A.main", set(), {"the virtual machine"}),
        ("java", "B.off", {"lib.Conn"}, set()),
        ("java", "B.hide", set(), set()),
        ("java", "C.on", {"lib.Conn"}, set()),
        ("java", "D.D", {"@Component"}, set()),
    ],
)
def test_what_may_call_a_function_from_outside_is_named(
    tmp_path: Path, language: str, symbol: str, outside: set[str], run_by: set[str]
) -> None:
    """Foreign interfaces and bases that have the method, annotations; what is known to start it leaves nothing open."""
    files = {"A.java": OUTSIDE} if language == "java" else {"a.go": GO}
    doubt = ask(tmp_path, files, symbol, Direction.CALLERS).doubt
    assert (set(doubt.callers_outside), set(doubt.run_by)) == (outside, run_by)


def test_a_text_that_names_a_method_of_a_class_means_that(tmp_path: Path) -> None:
    """Of a class that is not known it may mean any of the name; serialization calls its hooks by itself."""
    assert rows(tmp_path / "a", {"A.java": OUTSIDE}, "A.off", Direction.CALLERS) == ["A.java:13 certain"]
    other = ask(tmp_path / "b", {"A.java": OUTSIDE}, "B.off", Direction.CALLERS).doubt
    assert (other.undecided, other.unread) == (frozenset(), frozenset())
    assert ask(tmp_path / "c", {"A.java": OUTSIDE}, "A.none", Direction.CALLERS).doubt.undecided == {("A.java", 13)}
    assert ask(tmp_path / "d", {"A.java": OUTSIDE}, "A.readObject", Direction.CALLERS).doubt.is_implicit


def test_what_imports_a_package_of_go_imports_its_files(tmp_path: Path) -> None:
    """By the path of its module, whatever the file and the version in it are called; one below it is another."""
    files = {
        "go.mod": "module example.com/tool/v2\n",
        "tool.go": "package tool\n\nfunc Do() {}\n",
        "parts.go": "package tool\n",
        "more/more.go": 'package more\n\nimport "example.com/tool/v2"\n\nfunc f() { tool.Do(); tool.Do() }\n',
        "cmd/main.go": 'package main\n\nimport (\n\tt "example.com/tool/v2"\n\t"example.com/tool/v2/more"\n)\n',
    }
    trace = ask(tmp_path, files, "parts.go", Direction.IMPORTERS)
    assert [(step.edge.path, step.lines) for step in trace.steps] == [("cmd/main.go", (4,)), ("more/more.go", (3,))]
    assert (trace.doubt.is_complete, trace.doubt.others) == (True, frozenset())
    assert rows(tmp_path / "b", files, "more/more.go", Direction.IMPORTERS) == ["cmd/main.go:5 certain"]


LITERALS = """export interface Patch { op: string; path: string[] }
interface Scope { items: Patch[] }
const one: Patch = { op: 'a', path: [] };
function make(path: string[]): Patch { return { op: 'b', path } }
function take(p: Patch, n: number) {}
take({ op: 'c', path: [] }, 1);
const many: Patch[] = [{ op: 'd', path: [] }];
const s = { items: [{ op: 'e', path: [] }] } as Scope;
let later: Patch; later = { op: 'f', path: [] };
const arrow = (): Patch => ({ op: 'g', path: [] });
class K { p: Patch = { op: 'h', path: [] } }
const q = { "op": 'i', path: [] } satisfies Patch;
function f(x: Patch = { op: 'j', path: [] }) { s.items.push({ op: 'k', path: [] }) }
const other = { op: 'no' };
fetch({ op: 'no' });
"""


@pytest.mark.parametrize("name", ["op", "path"])
def test_a_key_of_a_literal_writes_the_member_that_its_place_expects(tmp_path: Path, name: str) -> None:
    """Written out or as a shorthand; not where nothing says what is expected, or another program does."""
    found = ask(tmp_path, {"a.ts": LITERALS}, f"Patch.{name}", Direction.WRITERS)
    assert sorted(line for step in found.steps for line in step.lines) == [3, 4, 6, 7, 8, 9, 10, 11, 12, 13]
    assert found.doubt.is_complete


CREATED = {
    "a.tsx": ("interface P { x: string }\nfunction Card(p: P) {}\nconst x = <Card x='a' />\n", 3),
    "a.go": ('package a\ntype P struct { A, x string }\nvar x = P{"1", "2"}\nvar y = P{}\n', 3),
    "a.py": ("class P:\n    x: int = 0\nclass Q:\n    def __init__(self, x): self.x = x\nP(x=1)\nQ(x=2)\n", 5),
}


@pytest.mark.parametrize("path", CREATED)
def test_what_creates_an_instance_writes_its_fields(tmp_path: Path, path: str) -> None:
    """By attributes, places or arguments; an argument of a constructor is none of the type."""
    text, line = CREATED[path]
    found = ask(tmp_path, {path: text}, "P.x", Direction.WRITERS)
    assert [line for step in found.steps for line in step.lines] == [line]


def test_a_literal_given_to_a_generic_or_foreign_function_may_be_of_the_project(tmp_path: Path) -> None:
    """A foreign function that is given something of the project may expect what that takes."""
    text = """import { use, send } from 'lib'
interface O { method: string }
function red(o: O) {}
use(red, { method: 'a' })
send('x', { method: 'GET' })
"""
    doubt = ask(tmp_path, {"a.ts": text}, "O.method", Direction.USERS).doubt
    assert doubt.undecided == {("a.ts", 4)}


REFLECTED = {
    "T.java": (
        (
            "class T {\n  enum E { One }\n  static Object data() { return 1; }\n"
            '  @MethodSource(value = {"data"}) void f() { E.valueOf("One"); }\n}\n'
        ),
        [("T.data", Direction.CALLERS), ("E.One", Direction.READERS)],
    ),
    "b/U.java": (
        (
            "package b;\nclass U {\n  static class In { static Object rows(int i) { return i; } }\n"
            '  @MethodSource({"b.U$In#rows(int)", "b.U#data()"}) void f() {}\n'
            "  static Object data() { return 1; }\n}\n"
        ),
        [("U.data", Direction.CALLERS), ("In.rows", Direction.CALLERS)],
    ),
    "a.go": (
        (
            "package a\ntype C struct { Name string }\nfunc (c *C) Padding() int { return 1 }\n"
            "const usage = `{{rpad .Name .Padding}}`\n"
        ),
        [("C.Padding", Direction.CALLERS), ("C.Name", Direction.READERS)],
    ),
}


@pytest.mark.parametrize("path", REFLECTED)
def test_a_text_that_names_a_member_for_the_run_may_mean_it(tmp_path: Path, path: str) -> None:
    """In an annotation, in the look-up of a constant, in a template."""
    text, asked = REFLECTED[path]
    for symbol, direction in asked:
        found = ask(tmp_path, {path: text}, symbol, direction)
        lines = {line for step in found.steps for line in step.lines} | {line for _, line in found.doubt.undecided}
        assert lines == {4}


def test_a_private_overload_is_not_called_from_elsewhere(tmp_path: Path) -> None:
    """And each overload is a callee of its own."""
    files = {
        "a/F.java": "package a;\npublic class F {\n  public void put(Object v, boolean n) {}\n"
        "  private void put(java.io.Reader r, boolean n) { put((Object) r, n); rec(1, 2); }\n"
        "  void rec(Object... x) { rec((Iterable<?>) x); }\n  void rec(Iterable<?> x) {}\n}\n",
        "b/T.java": "package b;\nimport a.F;\nclass T { void t(F f, java.io.Reader r) { f.put(r, true); } }\n",
    }
    assert rows(tmp_path, files, "a/F.java:3", Direction.CALLERS) == ["a/F.java:4 certain", "b/T.java:3 certain"]
    assert rows(tmp_path, files, "a/F.java:4", Direction.CALLERS) == []
    callees = ask(tmp_path, files, "a/F.java:5", Direction.CALLEES)
    assert [step.target.start_line for step in callees.steps] == [6]


ABOVE = {
    "a.rs": ("struct P { a: u8 }\nimpl std::fmt::Display for P { fn fmt(&self) {} }\n", ["Display"]),
    "a.go": ("package a\ntype P []int\nfunc (s P) Error() string { return '' }\n", ["error"]),
    "a.py": ("from abc import ABC\nclass P(ABC):\n    def f(self): return other().lower()\n", ["abc.ABC"]),
    "P.java": ("import x.B;\nclass P extends B implements Runnable { void f() { wrap(); } }\n", ["x.B", "Runnable"]),
}


@pytest.mark.parametrize("path", ABOVE)
def test_what_is_above_a_type_and_not_of_the_project_is_named(tmp_path: Path, path: str) -> None:
    """And nothing else is: not what its methods call."""
    text, names = ABOVE[path]
    found = ask(tmp_path, {path: text}, "P", Direction.SUPERCLASSES)
    assert (found.steps, [stop.name for stop in found.stops]) == ((), names)


def test_a_test_is_counted_once_however_it_is_reached(tmp_path: Path) -> None:
    """So is a type below another one."""
    files = {
        "a.py": "def one(): pass\ndef two(): one()\nclass A: pass\nclass B(A): pass\nclass C(A, B): pass\n",
        "test_a.py": "from a import one, two\ndef test_one():\n    two()\n    one()\n",
    }
    assert rows(tmp_path, files, "one", Direction.TESTS) == ["test_a.py:4 certain"]
    found = ask(tmp_path, files, "A", Direction.SUBCLASSES)
    assert sorted(step.source.name for step in found.steps) == ["B", "C"]


def test_a_name_under_which_something_is_exported_means_it(tmp_path: Path) -> None:
    """Users of a package know no other name."""
    files = {
        "a.ts": "export const DRAFT = 1\n",
        "index.ts": "export { DRAFT as draftable } from './a'\n",
        "use.ts": "import { draftable } from './index'\nconsole.log(draftable)\n",
    }
    assert rows(tmp_path, files, "draftable", Direction.READERS) == ["use.ts:2 certain"]


WRITTEN = {
    "a.go": """package a
type P struct { x int }
type C struct { held P; pointed *P; map_ map[string]map[string]int; array [3][3]int }
var plain = P{}
var pointer = &P{}
func (c *C) set() {
	c.held.x = 1
	c.pointed.x = 1
	c.map_["a"]["b"] = 2
	c.array[1][2]++
	plain.x = 3
	pointer.x = 4
	delete(c.map_, "a")
}
""",
    "a.py": """T = {}
class A:
    d = {}
    def f(self):
        T[1][2] = 3
        for self.d[1] in x: pass
        (self.d)[2][3] += 1
        del T[1][2]
        with x as T[3]: pass
        T[1].b = 2
""",
    "a.ts": """export const T: any = {}
class A { d: any = {}
  f(x: any) {
    T[1][2] = 3
    for (T[1] of x) {}
    ;(T as any)[1] = 2
    ;(this.d as any)![1][2]++
    ;[T[1]] = x
    T[1].b = 3
} }
""",
    "A.java": "class A {\n int[][] t;\n void f() {\n  t[1][2] = 3;\n  this.t[1][2]++;\n  f(t[1]);\n } }\n",
}


@pytest.mark.parametrize(
    ("path", "symbol", "writers", "readers"),
    [
        ("a.go", "C.held", [7], []),
        ("a.go", "C.pointed", [], [8]),
        ("a.go", "C.map_", [9, 13], []),
        ("a.go", "C.array", [10], []),
        ("a.go", "plain", [11], []),
        ("a.go", "pointer", [], [12]),
        ("a.py", "T", [5, 8, 9], [10]),
        ("a.py", "A.d", [6, 7], []),
        ("a.ts", "T", [4, 5, 6, 8], [9]),
        ("a.ts", "A.d", [7], []),
        ("A.java", "A.t", [4, 5], [6]),
    ],
)
def test_a_part_that_is_set_is_a_write_of_what_holds_it(
    tmp_path: Path, path: str, symbol: str, writers: list[int], readers: list[int]
) -> None:
    """An element at any depth, and a member of a struct that is held; of a pointer the value is only read."""
    for direction, lines in ((Direction.WRITERS, writers), (Direction.READERS, readers)):
        found = rows(tmp_path / direction, {path: WRITTEN[path]}, symbol, direction)
        assert found == [f"{path}:{line} certain" for line in lines]


ENUMERATIONS = {
    "a.py": "from enum import Enum\nclass E(Enum):\n    X = 1\nE['Y']\nE(v)\nE.X\nlist(E)\ndef f(e: E): pass\n",
    "a.ts": "export enum E { X }\nexport let s: any\n\nE[s]\nObject.values(E)\nE.X\nlet e: E\n",
    "A.java": """enum E { X, Y;
  static E one(String s) {
    return valueOf(s); } }
class A {
  E two(String s) { return E.valueOf(s); }
  E x() { return E.X; }
  E three(String s) { return Enum.valueOf(E.class, s); }
  E y() { return E.valueOf("Y"); }
}
""",
}


@pytest.mark.parametrize(
    ("path", "line", "others"), [("a.py", 6, [4, 5, 7]), ("a.ts", 6, [4, 5]), ("A.java", 6, [3, 5, 7])]
)
def test_an_enumeration_that_is_asked_for_a_constant_may_give_each(
    tmp_path: Path, path: str, line: int, others: list[int]
) -> None:
    """By a text, by a value, or where all are handed over."""
    found = ask(tmp_path, {path: ENUMERATIONS[path]}, "E.X", Direction.READERS)
    assert [step.lines for step in found.steps] == [(line,)]
    assert sorted(one for _, one in found.doubt.undecided) == others


@pytest.mark.parametrize(
    ("files", "certainty"),
    [
        ({"a.py": "class A:\n    def f(self): pass\na = A()\na.f = print\na.f()\n"}, "may call"),
        ({"a.ts": "class A { f() {} }\nexport const a = new A()\n\na.f = () => {}\na.f()\n"}, "may call"),
        ({"a.ts": "class A {\n f() {}\n constructor() { this.f = this.f.bind(this) }\n}\nnew A().f()\n"}, "certain"),
        ({"a.py": "class A:\n    def f(self): pass\na = A()\n\na.f()\n", "test_a.py": "from a import a\na.f = 1\n"},
         "certain"),
    ],
)  # fmt: skip
def test_a_method_that_is_given_another_value_may_not_run(
    tmp_path: Path, files: Mapping[str, str], certainty: str
) -> None:
    """Where tests replace it, that is for tests."""
    found = rows(tmp_path, files, "A.f", Direction.CALLERS)
    assert [one for one in found if ":5 " in one] == [f"{next(iter(files))}:5 {certainty}"]


def test_an_attribute_that_only_methods_assign_is_said_to_be_one(tmp_path: Path) -> None:
    """It is no definition, but it is there."""
    text = "class A:\n    def f(self):\n        self.x = 1\nclass B(A): pass\n"
    for symbol in ("A.x", "B.x"):
        with pytest.raises(RequestError, match=r"attribute that methods assign \(a.py:3\)"):
            ask(tmp_path, {"a.py": text}, symbol, Direction.WRITERS)
    with pytest.raises(RequestError, match="nothing that is indexed"):
        ask(tmp_path, {"a.py": text}, "A.y", Direction.WRITERS)


DISPATCHED = {
    "a.ts": """interface Store { load(): void }
class Disk implements Store { load() {} }
function run(s: Store) { s.load() }
""",
    "a.py": """class Store:
    def load(self): pass
class Disk(Store):
    def load(self): pass
def run(s: Store):
    s.load()
""",
    "a.go": """package a
type Store interface { Load() }
type Disk struct{}
func (d *Disk) Load() {}
func run(s Store) { s.Load() }
""",
    "A.java": """interface Store { void load(); }
class Disk implements Store { public void load() {} }
class Main { void run(Store s) { s.load(); } }
""",
}


@pytest.mark.parametrize(("path", "text"), DISPATCHED.items())
def test_callees_are_also_what_may_run_in_place_of_a_method(tmp_path: Path, path: str, text: str) -> None:
    """As callers have it: the same relation from both sides."""
    found = ask(tmp_path, {path: text}, "run", Direction.CALLEES)
    assert [(step.target.qualified_name.lower(), str(step.edge.certainty)) for step in found.steps] == [
        ("store.load", "certain"),
        ("disk.load", "may call"),
    ]
    callers = ask(tmp_path, {path: text}, "Disk.load" if path[-3:] != ".go" else "Disk.Load", Direction.CALLERS)
    assert [(step.source.name, str(step.edge.certainty)) for step in callers.steps] == [("run", "may call")]


def test_files_that_are_not_resolved_yet_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer without them is not complete."""
    files = {"lib.py": "def run(): pass\n", "a.py": "from lib import run\nrun()\n", "b.py": "x = 1\n"}
    assert not ask_anew(tmp_path, files, "run", Direction.CALLERS).doubt.files_pending
    monkeypatch.setattr(LinkStage, "run", lambda *_: 0)
    found = ask_anew(tmp_path, files | {"a.py": "from lib import run\n\nrun()\n"}, "run", Direction.CALLERS)
    assert (found.steps, found.doubt.files_pending, found.doubt.is_complete) == ((), {"a.py"}, False)


def test_a_file_that_takes_too_many_steps_may_have_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers about its names, and about what it has, say so; the status says why, until it is resolved."""
    files = {
        "a.py": "class A:\n    def run(self): pass\n",
        "b.py": "from a import A\nclass B(A):\n    def run(self): pass\n",
    }
    why = "resolution (too many steps)"
    monkeypatch.setattr(state, "MIN_OF_FILE", 0)
    monkeypatch.setattr(state, "MAX_OF_EACH", 1)
    for symbol, direction in (
        ("A.run", Direction.OVERRIDES),
        ("A", Direction.SUBCLASSES),
        ("B", Direction.SUPERCLASSES),
    ):
        found = ask_anew(tmp_path, files, symbol, direction)
        assert (found.doubt.files_pending, found.doubt.is_complete) == ({"b.py"}, False)
    with closing(_open(tmp_path)) as app:
        assert app.status().failures == {"b.py": why}
        call = TRACE.read({"symbol": "B.run", "direction": "callees"}, app.settings, app.root)
        assert TRACE.write(app.ask(TRACE.ask, call), call).endswith("1 file is not resolved and may have more: b.py.")
    monkeypatch.undo()
    files["b.py"] += "    def go(self): pass\n"
    found = ask_anew(tmp_path, files, "A.run", Direction.OVERRIDES)
    assert [step.source.symbol for step in found.steps] == ["B.run"]
    assert found.doubt.is_complete
    with closing(_open(tmp_path)) as app:
        assert not app.status().failures


def test_a_type_with_many_fields_below_many_others_is_resolved(tmp_path: Path) -> None:
    """What a field overrides is only asked if it holds a function: none of these does, and no file takes the steps."""
    fields, above = range(100), range(1, 20)
    python = "class C0: pass\n" + "".join(f"class C{i}(C{i - 1}): pass\n" for i in above)
    script = "class C0 {}\n" + "".join(f"class C{i} extends C{i - 1} {{}}\n" for i in above)
    files = {
        "a.py": python + "class D(C19):\n" + "".join(f"    f{i} = {i}\n" for i in fields),
        "b.ts": script + "class D extends C19 {\n" + "".join(f"  f{i} = {i}\n" for i in fields) + "}\n",
    }
    assert not ask_anew(tmp_path, files, "C18", Direction.SUBCLASSES).doubt.files_pending
    with closing(_open(tmp_path)) as app:
        assert not app.status().failures


def test_what_a_change_elsewhere_makes_of_links_is_not_known_until_it_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The links of others are still there, and the answer says which file they may not follow from any more."""
    files = {"lib.py": "def run(): pass\n", "a.py": "from lib import run\nrun()\n", "notes.md": "# Notes\n"}
    ask_anew(tmp_path, files, "run", Direction.CALLERS)
    monkeypatch.setattr(LinkStage, "run", lambda *_: 0)
    assert not ask_anew(tmp_path, files | {"notes.md": "# Other\n"}, "run", Direction.CALLERS).doubt.files_pending
    found = ask_anew(tmp_path, files | {"lib.py": "def run(): pass\ndef run(): pass\n"}, "run", Direction.CALLERS)
    assert (found.doubt.files_pending, found.doubt.is_complete) == ({"lib.py"}, False)
    monkeypatch.undo()
    assert not ask_anew(tmp_path, files, "run", Direction.CALLERS).doubt.files_pending


def test_a_function_of_the_project_called_like_one_of_the_language_only_reads(tmp_path: Path) -> None:
    """Go's own `delete` changes its first argument."""
    text = 'package a\nvar m map[string]int\nfunc f() { delete(m, "x") }\n'
    own = "package a\nfunc delete(m map[string]int, key string) {}\n"
    assert rows(tmp_path / "1", {"a.go": text}, "m", Direction.WRITERS) == ["a.go:3 certain"]
    assert rows(tmp_path / "2", {"a.go": text, "b.go": own}, "m", Direction.WRITERS) == []
    assert rows(tmp_path / "3", {"a.go": text, "b.go": own}, "m", Direction.READERS) == ["a.go:3 certain"]


DISPATCHED = {
    "java": """interface Shape { void draw(); }
interface Round extends Shape {}
class Circle implements Round { public void draw() { paint(); } void paint() {} }
class Ball extends Circle { void paint() { super.paint(); } }
class Square implements Shape { public void draw() {} }
class Base { Base() { go(); } static void go() {} }
class Plain extends Base {}
class Named extends Plain { Named(int i) {} Named() { this(1); } }
class Table extends java.util.AbstractMap<String, String> { public String get(Object key) { return null; } }
class Use {
  Object made() { new Plain(); return new Named(); }
  String get(java.util.Map<String, String> map) { return map.get("a"); }
  String own(Table table) { return table.get("a"); }
  void any(Shape s) { s.draw(); }
  void round(Round r) { r.draw(); r.draw();
    r.draw(); }
}
""",
    "py": """class Base:
    def __new__(cls): return object.__new__(cls)
    def draw(self): self.paint()
    def paint(self): pass
class Shape(Base):
    def __init__(self, size=0): pass
class Circle(Shape):
    def paint(self): super().paint()
def use():
    Circle().draw()
    return Shape(1)
""",
    "go": """package a
type Shape interface { Draw() }
type Round interface { Shape; Turn() }
type Circle struct{}
func (c Circle) Draw() {}
func (c Circle) Turn() {}
type Square struct{}
func (s Square) Draw() {}
func any(s Shape) { s.Draw() }
func round(r Round) { r.Draw()
  r.Turn() }
""",
    "ts": """interface Shape { draw(): void }
interface Round extends Shape { turn(): void }
class Circle implements Round { draw() { this.turn() } turn() {} }
class Ball extends Circle { turn() { super.turn() } }
class Square implements Shape { draw() {} }
function any(s: Shape) { s.draw() }
function round(r: Round | Circle) { r.draw(); r.turn() }
function named() {}
const literal: Round = { draw() {}, turn: named }
""",
}


@pytest.mark.parametrize("language", DISPATCHED)
def test_callers_and_callees_are_one_relation(tmp_path: Path, language: str) -> None:
    """Each call that one direction lists is listed by the other, methods that may run in place of the named too."""
    files = {f"a.{language}": DISPATCHED[language]}
    ask_anew(tmp_path, files, "Shape", Direction.CALLERS)
    with closing(_open(tmp_path)) as app:
        navigator = app.navigator()
        nodes = [node for node in navigator.outline(f"a.{language}").nodes if not node.is_file]
        callers, callees = (
            {
                (step.source.qualified_name, without_constructor(step.target.qualified_name), line, step.edge.certainty)
                for node in nodes
                for step in navigator.trace(f"a.{language}::{node.qualified_name}", direction, 1).steps
                if step.source.kind in CALLABLE
                and step.edge.relation in (RelationKind.CALLS, RelationKind.INSTANTIATES)
                for line in step.lines
            }
            for direction in (Direction.CALLERS, Direction.CALLEES)
        )
    assert len(callers) > 4
    assert callers == callees


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "go",
            (
                "package a\ntype Shape interface { Draw() }\ntype Spin interface { Turn() }\n"
                "type Both interface { Shape; Spin }\ntype Circle struct{}\nfunc (c Circle) Draw() {}\n"
                "func (c Circle) Turn() {}\nfunc use(b Both) { b.Draw() }\n"
            ),
        ),
        (
            "ts",
            (
                "interface Shape { Draw(): void }\ninterface Spin { Turn(): void }\n"
                "interface Both extends Shape, Spin {}\n"
                "class Circle implements Shape, Spin { Draw() {} Turn() {} }\nfunction use(b: Both) { b.Draw() }\n"
            ),
        ),
    ],
)
def test_an_interface_that_is_made_of_others_runs_what_satisfies_it(tmp_path: Path, language: str, text: str) -> None:
    """It declares no method itself, and a type may have its methods without a word about it."""
    files = {f"a.{language}": text}
    (caller,) = ask(tmp_path, files, "Circle.Draw", Direction.CALLERS).steps
    assert (caller.source.qualified_name, caller.edge.certainty) == ("use", "may call")
    callees = ask(tmp_path, files, "use", Direction.CALLEES).steps
    assert {step.target.qualified_name for step in callees} == {"Shape.Draw", "Circle.Draw"}


SEVERAL = {
    "a.go": """package a

type Shape interface{ Area() int }

type Square struct{}

func (s Square) Area() int { return 1 }

func one(shape Shape) int { return shape.Area() }

func two(square Square) int { return square.Area() }
""",
}


def test_a_place_is_listed_once_whatever_definitions_the_name_has(tmp_path: Path) -> None:
    """What means one of them for certain may mean no other."""
    assert rows(tmp_path, SEVERAL, "Area", Direction.CALLERS) == ["a.go:9 certain", "a.go:11 certain"]
    assert rows(tmp_path, SEVERAL, "Square.Area", Direction.CALLERS) == ["a.go:11 certain", "a.go:9 may call"]


def test_far_tests_with_words_of_the_name_come_first(tmp_path: Path) -> None:
    """A table that all tests reach says little of each."""
    names = ("test_first", "test_of_sockets", "test_unix_socket_exists", "test_last")
    tests = "".join(f"\n\ndef {name}():\n    check()\n" for name in names)
    files = {
        "m.py": "def unix_socket():\n    pass\n\n\ndef check():\n    unix_socket()\n",
        "tests/test_m.py": f"from m import check\n{tests}",
    }
    found = ask(tmp_path, files, "unix_socket", Direction.TESTS)
    assert [step.source.name for step in found.steps] == [names[2], names[1], names[0], names[3]]


SIGNATURES = """package a

import ("bytes"; "io"; "io/fs"; "os"; "sync"; tm "time"; "example.com/lib")

type W struct{}
func (w *W) Write(p []byte) (n int, err error) { return 0, nil }
type NoWriter struct{}
func (NoWriter) Write(p []byte) error { return nil }
func (NoWriter) Error() any { return nil }
type Failure struct{}
func (Failure) Error() string { return "" }
func (Failure) Close() error { return nil }
func (Failure) Read(b []uint8) (int, error) { return 0, nil }
func (Failure) Stat() (os.FileInfo, error) { return nil, nil }
type Until struct{}
func (Until) Deadline() (deadline tm.Time, ok bool) { return tm.Time{}, false }
func (Until) Done() <-chan struct{} { return nil }
func (Until) Err() error { return nil }
func (Until) Value(key interface{}) any { return nil }
type Stater interface { Stat() (fs.FileInfo, error) }
type Buffered struct{ *bytes.Buffer }
type Locked struct{ sync.Mutex }
type Unknown struct{ lib.Thing }
type Refusing struct{ lib.Thing }
func (Refusing) Write(p []byte) error { return nil }
type Own struct{}
type Giver interface { Give() Own }
type Putter interface { Write(p []byte) (int, error) }
type Peeked struct{ io.ReadWriteCloser }
type Deep struct{ Peeked }
"""


@pytest.mark.parametrize(
    ("symbol", "below", "embedding"),
    [
        ("io.Writer", ["W", "Putter", "Peeked", "Deep"], [21, 23]),
        ("error", ["Failure"], [23, 24]),
        ("fs.File", ["Failure"], [23, 24]),
        ("context.Context", ["Until"], [23, 24]),
        ("Stater", ["Failure"], [23, 24]),
        ("Putter", ["W", "Peeked", "Deep"], [21, 23]),
        ("Giver", [], []),
    ],
)
def test_a_go_interface_is_satisfied_by_whole_signatures(
    tmp_path: Path, symbol: str, below: list[str], embedding: list[int]
) -> None:
    """A type that embeds a foreign one may have what that has, unless it is known, or names a type of the project."""
    trace = ask(tmp_path, {"go.mod": "module x\n", "a.go": SIGNATURES}, symbol, Direction.IMPLEMENTERS)
    assert [step.source.name for step in trace.steps] == below
    assert sorted(line for _, line in trace.doubt.embedding) == embedding


def test_a_method_whose_types_are_not_known_may_be_the_one(tmp_path: Path) -> None:
    """A name that a dot import brings: neither that it fits nor that it does not is certain."""
    text = 'package a\n\nimport . "io"\n\ntype Dot struct{}\n'
    text += "func (Dot) WriteTo(w Writer) (int64, error) { return 0, nil }\n"
    trace = ask(tmp_path, {"go.mod": "module x\n", "a.go": text}, "io.WriterTo", Direction.IMPLEMENTERS)
    assert (trace.steps, trace.doubt.embedding) == ((), {("a.go", 5)})
    assert not trace.doubt.is_complete


def test_an_embedded_foreign_type_names_a_field(tmp_path: Path) -> None:
    """All of its members are known, and the field is none of them."""
    text = (
        'package a\n\nimport "sync"\n\ntype Locked struct{ sync.Mutex }\ntype Gate struct{}\nfunc (g *Gate) Lock() {}\n'
    )
    text += "func open(l *Locked) { l.Mutex.Lock(); l.Lock() }\n"
    trace = ask(tmp_path, {"go.mod": "module x\n", "a.go": text}, "Gate.Lock", Direction.CALLERS, unresolved=True)
    assert (trace.steps, trace.doubt.undecided) == ((), frozenset())


OBJECTS = """export interface Check { validate(value: any): boolean; message?(part?: string): string; }
export interface Options { name: string; validator: Check | Function; }
export type Shape<T> = Set<T> & { area(): number; name: string };
export function build(f: (p: string) => string): (a?: string) => string { return f; }
export function register(options: Options) {}
register({ name: 'x', validator: { validate: (value): boolean => !!value, message: build(p => p) } });
register({ name: 'y', validator: { validate(value) { return true }, message() { return '' } } });
class Own implements Check { validate(value: any) { return true } }
export const shape: Shape<string> = { area() { return 1 }, name: 'x' };
"""


@pytest.mark.parametrize(
    ("symbol", "direction", "lines"),
    [
        ("Check", Direction.IMPLEMENTERS, [6, 7, 8]),
        ("Check.validate", Direction.OVERRIDES, [6, 7, 8]),
        ("Check.message", Direction.OVERRIDES, [6, 7]),
        ("Shape", Direction.IMPLEMENTERS, [9]),
    ],
)
def test_an_object_implements_by_whatever_gives_functions(
    tmp_path: Path, symbol: str, direction: Direction, lines: list[int]
) -> None:
    """Methods, arrow functions and what a call gives; of an alias, what its parts without a name demand."""
    trace = ask(tmp_path, {"a.ts": OBJECTS}, symbol, direction)
    assert sorted(line for step in trace.steps for line in step.lines) == lines
    assert trace.doubt.is_complete


MAKERS = """class Valid { run(x: number) { return 1 } }
interface Maker<T> { new (): T }
function first<T>(kind: { new (...rest: any[]): T } | Function): T { return null }
function second<T>(kind: new () => T): T { return new kind() }
function third<T>(kind: Maker<T>): T { return new kind() }
first(Valid).run(1); second(Valid).run(1); third(Valid).run(1);
function last(kind: new () => Valid, other: Maker<Valid>, taken: typeof first) { new kind().run(1); new other().run(1) }
"""


def test_a_class_that_is_given_says_what_is_made(tmp_path: Path) -> None:
    """By a signature of a constructor, also one in a type; a type query hands nothing on."""
    trace = ask(tmp_path / "a", {"a.ts": MAKERS}, "Valid.run", Direction.CALLERS)
    assert [(step.lines, step.edge.certainty) for step in trace.steps] == [((6,), "certain"), ((7,), "certain")]
    assert trace.doubt.is_complete
    trace = ask(tmp_path / "b", {"a.ts": MAKERS}, "first", Direction.USERS)
    assert {(step.edge.line, step.edge.relation) for step in trace.steps} == {(6, "calls"), (7, "uses")}


MIXED = {
    "methods.ts": """import type { Box } from './box';
export function wrap(this: Box, x: string): Box { return this }
export function open(this: Box): Box { return this }
export function other() { wrap.call(null, '') }
""",
    "more.ts": "export function close(): void {}\n",
    "box.ts": """import * as Methods from './methods';
import * as More from './more';
type All = typeof Methods & typeof More;
interface Shape { area: typeof More.close }
export class Box {}
export interface Box extends All, Iterable<string> {}
export interface Named extends Omit<Shape, 'area'> {}
export interface Big extends All {}
Object.assign(Box.prototype, Methods, More);
""",
    "types.ts": "export type * from './box';\n",
    "use.ts": """import { Box } from './types';
export function use(box: Box) { box.open().wrap('x').close(); const wrap = 1; return wrap }
""",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "places"),
    [
        ("wrap", Direction.CALLERS, ["methods.ts:4 certain", "use.ts:2 certain"]),
        ("open", Direction.CALLERS, ["use.ts:2 certain"]),
        ("close", Direction.CALLERS, ["box.ts:4 certain", "use.ts:2 certain"]),
        ("Shape", Direction.SUBCLASSES, ["box.ts:7 certain"]),
        ("Named", Direction.SUPERCLASSES, ["box.ts:7 certain"]),
        (
            "Box",
            Direction.USERS,
            ["box.ts:9 certain", "methods.ts:2 certain", "methods.ts:3 certain", "use.ts:2 certain"],
        ),
    ],
)
def test_a_type_has_what_the_modules_export_of_which_an_alias_is(
    tmp_path: Path, symbol: str, direction: Direction, places: list[str]
) -> None:
    """An interface extends an alias of `typeof` modules; a base may stand inside another type; types are exported."""
    trace = ask(tmp_path, MIXED, symbol, direction)
    found = {f"{step.edge.path}:{line} {step.edge.certainty}" for step in trace.steps for line in step.lines}
    assert sorted(found) == places
    assert direction.is_outgoing or trace.doubt.is_complete


def test_the_type_that_code_says_of_a_field_is_what_is_read(tmp_path: Path) -> None:
    """Though a foreign type above it may decide that itself; a field without a type stays unknown."""
    text = """from elsewhere import Base
class Level(Base):
    def rank(self): return 1
class Config:
    level: Level = Level()
    other = Level()
def use(config: Config):
    config.level.rank()
    config.other.rank()
"""
    trace = ask(tmp_path, {"a.py": text}, "rank", Direction.CALLERS)
    assert [step.lines for step in trace.steps] == [(8,)]
    assert trace.doubt.undecided == {("a.py", 9)}


def test_the_overrides_of_a_foreign_method_are_those_of_its_name_below_its_type(tmp_path: Path) -> None:
    """Of a type that nothing extends, nothing is said."""
    text = "from ast import NodeVisitor\nclass Own(NodeVisitor):\n    def visit(self, node): ...\n"
    text += "class Below(Own):\n    def visit(self, node): ...\n    def other(self): ...\n"
    trace = ask(tmp_path, {"a.py": text}, "NodeVisitor.visit", Direction.OVERRIDES, hops=9)
    assert [step.source.qualified_name for step in trace.steps] == ["Own.visit", "Below.visit"]
    assert not ask(tmp_path, {"a.py": text}, "NodeVisitor.leave", Direction.OVERRIDES, hops=9).steps
    with pytest.raises(RequestError):
        ask(tmp_path, {"a.py": text}, "Unknown.visit", Direction.OVERRIDES)


def test_an_interface_is_not_the_field_of_its_name(tmp_path: Path) -> None:
    """What implements the type is asked for, and other mentions of its name say nothing of that."""
    text = "package a\n\ntype drawer interface{ Draw() }\ntype Pen struct{}\nfunc (Pen) Draw() {}\n"
    text += "type Board struct{ drawer drawer }\nfunc (b Board) run() { b.drawer.Draw(); drawer := 1; _ = drawer }\n"
    trace = ask(tmp_path, {"go.mod": "module x\n", "a.go": text}, "drawer", Direction.IMPLEMENTERS)
    assert [step.source.name for step in trace.steps] == ["Pen"]
    assert (trace.doubt.is_complete, trace.doubt.others) == (True, frozenset())
