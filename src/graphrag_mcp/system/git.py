"""Runs git without letting the repository's configuration run anything.

A repository is untrusted input, and its configuration can name programs that git starts. So only plumbing commands that
read the index and the history are called, settings that name programs are overridden, and no transport is allowed.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    "--no-replace-objects",
    "-c", "core.fsmonitor=false",
    "-c", "core.pager=cat",
    "-c", "log.showSignature=false",
    "-c", "safe.bareRepository=explicit",
    # Files that would block git, or that it would read without end, if they were pipes or devices.
    "-c", "diff.orderFile=/dev/null",
    "-c", "mailmap.file=",
    "-c", "mailmap.blob=",
    "-c", "log.mailmap=false",
    "-c", "core.excludesFile=/dev/null",
    "-c", "core.attributesFile=/dev/null",
)  # fmt: skip
# The user's own configuration stays in force: it holds `safe.directory`, which says whose repositories to trust.
_KEPT_VARIABLES = frozenset({"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})


class GitError(Exception):
    """Git is missing, the folder is not a repository, or git failed or took too long."""


class GitTimeoutError(GitError):
    """Git was stopped at the deadline; what it printed before is known."""


def run_git(root: Path, deadline: float, *arguments: str) -> bytes:
    """Return what git prints. `deadline`: on the monotonic clock. Raises GitError."""
    with start_git(root, *arguments) as process:
        try:
            output, _ = process.communicate(timeout=max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise GitTimeoutError(f"git {arguments[0]} took too long") from error
    if process.returncode:
        raise GitError("not a Git repository, or no readable commits (see safe.directory)")
    return output


def start_git(root: Path, *arguments: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start git with its output in a pipe. Raises GitError."""
    try:
        return subprocess.Popen(
            ["git", *_OPTIONS, *arguments],
            cwd=root,
            env=_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise GitError(f"git cannot be started ({error.strerror})") from error


@contextmanager
def stopped_at(deadline: float, *processes: "subprocess.Popen[bytes]") -> Iterator[threading.Event]:
    """Kill the processes at the end of the block, or at the deadline, which sets the event."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        for process in processes:
            process.kill()

    timer = threading.Timer(max(deadline - time.monotonic(), 0), stop)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        for process in processes:
            process.kill()


def _environment() -> dict[str, str]:
    """Return an environment in which no variable redirects git, asks the user, or lets it talk to another program."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    return kept | {
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
