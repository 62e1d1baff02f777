"""How tests in Go are run."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from graphrag_mcp.languages.testing import MOST_NAMES, quoted
from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ()
CASES_HAVE_TITLES = False


def command(nodes: Sequence[CodeNode], whole: bool, _build_files: Mapping[str, str]) -> str:
    """Return the command that runs some tests; whole: names files and packages only."""
    folders = [f"./{PurePosixPath(node.path).parent}".removesuffix("/.") for node in nodes]
    names = sorted({node.name for node in nodes if node.name.startswith(("Test", "Benchmark", "Fuzz"))})
    run = f"-run {shlex.quote('^(' + '|'.join(names) + ')$')} " if 0 < len(names) <= MOST_NAMES and not whole else ""
    return f"go test {run}{quoted(folders)}"
