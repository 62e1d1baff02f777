"""What a diff breaks: the answer of `impact` without a symbol, over real repositories."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.impact import IMPACT, impact_of_diff
from tests.golden.golden import FOLDER
from tests.repositories import commit, git

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PAYMENT = '''\
"""Payments."""

RATE = 3


def charge(order, rate):
    return order * rate


def refund(order):
    return -order


def audit(order):
    return order


class Ledger:
    """The books."""

    def post(self, entry):
        return entry

    def close(self):
        return None
'''
CALLER = "from shop.payment import charge\n\n\ndef test_it_is_charged():\n    assert charge(1, 2)\n"
REFUND = "def refund(order):\n    return -order\n\n\n"
FILES = {
    "shop/__init__.py": "",
    "shop/payment.py": PAYMENT,
    "shop/checkout.py": "from shop.payment import Ledger, charge\n\n\ndef place(order):\n    Ledger().post(order)\n"
    "    return charge(order, 2)\n",
    "shop/returns.py": "from shop.payment import refund\n\n\ndef take_back(order):\n    return refund(order)\n",
    "shop/report.py": "from shop.payment import audit\n\n\ndef report(order):\n    return audit(order)\n",
    "tests/test_checkout.py": "from shop.checkout import place\n\n\ndef test_it_is_placed():\n    assert place(1)\n",
    "tests/test_payment.py": CALLER,
}
CHANGED = (
    PAYMENT.replace("def charge(order, rate):", "def charge(order, rate, currency):")
    .replace(REFUND, "")
    .replace("def audit(order):", "def audit(order, strict=False):")
    .replace("        return None\n", "        return None\n\n    def reopen(self):\n        return 1\n")
    .replace("        return entry\n", "        return entry + 1\n")
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    commit(folder, FILES)
    return folder


@pytest.fixture
def opened(root: Path) -> Iterator[App]:
    data = {"GRAPHRAG_DATA_DIR": str(root.parent / "data"), "GRAPHRAG_WORKERS": "1"}
    with closing(App(root, load_settings(root, data))) as app:
        yield app


def ask(app: App, patch: str = "", **arguments: object) -> Any:
    """Index what is on the disk, and return the answer as text, or as JSON for response_format=json."""
    app.index()
    call = IMPACT.read(arguments, app.settings, app.root)
    text = IMPACT.write(app.ask(impact_of_diff, call, patch) if patch else app.ask(IMPACT.ask, call), call)
    return json.loads(text) if text.startswith("{") else text


def broken(answer: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the changed definitions with the places that they break."""
    return {
        (row["definition"]["symbol"], f"{place['path']}:{place['line']}")
        for row in answer["rows"]
        for place in row["breaks"]
    }


def changed(answer: dict[str, Any]) -> set[str]:
    """Return the names of the changed definitions."""
    return {row["definition"]["symbol"] for row in answer["rows"]}


