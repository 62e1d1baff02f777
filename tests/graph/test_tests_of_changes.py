"""Which tests a change reaches, and how they are run."""

import subprocess
from pathlib import Path

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.parsing.parser import parse_file
from graphrag_mcp.tools.impact import IMPACT
from graphrag_mcp.tools.trace_relations import TRACE
from tests.graph.test_unread import indexed

FILES = {
    "shop/price.py": "def price():\n    return 1\n",
    "tests/helpers.py": """from shop.price import price


def make():
    return price()


def build():
    return make()
""",
    "tests/test_price.py": "from tests.helpers import build\n\n\ndef test_price():\n    assert build() == 1\n",
}
DEEP = {
    "shop/price.py": """def price():
    return 1


def total():
    return price()


def bill():
    return total()
""",
    "tests/test_near.py": "from shop.price import price\n\n\ndef test_near():\n    assert price() == 1\n",
    "tests/test_far.py": "from shop.price import bill\n\n\ndef test_far():\n    assert bill() == 1\n",
}


JAVA = {
    "src/main/java/shop/Price.java": "package shop;\npublic class Price { public static int price() { return 1; } }\n",
    "src/test/java/shop/PriceTest.java": "package shop;\nimport org.junit.Test;\n"
    "public class PriceTest { @Test public void costs() { Price.price(); } }\n",
}


_AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def _impact(app: App, hops: int, symbol: str = "price") -> str:
    call = IMPACT.read({"symbol": symbol, "hops": hops}, app.settings, app.root)
    return IMPACT.write(app.ask(IMPACT.ask, call), call)


def test_what_helps_tests_costs_no_hop(tmp_path: Path) -> None:
    """However many helpers stand between a test and the code, it is as near as they are."""
    with indexed(tmp_path, FILES) as app:
        assert "pytest tests/test_price.py::test_price" in _impact(app, 1)


def test_where_the_walk_ends_whole_files_are_run(tmp_path: Path) -> None:
    """A test further away may be in the same file as one that is near."""
    with indexed(tmp_path, DEEP) as app:
        assert "pytest tests/test_near.py\n" in _impact(app, 1)
        assert "tests/test_near.py::test_near" in _impact(app, 3)


PAGES = {
    "src/price.ts": "export const price = () => 1\n",
    "test/e2e/page.tsx": "import { price } from '../../src/price'\n\nexport function Page() {\n  return price()\n}\n",
    "test/price.test.tsx": "import { price } from '../src/price'\n\nit('shows a price', () => {\n"
    "  const Shop = () => price()\n  render(Shop)\n  price()\n})\n",
}


def test_code_beside_tests_is_counted_and_run_as_none(tmp_path: Path) -> None:
    """Neither a page that a test visits nor a component in a test is one."""
    with indexed(tmp_path, PAGES) as app:
        said = _impact(app, 2)
    assert ", 1 test and 4 helpers of tests, in 2 files" in said
    assert "Test: npm test -- test/price.test.tsx\n" in said


def test_where_only_what_tests_read_is_reached_all_are_run(tmp_path: Path) -> None:
    """A file without a test runs nothing when a runner is given it."""
    with indexed(tmp_path, {path: text for path, text in PAGES.items() if path != "test/price.test.tsx"}) as app:
        assert "Test: npm test\n" in _impact(app, 2)


def test_a_method_of_a_class_of_tests_is_one_whatever_its_name(tmp_path: Path) -> None:
    """Beside one that is called so."""
    text = (
        "package shop;\npublic class PriceTest {\n  @Test public void testPrice() { Price.price(); }\n"
        "  @Test public void costs() { Price.price(); }\n}\n"
    )
    with indexed(tmp_path, JAVA | {"src/test/java/shop/PriceTest.java": text}) as app:
        assert "and 2 tests, in 1 file" in _impact(app, 1)


CARGO = {
    "src/lib.rs": "pub fn price() -> u32 {\n    1\n}\n",
    "tests/shop.rs": "#[test]\nfn costs_one() {\n    assert_eq!(shop::price(), 1);\n}\n",
}


