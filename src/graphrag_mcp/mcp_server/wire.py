"""Keeps the protocol's two streams for the protocol: stray output misses them, a broken request gets an answer."""

import json
import os
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, BinaryIO

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602


@dataclass(frozen=True, slots=True)
class Wire:
    """The two ends of the protocol, moved away from the file descriptors 0 and 1."""

    requests: TextIOWrapper
    answers: TextIOWrapper


def take_wire() -> Wire:
    """Move the protocol's streams; from now on, what anything prints goes to standard error.

    To be called before anything is imported that might print. Child processes read an empty standard input.
    """
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    wire = TextIOWrapper(os.fdopen(answers, "wb"), encoding="utf-8", newline="\n")
    return Wire(RequestReader(os.fdopen(requests, "rb"), wire), wire)


class RequestReader(TextIOWrapper):
    """Hands on the lines that are JSON and answers the others, which would be dropped without a word."""

    def __init__(self, stream: BinaryIO, answers: TextIOWrapper) -> None:
        super().__init__(stream, encoding="utf-8", errors="replace")
        self._answers = answers

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # The stubs' base class reads bytes.
        """Return the next line that can be read as JSON, "" at the end of input."""
        while line := super().readline(size):
            refusal = _refusal(line)
            if refusal is None:
                return line
            self._answers.write(json.dumps(refusal) + "\n")
            self._answers.flush()
        return ""


def _refusal(line: str) -> dict[str, Any] | None:
    """Return the answer to a line that is no request in JSON, or whose text is no Unicode; None when it is fine."""
    from pydantic_core import from_json  # Only now: what an import prints misses the wire.

    if not line.strip():
        return None
    try:
        message = from_json(line)
    except ValueError as error:
        return _refuse_text(line, str(error))
    return _refuse_shape(message)


def _refuse_text(line: str, reason: str) -> dict[str, Any]:
    try:
        message = json.loads(line)  # More tolerant: it takes half a surrogate pair, and so tells whose request it was.
    except (ValueError, RecursionError):
        message = None
    name = _broken_argument(message) if isinstance(message, dict) else ""
    if not isinstance(message, dict) or not name:
        text = f"This is not JSON: {reason}; send one JSON-RPC request a line, in UTF-8"
        return _error(_id_of(message), PARSE_ERROR, text)
    return _error(_id_of(message), INVALID_PARAMS, f"{name} holds half of a surrogate pair; send whole characters")


def _refuse_shape(message: object) -> dict[str, Any] | None:
    """Return the answer to JSON that is no JSON-RPC message, which the SDK would drop without a word."""
    if isinstance(message, list):
        return _error(None, INVALID_REQUEST, "A batch is not a request here; send one JSON-RPC request a line")
    if not isinstance(message, dict) or not message.keys() & {"method", "result", "error"}:
        text = 'This is not a JSON-RPC request; send {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
        return _error(_id_of(message), INVALID_REQUEST, text)
    if message.get("jsonrpc") != "2.0":
        return _error(_id_of(message), INVALID_REQUEST, 'The request is not of JSON-RPC 2.0; send "jsonrpc": "2.0"')
    if "method" not in message:
        return None  # An answer, to nobody's question.
    if "id" in message and _id_of(message) is None:
        return _error(None, INVALID_REQUEST, "The request's id is neither text nor a whole number; give it one of them")
    if not isinstance(message["method"], str):
        problem = "The request's method is not text; use initialize, ping, tools/list or tools/call"
    elif not isinstance(message.get("params", {}), dict):
        problem = "The request's params are not an object; send them by name"
    else:
        return None
    return _error(_id_of(message), INVALID_REQUEST, problem) if "id" in message else None


def _id_of(message: object) -> str | int | None:
    request_id = message.get("id") if isinstance(message, dict) else None
    return request_id if isinstance(request_id, (str, int)) and not isinstance(request_id, bool) else None


def _broken_argument(message: dict[str, Any]) -> str:
    params = message.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    for name, value in arguments.items() if isinstance(arguments, dict) else ():
        if any("\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False)):
            return str(name)
    text = json.dumps(message, ensure_ascii=False)
    return "The request" if any("\ud800" <= character <= "\udfff" for character in text) else ""


def _error(request_id: object, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}
