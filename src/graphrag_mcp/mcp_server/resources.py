"""What a client can attach to a conversation: a chunk, a file's outline, the map of the repository."""

from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from mcp.server import ServerRequestContext
from mcp.types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from graphrag_mcp.answers.arguments import MAXIMUM_BUDGET, MINIMUM_BUDGET
from graphrag_mcp.answers.outlines import write_chunk, write_map, write_outline
from graphrag_mcp.app.lazy import AnyBackend
from graphrag_mcp.errors import RequestError, not_indexed, quoted
from graphrag_mcp.mcp_server.calls import ask, in_thread, refusal, wait_until_complete

if TYPE_CHECKING:
    from graphrag_mcp.app.local import App
    from graphrag_mcp.app.remote import RemoteApp
    from graphrag_mcp.graph.navigator import Navigator, Outline
    from graphrag_mcp.graph.repository_map import RepositoryMap

MAP, OUTLINE, CHUNK = "graphrag://map", "graphrag://outline", "graphrag://chunk"
MAP_TOKENS = 2_000
PLAIN = "text/plain"

_Context = ServerRequestContext[Any]

RESOURCES = [
    Resource(
        uri=MAP,
        name="repository-map",
        title="Repository map",
        description="The definitions that most of this repository's code depends on, by file: where to begin to read.",
        mime_type=PLAIN,
    )
]
TEMPLATES = [
    ResourceTemplate(
        uri_template=f"{CHUNK}/{{+path}}{{?line}}",
        name="chunk",
        title="Chunk of a file",
        description="The function, class or section around a line of an indexed file, as the search shows it.",
        mime_type=PLAIN,
    ),
    ResourceTemplate(
        uri_template=f"{OUTLINE}/{{+path}}",
        name="outline",
        title="File outline",
        description="What an indexed file defines, with lines and signatures; the headings of a document.",
        mime_type=PLAIN,
    ),
    ResourceTemplate(
        uri_template=f"{MAP}{{?tokens}}",
        name="sized-repository-map",
        title="Repository map of a size",
        description=f"The repository map in {MINIMUM_BUDGET} to {MAXIMUM_BUDGET:,} tokens; {MAP_TOKENS:,} by default.",
        mime_type=PLAIN,
    ),
]


class Resources:
    """Lists and reads resources; they are written when they are read, from the index as it is then."""

    def __init__(self, backend: AnyBackend) -> None:
        self._backend = backend

    async def list(self, _context: _Context, _page: PaginatedRequestParams | None) -> ListResourcesResult:
        """Return the resources that need no choice."""
        return ListResourcesResult(resources=RESOURCES)

    async def list_templates(
        self, _context: _Context, _page: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Return what takes a path, a line or a size."""
        return ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read(self, context: _Context, asked: ReadResourceRequestParams) -> ReadResourceResult:
        """Return one resource as text. Raises MCPError, with the next step, when there is none of that name."""
        try:
            text = await ask(self._backend, partial(read_resource, context=context, uri=asked.uri))
        except Exception as error:
            raise refusal("resources/read", error) from error
        return ReadResourceResult(contents=[TextResourceContents(uri=asked.uri, mime_type=PLAIN, text=text)])


async def read_resource(app: "App | RemoteApp", context: _Context, uri: str) -> str:
    """Return the text of a resource. Raises RequestError when the URI names none."""
    kind, path, query = _parse(uri)
    note = await wait_until_complete(app, context)
    if kind == MAP:
        found, _ = await in_thread(partial(app.navigate, _map))
        return write_map(found, _number(query, "tokens", MAP_TOKENS, MINIMUM_BUDGET, MAXIMUM_BUDGET), note)
    if kind == OUTLINE:
        outline, stale = await in_thread(partial(app.navigate, partial(_outline, path=path)))
        return write_outline(outline, app.settings.retrieval.response_tokens, note, bool(stale))
    chunk = await in_thread(partial(app.chunk_at, path, _number(query, "line", 1, 1)))
    if chunk is None:
        raise RequestError("uri", not_indexed(path))
    return write_chunk(chunk, note)


def _map(navigator: "Navigator") -> "RepositoryMap":
    return navigator.repository_map()


def _outline(navigator: "Navigator", path: str) -> "Outline":
    return navigator.outline(path)


def _parse(uri: str) -> tuple[str, str, dict[str, list[str]]]:
    """Return the kind of resource, the path in the repository, and the query."""
    try:
        parts = urlsplit(uri)
        kind, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path.removeprefix("/"))
    except ValueError:
        kind, path = "", ""
    if kind not in (MAP, OUTLINE, CHUNK) or (kind != MAP) != bool(path):
        raise RequestError("uri", f"{quoted(uri)} is no resource; use {MAP}, {OUTLINE}/PATH or {CHUNK}/PATH?line=LINE")
    return kind, path, parse_qs(parts.query)


def _number(query: dict[str, list[str]], name: str, default: int, least: int, most: int | None = None) -> int:
    text = query.get(name, [str(default)])[-1]
    if not text.isdecimal() or len(text) > 9 or int(text) < least or (most is not None and int(text) > most):
        accepted = f"from {least} to {most:,}" if most is not None else f"from {least} on"
        raise RequestError(name, f"{name} = {quoted(text)}: expected a whole number {accepted}")
    return int(text)
