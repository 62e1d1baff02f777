"""Exact answers as text and as JSON: within their budget, of the paths that are asked for, and never half true."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.excerpts import room_of
from graphrag_mcp.tools.table import TOOLS
from tests.indexed import indexed

CALLERS = 300


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One function that hundreds call, and one that calls hundreds that are not here."""
    folder = tmp_path_factory.mktemp("answers")
    root = folder / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "base.py").write_text("def needle():\n    return 1\n")
    callers = "".join(f"def caller_{number}():\n    return needle()\n\n\n" for number in range(CALLERS))
    (root / "src" / "callers.py").write_text(f"from src.base import needle\n\n\n{callers}")
    calls = "".join(f"    elsewhere_{number}()\n" for number in range(400))
    (root / "src" / "far.py").write_text(f"def far():\n{calls}")
    for kind in range(9):
        (root / "src" / f"kind_{kind}.py").write_text(f"class Kind{kind}:\n    def load(self):\n        return self\n")
    (root / "src" / "user.py").write_text("def use(kind):\n    return kind.load()\n")
    turns = "".join(f"def turn_{number}(wheel):\n    return wheel.turn()\n\n\n" for number in range(9))
    wheels = "".join(f"class {name}:\n    def turn(self):\n        return self\n\n\n" for name in ("Wheel", "Key"))
    (root / "src" / "wheels.py").write_text(wheels + turns)
    (root / "src" / "plot.ts").write_text("export function plot(a: A): B\n" * 12)
    (root / "src" / "box.py").write_text("class Box: ...\n\n\ndef weigh(box: Box):\n    return 1\n")
    (root / "src" / "limits.py").write_text("MOST_ROWS = 9\n\n\ndef rows():\n    return MOST_ROWS\n")
    (root / "src" / "limits.rb").write_text("FEWEST_ROWS = 1\n\ndef rows_of\n  FEWEST_ROWS\nend\n")
    chain = "".join(f"def step_{n}():\n    return step_{n + 1}()\n\n\n" for n in range(4))
    (root / "src" / "chain.py").write_text(
        f"{chain}def step_4():\n    return twice() + twice()\n\n\ndef twice():\n    return 1\n"
    )
    (root / "src" / "again.py").write_text(
        "from src.chain import twice\n\n\ndef again():\n    a = twice()\n    return a + twice()\n"
    )
    (root / "tests").mkdir()
    (root / "tests" / "test_chain.py").write_text("from src.chain import step_0\n\n\ndef test_it():\n    step_0()\n")
    (root / "dist.js").write_text("x=1;" * 100 + "hidden_word();\n")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data")}))) as opened:
        opened.index()
        yield opened


def ask(app: App, tool: str, **arguments: object) -> str:
    """Return what the tool answers."""
    call = TOOLS[tool].read(arguments, app.settings, app.root)
    return TOOLS[tool].write(app.ask(TOOLS[tool].ask, call), call)


