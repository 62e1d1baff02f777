"""The application: composes the parts of a project, and chooses the stores that a search reads."""

import json
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import ClassVar, TypeVar

from graphrag_mcp.app.protocol import WITH_INDEX, Capability, Nodes
from graphrag_mcp.embedding.onnx_models import load_cross_encoder
from graphrag_mcp.errors import IndexStoreError, RootError, ServerError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.graph.navigator import Navigator
from graphrag_mcp.grep.learnt import LearntFiles
from graphrag_mcp.history.find import Past
from graphrag_mcp.index.current_files import CurrentFiles
from graphrag_mcp.index.freshness import correct, find_changed, relocate, shown_files
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.index.stores import IndexStores
from graphrag_mcp.index.supervisor import ReportRun, Supervisor
from graphrag_mcp.ingest.indexer import ReportProgress
from graphrag_mcp.model.reports import IndexReport, IndexState, SkippedPath, Status, SyncReport
from graphrag_mcp.model.search import SearchRequest, SearchResult, StoredChunk
from graphrag_mcp.ports import Embedder
from graphrag_mcp.replication.backends import Servers, project_name
from graphrag_mcp.replication.replicator import Replicator
from graphrag_mcp.replication.sync import Agree, ReportSync
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.settings import Settings
from graphrag_mcp.stores.sqlite.inventory import SqliteInventory
from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource
from graphrag_mcp.system.git_dirs import find_work_tree, read_branch

EXAMPLES_SHOWN = 20
GUARD_SECONDS = 300.0  # For a question to a server, against hanging: ten times the slowest that was measured.
COMMAND_SECONDS = 86_400.0  # On the command line nothing is cut by time.
BUILDING_SECONDS = 5.0  # The import of the servers' clients waits up to this long for the index to be built,
SEARCH_SECONDS = 0.5  # and then this long for the search that has waited for it.
CHECKED_NODES = 200  # Of an answer from the graph: more than one answer shows.

_Answer = TypeVar("_Answer")


