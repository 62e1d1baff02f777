"""Makes an index run yield to searches in the same process, since Python's threads share one lock."""

import threading
import time

TURN_SECONDS = 0.005  # The switch interval of Python's own lock.
MAX_WAIT_SECONDS = 0.05  # Most searches take less, and a run must end however many searches there are.


class SearchYield:
    """Splits the work of one thread into turns, and waits for searches between two of them."""

    def __init__(self, idle: threading.Event | None) -> None:
        """idle: set while no search runs; None: there are no searches to wait for."""
        self._idle = idle
        self._turn_ends = 0.0

    def yield_to_searches(self) -> None:
        """Wait while a search runs, at most MAX_WAIT_SECONDS once in a turn; cheap enough for every file."""
        if self._idle is None or self._idle.is_set() or time.monotonic() < self._turn_ends:
            return
        self._idle.wait(MAX_WAIT_SECONDS)
        self._turn_ends = time.monotonic() + TURN_SECONDS
