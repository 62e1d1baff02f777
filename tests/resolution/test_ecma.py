"""What names mean in JavaScript and TypeScript."""

import pytest

from graphrag_mcp.languages.manifests import read_manifest
from graphrag_mcp.model.facts import SymbolId, Use
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.resolution.uses import Uses
from tests.resolution.projects import OTHER, UNDECIDED, Project

LIBRARY = "export class Store { get() { return this } }\nexport function make() { return new Store() }\n"


def test_a_name_of_a_block_hides_that_of_the_file() -> None:
    """A constant in a block is meant there, and the function of the file everywhere else."""
    text = "function run() {}\n{\n  const run = 1\n  «run»()\n}\n«run»()\n"
    assert Project({"a.js": text}).answers() == [OTHER, "a.js:1 run"]


IN_BLOCKS = """\
function run() {}
if (a) { const run = () => 2; «run»() }
for (const x of [1]) { const run = () => x; «run»() }
switch (a) { case 1: class Kind {}; new «Kind»() }
try {
  class Kind { }
  new «Kind»()
} finally { «run»() }
"""


@pytest.mark.parametrize("path", ["a.js", "a.ts"])
def test_what_a_block_of_a_file_declares_is_only_seen_there(path: str) -> None:
    """Functions that constants hold, and classes."""
    lines = {"run": (2, 3, 1), "Kind": (4, 6)}
    expected = [f"{path}:{line} {name}" for name, lines in lines.items() for line in lines]
    found = Project({path: IN_BLOCKS}).answers()
    assert sorted(found) == sorted(expected)
    assert found[:2] == [f"{path}:2 run", f"{path}:3 run"]


def test_a_type_of_a_block_is_only_seen_there() -> None:
    """What a module, or everything, is said to have is seen by others."""
    text = (
        "{ interface State { a: 1 }\n let s: «State» }\n{ interface State { b: 2 }\n let s: «State» }\n"
        "declare global { interface Wide { c: 1 } }\nlet w: «Wide», t: «State»\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 State", "a.ts:3 State", "a.ts:5 Wide", OTHER]


def test_a_function_of_a_block_is_seen_around_it() -> None:
    """In JavaScript, as `var` is everywhere; where there are several, each may be meant."""
    text = (
        "function run() {}\nif (a) {\n  function run() {}\n  «run»()\n}\n«run»()\n"
        "function f() {\n  if (a) { var go = () => 1 } else { function stop() {} }\n  «go»(); «stop»()\n}\n"
    )
    project = Project({"a.js": text})
    assert project.answers() == ["a.js:3 run", "a.js:1 run, a.js:3 run", "a.js:8 go", "a.js:8 stop"]
    sites = Uses(project.search).of(project.named("run")).sites
    assert [(site.mention.line, site.is_certain) for site in sites] == [(4, True), (6, False), (6, False)]


def test_an_imported_name_is_what_the_module_exports() -> None:
    """Names and their other names are followed to the file that declares them."""
    text = "import { make as build } from './lib.js'\n«build»().«get»()\n"
    assert Project({"lib.js": LIBRARY, "a.js": text}).answers() == ["lib.js:2 make", "lib.js:1 get"]


def test_a_barrel_passes_on_what_another_module_exports() -> None:
    """`export *` and `export {a as b}` lead to the file that declares the name."""
    barrel = "export * from './lib.js'\nexport { make as build } from './lib.js'\n"
    text = "import { Store, build } from './index.js'\nnew «Store»()\n«build»()\n"
    found = Project({"lib.js": LIBRARY, "index.js": barrel, "a.js": text}).answers()
    assert found == ["lib.js:1 Store", "lib.js:2 make"]


def test_a_required_module_is_what_it_assigns_to_its_exports() -> None:
    """`module.exports` may be one value, with members besides, and `exports.x` is a member."""
    module = "function make() { return {go() {}} }\nmodule.exports = make\nmodule.exports.other = function () {}\n"
    text = "const make = require('./lib')\n«make»().«go»()\nmake.«other»()\n"
    found = Project({"lib.js": module, "a.js": text}).answers()
    assert found == ["lib.js:1 make", "lib.js:1 go", "lib.js:3 other"]


