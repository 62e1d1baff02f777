"""Calls of a function by other names than its own: exports, aliases, members and interfaces that stand for it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import ask, rows

FIELD = {"field.ts": "export default function renderField() {}\n"}


@pytest.mark.parametrize(
    ("files", "uses"),
    [
        ({"index.ts": "export { default as Field } from './field'"}, "import { Field } from './index'\nField()"),
        ({"index.ts": "import F from './field'\nexport { F as Field }"}, "import { Field } from './index'\nField()"),
        ({"index.ts": "export { default } from './field'"}, "import Field from './index'\nField()"),
        ({"index.ts": "export * as all from './field'"}, "import { all } from './index'\nall.default()"),
        (
            {"a.ts": "export { default as A } from './field'", "index.ts": "export { A as B } from './a'"},
            "import { B } from './index'\nB()",
        ),
        (
            {"a.ts": "export { default as A } from './field'", "index.ts": "export * from './a'"},
            "import { A } from './index'\nA()",
        ),
        ({}, "import one, { default as two } from './field'\ntwo()"),
        ({}, "import * as all from './field'\nall.default()"),
        ({}, "const all = await import('./field')\nall.default()"),
        ({}, "\nconst { default: other } = await import('./field'); other()"),
        ({}, "\nimport('./field').then((all) => all.default())"),
        ({}, "\nimport('./field').then(({ default: other }) => other())"),
    ],
)
def test_a_default_export_is_called_by_whatever_name_passes_it_on(
    tmp_path: Path, files: Mapping[str, str], uses: str
) -> None:
    """Another name for `default` in an export, a namespace or an import is a name of the function."""
    found = rows(tmp_path, {**FIELD, **files, "use.ts": uses + "\n"}, "renderField", Direction.CALLERS)
    assert "use.ts:2 certain" in found


@pytest.mark.parametrize(
    ("text", "name", "use"),
    [
        ("export default class View { go() {} }", "View", "const a = <Panel/>"),
        ("export default class View { go() {} }", "View.go", "new Panel().go()"),
        ("const run = () => 1\nexport default run", "run", "Panel()"),
        ("function run() {}\nexport { run as default }", "run", "Panel()"),
    ],
)
def test_a_class_or_constant_is_passed_on_under_another_name_too(
    tmp_path: Path, text: str, name: str, use: str
) -> None:
    """Creations, elements of JSX, and calls of what a constant holds."""
    files = {
        "view.tsx": text + "\n",
        "index.ts": "export { default as Panel } from './view'\n",
        "use.tsx": f"import {{ Panel }} from './index'\n{use}\n",
    }
    assert "use.tsx:2 certain" in rows(tmp_path, files, name, Direction.CALLERS)


@pytest.mark.parametrize(
    ("index", "use"),
    [
        ("module.exports = { Field: require('./c'), other: 1 }", "const { Field } = require('./index')\nField()"),
        ("exports.Field = require('./c')", "const all = require('./index')\nall.Field()"),
        ("const one = require('./c')\nmodule.exports.Field = one", "const { Field: f } = require('./index')\nf()"),
    ],
)
def test_a_module_of_commonjs_passes_on_what_another_is(tmp_path: Path, index: str, use: str) -> None:
    """The function that a module is becomes a member of another one."""
    files = {"c.js": "function one() {}\nmodule.exports = one\n", "index.js": index + "\n", "use.js": use + "\n"}
    assert "use.js:2 certain" in rows(tmp_path, files, "one", Direction.CALLERS)


IMPL = """export function one() {}
export const alias = one
export const api = { run: one }
export class Holder { run = one; static make = one }
"""


@pytest.mark.parametrize(
    ("use", "certainty"),
    [
        ("alias()", "certain"),
        ("api.run()", "certain"),
        ("const local = one; local()", "certain"),
        ("const { run } = api; run()", "certain"),
        ("const { run: other } = api; other()", "certain"),
        ("const copy = { ...api }; copy.run()", "certain"),
        ("const both = Object.assign({}, { go: one }); both.go()", "certain"),
        ("const bound = one.bind(null); bound()", "certain"),
        ("const deep = { a: { b: alias } }; deep.a.b()", "may call"),
        ("const either = x ? one : other; either()", "may call"),
        ("function f(call = one) { call() }", "may call"),
        ("function f(call: typeof one) { call() }", "may call"),
        ("new Holder().run()", "may call"),
        ("Holder.make()", "may call"),
    ],
)
def test_a_call_of_what_holds_a_function_is_one_of_it(tmp_path: Path, use: str, certainty: str) -> None:
    """It is certain where nothing else can be held, and may be one where a type, a default or a field says it."""
    use = f"import {{ one, alias, api, Holder }} from './impl'\nfunction other() {{}}\n{use}\n"
    found = ask(tmp_path, {"impl.ts": IMPL, "use.ts": use}, "one", Direction.CALLERS)
    calls = [
        step.edge.certainty for step in found.steps if step.edge.path == "use.ts" and step.edge.relation == "calls"
    ]
    assert calls == [certainty]


def test_a_name_that_holds_a_function_is_followed_from_file_to_file(tmp_path: Path) -> None:
    """It is exported, imported and renamed like the function itself."""
    files = {
        "impl.ts": IMPL,
        "far.ts": "export { alias as exported } from './impl'\n",
        "use.ts": "import { exported as here } from './far'\nimport * as all from './impl'\nhere()\nall.alias()\n",
    }
    found = rows(tmp_path, files, "one", Direction.CALLERS)
    assert found[-2:] == ["use.ts:3 certain", "use.ts:4 may call"]


PROVIDER = "export interface Provider { capture: (s: string) => string }\n"
RUN = "import type { Provider } from './prov'\nexport function extract(p: Provider) { return p.capture('') }\n"


@pytest.mark.parametrize(
    "code",
    [
        "export const cpp: Provider = { capture: own }",
        "export const cpp = { capture: own } satisfies Provider",
        "export function make(): Provider { return { capture: own } }",
        "function register(p: Provider) {}\nregister({ capture: own })",
        "export class Cpp implements Provider { capture = own }",
    ],
)
def test_a_function_that_a_field_holds_may_be_called_through_the_interface(tmp_path: Path, code: str) -> None:
    """The object or the class is expected to be what the interface says."""
    text = f"import type {{ Provider }} from './prov'\nexport function own(s: string) {{ return s }}\n{code}\n"
    files = {"prov.ts": PROVIDER, "cpp.ts": text, "run.ts": RUN}
    assert "run.ts:2 may call" in rows(tmp_path, files, "own", Direction.CALLERS)


def test_a_method_of_an_object_overrides_that_of_the_type_that_it_is_expected_to_be(tmp_path: Path) -> None:
    """Another object with such a method is not meant for certain, and is found by its name alone."""
    text = "import type { Provider } from './prov'\nexport const cpp: Provider = { capture(s) { return s } }\n"
    files = {"prov.ts": PROVIDER, "cpp.ts": text, "run.ts": RUN}
    assert rows(tmp_path, files, "cpp.capture", Direction.CALLERS) == ["run.ts:2 may call"]


GATE = """export interface Gate { lift(key: string): string }
export interface Wide extends Gate { size: number }
export type MakeGate = (options: number) => Gate
export type MakeOf<T> = (options: T) => Gate
export interface Yard { gate: Gate; all: Gate[] }
export function take(make: MakeGate) {}
"""
IMPORTS = "import { type Gate, type Wide, type MakeGate, type MakeOf, type Yard, take } from './gate'\n"


@pytest.mark.parametrize(
    "code",
    [
        "export const own: Gate = { lift(key) { return key } }",
        "export function make(): Gate { return { lift: (key) => key } }",
        "export const make: MakeGate = (options) => { return { lift(key) { return key } } }",
        "export const make: MakeGate = (options) => ({ lift(key) { return key } })",
        "export const make: MakeOf<number> = function (options) { return { lift(key) { return key } } }",
        "export const make: (options: number) => Gate = (options) => ({ lift(key) { return key } })",
        "take((options) => ({ lift(key) { return key } }))",
        "export const yard: Yard = { gate: { lift(key) { return key } }, all: [] }",
        "export const yard: Yard = { gate: null, all: [{ lift(key) { return key } }] }",
        "export const own = { lift(key) { return key } } satisfies Gate",
        "export const own: Wide = { size: 1, lift(key) { return key } }",
        "export class Own implements Gate { lift(key: string) { return key } }",
    ],
)
def test_an_object_implements_what_its_place_expects(tmp_path: Path, code: str) -> None:
    """Also where the type is that of a part of another, or of what a typed function gives."""
    files = {"gate.ts": GATE, "own.ts": IMPORTS + code + "\n"}
    assert rows(tmp_path, files, "Gate.lift", Direction.IMPLEMENTERS) == ["own.ts:2 certain"]
    assert "own.ts:2 certain" in rows(tmp_path, files, "Gate", Direction.IMPLEMENTERS)


@pytest.mark.parametrize(
    "code",
    [
        "export const own = { lift(key: string) { return key } }",
        "export const own: Other = { lift(key: string) { return key } }\ninterface Other { lift(key: string): string }",
        "export const all: Gate[] = []",
    ],
)
def test_an_object_whose_place_expects_something_else_implements_nothing_for_certain(tmp_path: Path, code: str) -> None:
    """To have the method is not enough to be sure."""
    files = {"gate.ts": GATE, "own.ts": IMPORTS + code + "\n"}
    assert "own.ts:2 certain" not in rows(tmp_path, files, "Gate.lift", Direction.IMPLEMENTERS)
    assert "own.ts:2 certain" not in rows(tmp_path, files, "Gate", Direction.IMPLEMENTERS)
