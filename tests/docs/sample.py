"""The project that the pages' commands run in: a small shop with a history, documents and an archive."""

import atexit
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.repositories import git, write_files

DAY = 86_400
FOLDER = "shop"
_CREATING = threading.Lock()

_SESSION = '''\
"""Sessions of visitors: opened at login, refreshed while they are used."""

import secrets
from dataclasses import dataclass

LIFETIME_SECONDS = 1800


@dataclass
class Session:
    """One visit of one user."""

    user: str
    token: str
    expires_at: float

    def is_expired(self, now: float) -> bool:
        """Tell whether nothing was heard of the visitor for too long."""
        return now >= self.expires_at

    def refresh(self, now: float) -> None:
        """Renew the token, and count the lifetime from now on."""
        if self.is_expired(now):
            raise SessionExpired(self.user)
        self.token = secrets.token_urlsafe()
        self.expires_at = now + LIFETIME_SECONDS


class SessionExpired(Exception):
    """The visitor has to log in again."""


def open_session(user: str, now: float) -> Session:
    """Start a visit at login."""
    return Session(user, secrets.token_urlsafe(), now + LIFETIME_SECONDS)
'''
_STORE = '''\
"""Keeps sessions in a database file."""

import sqlite3

from shop.session import Session


class SessionStore:
    """A table of sessions by token."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path)

    def save(self, session: Session) -> None:
        """Insert or replace a session."""
        values = (session.token, session.user, session.expires_at)
        self._connection.execute("REPLACE INTO sessions VALUES (?, ?, ?)", values)

    def load(self, token: str) -> Session | None:
        """Return the session of a token, None if there is none."""
        found = self._connection.execute("SELECT user, token, expires_at FROM sessions WHERE token = ?", (token,))
        row = found.fetchone()
        return Session(*row) if row else None

    def delete_expired(self, now: float) -> int:
        """Remove what nobody uses any more, and return how many."""
        return self._connection.execute("DELETE FROM sessions WHERE expires_at <= ?", (now,)).rowcount
'''
_CHECKOUT = '''\
"""From a basket to an order that is paid."""

from shop.payment import charge
from shop.session import Session


def total_price(basket: dict[str, int], prices: dict[str, int]) -> int:
    """Return what a basket costs, in cents."""
    return sum(prices[article] * count for article, count in basket.items())


def place_order(session: Session, basket: dict[str, int], prices: dict[str, int], now: float) -> str:
    """Charge the visitor and return the number of the receipt."""
    session.refresh(now)
    return charge(session.user, total_price(basket, prices))
'''
_PAYMENT = '''\
"""Talks to the payment provider."""

import time

RETRIES = 3


class PaymentDeclined(Exception):
    """The provider said no."""


def charge(user: str, cents: int) -> str:
    """Charge an amount, trying again when the provider does not answer."""
    for attempt in range(RETRIES):
        try:
            return _send({"user": user, "cents": cents})
        except TimeoutError:
            time.sleep(2**attempt)
    raise PaymentDeclined(user)


def _send(request: dict[str, object]) -> str:
    """Send one request to the provider and return the number of its receipt."""
    return f"receipt-{request['user']}"
'''
_TEST_SESSION = """\
from shop.session import SessionExpired, open_session


def test_refresh_renews_the_token():
    session = open_session("ada", now=0)
    before = session.token
    session.refresh(now=60)
    assert session.token != before


def test_an_expired_session_is_not_refreshed():
    try:
        open_session("ada", now=0).refresh(now=10_000)
    except SessionExpired:
        return
    raise AssertionError
"""
_TEST_CHECKOUT = """\
from shop.checkout import place_order, total_price
from shop.session import open_session


def test_a_basket_costs_the_sum_of_its_articles():
    assert total_price({"tea": 2, "cup": 1}, {"tea": 300, "cup": 950}) == 1550


def test_an_order_has_a_receipt():
    assert place_order(open_session("ada", now=0), {"tea": 1}, {"tea": 300}, now=60) == "receipt-ada"
"""
_SESSIONS_PAGE = """\
# Sessions

A session begins at login and ends thirty minutes after the last click.

## Refreshing

Each order refreshes the session: the visitor gets a new token, so a stolen one is worth little.

## Storage

Sessions lie in one SQLite table, by token. A job removes the expired ones every night.
"""
_REJECTED = """\
---
status: rejected
---

# Keep the session token in the URL

Links would carry the session from page to page. Rejected: tokens would end up in logs and bookmarks.
"""
_OLD_SESSION = '''\
"""Sessions as they were: a counter in a file, refreshed by every request."""


def refresh_session(path):
    """Refresh the session of a visitor by rewriting its file."""
    with open(path, "w") as file:
        file.write("0")
'''

_CHECK = "        if self.is_expired(now):\n            raise SessionExpired(self.user)\n"

_HISTORY = (
    (
        400,
        "Begin with sessions and their store",
        {
            "README.md": "# Shop\n\nA small shop. See docs/sessions.md.\n",
            "shop/session.py": _SESSION.replace(_CHECK, ""),
            "shop/store.py": _STORE.replace("expires_at <= ?", "expires_at < ?"),
            "shop/payment.py": _PAYMENT.replace("2**attempt", "1"),
            "docs/sessions.md": _SESSIONS_PAGE,
            "docs/decisions/0002-token-in-url.md": _REJECTED,
            ".archive/session_file.py": _OLD_SESSION,
            "legacy/session_cookie.py": _OLD_SESSION.replace("path", "cookie").replace("counter in a file", "cookie"),
            "tests/test_session.py": _TEST_SESSION,
            ".gitignore": "build/\n*.log\n",
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n',
            "package-lock.json": '{"name": "shop", "lockfileVersion": 3, "packages": {}}\n',
        },
    ),
    (200, "Add the checkout of a basket", {"shop/checkout.py": _CHECKOUT, "tests/test_checkout.py": _TEST_CHECKOUT}),
    (100, "Wait longer after each attempt to charge a visitor", {"shop/payment.py": _PAYMENT}),
    (30, "Delete sessions in the second in which they expire", {"shop/store.py": _STORE}),
    (3, "Refuse to refresh a session that is expired", {"shop/session.py": _SESSION}),
)  # fmt: skip
_NOT_COMMITTED = {
    ".env": "PAYMENT_KEY=not-a-real-one\n",
    "build/session.py": _SESSION,
    "shop.log": "started\n",
    "node_modules/left/index.js": "module.exports = 1\n",
}


def create_sample(home: Path) -> Path:
    """Create the project below a home folder, as a git repository with a history that ends three days ago."""
    with _CREATING:
        original = _create_original()
    return shutil.copytree(original, home / FOLDER)


@cache
def _create_original() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="graphrag-docs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / FOLDER
    root.mkdir()
    git(root, "init", "--quiet")
    now = int(time.time())
    for days, message, files in _HISTORY:
        _write(root, files)
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", message, when=now - days * DAY)
    _write(root, _NOT_COMMITTED)
    (root / "shop/logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    return root


def _write(root: Path, files: Mapping[str, str]) -> None:
    write_files(root, files)
