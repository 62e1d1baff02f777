"""Writes the tests into docs/internals/requirements.md, whose table is the only list of what the program has to do.

    python -m tests.docs.requirements

A test says by a marker which requirements it holds: `@pytest.mark.requirement("000-31", "K-22")`.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.docs import ROOT

REQUIREMENTS_PAGE = ROOT / "docs" / "internals" / "requirements.md"
_ROW = re.compile(r"^\| ((?:\d{3}|[A-Z])-\w+) \| (.*?) \| .*?\|$", re.MULTILINE)
_MARKER = "pytest.mark.requirement"


def read_requirements() -> dict[str, str]:
    """Return the sentence of each requirement by its number."""
    return dict(_ROW.findall(REQUIREMENTS_PAGE.read_text(encoding="utf-8")))


def files_by_requirement() -> dict[str, set[str]]:
    """Return by the number of each requirement that a marker names the files of its tests, as paths below the root."""
    files: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for number in _marked(ast.parse(text)) if _MARKER in text else ():
            files[number].add(path.relative_to(ROOT).as_posix())
    return files


def render_page() -> str:
    """Return the text of the page with its column of tests as the markers have it now."""
    files = files_by_requirement()

    def row(found: re.Match[str]) -> str:
        number, sentence = found.groups()
        return f"| {number} | {sentence} | {', '.join(f'`{file}`' for file in sorted(files.get(number, ())))} |"

    return _ROW.sub(row, REQUIREMENTS_PAGE.read_text(encoding="utf-8"))


def write_page() -> None:
    """Write the page."""
    REQUIREMENTS_PAGE.write_text(render_page(), encoding="utf-8")


def _marked(tree: ast.Module) -> Iterator[str]:
    """Yield the numbers that the markers of a file name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == _MARKER:
            yield from (str(ast.literal_eval(argument)) for argument in node.args)


if __name__ == "__main__":
    write_page()
