"""Prepares files on all cores; a file that kills its process is left out, and the others go on."""

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.connection import wait as wait_for_handles

from graphrag_mcp.indexing.prepare import Job, Outcome, Rejected, prepare

FILES_PER_TASK = 12  # Enough to hide the cost of a message, few enough to keep all cores busy until the end.
TASKS_AHEAD = 3  # Per process: bounds the prepared files that wait in memory.
SMALL_RUN_BYTES = 2_000_000  # Parsed here in about a second, which is what starting processes costs.


def prepare_all(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """Yield the outcome of every job, in any order. `workers`: number of processes, 0 for one per core."""
    count = workers or os.cpu_count() or 1
    if count == 1 or sum(job.size for job in jobs) < SMALL_RUN_BYTES:
        yield from map(prepare, jobs)
        return
    tasks = [tuple(jobs[start : start + FILES_PER_TASK]) for start in range(0, len(jobs), FILES_PER_TASK)]
    crashed: list[Job] = []
    for outcomes in _run(tasks, count, crashed):
        yield from outcomes
    for job in crashed:
        alone: list[Job] = []
        for outcomes in _run([(job,)], 1, alone):
            yield from outcomes
        yield from (Rejected(victim.path, "the parser crashed on it") for victim in alone)


def _run(tasks: Iterable[tuple[Job, ...]], count: int, crashed: list[Job]) -> Iterator[list[Outcome]]:
    """Yield each task's outcomes; the jobs that a dying process took with it are appended to `crashed`."""
    remaining = iter(tasks)
    pending: dict[Future[list[Outcome]], tuple[Job, ...]] = {}
    context = multiprocessing.get_context("spawn")  # The server has threads, which a fork would freeze half-way.
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_die_with_parent)
    try:
        while True:
            for task in islice(remaining, count * TASKS_AHEAD - len(pending)):
                pending[pool.submit(_prepare_task, task)] = task
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                task = pending.pop(future)
                yield future.result()
    except BrokenProcessPool:
        crashed.extend(job for lost in (task, *pending.values(), *remaining) for job in lost)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _prepare_task(jobs: tuple[Job, ...]) -> list[Outcome]:
    return [prepare(job) for job in jobs]


def _die_with_parent() -> None:
    """End this process when its parent dies, by kill too: nothing else would wake it from its queue."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait_for_handles([parent.sentinel])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
