"""Locations in a question: `tree.go:243`, and the frames of a stack trace."""

from collections.abc import Iterator

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.search.query.literals import Location, read_locations
from tests.indexed import indexed

BODY = "".join(f"    total = step_{n}(total, 'the text of step {n} of the tree')\n" for n in range(40))
TREE = "".join(f"def walk_{name}(total):\n{BODY}    return total\n\n\n" for name in ("first", "second", "third"))


@pytest.mark.parametrize(
    ("text", "locations"),
    [
        ("tree.go:243", [Location("tree.go", 243)]),
        ('File "app/tree.py", line 12, in walk', [Location("app/tree.py", 12)]),
        ("at shop.Session.open(Session.java:88)", [Location("Session.java", 88)]),
        ("C:\\src\\tree.cs:line", []),
        ("version 1.2:3 of 10:30", []),
    ],
)
def test_a_location_is_a_file_with_a_line(text: str, locations: list[Location]) -> None:
    """In the notations of compilers, traces and logs."""
    assert list(read_locations(text)) == locations


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An index of a file with three long functions, and of another one with the words of a question."""
    with indexed(
        tmp_path_factory.mktemp("locations"),
        {"lib/tree.py": TREE, "lib/other.py": "def start():\n    return 'panic at start'\n"},
    ) as app:
        yield app


@pytest.mark.parametrize("query", ["tree.py:60", 'File "/srv/lib/tree.py", line 60', "panic in tree.py:60 at start"])
def test_the_code_at_a_named_line_comes_first(app: App, query: str) -> None:
    """Other parts of the file have the same words."""
    first = app.search(SearchRequest(query)).primary[0]
    assert first.chunk.path == "lib/tree.py"
    assert first.chunk.start_line <= 60 <= first.chunk.end_line
    assert first.focus is not None and first.focus.symbol is not None and first.focus.symbol.name == "walk_second"
