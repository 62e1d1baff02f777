"""Waits for conditions instead of sleeping for a guessed time."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")

HANG_SECONDS = 60.0  # What takes a second on a quiet machine, and has no end within this time, has none.
_PAUSE_SECONDS = 0.02
_BUSY = 10  # A busy machine takes so many times as long at most,
_LONGEST_SECONDS = 300.0  # and what is not true by then never will be.


def wait_until(condition: Callable[[], Value], seconds: float) -> Value:
    """Return the first true value of a condition; fail when it has none in ten times as many seconds or 300 s.

    seconds: what it takes at most on a quiet machine.
    """
    longest = min(_BUSY * seconds, _LONGEST_SECONDS)
    deadline = time.monotonic() + longest
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not true within {longest} s"
        time.sleep(_PAUSE_SECONDS)
    return value


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return how much of a processor some work takes, which other processes change little."""
    began = time.process_time()
    work()
    return time.process_time() - began


def kernel_watches(pid: int | str = "self") -> int:
    """Return how many folders a process watches with inotify."""
    count = 0
    for file in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(OSError):
            count += file.read_text().count("inotify wd")
    return count
