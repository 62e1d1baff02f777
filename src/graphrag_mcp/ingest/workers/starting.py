"""Keeps this process alive while it starts another one, which prints an error if its parent ends half-way."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()


@contextmanager
def starting_process() -> Iterator[None]:
    """Delay the end of this process by the milliseconds that starting another one takes."""
    with _lock:
        yield


def stop_starting(timeout_seconds: float) -> None:
    """Wait for a process that is being started, at most `timeout_seconds`; no other one can be started afterwards."""
    _lock.acquire(timeout=timeout_seconds)
