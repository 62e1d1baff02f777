"""The graph: its nodes, relationships and indexes, and the Cypher that writer, reader and deleter share.

    (:Project)-[:CONTAINS]->(:Folder)-[:CONTAINS]->(:File)-[:CONTAINS]->(:Symbol)-[:CONTAINS]->(:Symbol)
    (:File)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)
    (:Symbol)-[:CALLS|MAY_CALL|INSTANTIATES|IMPORTS|INHERITS|IMPLEMENTS|OVERRIDES|USES|READS|WRITES|HANDS_ON|TESTS|...
        {line, certainty, chunk}]->(:Symbol); a (:File) stands for code that is in no definition, and for a whole file
    (:File)-[:IMPORTS {line}]->(:External {name}), and (:Project)-[:IMPORTS {files}]->(:Project) that declares it

A symbol has a label for its kind (`LABELS`), and :Test in a test. The relations are those of `trace_relations`. chunk:
the key of the chunk that has the line. A symbol's key does not depend on the content of its file, so that relations to
it survive a new version of it; a chunk's key does.
"""

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from neo4j import Driver, ManagedTransaction, SummaryCounters

from graphrag_mcp.languages.registry import is_inline_test
from graphrag_mcp.model.files import Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty
from graphrag_mcp.model.paths import EVERY_PATH, folders
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import ScopePaths
from graphrag_mcp.stores.neo4j.connection import reaching
from graphrag_mcp.stores.replica import (
    SHARED,
    RelatedFile,
    ReplicatedFile,
    ReplicatedSymbol,
    fields_of,
    file_key,
    scope_cover,
)
from graphrag_mcp.text.expressions import folder_of_package

LABELS = {
    SymbolKind.TYPE: "Class",  # Or Interface.
    SymbolKind.FUNCTION: "Function",
    SymbolKind.METHOD: "Method",
    SymbolKind.CONSTANT: "Constant",
    SymbolKind.FIELD: "Field",
    SymbolKind.MODULE: "Module",
    SymbolKind.SECTION: "Section",
    SymbolKind.KEY: "Key",
}
# What a server says is read as these. A server is not trusted.
LineNumber = Annotated[int, Meta(ge=1, lt=1 << 31)]
Name = Annotated[str, Meta(max_length=10_000)]
CertaintyName = Literal["certain", "may call", "by name", "one of several"]

Run = Callable[..., SummaryCounters]  # Runs a statement with parameters.
CERTAINTIES = {SHARED: Certainty.BY_NAME, **{str(certainty): certainty for certainty in Certainty}}
MOST_UNDECIDED = 10_000  # Places of a file that are listed.
_TYPES = {kind: "LINKS" if kind is RelationKind.LINKS_TO else kind.name for kind in RelationKind}
_KINDS = {"MAY_CALL": RelationKind.CALLS, **{name: kind for kind, name in _TYPES.items()}}
_COMMENT = re.compile(r"^//(?!:).*\n", re.MULTILINE)
_PLACE = re.compile(r"<<(\w+)>>")
_HEADING = re.compile(r"^//: (\w+)\n", re.MULTILINE)


