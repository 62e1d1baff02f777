"""How tests in Go are run."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from graphrag_mcp.languages.testing import MOST_NAMES, quoted
from graphrag_mcp.model.graph import CodeNode

BUILD_FILES = ()
CASES_HAVE_TITLES = False
_CASE = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])")


def is_case(path: str, name: str) -> bool:
    """Return whether `go test` starts a function of a file."""
    return path.endswith("_test.go") and bool(_CASE.match(name))


SAYS_CASE = is_case


def command(nodes: Sequence[CodeNode], whole: bool, _build_files: Mapping[str, str]) -> str:
    """Return the command that runs some tests; whole: names files and packages only."""
    folders = [f"./{PurePosixPath(node.path).parent}".removesuffix("/.") for node in nodes]
    names = sorted({node.name for node in nodes if _CASE.match(node.name)})
    run = "".join(f"{option} {_pattern(of)} " for option, of in _options(names)) if not whole else ""
    return f"go test {run if len(names) <= MOST_NAMES else ''}{quoted(folders)}"


def _options(names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the options that choose tests and benchmarks, each with the names: `-run` alone starts no benchmark."""
    benchmarks = [name for name in names if name.startswith("Benchmark")]
    others = [name for name in names if name not in benchmarks]
    run = [("-run", others)] if names else []
    return run + ([("-bench", benchmarks)] if benchmarks else [])


def _pattern(names: Sequence[str]) -> str:
    return shlex.quote(f"^({'|'.join(names)})$" if names else "^$")
