"""The layers: imports point down only, and siblings never import each other."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "graphrag_mcp"

# From the bottom up; parts in one row are siblings.
LAYERS = [
    ["__init__", "text"],
    ["errors", "setting_names"],
    ["system"],
    ["model"],
    ["languages"],
    ["settings"],
    ["ports"],
    ["exclusion", "parsing", "embedding", "stores"],
    ["grep", "resolution", "history"],
    ["search", "graph"],
    ["index"],
    ["app"],
    ["tools"],
    ["serving"],
    ["cli"],
    ["__main__"],
]
LEVEL = {part: level for level, row in enumerate(LAYERS) for part in row}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _part(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


class _Module(NamedTuple):
    docstring: str | None
    imports: list[ast.Import | ast.ImportFrom]


@cache
def _read(path: Path) -> _Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return _Module(ast.get_docstring(tree), imports)


def _imports(path: Path) -> Iterator[str]:
    for node in _read(path).imports:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
        else:
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_down_and_never_to_a_sibling(path: Path) -> None:
    """A module may import its own part and lower layers."""
    mine = _part(path)
    for name in _imports(path):
        if name.startswith("graphrag_mcp."):
            other = name.split(".")[1]
            assert other == mine or LEVEL[other] < LEVEL[mine], f"{mine} imports {other}"


def test_the_package_needs_nothing_beside_it() -> None:
    """Tests, benchmarks and training import the package, never the other way round: they are not installed."""
    imported = {name.split(".")[0] for path in _modules() for name in _imports(path)}
    assert imported & {"benchmarks", "tests", "training"} == set()


def test_no_module_has_a_name_that_says_nothing() -> None:
    """A module is named after what it is for."""
    assert not {path.stem for path in _modules()} & {"utils", "common", "helpers", "base", "misc"}


def test_every_module_says_what_it_is_for() -> None:
    """A module opens with one sentence."""
    assert [path.name for path in _modules() if not _read(path).docstring] == []


def test_no_files_import_each_other_in_a_circle() -> None:
    """Not for types either: what a file needs can be read before it."""
    names = {".".join(("graphrag_mcp", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in _modules()}
    imports = {
        name: {
            inner for found in _imported(path) for inner in (found, found.rpartition(".")[0]) if inner in names
        } - {name}
        for name, path in names.items()
    }  # fmt: skip
    while free := {name for name, needed in imports.items() if not needed}:
        imports = {name: needed - free for name, needed in imports.items() if name not in free}
    assert sorted(imports) == []


def _imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, and what it takes from them: that may be a module, too."""
    for node in _read(path).imports:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
