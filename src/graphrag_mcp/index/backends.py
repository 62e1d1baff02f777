"""Connects the servers of the settings: Qdrant for vectors and keywords, Neo4j for the graph."""

import importlib
import importlib.util
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec.structs import replace

from graphrag_mcp.errors import ServerError
from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.model.reports import HeldProject
from graphrag_mcp.settings import ServerSettings
from graphrag_mcp.stores.breaker import CircuitBreaker
from graphrag_mcp.system.git import origin
from graphrag_mcp.system.git_dirs import find_work_tree
from graphrag_mcp.system.threads import DaemonThreads
from graphrag_mcp.text.counts import counted

if TYPE_CHECKING:  # The clients are optional, and take a second to import.
    from graphrag_mcp.ports import Embedder
    from graphrag_mcp.search.ranking.sketches import SketchCache
    from graphrag_mcp.search.retrieval import Stores
    from graphrag_mcp.stores.neo4j.graph import Neo4jCode
    from graphrag_mcp.stores.neo4j.schema import Neo4jProject
    from graphrag_mcp.stores.qdrant.catalog import QdrantCatalog
    from graphrag_mcp.stores.qdrant.schema import QdrantProject
    from graphrag_mcp.stores.replica import ChunkIds, Inventory, Replica
    from graphrag_mcp.stores.sqlite.keyword import Overlay

WRITE_TIMEOUT_SECONDS = 60.0  # A batch may take long on a busy server; searches wait far less.
NO_GRAPH = "no graph without a local index; set GRAPHRAG_NEO4J_URI"
INSTALL = 'pip install "graphrag-mcp[servers]"'
LOOK_SECONDS = 30.0  # A count of what Qdrant holds is trusted for this time.
MAX_WAITING = 4  # No more threads wait for a server at the same time.

Answer = TypeVar("Answer")
Connection = TypeVar("Connection")
Purpose = Literal["read", "write"]  # A search has a shorter time limit than a replication.


def project_name(settings: ServerSettings, root: Path, start: str, own_id: Callable[[], str]) -> str:
    """Return the name of the project on the servers: by its origin, which is the same for every clone, or its own.

    root: resolved. own_id: returns what tells the folder from others of its name, "" when nothing does. Raises
    ServerError then.
    """
    name = settings.project_id
    # Without a server the name is not used, and git need not be installed.
    if not name and (settings.qdrant_url or settings.neo4j_uri):
        if name := origin(root):
            below = root.relative_to(find_work_tree(root) or root)
            name += f"//{below.as_posix()}" if below.parts else ""  # Each folder of a repository is a project.
        elif own := own_id():
            name = f"{root.name or 'root'}-{own}"
        else:
            raise ServerError(
                f'{root} has no Git remote "origin" on a host, so its name on the servers is not known here; set '
                "GRAPHRAG_PROJECT_ID to the name that `graphrag-mcp status` shows where it is indexed"
            )
    return f"{name}/{start}" if start else name