def test_a_package_is_meant_by_its_name_and_its_exports() -> None:
    """What is built stands for its source; entries have patterns; `#names` are for the package's own files."""
    package = """{"name": "@acme/lib", "exports": {".": "./dist/index.js", "./sub/*": {"import": "./dist/sub/*.js"}},
      "imports": {"#own": "./src/index.ts"}}"""
    text = "import { make } from '@acme/lib'\nimport { one } from '@acme/lib/sub/a'\n«make»()\n«one»()\n"
    own = "import { make } from '#own'\n«make»()\n"
    files = {
        "lib/package.json": package,
        "lib/src/index.ts": "export function make() {}\n",
        "lib/src/sub/a.ts": "export function one() {}\n",
        "lib/src/own.ts": own,
        "app/a.ts": text,
    }
    assert Project(files).answers() == [
        "lib/src/index.ts:1 make",
        "lib/src/index.ts:1 make",
        "lib/src/sub/a.ts:1 one",
    ]


@pytest.mark.parametrize(
    ("built", "source"),
    [
        ("dist/index.js", "src/index.ts"),
        ("lib/node/interceptors/net/index.js", "src/interceptors/net/index.ts"),
        ("lib/browser/presets/browser.mjs", "src/presets/browser.mts"),
        ("dist/types/esm/a.js", "src/a.ts"),
        ("dist/node/a.js", "src/node/a.ts"),
    ],
)
def test_what_is_built_for_a_platform_stands_for_its_source(built: str, source: str) -> None:
    """A folder of a platform or module system is one that the build adds; another one is of the sources."""
    package = f'{{"name": "acme", "exports": {{".": {{"browser": null, "default": "./{built}"}}}}}}'
    files = {
        "package.json": package,
        source: "export function make() {}\n",
        "test/a.ts": "import { make } from 'acme'\n«make»()\n",
    }
    assert Project(files).answers() == [f"{source}:1 make"]


@pytest.mark.parametrize(
    ("required", "is_meant"),
    [("^4.0.5", False), ("4", False), ("~5.1.0", False), ("5.0.0", False), ("^5.0.0", True), ("~5.0.0", True),
     ("5", True), ("workspace:*", True), (">=4", True), ("*", True)],
)  # fmt: skip
def test_a_package_of_another_version_than_the_required_one_is_not_decided(required: str, is_meant: bool) -> None:
    """What is imported may be the published one, or the code beside it, which a build puts in its place."""
    files = {
        "package.json": '{"name": "lib", "version": "5.0.1", "main": "src/index.ts"}',
        "src/index.ts": "export function make() {}\n",
        "app/package.json": f'{{"name": "app", "dependencies": {{"lib": "{required}"}}}}',
        "app/a.ts": "import { make } from 'lib'\n«make»()\n",
    }
    assert Project(files).answer() == ("src/index.ts:1 make" if is_meant else UNDECIDED)


def test_paths_of_a_configuration_lead_to_files() -> None:
    """Comments and trailing commas are no errors there; a name that no path fits is foreign."""
    config = '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"], /* all */}, }}'
    text = "import { make } from '@/lib'\nimport { read } from 'other'\n«make»()\n«read»()\n"
    files = {"tsconfig.json": config, "src/lib.ts": "export const make = () => 1\n", "a.ts": text}
    assert Project(files).answers() == ["src/lib.ts:1 make", OTHER]


def test_a_comma_in_a_text_of_a_configuration_is_no_trailing_one() -> None:
    """The name of the module in the import has the comma, as the text has it."""
    config = '{"compilerOptions": {"paths": {"@lib,}": ["src/lib"],}}}'
    text = "import { make } from '@lib,}'\n«make»()\n"
    files = {"tsconfig.json": config, "src/lib.ts": "export const make = () => 1\n", "a.ts": text}
    assert Project(files).answer() == "src/lib.ts:1 make"


def test_a_configuration_that_is_too_deep_says_nothing() -> None:
    """It costs the file's manifest, and no stage of it fails."""
    assert read_manifest("tsconfig.json", "[" * 100_000) is None


def test_a_relative_module_that_is_not_there_is_unknown() -> None:
    """It may be generated, and export anything."""
    assert Project({"a.js": "import { make } from './generated'\n«make»()\n"}).answer() == UNDECIDED


