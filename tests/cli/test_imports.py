"""What each command imports, asked of a real process: the start of a command is mostly its imports."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphrag_mcp import __version__
from tests.cli.test_options import imported

RUN = (
    "import sys; from graphrag_mcp.cli.run import run; code = run(sys.argv[1:]);"
    "sys.stderr.write(chr(10).join(['', *sys.modules])); sys.exit(code)"
)
ANY = {"app", "cli", "exclusion", "index", "model", "search", "stores", "system", "text",
       "tools", "errors", "ports", "setting_names", "settings"}  # fmt: skip
HEAVY = {"anyio", "mcp", "numpy", "numpy.ma", "onnxruntime", "pydantic", "tokenizers", "tree_sitter", "uvicorn",
         "watchdog", "yaml"}  # fmt: skip
GREP = ANY | {"grep", "languages", "parsing", "tree_sitter"}
GRAPH = GREP | {"graph", "history", "resolution"}
MAY = {
    "status": ANY | {"embedding"},
    "grep": GREP,
    "trace": GRAPH,
    "read": GRAPH,
    "search": (GRAPH | {"embedding", "numpy", "tokenizers"}) - {"grep"},
}
COMMANDS = {
    "status": ["status"],
    "grep": ["grep", "tax", "--no-update"],
    "trace": ["trace", "tax", "--no-update"],
    "read": ["read", "tax", "--no-update"],
    "search": ["search", "tax", "--no-update"],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an indexed project."""
    root = tmp_path_factory.mktemp("project")
    (root / "shop.py").write_text("def tax(order):\n    return 1\n\n\ndef total(order):\n    return tax(order)\n")
    assert modules_of(root, ["index"])
    return root


def modules_of(root: Path, arguments: Sequence[str]) -> set[str]:
    """Return what a command has imported when it ends: packages of the project, and other modules."""
    environment = {**os.environ, "GRAPHRAG_DATA_DIR": str(root.parent / "data")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    names = [name.removeprefix("graphrag_mcp.") for name in done.stderr.splitlines()]
    return {name if name in HEAVY else name.partition(".")[0] for name in names}


@pytest.mark.parametrize("command", MAY)
def test_a_command_imports_what_it_needs(root: Path, command: str) -> None:
    """Nothing that parses, watches or serves where nothing is parsed, watched or served."""
    imported = modules_of(root, COMMANDS[command])
    packages = {file.stem for file in Path(sys.modules["graphrag_mcp"].__path__[0]).iterdir() if file.stem[0] != "_"}
    assert imported & (packages | HEAVY) <= MAY[command]


def test_the_version_is_said_without_settings_and_stores() -> None:
    """It is asked by scripts."""
    code = "import sys; sys.argv[1:] = ['--version']; from graphrag_mcp.__main__ import main; main()"
    assert imported(code, "argparse", "numpy", "sqlite3", "msgspec") == ["graphrag-mcp", __version__]
