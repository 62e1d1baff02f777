"""Resolves the files whose links are missing: new ones, and those that read what was changed."""

import logging
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from graphrag_mcp.index.workers import SearchYield, run_tasks
from graphrag_mcp.model.files import Failure
from graphrag_mcp.model.links import Read
from graphrag_mcp.parsing.stages import failure
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.resolution.reads import MEANING
from graphrag_mcp.resolution.visible import changed_names, changed_reads
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.facts import SqliteFacts
from graphrag_mcp.stores.sqlite.links import PackedLinks, SqliteLinks, pack_links, pack_meanings, pack_reads

logger = logging.getLogger(__name__)

STAGE = "resolution"
FILES_PER_TASK = 16
FEW_FILES = 40  # Fewer files are resolved in this process: starting others takes as long.


class Unlinked(NamedTuple):
    """A file that could not be resolved."""

    path: str
    failure: Failure


Outcome = PackedLinks | Unlinked


def _failure(outcome: Outcome) -> Failure | None:
    """Return why links of a file are missing, None where none is."""
    if isinstance(outcome, Unlinked):
        return outcome.failure
    return Failure(STAGE, "too many steps") if outcome.is_cut else None


class _State(NamedTuple):
    """The state of the index for which a process keeps a linker."""

    path: Path
    root: str
    model: str
    commit: int


class LinkStage:
    """The last stage of an index run; the caller holds the write lock."""

    def __init__(self, database: Database, workers: int, search_yield: SearchYield) -> None:
        self._database = database
        self._links = SqliteLinks(database)
        self._workers = workers
        self._search_yield = search_yield

    def run(self, stop: threading.Event | None = None) -> None:
        """Resolve the files without links; `stop` ends the run after the next batch."""
        self._links.adopt()
        self._settle()
        pending = self._links.missing()
        tasks = [pending[start : start + FILES_PER_TASK] for start in range(0, len(pending), FILES_PER_TASK)]
        for outcomes in self._linked(tasks, len(pending)):
            self._search_yield.yield_to_searches()
            self._links.write([outcome for outcome in outcomes if isinstance(outcome, PackedLinks)])
            self._links.note(STAGE, {outcome.path: _failure(outcome) for outcome in outcomes})
            if stop is not None and stop.is_set():
                break

    def _linked(self, tasks: Sequence[Sequence[str]], count: int) -> Iterator[list[Outcome]]:
        if count <= FEW_FILES:
            linker = Linker(SqliteFacts(self._database))
            for task in tasks:
                yield [self._link(linker, path) for path in task]
            return
        tree = self._database.tree
        state = _State(self._database.path, tree.root, tree.model, self._database.commit_number())
        answers = run_tasks(_link_task, [(state, tuple(task)) for task in tasks], self._workers)
        for task, outcomes in zip(tasks, answers, strict=True):
            ended = Failure(STAGE, "the process ended")
            yield [Unlinked(path, ended) for path in task] if outcomes is None else outcomes

    def _link(self, linker: Linker, path: str) -> Outcome:
        self._search_yield.yield_to_searches()
        return _attempt(linker, path)

    def _settle(self) -> None:
        """Remove the links that depend on what was changed; all of them if that cannot be found out."""
        try:
            self._follow()
        except sqlite3.Error:
            raise
        except Exception as error:  # A file may hold anything, and must not end the run.
            logger.warning("all files are resolved again: %s", failure(STAGE, error))
            self._links.settle(self._links.resolved(), {})

    def _follow(self) -> None:
        is_changed, reads = False, set[Read]()
        for file in self._links.superseded():
            is_changed = True
            reads |= changed_reads(file.path, file.before, file.now)
            reads |= changed_names(file.path, file.names_before, file.names_now)
            if file.is_manifest_changed:
                reads.add(Read("", "manifests"))
        if not is_changed:
            return
        linker = Linker(SqliteFacts(self._database))
        imports: dict[str, tuple[bytes, bytes]] = {}
        for path, before in self._links.importers(reads).items():
            meanings, of_imports = linker.meanings(path)
            imports[path] = (pack_reads(of_imports), pack_meanings(meanings))
            if imports[path][1] != before:
                old, new = memoryview(before).cast("I"), memoryview(imports[path][1]).cast("I")
                pairs = zip(sorted(meanings), old, new, strict=True)
                reads |= {Read(path, MEANING, module) for module, was, now in pairs if was != now}
        for path in self._links.missing():  # What their imports meant is not known any more.
            meanings, of_imports = linker.meanings(path)
            if not reads.isdisjoint(of_imports):
                reads |= {Read(path, MEANING, module) for module in meanings}
        stale = self._links.readers(reads) | {read.path for read in reads if read.kind == MEANING}
        self._links.settle(stale, {path: packed for path, packed in imports.items() if path not in stale})


@lru_cache(1)
def _opened(state: _State) -> tuple[Database, Linker]:
    database = Database(state.path, state.root, state.model)
    return database, Linker(SqliteFacts(database))


def _link_task(state: _State, paths: Sequence[str]) -> list[Outcome]:
    database, linker = _opened(state)
    try:
        return [_attempt(linker, path) for path in paths]
    finally:
        database.disconnect()


def _attempt(linker: Linker, path: str) -> Outcome:
    try:
        return link_file(linker, path)
    except Exception as error:  # A file may hold anything, and must not end the run.
        return Unlinked(path, failure(STAGE, error))


def link_file(linker: Linker, path: str) -> PackedLinks:
    """Return the links of a file as they are stored."""
    linked = linker.link(path)
    rows, meanings = pack_links(path, linked.links), pack_meanings(linked.meanings)
    return PackedLinks(path, rows, pack_reads(linked.reads), pack_reads(linked.of_imports), meanings)
