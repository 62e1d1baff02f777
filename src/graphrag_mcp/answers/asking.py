"""The queries of the tools: one function for each, from a validated call to what the backend found."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from graphrag_mcp.answers.arguments import (
    MAXIMUM_READ,
    FindSymbolArguments,
    HistoryArguments,
    ImpactArguments,
    IndexStatusArguments,
    OccurrencesArguments,
    SearchArguments,
    TraceArguments,
)
from graphrag_mcp.answers.ends import ends_of, find_hits
from graphrag_mcp.answers.examples import find_example, search_alike
from graphrag_mcp.answers.render import describe_incomplete
from graphrag_mcp.answers.requests import Call, Page, page_of, search_request
from graphrag_mcp.app.protocol import Capability, CodeBackend, InFile, SearchBackend
from graphrag_mcp.errors import RequestError
from graphrag_mcp.model.graph import CodeNode
from graphrag_mcp.model.history import Commit, Span
from graphrag_mcp.model.reports import Status
from graphrag_mcp.model.search import SearchResult

if TYPE_CHECKING:  # The navigator imports numpy through the ports, and no client should wait for that.
    from graphrag_mcp.graph.chains import Chain, Flow, Link
    from graphrag_mcp.graph.changes import Affected, DiffImpact
    from graphrag_mcp.graph.impact import Impact, Reached
    from graphrag_mcp.graph.navigator import Found, Navigator
    from graphrag_mcp.graph.orientation import Orientation
    from graphrag_mcp.graph.reading import Body
    from graphrag_mcp.graph.tracing import Step, Trace
    from graphrag_mcp.grep.hits import Hits
    from graphrag_mcp.grep.roles import Placed

LINES_AROUND = 2  # Before and after the line of a link, in the first chain of a flow.
NOT_INDEXED = "(changed only files that are not indexed)"
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
    request = search_request(call)
    try:
        example = find_example(backend, request)
        return search_alike(backend, request, example) if example else backend.search(request)
    except RequestError as error:
        raise _noted(error, describe_incomplete(backend.index_state())) from error


def index_status(backend: SearchBackend, call: Call[IndexStatusArguments]) -> "Status | Orientation":
    """Return the status of the index, or what a newcomer to the repository needs first."""
    return orientation(backend) if call.arguments.overview else backend.status()


def orientation(backend: SearchBackend) -> "Orientation":
    """Return what a newcomer to the repository needs first. Raises RequestError without an index file."""
    if Capability.CODE not in backend.capabilities:
        raise RequestError("overview", "overview: this server searches without an index file; start one in the project")
    return cast("CodeBackend", backend).navigator().orientation()


@dataclass(frozen=True, slots=True)
class MissingSymbols:
    """An answer with code. missing: why some of the symbols are not in it."""

    missing: Sequence[str]


def find_symbol(backend: CodeBackend, call: Call[FindSymbolArguments]) -> CodeAnswer[Any, Any]:
    """Return the definitions of a name, and the references to each; or those of several names with their code."""

    def ask(navigator: "Navigator") -> "CodeAnswer[Sequence[Found], Found]":
        found = navigator.symbols(call.arguments.symbol, call.scope)
        page = page_of(found, call.first, call.arguments.limit)
        return CodeAnswer(found, page, [node for row in page.rows for node in _shown(row)])

    def read(navigator: "Navigator") -> "CodeAnswer[MissingSymbols, Body]":
        found: dict[CodeNode, None] = {}
        missing = []
        for name in call.arguments.symbols:
            try:
                found |= dict.fromkeys(navigator.code(name, call.scope))
            except RequestError as error:
                missing.append(str(error))
        if not found:
            raise RequestError("symbol", "; ".join(missing))
        page = page_of(list(found), call.first, min(call.arguments.limit, MAXIMUM_READ))
        rows = navigator.read(page.rows, call.scope)
        return CodeAnswer(MissingSymbols(missing), Page(rows, page.first, page.total), page.rows)

    return _navigate(backend, read) if call.arguments.body else _navigate(backend, ask)


def trace_relations(backend: CodeBackend, call: Call[TraceArguments]) -> CodeAnswer[Any, Any]:
    """Return the relations of one kind that start at a name, or how code reaches other code."""
    return _flow(backend, call) if call.arguments.is_flow else _trace(backend, call)


def _flow(backend: CodeBackend, call: Call[TraceArguments]) -> "CodeAnswer[Flow, Chain | tuple[int, Link]]":
    hits = find_hits(backend, call)

    def ask(navigator: "Navigator") -> "CodeAnswer[Flow, Chain | tuple[int, Link]]":
        ends = ends_of(navigator, call, hits)
        flow = navigator.flow(*ends, call.arguments.question, call.scope)
        links = [link for _, link in flow.tree] + [link for chain in flow.chains for link in chain.links]
        links += [*flow.beside]
        links += [link for gap in flow.gaps[:1] for link in (*gap.before, *gap.after)]
        nodes = dict.fromkeys(node for link in links for node in (link.source, link.target))
        places = {(link.edge.path, link.edge.line) for link in links}
        for chain in flow.chains[:1]:
            places |= {(node.path, n) for node, lines in chain.around(LINES_AROUND).items() for n in lines}
        texts = navigator.texts(places)
        rows: list[Chain | tuple[int, Link]] = [*flow.chains, *flow.tree]
        page = page_of(rows, call.first, call.arguments.limit)
        return CodeAnswer(flow, page, list(nodes), texts=texts)

    return _navigate(backend, ask)


def _trace(backend: CodeBackend, call: Call[TraceArguments]) -> "CodeAnswer[Trace, Step]":
    def ask(navigator: "Navigator") -> "CodeAnswer[Trace, Step]":
        asked = call.arguments
        found = navigator.trace(asked.symbol, asked.direction, asked.hops, call.scope, unresolved=asked.unresolved)
        page = page_of(found.steps, call.first, asked.limit)
        nodes = [*found.starts, *(node for step in page.rows for node in (step.source, step.target))]
        return CodeAnswer(
            found,
            page,
            nodes,
            texts=navigator.texts({(step.edge.path, line) for step in page.rows for line in step.lines}),
        )

    return _navigate(backend, ask)


def impact(backend: CodeBackend, call: Call[ImpactArguments]) -> "CodeAnswer[Any, Any]":
    """Return what a change of a symbol may reach, or of what differs from a base."""
    return impact_of_symbol(backend, call) if call.arguments.symbol.strip() else impact_of_diff(backend, call)


def impact_of_diff(
    backend: CodeBackend, call: Call[ImpactArguments], patch: str = ""
) -> "CodeAnswer[DiffImpact, Affected]":
    """Return what a patch affects, or else what differs from the base."""

    def ask(navigator: "Navigator") -> "CodeAnswer[DiffImpact, Affected]":
        found = navigator.difference(call.arguments.base, patch, call.arguments.hops, call.scope)
        page = page_of(found.affected, call.first, call.arguments.limit)
        nodes = [row.node for row in found.affected if row.node] + [test.node for test in found.tests]
        return CodeAnswer(found, page, nodes)

    return _navigate(backend, ask)


def impact_of_symbol(backend: CodeBackend, call: Call[ImpactArguments]) -> "CodeAnswer[Impact, tuple[Reached, bool]]":
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


@dataclass(frozen=True, slots=True)
class ToldCommit:
    """A commit with the indexed files that it changed and the definitions in them, and how many other files."""

    commit: Commit
    files: Mapping[str, Sequence[str]]
    others: int


@dataclass(frozen=True, slots=True)
class History:
    """The commits of an answer. node: the definition or file whose past it is, None for all commits.

    note: what is missing.
    """

    node: CodeNode | None
    note: str


def find_history(backend: CodeBackend, call: Call[HistoryArguments]) -> CodeAnswer[History, ToldCommit]:
    """Return the commits that match words, or that made a definition, a file or a line what it is."""

    def ask(navigator: "Navigator") -> CodeAnswer[History, ToldCommit]:
        asked, past = call.arguments, navigator.past
        if past.is_missing:
            raise RequestError("find_history", f"find_history needs the history of git: {past.problem}")
        node = navigator.starts(asked.symbol or asked.path, call.scope)[0] if asked.symbol or asked.path else None
        told = past.answer(asked.query, node, asked.line, Span(asked.since, asked.until, asked.author))
        commits = told.commits[call.first : call.first + asked.limit]
        changes = [past.changes(commit, navigator.until) for commit in commits]
        shown = navigator.shown({path for files in changes for path in files}, call.scope)
        rows = [_told(commit, files, shown, backend.root) for commit, files in zip(commits, changes, strict=True)]
        page = Page(rows, call.first, len(told.commits))
        return CodeAnswer(History(node, told.note or past.problem), page, [node] if node else [])

    return _navigate(backend, ask)


def _told(commit: Commit, files: Mapping[str, Sequence[str]], shown: Container[str], root: Path) -> ToldCommit:
    """Return a commit without what is not indexed; its message too, if it changed nothing else that exists."""
    told = {path: symbols for path, symbols in files.items() if path in shown}
    if not told and any((root / path).exists() for path in files):
        commit = commit._replace(message=NOT_INDEXED, author="")
    return ToldCommit(commit, told, len(files) - len(told))


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
