"""The size of a run, the figures that it gives, ."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Size = Callable[[int, int], int]
Report = Callable[..., None]


@pytest.fixture
def size(request: pytest.FixtureRequest) -> Size:
    """`size(short, whole)`: how much to do in `make test-all`, and in `make soak`."""
    whole_run = bool(request.config.getoption("--soak"))

    def choose(short: int, whole: int) -> int:
        return whole if whole_run else short

    return choose


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """`report(name, **figures)`: figures that a run prints at its end, and adds to the file of --figures."""

    def note(name: str, **figures: object) -> None:
        line = json.dumps({"name": name, **figures})
        request.config.stash.setdefault(FIGURES, []).append(line)
        if file := request.config.getoption("--figures"):
            with Path(str(file)).open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")

    return note


FIGURES = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the figures of a whole run."""
    if config.getoption("--soak"):
        for line in config.stash.get(FIGURES, []):
            terminalreporter.write_line(line)
