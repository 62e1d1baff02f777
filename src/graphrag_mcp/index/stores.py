"""The stores over one open index file, each made when a question or a run first needs it."""

import threading
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from graphrag_mcp.exclusion.patterns import compile_globs
from graphrag_mcp.stores.sqlite.catalog import SqliteCatalog
from graphrag_mcp.stores.sqlite.database import Database
from graphrag_mcp.stores.sqlite.scope import ScopeResolver

if TYPE_CHECKING:  # A command imports only the stores that it reads.
    from graphrag_mcp.graph.related import RelatedCode
    from graphrag_mcp.graph.relations import Relations
    from graphrag_mcp.index.backends import Servers
    from graphrag_mcp.index.replica_relations import TreeRelations
    from graphrag_mcp.ports import Embedder
    from graphrag_mcp.search.ranking.sketches import SketchCache
    from graphrag_mcp.search.retrieval import Stores
    from graphrag_mcp.stores.replica import Inventory
    from graphrag_mcp.stores.sqlite.catalog import SqliteInventory
    from graphrag_mcp.stores.sqlite.history import SqliteHistory
    from graphrag_mcp.stores.sqlite.keyword import Overlay, SqliteKeywordIndex
    from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource
    from graphrag_mcp.stores.sqlite.symbols import SqliteSymbolGraph
    from graphrag_mcp.stores.sqlite.vectors import SqliteSecondVectors, SqliteVectorIndex
    from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter


class IndexStores:
    """All stores over one index file as one tree sees it: to search, to write and to replicate."""

    def __init__(self, database: Database) -> None:
        """All stores share one database and one resolver of scopes."""
        self.database = database
        self._scopes = ScopeResolver(database, compile_globs)
        self.catalog = SqliteCatalog(database, self._scopes)
        self._guard = threading.Lock()
        self._relations_commit = -1
        self._vectors: SqliteVectorIndex | None = None
        self._sketches: SketchCache | None = None
        self._second_vectors: SqliteSecondVectors | None = None
        self._overlay: tuple[object, Overlay] | None = None

    @cached_property
    def inventory(self) -> "SqliteInventory":
        """What the page lists of the files."""
        from graphrag_mcp.stores.sqlite.catalog import SqliteInventory

        return SqliteInventory(self.database)

    @cached_property
    def writer(self) -> "SqliteIndexWriter":
        """What an index run writes with."""
        from graphrag_mcp.stores.sqlite.writer import SqliteIndexWriter

        return SqliteIndexWriter(self.database)

    @cached_property
    def symbols(self) -> "SqliteSymbolGraph":
        """The definitions."""
        from graphrag_mcp.stores.sqlite.symbols import SqliteSymbolGraph

        return SqliteSymbolGraph(self.database, self._scopes)

    @cached_property
    def history(self) -> "SqliteHistory":
        """The past commits."""
        from graphrag_mcp.stores.sqlite.history import SqliteHistory

        return SqliteHistory(self.database, self._scopes)

    @cached_property
    def _keywords(self) -> "SqliteKeywordIndex":
        from graphrag_mcp.stores.sqlite.keyword import SqliteKeywordIndex

        return SqliteKeywordIndex(self.database, self._scopes)

    @cached_property
    def _graph(self) -> "RelatedCode":
        from graphrag_mcp.graph.related import RelatedCode

        return RelatedCode(self.database, self._scopes, self.catalog, self.symbols, self.relations)

    def relations(self) -> "Relations":
        """Return the relations of the last commit, with what earlier questions found out."""
        from graphrag_mcp.graph.relations import Relations
        from graphrag_mcp.stores.sqlite.facts import SqliteFacts
        from graphrag_mcp.stores.sqlite.links import SqliteLinks

        with self._guard:
            commit = self.database.commit_number()
            if commit != self._relations_commit:
                self._relations = Relations(self.symbols, SqliteFacts(self.database), SqliteLinks(self.database))
                self._relations_commit = commit
            return self._relations

    def stores(self, embedder: "Embedder | None", model_problem: str) -> "Stores":
        """Return the ports of a search; the vectors are read when the first search needs them."""
        from graphrag_mcp.search.ranking.sketches import SketchCache
        from graphrag_mcp.search.retrieval import Stores
        from graphrag_mcp.stores.sqlite.vectors import SqliteVectorIndex

        if embedder is not None and self._vectors is None:
            self._vectors = SqliteVectorIndex(self.database, self._scopes, embedder.fingerprint, embedder.dimensions)
            self._sketches = SketchCache(self.catalog, embedder)
        return Stores(
            self.catalog,
            self._keywords,
            self._graph,
            self._vectors,
            embedder,
            model_problem,
            sketches=self._sketches,
            phrases=self._keywords,
            history=self.history,
            project=PurePath(self.database.tree.root).name,
        )

    def second_vectors(self, embedder: "Embedder") -> "SqliteSecondVectors":
        """Return the vectors of the second look; a process has one model for it."""
        from graphrag_mcp.stores.sqlite.vectors import SqliteSecondVectors

        if self._second_vectors is None:
            self._second_vectors = SqliteSecondVectors(self.database, self._scopes, embedder)
        return self._second_vectors

    def beside_server(self, local: "Stores", servers: "Servers", inventory: "Inventory") -> "Stores":
        """Return the stores of a search that asks a server for the files which it holds as they are in this tree."""
        from graphrag_mcp.stores.sqlite.replica import SqliteChunkIds

        overlay = self.overlay(local, inventory)
        if not overlay.held:
            return local
        ids = SqliteChunkIds(self.database, servers.project, overlay.files)
        return servers.beside(local, overlay, ids, inventory.mean_length)

    def overlay(self, local: "Stores", inventory: "Inventory") -> "Overlay":
        """Return the files of the tree that a server does not hold as they are, with what searches them."""
        from graphrag_mcp.stores.sqlite.keyword import find_overlay

        with self._guard:
            state = (self.database.commit_number(), inventory.stamp, local.embedder)
            if self._overlay is None or self._overlay[0] != state:
                self._overlay = state, find_overlay(self.database, self._scopes, inventory, local.embedder)
            return self._overlay[1]

    def replica_source(self, project: str, fingerprint: str) -> "SqliteReplicaSource":
        """Return the source of what is replicated to servers."""
        from graphrag_mcp.stores.sqlite.replica import SqliteReplicaSource

        return SqliteReplicaSource(self.database, project, fingerprint)

    def tree_relations(self, source: "SqliteReplicaSource", project: str, workers: int) -> "TreeRelations":
        """Return the relations that are replicated to a server which keeps them."""
        from graphrag_mcp.index.replica_relations import TreeRelations

        return TreeRelations(source, self.database, project, workers)

    def discard(self) -> None:
        """Remove every file of the tree from the index."""
        self.writer.delete(list(self.catalog.file_states()))
