"""Serves the page on this machine alone until it is interrupted."""

import secrets
import socket
from collections.abc import Callable

import uvicorn

from graphrag_mcp.app.lazy import Backend
from graphrag_mcp.app.local import App
from graphrag_mcp.errors import GraphragError, RequestError
from graphrag_mcp.ui.page import create_page

HOST = "127.0.0.1"
CLOSING_SECONDS = 1  # What is being answered when the page is stopped may finish.


def serve_page(backend: Backend[App], port: int, opened: Callable[[str, str], None]) -> None:
    """Serve until interrupted; `opened` gets the address with its token, and one that works once. Port 0: a free one.

    Raises GraphragError when the port is taken, RequestError when the number is no port's.
    """
    token, ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    with _listen(port) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            create_page(backend, port, token, ticket),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,  # It would hold the token.
            server_header=False,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        opened(*(f"http://{HOST}:{port}/?token={one}" for one in (token, ticket)))
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    # With the protocol named: else asyncio leaves Nagle's algorithm on, and the end of each answer waits for 40 ms.
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
