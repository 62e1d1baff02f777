"""The stores over one open index file."""

import threading
from dataclasses import replace
from pathlib import PurePath

from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.graph.related import SqliteGraphStore
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.ports import Embedder
from graphrag_mcp.replication.backends import Servers
from graphrag_mcp.search.retrieval import Stores
from graphrag_mcp.search.sketch_cache import SketchCache
from graphrag_mcp.stores.sqlite.catalog import SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.facts import SqliteFacts
from graphrag_mcp.stores.sqlite.history import SqliteHistory
from graphrag_mcp.stores.sqlite.inventory import SqliteInventory
from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex
from graphrag_mcp.stores.sqlite.links import SqliteLinks
from graphrag_mcp.stores.sqlite.replica import SqliteChunkIds, SqliteReplicaSource
from graphrag_mcp.stores.sqlite.scope import ScopeResolver
from graphrag_mcp.stores.sqlite.symbols import SqliteSymbolGraph
from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex
from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter


class IndexStores:
    """All stores over one index file as one tree sees it: to search, to write and to replicate."""

    def __init__(self, database: Database) -> None:
        """Create the stores; they share one database and one resolver of scopes."""
        self.database = database
        self._project = PurePath(database.tree.root).name
        self._scopes = ScopeResolver(database, compile_globs)
        self.catalog = SqliteCatalog(database, self._scopes)
        self.inventory = SqliteInventory(database)
        self.writer = SqliteIndexWriter(database)
        self.symbols = SqliteSymbolGraph(database, self._scopes)
        self._relations = self._new_relations()
        self._related = database.commit_number()
        self._guard = threading.Lock()
        self.history = SqliteHistory(database, self._scopes)
        self._keywords = SqliteKeywordIndex(database, self._scopes)
        self._graph = SqliteGraphStore(database, self._scopes, self.catalog, self.symbols, self.relations)
        self._vectors: SqliteVectorIndex | None = None
        self._sketches: SketchCache | None = None

    def relations(self) -> Relations:
        """Return the relations of the last commit, with what earlier questions found out."""
        with self._guard:
            commit = self.database.commit_number()
            if commit != self._related:
                self._related, self._relations = commit, self._new_relations()
            return self._relations

    def _new_relations(self) -> Relations:
        return Relations(self.symbols, SqliteFacts(self.database), SqliteLinks(self.database))

    def stores(self, embedder: Embedder | None, model_problem: str) -> Stores:
        """Return the ports of a search; the vectors are read when the first search needs them."""
        if embedder is not None and self._vectors is None:
            self._vectors = SqliteVectorIndex(self.database, self._scopes, embedder.fingerprint, embedder.dimensions)
            self._sketches = SketchCache(self.catalog, embedder)
        stores = Stores(self.catalog, self._keywords, self._graph, self._vectors, embedder, model_problem)
        return replace(
            stores, sketches=self._sketches, phrases=self._keywords, history=self.history, project=self._project
        )

    def on_servers(self, local: Stores, servers: Servers) -> Stores:
        """Return the stores of a search, each local or on a server as set; those on servers use the local catalog."""
        return servers.on_servers(local, SqliteChunkIds(self.database, servers.project))

    def replica_source(self, project: str, fingerprint: str) -> SqliteReplicaSource:
        """Return the source of what is replicated to servers."""
        return SqliteReplicaSource(self.database, project, fingerprint)

    def discard(self) -> None:
        """Remove every file of the tree from the index."""
        self.writer.delete(list(self.catalog.file_states()))