def test_a_default_export_that_wraps_a_component_is_not_the_component() -> None:
    """`export default hoc(X)` exports what the function gives."""
    library = "import { hoc } from 'hoc'\nfunction View() {}\nexport default hoc(View)\n"
    assert Project({"view.js": library, "a.js": "import View from './view'\n«View»()\n"}).answer() == OTHER


def test_a_type_and_a_value_of_one_name_are_told_apart() -> None:
    """A parameter does not hide a type of its name; an interface and a constant of one name are one."""
    text = (
        "interface Box { open(): void }\nconst Box = { make(): Box { return null! } }\n"
        "function run(Box: «Box») { Box.«open»() }\n«Box».«make»()\n"
    )
    found = Project({"a.ts": text}).answers()
    assert found == ["a.ts:1 Box, a.ts:2 Box", "a.ts:1 open", "a.ts:1 Box, a.ts:2 Box", "a.ts:2 make"]


def test_names_of_mapped_and_inferred_types_hide_others() -> None:
    """`infer X` and `K in` name types of their own."""
    text = "type X = 1\ntype K = 2\ntype A<T> = T extends (infer X)[] ? «X» : { [K in keyof T]: «K» }\n"
    assert Project({"a.ts": text}).answers() == [OTHER, OTHER]


def test_members_are_found_through_this_and_bases() -> None:
    """Own members first, then those of the base; `super` means the base only."""
    text = (
        "class Base { go() {} stop() {} }\n"
        "class Sub extends Base { go() { super.«go»(); this.«stop»(); this.«go»() } }\n"
    )
    assert Project({"a.js": text}).answers() == ["a.js:1 go", "a.js:1 stop", "a.js:2 go"]


def test_this_in_an_object_that_is_handed_over_is_unknown() -> None:
    """Who gets the object decides; in an object with a name it is the object."""
    text = "define({ go() {}, run() { this.«go»() } })\nconst own = { go() {}, run() { this.«go»() } }\n"
    assert Project({"a.js": text}).answers() == [UNDECIDED, "a.js:2 go"]


def test_a_constructor_function_has_the_members_of_its_prototype() -> None:
    """`F.prototype.go = function` and `this.name = …` make members of what `new F()` gives."""
    text = (
        "function Car(engine) { this.engine = new Engine() }\nclass Engine { start() {} }\n"
        "Car.prototype.go = function () { this.engine.«start»() }\nnew Car().«go»()\n"
    )
    assert Project({"a.js": text}).answers() == ["a.js:2 start", "a.js:3 go"]


def test_chains_follow_declared_and_inferred_results() -> None:
    """`this` as a result is the receiver, also of a class below."""
    text = (
        "class Base { set(): this { return this } on() { return this } }\nclass Sub extends Base { end() {} }\n"
        "new Sub().set().on().«end»()\n"
    )
    assert Project({"a.ts": text}).answer() == "a.ts:2 end"


def test_awaiting_gives_what_is_promised() -> None:
    """An asynchronous function promises its result; an interface above a promise is awaited likewise."""
    text = (
        "class Job { run() {} }\ninterface Task extends Promise<Job> { stop(): void }\n"
        "async function load() { return new Job() }\n"
        "async function main(task: Task) { (await load()).«run»(); (await task).«run»(); task.«stop»() }\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 run", "a.ts:1 run", "a.ts:2 stop"]


def test_parameters_of_callbacks_are_what_the_callee_hands_over() -> None:
    """Of lists, of the project's functions, and of a function type that is returned."""
    text = (
        "class Job { run() {} }\ntype Visit = (job: Job) => void\n"
        "function each(visit: Visit) {}\nfunction make(): Visit { return (job) => job.«run»() }\n"
        "const jobs: Job[] = []\njobs.filter((job) => true).forEach((job) => job.«run»())\neach((job) => job.«run»())\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 run"] * 3


def test_destructured_names_are_members() -> None:
    """Of what is required, of a parameter with a type, with another name or a default."""
    files = {
        "lib.js": "exports.make = function () {}\n",
        "a.js": "const { make: build } = require('./lib')\n«build»()\n",
        "b.ts": "interface Options { log(): void }\nfunction run({ log }: Options) { «log»() }\n",
    }
    assert Project(files).answers() == ["lib.js:1 make", "b.ts:1 log"]


