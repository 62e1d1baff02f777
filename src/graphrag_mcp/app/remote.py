"""A search without a local index: a team indexes once, and every member searches the servers."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from graphrag_mcp.app.session import WITH_GRAPH, Capability, Session, View
from graphrag_mcp.embedding.models import is_static, load_embedder
from graphrag_mcp.embedding.onnx_models import load_cross_encoder
from graphrag_mcp.errors import GraphragError, ModelUnavailableError, ServerError
from graphrag_mcp.index.backends import Servers, project_name
from graphrag_mcp.index.failures import explain
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.model.files import ListedFile, Symbol
from graphrag_mcp.model.reports import IndexPhase, IndexState, ServerState, Status
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest, SearchResult
from graphrag_mcp.ports import Embedder
from graphrag_mcp.search.orchestrator import SearchOrchestrator
from graphrag_mcp.settings import Settings

if TYPE_CHECKING:  # Only exact questions need them.
    from graphrag_mcp.graph.navigator import Navigator

READY = IndexState(IndexPhase.READY)  # Only the process that writes to the servers has the real state.


class RemoteView(View):
    """What one question sees of a project on servers."""

    capabilities: ClassVar[frozenset[Capability]] = WITH_GRAPH

    def __init__(self, app: "RemoteApp") -> None:
        self.root, self.settings = app.root, app.settings
        self._app = app

    @property
    def state(self) -> IndexState:
        return READY

    def search(self, request: SearchRequest) -> SearchResult:
        return self._app.search(request)

    def status(self) -> Status:
        return self._app.status()

    @cached_property
    def navigator(self) -> "Navigator":
        """The answers from the code graph on Neo4j. Raises ServerError when the settings name none."""
        from graphrag_mcp.graph.navigator import Navigator

        code = self._app.servers.code()
        return Navigator(code, code, self.root, _RemoteFiles(code.text), None, 0.0)

    def check(self, _nodes: Iterable[object]) -> set[str]:
        """Return none: the files of this machine are not what was copied."""
        return set()


class _RemoteFiles:
    """The files on the servers, as far as an answer shows their code."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read

    def listed(self, _scope: Scope) -> Sequence[ListedFile]:
        return ()

    def definitions(self, _file_ids: Collection[int]) -> Mapping[int, Sequence[Symbol]]:
        return {}

    def read(self, paths: Sequence[str], _required: object = ()) -> Iterator[tuple[str, bytes | None]]:
        yield from ((path, self._read(path).encode()) for path in paths)


class RemoteApp(Session[RemoteView]):
    """One project on servers, searched as `App` searches its own index; it writes nothing."""

    def __init__(self, root: Path, settings: Settings) -> None:
        """Connect to nothing yet. Raises ServerError when the settings name no Qdrant."""
        self.root = Path(os.path.realpath(root.expanduser()))
        self.settings = settings
        own_id = partial(IndexPaths(self.root, settings.indexing.data_dir).project_id, create=False)
        self.servers = Servers(settings.servers, project_name(settings.servers, self.root, "", own_id))
        if not settings.servers.qdrant_url:
            raise ServerError("searching without a local index needs Qdrant; set GRAPHRAG_QDRANT_URL")
        timeout = settings.servers.server_timeout_seconds
        self._orchestrator = SearchOrchestrator(settings.retrieval, remote_timeout_seconds=timeout)
        self._loading = threading.Lock()
        self._embedder: Embedder | None = None
        self._model_problem = ""
        self._verified = False

    def start(self) -> None:
        """Load the model in the background."""
        threading.Thread(target=self._load_model, name="model", daemon=True).start()

    @contextmanager
    def view(self) -> Iterator[RemoteView]:
        yield RemoteView(self)

    def refresh(self, _paths: Collection[str]) -> bool:
        return False

    def search(self, request: SearchRequest) -> SearchResult:
        self._load_model()
        stores = replace(
            self.servers.remote_only(self._embedder, self._model_problem, self._verify_model),
            has_calibrated_cosines=not is_static(self.settings.indexing.embedding_model),
            cross_encoder=lambda: load_cross_encoder(self.settings.retrieval.cross_encoder_model),
        )
        started = time.monotonic()
        result = self._orchestrator.search(request, stores, READY)
        problem = self.servers.reads.problem_since(started)
        if problem:
            unavailable = {"catalog": problem, **result.meta.unavailable}
            return replace(result, meta=replace(result.meta, unavailable=unavailable))
        lacking = filter(None, [self._what_lacks()])
        return replace(result, meta=replace(result.meta, warnings=(*result.meta.warnings, *lacking)))

    def _what_lacks(self) -> str:
        """Return what the copy lacks, "" for nothing."""
        try:
            inventory = self.servers.inventory()
            self.servers.is_current(inventory)  # If it is not, the next search looks again.
        except ServerError as error:
            return str(error)
        return "" if inventory.is_whole else "Qdrant's copy is not whole: it is being written, or a copy ended half-way"

    def wait_ready(self, _timeout_seconds: float) -> IndexState:
        return READY

    def suspect(self, error: sqlite3.Error) -> ServerError:
        """Return the error to raise; there is no index file that could be damaged."""
        return ServerError(explain(error))

    def status(self) -> Status:
        self._load_model()
        model = self.settings.indexing.embedding_model
        address, project = self.settings.servers.qdrant_url, self.servers.project
        try:
            counts, problem = self.servers.counts(), ""
        except GraphragError as error:
            counts, problem = {}, str(error)
        with suppress(ServerError):  # A problem is in the status below.
            self._verify_model()
        files = sum(counts.values())
        state = (
            IndexState(IndexPhase.FAILED, message=problem) if problem else IndexState(IndexPhase.READY, files, files)
        )
        return Status(
            root=str(self.root),
            index_file=f"{address} (project {project})",
            index_bytes=0,
            state=state,
            files=files,
            model=model if is_static(model) else "the package's own",
            model_available=self._embedder is not None,
            languages=counts,
            servers=(ServerState(f"Qdrant {address} {project}", 0, problem),),
            warnings=(self._model_problem,) if self._model_problem else (),
        )

    def close(self) -> None:
        self._orchestrator.close()
        self.servers.close()

    def _load_model(self) -> None:
        """Load the model once; without it, only keyword and graph search answer, and the result has the reason."""
        with self._loading:
            if self._embedder is None and not self._model_problem:
                try:
                    self._embedder = load_embedder(self.settings.indexing.embedding_model)
                except ModelUnavailableError as error:
                    self._model_problem = str(error)

    def _verify_model(self) -> None:
        """Use the model only if the server's vectors were made with it; checked until the server has vectors.

        Raises ServerError when they were made with another model.
        """
        embedder = self._embedder
        if self._verified or embedder is None:
            return
        stored = self.servers.model()
        if stored not in ("", embedder.fingerprint):
            self._model_problem = (
                f"the server's vectors are of the model {stored!r}, this machine's is {embedder.fingerprint!r}; "
                "set the same GRAPHRAG_EMBEDDING_MODEL on both machines"
            )
            self._embedder = None
            raise ServerError(self._model_problem)
        self._verified = bool(stored)
