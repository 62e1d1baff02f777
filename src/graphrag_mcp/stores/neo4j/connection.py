"""Connects to Neo4j, and turns its failures into one-sentence errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import ValidationError
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import (
    AuthError,
    ConnectionPoolError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from graphrag_mcp.errors import ServerError

_REFUSED = "Neo4j refuses the credentials; check GRAPHRAG_NEO4J_USER and GRAPHRAG_NEO4J_PASSWORD"
_MOST_QUOTED = 300  # The rest of a message, which may quote the data, is left out.
_TOO_MANY_WRONG = (
    "Neo.ClientError.Security.AuthenticationRateLimit"  # For some seconds, correct passwords are rejected too.
)

_OF_STATEMENTS = "Neo.ClientError.Statement."


def connect(uri: str, user: str, password: str, timeout_seconds: float, retry_seconds: float) -> Driver:
    """Return a driver that connects on first use; it retries transient errors for `retry_seconds`."""
    return GraphDatabase.driver(
        uri,
        auth=(user, password),
        connection_timeout=timeout_seconds,
        connection_acquisition_timeout=timeout_seconds,
        liveness_check_timeout=0,  # The check detects a server that froze before a connection is used again.
        max_transaction_retry_time=retry_seconds,
        notifications_min_severity="OFF",  # "The label does not exist" is an empty database, not a problem.
    )


@contextmanager
def reaching() -> Iterator[None]:
    """Turn what the driver raises into a ServerError."""
    try:
        yield
    except AuthError as error:
        raise ServerError(_REFUSED) from error
    except (ServiceUnavailable, SessionExpired, ConnectionPoolError) as error:
        raise ServerError("Neo4j cannot be reached; check GRAPHRAG_NEO4J_URI and that the server runs") from error
    except Neo4jError as error:
        if error.code == _TOO_MANY_WRONG:
            raise ServerError(_REFUSED) from error
        # What is wrong with a statement may quote what the database holds.
        said = "" if (error.code or "").startswith(_OF_STATEMENTS) else f": {_first_line(error.message)}"
        raise ServerError(f"Neo4j answered with {error.code}{said}") from error
    except ValidationError as error:
        raise ServerError(f"Neo4j holds what no sync wrote ({_first_line(str(error))})") from error
    except (DriverError, ValueError) as error:  # A text that is not Unicode is a ValueError.
        raise ServerError(f"Neo4j failed ({type(error).__name__}: {_first_line(str(error))})") from error


def _first_line(text: str | None) -> str:
    return text.splitlines()[0][:_MOST_QUOTED] if text else "no message"
