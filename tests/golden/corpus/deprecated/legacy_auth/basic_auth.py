"""HTTP basic authentication for the handheld scanners. Switched off with release 3.0."""

import base64
from collections.abc import Mapping

from stockroom.auth.passwords import verify_password
from stockroom.errors import PermissionDenied


def authenticate_request(headers: Mapping[str, str], stored: Mapping[str, str]) -> str:
    """Return the user's name from the Authorization header; raises PermissionDenied when the password is wrong."""
    scheme, _, encoded = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        raise PermissionDenied("basic authentication is required")
    name, _, password = base64.b64decode(encoded).decode().partition(":")
    if name not in stored or not verify_password(password, stored[name]):
        raise PermissionDenied("the name or the password is wrong")
    return name
