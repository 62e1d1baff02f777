"""Resolves the files whose links are missing: new ones, and those that read what was changed."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from graphrag_mcp.ingest.workers.pool import run_tasks
from graphrag_mcp.ingest.yielding import SearchYield
from graphrag_mcp.model.links import Read
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.resolution.reads import MEANING
from graphrag_mcp.resolution.visible import changed_reads
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.facts import SqliteFacts
from graphrag_mcp.stores.sqlite.links import PackedLinks, SqliteLinks, pack_meanings, pack_reads, pack_rows

FILES_PER_TASK = 16
FEW_FILES = 40  # Resolved here: starting processes takes as long.


class _State(NamedTuple):
    """One state of the index, as a process may open it."""

    path: Path
    root: str
    model: str
    version: int


class LinkStage:
    """The last stage of an index run; the caller holds the write lock."""

    def __init__(self, database: Database, workers: int, search_yield: SearchYield) -> None:
        self._database = database
        self._links = SqliteLinks(database)
        self._workers = workers
        self._search_yield = search_yield

    def run(self, stop: threading.Event | None = None) -> int:
        """Resolve what is missing, and return how many files that were; `stop` ends the run after the next batch."""
        self._links.adopt()
        self._settle()
        pending = self._links.missing()
        tasks = [pending[start : start + FILES_PER_TASK] for start in range(0, len(pending), FILES_PER_TASK)]
        count = 0
        for files in self._linked(tasks, len(pending)):
            self._search_yield.yield_to_searches()
            self._links.write(files)
            count += len(files)
            if stop is not None and stop.is_set():
                break
        return count

    def _linked(self, tasks: Sequence[Sequence[str]], count: int) -> Iterator[list[PackedLinks]]:
        if count <= FEW_FILES:
            linker = Linker(SqliteFacts(self._database))
            for task in tasks:
                yield [self._one(linker, path) for path in task]
            return
        tree = self._database.tree
        state = _State(self._database.path, tree.root, tree.model, self._database.version())
        yield from run_tasks(_link_task, [(state, tuple(task)) for task in tasks], self._workers)

    def _one(self, linker: Linker, path: str) -> PackedLinks:
        self._search_yield.yield_to_searches()
        return link_file(linker, path)

    def _settle(self) -> None:
        """Remove the links that follow from something that was changed."""
        changes = self._links.superseded()
        if not changes:
            return
        reads = {read for one in changes for read in changed_reads(one.path, one.before, one.now)}
        if any(one.is_manifest_changed for one in changes):
            reads.add(Read("", "manifests"))
        linker = Linker(SqliteFacts(self._database))
        asked: dict[str, tuple[bytes, bytes]] = {}
        for path, before in self._links.importers(reads).items():
            meanings, of_imports = linker.meanings(path)
            asked[path] = (pack_reads(of_imports), pack_meanings(meanings))
            if asked[path][1] != before:
                old, new = memoryview(before).cast("I"), memoryview(asked[path][1]).cast("I")
                changed = [one for one, was, now in zip(sorted(meanings), old, new, strict=True) if was != now]
                reads |= {Read(path, MEANING, one) for one in changed}
        stale = self._links.readers(reads) | {read.path for read in reads if read.kind == MEANING}
        self._links.settle(stale, {path: packed for path, packed in asked.items() if path not in stale})


_LINKERS: dict[_State, Linker] = {}  # The last one of this process.


def _link_task(state: _State, paths: Sequence[str]) -> list[PackedLinks]:
    if state not in _LINKERS:
        _LINKERS.clear()
        _LINKERS[state] = Linker(SqliteFacts(Database(state.path, state.root, state.model)))
    linker = _LINKERS[state]
    return [link_file(linker, path) for path in paths]


def link_file(linker: Linker, path: str) -> PackedLinks:
    """Return the links of a file as they are stored."""
    linked = linker.link(path)
    rows, meanings = pack_rows(path, linked.links), pack_meanings(linked.meanings)
    return PackedLinks(path, rows, pack_reads(linked.reads), pack_reads(linked.of_imports), meanings)