def test_where_no_runner_is_known_each_function_of_tests_counts(tmp_path: Path) -> None:
    """A mark says what is a test, not a name."""
    with indexed(tmp_path, CARGO | {"Cargo.toml": '[package]\nname = "shop"\n'}) as app:
        assert "and 1 test, in 1 file" in _impact(app, 2)


@pytest.mark.parametrize(
    ("build", "command"),
    [("pom.xml", "mvn test -Dtest=PriceTest"), ("build.gradle.kts", "gradle test --tests PriceTest")],
)
def test_tests_are_run_with_the_build_tool_of_the_project(tmp_path: Path, build: str, command: str) -> None:
    with indexed(tmp_path, JAVA | {build: "plugins {}\n"}) as app:
        assert command in _impact(app, 1)


def test_a_method_that_no_test_reaches_has_the_tests_of_its_type(tmp_path: Path) -> None:
    """They are named, and run."""
    files = {
        "src/oven.py": "class Oven:\n    def heat(self): return self._glow()\n    def _glow(self): return 1\n",
        "src/bake.py": "def bake(oven):\n    return oven\n",
        "tests/test_oven.py": "from src.oven import Oven\n\ndef test_new():\n    assert Oven()\n",
    }
    with indexed(tmp_path, files) as app:
        said = _impact(app, 3, "Oven._glow")
    assert "and 0 tests, in 1 file (within 3 hops). 1 test reaches Oven: test_new.\n" in said
    assert "\nTest first: pytest tests/test_oven.py" in said


@pytest.mark.parametrize(
    ("scripts", "runner"),
    [
        ('{"test": "jest"}', "npm test --"),
        ('{"test": "pnpm test:unit && pnpm test:end", "test:unit": "vitest --run"}', "npm run test:unit --"),
        ('{"test": "turbo test"}', "npm test --"),
        ('{"test": "turbo test", "test:all": "cross-env A=1 mocha"}', "npm run test:all --"),
        ('{"test": "turbo test", "test;rm": "mocha"}', "npm test --"),
        (
            '{"test": "a && b", "test:unit": "vitest", "test:page": "ava -c ./test/x", "test:end": "jest -c end/x"}',
            "npm run test:page --",
        ),
        ('{"test": "tsx --test"}', "npm test --"),
        ('{"test": 3}', "npm test --"),
        ("[" * 10_000, "npm test --"),
    ],
)
def test_of_several_commands_the_one_is_called_that_runs_the_file(tmp_path: Path, scripts: str, runner: str) -> None:
    """`npm test -- FILE` gives the file to the last of them only."""
    with indexed(tmp_path, PAGES | {"package.json": f'{{"scripts": {scripts}}}'}) as app:
        assert f"Test: {runner} test/price.test.tsx\n" in _impact(app, 2)


def test_a_program_that_is_no_runner_is_given_no_file(tmp_path: Path) -> None:
    with indexed(tmp_path, PAGES | {"package.json": '{"scripts": {"test": "node index.test.js"}}'}) as app:
        assert "Test: npm test\n" in _impact(app, 2)


def test_a_file_that_is_called_like_an_option_is_run_as_a_file(tmp_path: Path) -> None:
    files = {
        "price.ts": "export function price() { return 1 }\n",
        "-x.test.ts": "import { price } from './price'\ntest('a b', () => { price() })\n",
    }
    with indexed(tmp_path, files) as app:
        assert "Test: npm test -- ./-x.test.ts\n" in _impact(app, 2)


CLOSURE = {
    "shop/door.py": """def join(name):
    return name


def driver():
    def path(key):
        return join(key)

    return {"get": lambda key: path(key)}
""",
    "tests/test_door.py": "from shop.door import driver\n\n\ndef test_get():\n    assert driver()['get']('a') == 'a'\n",
}


@pytest.mark.parametrize("symbol", ["join", "driver.path"])
def test_the_tests_of_a_function_run_what_is_defined_inside(tmp_path: Path, symbol: str) -> None:
    """What it returns keeps the function inside, and nothing names that again."""
    with indexed(tmp_path, CLOSURE) as app:
        said = _impact(app, 3, symbol)
    assert "tests/test_door.py:5  test_get calls driver (certain)" in said
    assert "pytest tests/test_door.py" in said