def test_the_answer_about_a_diff_is_the_golden_one(opened: App, root: Path) -> None:
    """Each kind of change has its line, what breaks stands under it, and the tests are one line."""
    (root / "shop/payment.py").write_text(CHANGED)
    (root / "shop/notes.py").write_text("def note():\n    return 1\n")
    text = ask(opened)
    assert text + "\n" == (FOLDER / "impact.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("stage", [False, True])
def test_what_is_staged_unstaged_and_untracked_differs(opened: App, root: Path, stage: bool) -> None:
    """Whatever git has been told of it; a parameter that may be left out breaks nothing."""
    (root / "shop/payment.py").write_text(CHANGED)
    (root / "shop/notes.py").write_text("def note():\n    return 1\n")
    if stage:
        git(root, "add", "--all")
    answer = ask(opened, response_format="json")
    assert {(row["definition"]["change"], row["definition"]["symbol"]) for row in answer["rows"]} == {
        ("removed", "refund"),
        ("signature", "charge"),
        ("signature", "audit"),
        ("body", "Ledger.post"),
        ("added", "Ledger.reopen"),
        ("added", "note"),
    }
    assert broken(answer) == {
        ("refund", "shop/returns.py:1"),
        ("refund", "shop/returns.py:5"),
        ("charge", "shop/checkout.py:6"),
        ("charge", "tests/test_payment.py:5"),
    }


def test_a_call_that_lacks_what_became_required_is_broken_and_one_that_gives_it_may_be(opened: App, root: Path) -> None:
    """Arguments are counted where the function is called, in the file that changed too."""
    within = "\n\ndef audit_all(orders):\n    return [audit(order) for order in orders]\n"
    commit(root, {
        "shop/payment.py": PAYMENT.replace("def audit(order):", "def audit(order, strict=False):") + within,
        "shop/strict.py": "from shop.payment import audit\n\n\ndef check(order):\n    return audit(order, True)\n",
        "shop/all.py": "from shop.payment import audit\n\n\ndef every(*orders):\n    return audit(*orders)\n",
    })  # fmt: skip
    (root / "shop/payment.py").write_text(PAYMENT.replace("def audit(order):", "def audit(order, strict):") + within)
    answer = ask(opened, response_format="json")
    assert broken(answer) == {("audit", "shop/report.py:5"), ("audit", "shop/payment.py:29")}
    (row,) = answer["rows"]
    assert {place["path"] for place in row["may_break"]} == {"shop/strict.py", "shop/all.py"}


def test_a_dependant_inside_the_diff_is_not_broken(opened: App, root: Path) -> None:
    """Whoever changed it knows."""
    (root / "shop/payment.py").write_text(CHANGED.replace("def audit(", f"{REFUND}def audit("))
    checkout = FILES["shop/checkout.py"].replace("charge(order, 2)", 'charge(order, 2, "EUR")')
    (root / "shop/checkout.py").write_text(checkout)
    assert broken(ask(opened, response_format="json")) == {("charge", "tests/test_payment.py:5")}


def test_a_renamed_file_breaks_what_imports_it_and_nothing_in_it_is_new(opened: App, root: Path) -> None:
    """A move is not a removal of all definitions."""
    git(root, "mv", "shop/payment.py", "shop/money.py")
    answer = ask(opened, response_format="json")
    assert {row["definition"]["change"] for row in answer["rows"]} == {"moved"}
    assert ("charge", "shop/checkout.py:1") in broken(answer)


def test_a_base_is_where_the_branch_left_it_and_a_range_ends_there(opened: App, root: Path) -> None:
    """What others have committed there since does not count."""
    git(root, "checkout", "--quiet", "-b", "work")
    commit(root, {"shop/payment.py": CHANGED})
    git(root, "checkout", "--quiet", "main")
    commit(root, {"shop/report.py": "def report(order):\n    return order\n"})
    git(root, "checkout", "--quiet", "work")
    since = changed(ask(opened, base="main", response_format="json"))
    assert since == {"refund", "charge", "audit", "Ledger.post", "Ledger.reopen"}
    assert changed(ask(opened, base="main...work", response_format="json")) == since
    assert changed(ask(opened, base="main..work", response_format="json")) == since | {"report"}
    assert ask(opened) == "0 files differ from HEAD."


@pytest.mark.parametrize("base", ["nowhere", "--output=x", "main..nowhere", "HEAD:shop"])
def test_a_bad_base_is_one_sentence(opened: App, base: str) -> None:
    """With what may be given."""
    with pytest.raises(RequestError, match="names no commit of this repository; give a branch"):
        ask(opened, base=base)


@pytest.mark.parametrize("is_applied", [False, True])
def test_a_patch_is_read_whether_it_is_applied_or_not(opened: App, root: Path, is_applied: bool) -> None:
    """It says the same."""
    (root / "shop/payment.py").write_text(CHANGED)
    patch = git(root, "diff")
    if not is_applied:
        git(root, "checkout", "--", ".")
    answer = ask(opened, patch, response_format="json")
    assert answer["base"] == "the patch"
    assert changed(answer) == {"refund", "charge", "audit", "Ledger.post", "Ledger.reopen"}
    assert {("refund", "shop/returns.py:5"), ("charge", "shop/checkout.py:6")} <= broken(answer)
    with pytest.raises(RequestError, match="it does not fit"):
        ask(opened, patch.replace("return order", "return nothing"))


def test_secrets_of_a_diff_and_of_a_patch_are_masked(opened: App, root: Path) -> None:
    """Of the text before, after, and of a removed file too; a file of secrets is not even named."""
    commit(root, {"shop/old.py": f'def gone(key="{TOKEN}"):\n    return key\n', "id_rsa": "x\n"})
    (root / "shop/old.py").unlink()
    (root / "id_rsa").unlink()
    (root / "shop/returns.py").write_text(f'def take_back(order, key="{TOKEN}"):\n    return key\n')
    patch = git(root, "diff", "--", "shop/returns.py")
    for text in (ask(opened), ask(opened, patch)):
        assert "take_back" in text
        assert TOKEN[:12] not in text
        assert "id_rsa" not in text


def test_a_long_answer_about_a_diff_is_short(opened: App, root: Path) -> None:
    """By default 3,500 characters, however much is changed; a cursor continues it."""
    many = "".join(f"def function_{n}(first, second):\n    return {n}\n\n\n" for n in range(200))
    (root / "shop/payment.py").write_text(many)
    text = ask(opened)
    assert len(text) <= 3_500
    assert "more: cursor=" in text


SHOP = {
    "src/lib.rs": "pub struct Till;\nimpl Till {\n    pub fn pay(&self, one: u32) -> u32 { one }\n"
    "    pub fn close(&self) -> u32 { self.pay(1) }\n}\n",
    "src/Till.cs": "public static class Till { public static int Pay(int one) { return one; } }\n",
    "src/Shop.cs": "public class Shop { public int Close() { return Till.Pay(1); } }\n",
    "tests/ShopTests.cs": "public class ShopTests { [Fact] public void Closes() { new Shop().Close(); } }\n",
    "src/till.kt": "class Till {\n  fun pay(one: Int) = one\n  fun close() = pay(1)\n}\n",
    "lib/till.rb": "class Till\n  def pay(one)\n    one\n  end\n\n  def close\n    pay(1)\n  end\nend\n",
    "web/Till.php": "<?php\nclass Till {\n  function pay($one) { return $one; }\n"
    "  function close() { return $this->pay(1); }\n}\n",
    "web/tests/TillTest.php": "<?php\nclass TillTest {\n  function testPay() {\n    $till = new Till();\n"
    "    $till->pay(1);\n  }\n}\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new", "places"),
    [
        ("src/lib.rs", "one: u32", "one: u32, two: u32", ["breaks src/lib.rs:4  Till.close"]),
        ("src/Till.cs", "int one", "int one, int two", ["breaks src/Shop.cs:1  Shop.Close"]),
        ("src/Till.cs", "int one", "int one, int two = 1", ["may break src/Shop.cs:1  Shop.Close"]),
        ("src/till.kt", "one: Int", "one: Int, two: Int", ["breaks src/till.kt:3  Till.close"]),
        ("src/till.kt", "one: Int", "one: Int, two: Int = 2", ["may break src/till.kt:3  Till.close"]),
        ("lib/till.rb", "pay(one)", "pay(one, two)", ["breaks lib/till.rb:7  Till.close"]),
        ("lib/till.rb", "pay(one)", "pay(one, *two)", ["may break lib/till.rb:7  Till.close"]),
        ("web/Till.php", "pay($one)", "pay($one, $two)",
         ["breaks web/Till.php:4  Till.close", "may break web/tests/TillTest.php:5  TillTest.testPay (by name)"]),
    ],
)  # fmt: skip
def test_calls_with_a_number_of_arguments_that_is_not_taken_any_more_break(
    opened: App, root: Path, path: str, old: str, new: str, places: list[str]
) -> None:
    """In languages without facts, too, where the call is certain."""
    commit(root, SHOP)
    (root / path).write_text(SHOP[path].replace(old, new, 1))
    text, broken = ask(opened), sum(place.startswith("breaks") for place in places)
    assert f" Certainly broken outside the change: {broken} place" in text.splitlines()[0]
    assert [line.strip() for line in text.splitlines() if line.startswith("  ")] == places
    assert "In this language types are known only where they are written" in text