def test_a_member_of_an_untyped_parameter_is_unknown() -> None:
    """Nothing says what is handed over."""
    assert Project({"a.js": "class A { go() {} }\nfunction run(a) { a.«go»() }\n"}).answer() == UNDECIDED


def test_instanceof_narrows_in_its_block() -> None:
    """A check says what the name holds where it succeeded."""
    text = "class A { go() {} }\nfunction run(a) { if (a instanceof A) { a.«go»() } a.«go»() }\n"
    assert Project({"a.js": text}).answers() == ["a.js:1 go", UNDECIDED]


def test_a_member_of_alternatives_is_that_of_those_that_have_it() -> None:
    """What a value surely lacks is not meant; what may be anything leaves it open."""
    text = (
        "class A { go() {} }\nclass B { stop() {} }\n"
        "function run(one: A | B | undefined, two: A | any) { one.«go»(); two.«go»() }\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 go", UNDECIDED]


def test_a_variable_holds_all_that_it_is_given() -> None:
    """An unknown value among them leaves it unknown."""
    text = (
        "class A { go() {} }\nlet one\none = new A()\none.«go»()\n"
        "let two = new A()\nfunction set(value) { two = value }\ntwo.«go»()\n"
    )
    assert Project({"a.js": text}).answers() == ["a.js:1 go", UNDECIDED]


def test_a_generic_result_keeps_what_is_known() -> None:
    """Unknown type arguments do not hide the type; a type parameter is what it is at least."""
    text = (
        "interface Store<S> { get(): S; close(): void }\ninterface Item { name(): string }\n"
        "declare function open<S, T extends Item>(state: S, item: T): Store<S> & T\n"
        "function main(a, b) { const store = open(a, b)\nstore.«close»()\nstore.get().«name»() }\n"
        "function run<T extends Item>(item: T) { item.«name»() }\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 close", UNDECIDED, "a.ts:2 name"]


def test_components_are_called_and_tags_are_not() -> None:
    """A lower-case tag is HTML's."""
    text = "function Box() {}\nfunction div() {}\nconst view = <«Box»><div/></Box>\n"
    assert Project({"a.jsx": text}).answer() == "a.jsx:1 Box"


def test_a_member_that_begins_with_a_bracket_ends_the_one_before() -> None:
    """The grammar wants a semicolon there; nothing moves."""
    text = "interface A {\n  name: string\n  <T>(x: T): void\n  // more\n  (y: string): A\n  go(): void\n}\n"
    assert Project({"a.ts": text + "function run(a: A) { a.«go»() }\n"}).answer() == "a.ts:6 go"


def test_a_file_with_errors_proves_nothing() -> None:
    """What it does not export may be in what could not be read."""
    files = {"lib.js": "export function make() {}\n}}}(\n", "a.js": "import { other } from './lib'\n«other»()\n"}
    assert Project(files).answer() == UNDECIDED


def test_members_of_mapped_types_have_a_value_but_no_known_declaration() -> None:
    """Each stands for a member of another type; what it holds is known."""
    text = (
        "interface Job { run(): void }\ntype Jobs<T> = { [K in keyof T]: Job }\n"
        "function main(jobs: Jobs<unknown>) { jobs.first.«run»(); jobs.«first» }\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:1 run", UNDECIDED]


def test_an_element_of_a_list_is_what_the_list_holds() -> None:
    """By its place, in a pattern and in a loop."""
    text = """class Row { draw() {} }
function show(rows: Row[]) {
  rows[0].«draw»()
  const [first] = rows
  first.«draw»()
  for (const row of rows) row.«draw»()
}
"""
    assert Project({"a.ts": text}).answers() == ["a.ts:1 draw"] * 3


def test_a_mapped_type_has_the_members_of_the_other() -> None:
    """With its own values where it says them; what renames its members is not decided."""
    text = """interface Base { go(): void; next: Base }
type Same<T> = { readonly [K in keyof T]?: T[K] }
type Changed<T, U> = { [K in keyof T]: K extends keyof U ? U[K] : T[K] }
type Named<T> = { [K in keyof T as `get${K}`]: T[K] }
function use(same: Same<Base>, changed: Changed<Base, {}>, named: Named<Base>) {
  same.«go»()
  same.next.«go»()
  changed.«go»()
  changed.next.«go»()
  named.«go»()
}
"""
    found = ["a.ts:1 go"] * 3 + [UNDECIDED] * 2
    assert Project({"a.ts": text}).answers() == found


