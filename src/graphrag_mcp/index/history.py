"""Keeps the past commits of the index up to date with what is checked out, beside the runs of the writer."""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphrag_mcp.errors import GraphragError
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.system.git_dirs import find_work_tree, read_head

POLL_SECONDS = 0.4  # A new commit is searchable within a second.


class HistoryFollower:
    """Reads new commits while this process is the writer; searches go first."""

    def __init__(
        self, repository: Path, tip: str, handle: Handle, stop: threading.Event, idle: threading.Event
    ) -> None:
        """tip: the commit whose ancestors are read, "" for HEAD. stop: ends it. idle: set while no search runs."""
        self._repository = repository
        self._tip = tip
        self._handle = handle
        self._stop = stop
        self._idle = idle

    def read(self) -> None:
        """Read the commits that the index lacks; see `update_history`. A failure is logged: the search goes on."""
        from graphrag_mcp.history.update import update_history  # Who only asks needs nothing of it.

        try:
            update_history(self._handle.written().history, self._repository, self._tip, self._pause)
        except (sqlite3.Error, OSError, GraphragError) as error:
            logging.getLogger(__name__).warning("the history was not read: %s", error)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Read the history, and what is committed or checked out later, in a thread during the block."""
        ended = threading.Event()
        thread = threading.Thread(target=self._follow, args=[ended], name="history", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _follow(self, ended: threading.Event) -> None:
        top = find_work_tree(self._repository)
        seen: object = None
        while not (ended.is_set() or self._stop.is_set()):
            now = read_head(top) if top is not None else ()
            if now != seen:
                seen = now
                self.read()
            ended.wait(POLL_SECONDS)

    def _pause(self) -> bool:
        self._idle.wait()
        return self._stop.is_set()
