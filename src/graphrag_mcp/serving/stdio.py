"""Serves MCP over standard input and output, which are its own: stray output does not reach the client.

An invalid request gets an answer, and the process ends as soon as the client does. Until the streams are claimed,
nothing is imported that might print.
"""

import json
import logging
import os
import signal
import sys
import threading
import time
from io import TextIOWrapper
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from graphrag_mcp.system.process import end

if TYPE_CHECKING:
    from mcp.server import Server

PARENT_POLL_SECONDS = 1.0
SWITCH_SECONDS = 0.0005  # A search takes Python's lock a hundred times, by default after 5 ms each during a run.
LAST_POLLS = 3  # After the end of the input: a client that does not read either would keep the SDK writing.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
NO_REQUEST = (
    "This is not a JSON-RPC 2.0 request on a line of its own, with an id that is text or a whole number; "
    'send {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
)

logger = logging.getLogger(__name__)


def claim_stdio() -> "tuple[RequestReader, AnswerWriter]":
    """Move the protocol's streams away from the file descriptors 0 and 1, and return them.

    From now on, all other output goes to standard error. Call it before any import that might print.
    Child processes read an empty standard input.
    """
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    stream = AnswerWriter(os.fdopen(answers, "wb"), encoding="utf-8", newline="\n", line_buffering=True)
    return RequestReader(os.fdopen(requests, "rb"), stream), stream


def serve(server: "Server[Any]", requests: "RequestReader", answers: "AnswerWriter", client: int) -> NoReturn:
    """Serve until the client (a process id) closes its end, sends a signal or vanishes; ends the process."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server(anyio.wrap_file(requests), anyio.wrap_file(answers)) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    sys.setswitchinterval(SWITCH_SECONDS)
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    threading.Thread(target=_follow, args=(client, requests), name="follow-client", daemon=True).start()
    try:
        anyio.run(run)
    except Exception:
        logger.exception("The connection broke")
    leave()


def _follow(client: int, requests: "RequestReader") -> NoReturn:
    """Exit when the client is gone while the pipe is still open, because another process inherited it."""
    polls = LAST_POLLS
    while os.getppid() == client and polls:
        time.sleep(PARENT_POLL_SECONDS)
        polls -= requests.has_ended
    leave()


def leave(_signal: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """End at once: a client sends the next signal after 100 ms, and the index survives a kill at any point.

    Closing the stores first would make an index run fail, and log it, in the middle of a batch.
    """
    end(0)


class AnswerWriter(TextIOWrapper):
    """Ends the process when the client has closed its reading end: the SDK would wait for the end of the input."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            leave()


class RequestReader(TextIOWrapper):
    """Passes on the lines that the SDK reads and answers the others, which it would drop silently."""

    def __init__(self, stream: BinaryIO, answers: AnswerWriter) -> None:
        super().__init__(stream, encoding="utf-8", errors="replace")
        self._answers = answers
        self.has_ended = False

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # The stubs' base class reads bytes.
        """Return the next line that the SDK reads, "" at the end of input."""
        while line := super().readline(size):
            response = _error_response(line)
            if response is None:
                return line
            self._answers.write(json.dumps(response) + "\n")
        self.has_ended = True
        return ""


def _error_response(line: str) -> dict[str, Any] | None:
    """Return the answer to a line that the SDK would drop silently; None for a line that it reads."""
    from mcp.types import jsonrpc_message_adapter  # Only now: what an import prints must not reach the client.
    from pydantic import ValidationError
    from pydantic_core import from_json

    if not line.strip():
        return None
    try:
        message = from_json(line)
    except ValueError as error:
        return _refuse_text(line, str(error))
    try:
        jsonrpc_message_adapter.validate_python(message)
    except ValidationError:
        return _error(_id_of(message), INVALID_REQUEST, NO_REQUEST)
    if "method" in message and "id" in message and _id_of(message) is None:  # The SDK takes it for a notification.
        return _error(None, INVALID_REQUEST, NO_REQUEST)
    return None


def _refuse_text(line: str, reason: str) -> dict[str, Any]:
    try:
        message = json.loads(line)  # More tolerant: it accepts unpaired surrogates, so the id can be read.
    except (ValueError, RecursionError):
        message = None
    name = _broken_argument(message) if isinstance(message, dict) else ""
    if not name:
        text = f"This cannot be read as JSON: {reason}; send one JSON-RPC request per line, in UTF-8"
        return _error(_id_of(message), PARSE_ERROR, text)
    return _error(_id_of(message), INVALID_PARAMS, f"{name} contains an unpaired surrogate; send valid UTF-8")


def _id_of(message: object) -> str | int | None:
    request_id = message.get("id") if isinstance(message, dict) else None
    return request_id if isinstance(request_id, (str, int)) and not isinstance(request_id, bool) else None


def _broken_argument(message: dict[str, Any]) -> str:
    """Return the argument with an unpaired surrogate, else "The request" if it has one elsewhere, else ""."""
    params = message.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    named = arguments.items() if isinstance(arguments, dict) else ()
    return next((name for name, value in [*named, ("The request", message)] if _is_broken(value)), "")


def _is_broken(value: object) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False))


def _error(request_id: object, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}