def find_key(value: Any, key: str) -> Iterator[Any]:
    """Yield every value that JSON has under a key, at any depth."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    yield from (value[key] for _ in [key] if isinstance(value, dict) and key in value)
    for one in inner:
        yield from find_key(one, key)


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("tokens", [2_000, 6_000])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_symbol", {"symbol": "needle"}),
        ("trace_relations", {"symbol": "needle", "direction": "callers", "limit": 200}),
        ("trace_relations", {"symbol": "far", "direction": "callees"}),
        ("impact", {"symbol": "needle", "limit": 200}),
        ("find_occurrences", {"text": "needle", "limit": 200}),
    ],
)
def test_json_stays_within_its_budget(app: App, tool: str, arguments: dict[str, Any], tokens: int) -> None:
    """Lists are cut, their totals are shown, and the cursor continues them."""
    text = ask(app, tool, **arguments, response_format="json", token_budget=tokens)
    answer = json.loads(text)
    assert len(text) <= room_of(tokens)
    assert answer["rows"] or answer["stops_total"] == 400
    if tool == "find_symbol":
        assert answer["rows"][0]["used_total"] >= CALLERS
    elif answer["rows"]:
        assert answer["total"] >= CALLERS
        assert answer["cursor"].startswith(f"{len(answer['rows'])}-")


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("path", [".", "./", "/src", "src", "./src/", "src/../src", "ROOT", "ROOT/src"])
def test_paths_are_taken_however_they_are_written(app: App, path: str) -> None:
    """A complete answer must not say that there is nothing where there is."""
    text = ask(app, "find_occurrences", text="needle", paths=[path.replace("ROOT", str(app.root))])
    assert text.startswith(f"{CALLERS + 2:,} lines of ")


@pytest.mark.requirement("P-1")
def test_a_path_that_nothing_can_be_found_in_is_said(app: App) -> None:
    """None outside the root, and none that is not indexed."""
    with pytest.raises(RequestError, match="outside the project root"):
        ask(app, "find_occurrences", text="needle", paths=["../other"])
    with pytest.raises(RequestError, match=r"'scr' matches no indexed file; did you mean src\? The folders at the top"):
        ask(app, "find_occurrences", text="needle", paths=["src", "scr"])


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize("response_format", ["detailed", "json"])
def test_a_long_line_is_shown_where_it_holds_the_text(app: App, response_format: str) -> None:
    """Its beginning tells nothing."""
    assert "hidden_word" in ask(app, "find_occurrences", text="hidden_word", response_format=response_format)


@pytest.mark.requirement("P-1")
def test_no_tests_are_announced_where_there_are_none(app: App) -> None:
    """What follows would be taken for them."""
    assert "Tests to run first" not in ask(app, "impact", symbol="needle")


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize(
    ("tool", "arguments", "beginning"),
    [
        ("find_symbol", {"symbol": "Kind3.load"}, "src/kind_3.py:2-3  Kind3.load (method)"),
        (
            "trace_relations",
            {"symbol": "Kind3.load", "direction": "tests"},
            "No certain tests within 2 hops of src/kind_3.py",
        ),
        ("impact", {"symbol": "src/kind_3.py::load"}, "No certain dependants of src/kind_3.py:2-3  Kind3.load."),
    ],
)
def test_lines_that_may_mean_a_definition_are_counted_where_none_certainly_does(
    app: App, tool: str, arguments: dict[str, Any], beginning: str
) -> None:
    """So that an empty list is not taken for proof that there are none."""
    text = ask(app, tool, **arguments)
    assert text.startswith(beginning)
    assert "1 more place of `load` with an unknown receiver: src/user.py:2." in text
    assert "Complete" not in text
    ([place],) = find_key(json.loads(ask(app, tool, **arguments, response_format="json")), "undecided")
    assert place == "src/user.py:2"


@pytest.mark.parametrize(
    ("tool", "how"), [("trace_relations", "unresolved=true"), ("impact", "trace_relations unresolved=true")]
)
def test_many_places_that_are_not_decided_are_listed_on_request(app: App, tool: str, how: str) -> None:
    """A few are named at once."""
    text = ask(app, tool, symbol="Wheel.turn")
    assert f"9 more places of `turn` with an unknown receiver ({how} lists them)." in text


@pytest.mark.requirement("P-1")
@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("find_symbol", {"symbol": "far"}, "no references"),
        ("trace_relations", {"symbol": "far"}, "No callers of src/far.py:1-401  far."),
        (
            "trace_relations",
            {"symbol": "far", "direction": "tests"},
            "No tests within 2 hops of src/far.py:1-401  far.",
        ),
        ("trace_relations", {"symbol": "Box", "direction": "subclasses"}, "No subclasses of src/box.py:1-1  Box."),
        ("impact", {"symbol": "far"}, "No dependants of src/far.py:1-401  far."),
    ],
)
def test_none_is_said_where_no_line_can_mean_the_definition(
    app: App, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    """Nothing of that name was left out."""
    text = ask(app, tool, **arguments)
    assert sentence in text
    assert "Complete." in text


@pytest.mark.parametrize("tool", ["find_symbol", "impact", "trace_relations"])
def test_of_a_value_its_readers_are_listed_or_said_not_to_be_recorded(app: App, tool: str) -> None:
    """An answer without uses would be taken for proof that it can be deleted."""
    assert "rows" in ask(app, tool, symbol="MOST_ROWS")
    text = ask(app, tool, symbol="FEWEST_ROWS")
    assert "recorded in this language" in text
    assert "Complete" not in text


@pytest.mark.requirement("P-1")
def test_overloads_are_listed_together(app: App) -> None:
    """With one list of uses, of limited length."""
    text = ask(app, "find_symbol", symbol="plot")
    assert text.count("plot.ts:") == 8
    assert "... 4 more of that name" in text
    assert text.count("no references") == 1
    (row,) = json.loads(ask(app, "find_symbol", symbol="plot", response_format="json"))["rows"]
    assert (len(row["also"]), row["doubt"]["undecided"]) == (11, [])


@pytest.mark.requirement("P-1")
def test_who_names_a_type_uses_it(app: App) -> None:
    """A type has no callers; a test of it is listed as one."""
    assert "box.py:4  weigh uses it (certain)" in ask(app, "find_symbol", symbol="Box")
    assert "src/box.py\n  4 (uses): def weigh(box: Box):" in ask(app, "trace_relations", symbol="Box")
    assert "box.py:4  weigh uses Box (certain)" in ask(app, "impact", symbol="Box")


def test_as_many_paths_as_a_list_may_have_are_searched(app: App) -> None:
    """A condition for each is no more than SQLite takes."""
    paths = [f"src/**/*[!{number}]*.py" for number in range(199)] + ["src"]
    assert ask(app, "find_occurrences", text="needle", paths=paths).startswith("302 lines of ")


@pytest.mark.parametrize("arguments", [{}, {"unresolved": True}, {"direction": "users"}])
def test_what_is_listed_by_name_is_still_not_known(app: App, arguments: dict[str, Any]) -> None:
    """To list the places decides none of them; where none is certain, a few are listed without being asked for."""
    text = ask(app, "trace_relations", symbol="Kind3.load", **arguments)
    assert text.startswith("No certain ") and "Kind3.load; 1 by name only." in text
    assert "by name only)\n    2: return kind.load()" in text
    assert text.endswith("1 place of `load` by name only, since the receiver is unknown.")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_symbol", {"symbol": "twice"}),
        ("find_symbol", {"symbol": "twice", "body": True}),
        ("impact", {"symbol": "twice", "hops": 1}),
        ("trace_relations", {"symbol": "twice"}),
    ],
)
def test_every_line_that_uses_a_definition_is_named(app: App, tool: str, arguments: dict[str, Any]) -> None:
    """Who changes its parameters has to edit both calls of one function, not only the first."""
    text = ask(app, tool, **arguments)
    if tool == "trace_relations":
        assert "    5: a = twice()\n    6: return a + twice()" in text
    else:
        assert "src/again.py:5, 6" in text


def test_a_type_is_found_with_the_names_of_its_members(app: App) -> None:
    """Each with its line."""
    assert "   members: load:2\n" in ask(app, "find_symbol", symbol="src/kind_3.py::Kind3")


@pytest.mark.parametrize(("symbol", "ending"), [("step_4", "hops=4 looks further."), ("far", "Complete.")])
def test_no_test_is_said_of_the_hops_that_were_followed(app: App, symbol: str, ending: str) -> None:
    """A test may reach it by more of them, unless nothing calls it."""
    text = ask(app, "trace_relations", symbol=symbol, direction="tests", hops=2)
    assert text.startswith("No tests within 2 hops")
    assert text.endswith(ending)


@pytest.mark.parametrize(
    ("symbol", "hops", "ending"),
    [
        ("twice", 1, "More may depend on it by more hops: hops=4 looks further."),
        ("twice", 4, "More may depend on it by more than 4 hops, which are not followed."),
        ("step_1", 4, "Complete."),
    ],
)
def test_an_impact_is_complete_only_where_nothing_leads_further(app: App, symbol: str, hops: int, ending: str) -> None:
    """What was reached last may be called by others."""
    assert ask(app, "impact", symbol=symbol, hops=hops).endswith(ending)


def test_a_test_that_is_found_is_not_said_to_be_the_only_one(tmp_path: Path) -> None:
    """Another may reach the definition by more hops."""
    (tmp_path / "a.py").write_text(
        "def low():\n    return 1\n\n\ndef middle():\n    return low()\n\n\ndef high():\n    return middle()\n"
    )
    (tmp_path / "test_a.py").write_text("from a import low\n\n\ndef test_low():\n    assert low()\n")
    (tmp_path / "test_b.py").write_text("from a import high\n\n\ndef test_high():\n    assert high()\n")
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as opened:
        opened.index()
        near = ask(opened, "trace_relations", symbol="low", direction="tests", hops=2)
        assert "test_low" in near and near.endswith("More tests may reach it by more hops: hops=4 looks further.")
        far = ask(opened, "trace_relations", symbol="low", direction="tests", hops=4)
        assert "test_high" in far and far.endswith("Complete.")
        assert ask(opened, "trace_relations", symbol="low", direction="tests") == far  # One test nearby is few.


@pytest.mark.parametrize(
    ("direction", "hops", "first"),
    [
        ("subclasses", None, "3 subclasses of shop.py:1-3  Store"),
        ("subclasses", 1, "1 direct subclass of shop.py:1-3  Store"),
        ("overrides", None, "2 overrides of shop.py:2-3  Store.keep"),
        ("superclasses", None, "3 superclasses of shop.py:16-17  Fast"),
        ("callers", None, "1 caller of shop.py:2-3  Store.keep"),
    ],
)
def test_all_levels_of_types_are_listed_unless_a_number_is_given(
    tmp_path: Path, direction: str, hops: int | None, first: str
) -> None:
    """And how each is below another; who calls what calls it is asked for by a number."""
    code = """\
