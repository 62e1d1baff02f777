"""Real git repositories."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

NEW = 1_700_000_000
# Without the last, each commit starts another process that looks whether there is something to tidy.
_SETTINGS = ("user.name=Test", "user.email=test@example.org", "init.defaultBranch=main", "maintenance.auto=false")

SESSION = '''\
"""Keeps the sessions of a user."""


class Session:
    """One visit."""

    def refresh_token(self) -> str:
        """Renew the token before it expires."""
        return sign(self)
'''


def git(root: Path, *arguments: str, when: int = NEW) -> str:
    """Run git as nobody in particular, at a given time, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": f"{when} +0000",
        "GIT_COMMITTER_DATE": f"{when} +0000",
    }
    command = ["git", *(word for setting in _SETTINGS for word in ("-c", setting)), *arguments]
    return subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True).stdout


def commit(root: Path, files: Mapping[str, str], when: int = NEW, message: str = "change") -> None:
    """Write files and commit everything."""
    write_files(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message, when=when)


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write files by their paths below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def copied(root: Path, to: Path) -> Path:
    """Copy a repository whose index remembers the times of its files there, as after a checkout; return the copy."""
    shutil.copytree(root, to)
    git(to, "update-index", "-q", "--refresh")
    return to
