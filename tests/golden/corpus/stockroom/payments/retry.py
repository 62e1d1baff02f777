"""Calls something again that may fail for a moment."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def retry_with_backoff(
    call: Callable[[], Result], attempts: int = 4, first_delay: float = 0.2, sleep: Callable[[float], None] = time.sleep
) -> Result:
    """Return what the call returns; waits twice as long after each failure, with jitter, and raises the last one."""
    delay = first_delay
    for attempt in range(1, attempts + 1):
        try:
            return call()
        except (ConnectionError, TimeoutError):
            if attempt == attempts:
                raise
            sleep(delay * random.uniform(0.5, 1.5))
            delay *= 2
    raise AssertionError("unreachable")
