"""Connects to Qdrant, and turns its failures into one-sentence errors."""

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import httpx
from pydantic import ValidationError
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from graphrag_mcp.errors import ServerError

SYNC = "; run `graphrag-mcp sync` where the project is indexed"

READS_ONLY = "does not let this API key write: it may only read; to copy an index, set the key that may write"

_UNKNOWN_KEY, _FORBIDDEN = 401, 403
_NOT_FOUND = 404
_MAX_QUOTED = 300  # The rest of a server's message is not quoted.
# An answer is not JSON, not in the form of Qdrant's answers, or incomplete.
_NONSENSE = (json.JSONDecodeError, ValidationError, AssertionError)
# Over REST, a broken connection is an ApiException; a text that is not Unicode is a ValueError.
_RAISED = (ApiException, QdrantException, grpc.RpcError, ValueError, AssertionError)


def connect(url: str, api_key: str, grpc_port: int, timeout_seconds: float) -> QdrantClient:
    """Return a client that connects on first use. grpc_port: 0 for REST. url: https for TLS.

    Raises ServerError when the key cannot be sent.
    """
    key = api_key.strip()
    if not (key.isascii() and key.isprintable()):  # Else the client would quote it in an error.
        raise ServerError(
            "the Qdrant API key contains characters that an HTTP header cannot; check GRAPHRAG_QDRANT_API_KEY"
        )
    with warnings.catch_warnings():
        # A server on this machine gets its key over plain HTTP; docs/servers.md says when TLS is needed.
        warnings.simplefilter("ignore")
        return QdrantClient(
            url=url,
            api_key=key or None,
            prefer_grpc=bool(grpc_port),
            grpc_port=grpc_port or 6334,
            timeout=max(1, math.ceil(timeout_seconds)),
            check_compatibility=False,  # It would connect at once, and the server may be down.
        )


@contextmanager
def reaching() -> Iterator[None]:
    """Turn what the client raises into a ServerError."""
    try:
        yield
    except _RAISED as error:
        raise ServerError(f"Qdrant {_reason(error)}") from error


def _reason(error: Exception) -> str:
    cause = error.source if isinstance(error, ResponseHandlingException) else error
    name = type(cause).__name__
    if isinstance(cause, UnexpectedResponse):
        if cause.status_code == _UNKNOWN_KEY:
            return f"rejects the API key (HTTP {cause.status_code}); check GRAPHRAG_QDRANT_API_KEY"
        if cause.status_code == _FORBIDDEN:
            return READS_ONLY
        step = SYNC if cause.status_code == _NOT_FOUND else ""
        return f"answered with HTTP {cause.status_code} ({_own_message(cause.content) or cause.reason_phrase}){step}"
    if isinstance(cause, httpx.HTTPError):
        return f"cannot be reached ({name}: {cause}); check GRAPHRAG_QDRANT_URL and that the server runs"
    if isinstance(cause, grpc.RpcError):  # Its text has several lines.
        code = cause.code().name if isinstance(cause, grpc.Call) else name
        message = _first_line(cause.details() or "") if isinstance(cause, grpc.Call) else ""
        if code == grpc.StatusCode.PERMISSION_DENIED.name:
            return READS_ONLY
        step = SYNC if code == grpc.StatusCode.NOT_FOUND.name else "; check GRAPHRAG_QDRANT_URL and the key"
        return f"answered with {code} over gRPC{f' ({message})' if message else ''}{step}"
    if isinstance(cause, _NONSENSE):
        return f"sent an unexpected answer ({name}); check GRAPHRAG_QDRANT_URL"
    return f"failed ({name}: {_first_line(str(cause))})"


def _own_message(content: bytes) -> str:
    """Return Qdrant's error message from the body of an answer; "" where it has none."""
    try:
        return _first_line(str(json.loads(content)["status"]["error"]))
    except (ValueError, LookupError, TypeError):
        return ""


def _first_line(text: str) -> str:
    return text.splitlines()[0][:_MAX_QUOTED] if text else ""
