"""Keeps the protocol's two streams for the protocol: stray output misses them, a broken request gets an answer."""

import json
import os
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, BinaryIO

from pydantic_core import from_json

PARSE_ERROR = -32700
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
    """Return the answer to a line that is no JSON, or whose text is no Unicode; None when the line is fine."""
    if not line.strip():
        return None
    try:
        from_json(line)
    except ValueError as error:
        reason = str(error)
    else:
        return None
    try:
        message = json.loads(line)  # More tolerant: it takes half a surrogate pair, and so tells whose request it was.
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, f"This is not JSON: {reason}")
    if not isinstance(message, dict):
        return _error(None, PARSE_ERROR, f"This is not JSON: {reason}")
    name = _broken_argument(message)
    if not name:
        return _error(message.get("id"), PARSE_ERROR, f"This cannot be read: {reason}")
    return _error(message.get("id"), INVALID_PARAMS, f"{name} holds half of a surrogate pair; send whole characters")


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
