"""Writes files to the graph and removes them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, convert
from neo4j import Driver, ManagedTransaction

from graphrag_mcp.model.reports import HeldProject
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.neo4j import schema
from graphrag_mcp.stores.neo4j.connection import reaching
from graphrag_mcp.stores.replica import RelatedFile, ReplicatedCommit, ReplicatedFile, Seconds, file_key

Count = Annotated[int, Meta(ge=0, lt=1 << 53)]
Rows = TypeVar("Rows")


class _Project(Struct, frozen=True):
    """A project in a database. A server is not trusted."""

    name: Annotated[str, Meta(max_length=1000)]
    chunks: Count
    commit: Annotated[str, Meta(max_length=100)] | None = None
    written_at: Seconds | None = None


class _Version(Struct, frozen=True):
    path: str
    version: str
    chunks: Count


def held_projects(driver: Driver, database: str | None) -> list[HeldProject]:
    """Return all projects in a database. Raises ServerError for what no sync wrote."""
    with reaching(), driver.session(database=database, default_access_mode="READ") as session:
        rows = session.execute_read(lambda transaction: transaction.run(schema.statement("projects")).data())
        projects = convert(rows, list[_Project])
    return [HeldProject(row.name, "Neo4j", row.chunks, row.commit or "", row.written_at or 0.0) for row in projects]


class Neo4jReplica:
    """The replica of one project's graph in one database."""

    keeps_relations = True

    def __init__(self, driver: Driver, name: str, database: str | None, project: str) -> None:
        """name: identifies the replica in the index file."""
        self.name = name
        self._driver = driver
        self._database = database
        self._project = project

    def prepare(self) -> bool:
        """Create the constraints and indexes where they are missing; return whether there were none."""
        with reaching(), self._driver.session(database=self._database) as session:
            session.run(schema.statement("upgrade")).consume()
            wanted = schema.statement("setup").split(";\n")
            added = [session.run(statement).consume().counters.contains_updates for statement in wanted]
            session.run("CALL db.awaitIndexes(60)").consume()
        return all(added)

    def write(self, files: Sequence[ReplicatedFile]) -> None:
        """Replace these files in one transaction."""
        rows = [schema.file_row(self._project, file) for file in files]
        folders = schema.folder_rows(self._project, [file.path for file in files])
        stale = [{"key": row["key"], "symbols": row["symbols"]} for row in rows]

        def work(transaction: ManagedTransaction) -> None:
            for name in ("remove_symbols", "remove_chunks"):
                transaction.run(schema.statement(name), files=stale).consume()
            transaction.run(schema.statement("write_folders"), folders=folders, project=self._project).consume()
            for name in ("write", "write_contents"):
                transaction.run(schema.statement(name), files=rows).consume()

        with reaching(), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def relate(self, files: Sequence[RelatedFile]) -> None:
        """Replace the relations of these files in one transaction."""
        rows = [schema.related_row(self._project, file) for file in files]
        edges = schema.edges_by_type(files)

        def work(transaction: ManagedTransaction) -> None:
            for name in ("remove_relations", "describe_relations"):
                transaction.run(schema.statement(name), files=rows).consume()
            for (kind, source, target), of_type in edges.items():
                writing = schema.statement("write_edges", type=kind, source=source, target=target)
                transaction.run(writing, edges=of_type).consume()

        with reaching(), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these files with all that they define."""
        files = [{"key": file_key(self._project, path), "symbols": []} for path in paths]

        def work(transaction: ManagedTransaction) -> None:
            for name in ("remove_symbols", "remove_chunks", "remove_files"):
                transaction.run(schema.statement(name), files=files).consume()
            empty = schema.statement("remove_folders")
            while transaction.run(empty, project=self._project).consume().counters.nodes_deleted:
                pass  # The folder around one may be empty now.

        with reaching(), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def clear(self) -> None:
        """Remove everything of the project, a few thousand nodes at a time."""
        with reaching(), self._driver.session(database=self._database) as session:
            for statement in schema.statement("clear").split(";\n"):
                session.run(statement, project=self._project).consume()

    def state(self, held: Mapping[str, tuple[str, int]], commit: str, *, is_whole: bool) -> None:
        chunks = sum(count for _, count in held.values())
        with reaching(), self._driver.session(database=self._database) as session:
            parameters: dict[str, Any] = {"project": self._project, "commit": commit, "files": len(held)}
            parameters |= {"chunks": chunks, "is_whole": is_whole, "root": schema.folder_key(self._project, "")}
            session.execute_write(lambda transaction: transaction.run(schema.statement("state"), parameters).consume())

    def declare(self, packages: Sequence[str]) -> None:
        parameters = {"project": self._project, "packages": list(packages)}

        def work(transaction: ManagedTransaction) -> None:
            for name in ("declare", "remove_packages", "forget_imports", "write_imports"):
                transaction.run(schema.statement(name), parameters).consume()

        with reaching(), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def finish(self, frequencies: Callable[[], Frequencies], *, changed: bool) -> None:
        """Do nothing: it counts no words."""

    def write_commits(self, tip: str, commits: Callable[[], Sequence[ReplicatedCommit]]) -> None:
        """Do nothing: they are kept for searches."""

    def chunks(self) -> int:
        return sum(self._read(list[dict[str, Count]], "count_chunks")[0].values())

    def may_write(self) -> bool:
        """Return True: the Community edition has no users who may not."""
        return True

    def versions(self) -> Mapping[str, tuple[str, int]]:
        """Return the version of each file, "" where relations are missing, and how many chunks it has."""
        return {row.path: (row.version, row.chunks) for row in self._read(list[_Version], "versions")}

    def _read(self, kind: type[Rows], name: str) -> Rows:
        statement = schema.statement(name)
        with reaching(), self._driver.session(database=self._database, default_access_mode="READ") as session:
            rows = session.execute_read(lambda transaction: transaction.run(statement, project=self._project).data())
            return convert(rows, kind)
