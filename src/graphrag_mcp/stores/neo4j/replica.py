"""Writes files to the graph and removes them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, TypeVar

from msgspec import Meta, Struct, convert

from graphrag_mcp.model.reports import HeldProject
from graphrag_mcp.model.search import Frequencies
from graphrag_mcp.stores.neo4j import schema
from graphrag_mcp.stores.neo4j.connection import reaching
from graphrag_mcp.stores.neo4j.schema import Neo4jProject, Run, statement
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


def held_projects(database: Neo4jProject) -> list[HeldProject]:
    """Return all projects in a database. Raises ServerError for what no sync wrote."""
    with reaching():
        projects = convert(database.read(statement("projects")), list[_Project])
    return [HeldProject(row.name, "Neo4j", row.chunks, row.commit or "", row.written_at or 0.0) for row in projects]


class Neo4jReplica:
    """The replica of one project's graph in one database."""

    keeps_relations = True

    def __init__(self, project: Neo4jProject, name: str) -> None:
        """name: identifies the replica in the index file."""
        self.name = name
        self._project = project

    def prepare(self) -> bool:
        """Create the constraints and indexes where they are missing; return whether there were none."""
        setup = statement("setup").split(";\n")
        _, *added, _ = self._project.run([statement("upgrade"), *setup, "CALL db.awaitIndexes(60)"])
        return all(counters.contains_updates for counters in added)

    def write(self, files: Sequence[ReplicatedFile]) -> None:
        """Replace these files in one transaction."""
        rows = [schema.file_row(self._project.name, file) for file in files]
        folders = schema.folder_rows(self._project.name, [file.path for file in files])
        stale = [{"key": row["key"], "symbols": row["symbols"]} for row in rows]

        def work(run: Run) -> None:
            run(statement("remove_symbols"), files=stale)
            run(statement("remove_chunks"), files=stale)
            run(statement("write_folders"), folders=folders)
            run(statement("write"), files=rows)
            run(statement("write_contents"), files=rows)

        self._project.write(work)

    def relate(self, files: Sequence[RelatedFile]) -> None:
        """Replace the relations of these files in one transaction."""
        rows = [schema.related_row(self._project.name, file) for file in files]
        edges = schema.edges_by_type(files)

        def work(run: Run) -> None:
            run(statement("remove_relations"), files=rows)
            run(statement("describe_relations"), files=rows)
            for (kind, source, target), of_type in edges.items():
                run(statement("write_edges", type=kind, source=source, target=target), edges=of_type)

        self._project.write(work)

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these files with all that they define."""
        files = [{"key": file_key(self._project.name, path), "symbols": []} for path in paths]

        def work(run: Run) -> None:
            for name in ("remove_symbols", "remove_chunks", "remove_files"):
                run(statement(name), files=files)
            while run(statement("remove_folders")).nodes_deleted:
                pass  # The folder around one may be empty now.

        self._project.write(work)

    def clear(self) -> None:
        """Remove everything of the project, a few thousand nodes at a time."""
        self._project.run(statement("clear").split(";\n"))

    def state(self, held: Mapping[str, tuple[str, int]], commit: str, *, is_whole: bool) -> None:
        chunks = sum(count for _, count in held.values())
        parameters = {"commit": commit, "files": len(held), "chunks": chunks, "is_whole": is_whole}
        root = schema.folder_key(self._project.name, "")
        self._project.write(lambda run: run(statement("state"), root=root, **parameters))

    def declare(self, packages: Sequence[str]) -> None:
        def work(run: Run) -> None:
            run(statement("declare"), packages=list(packages))
            for name in ("remove_packages", "forget_imports", "write_imports"):
                run(statement(name))

        self._project.write(work)

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
        with reaching():
            return convert(self._project.read(statement(name)), kind)
