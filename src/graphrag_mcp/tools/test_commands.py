"""The commands that run tests."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from graphrag_mcp.model.graph import CodeNode

MOST_NAMES = 12  # With more tests, their files or packages are run as a whole.
_Runner = Callable[[Sequence[CodeNode], bool], str]


def commands_for(tests: Iterable[CodeNode], *, whole: bool) -> list[str]:
    """Return one command for each language of the tests that has a usual runner; the tests keep their order.

    whole: name files and packages instead of tests, since there may be more in them.
    """
    by_runner: dict[_Runner, list[CodeNode]] = {}
    for node in tests:
        if runner := _RUNNERS.get(PurePosixPath(node.path).suffix):
            by_runner.setdefault(runner, []).append(node)
    return [runner(nodes, whole) for runner, nodes in by_runner.items()]


def _pytest(nodes: Sequence[CodeNode], whole: bool) -> str:
    nodes = [node for node in nodes if "test" in PurePosixPath(node.path).name] or nodes  # Others only help them.
    tests = [node for node in nodes if not node.is_file and node.name.startswith("test")]
    if whole or len(tests) > MOST_NAMES:
        return f"pytest {_quoted(node.path for node in nodes)}"
    within = {node.path for node in tests}
    words = (f"{node.path}::{node.qualified_name.replace('.', '::')}" if node in tests else node.path for node in nodes)
    return f"pytest {_quoted(word for word in words if word not in within)}"


def _go(nodes: Sequence[CodeNode], whole: bool) -> str:
    folders = [f"./{PurePosixPath(node.path).parent}".removesuffix("/.") for node in nodes]
    names = sorted({node.name for node in nodes if node.name.startswith(("Test", "Benchmark", "Fuzz"))})
    run = f"-run {shlex.quote('^(' + '|'.join(names) + ')$')} " if 0 < len(names) <= MOST_NAMES and not whole else ""
    return f"go test {run}{_quoted(folders)}"


def _maven(nodes: Sequence[CodeNode], _whole: bool) -> str:
    return f"mvn test -Dtest={shlex.quote(','.join(sorted({PurePosixPath(node.path).stem for node in nodes})))}"


def _quoted(words: Iterable[str]) -> str:
    return shlex.join(dict.fromkeys(words))


_RUNNERS: Mapping[str, _Runner] = {
    ".py": _pytest,
    ".go": _go,
    ".java": _maven,
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"),
        lambda nodes, _: f"npm test -- {_quoted(node.path for node in nodes)}",
    ),
}
