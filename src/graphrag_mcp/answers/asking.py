"""The queries of the tools: one function for each, from a validated call to what the backend found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from graphrag_mcp.answers.arguments import (
    FindSymbolArguments,
    ImpactArguments,
    IndexStatusArguments,
    OccurrencesArguments,
    SearchArguments,
    TraceArguments,
)
from graphrag_mcp.answers.render import describe_incomplete
from graphrag_mcp.answers.requests import Call, Page, page_of, search_request
from graphrag_mcp.app.protocol import CodeBackend, InFile, SearchBackend
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.reports import Status
from graphrag_mcp.model.search import SearchResult

if TYPE_CHECKING:  # The navigator imports numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.navigator import Found, Navigator
    from graphrag_mcp.graph.tracing import Step, Trace
    from graphrag_mcp.grep.hits import Hits
    from graphrag_mcp.grep.roles import Placed

USES_SHOWN = 6  # Of a definition; trace_relations lists all.
ALSO_SHOWN = 7  # Overloads and declarations.

Whole = TypeVar("Whole", covariant=True)
Row = TypeVar("Row", covariant=True)


@dataclass(frozen=True, slots=True)
class CodeAnswer(Generic[Whole, Row]):
    """The answer of a code tool: everything that was found, and the page of its rows that is shown.

    nodes: the definitions and files that are shown. note: that the index is incomplete, "" when it is complete. stale:
    files of the answer that changed since they were indexed. texts: lines by their path and number.
    """

    found: Whole
    page: Page[Row]
    nodes: Sequence[InFile] = ()
    note: str = ""
    stale: Sequence[str] = ()
    texts: Mapping[tuple[str, int], str] = field(default_factory=dict)


def search(backend: SearchBackend, call: Call[SearchArguments]) -> SearchResult:
    """Return the result of the three search tools."""
    try:
        return backend.search(search_request(call))
    except RequestError as error:
        raise _noted(error, describe_incomplete(backend.index_state())) from error


def index_status(backend: SearchBackend, _call: Call[IndexStatusArguments]) -> Status:
    """Return the status of the index."""
    return backend.status()


def find_symbol(backend: CodeBackend, call: Call[FindSymbolArguments]) -> "CodeAnswer[Sequence[Found], Found]":
    """Return the definitions of a name, and the references to each."""

    def ask(navigator: "Navigator") -> "CodeAnswer[Sequence[Found], Found]":
        found = navigator.symbols(call.arguments.symbol, call.scope)
        page = page_of(found, call.first, call.arguments.limit)
        return CodeAnswer(found, page, [node for row in page.rows for node in _shown(row)])

    return _navigate(backend, ask)


def trace_relations(backend: CodeBackend, call: Call[TraceArguments]) -> "CodeAnswer[Trace, Step]":
    """Return the relations of one kind that start at a name."""

    def ask(navigator: "Navigator") -> "CodeAnswer[Trace, Step]":
        asked = call.arguments
        found = navigator.trace(asked.symbol, asked.direction, asked.hops, call.scope, unresolved=asked.unresolved)
        page = page_of(found.steps, call.first, asked.limit)
        nodes = [*found.starts, *(node for step in page.rows for node in (step.source, step.target))]
        return CodeAnswer(found, page, nodes, texts=navigator.texts(page.rows))

    return _navigate(backend, ask)


def impact(backend: CodeBackend, call: Call[ImpactArguments]) -> "CodeAnswer[Impact, tuple[Reached, bool]]":
    """Return what a change may reach; each row has whether it is a test, and tests come last."""

    def ask(navigator: "Navigator") -> "CodeAnswer[Impact, tuple[Reached, bool]]":
        found = navigator.impact(call.arguments.symbol, call.arguments.hops, call.scope)
        rows = [*((row, False) for row in found.reached), *((row, True) for row in found.tests)]
        page = page_of(rows, call.first, call.arguments.limit)
        return CodeAnswer(found, page, [*found.starts, *(row.node for row, _ in page.rows)])

    return _navigate(backend, ask)


def find_occurrences(backend: CodeBackend, call: Call[OccurrencesArguments]) -> "CodeAnswer[Hits, Placed]":
    """Return every line that contains a text."""

    def ask(navigator: "Navigator") -> "CodeAnswer[Hits, Placed]":
        asked, last = call.arguments, call.first + call.arguments.limit
        hits = navigator.occurrences(
            asked.text, call.scope, last, regex=asked.regex, whole_word=asked.whole_word, case=asked.case
        )
        rows = hits.place(hits.found.lines[call.first : last], asked.context)
        files = {row.occurrence.path: hits.listed[row.occurrence.path] for row in rows}
        return CodeAnswer(hits, Page(rows, call.first, hits.found.total), list(files.values()))

    return _navigate(backend, ask)


def _navigate(backend: CodeBackend, ask: Callable[["Navigator"], CodeAnswer[Whole, Row]]) -> CodeAnswer[Whole, Row]:
    """Return the answer with its note and stale files. Raises RequestError, with the note if there is one."""
    note = describe_incomplete(backend.index_state())
    try:
        answer, stale = backend.navigate(ask)
    except RequestError as error:
        raise _noted(error, note) from error
    return replace(answer, note=note, stale=sorted(stale))


def _noted(error: RequestError, note: str) -> RequestError:
    """Return the error with the note of an incomplete index, which may be why a name or path is not found."""
    return RequestError(error.argument, f"{error}. {note}" if note else str(error))


def _shown(row: "Found") -> Iterable[CodeNode]:
    return (row.node, *row.also[:ALSO_SHOWN], *(step.source for step in row.used[:USES_SHOWN]))
