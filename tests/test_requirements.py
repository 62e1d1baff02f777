"""tests/requirements.toml states each requirement in a sentence and names the tests that hold it."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "graphrag_mcp"
NUMBER = re.compile(r"\b(?:00[0-4]-\d{2}b?|[PKB]-\d{1,2})\b")
TABLE: dict[str, dict[str, Any]] = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))


def _numbers(prefix: str, last: int, width: int = 2) -> set[str]:
    return {f"{prefix}-{number:0{width}}" for number in range(1, last + 1)}


IN_SCOPE = (
    _numbers("P", 6, width=1)
    | _numbers("000", 47)
    | _numbers("001", 21)
    | _numbers("002", 25)
    | _numbers("003", 29)
    | _numbers("004", 18)  # 004-19 names a stack of services, which K-25 replaces.
    | _numbers("K", 26)
    | _numbers("B", 30)
)


def _test_names(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_requirement_in_scope_has_a_row() -> None:
    """A row may be added; none is lost."""
    assert sorted(IN_SCOPE - set(TABLE)) == []


@pytest.mark.parametrize("number", TABLE)
def test_a_row_is_one_sentence(number: str) -> None:
    """It ends with a full stop and has no other."""
    statement = TABLE[number]["statement"]
    assert re.fullmatch(r"\S.*[^.]\.", statement)
    assert ". " not in statement


def test_every_test_that_a_row_names_exists() -> None:
    """A test that is renamed or removed is named here until its rows are changed too; each row has a test at least."""
    named = {(number, *test.split("::")) for number, row in TABLE.items() for test in row["tests"]}
    files = {file for _, file, _ in named}
    existing = {(file, name) for file in files if (TESTS / file).is_file() for name in _test_names(TESTS / file)}
    assert sorted(entry for entry in named if entry[1:] not in existing) == []
    assert {number for number, _, _ in named} == set(TABLE)


@pytest.mark.parametrize("folder", [PACKAGE, TESTS], ids=["package", "tests"])
def test_no_number_stands_in_the_code(folder: Path) -> None:
    """A reader of the code needs no list of requirements; the table leads to the tests, and these to the code."""
    here = Path(__file__)
    files = [file for file in folder.rglob("*.py") if file != here and "corpus" not in file.parts]
    found = [(str(file.relative_to(folder)), number) for file in files for number in NUMBER.findall(file.read_text())]
    assert found == []
