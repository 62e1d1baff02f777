"""Bearer tokens: a JSON payload and an HMAC, so that any process can verify one without asking a database."""

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

from stockroom.errors import TokenRejected


@dataclass(frozen=True)
class Claims:
    user_id: int
    role: str
    expires_at: int


def issue_token(claims: Claims, signing_keys: Sequence[str]) -> str:
    """Return a token signed with the newest key, which is the first."""
    payload = json.dumps({"sub": claims.user_id, "role": claims.role, "exp": claims.expires_at}).encode()
    encoded = base64.urlsafe_b64encode(payload).rstrip(b"=")
    return f"{encoded.decode()}.{_sign(encoded, signing_keys[0])}"


def verify_token(token: str, signing_keys: Sequence[str], now: int) -> Claims:
    """Return what a token claims; raises TokenRejected when it is malformed, expired or signed by nobody we trust.

    Old keys are tried too, so that a rotation logs nobody out.
    """
    encoded, dot, signature = token.partition(".")
    if not dot:
        raise TokenRejected("the token has no signature")
    signatures = (_sign(encoded.encode(), key) for key in signing_keys)
    if not any(hmac.compare_digest(signature, expected) for expected in signatures):
        raise TokenRejected("the token was signed with an unknown key")
    try:
        payload = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
        claims = Claims(payload["sub"], payload["role"], payload["exp"])
    except (ValueError, KeyError):
        raise TokenRejected("the token cannot be read") from None
    if claims.expires_at <= now:
        raise TokenRejected("the token has expired", expired_at=claims.expires_at)
    return claims


def rotate_signing_keys(keys: Sequence[str], new_key: str, keep: int = 2) -> tuple[str, ...]:
    """Put a new key first and forget all but the newest few."""
    return (new_key, *keys)[:keep]


def _sign(encoded: bytes, key: str) -> str:
    return hmac.new(key.encode(), encoded, hashlib.sha256).hexdigest()
