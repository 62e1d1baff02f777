"""Functions that are kept before they are called: in parameters, fields, variables and collections."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import ask

PYTHON = """\
HANDLERS = {}
class Router:
    def __init__(self, first):
        self.first = first
        self.stack = []
    def use(self, handler): self.stack.append(handler)
    def run(self):
        for one in self.stack: one()
    def begin(self): self.first()
def pushed(): pass
def given(): pass
def passed(): pass
def keyed(): pass
def unused(): pass
def each(items, visit):
    for item in items: visit(item)
def setup():
    Router(given).use(pushed)
    each([], passed)
    HANDLERS["x"] = keyed
    unused
def pick(key): HANDLERS.get(key)()
"""
TYPESCRIPT = """\
type Handler = (n: number) => void
export class Router {
  private stack: Handler[] = []
  constructor(private first: Handler) {}
  use(handler: Handler) { this.stack.push(handler) }
  run() { for (const one of this.stack) one(1) }
  set(first: Handler) { this.first = first }
  begin() { this.first(1) }
}
function pushed() {}
function given() {}
function passed() {}
function keyed() {}
function unused() {}
export function each(items: number[], visit: Handler) { for (const item of items) visit(item) }
export function setup(router: Router) {
  router.use(pushed)
  router.set(given)
  each([], passed)
  return [unused]
}
const HANDLERS = { x: keyed }
export function pick(key: string) { HANDLERS[key](1) }
"""
GO = """\
package bus

type router struct {
	first func()
}

func (r *router) set(first func()) { r.first = first }
func (r *router) begin()           { r.first() }
func given()                       {}
func passed()                      {}
func unused()                      {}
func each(visit func())            { visit() }
func setup(r *router) func() {
	r.set(given)
	each(passed)
	return unused
}
"""
RUN = {
    "a.py": (PYTHON, {"pushed": "Router.run", "given": "Router.begin", "passed": "each", "keyed": "pick"}),
    "a.ts": (TYPESCRIPT, {"pushed": "Router.run", "given": "Router.begin", "passed": "each", "keyed": "pick"}),
    "a.go": (GO, {"given": "router.begin", "passed": "each"}),
}


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, (_, runs) in RUN.items() for name in runs])
def test_what_is_kept_may_be_called_where_it_is_kept(tmp_path: Path, path: str, name: str) -> None:
    """Callers and callees say the same."""
    code, runs = RUN[path]
    callers = ask(tmp_path, {path: code}, name, Direction.CALLERS).steps
    assert [one.source.qualified_name for one in callers if one.edge.certainty == "may call"] == [runs[name]]
    callees = ask(tmp_path, {path: code}, runs[name], Direction.CALLEES).steps
    assert name in [one.target.qualified_name for one in callees if one.edge.certainty == "may call"]


@pytest.mark.parametrize("path", RUN)
def test_what_is_only_mentioned_is_called_by_nobody(tmp_path: Path, path: str) -> None:
    """Nothing keeps it."""
    steps = ask(tmp_path, {path: RUN[path][0]}, "unused", Direction.CALLERS).steps
    assert [one.edge.certainty for one in steps] == ["certain"]


def test_who_calls_what_runs_a_function_is_not_followed(tmp_path: Path) -> None:
    """It has nothing to do with what was handed over."""
    files = {"a.py": PYTHON, "b.py": "from a import each\ndef far(): each([], print)\n"}
    steps = ask(tmp_path, files, "passed", Direction.CALLERS, hops=3).steps
    assert "far" not in [one.source.qualified_name for one in steps]


BOUND_TS = """\
type Remove = (path: string) => void
class Entry {
  private leave: Remove
  constructor(private path: string, leave: Remove) { this.leave = leave }
  close() { this.leave(this.path) }
}
class Hub {
  private bound: Remove
  constructor() { this.bound = this.forget.bind(this) }
  open() { return new Entry('a', this.bound) }
  each() { visit(this.drop.bind(this)) }
  forget(path: string) {}
  drop(path: string) {}
}
function visit(call?: Remove) { visitAll(call) }
function visitAll(call: Remove) { call('a') }
"""
BOUND_JS = """\
class Hub {
  each() { visitAll(this.drop.bind(this)) }
  drop(path) {}
}
function visitAll(call) { call('a') }
"""
BOUND_PY = """\
from functools import partial
class Entry:
    def __init__(self, path, leave):
        self.leave = leave
    def close(self): self.leave(1)
class Hub:
    def __init__(self):
        self.bound = partial(self.forget, 1)
    def open(self): return Entry("a", self.bound)
    def each(self): visitAll(partial(self.drop, 1))
    def forget(self, a, b): pass
    def drop(self, a, b): pass
def visitAll(call): call(2)
"""
BOUND = {"a.ts": BOUND_TS, "a.js": BOUND_JS, "a.py": BOUND_PY}


@pytest.mark.parametrize(
    ("path", "name", "runs"),
    [(path, "forget", "Entry.close") for path in ("a.ts", "a.py")] + [(path, "drop", "visitAll") for path in BOUND],
)
def test_a_function_that_is_bound_may_be_called_where_it_is_handed(
    tmp_path: Path, path: str, name: str, runs: str
) -> None:
    """To a constructor, to a parameter, and on from a field or parameter with a function type."""
    callers = ask(tmp_path, {path: BOUND[path]}, name, Direction.CALLERS).steps
    assert [one.source.qualified_name for one in callers if one.edge.certainty == "may call"] == [runs]
    callees = ask(tmp_path, {path: BOUND[path]}, runs, Direction.CALLEES).steps
    assert name in [one.target.name for one in callees if one.edge.certainty == "may call"]
