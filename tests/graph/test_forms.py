"""Forms of code in which a relation is easily missed: each is found, or counted as not decided; and none is made up."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import ask

GO = {
    "go.mod": "module example.com/shop\n",
    "main.go": """package main

import (
	"net"
	"time"

	"example.com/shop/blue"
	"example.com/shop/red"
)

type Bill struct{ total int }
type Old struct{ total int }

var bills = []Bill{{1}, {total: 2}}
var named = map[string]*Bill{"a": {3}}

func upgrade(o Old) Bill { return Bill(o) }
func pick(c string) any {
	if c == "red" {
		return red.Paint{}
	}
	return blue.Paint{}
}

type box struct {
	key  [4]byte
	hits int
}

func (b *box) fill(p []byte) { copy(b.key[:], p); bump(&b.hits) }
func bump(p *int)            {}

type step func(int) int

func twice(n int) int { return 2 * n }
func byName() step    { return twice }

type slow struct{ net.Conn }

func (slow) SetDeadline(t time.Time) error { return nil }

type failure struct{}

func (failure) Unwrap() error { return nil }
""",
    "left.go": "//go:build ignore\n\npackage main\n\nvar port = 1\n\nfunc main() { println(port) }\n",
    "right.go": "//go:build ignore\n\npackage main\n\nvar port = 2\n\nfunc main() { println(port) }\n",
    "red/paint.go": "package red\n\ntype Paint struct{}\n",
    "red/paint_test.go": "package red\n\nvar paint = Paint{}\n",
    "blue/paint.go": "package blue\n\ntype Paint struct{}\n",
}
JAVA = {
    "Level.java": "final class Level { static final int QUIET = 1; }\n",
    "Maker.java": "interface Maker<T> { T make(); }\n",
    "Pet.java": "sealed interface Pet permits Cat {}\nfinal class Cat implements Pet {}\n",
    "Use.java": """class Use {
    record Pair(int a, int b) {}
    String d(int n) { switch (n) { case Level.QUIET: return "q"; default: return ""; } }
    Maker<Cat> own() { return Cat::new; }
    int two(Object o) { return switch (o) { case Pair p when p.a() > 3 -> p.b(); default -> 0; }; }
    Class<?> load(ClassLoader l) throws Exception { return l.loadClass("z.Hidden"); }
}
class Hidden {}
""",
    "Door.java": """interface Door { void open(); }
class Frame { public void open() {} }
class House extends Frame implements Door {}
class Visitor { void enter(Door door) { door.open(); } }
class Root { Root() {} }
class Leaf extends Root { Leaf(int n) { this.check(n); } void check(int n) {} }
""",
}
TYPESCRIPT = {
    "boat.ts": """export class Boat {
  mast = 0
  constructor(given: { mast?: number }) { Object.assign(this, given) }
  row() { return 1 }
  sail() { return 2 }
}
export class Ferry extends Boat { override mast = 2 }
""",
    "trip.ts": """import { Boat } from './boat'
const boat = new Boat({})
export const a = boat['row']()
export type M = Boat['mast']
export type E<X> = X extends (infer U extends Boat)[] ? U : never
export const b = (how: 'sail') => boat[how]()
async function go() {
  const error = await load({
    decode(text: string) { return text },
  })
}
""",
    "side.ts": "import './trip'\nconst lazy = import('./boat')\n",
    "gate.ts": """export interface Gate { onOpen?: (who: string) => void }
export const twice = (n: number) => n * 2
type Steps = [twice: number, ...rest: number[]]
export function arrow(gate: Gate) { gate.onOpen = (who) => console.log(who) }
export function old(gate: Gate) { gate.onOpen = function (who) { console.log(who) } }
""",
    "parts.ts": """export interface Wheel { n: number }
export interface Cog<
  /** what it drives */
  out S,
> { scan(x: S): S; spun: S }
export const isWheel = (x: unknown) => x instanceof Wheel
""",
    "kit.ts": "export * as parts from './parts'\n",
    "shop.ts": """import * as z from './kit'
