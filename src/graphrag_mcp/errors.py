"""Every error a caller may catch. A message names the thing, what is wrong with it and the next step."""

from collections.abc import Sequence

from graphrag_mcp.text.counts import counted

SHOWN_CHARACTERS = 80
SHOWN_PROBLEMS = 20  # Of settings.


def quoted(value: object) -> str:
    """Return a wrong value for a message, shortened."""
    text = value if isinstance(value, str) else repr(value)
    shown = repr(text[:SHOWN_CHARACTERS]) if isinstance(value, str) else text[:SHOWN_CHARACTERS]
    return shown if len(text) <= SHOWN_CHARACTERS else f"{shown}... ({len(text):,} characters)"


def not_indexed(path: str) -> str:
    """Return the error for a path that is not an indexed file, with the next step."""
    return f"{quoted(path)} is not an indexed file; see index_status for what was left out, and why"


def how_to_install(extra: str) -> str:
    """Return the commands that install an extra of this package."""
    package = f"'graphrag-mcp[{extra}]'"
    return f"run `uv tool install {package}`, or `pip install {package}` in your own environment"


def no_such_line(path: str, line: int, count: int) -> str:
    """Return the error for a line behind the end of a file."""
    return f"{quoted(path)} has {counted(count, 'line')}; there is no line {line}"


class GraphragError(Exception):
    """The root of every error that this package raises on purpose."""


class SettingsError(GraphragError):
    """One or more settings are unknown, of the wrong type or out of range."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        head = f"{counted(len(self.problems), 'problem')} in the settings:"
        hidden = len(self.problems) - SHOWN_PROBLEMS
        tail = [f"  - and {hidden:,} more"] if hidden > 0 else []
        shown = (f"  - {problem}" for problem in self.problems[:SHOWN_PROBLEMS])
        super().__init__("\n".join([head, *shown, *tail]))


class RootError(GraphragError):
    """The project root does not exist, is not a folder, or cannot be read."""


class RequestError(GraphragError):
    """A search argument is unknown, of the wrong type or out of range."""

    def __init__(self, argument: str, message: str) -> None:
        self.argument = argument
        super().__init__(message)


class UnknownNameError(RequestError):
    """Nothing that is indexed has the name that is asked for."""


class IndexStoreError(GraphragError):
    """The index file cannot be opened, read or written."""


class IndexDamagedError(IndexStoreError):
    """The index file is damaged, was replaced or removed, or has another format; it is built again."""


class IndexLockedError(IndexStoreError):
    """Another live process is writing this index. is_kept: whether it keeps it up to date."""

    is_kept = False


class RemovalError(GraphragError):
    """A replication would remove most of a project from a server, without the user's consent."""


class ServerError(GraphragError):
    """A server cannot be reached, refuses the credentials, or answers with an error."""


class CheckError(GraphragError):
    """What a command was told to check does not hold."""


class ModelUnavailableError(GraphragError):
    """The embedding model cannot be loaded; keyword and graph search still answer."""
