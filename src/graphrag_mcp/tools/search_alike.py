"""Searches for code that does the same as an example: `like NAME`, or `path:1-9`."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from graphrag_mcp.app.session import Capability, View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.search import Hit, SearchRequest, SearchResult

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.navigator import Navigator


MOST_CHARACTERS = 2_000  # A longer example is about several things.
_OVERLAPPING = 5  # Results that may be the example itself.
_EXAMPLE = re.compile(r"like:?\s+(?P<name>\S+)|(?P<path>[^\s:]+):(?P<first>\d+)-(?P<last>\d+)", re.IGNORECASE)


class Example(NamedTuple):
    """Lines of a file, and their text without secrets."""

    path: str
    first: int
    last: int
    text: str


def find_example(view: View, request: SearchRequest) -> Example | None:
    """Return the code that a query is: `path:start-end`, or `like` and a symbol; None for any other query."""
    match = _EXAMPLE.fullmatch(request.query.strip())
    if match is None or request.also or Capability.CODE not in view.capabilities:
        return None
    navigator = cast("IndexView", view).navigator
    try:
        place = _lines_of(navigator, match, request)
    except RequestError:
        return None
    ((_, data),) = navigator.files.read([place[0]])
    path, first, last = place
    text = "\n".join((data or b"").decode().split("\n")[first - 1 : last])[:MOST_CHARACTERS]
    return Example(path, first, last, text) if text.strip() else None


def _lines_of(navigator: "Navigator", match: re.Match[str], request: SearchRequest) -> tuple[str, int, int]:
    """Return the path and the lines that are meant. Raises RequestError if no such symbol or file is indexed."""
    if match["name"]:
        node = navigator.code(match["name"], request.scope)[0]
        return node.path, node.start_line, node.end_line
    return navigator.outline(match["path"]).file.path, int(match["first"]), int(match["last"])


def search_alike(view: View, request: SearchRequest, example: Example) -> SearchResult:
    """Return code like an example, by meaning alone: the names in it would find what it calls."""
    scope = request.scope
    if not scope.categories:
        scope = replace(scope, categories=frozenset((Category.IMPLEMENTATION,)))
    results = view.search(
        replace(request, query=example.text, limit=request.limit + _OVERLAPPING, scope=scope, use_rrf=False)
    )
    others = tuple(hit for hit in results.primary if not _overlaps(hit, example))
    return replace(results, query=request.query, primary=others[: request.limit])


def _overlaps(hit: Hit, example: Example) -> bool:
    chunk = hit.chunk
    return chunk.path == example.path and chunk.start_line <= example.last and example.first <= chunk.end_line