export const made = {} as z.parts.Wheel
export function wrap(c: z.parts.Cog<number>) { c.scan = (x) => x }
export const loose = (u: any) => u.scan(1)
declare module './parts' { interface Wheel { dry(): string } }
""",
}
PYTHON = {
    "shapes.py": """import enum
class Lamp:
    class Mode(enum.Enum):
        ON = 1
def ring(self): return 1
class Bell: pass
Bell.ring = ring
def use(): return Bell().ring()
def lit(lamp): return lamp.Mode
""",
    "box.py": """from dataclasses import dataclass
@dataclass
class Base:
    deep: int
@dataclass
class Box(Base):
    wide: int
def make(): return Box(1, 2)
""",
    "held.py": """from abc import ABCMeta
class Bag: pass
class Shelf:
    kind = Bag
def direct(shelf): return shelf.kind()
def fetch(): return 1
def read(accessor):
    use = accessor or fetch
    return use()
class Kind(ABCMeta):
    def __init__(cls, name, bases, body):
        cls.labels = 1
class Plugin(metaclass=Kind):
    labels = None
""",
    "conftest.py": """import pytest
@pytest.fixture(name="kettle")
def _kettle(): return 1
@pytest.fixture
def cold(): pass
""",
    "test_tea.py": 'import pytest\n@pytest.mark.usefixtures("cold")\ndef test_a(kettle): pass\n',
    "paint.py": "def blend(): return 1\n",
    "test_lib.py": """import colorsys
import paint
class Base:
    LIB = colorsys
    def test(self): self.LIB.blend()
class Paint(Base):
    LIB = paint
""",
    "ink/__init__.py": "from .core import (\n    dip,\n)\nstain = ink = dip\n",
    "ink/core.py": "def dip(): pass\n",
    "user.py": "import ink\n",
    "shop/__init__.py": "try:\n    from .fast import Codec\nexcept ImportError:\n    class Codec: pass\n",
    "motor.py": """from typing import Generic, TypeVar, cast
class Motor:
    def start(self): pass
    def stop(self): pass
    def hum(self): pass
T = TypeVar("T", bound=Motor)
class Holder(Generic[T]):
    def __init__(self, motor: T) -> None: self._motor = motor
    def get(self) -> T: return self._motor
class Middle(Holder[Motor]):
    def go(self): self._motor.start(); self.get().stop()
def read(x, motors: dict[str, Motor]):
    cast("Motor", x).start()
    for one in [v for k, v in motors.items()]: one.hum()
""",
    "sides.py": """class Root:
    def setup(self): pass
class Left(Root):
    def setup(self): pass
class Right(Root):
    def setup(self): pass
class Both(Left, Right): pass
class Leaf(Left):
    def setup(self): pass
class Deep(Both):
    def setup(self): pass
""",
    "shop/fast.py": "class Codec:\n    def shut(self): pass\n",
    "shop/use.py": "import shop\nshop.Codec()\ndef end(door): door.shut()\n",
}
RUST = {
    "src/lib.rs": """use orchard as it;
mod shapes;
pub trait Picker { fn polish(self); }
impl Picker for u8 { fn polish(self) { shapes::polish(7); polish(9) } }
fn harvest(it: u8) { it.mash(); }
fn mash() {}
""",
    "src/shapes.rs": "pub struct Crate;\npub fn polish(x: u8) {}\n",
    "src/size.rs": """struct Jar;
fn made<T>() -> u64 { 1 }
fn plain() {}
fn check(plain: u64) {
    assert!(made::<Jar>() > (plain));
    assert_eq!(plain, (1));
}
""",
    "src/sorter.rs": "use crate::shapes::Crate;\npub trait Stack {}\nimpl Stack for Crate {}\n",
}
CPP = {
    "codes.hpp": """#pragma once
enum class Codes : int { Ok = 0, Rotten };
class Fault {};
class Broken : public Fault {
    MAKE_FAULT(Fault, Broken)
};
class Wet : public Broken {
    MAKE_FAULT(Broken, Wet)
    Wet() {}
};
""",
    "check.cppm": '#include "codes.hpp"\nvoid check() { throw Rotten("a"); }\n',
}


POINTERS = {
    "go.mod": "module x\n",
    "a.go": """package x