def test_a_parameter_with_a_modifier_is_a_field() -> None:
    """Of the class whose constructor has it; a plain parameter is none."""
    text = """class Store { get() {} }
class Service {
  constructor(private store: Store, readonly other = new Store(), plain: Store) {}
  run() { this.store.«get»(); this.other.«get»(); this.plain.«get»() }
}
"""
    assert Project({"a.ts": text}).answers() == ["a.ts:1 get", "a.ts:1 get", UNDECIDED]


def test_what_hooks_and_signals_hold_is_known() -> None:
    """Of the generic functions of common libraries; every other name of them is foreign."""
    text = """import * as React from 'react'
import Whole, { createContext, useContext, useOther, useRef, type FC } from 'react'
import { createSignal } from 'solid-js'
class Store { get() {} }
const Shared = createContext<Store | undefined>(undefined)
const View: FC<{ store: Store }> = ({ store }) => store.«get»()
class Page extends React.Component<{ store: Store }> { run() { this.props.store.«get»(); this.refs.«get»() } }
function use() {
  const [store] = React.useState(() => new Store())
  store.«get»()
  Whole.useMemo(() => store, []).«get»()
  useContext(Shared).«get»()
  useRef<Store>(null).current?.«get»()
  const [read] = createSignal(store)
  read().«get»()
  useOther().«get»()
  useOther(store).«get»()
}
"""
    at, foreign = "a.tsx:4 get", [OTHER, UNDECIDED]
    assert Project({"a.tsx": text}).answers() == [at, at, OTHER, *[at] * 5, *foreign]


def test_javascript_means_the_code_beside_a_declaration_file() -> None:
    """TypeScript means the declaration file, which has the types."""
    files = {
        "lib.js": "exports.make = function () {}\n",
        "lib.d.ts": "\nexport function make(): void\n",
        "a.js": "const lib = require('./lib')\nlib.«make»()\n",
        "a.ts": "import { make } from './lib'\n«make»()\n",
    }
    assert Project(files).answers() == ["lib.js:1 make", "lib.d.ts:2 make"]


def test_awaiting_a_call_with_type_arguments_is_a_call() -> None:
    """The grammar reads the call of what is awaited instead."""
    text = "class B { run() {} }\nasync function load<T>(): Promise<B> {}\n"
    text += "async function use() {\n  const b = await «load»<string>()\n  b.«run»()\n}\n"
    project = Project({"a.ts": text})
    assert project.answers() == ["a.ts:2 load", "a.ts:1 run"]
    assert [one.use for one in project.facts("a.ts").mentions if one.name == "load"] == ["call"]


def test_the_prototype_of_a_class_has_its_methods() -> None:
    """As an instance has them."""
    text = "class Store { get() {} static make() {} }\nStore.prototype.«get».call({})\nStore.«make»()\n"
    assert Project({"a.ts": text}).answers() == ["a.ts:1 get", "a.ts:1 make"]


def test_what_the_library_does_not_declare_is_foreign() -> None:
    """Its own functions and methods are never the project's of the same name."""
    text = """export function isArray() {}
class Store { all() {}; flat() {}; get() {} }
Array.«isArray»([])
Promise.«all»([])
const rows = [new Store()]
rows.«flat»()
rows.flat()[0].«get»()
"""
    assert Project({"a.ts": text}).answers() == [*[OTHER] * 3, UNDECIDED]


def test_a_member_beside_a_foreign_base_may_be_meant() -> None:
    """The foreign type may have it too, so it is not certain, and what it gives is unknown."""
    text = """import { Options } from 'lib'
interface Own { run(): Own }
interface Both extends Options, Own {}
function use(both: Both, own: Own) { both.run().«run»(); own.run() }
function choose(one: Both & { run(): Own }) { one.run().«run»() }
"""
    project = Project({"a.ts": text})
    assert project.answers() == [UNDECIDED, "a.ts:2 run"]
    found = Uses(project.search).of(project.named("run")).sites
    assert sorted((bool(site.target), site.is_certain) for site in found if site.mention.line == 4) == [
        (False, True),
        (True, False),
        (True, True),
    ]


