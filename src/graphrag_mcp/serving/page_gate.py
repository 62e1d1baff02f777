"""Lets in only the person who started the page: the address, the token and the origin of every request are checked.

The page is opened with the token in its address, and gets a cookie for all later requests. A header set by a script
would not do: scripts and style sheets could not be requested with it, a reload would lose it, and hostile text in the
page could read it and send it away. The cookie is HttpOnly and SameSite=Strict, is valid for this run only, and its
value is not the token. Browsers send cookies to every port of a host, so requests by another local page are refused by
their origin. The browser that the command starts gets a ticket for one use in place of the token: every user of the
machine can read the arguments of a process.
"""

import hashlib
import secrets
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
MISDIRECTED, FORBIDDEN = 421, 403
HTTP_PORT = 80  # Clients leave it out of the Host header.
_OWN = ("same-origin", "none")  # "none": the person typed the address or opened it from a terminal.


class Gate:
    """Refuses requests that may not come in, and adds the headers that isolate the page."""

    def __init__(self, inner: ASGIApp, port: int, token: str, ticket: str) -> None:
        """token: opens the page any number of times. ticket: opens it once, in place of the token."""
        self._inner = inner
        self._token = token
        self._ticket = ticket
        names = {"127.0.0.1", "localhost"}
        self._hosts = {f"{name}:{port}" for name in names} | (names if port == HTTP_PORT else set())
        self._cookie = f"graphrag-mcp-{port}"
        self._session = hashlib.sha256(f"session of {token}".encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        opens = scope["path"] == "/" and self._is_key(token)
        inner = self._refusal(headers, opens=opens) or self._inner

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                if opens and inner is self._inner:
                    cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
                    extra.append((b"set-cookie", cookie.encode()))
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        await inner(scope, receive, send_with_headers)

    def _is_key(self, token: str) -> bool:
        if self._ticket and _same(token, self._ticket):
            self._ticket = ""
            return True
        return _same(token, self._token)

    def _refusal(self, headers: dict[str, str], *, opens: bool) -> Response | None:
        """Return the response that refuses a request, None when it is allowed."""
        if headers.get("host", "") not in self._hosts:
            text = "This is not the address of this page; open the one that `graphrag-mcp ui` printed.\n"
            return PlainTextResponse(text, MISDIRECTED)
        if not opens and not self._has_cookie(headers.get("cookie", "")):
            text = "The address lacks the token of this run; open the one that `graphrag-mcp ui` printed.\n"
            return PlainTextResponse(text, FORBIDDEN)
        is_own = headers.get("origin", f"http://{headers['host']}") == f"http://{headers['host']}"
        if not (is_own and (opens or headers.get("sec-fetch-site", "none") in _OWN)):
            return PlainTextResponse("Another page asked for this; only this page itself may.\n", FORBIDDEN)
        return None

    def _has_cookie(self, cookies: str) -> bool:
        """Return whether this run's cookie is among those that applications of this host have set."""
        pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
        return any(name == self._cookie and _same(value, self._session) for name, _, value in pairs)


def _same(token: str, expected: str) -> bool:
    return secrets.compare_digest(token.encode("utf-8", "replace"), expected.encode())