class Store:
    def keep(self):
        return 1


class Based(Store):
    def keep(self):
        return 2


class Slow(Based):
    def keep(self):
        return 3


class Fast(Slow):
    pass


def use(store: Store):
    return store.keep()


def use_twice(store: Store):
    return use(store) + use(store)
"""
    (tmp_path / "shop.py").write_text(code)
    symbol = first.rpartition("  ")[2]
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as opened:
        opened.index()
        limit = {"hops": hops} if hops else {}
        text = ask(opened, "trace_relations", symbol=symbol, direction=direction, **limit)
    assert text.startswith(first)
    assert ("(below Slow)" in text) == (direction == "subclasses" and hops is None)


def test_of_a_name_from_elsewhere_the_lines_that_name_it_are_told(app: App) -> None:
    """Nothing here defines it, but what uses it is the next question."""
    with pytest.raises(RequestError, match=r"defines 'elsewhere_7'; 1 line names it: src/far\.py:9$"):
        ask(app, "find_symbol", symbol="elsewhere_7")
    with pytest.raises(RequestError, match=r"'elsewhere', and no file is called that"):
        ask(app, "trace_relations", symbol="elsewhere")


def test_a_constant_is_shown_with_its_value(tmp_path: Path) -> None:
    """Where it has several lines, since the name alone is known."""
    rows = "".join(f'    "{n}": {n},\n' for n in range(3))
    long = "".join(f"    {n},\n" for n in range(20))
    (tmp_path / "a.py").write_text(f"SHORT = 1\nTABLE = {{\n{rows}}}\nLONG = (\n{long})\n")
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as opened:
        opened.index()
        assert '   3 |     "0": 0,\n' in ask(opened, "find_symbol", symbol="TABLE")
        assert "   ... to line 28\n" in ask(opened, "find_symbol", symbol="LONG")
        assert " | " not in ask(opened, "find_symbol", symbol="SHORT")


def test_a_file_has_its_outline(tmp_path: Path) -> None:
    """With what imports it; that its name is also a word elsewhere says nothing."""
    (tmp_path / "base.py").write_text("class Base:\n    def run(self):\n        return 1\n")
    (tmp_path / "use.py").write_text("import base\n\nbase_value = 1\nprint(base.Base(), 'base', base_value)\n")
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as opened:
        opened.index()
        text = ask(opened, "find_symbol", symbol="base.py")
        assert text.startswith(
            "base.py\n  1-3  > class Base\n    2-3  > def run(self)\n   imported 1 time in 1 file:\n"
        )
        assert "of that name" not in text
        payload = json.loads(ask(opened, "find_symbol", symbol="base.py", response_format="json"))
        assert [member["symbol"] for member in payload["rows"][0]["members"]] == ["Base", "Base.run"]


def test_lines_of_generated_code_are_counted(tmp_path: Path) -> None:
    """One function with thousands of calls does not fill an answer."""
    (tmp_path / "a.py").write_text("def base():\n    return 1\n\n\ndef all_of():\n" + "    base()\n" * 5_000)
    with closing(App(tmp_path, load_settings(tmp_path, {"GRAPHRAG_DATA_DIR": str(tmp_path / "data")}))) as opened:
        opened.index()
        for tool in ("find_symbol", "trace_relations", "impact"):
            text = ask(opened, tool, symbol="base")
            assert re.search(r"and 4,[89]\d\d more", text)
            assert len(text) < 3_000


FOREIGN = {
    "thrown.py": "class Refused(Exception):\n    pass\n\n\ndef exception():\n    return Exception\n",
    "Task.java": "class Task implements Runnable {\n  Exception runnable;\n  public void run() {}\n}\n",
    "thrown.ts": "export class Lost extends Error {\n  error = 1\n}\nexport const one = new Error('two')\n",
    "shape.rs": "struct Shape;\n\nimpl fmt::Display for Shape {\n}\nfn display() {}\n",
    "Cart.php": "<?php\nclass Cart implements \\Countable {\n  function countable() {}\n}\n",
    "trip.go": 'package p\n\nimport "net/http"\n\ntype Trip struct{}\n\n'
    "func (t *Trip) RoundTrip(r *http.Request) (*http.Response, error) { return nil, nil }\n",
    "Trip.java": "class Trips {\n  Response RoundTrip(Request r) { return null; }\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "below"),
    [
        ("Exception", "subclasses", "thrown.py\n  1: class Refused(Exception):"),
        ("Runnable", "implementers", "Task.java\n  1: class Task implements Runnable {"),
        ("java.lang.Runnable", "implementers", "Task.java\n  1: class Task implements Runnable {"),
        ("Error", "subclasses", "thrown.ts\n  1: export class Lost extends Error {"),
        ("Display", "implementers", "shape.rs\n  Shape\n    3: impl fmt::Display for Shape {"),
        ("Countable", "implementers", "Cart.php\n  2: class Cart implements \\Countable {"),
        ("http.RoundTripper", "implementers", "trip.go\n  5: type Trip struct{}"),
        ("net/http.RoundTripper", "implementers", "trip.go\n  5: type Trip struct{}"),
    ],
)
def test_types_below_one_from_elsewhere_are_named(tmp_path: Path, symbol: str, direction: str, below: str) -> None:
    """Also where a member has the name in small letters, which is not meant then."""
    with indexed(tmp_path, FOREIGN) as opened:
        text = ask(opened, "trace_relations", symbol=symbol, direction=direction)
    noun = "subclass" if direction == "subclasses" else "implementer"
    assert text.startswith(f"1 {noun} of {symbol}, which is defined elsewhere: 1 certain.\n{below}\n")


ATTRIBUTES = {
    "b.rs": "#[derive(Debug)]\nstruct Mine;\nimpl FromStr for Mine {\n  #[inline]\n  fn from_str(s: &str) {}\n}\n"
    "impl Own for Mine {\n  #[inline]\n  fn go(&self) {}\n}\ntrait Own { fn go(&self); }\n",
    "Task.java": "@Deprecated\nclass Task\n    implements Runnable {\n  @Override\n  public void run() {}\n}\n",
    "Q.cs": "[Obsolete]\nclass Q\n    : IDisposable {\n  [Old]\n  public void Dispose() {}\n}\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "row"),
    [
        ("FromStr", "implementers", "b.rs\n  Mine\n    3: impl FromStr for Mine {"),
        ("Own", "implementers", "b.rs\n  Mine\n    7: impl Own for Mine {"),
        ("Runnable", "implementers", "Task.java\n  Task\n    2: class Task"),
        ("IDisposable", "implementers", "Q.cs\n  Q\n    3: : IDisposable {"),
        ("FromStr.from_str", "overrides", "b.rs\n  Mine.from_str\n    5: fn from_str(s: &str) {}"),
        ("Own.go", "overrides", "b.rs\n  Mine.go\n    9: fn go(&self) {}"),
        ("Runnable.run", "overrides", "Task.java\n  Task.run\n    5: public void run() {}"),
        ("IDisposable.Dispose", "overrides", "Q.cs\n  Q.Dispose\n    5: public void Dispose() {}"),
    ],
)
def test_a_row_has_the_line_that_says_it(tmp_path: Path, symbol: str, direction: str, row: str) -> None:
    """And no attribute or annotation of the definition."""
    with indexed(tmp_path, ATTRIBUTES) as opened:
        assert f"\n{row}\n" in ask(opened, "trace_relations", symbol=symbol, direction=direction)


def test_a_user_is_one_row_for_each_way(tmp_path: Path) -> None:
    """With the code of the first line, and the numbers of the others; who has several rows is counted once."""
    code = "class Kind {}\nclass B {\n  Kind Go(Kind x) {\n    Kind y = x;\n    return new Kind();\n  }\n}\n"
    with indexed(tmp_path, {"A.cs": code}) as opened:
        text = ask(opened, "trace_relations", symbol="Kind", direction="users")
        callers = ask(opened, "trace_relations", symbol="Kind")
    assert text.startswith("1 user of A.cs:1-1  Kind: 1 certain.\n")
    assert "  B.Go (uses)\n    3: Kind Go(Kind x) {\n    also 4\n  B.Go (calls)\n    5: return new Kind();\n" in text
    assert callers.startswith("1 caller of A.cs:1-1  Kind: 1 certain.\n")


def test_what_a_language_lacks_is_said_once(tmp_path: Path) -> None:
    """Not with each definition of a name."""
    code = "struct A;\nimpl A { fn apply(&self) {} }\nstruct B;\nimpl B { fn apply(&self) {} }\n"
    with indexed(tmp_path, {"a.rs": code}) as opened:
        text = ask(opened, "find_symbol", symbol="apply")
    assert text.startswith("2 definitions:")
    assert text.lower().count("types are known only where they are written") == 1


def test_a_call_of_an_overload_is_no_recursion_where_it_may_be_another(tmp_path: Path) -> None:
    """A function that has no other of its name is one, when it calls itself."""
    overloads = "class Conf {\n void with(int x) { }\n void with(String x) { with(lib.X.one()); }\n}\n"
    with indexed(tmp_path, {"Conf.java": overloads}) as app:
        text = ask(app, "trace_relations", symbol="Conf.with")
        assert "1 certain" in text and "recursion" not in text
    code = "class Conf {\n int With(params int[] x) { return 1; }\n int With<T>() { return With(3); }\n"
    code += " int Again(int n) { return Again(n - 1); }\n}\n"
    with indexed(tmp_path, {"a.cs": code}) as app:
        assert "recursion" not in ask(app, "trace_relations", symbol="Conf.With")
        assert "Conf.Again (recursion)" in ask(app, "trace_relations", symbol="Conf.Again")


def test_a_long_outline_has_functions_before_fields(tmp_path: Path) -> None:
    """All of them, in the order of the file."""
    fields = "".join(f"    field_{number}: int\n" for number in range(200))
    methods = "".join(f"    def method_{number}(self): pass\n" for number in range(20))
    with indexed(tmp_path, {"a.py": f"class Box:\n{fields}{methods}"}) as app:
        lines = ask(app, "find_symbol", symbol="a.py").split("\n")
    shown = [line.partition("> ")[2] for line in lines if "> " in line]
    assert shown[0] == "class Box" and shown[1] == "field_0: int" and shown[-1] == "def method_19(self)"
    assert sum("method_" in line for line in shown) == 20


def test_a_file_that_is_reached_has_all_names_that_lead_to_it(tmp_path: Path) -> None:
    """A file of tests calls several functions that the change reaches."""
    files = {
        "a.py": "def deep(): pass\n\ndef one():\n    deep()\n\ndef two():\n    deep()\n",
        "test_a.py": "from a import one, two\none()\ntwo()\n",
    }
    with indexed(tmp_path, files) as app:
        text = ask(app, "impact", symbol="deep")
    (row,) = [line for line in text.split("\n") if line.startswith("test 2.")]
    assert "test_a.py:1, 2 " in row and row.endswith("; also two:3")


NAMESAKES = {
    "shop/host.py": "def host():\n    return 1\n\n\nclass Map:\n    def host(self):\n        return 2\n",
    "shop/wire.py": "def host():\n    return 3\n",
    "use.py": "from shop import host as own\nfrom shop.wire import host\nfrom shop.host import Map\n\n\n"
    "def one():\n    return host()\n\n\ndef two():\n    return own.host()\n\n\n"
    "def three(m: Map):\n    return m.host()\n",
}


def test_a_place_says_which_of_several_definitions_it_means(tmp_path: Path) -> None:
    """By the type where only one has it, else by the place."""
    with indexed(tmp_path, NAMESAKES) as opened:
        text = ask(opened, "trace_relations", symbol="host")
        one = ask(opened, "trace_relations", symbol="shop/wire.py:host")
        beside = ask(opened, "trace_relations", symbol="wire.py:host")
    assert "  one (means shop/wire.py:1-2)" in text
    assert "  two (means shop/host.py:1-2)" in text
    assert "  three (means Map.host)" in text
    assert one.startswith("1 caller of shop/wire.py:1-2  host: 1 certain.")
    assert "means" not in one
    assert beside == one


def test_a_place_that_means_one_of_several_overloads_says_their_file(tmp_path: Path) -> None:
    """Which of them is not known, or another line of the same function means another."""
    code = "package %s;\npublic class Box {\n public static void put(int x) { }\n"
    code += " public static void put(String x) { }\n}\n"
    use = "import a.Box;\nclass Use { void go() { Box.put(lib.X.one()); Box.put(1); } }\n"
    files = {"a/Box.java": code % "a", "b/Box.java": code % "b", "Use.java": use}
    with indexed(tmp_path, files) as opened:
        text = ask(opened, "trace_relations", symbol="Box.put")
    assert "  Use.go (means a/Box.java)" in text


def test_users_of_a_type_name_its_imports(tmp_path: Path) -> None:
    """Who renames it has to write the new name there, too."""
    files = {"kind.py": "class Kind: pass\n", "use.py": "from kind import Kind\n\n\ndef take(k: Kind): pass\n"}
    with indexed(tmp_path, files) as opened:
        assert "Imported at use.py:1." in ask(opened, "trace_relations", symbol="Kind", direction="users")
        assert "Imported at" not in ask(opened, "trace_relations", symbol="Kind", direction="callers")


def test_a_question_tells_definitions_of_one_name_apart(tmp_path: Path) -> None:
    """By the words that it shares with their paths: "the disk driver's get"."""
    files = {"low.py": "def raw_read(): pass\n"} | {
        f"drivers/{name}.py": f"from low import raw_read\n\n\ndef get_item():\n    return {call}\n"
        for name, call in [*((f"a{number}", "1") for number in range(14)), ("disk", "raw_read()")]
    }
    with indexed(tmp_path, files) as opened:
        text = ask(opened, "trace_relations", question="how does the disk driver's get_item reach raw_read")
    assert text.startswith("get_item reaches raw_read: 1 certain.")


PARTS = {
    "bus.py": "from typing import Protocol\n\n\nclass Sender(Protocol):\n    def send(self): ...\n\n\n"
    "class Post:\n    def send(self): return 1\n",
    "door.ts": "export class Door {\n  lift?: () => void\n  constructor(given: Door) { this.lift = given.lift }\n}\n",
    "use.py": "from bus import Post\n\nPost()\n",
    "deprecated/old.py": "from bus import Post\n\nPost()\n",
}


@pytest.mark.parametrize(
    ("symbol", "direction", "sentence"),
    [
        ("Sender", "implementers", "A type is of this protocol by its members"),
        ("Sender.send", "overrides", "A type is of this protocol by its members"),
        ("Door.lift", "implementers", "A field may be given functions"),
        ("Post", "users", "1 archived file has more: exclude_archived=false lists them"),
    ],
)
def test_what_may_be_more_is_not_called_complete(tmp_path: Path, symbol: str, direction: str, sentence: str) -> None:
    """Who reads "Complete." looks no further."""
    with indexed(tmp_path, PARTS) as opened:
        text = ask(opened, "trace_relations", symbol=symbol, direction=direction)
        whole = ask(opened, "trace_relations", symbol="Post", direction="users", exclude_archived=False)
    assert sentence in text
    assert "Complete" not in text
    assert "deprecated/old.py" in whole
    assert whole.endswith("Complete.")


def test_a_text_search_says_how_many_files_are_left_out(tmp_path: Path) -> None:
    """Archived ones are, unless they are asked for."""
    with indexed(tmp_path, PARTS) as opened:
        assert "indexed files, without 1 archived." in ask(opened, "find_occurrences", text="Post()")
        assert "without" not in ask(opened, "find_occurrences", text="Post()", exclude_archived=False)
