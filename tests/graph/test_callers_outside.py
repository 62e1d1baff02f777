"""Definitions that what is not indexed may call: foreign base types, decorators, runners, and other projects."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction, Doubt
from graphrag_mcp.tools.code_answer import doubts
from graphrag_mcp.tools.printing import MCP
from tests.graph.test_relations import ask
from tests.indexed import indexed

PACKAGE = '{"name": "x", "main": "index.js", "dependencies": {"lib": "1", "react": "1"}}'


def outside(folder: Path, files: Mapping[str, str], symbol: str) -> set[str]:
    """Return what is said to call a definition from outside; its answer is complete only if that is nothing."""
    doubt = ask(folder, files, symbol, Direction.CALLERS).doubt
    assert doubt.is_complete is not bool(doubt.callers_outside)
    return set(doubt.callers_outside)


@pytest.mark.parametrize(
    ("base", "method", "caller"),
    [
        ("logging.Formatter", "formatMessage", "logging.Formatter"),
        ("json.JSONEncoder", "default", "json.JSONEncoder"),
        ("threading.Thread", "run", "threading.Thread"),
        ("ast.NodeVisitor", "visit_Name", "ast.NodeVisitor"),
        ("http.server.BaseHTTPRequestHandler", "do_GET", "http.server.BaseHTTPRequestHandler"),
        ("unittest.TestCase", "setUp", "unittest.TestCase"),
        ("asyncio.Protocol", "data_received", "asyncio.Protocol"),
        ("enum.Enum", "_missing_", "enum.Enum"),
        ("dict", "update", "dict"),
        ("collections.abc.MutableMapping[str, str]", "update", "collections.abc.MutableMapping"),
        ("lib.Conn", "anything", "lib.Conn"),
        ("lib.Conn", "__mangled", ""),
        ("logging.Formatter", "other", ""),
        ("Exception", "explain", ""),
        ("typing.Protocol", "explain", ""),
        ("abc.ABC", "explain", ""),
    ],
)
def test_a_base_of_a_library_may_call_a_member_that_it_has(tmp_path: Path, base: str, method: str, caller: str) -> None:
    """Which members the standard library has is known; a class of another library may call any."""
    head = (
        "import abc, ast, asyncio, collections.abc, enum, http.server, json, lib, logging, threading, typing, unittest"
    )
    text = (
        f"{head}\nclass Mine({base}):\n    def {method}(self): pass\nclass Low(Mine):\n    def {method}(self): pass\n"
    )
    assert outside(tmp_path / "a", {"a.py": text}, f"Mine.{method}") - {"duck typing"} == (
        {caller} if caller else set()
    )
    assert outside(tmp_path / "b", {"a.py": text}, f"Low.{method}") - {"duck typing"} == ({caller} if caller else set())


@pytest.mark.parametrize(
    ("code", "method", "caller"),
    [
        ("import React from 'react'\nclass A extends React.Component { render() {} }", "render", "react.Component"),
        ("import React from 'react'\nclass A extends React.Component { other() {} }", "other", ""),
        ("class A extends HTMLElement { connectedCallback() {} }", "connectedCallback", "HTMLElement"),
        ("class A extends HTMLElement { other() {} }", "other", ""),
        (
            "import { EventEmitter } from 'events'\nclass A extends EventEmitter { emit() {} }",
            "emit",
            "events.EventEmitter",
        ),
        ("class A extends Error { explain() {} }", "explain", ""),
        ("import { Base } from 'lib'\nclass A extends Base { any() {} }", "any", "lib.Base"),
        ("import { Base } from 'lib'\nclass A extends Base { private any() {} }", "any", ""),
        ("import { Face } from 'lib'\nclass A implements Face { any() {} }", "any", "lib.Face"),
        ("import { define } from 'lib'\ndefine({ any() {} })", "any", "define"),
        ("new ReadableStream({ start() {} })", "start", "ReadableStream"),
        ("import type { Hooks } from 'lib'\nexport const hooks: Hooks = { any() {} }", "any", "lib.Hooks"),
        ("import { On } from 'lib'\nclass A { @On() any() {} }", "any", "@On"),
        ("import { On } from 'lib'\n@On('a')\nclass A {}", "A", "@On"),
        ("class A { any() {} }\nclass B extends A { any() {} }", "B.any", ""),
    ],
)
def test_a_foreign_class_interface_function_or_decorator_may_call_what_it_is_given(
    tmp_path: Path, code: str, method: str, caller: str
) -> None:
    """What a class extends or implements, what an object is handed to or is expected to be, what decorates a member."""
    files = {"package.json": PACKAGE, "a.tsx": code + "\n"}
    assert outside(tmp_path, files, method) - {"duck typing"} == ({caller} if caller else set())


@pytest.mark.parametrize(
    ("decorator", "caller"),
    [
        ("@app.route('/')", "@app.route"),
        ("@lib.hook", "@lib.hook"),
        ("@atexit.register", "@atexit.register"),
        ("@pytest.fixture(autouse=True)", "@pytest.fixture"),
        ("@pytest.fixture(scope='module')", ""),
        ("@functools.cache", ""),
        ("@own", ""),
    ],
)
def test_a_foreign_decorator_may_hand_a_function_over(tmp_path: Path, decorator: str, caller: str) -> None:
    """Those of the standard library do not, but for one; a fixture is named by a parameter unless it is automatic."""
    head = "import atexit, functools, lib, pytest\nfrom lib import App\napp = App()\ndef own(f): return f\n"
    found = outside(tmp_path, {"a.py": f"{head}{decorator}\ndef run(): pass\n"}, "run")
    assert found == ({caller} if caller else set())


@pytest.mark.parametrize(
    ("path", "name", "runner"),
    [("conftest.py", "pytest_configure", "pytest"), ("test_a.py", "setup_module", "pytest"), ("a.py", "plain", ""),
     ("test_a.py", "test_it", "pytest"), ("a.py", "test_it", ""), ("a.py", "__getattr__", "the import system")],
)  # fmt: skip
def test_a_runner_starts_functions_by_their_names(tmp_path: Path, path: str, name: str, runner: str) -> None:
    """Tests and hooks of pytest, and what stands for the names of a module; that is known, so nothing is missing."""
    doubt = ask(tmp_path, {path: f"def {name}(*any): pass\n"}, name, Direction.CALLERS).doubt
    is_implicit = name == "__getattr__"  # Whoever reads any name of the module runs it.
    assert (doubt.run_by, doubt.is_complete) == ({runner} if runner else set(), not is_implicit)


PUBLISHED = {
    "pkg/__init__.py": "from .inner import one, used\nused()\n",
    "pkg/inner.py": "def one(): pass\ndef two(): pass\ndef used(): pass\n",
    "package.json": PACKAGE,
    "index.js": "export { three } from './inner'\n",
    "inner.js": "export function three() {}\nexport function four() {}\n",
}


@pytest.mark.parametrize(
    ("name", "is_said"), [("one", True), ("two", False), ("used", False), ("three", True), ("four", False)]
)
def test_what_only_other_projects_can_use_is_not_called_unused(tmp_path: Path, name: str, is_said: bool) -> None:
    """What the package exports and nothing here uses; what is used here is answered from here."""
    assert outside(tmp_path, PUBLISHED, name) == ({"whatever imports the package"} if is_said else set())


def test_an_answer_names_what_calls_from_outside() -> None:
    """Then it is not complete; of what is further away nothing is said."""
    doubt = Doubt(callers_outside=frozenset(("lib.Conn",)))
    assert doubts(doubt, (), MCP) == ["More uses are possible through lib.Conn."]
    assert doubt.at(2).callers_outside == doubt.callers_outside


def test_a_root_that_is_a_package_itself_is_asked(tmp_path: Path) -> None:
    """The folders above it are of no package, and looking for them ends."""
    files = {"__init__.py": "from .a import build\n", "a.py": "def build():\n    return 1\n", "b/__init__.py": ""}
    with indexed(tmp_path, files) as app:
        assert app.navigator().trace("build", Direction.CALLERS, 1).starts


@pytest.mark.parametrize(
    ("path", "code", "symbol", "is_open"),
    [
        ("a.ts", "import { go } from 'lib'\nconst o = { run() {} }\ngo(o)\n", "o.run", True),
        ("a.ts", "class A { run() {} }\n", "A.run", True),
        ("a.ts", "class A { private run() {} }\n", "A.run", False),
        ("a.ts", "class A { run() {} }\nfunction f(a: A) { a.run() }\n", "A.run", False),
        ("a.py", "class A:\n    def run(self): pass\n", "A.run", True),
        ("a.py", "class A:\n    def _run(self): pass\n", "A._run", False),
        ("test_a.py", "class TestA:\n    def test_run(self): pass\n", "TestA.test_run", False),
        ("A.java", "class A { public void run() {} }\n", "A.run", False),
    ],
)
def test_a_method_that_nothing_calls_may_be_called_by_its_name(
    tmp_path: Path, path: str, code: str, symbol: str, is_open: bool
) -> None:
    """By a library that is given an object, where no type has to say so."""
    assert outside(tmp_path, {path: code}, symbol) == ({"duck typing"} if is_open else set())


CLASSES = """import lib, abc, enum, dataclasses, functools
kept = []
class Meta(type):
    def __new__(cls, name, bases, space): return type.__new__(cls, name, bases, space)