def test_tests_through_other_code_are_ordered_by_what_they_share_with_it(tmp_path: Path) -> None:
    """In their paths, too: which of many runs it, nobody knows."""
    files = {"shop/unpack_body.py": "def unpack():\n    return 1\n\n\ndef send():\n    return unpack()\n"}
    names = ["cart", "price", "unpack_body", "zone"]
    files |= {
        f"tests/test_{name}.py": f"from shop.unpack_body import send\n\n\ndef test_{number}():\n    send()\n"
        for number, name in enumerate(names)
    }
    with indexed(tmp_path, files) as app:
        call = TRACE.read({"symbol": "unpack", "direction": "tests"}, app.settings, app.root)
        said = TRACE.write(app.ask(TRACE.ask, call), call)
    assert next(line for line in said.splitlines() if line.startswith("tests/")) == "tests/test_unpack_body.py"


def test_a_difference_that_no_test_reaches_has_the_tests_of_its_type(tmp_path: Path) -> None:
    """As the impact of the definition has."""
    code = "class Box:\n    def open(self):\n        return self._read()\n"
    code += "\n    def _read(self):\n        return self._check()\n"
    code += "\n    def _check(self):\n        return 1\n"
    test = "from box import Box\n\n\ndef test_box():\n    assert Box().open()\n"
    with indexed(tmp_path, {"box.py": code, "tests/test_box.py": test}) as app:
        for command in (["init", "-q"], ["add", "."], [*_AUTHOR, "commit", "-qm", "a box"]):
            subprocess.run(["git", "-C", str(app.root), *command], check=True)
        (app.root / "box.py").write_text(code.replace("return 1", "return 2"))
        app.index()
        call = IMPACT.read({"base": "HEAD", "hops": 1}, app.settings, app.root)
        text = IMPACT.write(app.ask(IMPACT.ask, call), call)
    assert "Test (none within 1 hop; 1 test reaches Box: test_box): pytest tests/test_box.py" in text


def _tests_of(app: App, symbol: str) -> str:
    call = TRACE.read({"symbol": symbol, "direction": "tests"}, app.settings, app.root)
    return TRACE.write(app.ask(TRACE.ask, call), call)


def test_tests_that_start_the_program_are_found_by_their_names(tmp_path: Path) -> None:
    """Of the definition or of its type; short words are in many names, and who calls it needs no such hint."""
    code = "export function hashbang() {\n  return 1\n}\nexport class Bundler {\n  run() {\n    return 2\n  }\n}\n"
    runs = "import { exec } from 'child_process'\n\nit('has a hashbang', () => {\n  exec('bin')\n})\n"
    runs += "\nit('runs the Bundler', () => {\n  exec('bin')\n})\n"
    with indexed(tmp_path, {"src/main.ts": code, "test/cli.test.ts": runs}) as app:
        assert 'Tests named like it: "has a hashbang"  test/cli.test.ts:3-5.\n' in _tests_of(app, "hashbang")
        assert 'Tests named like it: "runs the Bundler"  test/cli.test.ts:7-9.\n' in _tests_of(app, "Bundler.run")
    calls = "import { hashbang } from '../src/main'\n\nit('is one', () => {\n  hashbang()\n})\n"
    with indexed(tmp_path, {"src/main.ts": code, "test/cli.test.ts": runs, "test/main.test.ts": calls}) as app:
        assert "named like it" not in _tests_of(app, "hashbang")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("run('a.global.js')", 'The text ".global.js", which is removed, is still at test.py:1.'),
        ("run('a.iife.js')", ""),
        ("\n".join(["x = '.global.js'"] * 31), ""),  # It is no name of anything.
    ],
)
def test_a_text_that_a_change_removes_is_looked_for_in_other_files(tmp_path: Path, other: str, said: str) -> None:
    """A test that starts the program depends on what that prints."""
    code = "def name():\n    return '.global.js' + '.map' + 'kept'\n\n\ndef other():\n    return 'kept'\n"
    with indexed(tmp_path, {"names.py": code, "test.py": f"{other}\nkept\n"}) as app:
        for command in (["init", "-q"], ["add", "."], [*_AUTHOR, "commit", "-qm", "names"]):
            subprocess.run(["git", "-C", str(app.root), *command], check=True)
        (app.root / "names.py").write_text(code.replace("'.global.js' + '.map' + 'kept'", "'.iife.js'"))
        app.index()
        call = IMPACT.read({"base": "HEAD"}, app.settings, app.root)
        text = IMPACT.write(app.ask(IMPACT.ask, call), call)
    assert said in text
    assert text.count("which is removed") == bool(said)


