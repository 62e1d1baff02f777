"""Serves MCP over standard input and output, and ends as soon as the client does."""

import logging
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, NoReturn

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from graphrag_mcp.ingest.workers.starting import stop_starting
from graphrag_mcp.mcp_server.wire import StdioStreams

PARENT_POLL_SECONDS = 1.0
SWITCH_SECONDS = 0.0005  # A search takes Python's lock a hundred times, by default after 5 ms each during a run.
START_SECONDS = 0.3  # A parsing process starts in a few milliseconds, in more on a busy machine.

logger = logging.getLogger(__name__)


def serve(server: Server[Any], streams: StdioStreams, client: int) -> NoReturn:
    """Serve until the client (a process id) closes its end, sends a signal or vanishes; ends the process."""
    sys.setswitchinterval(SWITCH_SECONDS)
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow, args=(client,), name="follow-client", daemon=True).start()
    try:
        anyio.run(_serve, server, streams)
    except Exception:
        logger.exception("The connection broke")
    _leave()


def _leave(_signal: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """End at once: a client sends the next signal after 100 ms, and the index survives a kill at any point.

    Closing the stores first would make an index run fail, and log it, in the middle of a batch.
    """
    stop_starting(START_SECONDS)
    os._exit(0)


async def _serve(server: Server[Any], streams: StdioStreams) -> None:
    async with stdio_server(anyio.wrap_file(streams.requests), anyio.wrap_file(streams.answers)) as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def _follow(client: int) -> NoReturn:
    """Exit when the client is gone while the pipe is still open, because another process inherited it."""
    while os.getppid() == client:
        time.sleep(PARENT_POLL_SECONDS)
    _leave()
