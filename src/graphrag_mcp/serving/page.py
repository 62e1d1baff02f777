"""The page over HTTP, on this machine alone: its files, and its requests as JSON."""

import hashlib
import json
import logging
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from graphrag_mcp.app.local import App
from graphrag_mcp.app.session import LazySession
from graphrag_mcp.errors import GraphragError, RequestError
from graphrag_mcp.index.failures import explain
from graphrag_mcp.serving.page_api import answer
from graphrag_mcp.serving.page_gate import Gate
from graphrag_mcp.tools.printing import as_json, printable

HOST = "127.0.0.1"
CLOSING_SECONDS = 1  # Requests that are running when the page is stopped may finish.
STATIC = Path(__file__).with_name("static")
LONGEST_BODY = 200_000
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

logger = logging.getLogger(__name__)


def serve_page(project: LazySession[App], port: int, opened: Callable[[str, str], None]) -> None:
    """Serve until interrupted; `opened` gets the address with the token, and one that works once. Port 0: any free one.

    Raises GraphragError when the port is taken, RequestError when the number is not a port.
    """
    token, ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    with _listen(port) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            create_page(project, port, token, ticket),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,  # It would contain the token.
            server_header=False,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        urls = [f"http://{HOST}:{port}/?token={value}" for value in (token, ticket)]
        _Server(config, lambda: opened(*urls)).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Calls back when it listens: from then on, an interrupt ends it in order."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()


def create_page(project: LazySession[App], port: int, token: str, ticket: str) -> ASGIApp:
    """Return the application that serves the page, on this port of this machine, behind `Gate`."""
    page = _Page(project)
    routes = [
        Route("/", page.file),
        Route("/static/{name:path}", page.file),
        Route("/api/{name}", page.api, methods=["POST"]),
    ]
    return Gate(Starlette(routes=routes), port, token, ticket)


class _Page:
    def __init__(self, project: LazySession[App]) -> None:
        self._project = project
        # Listed in advance: a path in a request is never looked up in the file system.
        self._files = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.suffix in _TYPES}

    async def file(self, request: Request) -> Response:
        path = self._files.get(request.path_params.get("name", "index.html"))
        if path is None:
            return PlainTextResponse("No such file; open the page itself.\n", 404)
        content = await run_in_threadpool(path.read_bytes)
        headers = {"cache-control": "no-cache", "etag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=_TYPES[path.suffix])

    async def api(self, request: Request) -> Response:
        """Answer one request of the page; a wrong one is a 400 with the reason."""
        try:
            values = await _body(request)
            name = request.path_params["name"]
            payload = await run_in_threadpool(lambda: self._project.open().ask(answer, name, values))
        except RequestError as error:
            return _json({"error": str(error), "argument": error.argument}, 400)
        except Exception as error:
            if known := explain(error):
                return _json({"error": known}, 503)
            logger.exception("a request of the page failed")
            return _json({"error": "Unexpected failure; see the terminal that runs graphrag-mcp ui."}, 500)
        return _json(payload, 200)


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


def _json(payload: object, status: int) -> Response:
    text = printable(json.dumps(as_json(payload), ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    return Response(text, status, {"cache-control": "no-store"}, JSONResponse.media_type)


def _listen(port: int) -> socket.socket:
    # With an explicit protocol: otherwise asyncio leaves Nagle's algorithm on, which delays each answer by 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OverflowError:
        listening.close()
        words = f"{port} is not a port; give --port a number from 1 to 65535, or leave it out"
        raise RequestError("port", words) from None
    except OSError as error:
        listening.close()
        raise GraphragError(
            f"port {port} of {HOST} cannot be opened ({error.strerror}); give --port another, or leave it out"
        ) from None
    return listening
