"""The parts of a project with a local index, put together."""

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from graphrag_mcp.errors import ServerError
from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.index.backends import Servers, project_name
from graphrag_mcp.index.handle import Handle
from graphrag_mcp.index.paths import IndexPaths
from graphrag_mcp.index.replicator import Replicator
from graphrag_mcp.index.supervisor import Supervisor
from graphrag_mcp.ports import Embedder
from graphrag_mcp.settings import Settings

if TYPE_CHECKING:  # A command that does not search or replicate imports none of it.
    from graphrag_mcp.grep.occurrences import LearntFiles
    from graphrag_mcp.index.replica_relations import TreeRelations
    from graphrag_mcp.search.orchestrator import SearchOrchestrator
    from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource


class Parts:
    """What answers the questions about a project, and what keeps its index up to date. It opens nothing yet."""

    def __init__(
        self, root: Path, settings: Settings, index_root: str, past: tuple[Path, str], stop: threading.Event
    ) -> None:
        """stop: ends what runs in the background; the other arguments are those of `App`."""
        self.root = root
        self.settings = settings
        paths = IndexPaths(root, settings.indexing.data_dir, index_root)
        self.handle = Handle(root, paths, settings.indexing.embedding_model)
        self.exclusion = ExclusionManager(root, settings.indexing)
        self.supervisor = Supervisor(root, index_root, settings.indexing, self.handle, self.exclusion, stop, past)
        self.servers = Servers(settings.servers, project_name(settings.servers, root, index_root, paths.project_id))
        self.replicator = Replicator(self.servers, self._replication_source, paths.sync_lock, stop)

    @cached_property
    def orchestrator(self) -> "SearchOrchestrator":
        from graphrag_mcp.search.orchestrator import SearchOrchestrator

        timeout = self.settings.servers.server_timeout_seconds
        return SearchOrchestrator(self.settings.retrieval, remote_timeout_seconds=timeout)

    @cached_property
    def has_own_model(self) -> bool:
        """Whether a static model of the user takes the place of the package's."""
        if not (name := self.settings.indexing.embedding_model):
            return False
        from graphrag_mcp.embedding.models import is_static

        return is_static(name)

    @cached_property
    def learnt(self) -> "LearntFiles":
        """What was found out about files that were read."""
        from graphrag_mcp.grep.occurrences import LearntFiles

        return LearntFiles()

    def close(self) -> None:
        """Close what is open, the index last."""
        self.supervisor.second.close()
        self.replicator.close()
        if "orchestrator" in self.__dict__:
            self.orchestrator.close()
        self.servers.close()
        self.handle.close()

    def _replication_source(self) -> "tuple[SqliteReplicaSource, TreeRelations, Embedder]":
        """Return what is replicated to servers, and the model of its vectors."""
        index = self.handle.searched()
        self.handle.load_model()
        if self.handle.embedder is None:
            raise ServerError(f"no replication without the model of the server's vectors: {self.handle.model_problem}")
        if index.database.tree.model not in ("", self.handle.embedder.fingerprint):
            raise ServerError("the vectors are being rebuilt with another model; they are copied when complete")
        source = index.replica_source(self.servers.project, self.handle.embedder.fingerprint)
        relations = index.tree_relations(source, self.servers.project, self.settings.indexing.workers)
        return source, relations, self.handle.embedder
