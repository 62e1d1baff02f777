"""Serves MCP over standard input and output, and ends as soon as the client does."""

import logging
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from graphrag_mcp.mcp_server.wire import AnswerWriter, RequestReader, leave

PARENT_POLL_SECONDS = 1.0
SWITCH_SECONDS = 0.0005  # A search takes Python's lock a hundred times, by default after 5 ms each during a run.
LAST_POLLS = 3  # After the end of the input: a client that does not read either would keep the SDK writing.

logger = logging.getLogger(__name__)


def serve(server: Server[Any], requests: RequestReader, answers: AnswerWriter, client: int) -> NoReturn:
    """Serve until the client (a process id) closes its end, sends a signal or vanishes; ends the process."""
    sys.setswitchinterval(SWITCH_SECONDS)
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    threading.Thread(target=_follow, args=(client, requests), name="follow-client", daemon=True).start()
    try:
        anyio.run(_serve, server, requests, answers)
    except Exception:
        logger.exception("The connection broke")
    leave()


async def _serve(server: Server[Any], requests: RequestReader, answers: AnswerWriter) -> None:
    async with stdio_server(anyio.wrap_file(requests), anyio.wrap_file(answers)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _follow(client: int, requests: RequestReader) -> NoReturn:
    """Exit when the client is gone while the pipe is still open, because another process inherited it."""
    polls = LAST_POLLS
    while os.getppid() == client and polls:
        time.sleep(PARENT_POLL_SECONDS)
        polls -= requests.has_ended
    leave()
