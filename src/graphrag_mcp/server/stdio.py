"""Serves MCP over standard input and output, and leaves at once when the client does."""

import logging
import os
import signal
import threading
import time
from types import FrameType
from typing import Any, NoReturn

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from graphrag_mcp.server.backend import Backend
from graphrag_mcp.server.wire import Wire

CLOSING_SECONDS = 0.05  # A client sends the next signal after 100 ms; the index survives a kill at any point.
PARENT_POLL_SECONDS = 1.0

logger = logging.getLogger(__name__)


def serve(server: Server[Any], backend: Backend, wire: Wire, client: int) -> NoReturn:
    """Serve until the client (a process id) closes its end, sends a signal or vanishes; ends the process."""

    def leave(_signal: int = 0, _frame: FrameType | None = None) -> NoReturn:
        closing = threading.Thread(target=backend.close, daemon=True)
        closing.start()
        closing.join(CLOSING_SECONDS)
        os._exit(0)  # Not sys.exit: that waits for every thread, and one may be indexing.

    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    threading.Thread(target=_follow, args=(client,), name="follow-client", daemon=True).start()
    try:
        anyio.run(_serve, server, wire)
    except Exception:
        logger.exception("The connection broke")
    leave()


async def _serve(server: Server[Any], wire: Wire) -> None:
    async with stdio_server(anyio.wrap_file(wire.requests), anyio.wrap_file(wire.answers)) as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def _follow(client: int) -> NoReturn:
    """Exit when the client is gone though the pipe is still open, as when another process has inherited it."""
    while os.getppid() == client:
        time.sleep(PARENT_POLL_SECONDS)
    os._exit(0)
