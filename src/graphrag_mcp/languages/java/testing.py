"""How tests in Java are run."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
CASES_HAVE_TITLES = False
SAYS_CASE = None  # Only names say what is started.


def command(nodes: Sequence[CodeNode], _whole: bool, build_files: Mapping[str, str]) -> str:
    """Return the command that runs some tests; whole: names files and packages only."""
    classes = sorted({PurePosixPath(node.path).stem for node in nodes})
    if build_files:
        return f"gradle test {' '.join(f'--tests {shlex.quote(name)}' for name in classes)}"
    return f"mvn test -Dtest={shlex.quote(','.join(classes))}"
