"""`find_symbol` with `body`: the code of definitions and what is around them, over a real repository."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.code_answer import UNTYPED
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL, MOST_LINES
from tests.golden.golden import FOLDER
from tests.indexed import indexed
from tests.repositories import commit, git

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
STEPS = "".join(f"    step({number})\n" for number in range(80))
FILES = {
    "shop/payment.py": f'''\
"""Payments."""

KEY = "{TOKEN}"


class Ledger:
    """The books."""

    def post(self, entry):
        return check(entry)

    def close(self):
        return None


# What is wrong with an entry is told by an exception.
def check(entry):
    if not entry:
        raise ValueError("{TOKEN}")
    return entry


def audit():
    """Look at all entries."""
{STEPS}    check_the_seal("wax")
{STEPS}

def step(number):
    return number


def check_the_seal(seal):
    return seal
''',
    "shop/checkout.py": "from shop.payment import Ledger\n\n\ndef place(order):\n    return Ledger().post(order)\n",
    "tests/test_checkout.py": "from shop.checkout import place\n\n\ndef test_it_is_placed():\n    assert place(1)\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A small project with a commit."""
    folder = tmp_path_factory.mktemp("reading")
    root = folder / "project"
    root.mkdir()
    git(root, "init", "--quiet")
    commit(root, FILES, message="Keep books")
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data")}))) as app:
        app.index()
        yield app


def ask(app: App, arguments: Mapping[str, Any]) -> str:
    """Return the answer to a call."""
    call = FIND_SYMBOL.read({"body": True, **arguments}, app.settings, app.root)
    return FIND_SYMBOL.write(app.ask(FIND_SYMBOL.ask, call), call)


def read_golden(app: App) -> str:
    """Return the calls and answers of the golden file; the names and days of commits differ."""
    asked: list[dict[str, Any]] = [
        {"symbol": "Ledger.post, shop/payment.py::check, Ledger.shut"},
        {"symbol": "Ledger"},
        {"symbol": "audit", "focus": "seal"},
        {"symbol": "shop/payment.py", "token_budget": 200},
        {"symbol": "place", "response_format": "concise"},
    ]
    text = "\n".join(f"$ {json.dumps(one)}\n{ask(app, one)}\n" for one in asked)
    [(name, day)] = [git(app.root, "log", "--format=%h %cs", "--abbrev=7").split()]
    return text.replace(f"{name} {day}", "COMMIT DAY")


def test_the_golden_file_has_each_kind_of_answer(app: App) -> None:
    """A reader can review them: several symbols, a class, a long function with a focus, a file, without code."""
    assert read_golden(app) == (FOLDER / "read.txt").read_text(encoding="utf-8")


def test_code_is_masked(app: App) -> None:
    """Whatever is shown of a file."""
    assert TOKEN not in ask(app, {"symbol": "check"})
    assert TOKEN not in ask(app, {"symbol": "shop/payment.py", "token_budget": 5_000})
    assert TOKEN not in ask(app, {"symbol": "check", "response_format": "json"})


def test_a_long_function_is_folded_around_the_focus(app: App) -> None:
    """Each fold says how many lines it hides, and all lines are shown or counted."""
    lines = ask(app, {"symbol": "audit", "focus": "the seal"}).splitlines()
    code = lines[lines.index("```") + 1 : lines.index("```", lines.index("```") + 1)]
    assert len(code) < MOST_LINES
    assert any("check_the_seal" in line for line in code)
    hidden = sum(int(line.split()[1]) for line in code if line.startswith("... "))
    assert hidden + sum(not line.startswith("... ") for line in code) == 163
    assert lines[-1] == "Folded: token_budget shows more, and focus what is near words."


