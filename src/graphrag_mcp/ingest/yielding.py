"""Lets a run work in short turns while searches are being answered: Python's threads share one lock."""

import threading
import time

TURN_SECONDS = 0.005  # Python itself lets a thread hold its lock for so long.
PATIENCE_SECONDS = 0.05  # For so long a turn waits: most searches take less, and a run must end beside any number.


class Turns:
    """One run's turns, for use by one thread."""

    def __init__(self, calm: threading.Event | None) -> None:
        """calm: not set while searches are being answered; None: there are none."""
        self._calm = calm
        self._turn_ends = 0.0

    def give_way(self) -> None:
        """Wait while searches are being answered, unless the present turn has just begun: cheap enough to ask often."""
        if self._calm is None or self._calm.is_set() or time.monotonic() < self._turn_ends:
            return
        self._calm.wait(PATIENCE_SECONDS)
        self._turn_ends = time.monotonic() + TURN_SECONDS