def test_go_runs_functions_with_the_prefix_of_a_test_in_files_of_tests(tmp_path: Path) -> None:
    """Neither a method of a type whose name begins so, nor a function in a folder that is called like tests."""
    files = {
        "go.mod": "module shop\n",
        "price.go": "package shop\n\nfunc Price() int { return 1 }\n",
        "price_test.go": 'package shop\n\nimport "testing"\n\ntype testShop struct{}\n\n'
        "func (s testShop) Ask() int { return Price() }\n\nfunc testing1() int { return Price() }\n\n"
        "func TestPrice(t *testing.T) { Price() }\n",
        "test/serve.go": 'package test\n\nimport "shop"\n\nfunc TestServe() { shop.Price() }\n',
    }
    with indexed(tmp_path, files) as app:
        said = _impact(app, 1, "Price")
    assert "1 test and 3 helpers of tests" in said
    assert "Test: go test -run '^(TestPrice)$' .\n" in said


@pytest.mark.parametrize(
    ("tests", "command"),
    [
        ("func BenchmarkPrice(b *testing.B) { Price() }\n", "go test -run '^$' -bench '^(BenchmarkPrice)$' ."),
        (
            "func BenchmarkPrice(b *testing.B) { Price() }\n\nfunc ExamplePrice() { Price() }\n",
            "go test -run '^(ExamplePrice)$' -bench '^(BenchmarkPrice)$' .",
        ),
    ],
)
def test_go_starts_benchmarks_by_an_option_of_their_own(tmp_path: Path, tests: str, command: str) -> None:
    """`go test -run '^(BenchmarkPrice)$'` runs nothing, and says that all is well."""
    files = {
        "go.mod": "module shop\n",
        "price.go": "package shop\n\nfunc Price() int { return 1 }\n",
        "price_test.go": f'package shop\n\nimport "testing"\n\n{tests}',
    }
    with indexed(tmp_path, files) as app:
        assert f"Test: {command}\n" in _impact(app, 1, "Price")


CALLED_SO = {
    "src/IFeed.cs": "public interface IFeed { void Publish(int one); }\n",
    "src/Desk.cs": "public class Desk { public void Send(IFeed feed) { feed.Publish(1); } }\n",
    "test/PublishTests.cs": "public class PublishTests {\n  class Slow : IFeed { public void Publish(int one) { } }\n"
    "  [Fact] public void Sends() { new Slow().Publish(1); }\n}\n",
    "test/OtherTests.cs": "public class OtherTests { [Fact] public void Marks() { Scan(typeof(PublishTests)); } }\n",
}


def test_who_uses_a_type_that_is_called_like_a_test_runs_nothing(tmp_path: Path) -> None:
    """Nor is a file or a type a test of what it defines itself; what calls it is, and a member of it helps."""
    with indexed(tmp_path, CALLED_SO) as app:
        said, traced = _impact(app, 3, "IFeed.Publish"), _tests_of(app, "IFeed.Publish")
    assert "PublishTests.Sends" in said
    for text in (said, traced):
        assert "OtherTests" not in text
        assert "(the file)" not in text
    assert "1 test and 1 helper of tests" in said


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/CartTest.php", "<?php\nclass CartTest extends TestCase {\n  function testIt() { new Cart(); }\n}\n"),
        ("tests/CartTests.cs", "public class CartTests { [Fact] public void Works() { new Cart(); } }\n"),
    ],
)
def test_a_file_is_no_helper_of_tests_by_its_name(tmp_path: Path, path: str, text: str) -> None:
    """What it defines is."""
    code = {"src/Cart.php": "<?php\nclass Cart { }\n", "src/Cart.cs": "public class Cart { }\n"}
    with indexed(tmp_path, {path: text} | code) as app:
        said = _tests_of(app, f"src/Cart{Path(path).suffix}::Cart")
    assert "1 test" in said
    assert "(the file)" not in said


