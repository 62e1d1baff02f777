"""What an import of JavaScript means where several packages have a name, or are built elsewhere."""

from pathlib import Path

import pytest

from graphrag_mcp.model.graph import Direction
from tests.graph.test_relations import rows

FILES = {
    "package.json": '{"name": "root", "private": true, "workspaces": ["packages/*"]}',
    "packages/core/package.json": """{"name": "acme", "main": "dist/index.js",
        "exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs"},
                    "./deep/*": "./dist/deep/*.js"}}""",
    "packages/core/src/index.ts": "export function make(n: number) { return n }\n",
    "packages/core/src/deep/one.ts": "export function deep() { return 1 }\n",
    "packages/built/package.json": '{"name": "built", "main": "out/js/main.js"}',
    "packages/built/tsconfig.json": '{"compilerOptions": {"outDir": "out/js", "rootDir": "source"}}',
    "packages/built/source/main.ts": "export function start() { return 1 }\n",
    "packages/app/package.json": '{"name": "app", "dependencies": {"acme": "workspace:*", "built": "workspace:*"}}',
    "packages/app/src/use.ts": """import { make } from 'acme'
import { deep } from 'acme/deep/one'
import { start } from 'built'
export const all = [make(1), deep(), start()]
""",
    "packages/built/tests/deep/use.ts": "import { start } from '../..'\nstart()\n",
    "packages/core/test/use.ts": "import * as acme from '..'\nimport { make } from '../'\nacme.make(make(1))\n",
    "test/a/b/fixture/package.json": '{"name": "acme", "main": "index.js"}',
    "test/a/b/fixture/index.js": "exports.make = function () { return 2 }\n",
    "test/a/b/fixture/own.js": "const { make } = require('acme')\nmake()\n",
}


@pytest.mark.parametrize(
    ("symbol", "line"),
    [
        ("packages/core/src/index.ts::make", "packages/app/src/use.ts:4 certain"),
        ("packages/core/src/index.ts::make", "packages/core/test/use.ts:3 certain"),
        ("start", "packages/built/tests/deep/use.ts:2 certain"),
        ("deep", "packages/app/src/use.ts:4 certain"),
        ("start", "packages/app/src/use.ts:4 certain"),
        ("test/a/b/fixture/index.js::make", "test/a/b/fixture/own.js:2 certain"),
    ],
)
def test_an_import_means_the_package_that_is_near(tmp_path: Path, symbol: str, line: str) -> None:
    """Not a fixture of its name further away; what is built is its source; a folder is the package in it."""
    assert line in rows(tmp_path, FILES, symbol, Direction.CALLERS)


def test_a_fixture_has_no_callers_outside_of_it(tmp_path: Path) -> None:
    """Those mean the real package."""
    found = rows(tmp_path, FILES, "test/a/b/fixture/index.js::make", Direction.CALLERS)
    assert {one.partition(":")[0] for one in found} == {"test/a/b/fixture/own.js"}