import (
	"sync"
	"sync/atomic"
	"time"
)
type Job struct { count Count; done atomic.Bool; begun time.Time; group *sync.WaitGroup }
type Count struct { n int }
func (j *Job) Run() {
	j.count.Add()
	_ = j.count.Get()
	j.done.Store(true)
	_ = j.begun.Unix()
	j.group.Done()
}
func (c *Count) Add() { c.n++ }
func (c Count) Get() int { return c.n }
""",
}
KEYS = {
    "box.ts": """interface Box { run?: (n: number) => void; wide: number; deep: number }
function use(b: Box) {
  b.run!(1)
  ;(b.run as any)(2)
}
type Flat = Omit<Box, 'wide'>
type Sizes = Pick<Box, 'wide' | 'deep'>
const has = (b: Box) => 'deep' in b
const key: keyof Box = 'deep'
""",
}

RINGS = {
    "ring.ts": """interface Ring { onTurn?: (n: number) => void }
type Big<T> = Ring & { init: T }
declare function ring<T>(x: T): Big<T>
function turn(r: Ring) { r.onTurn?.(1) }
test('x', () => {
  const a = ring(null)
  a.onTurn = (n) => {}
  turn(a)
})
""",
    "motor.py": """class Motor:
    def run(self): pass
def fake(): pass
def test_it(motor: Motor):
    motor.run = fake
    motor.run()
""",
}

ADDED = {
    "a.ts": """class Box {}
interface Maker { (): void; box?: Box; last?: Box }
function define(b: Box): Maker {
  function make() { make.box = b }
  make.last = new Box()
  return make
}
""",
}

BARRELS = {
    "src/index.ts": "export * from './far'\nexport * from './lib'\nexport * from './gear'\n",
    "src/far/index.ts": "export * from './a'\nexport * from './b'\n",
    "src/far/a.ts": "export const a = 1\n",
    "src/far/b.ts": "export const b = 1\n",
    "src/lib.ts": "export * from 'lib'\n",
    "src/gear.ts": "export function shift() {}\n",
    "use.ts": "import { shift, a } from './src/index'\nshift()\nconsole.log(a)\n",
}

QUOTED = {
    "b.py": """import typing as t
from typing import Annotated, Literal, NewType, Optional, TypeVar, cast
class Red: pass
class Blue:
    class In: pass
