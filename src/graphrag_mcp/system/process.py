"""What concerns a process as a whole: how often it collects garbage, and how it ends."""

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

START_SECONDS = 0.3  # A parsing process starts in a few milliseconds, in more on a busy machine.

# A search, and reading a file, make some thousand objects and free them. Collecting after every 700 takes 2 to 5 % of
# the time.
COLLECTED_OBJECTS = 10_000


def collect_rarely() -> None:
    """Exempt what is loaded by now, which stays, from garbage collection, and collect the rest less often."""
    gc.freeze()
    gc.set_threshold(COLLECTED_OBJECTS)
    gc.enable()


_lock = threading.Lock()


@contextmanager
def starting_process() -> Iterator[None]:
    """Delay the end of this process while it starts another one, which prints an error if its parent ends half-way."""
    with _lock:
        yield


def end(code: int) -> NoReturn:
    """End this process at once with an exit code; the index survives it at any point, buffered output is lost.

    The interpreter's own end stops the threads that still run, and one that is inside RE2 aborts the process.
    """
    _lock.acquire(timeout=START_SECONDS)
    os._exit(code)


def has_daemon_threads() -> bool:
    """Return whether a thread runs that does not keep the process alive."""
    return any(thread.daemon for thread in threading.enumerate())