def test_where_no_test_reaches_a_function_those_of_the_types_around_its_callers_do(tmp_path: Path) -> None:
    """The nearest ones."""
    files = {
        "src/Order.cs": "public static class Order { public static int Sort(int one) { return one; } }\n",
        "src/Stage.cs": "public class Stage { public int Handle() { return Order.Sort(1); } }\n",
        "src/Whole.cs": "public class Whole { public int Go() { return new Stage().Handle(); } }\n",
        "test/StageTests.cs": "public class StageTests {\n  [Fact] public void Runs() { Add(typeof(Stage)); }\n}\n",
        "test/WholeTests.cs": "public class WholeTests {\n  [Fact] public void Runs() { Add(typeof(Whole)); }\n}\n",
    }
    with indexed(tmp_path, files) as app:
        assert " 1 test reaches Stage: StageTests.Runs.\n" in _impact(app, 3, "Order.Sort")


MARKED = {
    "a.cs": (
        "src/Price.cs",
        "public class Price { public static int Total() { return 1; } }\n",
        "test/PriceTests.cs",
        (
            "public class PriceTests {\n  private int Helps() { return Price.Total(); }\n"
            '  [Category("x"), Xunit.Fact]\n  public void Costs() { Helps(); }\n'
            "  [TestCase(1)]\n  public void Adds(int one) { Price.Total(); }\n}\n"
        ),
        "Price.Total",
        ("[Fact] public void Costs()", "[TestCase] public void Adds(int one)"),
    ),
    "a.kt": (
        "src/main/Price.kt",
        "fun total(): Int = 1\n",
        "src/test/PriceTest.kt",
        (
            "class PriceTest {\n  fun helps() = total()\n  @Test fun costs() { helps() }\n"
            "  @ParameterizedTest\n  fun adds() { total() }\n}\n"
        ),
        "total",
        ("@Test fun costs()", "@ParameterizedTest fun adds()"),
    ),
    "a.rs": (
        "src/lib.rs",
        "pub fn total() -> u8 { 1 }\n",
        "tests/price.rs",
        (
            "use shop::total;\nfn helps() -> u8 { total() }\n\n#[test]\nfn costs() { helps(); }\n\n"
            "#[tokio::test]\nasync fn adds() { total(); }\n"
        ),
        "total",
        ("#[test] fn costs()", "#[test] async fn adds()"),
    ),
    "a.php": (
        "src/price.php",
        "<?php\nfunction total() { return 1; }\n",
        "tests/PriceTest.php",
        (
            "<?php\nclass PriceTest {\n  function helps() { return total(); }\n"
            "  #[Test]\n  public function costs() { $this->helps(); }\n"
            "  #[PHPUnit\\Test]\n  public function adds() { total(); }\n}\n"
        ),
        "total",
        ("#[Test] public function costs()", "#[Test] public function adds()"),
    ),
    "A.java": (
        "src/main/java/shop/Price.java",
        "package shop;\npublic class Price { public static int total() { return 1; } }\n",
        "src/test/java/shop/PriceTest.java",
        (
            "package shop;\npublic class PriceTest {\n  int helps() { return Price.total(); }\n"
            "  @Test(timeout = 1) public void costs() { helps(); }\n"
            "  @org.junit.Test\n  public void adds() { Price.total(); }\n}\n"
        ),
        "Price.total",
        ("@Test(timeout = 1) public void costs()", "@Test public void adds()"),
    ),
}


