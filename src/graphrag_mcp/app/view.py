"""What one question sees of a project with a local index: its search, its code graph, its files, at one commit."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

from msgspec.structs import replace

from graphrag_mcp.app.parts import Parts
from graphrag_mcp.app.session import WITH_INDEX, Capability, View
from graphrag_mcp.errors import ServerError
from graphrag_mcp.index.freshness import correct, find_changed, relocate, shown_files
from graphrag_mcp.model.reports import IndexState, SkippedPath, Status
from graphrag_mcp.model.search import SearchRequest, SearchResult, StoredChunk
from graphrag_mcp.system.git import head_commit
from graphrag_mcp.system.git_dirs import find_work_tree, read_branch
from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:  # A question imports what answers it.
    from graphrag_mcp.graph.navigator import Navigator
    from graphrag_mcp.index.current_files import CurrentFiles
    from graphrag_mcp.index.stores import IndexStores
    from graphrag_mcp.ports import CrossEncoder
    from graphrag_mcp.search.retrieval import Stores
    from graphrag_mcp.stores.replica import Inventory

EXAMPLES_SHOWN = 20
ON_SERVER = ("keyword", "vector")  # The look-ups that a server answers.
GUARD_SECONDS = 300.0  # For a question to a server, against hanging: ten times the slowest that was measured.
COMMAND_SECONDS = 86_400.0  # On the command line nothing is cut by time.
CHECKED_NODES = 200  # An answer from the graph shows fewer.


class InFile(Protocol):
    """A definition or a file. file_id: of the content that the index has of it."""

    @property
    def file_id(self) -> int: ...
    @property
    def path(self) -> str: ...


class IndexView(View):
    """The index of a project at one commit, from its first look-up on."""

    capabilities: ClassVar[frozenset[Capability]] = WITH_INDEX

    def __init__(self, parts: Parts, open_index: Callable[[], "IndexStores"]) -> None:
        """open_index: lends the stores; called once, by the first look-up."""
        self.root = parts.root
        self.settings = parts.settings
        self.stale: set[str] = set()
        self._parts = parts
        self._open_index = open_index

    @cached_property
    def index(self) -> "IndexStores":
        return self._open_index()

    @property
    def state(self) -> IndexState:
        """How complete the index is; as it is at the commit, once something was looked up."""
        return self._parts.supervisor.state(self.__dict__.get("index"))

    @cached_property
    def files(self) -> "CurrentFiles":
        """The indexed files as they are on disk."""
        from graphrag_mcp.index.current_files import CurrentFiles

        parts = self._parts
        max_bytes, is_served = self.settings.indexing.max_file_bytes, parts.supervisor.in_background
        return CurrentFiles(self.root, self.index.catalog, parts.learnt, max_bytes, is_served)

    @cached_property
    def navigator(self) -> "Navigator":
        """The answers from the code graph and the current files."""
        from graphrag_mcp.graph.navigator import Navigator
        from graphrag_mcp.history.find import Past

        parts, index = self._parts, self.index
        seconds = GUARD_SECONDS if parts.supervisor.in_background else COMMAND_SECONDS
        return Navigator(
            index.symbols, index.relations(), parts.root, self.files, Past(parts.root, index.history), seconds
        )

    def check(self, nodes: Iterable[InFile]) -> set[str]:
        """Return the files of an answer that changed since they were indexed, and remember them as stale."""
        shown = {node.file_id: node.path for node in list(nodes)[:CHECKED_NODES]}
        return self._changed(shown)

    def chunk_at(self, path: str, line: int) -> StoredChunk | None:
        """Return the innermost chunk around a line of an indexed file, else its first; None for any other file."""
        chunk = self.index.catalog.chunk_at(path, line)
        if chunk is None or not self._changed({chunk.file_id: path}):
            return chunk
        return relocate(self.root, chunk, self.settings.indexing.max_file_bytes)

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer from the stores as they are set, or from the local index while, or where, a server cannot."""
        state = self._parts.supervisor.state(self.index)
        if not self._parts.servers.answers:
            result = self._parts.orchestrator.search(request, self._local_stores(), state)
        elif self._parts.supervisor.in_background and not self._parts.servers.is_loaded:  # A command asks it at once.
            problem = "the server's client library is still loading"
            result = self._without_servers(request, dict.fromkeys(ON_SERVER, problem), state)
        else:
            result = self._search_servers(request, state)
        changed = self._changed(shown_files(result))
        return correct(self.root, result, changed, self.settings.indexing.max_file_bytes) if changed else result

    def stores(self) -> "Stores":
        """Return what a search reads, also from a server if one is set. Raises ServerError when that fails."""
        stores, servers = self._local_stores(), self._parts.servers
        return self.index.beside_server(stores, servers, servers.inventory()) if servers.answers else stores

    def status(self) -> Status:
        handle, supervisor, index = self._parts.handle, self._parts.supervisor, self.index
        model = self.settings.indexing.embedding_model
        has_own, second_chunks = self._parts.has_own_model, 0
        if model and not has_own:
            from graphrag_mcp.stores.sqlite.vectors import count_computed

            second_chunks = count_computed(index.database)
        if not supervisor.in_background:
            handle.load_model()
        catalog = index.catalog
        counts, skipped = catalog.counts(), catalog.skipped()
        seen = counts.files + len(skipped)
        indexed_at, rule_warnings = catalog.meta("indexed_at"), catalog.meta("rule_warnings")
        return Status(
            root=str(self.root),
            index_file=str(index.database.path),
            index_bytes=handle.paths.size,
            state=self.state,
            branch=read_branch(find_work_tree(self.root) or self.root),
            trees=index.database.roots(),
            commits=index.history.count(),
            no_history=index.history.state().note,
            files=counts.files,
            chunks=counts.chunks,
            symbols=counts.symbols,
            relations=counts.relations,
            model=model if has_own else "the package's own",
            second_model="" if has_own else model,
            second_chunks=second_chunks,
            model_available=handle.embedder is not None,
            embedded_chunks=counts.embedded_chunks,
            languages=catalog.files_by("language"),
            categories=catalog.files_by("category"),
            archived_files=counts.archived_files,
            skipped=dict(Counter(skipped.values()).most_common()),
            skipped_examples=tuple(SkippedPath(*item) for item in sorted(skipped.items())[:EXAMPLES_SHOWN]),
            fallbacks={note: count for note, count in catalog.files_by("note").items() if note},
            failures=catalog.failures(),
            exclusion_rate=len(skipped) / seen if seen else 0.0,
            servers=self._parts.replicator.states() if handle.embedder is not None else (),
            warnings=(*handle.warnings, *json.loads(rule_warnings or "[]"), *supervisor.warnings),
            last_indexed=datetime.fromtimestamp(float(indexed_at), UTC) if indexed_at else None,
        )

    # ------------------------------------------------------------ inside

    def _search_servers(self, request: SearchRequest, state: IndexState) -> SearchResult:
        """Answer from the server for what it holds, and from the local index for the rest, or for all if it fails."""
        servers, orchestrator = self._parts.servers, self._parts.orchestrator
        for _ in range(2):  # Once more where the copy was changed meanwhile.
            started = time.monotonic()
            try:
                inventory = servers.inventory()
                stores = self.index.beside_server(self._local_stores(), servers, inventory)
                result = orchestrator.search(request, stores, state)
                is_current = servers.is_current(inventory)
            except ServerError as error:
                return self._without_servers(request, dict.fromkeys(ON_SERVER, str(error)), state)
            missing = result.meta.unavailable.items()
            if failed := {store: why for store, why in missing if orchestrator.retriever.server_failed(store, started)}:
                return self._without_servers(request, failed, state)
            if is_current:
                break
        return replace(result, meta=replace(result.meta, warnings=(*result.meta.warnings, *self._describe(inventory))))

    def _describe(self, inventory: "Inventory") -> Iterator[str]:
        """Yield what a server holds where that is another commit: files that differ were searched here."""
        overlay = self.index.overlay(self._local_stores(), inventory)
        if overlay.paths and inventory.commit not in ("", head_commit(self.root)):
            date = datetime.fromtimestamp(inventory.written_at, UTC).date()
            differ = f"{len(overlay.paths):,} of {counted(len(overlay.paths) + overlay.held, 'file')}"
            yield f"Qdrant holds commit {inventory.commit[:8]} of {date}; {differ} differ and were searched here"

    def _without_servers(self, request: SearchRequest, problems: Mapping[str, str], state: IndexState) -> SearchResult:
        """Answer from the local index in place of the servers; the result names those that failed."""
        local = self._parts.orchestrator.search(request, self._local_stores(), state)
        reasons = {name: f"{why}; answered from the local index" for name, why in problems.items()}
        return replace(local, meta=replace(local.meta, unavailable={**reasons, **local.meta.unavailable}))

    def _local_stores(self) -> "Stores":
        if not self._parts.supervisor.in_background:
            self._parts.handle.load_model()
        return replace(
            self.index.stores(*self._parts.handle.model_of(self.index)),
            has_calibrated_cosines=not self._parts.has_own_model,
            cross_encoder=self._load_cross_encoder,
            second=self._parts.supervisor.second.over(self.index),
        )

    def _load_cross_encoder(self) -> "CrossEncoder":
        from graphrag_mcp.embedding.onnx_models import load_cross_encoder

        return load_cross_encoder(self.settings.retrieval.cross_encoder_model)

    def _changed(self, shown: Mapping[int, str]) -> set[str]:
        states = self.index.catalog.states(shown)
        changed = find_changed(self.root, shown, states, self.settings.indexing.max_file_bytes)
        self.stale |= changed
        return changed
