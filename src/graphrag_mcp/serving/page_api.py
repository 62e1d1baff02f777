"""The requests of the page and their answers as plain values, without HTTP."""

import time
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from typing import Annotated, Any, Literal

from msgspec import Meta

from graphrag_mcp import __version__
from graphrag_mcp.app.view import IndexView
from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.graph.reading import Neighbourhood
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.stores.sqlite.catalog import FileOrder
from graphrag_mcp.text.secrets import mask_secrets
from graphrag_mcp.tools.arguments import Request, parse_arguments
from graphrag_mcp.tools.excerpts import tokens_of
from graphrag_mcp.tools.printing import as_json, describe_state
from graphrag_mcp.tools.search_answer import iso, search_payload
from graphrag_mcp.tools.table import SEARCH_TOOLS, TOOLS

LONGEST_TEXT = 1_000
Values = Mapping[str, object]
MOST_COMPARED = 5_000  # Lines of a file; of longer ones the difference takes seconds.
MOST_LINES = 100_000  # All files together have no more, before and after; those behind have no lines.
CONTEXT = 3  # Lines around each that differs.


class ToolQuestion(Request, frozen=True, kw_only=True):
    """A call of a tool, by its name and its arguments."""

    tool: Annotated[str, Meta(max_length=100)] = "graphrag_hybrid_search"
    arguments: dict[str, Any]


class FileQuestion(Request, frozen=True, kw_only=True):
    """An indexed file."""

    path: Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT)]


class DiffQuestion(Request, frozen=True, kw_only=True):
    """What differs from a branch, a commit or in a range; "" for what is checked out."""

    base: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""


class GraphQuestion(Request, frozen=True, kw_only=True):
    """The neighbourhood of a symbol: by its name, or by the path and line of a result."""

    symbol: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""
    path: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""
    line: Annotated[int, Meta(ge=0, le=100_000_000)] = 0
    hops: Annotated[int, Meta(ge=1, le=3)] = 1
    limit: Annotated[int, Meta(ge=2, le=150)] = 40
    exclude_archived: bool = False


class _PageQuestion(Request, frozen=True, kw_only=True):
    text: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""
    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    size: Annotated[int, Meta(ge=1, le=500)] = 50

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size


class FilesQuestion(_PageQuestion, frozen=True, kw_only=True):
    """A page of the indexed files."""

    language: Annotated[str, Meta(max_length=100)] = ""
    category: Annotated[str, Meta(max_length=100)] = ""
    archived: Literal["all", "active", "archived"] = "all"
    order: FileOrder = "path"
    descending: bool = False


class SkippedQuestion(_PageQuestion, frozen=True, kw_only=True):
    """A page of the files that were left out."""

    reason: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""


class NoQuestion(Request, frozen=True, kw_only=True):
    """A request that takes no arguments."""


def answer(view: IndexView, name: str, values: Values) -> object:
    """Return the answer to a request of the page. Raises RequestError for an unknown request or wrong values."""
    if name not in REQUESTS:
        raise RequestError("name", f"{quoted(name)} is not a request of this page; there are: {', '.join(REQUESTS)}")
    model, ask = REQUESTS[name]
    return ask(view, parse_arguments(name, model, values))


def _project(view: IndexView, _asked: NoQuestion) -> dict[str, Any]:
    """Return what the page reads once: the root, and the arguments of the tools."""
    return {
        "root": str(view.root),
        "version": __version__,
        "tools": {name: tool.schema(view.settings)["properties"] for name, tool in SEARCH_TOOLS.items()},
    }


def _progress(view: IndexView, _asked: NoQuestion) -> dict[str, Any]:
    state = view.state
    return {**as_json(state), "words": describe_state(state)}


def _search(view: IndexView, question: ToolQuestion) -> dict[str, Any]:
    """Search as an agent would, and return everything that explains the result."""
    if question.tool not in SEARCH_TOOLS:
        raise RequestError("tool", f"{quoted(question.tool)} is not a search tool; use {' or '.join(SEARCH_TOOLS)}")
    tool = SEARCH_TOOLS[question.tool]
    started = time.perf_counter()
    result = tool.ask(view, tool.read(question.arguments, view.settings, view.root))
    return search_payload(result) | {"total_ms": (time.perf_counter() - started) * 1000}


def _call(view: IndexView, question: ToolQuestion) -> dict[str, Any]:
    """Return the answer of a tool as values, and as the text that an agent would get, with about how many tokens."""
    if question.tool not in TOOLS:
        raise RequestError("tool", f"{quoted(question.tool)} is not a tool; there are: {', '.join(TOOLS)}")
    tool = TOOLS[question.tool]
    call = tool.read(question.arguments, view.settings, view.root)
    answer = tool.ask(view, call)
    text = tool.write(answer, call)
    is_search = question.tool in SEARCH_TOOLS  # Its values are those of the request `search`.
    values = None if is_search else as_json(tool.json(answer, call))
    return {"values": values, "text": text, "tokens": tokens_of(text), "characters": len(text)}


