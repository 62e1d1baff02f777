"""Waits for conditions instead of sleeping for a guessed time."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")

_PAUSE_SECONDS = 0.02


def wait_until(condition: Callable[[], Value], seconds: float) -> Value:
    """Return the first true value of a condition; fail when it has none within so many seconds."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not true within {seconds} s"
        time.sleep(_PAUSE_SECONDS)
    return value


def kernel_watches(pid: int | str = "self") -> int:
    """Return how many folders a process watches with inotify."""
    count = 0
    for file in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(OSError):
            count += file.read_text().count("inotify wd")
    return count
