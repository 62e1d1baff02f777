"""A small project with everything that the page shows, some of it hostile, and its page."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repositories import NEW, commit, git
from tests.serving.get_browser import find_chromium
from tests.serving.running import RunningPage, running_page

HOSTILE_NAME = "<img src=x onerror=document.title='owned'>.py"
HOSTILE_TEXT = '''"""</script><script>document.title = "owned"</script> <img src=x onerror="document.title='owned'">"""


def gatecrash(markup):
    """Return </pre><svg onload=document.title="owned"> as it is."""
    return "<b>" + markup + "</b>"
'''
YEAR = 365 * 86_400

OLD_FILES = {
    "docs/sessions.md": "# Sessions\n\nHow sessions are refreshed: the token is replaced before it expires.\n",
    "legacy/archive/old_session.py": "def refresh_session(token):\n    return token\n",
}
FILES = {
    "src/session.py": '''"""Sessions of users."""


class Session:
    """A session that can be refreshed."""

    def refresh(self, token):
        """Replace the token before it expires."""
        return renew(token)


def renew(token):
    """Return a new token."""
    return token[::-1]
''',
    "src/login.py": '''"""Signs users in."""

from src.session import Session, renew


def sign_in(name):
    """Open a session and refresh it."""
    session = Session()
    return session.refresh(renew(name))
''',
    "tests/test_session.py": """from src.session import renew


def test_renew():
    assert renew("ab") == "ba"
""",
    "config/settings.yaml": "session:\n  lifetime: 3600\n",
    ".gitignore": "node_modules/\n",
    HOSTILE_NAME: HOSTILE_TEXT,
}


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with old and new files, tests, documents, an archive and a hostile file."""
    root = tmp_path_factory.mktemp("project")
    git(root, "init", "-q")
    commit(root, OLD_FILES, NEW - 3 * YEAR)
    commit(root, FILES, NEW)
    (root / "node_modules" / "left").mkdir(parents=True)
    (root / "node_modules" / "left" / "out.js").write_text("export {}\n")
    (root / "picture.bin").write_bytes(b"\x00\x01\x02")
    return root


@pytest.fixture(scope="session")
def page(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPage]:
    """Its page, with the index complete."""
    with running_page(project, tmp_path_factory.mktemp("data")) as running:
        running.wait_ready()
        yield running


@pytest.fixture(scope="session")
def chromium() -> str:
    """The Chromium to drive; without one the test is skipped, or fails with REQUIRE_BROWSER=1."""
    found = find_chromium()
    if not found:
        words = "no Chromium was found; `make test-ui` gets one, or set CHROMIUM to the path of one"
        if os.environ.get("REQUIRE_BROWSER"):
            pytest.fail(words)
        pytest.skip(words)
    return found