class App:
    """One project: search it, index it, watch it.

    Any number of processes may open the same project. One of them is the writer: it holds a lock that the system
    releases when the process ends for any reason. The others are readers and see its commits.
    """

    capabilities: ClassVar[frozenset[Capability]] = WITH_INDEX

    def __init__(
        self, root: Path, settings: Settings, index_root: str = "", past: tuple[Path, str] | None = None
    ) -> None:
        """Check the root and open nothing yet; `index_root` limits the index to a subfolder.

        past: a repository with the same paths, and a commit of it: its ancestors are the history of this tree.
        Raises RootError when the root is not a readable folder.
        """
        self.root = _checked(root)
        self.settings = settings
        self._start = index_root.strip("/")
        paths = IndexPaths(self.root, settings.indexing.data_dir, self._start)
        self._handle = Handle(self.root, paths, settings.indexing.embedding_model)
        self._exclusion = ExclusionManager(self.root, settings.indexing)
        project = project_name(settings.servers, self.root, self._start, paths.project_id)
        self._servers = Servers(settings.servers, project)
        timeout = settings.servers.server_timeout_seconds
        self._orchestrator = SearchOrchestrator(settings.retrieval, remote_timeout_seconds=timeout)
        self._learnt = LearntFiles()
        self._stop = threading.Event()
        indexing = settings.indexing
        self._supervisor = Supervisor(
            self.root, self._start, indexing, self._handle, self._exclusion, self._stop, past or (self.root, "")
        )
        self._replicator = Replicator(self._servers, self._replication_source, paths.sync_lock, self._stop)

    # ------------------------------------------------------------ searching

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer from what is indexed now; the result has the state of the index.

        A file that has changed since is indexed first if this process may write; else its hits are relocated to the
        current lines, or marked as stale.
        """
        too_early = self._too_early_for_servers()
        result, changed = self._answer(lambda index: self._search(request, index, too_early))
        return correct(self.root, result, changed, self._exclusion.max_file_bytes) if changed else result

    def navigate(self, ask: Callable[[Navigator], Nodes]) -> tuple[Nodes, set[str]]:
        def look(index: IndexStores) -> tuple[Nodes, set[str]]:
            answer = ask(self._navigator(index))
            return answer, self._changed(index, {node.file_id: node.path for node in answer.nodes[:CHECKED_NODES]})

        return self._answer(look)

    def chunk_at(self, path: str, line: int) -> StoredChunk | None:
        """Return the innermost chunk around a line of an indexed file, else its first; None for any other file.

        It is checked and brought up to date as the results of a search are.
        """

        def look(index: IndexStores) -> tuple[StoredChunk | None, set[str]]:
            chunk = index.catalog.chunk_at(path, line)
            return chunk, self._changed(index, {chunk.file_id: path}) if chunk is not None else set()

        chunk, changed = self._answer(look)
        return relocate(self.root, chunk, self._exclusion.max_file_bytes) if chunk is not None and changed else chunk

    def navigator(self) -> Navigator:
        return self._navigator(self._handle.searched())

    def _navigator(self, index: IndexStores) -> Navigator:
        files = CurrentFiles(self.root, index.catalog, self._learnt, self._exclusion.max_file_bytes)
        seconds = GUARD_SECONDS if self._supervisor.in_background else COMMAND_SECONDS
        return Navigator(index.symbols, index.relations(), self.root, files, Past(self.root, index.history), seconds)

    def stores(self) -> Stores:
        """Return what a search reads, for callers that compare ways to search."""
        return self._stores(self._handle.searched())

    def index_state(self) -> IndexState:
        return self._supervisor.state()

    def wait_ready(self, timeout_seconds: float | None = None) -> IndexState:
        return self._supervisor.wait_ready(timeout_seconds)

    # ------------------------------------------------------------ keeping the index

    def start(self) -> None:
        """Open everything, bring the index up to date and keep it so, in the background; returns at once."""
        self._supervisor.start()
        self._use_servers()

    def index(self, rebuild: bool = False, progress: ReportProgress | None = None) -> IndexReport:
        """Bring the index up to date and return what was done; `rebuild` starts from nothing.

        Raises IndexLockedError while another process writes this index.
        """
        report = self._supervisor.index(rebuild, progress)
        return replace(report, warnings=(*self._handle.warnings, *report.warnings))

    def watch(self, stop: threading.Event, report: ReportRun | None = None) -> None:
        """Follow the edits of the tree until `stop` is set; `report` is called after each run that changed something.

        Raises IndexLockedError while another process writes this index, RootError when the tree cannot be watched.
        """
        self._use_servers()
        self._supervisor.watch(stop, report)

    def sync(
        self,
        verify: bool = False,
        rebuild: bool = False,
        progress: ReportSync | None = None,
        agree: Agree = lambda _: False,
    ) -> tuple[SyncReport, ...]:
        """Send to each server what it lacks of the index; see `Replicator.sync`."""
        return self._replicator.sync(verify=verify, rebuild=rebuild, progress=progress, agree=agree)

    def close(self) -> None:
        self._stop.set()
        self._replicator.close()
        self._orchestrator.close()
        self._servers.close()
        self._handle.close()

    # ------------------------------------------------------------ reporting

    def status(self) -> Status:
        """Return the state of the index, its counts, and what was left out."""
        index = self._handle.searched()
        if not self._supervisor.in_background:
            self._handle.load_model()
        catalog = index.catalog
        counts, skipped = catalog.counts(), catalog.skipped()
        seen = counts.files + len(skipped)
        indexed_at, rule_warnings = catalog.meta("indexed_at"), catalog.meta("rule_warnings")
        return Status(
            root=str(self.root),
            index_file=str(index.database.path),
            index_bytes=self._handle.paths.size,
            state=self.index_state(),
            branch=read_branch(find_work_tree(self.root) or self.root),
            trees=index.database.roots(),
            commits=index.history.count(),
            no_history=index.history.state().note,
            files=counts.files,
            chunks=counts.chunks,
            symbols=counts.symbols,
            relations=counts.relations,
            model=self.settings.indexing.embedding_model or "the package's own",
            model_available=self._handle.embedder is not None,
            embedded_chunks=counts.embedded_chunks,
            languages=catalog.files_by("language"),
            categories=catalog.files_by("category"),
            archived_files=counts.archived_files,
            skipped=dict(Counter(skipped.values()).most_common()),
            skipped_examples=tuple(SkippedPath(*item) for item in sorted(skipped.items())[:EXAMPLES_SHOWN]),
            fallbacks={note: count for note, count in catalog.files_by("note").items() if note},
            failures=catalog.failures(),
            exclusion_rate=len(skipped) / seen if seen else 0.0,
            servers=self._replicator.states() if self._handle.embedder is not None else (),
            warnings=(*self._handle.warnings, *json.loads(rule_warnings or "[]"), *self._supervisor.warnings),
            last_indexed=datetime.fromtimestamp(float(indexed_at), UTC) if indexed_at else None,
        )

    def inventory(self) -> SqliteInventory:
        """Return the inventory of indexed files and of those that were left out."""
        return self._handle.searched().inventory

    def why_absent(self, path: str) -> str:
        """Return why a search cannot find a file, "" when it can."""
        catalog = self._handle.searched().catalog
        if path in catalog.states_at(path):
            return "filtered: it is archived" if catalog.is_archived(path) else ""
        if not self._handle.is_writer:  # A reader does not follow changes of the rules.
            self._exclusion.reload()
        if exclusion := self._exclusion.explain(path):
            return f"not indexed: {exclusion}"
        reason = catalog.skipped().get(path)
        return f"not indexed: {reason}" if reason else "not in the index"

    def note(self, path: str) -> str:
        """Return how a file was read, where that was not as usual."""
        return self._handle.searched().catalog.note(path)

    # ------------------------------------------------------------ inside

    def _answer(self, ask: Callable[[IndexStores], tuple[_Answer, set[str]]]) -> tuple[_Answer, set[str]]:
        """Answer from one commit, and again from the next one if changed files of the answer could be indexed."""
        answer, changed = self._ask_once(ask)
        if changed and self._supervisor.refresh_stale(changed):
            return self._ask_once(ask)
        return answer, changed

    def _ask_once(self, ask: Callable[[IndexStores], _Answer]) -> _Answer:
        with self._supervisor.search_priority.first(), self._handle.snapshot() as index:
            return ask(index)

    def _search(
        self, request: SearchRequest, index: IndexStores, too_early: Mapping[str, str]
    ) -> tuple[SearchResult, set[str]]:
        """Return a result with the paths of files that changed since they were indexed."""
        state = self._supervisor.state(index)
        if too_early:
            result = self._without_servers(request, too_early, index, state)
        else:
            result = self._search_servers(request, index, state)
        return result, self._changed(index, shown_files(result))

    def _search_servers(self, request: SearchRequest, index: IndexStores, state: IndexState) -> SearchResult:
        """Answer from the stores as they are set; again from the local index where a server failed."""
        started = time.monotonic()
        result = self._orchestrator.search(request, self._stores(index), state)
        missing = result.meta.unavailable.items()
        failed = {store: why for store, why in missing if self._orchestrator.server_failed(store, started)}
        if failed:
            return self._without_servers(request, failed, index, state)
        seconds = self.settings.servers.server_timeout_seconds
        differences = self._replicator.differences(index.replica_source(self._servers.project, ""), seconds)
        return replace(result, meta=replace(result.meta, warnings=(*result.meta.warnings, *differences)))

    def _too_early_for_servers(self) -> Mapping[str, str]:
        """Map the stores that are searched locally for now to the reason; a command queries the servers at once."""
        if not self._servers.any or not self._supervisor.in_background:
            return {}
        if not self._servers.is_loaded:
            return dict.fromkeys(chain(*self._servers.stores.values()), "the server's client library is still loading")
        return self._replicator.lagging_stores()

    def _without_servers(
        self, request: SearchRequest, problems: Mapping[str, str], index: IndexStores, state: IndexState
    ) -> SearchResult:
        """Answer from the local index in place of the servers; the result names those that failed."""
        local = self._orchestrator.search(request, self._local_stores(index), state)
        reasons = {name: f"{why}; answered from the local index" for name, why in problems.items()}
        return replace(local, meta=replace(local.meta, unavailable={**reasons, **local.meta.unavailable}))

    def _changed(self, index: IndexStores, shown: Mapping[int, str]) -> set[str]:
        return find_changed(self.root, shown, index.catalog.states(shown), self._exclusion.max_file_bytes)

    def _stores(self, index: IndexStores) -> Stores:
        stores = self._local_stores(index)
        return index.on_servers(stores, self._servers) if self._servers.any else stores

    def _local_stores(self, index: IndexStores) -> Stores:
        if not self._supervisor.in_background:
            self._handle.load_model()
        return replace(
            index.stores(*self._handle.model_of(index)),
            has_calibrated_cosines=not self.settings.indexing.embedding_model,
            cross_encoder=lambda: load_cross_encoder(self.settings.retrieval.cross_encoder_model),
        )

    def _replication_source(self) -> tuple[SqliteReplicaSource, Embedder]:
        """Return what is replicated to servers, and the model of its vectors."""
        index = self._handle.searched()
        self._handle.load_model()
        if self._handle.embedder is None:
            raise ServerError(f"no replication without the model of the server's vectors: {self._handle.model_problem}")
        if index.database.tree.model not in ("", self._handle.embedder.fingerprint):
            raise ServerError("the vectors are being rebuilt with another model; they are copied when complete")
        return index.replica_source(self._servers.project, self._handle.embedder.fingerprint), self._handle.embedder

    def _use_servers(self) -> None:
        """Load the servers' clients, and replicate each commit while this process is the writer of a complete index."""
        if not self._servers.any:
            return
        self._servers.load_soon(self._wait_until_idle)
        if self.settings.servers.sync_servers:
            self._replicator.start_following(lambda: self._own_commit() if self._servers.is_loaded else None)

    def _wait_until_idle(self) -> None:
        self.wait_ready(BUILDING_SECONDS)
        self._stop.wait(SEARCH_SECONDS)
        self._supervisor.search_priority.idle.wait()

    def _own_commit(self) -> int | None:
        writes = self._supervisor.is_settled and self._handle.is_writer
        return self._handle.searched().database.commit_number() if writes else None

    def doubt(self, error: sqlite3.Error) -> IndexStoreError:
        return self._handle.doubt(error)


def _checked(root: Path) -> Path:
    try:
        resolved = root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError):
        raise RootError(f"{root} does not exist; pass the folder of your repository as --root") from None
    if not resolved.is_dir():
        raise RootError(f"{root} is a file; pass the folder that contains it as --root")
    if (resolved / "HEAD").is_file() and (resolved / "objects").is_dir() and (resolved / "refs").is_dir():
        raise RootError(f"{root} is a repository without files; pass the folder of a work tree as --root")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise RootError(f"{root} cannot be read; check its permissions or pass another --root")
    return resolved
