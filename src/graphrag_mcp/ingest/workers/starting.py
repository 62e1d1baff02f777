"""Keeps this process alive while it starts another one, which would complain if its orders never came."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()


@contextmanager
def starting_process() -> Iterator[None]:
    """Hold off the end of this process for the milliseconds that starting another one takes."""
    with _lock:
        yield


def start_no_more(timeout_seconds: float) -> None:
    """Wait for a process that is being started, at most so long, and let no further one be started."""
    _lock.acquire(timeout=timeout_seconds)
