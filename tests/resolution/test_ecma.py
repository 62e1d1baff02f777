"""What names mean in JavaScript and TypeScript."""

from tests.resolution.projects import OTHER, Project

LIBRARY = "export class Store { get() { return this } }\nexport function make() { return new Store() }\n"


def test_a_name_of_a_block_hides_that_of_the_file() -> None:
    """A constant in a block is meant there, and the function of the file everywhere else."""
    text = "function run() {}\n{\n  const run = 1\n  «run»()\n}\n«run»()\n"
    assert Project({"a.js": text}).answers() == [OTHER, "a.js:1 run"]


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
