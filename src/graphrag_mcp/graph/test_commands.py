"""The commands that run tests."""

from collections.abc import Iterable

from graphrag_mcp.languages.registry import FACT_LANGUAGES, detect_language, folder_of, load_part
from graphrag_mcp.model.graph import CodeNode


def commands_for(tests: Iterable[CodeNode], *, whole: bool) -> list[str]:
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
    return [load_part(languages[folder], "testing").command(nodes, whole) for folder, nodes in by_folder.items()]