def copy(): pass
def a(x: Literal["copy"], y: "t.Literal['copy']", z: Annotated[int, "copy"]): pass
def b(x: "Red | Blue"): pass
def c(x: t.Callable[["Red"], None]): pass
def d(x: t.Callable[..., "Red"]): pass
def e(x: "t.Optional[Red]") -> "list[Blue.In]": pass
g = cast("list[Red]", 1)
i = TypeVar("i", bound="Red")
j = Optional["Red"]
k: t.TypeAlias = "Red"
m: list["Red"] = 1
n = {"Red": 1}
o = n["Red"]
p = t.Callable[["Red"], None]
q = t.cast(typ="Red", val=1)
r = NewType("r", "Red")
s: Annotated["Red", 1] = 1
""",
}


@pytest.mark.parametrize(
    ("files", "symbol", "direction", "found"),
    [
        (
            QUOTED,
            "Red",
            Direction.USERS,
            [
                "b.py:8 certain",
                "b.py:9 certain",
                "b.py:10 certain",
                "b.py:11 certain",
                "b.py:12 certain",
                "b.py:13 certain",
                "b.py:14 certain",
                "b.py:15 certain",
                "b.py:16 certain",
                "b.py:19 certain",
                "b.py:20 certain",
                "b.py:21 certain",
                "b.py:22 certain",
            ],
        ),
        (QUOTED, "Blue", Direction.USERS, ["b.py:8 certain", "b.py:11 certain"]),
        (QUOTED, "Blue.In", Direction.USERS, ["b.py:11 certain"]),
        (QUOTED, "copy", Direction.USERS, []),
        (BARRELS, "shift", Direction.CALLERS, ["use.ts:2 certain"]),
        (BARRELS, "a", Direction.READERS, ["use.ts:3 certain"]),
        (RINGS, "a.onTurn", Direction.CALLERS, ["ring.ts:4 may call"]),
        (RINGS, "fake", Direction.CALLERS, ["motor.py:5 certain", "motor.py:6 may call"]),
        (GO, "Bill.total", Direction.WRITERS, ["main.go:14 certain", "main.go:15 certain"]),
        (GO, "red/paint.go", Direction.IMPORTERS, ["main.go:8 certain"]),
        (GO, "red/paint_test.go", Direction.IMPORTERS, []),
        (GO, "main.go", Direction.IMPORTS, ["main.go:7 certain", "main.go:8 certain"]),
        (GO, "left.go::port", Direction.USERS, ["left.go:7 certain"]),
        (GO, "box.hits", Direction.WRITERS, ["main.go:30 may call"]),
        (POINTERS, "Job.count", Direction.WRITERS, ["a.go:10 may call"]),
        (POINTERS, "Job.count", Direction.READERS, ["a.go:10 certain", "a.go:11 certain"]),
        (POINTERS, "Job.done", Direction.WRITERS, ["a.go:12 may call"]),
        (POINTERS, "Job.begun", Direction.WRITERS, []),
        (POINTERS, "Job.group", Direction.WRITERS, []),
        (KEYS, "Box.run", Direction.CALLERS, ["box.ts:3 certain", "box.ts:4 certain"]),
        (KEYS, "Box.wide", Direction.USERS, ["box.ts:6 certain", "box.ts:7 certain"]),
        (KEYS, "Box.deep", Direction.USERS, ["box.ts:7 certain", "box.ts:8 certain"]),
        (GO, "step", Direction.IMPLEMENTERS, ["main.go:35 certain"]),
        (JAVA, "Frame.open", Direction.CALLERS, ["Door.java:4 may call"]),
        (JAVA, "Door.open", Direction.OVERRIDES, ["Door.java:2 certain"]),
        (JAVA, "Root.Root", Direction.CALLERS, ["Door.java:6 certain"]),
        (JAVA, "Level.QUIET", Direction.USERS, ["Use.java:3 certain"]),
        (JAVA, "Maker", Direction.IMPLEMENTERS, ["Use.java:4 certain"]),
        (JAVA, "Cat", Direction.SUBCLASSES, []),
        (JAVA, "Pair", Direction.USERS, ["Use.java:5 certain"]),
        (TYPESCRIPT, "Boat.row", Direction.CALLERS, ["trip.ts:3 certain"]),
        (TYPESCRIPT, "Boat.mast", Direction.READERS, ["trip.ts:4 certain"]),
        (TYPESCRIPT, "trip.ts", Direction.IMPORTERS, ["side.ts:1 certain"]),
        (TYPESCRIPT, "boat.ts", Direction.IMPORTERS, ["side.ts:2 certain", "trip.ts:1 certain"]),
        (TYPESCRIPT, "Boat.mast", Direction.OVERRIDES, ["boat.ts:7 certain"]),
        (PYTHON, "fetch", Direction.CALLERS, ["held.py:8 certain", "held.py:9 may call"]),
        (PYTHON, "Box.wide", Direction.WRITERS, ["box.py:8 certain"]),
        (PYTHON, "Base.deep", Direction.WRITERS, ["box.py:8 certain"]),
        (PYTHON, "_kettle", Direction.CALLERS, ["test_tea.py:3 may call"]),
        (PYTHON, "cold", Direction.CALLERS, ["test_tea.py:2 may call"]),
        (PYTHON, "dip", Direction.IMPORTERS, ["ink/__init__.py:2 certain"]),
        (PYTHON, "ink/__init__.py", Direction.IMPORTERS, ["user.py:1 certain"]),
        (PYTHON, "fast.py::Codec", Direction.CALLERS, ["shop/use.py:2 may call"]),
        (TYPESCRIPT, "Gate.onOpen", Direction.WRITERS, ["gate.ts:4 certain", "gate.ts:5 certain"]),
        (TYPESCRIPT, "twice", Direction.CALLERS, []),
        (TYPESCRIPT, "parts.ts::Wheel", Direction.USERS, ["shop.ts:2 certain"]),
        (TYPESCRIPT, "shop.ts::Wheel", Direction.USERS, ["shop.ts:2 certain"]),
        (TYPESCRIPT, "Cog.spun", Direction.READERS, []),
        (TYPESCRIPT, "Cog.scan", Direction.CALLERS, ["shop.ts:3 certain"]),
        (PYTHON, "Motor.start", Direction.CALLERS, ["motor.py:11 certain", "motor.py:13 certain"]),
        (PYTHON, "Motor.stop", Direction.CALLERS, ["motor.py:11 certain"]),
        (PYTHON, "Motor.hum", Direction.CALLERS, ["motor.py:14 certain"]),
        (PYTHON, "Right.setup", Direction.OVERRIDES, ["sides.py:4 certain", "sides.py:11 certain"]),
        (CPP, "Rotten", Direction.USERS, ["check.cppm:2 by name"]),
        (CPP, "Fault", Direction.SUBCLASSES, ["codes.hpp:4 certain"]),
        (CPP, "Broken", Direction.SUBCLASSES, ["codes.hpp:7 certain"]),
        (RUST, "made", Direction.CALLERS, ["src/size.rs:5 certain"]),
        (RUST, "plain", Direction.CALLERS, []),
        (RUST, "Crate", Direction.SUPERCLASSES, ["src/sorter.rs:3 by name"]),
        (RUST, "Stack", Direction.IMPLEMENTERS, ["src/sorter.rs:3 certain"]),
        (RUST, "src/lib.rs::mash", Direction.CALLERS, []),
    ],
)
def test_a_form_is_found(
    tmp_path: Path, files: Mapping[str, str], symbol: str, direction: Direction, found: list[str]
) -> None:
    """As certain as it is, and nothing else."""
    trace = ask(tmp_path, files, symbol, direction)
    assert [f"{step.edge.path}:{line} {step.edge.certainty}" for step in trace.steps for line in step.lines] == found


@pytest.mark.parametrize(
    ("files", "symbol", "direction", "places"),
    [
        (GO, "Bill.total", Direction.WRITERS, {("main.go", 17)}),
        (GO, "Old.total", Direction.READERS, {("main.go", 17)}),
        (TYPESCRIPT, "Boat.sail", Direction.CALLERS, {("trip.ts", 6), ("boat.ts", 3)}),
        (TYPESCRIPT, "Boat.mast", Direction.WRITERS, {("boat.ts", 3)}),
        (TYPESCRIPT, "Cog.scan", Direction.CALLERS, {("shop.ts", 4)}),
        (TYPESCRIPT, "Cog.spun", Direction.READERS, set()),
        (ADDED, "Maker.box", Direction.USERS, {("a.ts", 4)}),
        (ADDED, "Maker.last", Direction.USERS, {("a.ts", 5)}),
        (KEYS, "Box.deep", Direction.READERS, {("box.ts", 9)}),
        (PYTHON, "Bag", Direction.CALLERS, {("held.py", 5)}),
        (PYTHON, "Plugin.labels", Direction.WRITERS, {("held.py", 12)}),
        (PYTHON, "Lamp.Mode", Direction.USERS, {("shapes.py", 9)}),
        (PYTHON, "ring", Direction.CALLERS, {("shapes.py", 8)}),
        (PYTHON, "blend", Direction.CALLERS, {("test_lib.py", 5)}),
    ],
)
def test_what_a_form_may_mean_is_counted(
    tmp_path: Path, files: Mapping[str, str], symbol: str, direction: Direction, places: set[tuple[str, int]]
) -> None:
    """So the answer is not complete."""
    assert ask(tmp_path, files, symbol, direction).doubt.undecided == places


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.go", "package a\ntype T struct{ _ int }\nvar _ any = T{}\nfunc _() {}\nfunc f() { _ = 1 }\n"),
        ("src/lib.rs", "const _: () = {};\n"),
    ],
)
def test_a_place_without_a_name_is_no_definition(tmp_path: Path, path: str, code: str) -> None:
    """`_` takes what is thrown away, and what only has to compile."""
    with pytest.raises(RequestError, match="nothing that is indexed defines"):
        ask(tmp_path, {path: code}, f"{path}::_", Direction.USERS)


def test_a_class_that_is_loaded_by_its_name_has_an_unread_place(tmp_path: Path) -> None:
    """In Java, where the text may be of any package."""
    assert ask(tmp_path, JAVA, "Hidden", Direction.USERS).doubt.unread == {("Use.java", 6)}


def test_a_method_that_the_library_looks_for_by_its_name_has_callers_outside(tmp_path: Path) -> None:
    """`errors.Is` and its like take any error and ask for its methods."""
    assert ask(tmp_path, GO, "failure.Unwrap", Direction.CALLERS).doubt.callers_outside == {"errors.Unwrap"}


def test_two_definitions_of_one_name_in_two_files_are_two_callees(tmp_path: Path) -> None:
    """Each with its own line."""
    steps = ask(tmp_path, GO, "pick", Direction.CALLEES).steps
    assert {(step.target.path, step.lines) for step in steps} == {("red/paint.go", (20,)), ("blue/paint.go", (22,))}


def test_a_call_through_a_module_is_none_of_the_method_around_it(tmp_path: Path) -> None:
    """Nor is a bare name, where a method has always a receiver."""
    steps = ask(tmp_path, RUST, "Picker.polish", Direction.CALLERS).steps
    assert not [step for step in steps if step.edge.certainty == "certain"]


def test_what_stands_for_a_method_of_an_embedded_interface_has_callers_outside(tmp_path: Path) -> None:
    """Whoever has the interface calls it."""
    assert "net.Conn" in ask(tmp_path, GO, "slow.SetDeadline", Direction.CALLERS).doubt.callers_outside


def test_a_method_of_a_literal_begins_where_it_stands(tmp_path: Path) -> None:
    """Not with the statement around it, whose names are not its."""
    (decode,) = ask(tmp_path, TYPESCRIPT, "decode", Direction.CALLERS).starts
    assert (decode.start_line, decode.end_line) == (9, 9)


def test_methods_that_name_their_type_are_counted(tmp_path: Path) -> None:
    """In Go they stand beside it; what changes it changes them, too."""
    files = {"a.go": "package a\n\ntype shelf map[string]int\n", "b.go": "package a\n\nfunc (s shelf) sum() {}\n"}
    trace = ask(tmp_path, files, "shelf", Direction.USERS)
    assert (trace.steps, trace.doubt.methods) == ((), {("b.go", 3)})


def test_the_names_of_members_say_nothing_of_who_imports_their_type(tmp_path: Path) -> None:
    """A call of `shut` on something unknown is no import."""
    assert ask(tmp_path, PYTHON, "fast.py::Codec", Direction.IMPORTERS).doubt.is_complete


MARKED = """class Marker:
    def __call__(self, function):
        function.is_hook = True
        return function


