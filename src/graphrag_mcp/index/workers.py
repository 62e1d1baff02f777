"""Prepares files on all cores; a file that ends its process is read without its syntax, and the others continue.

A small run is prepared in this process. A file that ends it is quarantined for the next one.
"""

import json
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait as wait_for_handles
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from graphrag_mcp.index.prepare import Job, Outcome, Rejected, prepare
from graphrag_mcp.system.process import collect_rarely, starting_process

logger = logging.getLogger(__name__)

FILES_PER_TASK = 12  # More would leave cores idle at the end, and fewer would cost more messages.
TASK_BYTES = 100_000
TASKS_AHEAD = 8  # Each process has enough work for the time of a commit, and memory is bounded.
SMALL_RUN_BYTES = 1_000_000  # Parsing a megabyte here takes half a second, as long as starting processes.
TINY_RUN_BYTES = 50_000  # A smaller run is parsed here even while the processes of an earlier run are alive.
NICENESS = 10  # Searches and the start of a server have priority over parsing.
IDLE_SECONDS = 20.0  # Idle processes end, since each holds about 70 MB.
TURN_SECONDS = 0.005  # Python itself switches between threads at this interval.
MAX_WAIT_SECONDS = 0.05  # Most searches take less, and a run must end however many searches there are.

Answer = TypeVar("Answer")
Task = TypeVar("Task", bound=tuple[object, ...])  # The arguments of a call.


class Quarantine:
    """Keeps on disk which files ended a parsing process, or were being parsed when it ended for another reason.

    So the next process knows which file may have ended the last one.
    """

    def __init__(self, file: Path) -> None:
        """file: where the list is kept; only the holder of the write lock writes it."""
        self._file = file
        self._paths = _read_quarantine(file)

    def __contains__(self, path: str) -> bool:
        """Whether a file must be parsed in a process of its own."""
        return path in self._paths

    def begin(self, path: str) -> None:
        """Write down the file that is parsed next, in place of the one before."""
        self._write({*self._paths, path})

    def record(self, path: str, *, ended_process: bool) -> None:
        """Keep a file that ended its own process, release one that did not."""
        (self._paths.add if ended_process else self._paths.discard)(path)

    def end(self) -> None:
        """Write down that no file is being parsed."""
        self._write(self._paths)

    def _write(self, paths: set[str]) -> None:
        try:
            if paths:
                self._file.touch(mode=0o600)
                self._file.write_text(json.dumps(sorted(paths)), encoding="ascii")
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:  # Writing the index reports a full disk and its like.
            logger.debug("%s cannot be written: %s", self._file, error)


class SearchYield:
    """Makes an index run yield to searches in the same process, since Python's threads share one lock.

    The work of a thread is split into turns; between two of them it waits for searches.
    """

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


def prepare_all(
    jobs: Sequence[Job], workers: int, quarantine: Quarantine, search_yield: SearchYield
) -> Iterator[Outcome]:
    """Yield the outcome of every job, in order, except that quarantined files come last.

    workers: number of processes, 0 for one per core. quarantine: its files are each prepared in a process of their own.
    search_yield: paces the work that is done in this process.
    """
    count = workers or os.cpu_count() or 1
    alone = [job for job in jobs if job.path in quarantine]
    jobs = [job for job in jobs if job.path not in quarantine]
    if count == 1 or sum(job.size for job in jobs) < (TINY_RUN_BYTES if _shared(count).is_warm else SMALL_RUN_BYTES):
        yield from _prepare_here(jobs, quarantine, search_yield)
    else:
        for task, outcomes in _answers(_prepare_task, _tasks(jobs), count):
            yield from outcomes or ()
            alone += task if outcomes is None else ()
    if alone and not _processes_start():
        logger.warning("no parsing process can be started; parsing in this process")
        yield from _prepare_here(alone, quarantine, search_yield)
        return
    for job in alone:
        outcome = _in_own_process(prepare, job)
        quarantine.record(job.path, ended_process=outcome is None)
        outcome = outcome or _in_own_process(prepare, replace(job, without_syntax=True))
        yield outcome or Rejected(job.path, "the parser crashed on this file")
    quarantine.end()


