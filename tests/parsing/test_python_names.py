"""What Python provides is data: a file means the same whatever Python and whatever machine indexes it."""

import ast
import builtins
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from graphrag_mcp.languages.python.policy import MEMBERS, POLICY
from graphrag_mcp.languages.registry import builtins_of, library_of

BUILTINS, MODULES = builtins_of("python"), library_of("python")
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "graphrag_mcp"
CORPUS = ROOT / "tests" / "golden" / "corpus"
# What names the running Python has, and what depends on the user's language.
ASKED = frozenset(
    ("stdlib_module_names", "builtin_module_names", "kwlist", "softkwlist", "getlocale", "setlocale", "strxfrm")
)
MODULES_ASKED = frozenset(("builtins", "keyword", "locale", "pkgutil", "symtable"))
# The rows without times; the ids too, since an order that depends on the machine would show in them.
ROWS = (
    "SELECT id, path, content_hash, recipe, category FROM files",
    *(f"SELECT * FROM {table}" for table in ("chunks", "symbols", "facts", "match_keys", "path_words")),  # noqa: S608
    *(f"SELECT * FROM {table}" for table in ("module_keys", "outlines", "manifests", "keyword_terms")),  # noqa: S608
)


def test_the_names_of_this_python_are_in_the_lists() -> None:
    """The lists have every name that this Python has, so a new one shows what has to be added."""
    assert sys.stdlib_module_names <= MODULES
    assert {name for name in dir(builtins) if not name.startswith("_")} <= BUILTINS
    types = {name: getattr(builtins, name) for name in BUILTINS if isinstance(getattr(builtins, name, None), type)}
    assert types.keys() <= MEMBERS.keys()
    assert {
        name: set(dir(one)) - MEMBERS[name] for name, one in types.items() if not set(dir(one)) <= MEMBERS[name]
    } == {}


@pytest.mark.parametrize("name", ["distutils", "asyncore", "telnetlib", "cgi", "annotationlib", "tomllib"])
def test_a_module_of_any_supported_version_is_a_librarys(name: str) -> None:
    """A module that a newer Python lacks, or that an older one lacks, is in the standard library for both."""
    assert name in MODULES


@pytest.mark.parametrize(
    ("name", "member", "known"), [("", "", False), ("dict", "items", True), ("OSError", "errno", True)]
)
def test_a_type_of_the_library_has_its_members_and_those_above(name: str, member: str, known: bool) -> None:
    """The members of a builtin type are known, of no name nothing is."""
    assert (member in (POLICY.foreign.members(name) or ())) is known
    assert (POLICY.foreign.members(name) is not None) is known


def _questions() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name in MODULES_ASKED]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""] if node.module in MODULES_ASKED else []
            elif isinstance(node, ast.Attribute) and node.attr in ASKED:
                names = [node.attr]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"hash", "dir"}:
                names = [node.func.id]
            yield from (f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)} {name}" for name in names)


def test_nothing_asks_the_running_python_for_its_names() -> None:
    """Two clients with different Pythons share an index, so neither may write what only its own Python says."""
    assert list(_questions()) == []


def _index(folder: Path, environment: Mapping[str, str]) -> list[list[tuple[object, ...]]]:
    given = {**os.environ, **environment, "GRAPHRAG_DATA_DIR": str(folder), "GRAPHRAG_WORKERS": "1"}
    command = [sys.executable, "-m", "graphrag_mcp", "index", "--root", str(CORPUS)]
    subprocess.run(command, env=given, check=True, capture_output=True)
    (file,) = folder.rglob("index-*.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        return [connection.execute(rows).fetchall() for rows in ROWS]


@pytest.mark.slow
def test_the_rows_do_not_depend_on_seed_language_or_time_zone(tmp_path: Path) -> None:
    """The same files give the same rows in the same order, whatever the process was started with."""
    one = _index(tmp_path / "one", {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC", "PYTHONUTF8": "0"})
    other = _index(
        tmp_path / "other",
        {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr", "TZ": "Asia/Kathmandu", "PYTHONUTF8": "1"},
    )
    assert one == other