def test_a_private_member_is_another_one_than_that_without_its_mark() -> None:
    """A class may have `value` and `#value`; whatever has the private one is of the class around, also unknown."""
    text = """class Box {
  #value = 1
  get value() { return this.«#value» }
  same(other) { return #value in other && other.«#value» === this.«value» }
}
new Box().«value»
"""
    found = Project({"a.js": text}).answers()
    assert found == ["a.js:2 #value", "a.js:2 #value", "a.js:3 value", "a.js:3 value"]


def test_a_parameter_property_is_a_field_of_the_class() -> None:
    """`constructor(private store: Store)` declares a member, and inside the constructor a variable besides."""
    text = """import { Store } from './lib.js'
class Box {
  constructor(private readonly store: Store, public size?: number) { store.«get»() }
  load() { this.«store».«get»(); return this.«size» }
}
"""
    found = Project({"lib.js": LIBRARY, "a.ts": text}).answers()
    assert found == ["lib.js:1 get", "a.ts:3 store", "lib.js:1 get", "a.ts:3 size"]


def test_a_function_that_is_only_called_is_confined_to_its_file() -> None:
    """What nothing exports, hands over or stores cannot be what another file calls on a value."""
    text = """function run() {}
run()
function given() {}
app.on('x', given)
function listed() {}
module.exports = { listed }
exports.written = function () {}
function outer() {
  function inner() {}
  inner()
}
"""
    project = Project({"a.js": text, "script.js": "function shared() {}\nshared()\n"})
    uses = Uses(project.search)
    confined = [
        one.name
        for path in ("a.js", "script.js")
        for number, one in enumerate(project.facts(path).declared)
        if uses.is_confined(SymbolId(path, number))
    ]
    assert confined == ["run", "outer", "inner"]


def test_what_is_no_function_or_is_asked_for_members_is_confined_to_its_file() -> None:
    """A file that requires modules is one, also if it exports nothing."""
    text = """const lib = require('./lib')
const count = 1
let turns = 1
turns = () => 2
function shown() { return [count, turns, lib] }
const child = lib.make()
child.run(shown.length)
const bound = lib.make()
lib.take(bound.bind(lib))
const stored = lib.make()
lib.take(stored)
"""
    project = Project(
        {"a.js": text, "lib.js": "exports.make = () => unknown\n", "b.js": "export const run = (x) => x.child()\n"}
    )
    uses = Uses(project.search)
    declared = enumerate(project.facts("a.js").declared)
    assert [one.name for number, one in declared if uses.is_confined(SymbolId("a.js", number))] == [
        "count",
        "shown",
        "child",
    ]
    (child,) = project.named("child")
    assert [uses.can_mean(site, child) for site in uses.of([child]).sites if site.path == "b.js"] == [False]


def test_modules_that_export_each_other_as_a_whole_mean_nothing_that_is_known() -> None:
    """And end no process."""
    files = {"a.js": "module.exports = require('./b')\n", "b.js": "module.exports = require('./a')\n"}
    assert Project(files | {"c.js": "const a = require('./a')\na.«run»()\n"}).answer() == UNDECIDED


def test_a_compiled_file_is_its_source() -> None:
    """Where the configuration says from which folder the compiler writes it, and it is not there itself."""
    files = {
        "tsconfig.json": '{"compilerOptions": {"outDir": "dist"}}',
        "src/index.ts": "export * from './deep/one'\n",
        "src/deep/one.ts": "export function one() {}\n",
        "test/a.ts": "import { one } from '../dist/index.js'\n«one»()\n",
        "test/b.ts": "import { two } from '../built/two.js'\n«two»()\n",
        "built/two.js": "export function two() {}\n",
        "src/two.ts": "export function two() {}\n",
    }
    assert Project(files).answers() == ["src/deep/one.ts:1 one", "built/two.js:1 two"]


def test_however_many_folders_compilers_write_few_are_looked_at() -> None:
    """What a file's imports read grows with their number, and not with that of the configurations."""
    options = '{"compilerOptions": {"outDir": ".", "rootDir": "s#"}}'
    files = {f"tsconfig.{number}.json": options.replace("#", str(number)) for number in range(100)}
    reads = Linker(Project({**files, "a.ts": "import { x } from './missing'\nx()\n"})).link("a.ts").of_imports
    assert len(reads) < 200