hook = Marker()


class Plugin:
    @hook
    def start(self): ...


def run(plugin):
    for name in dir(plugin):
        getattr(plugin, name)()


def __getattr__(name): ...
"""
LOADED = {
    "a/Kind.java": "package a;\nclass Kind { Kind(String text) {} }\n",
    "a/Table.java": "package a;\nclass Table { Object kind = of(Kind.class); Object of(Class<?> c) { return c; } }\n",
    "a/Shape.java": "package a;\ninterface Shape { @Parameter void setName(String n); }\n",
    "a/Round.java": "package a;\nclass Round implements Shape {\n"
    "  public void setName(String n) {}\n  @Parameter String text;\n}\n",
    "a/Checks.java": "package a;\n@Test\npublic class Checks { public void simple() {} private void helper() {} }\n",
    "suite.xml": '<suite><class name="a.Checks"/></suite>\n',
}


def test_what_a_mark_of_the_project_finds_may_be_called(tmp_path: Path) -> None:
    """An object that decorates marks a function for others; and the language looks names up in a module."""
    assert ask(tmp_path, {"a.py": MARKED}, "Plugin.start", Direction.CALLERS).doubt.callers_outside == {"@hook"}
    assert ask(tmp_path, {"a.py": MARKED}, "__getattr__", Direction.CALLERS).doubt.is_implicit


@pytest.mark.parametrize(
    ("symbol", "direction", "expected"),
    [
        ("Kind.Kind", Direction.CALLERS, "Kind.class"),
        ("Round.setName", Direction.CALLERS, "@Parameter"),
        ("Round.text", Direction.WRITERS, "@Parameter"),
    ],
)
def test_what_reflection_may_reach_is_said(tmp_path: Path, symbol: str, direction: Direction, expected: str) -> None:
    """A class literal makes instances; an annotation of what is overridden holds, and fields are written, too."""
    assert expected in ask(tmp_path, LOADED, symbol, direction).doubt.callers_outside


def test_a_mark_of_a_class_is_one_of_its_methods(tmp_path: Path) -> None:
    """The test runner runs those that others see; a suite names the class."""
    assert ask(tmp_path, LOADED, "Checks.simple", Direction.CALLERS).doubt.run_by == {"@Test"}
    assert not ask(tmp_path, LOADED, "Checks.helper", Direction.CALLERS).doubt.run_by
    assert ask(tmp_path, LOADED, "Checks", Direction.USERS).doubt.unread == {("suite.xml", 1)}


def test_what_loads_a_type_may_call_its_members(tmp_path: Path) -> None:
    """Setters of a bean, also those that it inherits; nothing but the type itself calls what is private."""
    files = {
        "a/Base.java": "package a;\nclass Base { public void setSize(int n) {} }\n",
        "a/Bean.java": "package a;\nclass Bean extends Base {\n  public void setName(String n) {}\n"
        "  private void own() {}\n}\n",
        "a/Other.java": "package a;\nclass Other { public void setName(String n) {} }\n",
        "src/main/resources/rules.xml": '<rules>\n<create class="a.Bean"/>\n<!-- Of a.Bean. -->\n</rules>\n',
    }
    line = ("src/main/resources/rules.xml", 2)
    for symbol, unread in (("Bean.setName", {line}), ("Base.setSize", {line}), ("Bean.own", set()), ("Other", set())):
        assert ask(tmp_path, files, symbol, Direction.USERS).doubt.unread == unread
    assert not ask(tmp_path, files, "Other.setName", Direction.USERS).doubt.unread


def test_a_call_reads_what_it_calls(tmp_path: Path) -> None:
    """Of a member that holds a function, too."""
    text = "interface Retry { delay?(n: number): number }\nfunction wait(r: Retry) { return r.delay?.(1); }\n"
    (step,) = ask(tmp_path, {"a.ts": text}, "Retry.delay", Direction.READERS).steps
    assert (step.source.qualified_name, step.lines) == ("wait", (2,))


@pytest.mark.parametrize("direction", [Direction.USERS, Direction.READERS])
def test_a_read_member_of_a_function_does_not_hand_it_on(tmp_path: Path, direction: Direction) -> None:
    """The answer has the relation as it is stored."""
    text = "def run(): pass\ndef name(): return run.__name__\ndef keep(): return [run]\n"
    kinds = [
        (step.source.name, str(step.edge.relation)) for step in ask(tmp_path, {"a.py": text}, "run", direction).steps
    ]
    used = [("name", "uses")] if direction is Direction.USERS else []
    assert sorted(kinds) == [("keep", "hands_on"), *used]


def test_a_definition_in_a_module_of_the_file_is_not_meant_outside_of_it(tmp_path: Path) -> None:
    """Without saying the module, another of that name is."""
    files = {
        "src/lib.rs": "pub trait Fail {}\npub mod cause;\n",
        "src/cause.rs": "use crate::Fail;\nmod ext {\n    pub trait Fail {}\n}\nstruct Bad;\nimpl Fail for Bad {}\n",
    }
    found = ask(tmp_path, files, "src/cause.rs::ext.Fail", Direction.IMPLEMENTERS)
    assert not [step for step in found.steps if step.edge.certainty == "certain"]