class Servers:
    """The servers of one project; each is connected on first use."""

    def __init__(self, settings: ServerSettings, project: str) -> None:
        """Raises ServerError when a client library is missing."""
        self.project = project
        self._settings = settings
        self._timeout = settings.server_timeout_seconds
        for wanted, module in ((settings.qdrant_url, "qdrant_client"), (settings.neo4j_uri, "neo4j")):
            if wanted and importlib.util.find_spec(module) is None:
                raise ServerError(f"{wanted} needs the package {module}; {INSTALL}")
        self.reads = _TimedReads(self._timeout / 3)  # Both time limits and the ranking have to fit into two seconds.
        self._looks = _TimedReads(self._timeout)
        self._looked_at = -math.inf
        self._inventory: Inventory | None = None
        self._catalog: QdrantCatalog | None = None  # For searches without a local index.
        self._sketches: SketchCache | None = None
        self._connecting = threading.Lock()
        self._closed = False
        self._loaded = threading.Event()
        self._connections: dict[tuple[str, Purpose], Any] = {}

    @property
    def any(self) -> bool:
        """Whether the settings name a server."""
        return bool(self._settings.qdrant_url or self._settings.neo4j_uri)

    @property
    def answers(self) -> bool:
        """Whether a search of the local index asks a server as well: Qdrant; Neo4j serves those without an index."""
        return bool(self._settings.qdrant_url)

    @property
    def is_loaded(self) -> bool:
        """Whether `load_soon` has ended."""
        return self._loaded.is_set()

    @property
    def stores(self) -> dict[str, tuple[str, ...]]:
        """Map the name of each replica to the stores that it holds."""
        qdrant, neo4j = self._settings.qdrant_url, self._settings.neo4j_uri
        return {
            **({self._qdrant_name: ("keyword", "vector")} if qdrant else {}),
            **({self._neo4j_name: ("graph",)} if neo4j else {}),
        }

    def load_soon(self, wait: Callable[[], object]) -> None:
        """Import the clients in the background, which takes seconds of CPU; `wait` blocks until that may begin."""
        threading.Thread(target=self._load, args=(wait,), name="clients", daemon=True).start()

    def inventory(self) -> "Inventory":
        """Return what Qdrant holds whole of the project, as it was when it was last looked at.

        Raises ServerError when it does not answer, holds no copy, or has lost some of it.
        """
        if self._inventory is None:
            project = self._qdrant("read")  # It may import the client, which the time limit must not count.
            self._inventory = self._looks(lambda: self._look(project))
        return self._inventory

    def is_current(self, inventory: "Inventory") -> bool:
        """Return whether Qdrant still holds that; if not, `inventory` looks again. Raises ServerError."""
        from graphrag_mcp.stores.qdrant.replica import QdrantInventory

        is_current = self.reads(QdrantInventory(self._qdrant("read")).stamp) == inventory.stamp
        if not is_current or time.monotonic() - self._looked_at > LOOK_SECONDS:
            self._inventory = None
        return is_current

    def beside(self, local: "Stores", overlay: "Overlay", ids: "ChunkIds", mean_length: float) -> "Stores":
        """Return the stores of a search that asks Qdrant for what it holds, and the local index for the overlay."""
        from graphrag_mcp.stores.qdrant.indexes import (
            OverlaidKeywords,
            OverlaidVectors,
            QdrantKeywordIndex,
            QdrantPoints,
            QdrantVectorIndex,
        )

        points = QdrantPoints(self._qdrant("read"), ids, local.catalog.scope_paths, self.reads, overlay.paths, True)
        on_server = QdrantKeywordIndex(points, overlay.keywords.frequencies)
        keywords = OverlaidKeywords(on_server, overlay.keywords, mean_length)
        vectors = OverlaidVectors(QdrantVectorIndex(points), own) if (own := overlay.vectors) is not None else None
        return replace(local, keywords=keywords, vectors=vectors)

    def remote_only(self, embedder: "Embedder | None", model_problem: str, verify: Callable[[], None]) -> "Stores":
        """Return the stores of a search without a local index; verify: see `QdrantVectorIndex`."""
        from graphrag_mcp.search.ranking.sketches import SketchCache
        from graphrag_mcp.search.retrieval import Stores
        from graphrag_mcp.stores.qdrant.catalog import QdrantCatalog, QdrantScopePaths
        from graphrag_mcp.stores.qdrant.history import QdrantHistory
        from graphrag_mcp.stores.qdrant.indexes import QdrantKeywordIndex, QdrantPoints, QdrantVectorIndex
        from graphrag_mcp.stores.replica import PointIds

        project, ids, graph = self._qdrant("read"), PointIds(), None
        points = QdrantPoints(project, ids, QdrantScopePaths(project, compile_globs), self.reads)
        vectors = QdrantVectorIndex(points, verify) if embedder is not None else None
        catalog = self._catalog = QdrantCatalog(points) if self._catalog is None else self._catalog
        if embedder is not None and self._sketches is None:
            self._sketches = SketchCache(catalog, embedder)
        if self._settings.neo4j_uri:
            from graphrag_mcp.stores.neo4j.graph import Neo4jGraphStore

            graph = Neo4jGraphStore(self._neo4j("read"), ids, catalog)
        stores = Stores(catalog, QdrantKeywordIndex(points), graph, vectors, embedder, model_problem, NO_GRAPH)
        return replace(stores, history=QdrantHistory(points), sketches=self._sketches if embedder is not None else None)

    def code(self) -> "Neo4jCode":
        """Return the code graph on Neo4j, with the text of its lines on Qdrant. Raises ServerError without a Neo4j."""
        if not self._settings.neo4j_uri:
            raise ServerError(NO_GRAPH)
        from graphrag_mcp.stores.neo4j.graph import Neo4jCode
        from graphrag_mcp.stores.qdrant.catalog import QdrantCatalog, QdrantScopePaths
        from graphrag_mcp.stores.qdrant.indexes import QdrantPoints
        from graphrag_mcp.stores.replica import PointIds

        project = self._qdrant("read")
        paths = QdrantScopePaths(project, compile_globs)
        lines = QdrantCatalog(QdrantPoints(project, PointIds(), paths)).lines
        return Neo4jCode(self._neo4j("read"), paths, lines)

    def _look(self, project: "QdrantProject") -> "Inventory":
        from graphrag_mcp.stores.qdrant.connection import SYNC
        from graphrag_mcp.stores.qdrant.replica import QdrantInventory

        self._looked_at = time.monotonic()
        inventory = QdrantInventory(project).read()
        if inventory is None:
            raise ServerError(
                f"Qdrant's collection {project.collection!r} holds no complete copy of {project.name!r}{SYNC}"
            )
        if (lost := inventory.chunks - project.count()) > 0:
            raise ServerError(
                f"Qdrant has lost {lost:,} of {counted(inventory.chunks, 'chunk')} of {project.name!r}{SYNC}"
            )
        return inventory

    def counts(self) -> dict[str, int]:
        """Return the number of files of each language on the server."""
        from graphrag_mcp.stores.qdrant.catalog import count_files

        return count_files(self._qdrant("read"))

    def model(self) -> str:
        """Return the fingerprint of the model of the server's vectors; "" while it holds none."""
        from graphrag_mcp.stores.qdrant.catalog import stored_model

        return stored_model(self._qdrant("read"))

    def replicas(
        self, fingerprint: str, dimensions: int, mean_length: Callable[[], float], purpose: Purpose = "write"
    ) -> "list[Replica]":
        """Return a writer for each server; fingerprint, dimensions: of the model; mean_length: see `QdrantReplica`."""
        writers: list[Replica] = []
        settings = self._settings
        if settings.qdrant_url:
            from graphrag_mcp.stores.qdrant.replica import QdrantReplica

            project, name = self._qdrant(purpose), self._qdrant_name
            writers.append(QdrantReplica(project, name, fingerprint, dimensions, mean_length, settings))
        if settings.neo4j_uri:
            from graphrag_mcp.stores.neo4j.replica import Neo4jReplica

            writers.append(Neo4jReplica(self._neo4j(purpose), self._neo4j_name))
        return writers

    def projects(self) -> list[HeldProject]:
        """Return what the servers hold, by name."""
        held: list[HeldProject] = []
        if self._settings.qdrant_url:
            from graphrag_mcp.stores.qdrant.replica import QdrantInventory

            project = self._qdrant("write")
            for name, chunks in project.names().items():
                inventory = QdrantInventory(replace(project, name=name)).read()
                about = (inventory.commit, inventory.written_at) if inventory else ("", 0.0)
                held.append(HeldProject(name, "Qdrant", chunks, *about))
        if self._settings.neo4j_uri:
            from graphrag_mcp.stores.neo4j.replica import held_projects

            held += held_projects(self._neo4j("write"))
        return sorted(held)

    def remove(self, project: HeldProject) -> None:
        """Remove a project from its server."""
        from graphrag_mcp.stores.qdrant.replica import QdrantReplica

        if project.server == "Qdrant":
            points = replace(self._qdrant("write"), name=project.name)
            QdrantReplica(points, "", "", 0, lambda: 1.0, self._settings).clear()
        else:
            from graphrag_mcp.stores.neo4j.replica import Neo4jReplica

            Neo4jReplica(replace(self._neo4j("write"), name=project.name), "").clear()

    def close(self) -> None:
        """Close every connection; a hanging one ends with the process."""
        self.reads.close()
        self._looks.close()
        with self._connecting:
            self._closed = True
            for connection in self._connections.values():
                with suppress(Exception):
                    connection.close()
            self._connections.clear()

    @property
    def _qdrant_name(self) -> str:
        return f"Qdrant {self._settings.qdrant_url} {self._settings.qdrant_collection} {self.project}"

    @property
    def _neo4j_name(self) -> str:
        return f"Neo4j {self._settings.neo4j_uri} {self._settings.neo4j_database or 'default'} {self.project}"

    def _load(self, wait: Callable[[], object]) -> None:
        settings = self._settings
        try:
            wait()
            for wanted, module in ((settings.qdrant_url, "qdrant.indexes"), (settings.neo4j_uri, "neo4j.graph")):
                if wanted and not self._closed:
                    importlib.import_module(f"graphrag_mcp.stores.{module}")
        finally:
            self._loaded.set()  # A failed import is reported by the search, which imports it again.

    def _qdrant(self, purpose: Purpose) -> "QdrantProject":
        from graphrag_mcp.stores.qdrant.connection import connect
        from graphrag_mcp.stores.qdrant.schema import QdrantProject

        settings = self._settings
        key, seconds = settings.qdrant_api_key.text, self._seconds(purpose)
        client = self._connected(
            "qdrant", purpose, lambda: connect(settings.qdrant_url, key, settings.qdrant_grpc_port, seconds)
        )
        return QdrantProject(client, settings.qdrant_collection, self.project)

    def _neo4j(self, purpose: Purpose) -> "Neo4jProject":
        from graphrag_mcp.stores.neo4j.connection import connect
        from graphrag_mcp.stores.neo4j.schema import Neo4jProject

        settings = self._settings
        password, seconds = settings.neo4j_password.text, self._seconds(purpose)
        retry = seconds / 2 if purpose == "write" else 0.0  # A search has no time for a second attempt.
        driver = self._connected(
            "neo4j", purpose, lambda: connect(settings.neo4j_uri, settings.neo4j_user, password, seconds, retry)
        )
        return Neo4jProject(driver, settings.neo4j_database, self.project)

    def _connected(self, server: str, purpose: Purpose, connect: Callable[[], Connection]) -> Connection:
        with self._connecting:
            if self._closed:  # A background thread must not open a connection that is never closed.
                raise ServerError("the connections to the servers are closed")
            if (server, purpose) not in self._connections:
                self._connections[server, purpose] = connect()
            connection: Connection = self._connections[server, purpose]
            return connection

    def _seconds(self, purpose: Purpose) -> float:
        return WRITE_TIMEOUT_SECONDS if purpose == "write" else self._timeout


class _TimedReads:
    """Runs the reads that a search does after its look-ups: each has a time limit, and none runs during a cooldown."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._threads = DaemonThreads(MAX_WAITING, "qdrant")
        self._breaker = CircuitBreaker()

    def problem_since(self, moment: float) -> str:
        """Return why a read failed since a moment, "" when none did."""
        return self._breaker.problem_since(moment)

    def __call__(self, read: Callable[[], Answer]) -> Answer:
        """Return what the server answers. Raises ServerError when it fails, is too slow, or failed a moment ago."""
        self._breaker.check()
        try:
            return self._threads.submit(read).result(self._seconds)
        except (ServerError, TimeoutError) as error:
            reason = str(error) or f"no answer within {self._seconds:g} s"
            self._breaker.record_failure(reason)
            raise ServerError(reason) from error

    def close(self) -> None:
        """Let the threads end."""
        self._threads.close()