class Model(metaclass=Meta):
    title = 1
class Book(Model):
    pages = 2
    def __init__(self): self.lent = 3
class Plain:
    mixed = 4
class Both(Plain, Model): pass
class Hooked:
    def __init_subclass__(cls): kept.append(cls)
class Below(Hooked):
    wide = 5
class Table(lib.Base):
    column = 6
@lib.table
class Row:
    cell = 7
class Shape(metaclass=abc.ABCMeta):
    side = 8
class Kind(enum.Enum):
    ROUND = 9
@dataclasses.dataclass
class Point:
    x: int = 10
def plain(f): return f
def mark(f):
    f.is_marked = True
    return f
def keep(f):
    kept.append(f)
    return f
def wrap(f):
    def inner(): return f()
    return inner
def later(f=None):
    return f or functools.partial(later)
def tagged(tag):
    def inner(f): return f
    return inner
class Hooks:
    @plain
    def a(self): pass
    @mark
    def b(self): pass
    @keep
    def c(self): pass
    @wrap
    def d(self): pass
    @later()
    def e(self): pass
    @tagged("a")
    def f(self): pass
"""


@pytest.mark.parametrize(
    ("symbol", "reader"),
    [
        ("Model.title", "Meta"),
        ("Book.pages", "Meta"),
        ("Plain.mixed", "Meta"),
        ("Below.wide", "__init_subclass__"),
        ("Table.column", "lib.Base"),
        ("Row.cell", "@lib.table"),
        ("Shape.side", ""),
        ("Point.x", ""),
        ("Book", "Meta"),
        ("Below", "__init_subclass__"),
        ("Plain", ""),
        ("Hooks.a", ""),
        ("Hooks.b", "@mark"),
        ("Hooks.c", "@keep"),
        ("Hooks.d", ""),
        ("Hooks.e", "@later"),
        ("Hooks.f", ""),
    ],
)
def test_what_is_given_a_class_or_a_function_may_use_it(tmp_path: Path, symbol: str, reader: str) -> None:
    """A metaclass reads the names of a class, and a decorator that marks or keeps a function lets others find it."""
    for direction in (Direction.USERS, Direction.READERS):
        doubt = ask(tmp_path / direction, {"a.py": CLASSES}, symbol, direction).doubt
        assert doubt.callers_outside - {"serialization", "duck typing"} == ({reader} if reader else set())


@pytest.mark.parametrize(
    ("path", "code", "symbol", "is_seen"),
    [
        ("a.go", "package a\ntype Doc struct {\n\tName string\n\tinner int\n}\n", "Doc.Name", True),
        ("a.go", "package a\ntype Doc struct {\n\tName string\n\tinner int\n}\n", "Doc.inner", False),
        ("a.ts", "export interface Doc { name: string }\nclass Box { private size = 1 }\n", "Doc.name", True),
        ("a.ts", "export interface Doc { name: string }\nclass Box { private size = 1 }\n", "Box.size", False),
        ("a.py", "class Doc:\n    name: str\n    _inner: str\n", "Doc.name", True),
        ("a.py", "class Doc:\n    name: str\n    _inner: str\n", "Doc._inner", False),
        ("a.py", "import enum\nclass Kind(enum.Enum):\n    A = 1\n", "Kind.A", False),
        ("Doc.java", "class Doc { private int _inner; static int count; }\n", "Doc._inner", True),
        ("Doc.java", "class Doc { private int _inner; static int count; }\n", "Doc.count", False),
    ],
)
def test_a_field_that_nothing_reads_may_be_serialized(
    tmp_path: Path, path: str, code: str, symbol: str, is_seen: bool
) -> None:
    """Where libraries see it; then nothing need write it, too."""
    files = {path: code, "go.mod": "module a\n"}
    for direction in (Direction.USERS, Direction.READERS, Direction.WRITERS):
        doubt = ask(tmp_path / direction, files, symbol, direction).doubt
        assert doubt.callers_outside == ({"serialization"} if is_seen else set())


def test_a_program_reads_the_names_of_its_configuration(tmp_path: Path) -> None:
    """It is known which program loads a file of a name."""
    files = {"docs/conf.py": "project = 'a'\n", "conf_of.py": "project = 'a'\n"}
    assert ask(tmp_path, files, "docs/conf.py::project", Direction.READERS).doubt.run_by == {"Sphinx"}
    assert not ask(tmp_path, files, "conf_of.py::project", Direction.READERS).doubt.run_by


def test_a_set_is_no_emitter_of_events(tmp_path: Path) -> None:
    """What is above a class of a declared module is known, so that a value of another type cannot be one of it."""
    code = (
        "import { EventEmitter } from 'node:events'\nexport class Hub extends EventEmitter {\n  seen: Set<string>\n"
        "  add(name: string) { const own = new Set(); own.add(name); this.seen.add(name) }\n}\n"
        "function run(hub: Hub, all: unknown) { (all as Set<unknown>).add('a'); hub.on('x', run).add('b') }\n"
    )
    package = '{"dependencies": {}}'
    found = ask(tmp_path, {"a.ts": code, "package.json": package}, "Hub.add", Direction.CALLERS, unresolved=True)
    assert [(step.source.name, step.edge.certainty) for step in found.steps] == [("run", "certain")]
