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

from graphrag_mcp.app import App
from graphrag_mcp.errors import GraphragError, RequestError, ServerError
from graphrag_mcp.server.backend import Backend
from graphrag_mcp.server.render import printable
from graphrag_mcp.stores.sqlite.database import is_busy
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
            payload = await run_in_threadpool(self._answer_anyway, request.path_params["name"], values)
        except RequestError as error:
            return _json({"error": str(error), "argument": error.argument}, 400)
        except GraphragError as error:
            return _json({"error": str(error)}, 503)
        except Exception:
            logger.exception("a request of the page failed")
            return _json({"error": "This failed unexpectedly; the terminal that runs graphrag-mcp ui says more."}, 500)
        return _json(payload, 200)

    def _answer_anyway(self, name: str, values: dict[str, Any]) -> dict[str, Any]:
        """Answer; when the index file was damaged since it was opened, have it replaced and answer from that."""
        app = self._backend.app()
        try:
            return answer(app, name, values)
        except sqlite3.DatabaseError as error:
            if is_busy(error):
                raise ServerError(f"another program holds the index file ({error}); try again in a moment") from None
            logger.warning("the index broke (%s) and is opened anew", error)
            return answer(self._backend.replace(app), name, values)


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
