"""After any edit, the files whose reads it changed are resolved again, and all rows are those of a fresh resolution."""

import random
import re
from collections.abc import Iterator, Mapping

import pytest

from graphrag_mcp.model.links import Link, Read
from graphrag_mcp.resolution.linking import Linked, Linker
from graphrag_mcp.resolution.reads import MEANING
from graphrag_mcp.resolution.visible import changed_reads
from tests.resolution.projects import Project

PYTHON = {
    "pkg/__init__.py": "from .base import *\nfrom .store import Store as Box, make\n",
    "pkg/base.py": """class Base:
    limit = 1
    def run(self): return self.step()
    def step(self): return None

def helper(x=Base): return x()
""",
    "pkg/store.py": """from .base import Base, helper
from . import util

class Store(Base):
    def step(self): return util.load(self.limit)
    def get(self): return helper().run()

def make(): return Store()
TABLE = {"a": make}
""",
    "pkg/util.py": """import os

def load(n): return os.path.join(n)

def wrap(f):
    def inner(): return f()
    return inner
""",
    "bus.py": """from typing import Generic, TypeVar, cast
from pkg import make
from pkg.base import Base

T = TypeVar("T")

class Bus(Generic[T]):
    def __init__(self, first: T): self.first, self.all = first, []
    def on(self, handler): self.all.append(handler)
    def emit(self): return [one() for one in self.all]
    def get(self) -> T: return self.first

class Own(Bus[Base]):
    def go(self): self.get().run(); [b for b in [self.first]][0].step()

Own(Base()).on(make)
cast("Base", make()).run()
""",
    "app.py": """import pkg
from pkg import Box, make
from pkg.util import wrap

@wrap
def main():
    box = make()
    box.run()
    box.get().step()
    pkg.Box().limit = 2
    return Box.step

main()
""",
}
TYPESCRIPT = {
    "package.json": '{"name": "acme", "exports": {".": "./src/index.ts"}}',
    "src/index.ts": """export * from './base'
export { Store as Box } from './store'
export default function run() {}
""",
    "src/base.ts": """export interface Shape { area(): number; name?: string }
export class Base implements Shape { area() { return 1 } }
export const helper = (s: Shape) => s.area()
export enum Kind { A, B }
""",
    "src/store.ts": """import { Base, helper, type Shape } from './base'
export class Store<T extends Shape> extends Base {
  constructor(private inner: T) { super() }
  area() { return this.inner.area() + helper(this) }
  get() { return this.inner }
}
""",
    "src/bus.ts": """import { helper, type Shape } from './base'
import * as all from './index'
export class Bus {
  private all: ((s: Shape) => number)[] = []
  on(f: (s: Shape) => number) { this.all.push(f) }
  emit() { for (const one of this.all) one({} as all.Shape) }
}
new Bus().on(helper)
const table = { a: helper }
export const pick = (k: string) => table[k]({ area() { return 1 } })
declare module './base' { interface Shape { dry(): void } }
""",
    "src/main.ts": """import run, { Box, Base, Kind } from '.'
import * as all from './index'
const box = new Box(new Base())
box.get().area()
all.helper({ area() { return Kind.A } })
run()
export const table = { box, on: () => box.area() }
""",
    "test/a.test.ts": """import { table } from '../src/main'
import { helper } from 'acme'
table.on()
helper(table.box)
""",
}
JAVASCRIPT = {
    "lib/one.js": """function One(a) { this.a = a }
One.prototype.run = function () { return this.a }
module.exports = One
""",
    "lib/two.js": """const One = require('./one')
exports.make = function make(a) { return new One(a) }
exports.One = One
""",
    "lib/bus.js": """const two = require('./two')
function Bus() { this.first = null; this.all = [] }
Bus.prototype.on = function (f) { this.first = f; this.all.push(f) }
Bus.prototype.emit = function () { this.first(1); this.all[0].call(this) }
const bus = new Bus()
bus.on(two.make)
bus.on = function (f) { f() }
""",
    "index.js": """const two = require('./lib/two')
const { make, One } = two
make(1).run()
two.make(2).run()
One.call({})
""",
    "more.js": """import one from './lib/one.js'
import { make } from './lib/two.js'
new one(1).run()
make(3)
""",
}
GO = {
    "go.mod": "module acme\n",
    "main.go": """package main

import (
	"acme/store"
	st "acme/shape"
)

func main() {
	s := store.New(3)
	s.Load("a")
	var x st.Shape = s
	x.Area()
	run(s.Load)
}
""",
    "bus.go": """package main

type bus struct{ first func(string) int }

func (b *bus) on(f func(string) int) { b.first = f }
func (b *bus) emit() int             { return b.first("a") }

func listen(b *bus, s interface{ Load(string) int }) { b.on(s.Load); b.emit() }
""",
    "run.go": "package main\n\nfunc run(f func(string) int) int { return f(\"b\") }\n",
    "shape/shape.go": """package shape

type Shape interface {
	Area() int
}

type Base struct{ N int }

func (b *Base) Area() int { return b.N }
""",
    "store/store.go": """package store

import "acme/shape"

type Store struct {
	shape.Base
	cache map[string]int
}

func New(n int) *Store { return &Store{shape.Base{N: n}, nil} }
func (s *Store) Load(key string) int { return s.cache[key] + s.Area() + limit }
""",
    "store/limit.go": """package store

const limit = 3

type loader interface{ Load(string) int }

var _ loader = &Store{}
""",
}  # fmt: skip
JAVA = {
    "a/Base.java": """package a;
public abstract class Base<T> implements Shape {
  protected T held;
  public int area() { return 1; }
  public T get() { return held; }
}
""",
    "a/Shape.java": """package a;
public interface Shape { int area(); default String name() { return "" + area(); } }
""",
    "a/Kind.java": """package a;
public enum Kind { A, B; static Kind of(String s) { return valueOf(s); } }
""",
    "b/Store.java": """package b;
import a.*;
import java.util.function.Function;
public class Store extends Base<Kind> {
  public Store(int n) { }
  public Store(String s) { this(1); }
  @Override public int area() { return super.area() + get().ordinal(); }
  int run(Function<Kind, Integer> f) { return f.apply(held); }
}
""",
    "b/Main.java": """package b;
import a.Kind;
import a.Shape;
class Main {
  static int use(Shape s) { return s.area(); }
  public static void main(String[] args) {
    Store store = new Store("x");
    use(store);
    use(() -> 3);
    store.run(Kind::ordinal);
    store.get().name();
  }
}
""",
}  # fmt: skip
PROJECTS = {"python": PYTHON, "typescript": TYPESCRIPT, "javascript": JAVASCRIPT, "go": GO, "java": JAVA}


