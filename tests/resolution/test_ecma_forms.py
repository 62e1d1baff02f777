"""JavaScript and TypeScript: constructors above, name spaces, static members, narrowing, callbacks, imports."""

import pytest

from tests.resolution.projects import OTHER, UNDECIDED, Project


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("class Kid extends Base { constructor() { «super»(1) } }", "a.ts:1 constructor"),
        ("class Mid extends Base {}\nclass Kid extends Mid { constructor() { «super»(1) } }", "a.ts:1 constructor"),
        ("const Kid = class extends Base { constructor() { «super»(1) } }", "a.ts:1 constructor"),
        ("class Kid extends lib.Base { constructor() { «super»(1) } }", OTHER),
        ("class Plain {}\nclass Kid extends Plain { constructor() { «super»() } }", OTHER),
        ("function mix(B) { return class extends B { constructor() { «super»() } } }", UNDECIDED),
    ],
)
def test_a_call_of_super_is_one_of_the_constructor_above(code: str, found: str) -> None:
    """Of the nearest class that declares one; the language's own is none of the project."""
    head = "class Base { constructor(a) {} } import lib from 'lib'\n"
    assert Project({"a.ts": head + code + "\n"}).answer() == found


def test_a_variable_hides_no_namespace_of_its_name_in_a_type() -> None:
    """Types and values have names of their own, also before a dot."""
    text = "import * as rules from './c'\nfunction f(rules: string) { const one: rules.«Rule» = null!; rules.«Rule» }\n"
    assert Project({"c.ts": "export interface Rule {}\n", "a.ts": text}).answers() == ["c.ts:1 Rule", OTHER]


SHIP = """class Ship {
  static join(a) {}
  join(b) {}
  static count = 1
  count = 2
}
class Boat extends Ship {}
"""


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("Ship.«join»()", 2), ("new Ship().«join»()", 3), ("Boat.«join»()", 2), ("new Boat().«join»()", 3),
        ("Ship.prototype.«join»()", 3), ("Ship.«count»", 4), ("new Boat().«count»", 5),
        ("class C extends Ship { run() { this.«join»() } }", 3),
        ("class C extends Ship { run() { super.«join»() } }", 3),
        ("class C extends Ship { static run() { this.«join»() } }", 2),
        ("class C extends Ship { static join() {} }\nnew C().«join»()", 3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["js", "ts"])
def test_a_static_member_and_one_of_instances_are_two(code: str, line: int, suffix: str) -> None:
    """The class has the one, what it makes has the other; both are inherited."""
    name = "count" if "count" in code else "join"
    assert Project({f"a.{suffix}": f"{SHIP}{code}\n"}).answer() == f"a.{suffix}:{line} {name}"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("if (typeof v === 'string') { v.«toString»() }", OTHER),
        ("if (typeof v == 'number') v.«toString»()", OTHER),
        ("typeof v === 'boolean' ? v.«toString»() : 0", OTHER),
        ("typeof v === 'string' && v.«toString»()", OTHER),
        ("if (typeof v !== 'string') {} else { v.«toString»() }", OTHER),
        ("typeof v !== 'string' ? 0 : v.«toString»()", OTHER),
        ("if (typeof v !== 'string') return\n v.«toString»()", OTHER),
        ("if (typeof v !== 'string') { throw 1 }\n v.«toString»()", OTHER),
        ("if (typeof v === 'object') { v.«go»() }", "a.ts:1 go"),
        ("v.«go»()", "a.ts:1 go"),
    ],
)
def test_typeof_narrows_to_what_the_project_does_not_define(code: str, found: str) -> None:
    """A literal has no member of the project; of an object `typeof` says nothing."""
    text = f"class Node {{ toString() {{}} go() {{}} }}\nfunction q(v: Node | string | number) {{ {code} }}\n"
    assert Project({"a.ts": text}).answer() == found


def test_a_member_that_a_literal_has_too_is_not_meant_for_certain() -> None:
    """`v.trim()` may be of the text, `v.go()` is not."""
    text = "class Node { trim() {} go() {} }\nfunction q(v: Node | string) { v.trim(); v.go() }\n"
    project = Project({"a.ts": text})
    facts = project.facts("a.ts")
    assert facts is not None
    calls = {one.name: project.resolver.resolve("a.ts", one) for one in facts.mentions if one.use == "call"}
    assert {name: found and project.resolver.is_open(found) for name, found in calls.items()} == {
        "trim": True,
        "go": False,
    }


CONTEXT = """class Context { send() {} }
type Handler = (c: Context) => void
interface Rest { (path: string, ...handlers: ((c: Context) => void)[]): void }
interface Get { get(path: string, handler: Handler): void; get(handler: Handler): void }
declare function over(path: string, handler: Handler): void
declare function over(handler: Handler): void
function impl(path: string, handler: Handler): void
function impl(handler: Handler): void
function impl(...all: any[]) {}
function rest(path: string, ...handlers: Handler[]) {}
declare const call: Rest, router: Get
"""