def _file(view: IndexView, question: FileQuestion) -> dict[str, Any]:
    """Return an indexed file as it is on disk, with secrets masked, and what it defines."""
    outline = view.navigator.outline(question.path)
    path = outline.file.path
    texts = [text for _, text in view.files.read([path]) if text is not None]
    return {
        "path": path,
        "category": outline.file.category,
        "language": detect_language(path),
        "text": texts[0].decode("utf-8", "replace") if texts else "",
        "definitions": [as_json(definition) for definition in outline.definitions],
        "stale": bool(view.check([outline.file])),
    }


def _diff(view: IndexView, question: DiffQuestion) -> dict[str, Any]:
    """Return the lines that differ, with secrets masked, a hunk for each run of them."""
    difference = view.navigator.differing(question.base, "", Scope())
    files, left = [], MOST_LINES
    for file in difference.files:
        old, new = map(_lines, (file.old, file.new))
        left -= len(old) + len(new)
        # No rule says any more whether a file that is gone may be shown.
        is_shown = file.path and left >= 0 and max(len(old), len(new)) <= MOST_COMPARED
        files.append({"path": file.path or file.before, "hunks": _hunks(old, new) if is_shown else None})
    return {"files": files, "left": difference.left}


def _hunks(old: list[str], new: list[str]) -> list[dict[str, Any]]:
    hunks = []
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        lines: list[tuple[str, str]] = []
        for kind, start, end, begin, stop in group:
            is_same = kind == "equal"
            lines += [] if is_same else [("-", line) for line in old[start:end]]
            lines += [(" " if is_same else "+", line) for line in new[begin:stop]]
        hunks.append({"start": group[0][3] + 1, "lines": lines})
    return hunks


def _lines(text: bytes) -> list[str]:
    """Return the lines as they are numbered everywhere else: only "\\n" ends one, alone or after "\\r"."""
    shown = mask_secrets(text.decode("utf-8", "replace")).replace("\r\n", "\n").removesuffix("\n")
    return shown.split("\n") if shown else []


def _graph(view: IndexView, question: GraphQuestion) -> dict[str, Any]:
    """Return the code graph around a symbol or a result."""
    around = _around(view, question)
    return {
        "start": around.start.node_id,
        "nodes": [{"id": node.node_id, "hop": around.hops[node.node_id], **as_json(node)} for node in around.nodes],
        "edges": [{"source": edge.source_id, "target": edge.target_id, **as_json(edge)} for edge in around.edges],
        "others": [{"id": node.node_id, **as_json(node)} for node in around.others[:20]],
        "hidden": around.hidden,
        "stale": sorted(view.check(around.nodes)),
    }


def _around(view: IndexView, question: GraphQuestion) -> Neighbourhood:
    scope = Scope(exclude_archived=question.exclude_archived)
    location = f"{question.path}:{question.line}" if question.line else question.path
    is_both = question.path and question.symbol
    names = [f"{question.path}::{question.symbol}", location] if is_both else [question.symbol or location]
    if not names[0]:
        raise RequestError("symbol", "symbol and path are both empty; give the name of a symbol or the path of a file")
    try:
        return view.navigator.around(names[0], question.hops, question.limit, scope)
    except RequestError:
        if len(names) == 1:
            raise
        return view.navigator.around(names[1], question.hops, question.limit, scope)  # A heading or a block.


def _files(view: IndexView, question: FilesQuestion) -> dict[str, Any]:
    columns = {"language": question.language, "category": question.category}
    archived = None if question.archived == "all" else question.archived == "archived"
    files, total = view.index.inventory.files(
        question.text,
        columns,
        archived,
        question.order,
        descending=question.descending,
        first=question.first,
        limit=question.size,
    )
    rows = [as_json(file) | {"modified_at": iso(file.modified_at)} for file in files]
    return {"rows": rows, "total": total}


def _skipped(view: IndexView, question: SkippedQuestion) -> dict[str, Any]:
    rows, total = view.index.inventory.skipped(question.text, question.reason, question.first, question.size)
    return {"rows": [{"path": path, "reason": reason} for path, reason in rows], "total": total}


REQUESTS: Mapping[str, tuple[type[Request], Callable[[IndexView, Any], object]]] = {
    "project": (NoQuestion, _project),
    "progress": (NoQuestion, _progress),
    "status": (NoQuestion, lambda view, _: view.status()),
    "search": (ToolQuestion, _search),
    "call": (ToolQuestion, _call),
    "file": (FileQuestion, _file),
    "diff": (DiffQuestion, _diff),
    "graph": (GraphQuestion, _graph),
    "files": (FilesQuestion, _files),
    "skipped": (SkippedQuestion, _skipped),
}
