"""How tests in Java are run."""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from graphrag_mcp.model.graph import CodeNode


def command(nodes: Sequence[CodeNode], _whole: bool) -> str:
    """Return the command that runs some tests; whole: names files and packages only."""
    return f"mvn test -Dtest={shlex.quote(','.join(sorted({PurePosixPath(node.path).stem for node in nodes})))}"
