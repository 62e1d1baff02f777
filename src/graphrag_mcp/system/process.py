"""What concerns a process as a whole: how often it collects garbage, and what delays its end."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


def stop_starting(timeout_seconds: float) -> None:
    """Wait for a process that is being started, at most `timeout_seconds`; no other one can be started afterwards."""
    _lock.acquire(timeout=timeout_seconds)