def test_packages_that_name_each_other_as_their_entries_end() -> None:
    """Neither is a file, so the import means none that is known."""
    files = {
        "a/package.json": '{"name": "a", "main": "../b"}',
        "b/package.json": '{"name": "b", "main": "../a"}',
        "c.ts": "import { x } from './a'\nx()\n",
    }
    assert Linker(Project(files)).link("c.ts").meanings == {"./a": "None"}


@pytest.mark.parametrize(
    ("imported", "base"),
    [
        ("import { EventEmitter } from 'events'", "EventEmitter"),
        ("import EventEmitter from 'events'", "EventEmitter"),
        ("import * as ev from 'events'", "ev.EventEmitter"),
        ("import { EventEmitter } from 'node:events'", "EventEmitter<{a: 1}>"),
        ("const EventEmitter = require('node:events')", "EventEmitter"),
        ("const { EventEmitter } = require('events')", "EventEmitter"),
        ("import stream from 'node:stream'", "stream.Duplex"),
        ("const { Transform } = require('stream')", "Transform"),
    ],
)
def test_a_method_of_a_library_that_gives_the_receiver_keeps_its_type(imported: str, base: str) -> None:
    """However the module is named and imported."""
    text = (
        f"{imported}\nclass A extends {base} {{ own() {{ return this }} add() {{}} }}\n"
        "const a = new A().on('x', run)\na.«own»()\na.once('x', run).off('y', run).«add»()\n"
        "function run(b: A) { b.own().removeAllListeners('x').«add»() }\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:2 own", "a.ts:2 add", "a.ts:2 add"]


def test_what_a_module_of_a_library_does_not_declare_is_foreign() -> None:
    """Also where one value is all that it exports; what it declares is known."""
    text = (
        "import { once, EventEmitter } from 'node:events'\nimport { pipeline, Readable } from 'stream'\n"
        "class A extends Readable { own() {} }\n«once»(new A(), 'x')\n«pipeline»(new A())\n"
        "function run(a: A, r: Readable) { r.setEncoding('').pipe(a).«own»() }\n"
    )
    assert Project({"a.ts": text}).answers() == [OTHER, OTHER, "a.ts:3 own"]


def test_a_result_may_hold_the_receiver() -> None:
    """`Promise<this>` of a type below is a promise of that, and so is a list."""
    text = (
        "class A { async next(): Promise<this> { return this }\n all(): this[] { return [this] } }\n"
        "class B extends A { own() {} }\n"
        "async function run(b: B) { (await b.next()).«own»(); b.all()[0].«own»(); b.next().then(c => c.«own»()) }\n"
    )
    assert Project({"a.ts": text}).answers() == ["a.ts:3 own"] * 3


DECLARED = {
    "map/index.js": "export const map = () => 1\n",
    "map/index.d.ts": "export type Key<T> = keyof T\nexport interface Map {}\nexport function map(): Map\n",
    "index.js": "export * from './map/index.js'\n",
    "index.d.ts": "export { map, Key } from './map/index.js'\n",
}


@pytest.mark.parametrize(
    ("path", "code", "found"),
    [
        ("life/index.d.ts", "import type { Key } from '../map/index.js'\nexport type On = «Key»<string>\n",
         "map/index.d.ts:1 Key"),
        ("life/index.d.ts", "import { Map } from '../map/index.js'\nexport interface Low extends «Map» {}\n",
         "map/index.d.ts:2 Map"),
        ("a.ts", "import { type Key } from './map/index.js'\nlet a: «Key»<string>\n", "map/index.d.ts:1 Key"),
        ("a.ts", "import type { Key } from './index.js'\nlet a: «Key»<string>\n", "map/index.d.ts:1 Key"),
        ("a.ts", "import { map } from './map/index.js'\n«map»()\n", "map/index.d.ts:3 map"),
        ("a.js", "import { map } from './map/index.js'\n«map»()\n", "map/index.js:1 map"),
    ],
)  # fmt: skip
def test_what_code_lacks_is_declared_beside_it(path: str, code: str, found: str) -> None:
    """`./map.js` means for TypeScript what `./map.d.ts` declares, and for JavaScript the code."""
    assert Project({**DECLARED, path: code}).answer() == found


