"""What a client can attach to a conversation: a chunk, a file's outline, the map of the repository; and completion."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from mcp import types

from graphrag_mcp.app.session import LazySession
from graphrag_mcp.errors import RequestError, not_indexed, quoted
from graphrag_mcp.serving.calls import Context, ask, refusal, wait_for_index
from graphrag_mcp.tools.arguments import MAXIMUM_BUDGET, MINIMUM_BUDGET
from graphrag_mcp.tools.index_status import orientation
from graphrag_mcp.tools.outlines import write_chunk, write_map, write_orientation, write_outline
from graphrag_mcp.tools.printing import describe_incomplete

if TYPE_CHECKING:  # They import numpy through the ports, and no client should wait for that.
    from graphrag_mcp.app.local import App
    from graphrag_mcp.app.view import IndexView

OVERVIEW, MAP = "graphrag://overview", "graphrag://map"
OUTLINE, CHUNK = "graphrag://outline", "graphrag://chunk"
MAP_TOKENS = 2_000
PLAIN = "text/plain"
MOST_VALUES = 100  # The protocol allows no more in a completion.

RESOURCES = [
    types.Resource(
        uri=OVERVIEW,
        name="overview",
        title="Overview",
        description="Languages, packages, entry points, the modules that most depend on, tests, settings: in 1,500 "
        "characters.",
        mime_type=PLAIN,
    ),
    types.Resource(
        uri=MAP,
        name="repository-map",
        title="Repository map",
        description="The definitions that most of this repository's code depends on, by file: where to start reading.",
        mime_type=PLAIN,
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{CHUNK}/{{+path}}{{?line}}",
        name="chunk",
        title="Chunk of a file",
        description="The function, class or section around a line of an indexed file, as the search shows it.",
        mime_type=PLAIN,
    ),
    types.ResourceTemplate(
        uri_template=f"{OUTLINE}/{{+path}}",
        name="outline",
        title="File outline",
        description="What an indexed file defines, with lines and signatures; the headings of a document.",
        mime_type=PLAIN,
    ),
    types.ResourceTemplate(
        uri_template=f"{MAP}{{?tokens}}",
        name="sized-repository-map",
        title="Repository map of a size",
        description=f"The repository map in {MINIMUM_BUDGET} to {MAXIMUM_BUDGET:,} tokens; {MAP_TOKENS:,} by default.",
        mime_type=PLAIN,
    ),
]


class Resources:
    """Lists and reads resources, and completes paths and symbols, all from the current index."""

    def __init__(self, project: "LazySession[App]") -> None:
        self._project = project

    async def list(self, _context: Context, _page: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=RESOURCES)

    async def list_templates(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return one resource as text. Raises MCPError, with the next step, when there is none of that name."""
        try:
            text = await read_resource(self._project, context, params.uri)
        except Exception as error:
            raise refusal("resources/read", error) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type=PLAIN, text=text)]
        )

    async def complete(self, _context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Return the indexed paths or symbols that begin with the text, then those that contain it."""
        try:
            values = await ask(self._project, _complete, params.argument.name, params.argument.value)
        except Exception as error:
            raise refusal("completion/complete", error) from error
        shown = values[:MOST_VALUES]
        completion = types.Completion(values=shown, total=len(values), has_more=len(values) > len(shown))
        return types.CompleteResult(completion=completion)


async def read_resource(project: "LazySession[App]", context: Context, uri: str) -> str:
    """Return the text of a resource. Raises RequestError when the URI names none."""
    kind, path, query = _parse(uri)
    await wait_for_index(project, context)
    if kind == OVERVIEW:
        return await ask(project, lambda view: write_orientation(orientation(view), describe_incomplete(view.state)))
    if kind == MAP:
        return await ask(project, _map, _number(query, "tokens", MAP_TOKENS, MINIMUM_BUDGET, MAXIMUM_BUDGET))
    if kind == OUTLINE:
        return await ask(project, _outline, path)
    return await ask(project, _chunk, path, _number(query, "line", 1, 1))


def _map(view: "IndexView", tokens: int) -> str:
    repository_map = view.navigator.repository_map()
    view.check(repository_map.nodes)
    return write_map(repository_map, tokens, describe_incomplete(view.state))


def _outline(view: "IndexView", path: str) -> str:
    outline = view.navigator.outline(path)
    is_stale = bool(view.check(outline.nodes))
    return write_outline(outline, view.settings.retrieval.response_tokens, describe_incomplete(view.state), is_stale)


def _chunk(view: "IndexView", path: str, line: int) -> str:
    chunk = view.chunk_at(path, line)
    if chunk is None:
        raise RequestError("uri", not_indexed(path))
    return write_chunk(chunk, describe_incomplete(view.state))


def _complete(view: "IndexView", name: str, beginning: str) -> list[str]:
    match name:
        case "path":
            return view.navigator.complete_path(beginning)
        case "symbol":
            return view.navigator.complete_symbol(beginning)
    return []


def _parse(uri: str) -> tuple[str, str, dict[str, list[str]]]:
    """Return the kind of resource, the path in the repository, and the query."""
    try:
        parts = urlsplit(uri)
        kind, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path.removeprefix("/"))
    except ValueError:
        kind, path = "", ""
    if kind not in (OVERVIEW, MAP, OUTLINE, CHUNK) or (kind in (OUTLINE, CHUNK)) != bool(path):
        raise RequestError(
            "uri", f"{quoted(uri)} is not a resource; use {OVERVIEW}, {MAP}, {OUTLINE}/PATH or {CHUNK}/PATH?line=LINE"
        )
    return kind, path, parse_qs(parts.query)


def _number(query: dict[str, list[str]], name: str, default: int, least: int, most: int | None = None) -> int:
    text = query.get(name, [str(default)])[-1]
    if not text.isdecimal() or len(text) > 9 or int(text) < least or (most is not None and int(text) > most):
        accepted = f"from {least} to {most:,}" if most is not None else f"from {least} on"
        raise RequestError(name, f"{name} = {quoted(text)}: expected a whole number {accepted}")
    return int(text)
