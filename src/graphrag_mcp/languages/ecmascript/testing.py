"""How tests in JavaScript and TypeScript are run."""

from collections.abc import Sequence, Set

from graphrag_mcp.languages.testing import quoted
from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ()


def command(nodes: Sequence[CodeNode], _whole: bool, _build_files: Set[str]) -> str:
    """Return the command that runs some tests; whole: names files and packages only."""
    return f"npm test -- {quoted(node.path for node in nodes)}"