def run_tasks(
    work: Callable[..., Answer], tasks: Sequence[tuple[object, ...]], workers: int
) -> Iterator[Answer | None]:
    """Yield the answer of `work` to each task, in order; None for a task that ended its process.

    workers: number of processes, 0 for one per core. Where none can be started, it is done in this one.
    """
    count = workers or os.cpu_count() or 1
    if count == 1:
        yield from (work(*task) for task in tasks)
        return
    for task, answer in _answers(work, tasks, count):
        if answer is None:  # Another task may have ended the processes.
            answer = _in_own_process(work, *task)
        yield answer if answer is not None or _processes_start() else work(*task)


def _answers(work: Callable[..., Answer], tasks: Iterable[Task], count: int) -> Iterator[tuple[Task, Answer | None]]:
    """Yield each task with the answer of `work`, in order; with None where its process or another one ended."""
    pending: deque[tuple[Task, Future[Answer] | None]] = deque()
    with _shared(count).borrow() as pool:
        try:
            for task in tasks:
                pending.append((task, _attempt(pool, work, task)))
                if len(pending) >= count * TASKS_AHEAD:
                    task, future = pending.popleft()
                    yield task, _result(future)
            while pending:
                task, future = pending.popleft()
                yield task, _result(future)
        finally:
            for _, future in pending:
                if future:
                    future.cancel()


def _attempt(
    pool: ProcessPoolExecutor, work: Callable[..., Answer], task: tuple[object, ...]
) -> "Future[Answer] | None":
    with suppress(BrokenProcessPool):
        return _submit(pool, work, *task)
    return None


def _result(future: "Future[Answer] | None") -> Answer | None:
    with suppress(BrokenProcessPool):
        return future.result() if future else None
    return None


def _tasks(jobs: Sequence[Job]) -> Iterator[tuple[Job, ...]]:
    """Group jobs into tasks of similar size."""
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


def _prepare_here(jobs: Sequence[Job], quarantine: Quarantine, search_yield: SearchYield) -> Iterator[Outcome]:
    """Prepare files in this process; a file that ends it is quarantined for the next one."""
    for job in jobs:
        search_yield.yield_to_searches()
        quarantine.begin(job.path)
        yield prepare(job)
    quarantine.end()


def _in_own_process(work: Callable[..., Answer], *arguments: object) -> Answer | None:
    """Return the result of work in a process of its own, so that a crash costs nothing else; None if that has ended."""
    pool = _start_pool(1)
    try:
        return _submit(pool, work, *arguments).result()
    except BrokenProcessPool:
        return None
    finally:
        pool.shutdown(wait=False)


def _processes_start() -> bool:
    """Whether a process can be started: not when the main module cannot be imported, as when read from a pipe."""
    return _in_own_process(os.getpid) is not None


class _SharedPool:
    """Processes that the first run starts, and that end when no run has used them for IDLE_SECONDS."""

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
        """End the processes unless a run is using them."""
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
    context = multiprocessing.get_context("spawn")  # A fork of a process with threads may deadlock.
    with starting_process():  # This starts the resource tracker, which removes semaphores that a kill leaves.
        return ProcessPoolExecutor(count, mp_context=context, initializer=_serve_parent)


def _submit(pool: ProcessPoolExecutor, work: Callable[..., Answer], *arguments: object) -> "Future[Answer]":
    """Submit work to a pool, which may start a process for it."""
    with starting_process():
        return pool.submit(work, *arguments)


def _prepare_task(*jobs: Job) -> list[Outcome]:
    return [prepare(job) for job in jobs]


def _serve_parent() -> None:
    """Lower the priority, ignore Ctrl-C, and end when the parent ends, even if it is killed."""
    collect_rarely()
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait_for_handles([parent.sentinel])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _read_quarantine(file: Path) -> set[str]:
    with suppress(OSError, ValueError):
        paths = json.loads(file.read_bytes())
        if isinstance(paths, list):
            return {path for path in paths if isinstance(path, str)}
    return set()