def test_a_call_that_did_not_fit_before_is_one_of_something_else(opened: App, root: Path) -> None:
    """Of an overload that the project does not have."""
    path = "src/Home.cs"
    text = "class Home : Base {\n  object View(string name) => name;\n  object Index() => View(1, 3);\n}\n"
    commit(root, {path: text})
    (root / path).write_text(text.replace("string name", "string title"))
    assert " Certainly broken outside the change: 0 places." in ask(opened)


def test_where_parameters_are_not_read_what_breaks_is_not_decided(opened: App, root: Path) -> None:
    """The answer does not say zero, and names each user."""
    path = "src/till.swift"
    code = "class Till {\n  func pay(_ one: Int) -> Int { one }\n  func close() -> Int { pay(1) }\n}\n"
    commit(root, {path: code})
    (root / path).write_text(code.replace("one: Int", "one: Int, _ two: Int"))
    text, answer = ask(opened), ask(opened, response_format="json")
    assert text.splitlines()[0].endswith("What breaks is not decided in Swift: 1 certain user.")
    assert [line for line in text.splitlines() if line.startswith("  ")] == [f"  may break {path}:3  Till.close"]
    assert (answer["broken"], answer["not_decided"], answer["rows"][0]["is_decided"]) == (0, 1, False)


def test_default_values_of_another_declaration_keep_a_call_whole(opened: App, root: Path) -> None:
    """In C++ the header has them."""
    header, code = "src/till.hpp", "src/till.cpp"
    files = {
        header: "struct Till {\n  int pay(int one);\n  int close() { return pay(1); }\n};\n",
        code: '#include "till.hpp"\nint Till::pay(int one) { return one; }\n',
    }
    commit(root, files)
    for path in (header, code):
        (root / path).write_text(files[path].replace("int one", "int one, int two"))
    assert "Certainly broken outside the change: 1 place" in ask(opened)
    (root / header).write_text(files[header].replace("int one", "int one, int two = 2"))
    assert "Certainly broken outside the change: 0 places" in ask(opened)