@pytest.mark.parametrize(
    "code",
    [
        "call('/', (c) => c.«send»())",
        "call('/', () => 1, (c) => c.«send»())",
        "rest('/', (c) => 1, function (c) { c.«send»() })",
        "router.get('/', (c) => c.«send»())",
        "router.get((c) => c.«send»())",
        "over('/', (c) => c.«send»())",
        "over((c) => c.«send»())",
        "impl('/', (c) => c.«send»())",
        "impl((c) => c.«send»())",
    ],
)
def test_a_callback_of_an_overloaded_function_or_in_a_rest_parameter_is_given_what_they_hand_over(code: str) -> None:
    """The signatures that are declared count, not the function that implements them; a text is no callback."""
    assert Project({"a.ts": f"{CONTEXT}{code}\n"}).answer() == "a.ts:1 send"


MANIFEST = """{"name": "own", "dependencies": {"dep": "1", "@scope/dep": "1"}, "peerDependencies": {"peer": "1"},
 "optionalDependencies": {"maybe": "1"}, "devDependencies": {"@types/typed": "1", "@types/scope__typed": "1"}}"""


@pytest.mark.parametrize(
    ("module", "is_foreign"),
    [
        ("dep", True), ("dep/sub", True), ("@scope/dep", True), ("@scope/dep/sub", True), ("peer", True),
        ("maybe", True),
        ("typed", True), ("@scope/typed", True), ("fs", True), ("fs/promises", True), ("node:fs", True),
        ("bun:test", True),
        ("https://host/make.ts", True), ("@/make", False), ("~/make", False), ("#x/make", False), ("src/make", False),
        ("@app/make", False), ("$lib/make", False), ("/make", False), ("virtual:make", False), ("astro:content", False),
        ("undeclared", False), ("own/missing", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["import {{ make }} from '{}'", "const {{ make }} = require('{}')"])
def test_an_import_that_no_manifest_explains_is_not_decided(module: str, form: str, *, is_foreign: bool) -> None:
    """It may be an alias that only a bundler knows; what is required, and what the runtime has, is another thing."""
    files = {
        "package.json": MANIFEST,
        "src/make.ts": "export function make() {}\n",
        "src/a.ts": f"{form.format(module)}\n«make»()\n",
    }
    assert Project(files).answer() == (OTHER if is_foreign else UNDECIDED)


def test_a_root_manifest_explains_the_imports_of_the_packages_below() -> None:
    """A workspace installs what its root requires for all of them."""
    files = {
        "package.json": '{"devDependencies": {"dep": "1"}}',
        "packages/a/package.json": '{"name": "a"}',
        "packages/a/a.ts": "import { make } from 'dep'\n«make»()\n",
    }
    assert Project(files).answer() == OTHER


@pytest.mark.parametrize(("module", "found"), [("plain", OTHER), ("@/make", UNDECIDED), ("src/make", UNDECIDED)])
def test_without_a_manifest_only_a_plain_name_is_that_of_a_package(module: str, found: str) -> None:
    """A path cannot be told from an alias."""
    assert Project({"a.js": f"import {{ make }} from '{module}'\n«make»()\n"}).answer() == found


def test_a_module_that_is_one_value_is_required_as_that_value() -> None:
    """`import a = require()` and a namespace import mean what `export =` or `module.exports` gives."""
    files = {
        "a.ts": "function one() {}\nexport = one\n",
        "use.ts": "import a = require('./a')\nimport * as b from './a'\n«a»()\n«b»()\n",
    }
    assert Project(files).answers() == ["a.ts:1 one"] * 2


def test_a_variable_that_is_made_of_itself_keeps_its_type() -> None:
    """Each value is made of those before."""
    text = (
        "class Place { copy() { return new Place() } size() {} }\n"
        "function f() { let u = new Place(); u = u.copy(); u.«size»() }\n"
        "let v = new Place()\nv = v.copy()\nv.«size»()\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 size"] * 2


def test_a_declaration_file_that_is_no_module_declares_for_all_files() -> None:
    """Its namespaces, functions and variables need no import; those of a module do."""
    files = {
        "env.d.ts": "declare namespace Host { function open(): void }\ndeclare function start(): void\n",
        "lib.d.ts": "export declare function stop(): void\n",
        "a.ts": "import x from './x'\nHost.«open»()\n«start»()\n«stop»()\n",
        "b.ts": "import { stop } from './lib'\n«stop»()\n",
    }
    assert Project(files).answers() == ["env.d.ts:1 open", "env.d.ts:2 start", OTHER, "lib.d.ts:1 stop"]
