"""The commands that run tests."""

from collections.abc import Iterable, Set

from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language, folder_of, load_part
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.ports import SymbolGraph


def find_build_files(graph: SymbolGraph) -> frozenset[str]:
    """Return the files at the root of the project that decide how its tests are run."""
    names = {name for language in FACT_LANGUAGES for name in load_part(language, "testing").BUILD_FILES}
    return frozenset(name for name in names if graph.file(name))


def commands_for(tests: Iterable[CodeNode], build_files: Set[str], *, whole: bool) -> list[str]:
    """Return one command for each language of the tests that has a usual runner; the tests keep their order.

    whole: name files and packages instead of tests, since there may be more in them.
    """
    by_folder: dict[str, list[CodeNode]] = {}
    languages: dict[str, str] = {}
    for node in tests:
        language = detect_language(node.path)
        if language in FACT_LANGUAGES:
            by_folder.setdefault(folder_of(language), []).append(node)
            languages.setdefault(folder_of(language), language)
    return [
        load_part(languages[folder], "testing").command(nodes, whole, build_files)
        for folder, nodes in by_folder.items()
    ]
