"""What `find_occurrences` finds, without its text."""

from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.grep.hits import Hits, find_hits
from graphrag_mcp.grep.needles import create_needle
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Case


def occurrences(
    navigator: Navigator,
    text: str,
    scope: Scope,
    wanted: int = 0,
    *,
    regex: bool = False,
    whole_word: bool = False,
    case: Case = Case.SMART,
) -> Hits:
    """Return the lines of the indexed files with a text."""
    return find_hits(create_needle(text, regex=regex, whole_word=whole_word, case=case), scope, navigator.files, wanted)
