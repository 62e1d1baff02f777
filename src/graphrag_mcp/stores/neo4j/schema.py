"""The graph: its nodes, relationships and indexes, and the Cypher that writer, reader and deleter share.

    (:File {key})-[:HAS_CHUNK]->(:Chunk {key})-[:DEFINES]->(:Symbol {key})      sections of documents are :Section too
    (:Symbol)-[:CALLS|INSTANTIATES|IMPORTS|INHERITS|OVERRIDES|USES|READS|WRITES|HANDS_ON|TESTS|... {line, certainty,
        chunk}]->(:Symbol); a (:File) stands for code that is in no definition, and for what is meant as a whole

The relations are those of the index file, row for row. chunk: the key of the chunk that has the line. A symbol's key
does not depend on the content of its file, so that relations to it survive a new version of it; a chunk's key does.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.paths import EVERY_PATH
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import ScopePaths
from graphrag_mcp.stores.replica import ReplicatedFile, ReplicatedSymbol, fields_of, file_key, scope_cover

_COMMENT = re.compile(r"^//(?!:).*\n", re.MULTILINE)
_PLACE = re.compile(r"<<(\w+)>>")
_HEADING = re.compile(r"^//: (\w+)\n", re.MULTILINE)


@cache
def _statements() -> Mapping[str, str]:
    text = _COMMENT.sub("", (resources.files(__package__) / "statements.cypher").read_text("utf-8"))
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
    return "|".join(RelationKind(kind).name for kind in kinds)


def edge_statement(kind: str, source: str, target: str) -> str:
    """Return the statement that writes edges of one type between nodes of these labels."""
    return statement("write_edges", type=kind, source=source, target=target)


def edges_by_type(files: Iterable[ReplicatedFile]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Return the rows of the edges of files by their type and the labels of their ends."""
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for file in files:
        keys = [chunk.point.key for chunk in file.chunks]
        for edge in file.edges:
            source, target = ("File" if is_file else "Symbol" for is_file in (edge.of_file, edge.to_file))
            chunk = keys[edge.ordinal] if edge.ordinal < len(keys) else None
            properties = {"line": edge.line, "certainty": edge.certainty, "chunk": chunk}
            row = {"source": edge.source, "target": edge.target, "properties": properties}
            rows[RelationKind(edge.kind).name, source, target].append(row)
    return rows


def file_row(project: str, file: ReplicatedFile) -> dict[str, Any]:
    """Return a file's node with its chunks, and the keys of the symbols that remain."""
    first = file.chunks[0].chunk if file.chunks else None
    symbols: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for symbol in file.symbols:
        symbols[symbol.ordinal].append(_symbol_row(project, symbol))
    return {
        "key": file_key(project, file.path),
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
            "relations": len(file.edges),
            "match_keys": list(file.match_keys),
            "is_archived": is_archived(file),
            "archive_path": first.archive.reason if first and first.archive else None,
            "category": first.category.value if first else None,
            "language": first.language if first else None,
            "modified_at": first.modified_at if first else None,
        },
    }


def is_archived(file: ReplicatedFile) -> bool:
    """Whether searches hide the file; a file without text is never hidden."""
    return bool(file.chunks) and file.chunks[0].chunk.archive is not None


def section_keys(file: ReplicatedFile) -> list[str]:
    """Return which of a file's symbols are no code: sections of a document, and keys."""
    return [symbol.key for symbol in file.symbols if symbol.symbol.kind in (SymbolKind.SECTION, SymbolKind.KEY)]


def _symbol_row(project: str, replicated: ReplicatedSymbol) -> dict[str, Any]:
    return {
        "key": replicated.key,
        "properties": {
            "project": project,
            "name": replicated.symbol.name,
            "name_key": replicated.symbol.name.lower(),
            "qualified_name": replicated.symbol.qualified_name,
            "kind": replicated.symbol.kind.value,
            "start_line": replicated.symbol.start_line,
            "end_line": replicated.symbol.end_line,
            "signature": replicated.symbol.signature,
        },
    }