@pytest.mark.parametrize(
    "code",
    [
        "let { size } = o; «size» = 5",
        "let { size: s } = o; «s»++",
        "let { size } = o; ({ «size» } = o)",
        "for (let { size } = o; size; «size» += 1) {}",
        "let { part } = require('./lib'); «part» = 1",
        "let lib = require('./lib'); «lib» = 1",
    ],
)
def test_a_variable_that_was_taken_out_of_a_value_is_written_alone(code: str) -> None:
    """Not the field whose value it had, nor what a module exports."""
    text = f"interface O {{ size: number }}\nfunction f(o: O) {{ {code} }}\n"
    project = Project({"lib.js": "module.exports = function lib() {}\nexports.part = () => 1\n", "a.ts": text})
    assert [site for name in ("size", "part", "lib") for site in Uses(project.search).of(project.named(name)).sites
            if site.mention.use == Use.WRITE] == []  # fmt: skip


BESIDE = {
    "lib.js": "export function build() { return new Own() }\nclass Own { go() {} end() {} }\n",
    "lib.d.ts": "export interface Made { go(): void; other(): void }\nexport function build(): Made\n",
    "a.ts": "import { build } from './lib.js'\nbuild().go()\n",
    "b.js": "import { build } from './lib.js'\nbuild().end()\n",
}


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("lib.d.ts", "build", {"a.ts:2 1"}),
        ("lib.d.ts", "go", {"a.ts:2 1"}),
        ("lib.js", "build", {"a.ts:2 0", "b.js:2 1"}),
        ("lib.js", "go", {"a.ts:2 0"}),
        ("lib.js", "end", {"b.js:2 1"}),
    ],
)
def test_what_typescript_calls_by_its_declaration_may_be_the_code_beside(
    path: str, name: str, expected: set[str]
) -> None:
    """The declaration is meant for certain; what runs as it has other names for its types."""
    project = Project(BESIDE)
    symbols = [symbol for symbol in project.named(name) if symbol.path == path]
    sites = Uses(project.search).of(symbols).sites
    calls = [site for site in sites if site.mention.use == Use.CALL]
    assert {f"{site.path}:{site.mention.line} {site.is_certain:d}" for site in calls} == expected


def test_what_the_code_beside_a_declaration_gives_may_be_unknown() -> None:
    """Then any member of that name may be meant, but none that is only declared."""
    code = "export function build(x) { return x.make() }\nclass Own { go() {} }\n"
    project = Project({**BESIDE, "lib.js": code})
    uses = Uses(project.search)
    found = {symbol.path: [site for site in uses.of([symbol]).sites if site.path == "a.ts"]
             for symbol in project.named("go")}  # fmt: skip
    (site,) = found["lib.js"]
    assert uses.can_mean(site, project.named("go")[0]) == (project.named("go")[0].path == "lib.js")
    assert [use.is_certain and bool(use.target) for use in found["lib.d.ts"]] == [True, False]


SPACE = (
    "declare function lib(): number\ndeclare namespace lib {\n  export interface Entry { id: string }\n"
    "  export function extra(): number\n}\nexport = lib\n"
)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import lib = require('./lib')\nlet a: lib.«Entry»\n", "lib.d.ts:3 Entry"),
        ("import { Entry } from './lib.js'\nlet a: «Entry»\n", "lib.d.ts:3 Entry"),
        ("import lib = require('./lib')\nlib.«extra»()\n", "lib.d.ts:4 extra"),
    ],
)
def test_a_namespace_adds_to_the_function_of_its_name(code: str, found: str) -> None:
    """Also where that is all that a module exports."""
    files = {"lib.js": "function lib() {}\nmodule.exports = lib\n", "lib.d.ts": SPACE, "a.ts": code}
    assert Project(files).answer() == found


def test_a_constant_and_a_namespace_of_one_name_are_both_meant() -> None:
    """The one as a value, the other for its types; what is only declared is defined."""
    declared = "declare const lib: { go(): void }\ndeclare namespace lib { interface Entry {} }\nexport = lib\n"
    code = "import lib = require('./lib')\nlib.«go»()\nlet a: lib.«Entry»\nexport declare const own: number\n«own»\n"
    assert Project({"lib.d.ts": declared, "a.ts": code}).answers() == [
        "lib.d.ts:1 go",
        "lib.d.ts:2 Entry",
        "a.ts:4 own",
    ]