@pytest.mark.parametrize("language", MARKED)
def test_beside_functions_that_a_mark_makes_tests_others_help(tmp_path: Path, language: str) -> None:
    """Whatever the file and the type around them are called."""
    path, code, test_path, tests, symbol, signatures = MARKED[language]
    with indexed(tmp_path, {path: code, test_path: tests}) as app:
        said, traced = _impact(app, 3, symbol), _tests_of(app, symbol)
        found = [symbol.signature for symbol in parse_file(test_path, tests.encode()).symbols]
    rows = [line.split() for line in said.splitlines() if line.startswith(("test ", "helper "))]
    kinds = {row[3].rpartition(".")[2].lower(): row[0] for row in rows}
    assert [kinds[name] for name in ("helps", "costs", "adds")] == ["helper", "test", "test"]
    assert "2 tests and " in said
    assert "2 tests and " in traced
    assert set(signatures) <= set(found)


def test_a_function_that_runs_the_tests_of_its_file_may_be_one(tmp_path: Path) -> None:
    """In C no runner says which it starts."""
    files = {
        "src/price.h": "int total(int one);\n",
        "src/price.c": '#include "price.h"\nint total(int one) { return one; }\n',
        "tests/test_price.c": '#include "../src/price.h"\nstatic void test_zero() { total(0); }\n\n'
        "static void run_tests() {\n  test_zero();\n  total(1);\n}\n\nint main() { run_tests(); return 0; }\n",
        "tests/check.c": '#include "../src/price.h"\nstatic void adds() { total(0); }\n\n'
        "static void run_tests() { adds(); }\n",
    }
    with indexed(tmp_path, files) as app:
        said = _impact(app, 1, "total")
    assert "test 1. tests/test_price.c:2 " in said
    assert "test 1. tests/test_price.c:6 " in said


def test_of_tests_that_are_reached_by_name_only_the_first_are_listed(tmp_path: Path) -> None:
    """After those that certainly reach the code; a higher limit lists all."""
    tests = "".join(f"  [Fact] public void Does{index}(dynamic it) {{ it.Total(); }}\n" for index in range(14))
    files = {
        "src/Price.cs": "public class Price { public int Total() { return 1; } }\n",
        "test/ATests.cs": f"public class ATests {{\n{tests}}}\n",
        "test/PriceTests.cs": "public class PriceTests { [Fact] public void Sure(Price it) { it.Total(); } }\n",
    }
    with indexed(tmp_path, files) as app:
        said = _impact(app, 1, "Price.Total")
        call = IMPACT.read({"symbol": "Price.Total", "limit": 500}, app.settings, app.root)
        every = IMPACT.write(app.ask(IMPACT.ask, call), call)
    first = next(line for line in said.splitlines() if line.startswith("test "))
    assert "PriceTests.Sure" in first
    assert said.count("\ntest ") == 11
    assert "4 more tests are reached by name only: limit=500 lists them." in said
    assert every.count("\ntest ") == 15
    assert "reached by name only" not in every


def test_a_definition_that_calls_certainly_and_by_name_counts_once(tmp_path: Path) -> None:
    """As certain, so that the parts are as many as the whole."""
    files = {
        "Price.cs": "public class Price { public int Total() { return 1; } }\n",
        "Use.cs": "public class Use {\n  void Both(Price one, dynamic two) {\n    one.Total();\n    two.Total();\n  }\n"
        "  void Doubtful(dynamic two) { two.Total(); }\n}\n",
    }
    with indexed(tmp_path, files) as app:
        call = TRACE.read({"symbol": "Price.Total"}, app.settings, app.root)
        said = TRACE.write(app.ask(TRACE.ask, call), call)
    assert said.startswith("2 callers of ")
    assert "1 certain, 1 by name only." in said.partition("\n")[0]


def test_a_mark_is_that_of_the_function_behind_it(tmp_path: Path) -> None:
    """Also where another one stands on the same line."""
    files = {
        "src/Go.cs": "public class Go { public static void Run() { } }\n",
        "test/GoTests.cs": "public class GoTests {\n"
        "  [Fact] public void A() { Help(); } public void Help() { Go.Run(); }\n}\n",
    }
    with indexed(tmp_path, files) as app:
        call = TRACE.read({"symbol": "Go.Run", "direction": "tests"}, app.settings, app.root)
        said = TRACE.write(app.ask(TRACE.ask, call), call)
    assert said.startswith("1 test and 1 helper of tests")
