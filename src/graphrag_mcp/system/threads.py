"""Daemon threads for look-ups that may never return; they do not keep the process alive."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class DaemonThreads:
    """At most `limit` threads, started on demand and kept with their connections."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._started = 0
        self._idle = 0

    def submit(self, call: Callable[[], Answer]) -> "Future[Answer]":
        """Run the call in a thread, in a copy of the caller's context."""
        call = partial(copy_context().run, call)
        future: Future[Answer] = Future()
        with self._guard:
            if self._idle:
                self._idle -= 1
            elif self._started < self._limit:
                self._started += 1
                threading.Thread(target=self._run, name=f"{self._name}-{self._started}", daemon=True).start()
        self._work.put((future, call))
        return future

    def close(self) -> None:
        """Let each thread end after its current call."""
        for _ in range(self._started):
            self._work.put(None)

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            future, call = item
            complete(future, call)
            with self._guard:
                self._idle += 1


def complete(future: "Future[Answer]", call: Callable[[], Answer]) -> None:
    """Complete the future with what the call returns or raises."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
