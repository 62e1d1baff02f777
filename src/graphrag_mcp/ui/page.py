"""The page over HTTP: its files, and its requests as JSON."""

import hashlib
import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from graphrag_mcp.answers.render import printable
from graphrag_mcp.app.lazy import Backend
from graphrag_mcp.app.local import App
from graphrag_mcp.errors import RequestError
from graphrag_mcp.index.failures import explain
from graphrag_mcp.ui.api import answer
from graphrag_mcp.ui.gate import Gate

STATIC = Path(__file__).with_name("static")
LONGEST_BODY = 200_000
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

logger = logging.getLogger(__name__)


def create_page(backend: Backend[App], port: int, token: str, ticket: str) -> ASGIApp:
    """Return the application that serves the page, on this port of this machine, to whoever `Gate` lets in."""
    page = _Page(backend)
    routes = [
        Route("/", page.index),
        Route("/static/{name:path}", page.static),
        Route("/api/{name}", page.api, methods=["POST"]),
    ]
    return Gate(Starlette(routes=routes), port, token, ticket)


class _Page:
    def __init__(self, backend: Backend[App]) -> None:
        self._backend = backend
        # Known beforehand: no path that a request names is ever looked up in the file system.
        self._files = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.suffix in _TYPES}

    async def index(self, request: Request) -> Response:
        return await self._file(request, "index.html")

    async def static(self, request: Request) -> Response:
        return await self._file(request, request.path_params["name"])

    async def _file(self, request: Request, name: str) -> Response:
        path = self._files.get(name)
        if path is None:
            return PlainTextResponse("There is no such file; open the page itself.\n", 404)
        content = await run_in_threadpool(path.read_bytes)
        headers = {"cache-control": "no-cache", "etag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=_TYPES[path.suffix])

    async def api(self, request: Request) -> Response:
        """Answer one request of the page; a wrong one is a 400 with the sentence that says why."""
        try:
            values = await _body(request)
            payload = await run_in_threadpool(self._answer, request.path_params["name"], values)
        except RequestError as error:
            return _json({"error": str(error), "argument": error.argument}, 400)
        except Exception as error:
            if known := explain(error):
                return _json({"error": known}, 503)
            logger.exception("a request of the page failed")
            return _json({"error": "This failed unexpectedly; the terminal that runs graphrag-mcp ui says more."}, 500)
        return _json(payload, 200)

    def _answer(self, name: str, values: dict[str, Any]) -> dict[str, Any]:
        """Answer; an index file that cannot be read is examined."""
        app = self._backend.app()
        try:
            try:
                return answer(app, name, values)
            except sqlite3.ProgrammingError:  # The file was closed meanwhile, to be examined.
                return answer(app, name, values)
        except sqlite3.Error as error:
            logger.warning("the index file cannot be read: %s", error)
            raise app.doubt(error) from error


async def _body(request: Request) -> dict[str, Any]:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise RequestError("body", f"the request is longer than {LONGEST_BODY:,} bytes; send a shorter one")
    try:
        values = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise RequestError("body", "the request is not JSON; send an object with the arguments") from None
    if not isinstance(values, dict):
        raise RequestError("body", "the request is not an object; send the arguments by name")
    return values


def _json(payload: dict[str, Any], status: int) -> Response:
    text = printable(json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    return Response(text, status, {"cache-control": "no-store"}, JSONResponse.media_type)
