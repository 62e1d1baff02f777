"""A small project, and an environment of its own."""

from pathlib import Path

import pytest

from tests.clients.programs import FOLDER, REGISTRY_VALIDATOR, environment
from tests.repositories import commit, git

SESSION = '''\
"""Keeps the sessions of a user."""


class Session:
    """One visit."""

    def refresh(self) -> str:
        """Renew the token before it expires."""
        return sign(self)


def sign(session: Session) -> str:
    """Return a token for a session."""
    return f"signed {id(session)}"
'''
TEST = """\
from session import Session


def test_refresh() -> None:
    assert Session().refresh()
"""


@pytest.fixture(scope="session", autouse=True)
def _installed() -> None:
    if not (FOLDER / "node_modules" / ".package-lock.json").exists() or not REGISTRY_VALIDATOR.exists():
        pytest.fail("the clients are not installed: run `make test-clients`")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty home."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def environ(home: Path) -> dict[str, str]:
    """The environment of that home."""
    return environment(home)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one commit with three files."""
    root = tmp_path_factory.mktemp("project")
    readme = "# Visits\n\nHow sessions are kept.\n"
    git(root, "init", "-q")
    commit(root, {"session.py": SESSION, "test_session.py": TEST, "README.md": readme}, message="Refresh sessions")
    return root