@pytest.mark.parametrize(
    ("path", "old", "place"),
    [("src/lib.rs", "pay(&self", "src/lib.rs:4"), ("src/Till.cs", "Pay(", "src/Shop.cs:1"),
     ("lib/till.rb", "pay(one", "lib/till.rb:7"), ("web/Till.php", "pay($one)", "web/Till.php:4")],
)  # fmt: skip
def test_what_certainly_uses_a_method_that_is_renamed_is_broken(
    opened: App, root: Path, path: str, old: str, place: str
) -> None:
    """Where names are compared, too."""
    commit(root, SHOP)
    (root / path).write_text(SHOP[path].replace(old, f"gone_{old}", 1))
    assert {where for _, where in broken(ask(opened, response_format="json"))} == {place}
    assert "Certainly broken outside the change: 1 place." in ask(opened)


@pytest.mark.parametrize(
    ("path", "own", "above"),
    [("src/lib.rs", "impl Till", "impl Desk for Till {}\nimpl Till"),
     ("lib/till.rb", "class Till", "class Till < Desk"),
     ("web/Till.php", "class Till", "class Till extends Desk")],
)  # fmt: skip
def test_what_may_have_the_method_from_a_type_above_is_not_certainly_broken(
    opened: App, root: Path, path: str, own: str, above: str
) -> None:
    """Nothing here says what is in that type."""
    text = SHOP[path].replace(own, above, 1)
    commit(root, SHOP | {path: text})
    (root / path).write_text(text.replace("pay", "gone", 1))
    said = ask(opened)
    assert f"  may break {path}:" in said
    assert "What breaks is not decided in " in said.splitlines()[0]


def test_a_member_of_another_type_is_not_the_function_that_is_gone(opened: App, root: Path) -> None:
    """Even in the file that defined it."""
    text = "def pay(one)\n  one\nend\n\ndef close\n  Bank.pay(1)\n  pay(2)\nend\n"
    commit(root, {"lib/pay.rb": text})
    (root / "lib/pay.rb").write_text(text.replace("def pay", "def gone"))
    assert broken(ask(opened, response_format="json")) == {("pay", "lib/pay.rb:7")}


