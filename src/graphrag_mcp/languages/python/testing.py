"""How tests in Python are run."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from graphrag_mcp.languages.testing import MOST_NAMES, quoted
from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ()
CASES_HAVE_TITLES = False
SAYS_CASE = None  # Only names say what is started.


def command(nodes: Sequence[CodeNode], whole: bool, _build_files: Mapping[str, str]) -> str:
    """Return the command that runs some tests; whole: names files and packages only."""
    nodes = [node for node in nodes if "test" in PurePosixPath(node.path).name] or nodes  # Others only help them.
    tests = [node for node in nodes if not node.is_file and node.name.startswith("test")]
    if whole or len(tests) > MOST_NAMES:
        return f"pytest {quoted(node.path for node in nodes)}"
    within = {node.path for node in tests}
    words = (f"{node.path}::{node.qualified_name.replace('.', '::')}" if node in tests else node.path for node in nodes)
    return f"pytest {quoted(word for word in words if word not in within)}"
