"""Which tests a runner starts, and the commands that start them."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphrag_mcp.languages import testing
from graphrag_mcp.languages.registry import FACT_LANGUAGES, describe, detect_language, load_part
from graphrag_mcp.languages.testing import MARKED_TEST, NAMED_TEST
from graphrag_mcp.model.files import CALLABLE, Category
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.text.words import words_of

if TYPE_CHECKING:  # A search imports this module and reads no files.
    from graphrag_mcp.grep.occurrences import Files

_TELLING = 7  # Letters of a name of one word; a shorter one is in the names of many tests.
_MOST_FILES, _NAMED_SHOWN = 20, 3
# What says that a definition is a test: its mark or title, its name, the type around it, or nothing of these.
_MARKED, _NAMED, _INSIDE, _OTHER = range(4)
_TEST_FILE = re.compile(r"(?i)(?<!conf)test|spec")
_TEST_TYPE = re.compile(r"(?i)(?:test|spec|bench|fuzz|example)|\w*?(?:tests?|spec|(?-i:IT))$")


def read_build_files(graph: SymbolGraph, files: "Files") -> dict[str, str]:
    """Return the files at the root of the project that decide how its tests are run, with their texts."""
    from graphrag_mcp.grep.occurrences import read_texts

    names = {name for language in FACT_LANGUAGES for name in load_part(language, "testing").BUILD_FILES}
    return dict(read_texts(files, sorted(filter(graph.file, names))))


def is_helper(node: CodeNode) -> bool:
    """Return whether a definition is code beside the tests that use it."""
    return node.category is Category.TESTS and not node.is_file and _rank(node) > _NAMED


def cases_of(tests: Sequence[CodeNode]) -> list[CodeNode]:
    """Return what a runner starts: by its mark, by its name, or else what is in a file that is named for tests.

    What is surest in a file decides: what is beside it helps it. Where marks say what a test is, its place does not.
    Where no runner is known, each function counts.
    """
    ranks = {node: _rank(node) for node in tests if not node.is_file}
    best: dict[str, int] = {}
    for node, rank in ranks.items():
        best[node.path] = min(rank, best.get(node.path, rank))
    marking = {detect_language(node.path) for node in ranks if MARKED_TEST.match(node.signature)}
    by_place = {node.path for node in tests if detect_language(node.path) not in marking}
    named = [
        node
        for node, rank in ranks.items()
        if (rank == best[node.path] < (_OTHER if node.path in by_place else _INSIDE))
        or (best[node.path] < _OTHER and _runs_tests(node))
    ]
    unnamed = {path for path in by_place if best.get(path, _OTHER) == _OTHER and _may_be_run(path)}
    others = [node for node in tests if node.path in unnamed]
    functions = {node.path for node in others if node.kind in CALLABLE}
    return named + [node for node in others if node.kind in CALLABLE or node.path not in functions]


def named_after(
    graph: SymbolGraph, starts: Sequence[CodeNode], scope: Scope, known: Collection[CodeNode]
) -> tuple[CodeNode, ...]:
    """Return tests whose names have that of a definition, or of its type, in them; none of the known.

    A program that a test starts, or a name that it computes, is in no relation.
    """
    tests = replace(scope, categories=frozenset((Category.TESTS,)))
    parts = (start.symbol.split(".")[:-3:-1] for start in starts)
    names = dict.fromkeys(name.strip("_") for nearest in parts for name in nearest)
    found: dict[CodeNode, None] = {}
    for name in names:
        if len(name) >= _TELLING or len(words_of(name)) > 1:
            paths = dict.fromkeys(path for path, *_ in graph.texts((name,), tests))
            inside = (node for path in islice(paths, _MOST_FILES) for node in graph.in_file(path))
            found |= dict.fromkeys(node for node in inside if name.lower() in node.name.lower())
    cases = cases_of([node for node in found if node not in known])
    return tuple(sorted(cases, key=lambda node: len(node.name))[:_NAMED_SHOWN])


def _runs_tests(node: CodeNode) -> bool:
    """Return whether a function calls the tests of its file, and may test something itself."""
    return node.kind in CALLABLE and bool(re.fullmatch(describe(detect_language(node.path)).test_runs, node.name))


def _rank(node: CodeNode) -> int:
    """Return what says that a definition is a test, the surest first."""
    if says := _testing_of(node.path).SAYS_CASE:
        return _MARKED if says(node.path, node.name) else _OTHER
    is_callable = node.kind in CALLABLE
    if node.name.startswith('"') or (is_callable and MARKED_TEST.match(node.signature)):
        return _MARKED
    if NAMED_TEST.match(node.name):
        return _NAMED
    outermost = node.qualified_name.partition(".")[0]
    return _INSIDE if is_callable and outermost != node.name and _TEST_TYPE.match(outermost) else _OTHER


def _testing_of(path: str) -> ModuleType:
    """Return how tests in the language of a file are run."""
    language = detect_language(path)
    return load_part(language, "testing") if language in FACT_LANGUAGES else testing


def _may_be_run(path: str) -> bool:
    part = _testing_of(path)
    return part is testing or (part.SAYS_CASE is None and bool(_TEST_FILE.search(path.rpartition("/")[2])))


def commands_for(tests: Iterable[CodeNode], build_files: Mapping[str, str], *, whole: bool) -> list[str]:
    """Return one command for each language of the tests that has a usual runner; the tests keep their order.

    build_files: see `read_build_files`. whole: name files and packages instead of tests: there may be more in them.
    """
    by_runner = grouped((_testing_of(node.path), node) for node in tests)
    by_runner.pop(testing, None)
    commands = []
    for runner, nodes in by_runner.items():
        paths = {node.path for node in cases_of(nodes)}
        run = [node for node in nodes if node.path in paths]
        if runner.SAYS_CASE and not run:
            continue
        run = run or ([] if runner.CASES_HAVE_TITLES else nodes)
        own = {name: build_files[name] for name in runner.BUILD_FILES if name in build_files}
        commands.append(runner.command(run, whole, own))
    return commands
