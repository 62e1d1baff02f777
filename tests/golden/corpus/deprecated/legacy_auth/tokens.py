"""Session tokens in the database: random, looked up on every request. Replaced by signed tokens."""

import secrets
from dataclasses import dataclass
from typing import Any

from stockroom.errors import TokenRejected


@dataclass(frozen=True)
class Claims:
    user_id: int
    role: str
    expires_at: int


def issue_token(connection: Any, claims: Claims) -> str:
    """Return a random token and store what it stands for."""
    token = secrets.token_urlsafe(32)
    connection.execute(
        "INSERT INTO session_tokens (token, user_id, role, expires_at) VALUES (%s, %s, %s, %s)",
        (token, claims.user_id, claims.role, claims.expires_at),
    )
    return token


def verify_token(connection: Any, token: str, now: int) -> Claims:
    """Return what a token claims; raises TokenRejected when it is unknown or expired."""
    row = connection.fetch_one("SELECT user_id, role, expires_at FROM session_tokens WHERE token = %s", (token,))
    if row is None:
        raise TokenRejected("the token is unknown")
    claims = Claims(row["user_id"], row["role"], row["expires_at"])
    if claims.expires_at <= now:
        raise TokenRejected("the token has expired", expired_at=claims.expires_at)
    return claims


def revoke_token(connection: Any, token: str) -> None:
    connection.execute("DELETE FROM session_tokens WHERE token = %s", (token,))
