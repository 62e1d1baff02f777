"""Writes files into the graph, and takes them out again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from neo4j import Driver, ManagedTransaction

from graphrag_mcp.model import RelationKind
from graphrag_mcp.stores.neo4j import schema
from graphrag_mcp.stores.neo4j.connection import reaching
from graphrag_mcp.stores.points import Changing, ProjectedFile, file_key


class Neo4jProjection:
    """The copy of one project's graph in one database."""

    keeps_edges = True

    def __init__(self, driver: Driver, name: str, database: str | None, project: str) -> None:
        """name: of the server, for marks."""
        self.name = name
        self._driver = driver
        self._database = database
        self._project = project

    def prepare(self) -> None:
        """Create the constraints and indexes, where they are missing."""
        with reaching(), self._driver.session(database=self._database) as session:
            for statement in schema.SETUP:
                session.run(statement).consume()
            session.run("CALL db.awaitIndexes(60)").consume()

    def changing(self, files: Sequence[ProjectedFile], gone: Sequence[str], /) -> Changing:
        """Return the names that come or go, the files that are new, and who points at what goes."""
        keys = [file_key(self._project, path) for path in (*(file.path for file in files), *gone)]
        new = {one.key: one.symbol.name.lower() for file in files for one in file.symbols}
        old = {row["key"]: row["name"] for row in self._read(schema.STORED_SYMBOLS, keys=keys)}
        stored = {row["path"] for row in self._read(schema.STORED_FILES, keys=keys)}
        going = {file_key(self._project, path) for path in gone}
        removed = [key for key in old if key not in new]
        dependents = self._read(schema.DEPENDENTS, keys=sorted(going), symbols=removed)
        return Changing(
            names=frozenset([old[key] for key in removed] + [name for key, name in new.items() if key not in old]),
            new_paths=frozenset(file.path for file in files if file.path not in stored),
            dependents=frozenset(row["path"] for row in dependents),
        )

    def write(self, files: Sequence[ProjectedFile]) -> None:
        """Replace these files in one transaction."""
        rows: dict[str, list[dict[str, Any]]] = {
            "files": [schema.file_row(self._project, file) for file in files],
            "chunks": [schema.chunk_row(self._project, file, chunk) for file in files for chunk in file.chunks],
            "symbols": [row for file in files for row in schema.symbol_rows(self._project, file)],
        }
        sections = [key for file in files for key in schema.section_keys(file)]
        edges: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        for file in files:
            for edge in file.edges:
                label = "File" if edge.to_file else "Symbol"
                edges[RelationKind(edge.kind).name, label].append(schema.edge_row(file, edge))

        def work(transaction: ManagedTransaction) -> None:
            transaction.run(schema.REMOVE_OLD, files=rows["files"]).consume()
            transaction.run(schema.REMOVE_SYMBOLS, files=rows["files"]).consume()
            transaction.run(schema.WRITE_FILES, files=rows["files"]).consume()
            transaction.run(schema.WRITE_CHUNKS, chunks=rows["chunks"]).consume()
            transaction.run(schema.WRITE_SYMBOLS, symbols=rows["symbols"]).consume()
            transaction.run(schema.MARK_SECTIONS, keys=sections).consume()
            for (kind, label), some in edges.items():
                statement = schema.WRITE_EDGES.format(type=kind, label=label)
                transaction.run(statement, edges=some, project=self._project).consume()

        with reaching(), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these files with all that they define."""
        keys = [file_key(self._project, path) for path in paths]

        def work(transaction: ManagedTransaction) -> None:
            transaction.run(schema.REMOVE_FILES, keys=keys).consume()
            transaction.run(schema.REMOVE_FILE_SYMBOLS, keys=keys).consume()

        with reaching(), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def clear(self) -> None:
        """Remove everything of the project, some thousand nodes at a time."""
        with reaching(), self._driver.session(database=self._database) as session:
            for label in schema.LABELS:
                session.run(schema.CLEAR.format(label=label), project=self._project).consume()

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version of each file and how many chunks it has."""
        return {row["path"]: (row["version"], row["chunks"]) for row in self._read(schema.VERSIONS)}

    def _read(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        with reaching(), self._driver.session(database=self._database, default_access_mode="READ") as session:
            return session.execute_read(
                lambda transaction: transaction.run(statement, project=self._project, **parameters).data()
            )
