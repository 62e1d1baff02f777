"""Every requirement row that is in scope has a test whose docstring names it."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
ROW = re.compile(r"\b(?:\d{3}-\d{2}|[PKB]-\d{1,2})\b")


def _rows(prefix: str, *numbers: int) -> set[str]:
    return {f"{prefix}-{number:02d}" for number in numbers}


IN_SCOPE = (
    {f"P-{number}" for number in range(1, 7)}
    | _rows("000", *range(1, 48))
    | _rows("001", *range(1, 22))
    | _rows("002", *range(1, 26))
    | _rows("003", *range(1, 30))
    | _rows("004", *range(1, 19))  # 004-19 names a stack of services, which K-25 replaces.
    # The resolutions and flaws that these rows point to.
    | _rows("K", *range(1, 27))
    | _rows("B", *range(1, 31))
)


def test_every_row_has_a_test_that_names_it() -> None:
    """A requirement is done when a test says that it proves it."""
    named = {row for path in TESTS.rglob("test_*.py") for row in _rows_named_in(path)}
    assert not sorted(IN_SCOPE - named)


def _rows_named_in(path: Path) -> set[str]:
    rows: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            rows.update(ROW.findall(ast.get_docstring(node) or ""))
    return rows
