"""Prepares files on all cores; a file that kills its process is left out, and the others go on.

A few files are prepared in this process. One that kills it is a suspect, and left out by the next.
"""

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for_handles
from typing import TypeVar

from graphrag_mcp.ingest.prepare import Job, Outcome, Rejected, prepare
from graphrag_mcp.ingest.workers.quarantine import Suspects
from graphrag_mcp.ingest.workers.starting import starting_process
from graphrag_mcp.ingest.yielding import Turns

logger = logging.getLogger(__name__)

FILES_PER_TASK = 12  # Enough to hide the cost of a message, few enough to keep all cores busy until the end.
TASK_BYTES = 100_000
TASKS_AHEAD = 8  # Per process: work for the time of a commit, and a bound for the prepared files that wait in memory.
SMALL_RUN_BYTES = 1_000_000  # Parsed here in half a second, which is what starting processes costs.
TINY_RUN_BYTES = 50_000  # The same where the processes of an earlier run are still there.
NICENESS = 10  # A search, or the start of a server, goes before parsing.
IDLE_SECONDS = 20.0  # Then they end: they hold some 70 MB each.

Answer = TypeVar("Answer")
_Pending = deque[tuple["Future[list[Outcome]]", tuple[Job, ...]]]


def prepare_all(jobs: Sequence[Job], workers: int, suspects: Suspects, turns: Turns) -> Iterator[Outcome]:
    """Yield the outcome of every job, in their order but for the suspects and those that become it.

    workers: processes, 0 for one per core. suspects: each is prepared in a process of its own. turns: when to go on in
    this process.
    """
    count = workers or os.cpu_count() or 1
    alone = [job for job in jobs if job.path in suspects]
    jobs = [job for job in jobs if job.path not in suspects]
    if count == 1 or sum(job.size for job in jobs) < (TINY_RUN_BYTES if _shared(count).is_warm else SMALL_RUN_BYTES):
        yield from _prepare_here(jobs, suspects, turns)
    else:
        with _shared(count).borrow() as pool:
            yield from _run(pool, _tasks(jobs), count * TASKS_AHEAD, alone)
    if alone and not _processes_start():
        logger.warning("no parsing process can be started; parsing goes on in this one")
        yield from _prepare_here(alone, suspects, turns)
        return
    for job in alone:
        outcome = _prepare_alone(job)
        suspects.settle(job.path, is_deadly=outcome == _crash(job))
        yield outcome
    suspects.keep()


def end_idle_processes() -> None:
    """End the processes that are kept for a next run."""
    for pool in _POOLS.values():
        pool.end_idle()


def _tasks(jobs: Sequence[Job]) -> Iterator[tuple[Job, ...]]:
    """Group jobs, so that neither many small files nor one large one make a task much longer than the others."""
    task: list[Job] = []
    size = 0
    for job in jobs:
        if task and (len(task) == FILES_PER_TASK or size + job.size > TASK_BYTES):
            yield tuple(task)
            task, size = [], 0
        task.append(job)
        size += job.size
    if task:
        yield tuple(task)


def _run(
    pool: ProcessPoolExecutor, tasks: Iterator[tuple[Job, ...]], ahead: int, crashed: list[Job]
) -> Iterator[Outcome]:
    """Yield each task's outcomes; the jobs that a dying process took with it are appended to `crashed`."""
    pending: _Pending = deque()
    try:
        for task in tasks:
            try:
                pending.append((_submit(pool, _prepare_task, task), task))
            except BrokenProcessPool:
                crashed += task
            while len(pending) >= ahead:
                yield from _collect(pending, crashed)
        while pending:
            yield from _collect(pending, crashed)
    finally:
        for future, _ in pending:
            future.cancel()


def _collect(pending: _Pending, crashed: list[Job]) -> list[Outcome]:
    future, task = pending.popleft()
    try:
        return future.result()
    except BrokenProcessPool:
        crashed += task
        return []


def _prepare_here(jobs: Sequence[Job], suspects: Suspects, turns: Turns) -> Iterator[Outcome]:
    """Prepare files in this process; one that ends it is a suspect for the next."""
    for job in jobs:
        turns.give_way()
        suspects.note(job.path)
        yield prepare(job)
    suspects.keep()


def _crash(job: Job) -> Rejected:
    return Rejected(job.path, "the parser crashed on it")


def _prepare_alone(job: Job) -> Outcome:
    """Prepare a file in a process of its own, which it may take with it."""
    pool = _start_pool(1)
    try:
        return _submit(pool, _prepare_task, (job,)).result()[0]
    except BrokenProcessPool:
        return _crash(job)
    finally:
        pool.shutdown(wait=False)


def _processes_start() -> bool:
    """Tell whether a process comes up at all: not when the main module cannot be imported again, as from a pipe."""
    pool = _start_pool(1)
    try:
        return _submit(pool, os.getpid).result() > 0
    except BrokenProcessPool:
        return False
    finally:
        pool.shutdown(wait=False)


class _SharedPool:
    """Processes that are started by the first run that needs them, and end when none has needed them for a while."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._guard = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._users = 0
        self._idle: threading.Timer | None = None

    @property
    def is_warm(self) -> bool:
        return self._pool is not None

    @contextmanager
    def borrow(self) -> Iterator[ProcessPoolExecutor]:
        with self._guard:
            if self._idle is not None:
                self._idle.cancel()
            self._users += 1
            pool = self._pool = self._pool or _start_pool(self._count)
        try:
            yield pool
        finally:
            with self._guard:
                self._users -= 1
                if self._is_broken(pool):
                    self._end(pool)
                elif not self._users:
                    self._idle = threading.Timer(IDLE_SECONDS, self.end_idle)
                    self._idle.daemon = True
                    self._idle.start()

    def _is_broken(self, pool: ProcessPoolExecutor) -> bool:
        try:
            _submit(pool, os.getpid).cancel()
        except BrokenProcessPool:
            return True
        return False

    def end_idle(self) -> None:
        """End the processes unless a run has them."""
        with self._guard:
            if not self._users and self._pool is not None:
                self._end(self._pool)

    def _end(self, pool: ProcessPoolExecutor) -> None:
        pool.shutdown(wait=False)
        if self._pool is pool:
            self._pool = None


_POOLS: dict[int, _SharedPool] = {}


def _shared(count: int) -> _SharedPool:
    return _POOLS.setdefault(count, _SharedPool(count))


def _start_pool(count: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # The server has threads, which a fork would freeze half-way.
    with starting_process():  # The one that removes what a kill leaves in the system.
        return ProcessPoolExecutor(count, mp_context=context, initializer=_serve_parent)


def _submit(pool: ProcessPoolExecutor, work: Callable[..., Answer], *arguments: object) -> "Future[Answer]":
    """Hand work to a pool, which may start a process for it."""
    with starting_process():
        return pool.submit(work, *arguments)


def _prepare_task(jobs: tuple[Job, ...]) -> list[Outcome]:
    return [prepare(job) for job in jobs]


def _serve_parent() -> None:
    """Yield to searches, leave Ctrl-C to the parent, and end when it does, by kill too: nothing else would wake us."""
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait_for_handles([parent.sentinel])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
