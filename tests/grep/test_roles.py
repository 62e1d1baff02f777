"""Roles: what an occurrence is, and in which order they are shown."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from graphrag_mcp.app.local import App
from graphrag_mcp.grep.hits import Role
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.settings import load_settings
from graphrag_mcp.tools.find_occurrences import OCCURRENCES
from tests.grep.finding import occurrences
from tests.repositories import write_files

FILES = {
    "app.py": '''from shop import refresh

# refresh comes later
def start(refresh=None):
    """Call refresh."""
    refresh()
    later(refresh)
    print(f"refresh {refresh()}")
''',
    "shop.py": """import functools


@functools.cache
def refresh(
    times=1,
):
    return times
""",
    "main.go": """package main

import "example.org/refresh"

// refresh is called.
func main() {
	text := "refresh"
	go refresh.Refresh(text)
}

func (s *Store) refresh() {}
""",
    "Job.java": """import org.example.refresh;

/** refresh */
class Job {
    @Deprecated
    public void refresh() { this.refresh(); }
    String refresh = "refresh";
}
""",
    "docs/guide.md": "# Guide\n\nCall refresh.\n",
    "tests/test_shop.py": "from shop import refresh\n\n\ndef test_it():\n    assert refresh() == 1\n",
}
ROLES = {
    "app.py": {1: "import", 3: "comment", 4: "other", 5: "string", 6: "call", 7: "other", 8: "call"},
    "shop.py": {5: "definition"},
    "main.go": {3: "import", 5: "comment", 7: "string", 8: "call", 11: "definition"},
    "Job.java": {1: "import", 3: "comment", 6: "definition", 7: "definition"},
    "docs/guide.md": {3: "document"},
    "tests/test_shop.py": {1: "import", 5: "call"},
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A project in which one name has every role."""
    folder = tmp_path_factory.mktemp("roles")
    root = folder / "project"
    write_files(root, FILES)
    with closing(App(root, load_settings(root, {"GRAPHRAG_DATA_DIR": str(folder / "data")}))) as opened:
        opened.index()
        yield opened


def answer(app: App, **arguments: object) -> str:
    """Return what the tool answers."""
    call = OCCURRENCES.read(arguments, app.settings, app.root)
    return OCCURRENCES.write(app.ask(OCCURRENCES.ask, call), call)


@pytest.mark.parametrize("path", ROLES)
def test_every_line_has_its_role(app: App, path: str) -> None:
    """By the syntax of its language; of several on a line, a definition or call counts."""
    hits = occurrences(app.navigator(), "refresh", Scope(paths=(path,)), whole_word=True)
    placed = hits.place(hits.occurrences.lines)
    assert {row.line: row.role.value for row in placed} == ROLES[path]


def test_definitions_are_first_then_code_then_tests_and_documents(app: App) -> None:
    """So that the first page has what a reader looks for; and pages continue in one order."""
    hits = occurrences(app.navigator(), "refresh", Scope(), whole_word=True)
    rows = hits.place(hits.occurrences.lines)
    roles = [row.role for row in rows]
    assert roles.index(Role.CALL) > max(place for place, role in enumerate(roles) if role is Role.DEFINITION)
    paths = list(dict.fromkeys(row.path for row in rows))
    assert paths[-2:] == ["tests/test_shop.py", "docs/guide.md"]
    assert hits.place(hits.occurrences.lines[3:5]) == rows[3:5]


def test_a_pattern_finds_a_definition_only_in_its_name(app: App) -> None:
    """A word beside the name on the same line defines nothing."""
    hits = occurrences(app.navigator(), r"return|public", Scope(), regex=True)
    assert {row.role for row in hits.place(hits.occurrences.lines)} == {Role.OTHER}
    hits = occurrences(app.navigator(), r"def \w+fresh", Scope(), regex=True)
    assert [row.role for row in hits.place(hits.occurrences.lines)] == [Role.DEFINITION]


def test_lines_are_under_their_file_and_the_definition_around_them(app: App) -> None:
    """Each is named once where it changes."""
    text = answer(app, text="refresh", paths=["app.py"], whole_word=True)
    assert text.splitlines()[1:6] == [
        "app.py",
        "  1 (import): from shop import refresh",
        "  3 (comment): # refresh comes later",
        "  in start",
        "  4: def start(refresh=None):",
    ]


def test_the_lines_around_are_shown_once(app: App) -> None:
    """Where the surroundings of two lines overlap, each line is shown once, in order."""
    text = answer(app, text="refresh", paths=["app.py"], context=3)
    numbers = [int(re.split(r"[ :-]", line.strip())[0]) for line in text.splitlines() if line[2:3].isdigit()]
    assert numbers == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert "  2- \n" in text


def test_languages_and_categories_restrict_what_is_searched(app: App) -> None:
    """As they do in a search."""
    assert "1 line of 1 file" in answer(app, text="func main", languages=["go"])
    assert "0 lines of 0 files; searched: all of 1 indexed file." in answer(app, text="func", languages=["java"])
    assert "3 (document): Call refresh." in answer(app, text="refresh", categories=["documentation"])
