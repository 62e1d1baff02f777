"""Who is let in, and what the page keeps to itself."""

import socket

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from graphrag_mcp.serving.page import STATIC
from graphrag_mcp.serving.page_gate import Gate
from tests.serving.running import RunningPage

FORBIDDEN, MISDIRECTED = 403, 421


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/static/page.css", "/static/main.js", "/nothing"])
def test_nothing_is_answered_without_the_token(page: RunningPage, path: str) -> None:
    """The page, its files and its requests are for whoever started it."""
    reply = page.get(path)
    assert (reply.status, "set-cookie" in reply.headers) == (FORBIDDEN, False)
    assert "graphrag-mcp ui" in reply.text


def test_no_request_is_answered_without_the_cookie(page: RunningPage) -> None:
    """The token opens the page, and nothing else: an address with it may lie in a history."""
    assert page.ask("status", None, Cookie="").status == FORBIDDEN
    assert page.ask("status", None, Cookie=f"graphrag-mcp-{page.port}={page.token}").status == FORBIDDEN
    assert page.ask("status", None, Cookie='a=b; ;; =; "').status == FORBIDDEN
    assert page.get(f"/api/status?token={page.token}", {}, "POST", "{}").status == FORBIDDEN
    assert page.ask("status").status == 200


def test_the_cookie_is_for_this_page_alone(page: RunningPage) -> None:
    """No script can read it, no other site can have it sent, and it does not say the token."""
    cookie = page.open().headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert page.token not in cookie


@pytest.mark.parametrize(
    "other", ['prefs={"a":1}', "a[b]=1", "x=a b", "flag", "name=J\xf6rg", 'half="', "graphrag-mcp-{port}=old"]
)
def test_the_cookies_of_other_applications_do_not_shut_out(page: RunningPage, other: str) -> None:
    """A browser sends what any port of this machine has set, in whatever form."""
    other = other.format(port=page.port) if "{port}" in other else other
    assert page.ask("progress", None, Cookie=f"{other}; {page.cookie}; {other}").status == 200
    assert page.ask("progress", None, Cookie=f"{other}; {other}").status == FORBIDDEN


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", ""]
)
def test_another_host_name_leads_nowhere(page: RunningPage, host: str) -> None:
    """A name that an attacker points at this machine does not reach the page, whatever it sends."""
    host = host.format(port=page.port)
    for path in (f"/?token={page.token}", "/static/page.css"):
        reply = page.get(path, {"Host": host, "Cookie": page.cookie})
        assert (reply.status, "set-cookie" in reply.headers) == (MISDIRECTED, False)


def test_localhost_is_this_machine_too(page: RunningPage) -> None:
    """The other name of the address is accepted."""
    assert page.get(f"/?token={page.token}", {"Host": f"localhost:{page.port}"}).status == 200


@pytest.mark.parametrize(("port", "status"), [(80, 200), (8080, MISDIRECTED)])
def test_the_port_that_clients_leave_out_may_be_left_out(port: int, status: int) -> None:
    """Port 80 goes without saying, and no other."""
    gate = Gate(PlainTextResponse("the page"), port, "token", "ticket")
    for host in ("127.0.0.1", "localhost"):
        assert TestClient(gate, f"http://{host}").get("/?token=token").status_code == status
    assert TestClient(gate, "http://evil.example").get("/?token=token").status_code == MISDIRECTED


@pytest.mark.parametrize("origin", ["same-site", "cross-site"])
def test_another_page_cannot_ask_in_the_readers_name(page: RunningPage, origin: str) -> None:
    """A page on another port of this machine is of the same site, so the browser would send the cookie."""
    headers = {"Sec-Fetch-Site": origin}
    assert page.ask("status", None, **headers).status == FORBIDDEN
    assert page.get("/static/main.js", {"Cookie": page.cookie, **headers}).status == FORBIDDEN
    assert page.ask("status", None, **{"Sec-Fetch-Site": "same-origin"}).status == 200


@pytest.mark.parametrize("path", ["/?token={token}", "/", "/static/main.js", "/static/nothing", "/nothing"])
def test_every_answer_says_what_the_browser_may_do(page: RunningPage, path: str) -> None:
    """No script but the page's own files, no frame around it, no address handed on, no other origin."""
    path = path.format(token=page.token)
    for cookie in (page.cookie, ""):
        headers = page.get(path, {"Cookie": cookie, "Origin": "http://evil.example"}).headers
        policy = headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../api.py",
        "/static/..%2fapi.py",
        "/static/%2e%2e/%2e%2e/settings.py",
        "/static//etc/passwd",
        "/static/....//api.py",
        "/static/vendor/../../page.py",
        "/static/vendor",
        "/static/",
        "/static/index.html%00.py",
        "/static/vendor/cytoscape.LICENSE",
    ],
)
def test_only_the_files_of_the_page_are_served(page: RunningPage, path: str) -> None:
    """No spelling of a path leads out of the folder."""
    assert page.get(path, {"Cookie": page.cookie}).status == 404


def test_the_files_of_the_page_are_served_with_their_types(page: RunningPage) -> None:
    """Each with the type that `nosniff` asks for, and once only while it stays the same."""
    for path in STATIC.rglob("*.*"):
        if path.suffix in (".js", ".css", ".svg", ".html"):
            name = path.relative_to(STATIC).as_posix()
            reply = page.get(f"/static/{name}", {"Cookie": page.cookie})
            kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
            assert reply.status == 200 and reply.headers["content-type"].startswith(kinds[path.suffix])
            again = page.get(f"/static/{name}", {"Cookie": page.cookie, "If-None-Match": reply.headers["etag"]})
            assert (again.status, again.text) == (304, "")


def test_only_this_machine_can_connect(page: RunningPage) -> None:
    """The port is open on the loopback address and on no other."""
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(2)
        other.connect((_address_of_this_machine(), page.port))


def _address_of_this_machine() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # Nothing is sent.
        except OSError:
            pytest.skip("this machine has no address but the loopback one")
        address: str = probe.getsockname()[0]
    if address.startswith("127."):
        pytest.skip("this machine has no address but the loopback one")
    return address


@pytest.mark.parametrize("origin", ["https://evil.com", "null", "", "http://127.0.0.1", "http://127.0.0.1:1"])
@pytest.mark.parametrize("site", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}])
def test_an_origin_has_to_be_that_of_this_page(page: RunningPage, origin: str, site: dict[str, str]) -> None:
    """Whatever else the headers say, and for every path; a request without one is judged by the rest."""
    assert page.ask("status", None, Origin=origin, **site).status == FORBIDDEN
    assert page.get("/static/page.css", {"Origin": origin, "Cookie": page.cookie, **site}).status == FORBIDDEN
    assert page.get(f"/?token={page.token}", {"Origin": origin, **site}).status == FORBIDDEN
    assert page.ask("status", None, Origin=f"http://127.0.0.1:{page.port}", **site).status == 200