def test_a_long_file_without_definitions_shows_its_beginning(tmp_path: Path) -> None:
    """An outline would be empty."""
    with indexed(tmp_path, {"COPYING": "\n" + "\n".join(f"Clause {n}." for n in range(300))}) as app:
        text = ask(app, {"symbol": "COPYING"})
        around = ask(app, {"symbol": "COPYING:150"})
    assert "2: Clause 0." in text
    assert "\n... " in text
    assert "150: Clause 148." in around
    assert "2: Clause 0." not in around


def test_what_a_header_declares_has_its_relations_at_the_definition(tmp_path: Path) -> None:
    """And what a language lacks is said once."""
    files = {
        "lamp.h": "// Lights it.\nint glow(int wick);\n",
        "lamp.c": '#include "lamp.h"\n\nint glow(int wick) {\n  return wick;\n}\n\nint fade(int wick) {\n'
        "  return glow(wick);\n}\n",
    }
    with indexed(tmp_path, files) as app:
        text = ask(app, {"symbol": "glow, fade"})
    assert "2: int glow(int wick);\n```\nmay be defined by lamp.c:3-5  glow, where its relations are" in text
    assert text.count("callers: ") == 2
    assert text.count(UNTYPED) == 1
    files["lamp.h"] = "static inline int glow(int wick) { return wick; }\n"
    with indexed(tmp_path / "inline", files) as app:
        assert "callers: " in ask(app, {"symbol": "lamp.h::glow"})


_TALE = [f"Line {number} of the tale." for number in range(190)]
DOCUMENTED = {
    "lamp.py": 'def glow(wick):\n    """' + "\n    ".join(_TALE) + '"""\n    return wick.burn(1)\n',
    "Lamp.java": "class Lamp {\n  /**\n   * " + "\n   * ".join(_TALE) + "\n   */\n  int glow(Wick wick) {\n"
    "    return wick.burn(1);\n  }\n}\n",
    "lamp.go": "package lamp\n\n// " + "\n// ".join(_TALE) + "\nfunc glow(wick Wick) int {\n\treturn wick.burn(1)\n}\n",
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_long_documentation_is_folded_before_the_code(tmp_path: Path, name: str) -> None:
    """Inside a function and above it."""
    with indexed(tmp_path, {name: DOCUMENTED[name]}) as app:
        text = ask(app, {"symbol": "glow"})
    assert "return wick.burn(1)" in text
    assert "Line 0 of the tale." in text
    assert "\n... " in text


def test_what_is_read_is_the_file_as_it_is_now(app: App) -> None:
    """A definition that moved since it was indexed is told to be off, and nothing of another file is shown."""
    text = ask(app, {"symbol": "place"})
    assert '"Keep books"' in text
    assert "callers: 1 certain: tests/test_checkout.py:5 test_it_is_placed; complete." in text


@pytest.mark.parametrize(
    ("symbol", "problem"),
    [
        (", ".join(["place"] * 11), "symbol: 11 symbols were given; give 1 to 10"),
        (" , ", "symbol: 0 symbols were given; give 1 to 10"),
        ("plaice", "nothing that is indexed defines 'plaice'"),
    ],
)
def test_what_cannot_be_read_is_named(app: App, symbol: str, problem: str) -> None:
    """All symbols are unknown, or too many."""
    with pytest.raises(RequestError) as caught:
        ask(app, {"symbol": symbol})
    assert problem in str(caught.value)


def test_an_answer_with_code_has_ten_definitions_at_most(tmp_path: Path) -> None:
    """Each is read with what calls, uses and tests it, so a greater limit is not kept; the cursor goes on."""
    files = {f"shop/part{number}.py": "def keep():\n    return 1\n" for number in range(25)}
    with indexed(tmp_path, files) as app:
        seen, cursor = 0, ""
        for _ in range(3):
            text = ask(app, {"symbol": "keep", "limit": 500, "token_budget": 50_000, "cursor": cursor})
            seen += text.count("def keep()")
            cursor = text.partition('cursor="')[2].partition('"')[0]
            assert bool(cursor) is (seen < 25)
        assert seen == 25