class Neo4jProject(Struct, frozen=True):
    """The graph of one project in one database, "" for the user's default. A failure of the server is a ServerError."""

    driver: Driver
    database: str
    name: str

    def read(self, text: str, /, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement."""
        with reaching(), self.driver.session(database=self.database or None, default_access_mode="READ") as session:
            return session.execute_read(lambda transaction: transaction.run(text, parameters, project=self.name).data())

    def write(self, work: Callable[[Run], object]) -> None:
        """Change the graph in one transaction."""

        def begin(transaction: ManagedTransaction) -> None:
            def run(text: str, **parameters: Any) -> SummaryCounters:
                return transaction.run(text, parameters, project=self.name).consume().counters

            work(run)

        with reaching(), self.driver.session(database=self.database or None) as session:
            session.execute_write(begin)

    def run(self, statements: Iterable[str]) -> list[SummaryCounters]:
        """Run statements, each in a transaction of its own."""
        with reaching(), self.driver.session(database=self.database or None) as session:
            return [session.run(text, project=self.name).consume().counters for text in statements]


@cache
def _statements() -> Mapping[str, str]:
    text = _COMMENT.sub("", (folder_of_package(__package__) / "statements.cypher").read_text("utf-8"))
    _, *named = _HEADING.split(text)
    return {name: body.strip() for name, body in zip(named[::2], named[1::2], strict=True)}


def statement(name: str, **parts: str) -> str:
    """Return a statement of `statements.cypher`, with parts of these names, or the statements of that name, in it."""

    def fill(match: re.Match[str]) -> str:
        return parts[match[1]] if match[1] in parts else statement(match[1], **parts)

    return _PLACE.sub(fill, _statements()[name])


def scope_parameters(scope: Scope, paths: ScopePaths) -> dict[str, Any]:
    """Return what the statement `in_scope` binds."""
    cover = scope_cover(scope, paths)
    return {
        "hide_archived": scope.exclude_archived,
        "lifted": list(paths.lifted(scope.include_patterns)),
        "excluded": sorted(scope.excluded_keys),
        "categories": sorted(scope.categories),
        "languages": sorted(scope.languages),
        "every_path": cover == EVERY_PATH,
        "inside": cover.is_inside,
        "files": list(cover.files),
        "folders": [f"{folder}/" for folder in cover.folders],
    }


def relationship_types(kinds: Iterable[str]) -> str:
    """Return the relationship types of these kinds of relations, for a pattern."""
    types = [_TYPES[RelationKind(kind)] for kind in kinds]
    return "|".join([*types, "MAY_CALL"] if "CALLS" in types else types)


def relation_of(relationship: str) -> RelationKind | None:
    """Return the kind of relation that a relationship stands for, None for one that no sync writes."""
    return _KINDS.get(relationship)


def edges_by_type(files: Iterable[RelatedFile]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Return the rows of the edges of files by their type and the labels of their ends."""
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for edge in (edge for file in files for edge in file.edges):
        source, target = ("File" if is_file else "Symbol" for is_file in (edge.of_file, edge.to_file))
        properties = {"line": edge.line, "certainty": edge.certainty, "chunk": edge.chunk}
        row = {"source": edge.source, "target": edge.target, "properties": properties}
        may_call = edge.kind == RelationKind.CALLS and edge.certainty != Certainty.CERTAIN
        rows["MAY_CALL" if may_call else _TYPES[RelationKind(edge.kind)], source, target].append(row)
    return rows


def related_row(project: str, file: RelatedFile) -> dict[str, Any]:
    """Return what is known of a file's relations, with the packages that it imports from outside."""
    return {
        "key": file_key(project, file.path),
        "properties": {
            "relations": len(file.edges) + len(file.outside),
            "undecided": [f"{name}:{line}" for name, line in file.undecided[:MOST_UNDECIDED]],
            "undecided_names": list(dict.fromkeys(name for name, _ in file.undecided)),
        },
        "interfaces": list(file.interfaces),
        "outside": [{"key": file_key(project, name), "name": name, "line": line} for name, line in file.outside],
    }


def folder_rows(project: str, paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return the folders of files, each with its parent, parents first; "" is the root."""
    inside = {"", *(folder for path in paths for folder in folders(path)[:-1])}
    return [
        {"key": folder_key(project, folder), "path": folder, "parent": folder_key(project, posixpath.dirname(folder))}
        for folder in sorted(inside)
    ]


def folder_key(project: str, folder: str) -> str:
    """Return the key of a folder."""
    return f"{file_key(project, folder)}/"


def file_row(project: str, file: ReplicatedFile) -> dict[str, Any]:
    """Return a file's node with its chunks and symbols, and what contains what."""
    first = file.chunks[0].chunk if file.chunks else None
    symbols: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for symbol in file.symbols:
        symbols[symbol.ordinal].append(_symbol_row(project, file, symbol))
    return {
        "key": file_key(project, file.path),
        "folder": folder_key(project, posixpath.dirname(file.path)),
        "contains": list(_contained(project, file)),
        "symbols": [symbol.key for symbol in file.symbols],
        "chunks": [
            {
                "properties": {"key": chunk.point.key, "project": project, **fields_of(file, chunk)},
                "symbols": symbols[number],
            }
            for number, chunk in enumerate(file.chunks)
        ],
        "properties": {
            "project": project,
            "path": file.path,
            "version": file.version,
            "match_keys": list(file.match_keys),
            "is_archived": is_archived(file),
            "archive_path": first.archive.reason if first and first.archive else None,
            "category": file.category,
            "language": file.language,
            "modified_at": first.modified_at if first else None,
            "lines": max((chunk.chunk.end_line for chunk in file.chunks), default=1),
        },
    }


def is_archived(file: ReplicatedFile) -> bool:
    """Whether searches hide the file; a file without text is never hidden."""
    return bool(file.chunks) and file.chunks[0].chunk.archive is not None


def _contained(project: str, file: ReplicatedFile) -> Iterator[dict[str, str | None]]:
    """Yield each symbol with the nearest around it by qualified name, of several the last before it; else its file."""
    named: dict[str, list[ReplicatedSymbol]] = defaultdict(list)
    for symbol in sorted(file.symbols, key=_begin):
        named[symbol.symbol.qualified_name].append(symbol)
    for inner in file.symbols:
        name = inner.symbol.qualified_name.rpartition(".")[0]
        while name and name not in named:  # `xhr` of `load.xhr.onload` may be no definition.
            name = name.rpartition(".")[0]
        around = named.get(name)
        if not around:
            yield {"outer": file_key(project, file.path), "inner": inner.key, "chunk": None}
        else:
            outer = around[max(bisect_right(around, _begin(inner), key=_begin) - 1, 0)]
            yield {"outer": outer.key, "inner": inner.key, "chunk": file.chunks[outer.ordinal].point.key}


def _begin(symbol: ReplicatedSymbol) -> int:
    return symbol.symbol.start_line


def _symbol_row(project: str, file: ReplicatedFile, replicated: ReplicatedSymbol) -> dict[str, Any]:
    is_test = file.category == Category.TESTS or is_inline_test(file.path, replicated.symbol.qualified_name)
    return {
        "key": replicated.key,
        "labels": [LABELS[replicated.symbol.kind], *(["Test"] if is_test else ())],
        "properties": {
            "project": project,
            "path": file.path,
            "language": file.language,
            "category": Category.TESTS.value if is_test else file.category,
            "is_archived": is_archived(file),
            "name": replicated.symbol.name,
            "name_key": replicated.symbol.name.lower(),
            "qualified_name": replicated.symbol.qualified_name,
            "kind": replicated.symbol.kind.value,
            "start_line": replicated.symbol.start_line,
            "end_line": replicated.symbol.end_line,
            "signature": replicated.symbol.signature,
        },
    }