class _Kept:
    """The links of a project, kept up to date edit by edit."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.project = Project(dict(sorted(files.items())))
        linker = Linker(self.project)
        self.linked: dict[str, Linked] = {path: linker.link(path) for path in self.paths()}
        self.again = 0

    def paths(self) -> Iterator[str]:
        return (path for path in self.project.paths())

    def edit(self, files: Mapping[str, str]) -> None:
        """Change the files, and resolve again what read what changed."""
        old, new = self.project, Project(dict(sorted(files.items())))
        changed = {path for path in {*old.paths(), *new.paths()} if old.facts(path) != new.facts(path)}
        reads = {one for path in changed for one in changed_reads(path, old.facts(path), new.facts(path))}
        if list(old.manifests()) != list(new.manifests()):
            reads.add(Read("", "manifests"))
        self.project, linker = new, Linker(new)
        for path, linked in self.linked.items():
            if not linked.of_imports.isdisjoint(reads) and path not in changed:
                meanings, of_imports = linker.meanings(path)
                reads |= {Read(path, MEANING, one) for one in meanings if meanings[one] != linked.meanings[one]}
                self.linked[path] = Linked(linked.links, linked.reads, meanings, of_imports)
        stale = {path for path, linked in self.linked.items() if not linked.reads.isdisjoint(reads)} | changed
        stale |= {
            path for path in self.linked if any(Read(path, MEANING, one) in reads for one in self.linked[path].meanings)
        }
        self.linked = {path: linked for path, linked in self.linked.items() if new.has(path)}
        stale = {path for path in stale if new.has(path)}
        self.again += len(stale)
        self.linked |= {path: linker.link(path) for path in stale}


def _fresh(project: Project) -> dict[str, list[Link]]:
    return {path: list(Linker(project).link(path).links) for path in project.paths()}


def edited(files: Mapping[str, str], original: Mapping[str, str], chance: random.Random) -> dict[str, str]:
    """Return the files after one random edit."""
    found = dict(files)
    path = chance.choice(sorted(found))
    lines = found[path].splitlines(keepends=True)
    names = sorted({name for text in original.values() for name in re.findall(r"[A-Za-z_]\w+", text)})
    place = chance.randrange(len(lines)) if lines else 0
    match chance.choice(["name", "name", "name", "delete", "twice", "swap", "above", "remove", "restore", "restore"]):
        case "name" if lines and (here := re.findall(r"[A-Za-z_]\w+", lines[place])):
            lines[place] = re.sub(rf"\b{chance.choice(here)}\b", chance.choice(names), lines[place], count=1)
        case "delete" if lines:
            del lines[place]
        case "twice" if lines:
            lines.insert(place, lines[place])
        case "swap" if len(lines) > 1:
            lines[place - 1], lines[place] = lines[place], lines[place - 1]
        case "above":
            lines.insert(0, "\n")
        case "remove" if len(found) > 2:
            del found[path]
            return found
        case _:
            path = chance.choice(sorted(original))
            return found | {path: original[path]}
    return found | {path: "".join(lines)}


@pytest.mark.parametrize("language", PROJECTS)
@pytest.mark.parametrize("edits", [12, pytest.param(80, marks=pytest.mark.slow)])
def test_rows_after_random_edits_are_those_of_a_fresh_resolution(language: str, edits: int) -> None:
    """And most edits resolve few files again."""
    original = PROJECTS[language]
    chance = random.Random(f"{language} {edits}")
    files, kept, total = dict(original), _Kept(original), 0
    for number in range(edits):
        before = files
        files = edited(files, original, chance)
        kept.edit(files)
        fresh = _fresh(kept.project)
        total += len(fresh)
        assert {path: list(one.links) for path, one in kept.linked.items()} == fresh, (
            number,
            _differing(before, files),
        )
    assert kept.again < total * 0.8


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    paths = before.keys() | after.keys()
    return {path: (before.get(path, ""), after.get(path, "")) for path in paths if before.get(path) != after.get(path)}
