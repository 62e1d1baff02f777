"""Runs the background jobs, each in its own rhythm, in one thread."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_log = logging.getLogger(__name__)


@dataclass
class Job:
    name: str
    every_seconds: float
    run: Callable[[], object]
    next_at: float = 0.0
    failures: int = field(default=0, compare=False)


class Scheduler:
    """Starts what is due. A job that fails waits longer each time, up to an hour; the others are not held up."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._jobs: list[Job] = []

    def add(self, name: str, every_seconds: float, run: Callable[[], object]) -> None:
        self._jobs.append(Job(name, every_seconds, run, self._clock() + every_seconds))

    def run_due(self) -> list[str]:
        """Run every job whose time has come and return their names, the most overdue first."""
        now = self._clock()
        due = sorted((job for job in self._jobs if job.next_at <= now), key=lambda job: job.next_at)
        for job in due:
            self._run_one(job)
        return [job.name for job in due]

    def _run_one(self, job: Job) -> None:
        try:
            job.run()
            job.failures = 0
        except Exception:
            job.failures += 1
            _log.exception("job %s failed for the %s. time", job.name, job.failures)
        pause = min(3_600.0, job.every_seconds * 2**job.failures)
        job.next_at = self._clock() + pause
