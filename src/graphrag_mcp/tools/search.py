"""The three search tools: their arguments, and what they ask."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeAlias, cast

from msgspec import Meta
from msgspec.structs import replace

from graphrag_mcp.app.session import Capability, View
from graphrag_mcp.errors import RequestError
from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import Hit, SearchRequest, SearchResult
from graphrag_mcp.tools.arguments import MAXIMUM_RESULTS, Entries, SearchArguments, hint, languages_of
from graphrag_mcp.tools.search_answer import search_json, search_text
from graphrag_mcp.tools.tool import Call, Tool

ResultCount = Annotated[int, Meta(ge=1, le=MAXIMUM_RESULTS), "Results to return."]
Score = Annotated[float, Meta(ge=0, le=1)]
DOCUMENT_HOPS = 1  # The query tools rank with direct neighbours only; the graph is the hybrid tool's subject.
SearchTool: TypeAlias = Tool[View, Any, SearchResult]


class HybridSearchArguments(SearchArguments, frozen=True, kw_only=True):
    """`graphrag_hybrid_search`: one long file must not fill its answer."""

    chunks_per_document: ClassVar[int] = 3

    limit: ResultCount = 5
    have: Annotated[
        Entries,
        "Ids (#a2b3) of code that earlier answers showed and you still have: it is named, not sent again.",
        hint("#ids of code you have"),
    ] = ()
    include_graph_context: Annotated[bool, "Given as true: with callers, callees, tests of the results."] = True
    max_hops: Annotated[int, Meta(ge=0, le=3), "How far to follow relations."] = 2
    include_patterns: Annotated[
        Entries,
        "gitignore globs of archived files to include, e.g. .archive/**; not a path filter.",
        hint("archived files to show"),
    ] = ()
    languages: Annotated[Entries, "Only these languages, for example python; empty: all."] = ()
    use_rrf: Annotated[bool, "Fuse vector, keyword and graph lists; false: vector search alone."] = True
    rerank_with_recency: Annotated[bool, "Rank recently changed files higher."] = True

    def scope(self, root: Path) -> tuple[Scope, tuple[str, ...]]:
        scope, warnings = super().scope(root)
        compile_globs(self.include_patterns)  # Only to refuse an invalid one before the stores use it.
        patterns = tuple(self.include_patterns)
        return replace(scope, include_patterns=patterns, languages=languages_of(self.languages)), warnings

    @property
    def held(self) -> Sequence[str]:
        return self.have

    def refine(self, request: SearchRequest) -> SearchRequest:
        return replace(
            request,
            limit=self.limit,
            include_graph_context=self.include_graph_context,
            max_hops=self.max_hops,
            related_hops=self.max_hops if "max_hops" in self.given else request.related_hops,
            use_rrf=self.use_rrf,
            rerank_with_recency=self.rerank_with_recency,
        )


class QueryDocumentsArguments(SearchArguments, frozen=True, kw_only=True):
    """`query_documents`: any number of passages per file."""

    top_n: ResultCount = 5
    min_score: Annotated[Score | None, "Drop results whose fused_score is lower; null: keep all."] = None

    def refine(self, request: SearchRequest) -> SearchRequest:
        return replace(request, limit=self.top_n, max_hops=DOCUMENT_HOPS, min_score=self.min_score)


class QueryUniqueDocumentsArguments(QueryDocumentsArguments, frozen=True, kw_only=True):
    """`query_unique_documents`: one passage per file."""

    chunks_per_document: ClassVar[int] = 1


def search(view: View, call: Call[SearchArguments]) -> SearchResult:
    """Return the result of the three search tools."""
    return search_for(view, search_request(call))


def search_for(view: View, request: SearchRequest) -> SearchResult:
    """Return what is like the code that a query names, or else what the query finds."""
    example = find_example(view, request)
    return search_alike(view, request, example) if example else view.search(request)


def search_request(call: Call[SearchArguments]) -> SearchRequest:
    """Return what to search for; the results before the first are searched for too."""
    arguments = call.arguments
    query, *also = arguments.phrasings
    request = arguments.refine(
        SearchRequest(
            query,
            scope=call.scope,
            chunks_per_document=arguments.chunks_per_document,
            warnings=call.warnings,
            also=tuple(also),
            related_results=2 if arguments.asks_for_related else 0,
        )
    )
    return replace(request, limit=call.first + request.limit)


_search_tool: Callable[..., SearchTool] = partial(
    Tool, needs=Capability.SEARCH, find=search, text=search_text, json=search_json, is_empty=attrgetter("is_empty")
)
HYBRID = _search_tool(
    name="graphrag_hybrid_search",
    title="Search code",
    description=(
        "Finds code by what it does: where, how and which questions, pasted errors, names in any spelling. One call "
        "returns the best places with path:start-end, reason and code. Give `queries` the symptom, its key words and "
        "guessed names. `like NAME` or path:1-9: code that does the same."
    ),
    arguments=HybridSearchArguments,
)
DOCUMENTS = _search_tool(
    name="query_documents",
    title="Search passages",
    description=(
        "Finds what is decided, set up, agreed or explained: ranked passages of documents and code, several of a file."
    ),
    arguments=QueryDocumentsArguments,
)
UNIQUE_DOCUMENTS = _search_tool(
    name="query_unique_documents",
    title="Search files",
    description="Finds the files on a topic, with one passage of each.",
    arguments=QueryUniqueDocumentsArguments,
)


if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.view import IndexView
    from graphrag_mcp.graph.navigator import Navigator

MOST_CHARACTERS = 2_000  # A longer example is about several things.
_OVERLAPPING = 5  # Results that may be the example itself.
_EXAMPLE = re.compile(r"like:?\s+(?P<name>\S+)|(?P<path>[^\s:]+):(?P<first>\d{1,9})-(?P<last>\d{1,9})", re.IGNORECASE)


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
        # The filters of the request are for what is found, and not for the example.
        scope = replace(request.scope, categories=frozenset(), languages=frozenset(), paths=())
        node = navigator.code(match["name"], scope)[0]
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