def test_tests_are_named_where_no_command_runs_them(opened: App, root: Path) -> None:
    """With their places; what leads to a test by name alone is named, too."""
    commit(root, SHOP)
    (root / "src/Till.cs").write_text(SHOP["src/Till.cs"].replace("int one", "int one, int two"))
    assert "\nTest: 1 test within 3 hops: ShopTests.Closes  tests/ShopTests.cs:1-1.\n" in ask(opened)
    git(root, "checkout", "--", ".")
    (root / "web/Till.php").write_text(SHOP["web/Till.php"].replace("pay($one)", "pay($one, $two)"))
    assert ": TillTest.testPay  web/tests/TillTest.php:3-6." in ask(opened)
    (root / "web/Till.php").write_text(SHOP["web/Till.php"].replace("pay($one)", "charge($one)"))
    assert ": TillTest.testPay  web/tests/TillTest.php:3-6" in ask(opened)


def test_calls_that_fitted_before_the_change_may_break(opened: App, root: Path) -> None:
    """Also where nothing but the name is known of what they mean, and they fit nothing any more."""
    commit(
        root, {"job.rb": "class Job\n  def drop(name)\n  end\nend\n", "use.rb": "def use(job)\n  job.drop(1)\nend\n"}
    )
    opened.index()
    (root / "job.rb").write_text("class Job\n  def drop(name, why)\n  end\nend\n")
    assert "  may break use.rb:2  use (by name)" in ask(opened).splitlines()


DESK = {
    "src/desk.rs": "pub trait Desk { fn pay(&self, one: u32); fn close(&self, by: u32) {} }\n",
    "src/till.rs": "use crate::desk::Desk;\npub struct Till;\nimpl Desk for Till {\n  fn pay(&self, one: u32) {}\n"
    "  fn close(&self, by: u32) {}\n}\nimpl Till { fn own(&self) { self.pay(1); } }\n",
    "src/use.rs": "use crate::till::Till;\nfn sell(till: &Till) { till.pay(1); }\nfn any(x: &X) { x.pay(1); }\n",
    "src/Desk.cs": "interface IDesk {\n  void Pay(int one);\n  void Close(int by) { }\n}\n"
    "abstract class Table { public virtual void Open(int one) { } }\n"
    "class Till : IDesk {\n  public void Pay(int one) { }\n  public void Close(int by) { }\n}\n"
    "class Wide : Table {\n  public override void Open(int one) { }\n}\n"
    "class Other : Table {\n  public void Open(int one) { }\n}\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new", "breaks", "may_break"),
    [
        ("src/desk.rs", "one: u32", "one: u32, two: u32", ["till.rs:4", "till.rs:7", "use.rs:2"], ["use.rs:3"]),
        ("src/desk.rs", "by: u32", "by: u32, two: u32", ["till.rs:5"], []),
        ("src/desk.rs", "one: u32", "one: u64", [], ["till.rs:4"]),
        ("src/Desk.cs", "Pay(int one)", "Pay(int one, int two)", ["Desk.cs:7"], []),
        ("src/Desk.cs", "Close(int by)", "Close(int by, int two)", [], ["Desk.cs:8"]),
        ("src/Desk.cs", "Open(int one)", "Open(int one, int two)", ["Desk.cs:11"], []),
    ],
)
def test_what_overrides_a_method_must_have_as_many_parameters(
    opened: App, root: Path, path: str, old: str, new: str, breaks: list[str], may_break: list[str]
) -> None:
    """Where the language checks it; not what may then be a method of its own, or has a body from above."""
    commit(root, DESK)
    (root / path).write_text(DESK[path].replace(old, new, 1))
    lines = sorted(line.strip().split("  ")[0] for line in ask(opened).splitlines() if line.startswith("  "))
    expected = [f"breaks src/{place}" for place in breaks] + [f"may break src/{place}" for place in may_break]
    assert [line for line in lines if line != "may break src/use.rs:3" or "use.rs:3" in may_break] == expected


def test_a_method_that_changes_with_the_one_above_is_not_broken(opened: App, root: Path) -> None:
    """Nor is one that may override another overload."""
    commit(root, DESK)
    for path in ("src/desk.rs", "src/till.rs"):
        (root / path).write_text(DESK[path].replace("one: u32", "one: u32, two: u32", 1))
    text = DESK["src/Desk.cs"].replace("Pay(int one);", "Pay(int one, int two); void Pay(string one);")
    (root / "src/Desk.cs").write_text(text)
    assert {where for _, where in broken(ask(opened, response_format="json"))} == {"src/till.rs:7", "src/use.rs:2"}
