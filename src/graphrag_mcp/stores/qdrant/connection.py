"""Connects to Qdrant, and says in one sentence what went wrong."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from graphrag_mcp.errors import GraphragError, ServerError

_REFUSED = (401, 403)


def connect(url: str, api_key: str, grpc_port: int, timeout_seconds: float) -> QdrantClient:
    """Return a client that connects when it is first used. grpc_port: 0 for REST. url: https for TLS."""
    with warnings.catch_warnings():
        # A key over plain HTTP is what a server on this machine gets; README says when TLS is needed.
        warnings.simplefilter("ignore")
        return QdrantClient(
            url=url,
            api_key=api_key or None,
            prefer_grpc=bool(grpc_port),
            grpc_port=grpc_port or 6334,
            timeout=max(1, math.ceil(timeout_seconds)),
            check_compatibility=False,  # It asks the server at once, which may be away.
        )


@contextmanager
def reaching() -> Iterator[None]:
    """Turn whatever the client raises into a ServerError."""
    try:
        yield
    except GraphragError:
        raise
    except Exception as error:
        raise ServerError(f"Qdrant {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, UnexpectedResponse):
        if error.status_code in _REFUSED:
            return f"refuses the key (HTTP {error.status_code}); check GRAPHRAG_QDRANT_API_KEY"
        return f"answers with HTTP {error.status_code} ({error.reason_phrase})"
    if isinstance(error, ResponseHandlingException):
        cause = error.source
        return f"cannot be reached ({type(cause).__name__}: {cause}); check GRAPHRAG_QDRANT_URL and that it runs"
    code = getattr(error, "code", None)  # gRPC's errors, whose texts have several lines.
    if callable(code):
        return f"answers with {code().name} over gRPC; check GRAPHRAG_QDRANT_URL and the key"
    return f"failed ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})"
