"""The graph: its nodes, relationships and indexes, and the Cypher that writer, reader and deleter share.

    (:File {key})-[:HAS_CHUNK]->(:Chunk {key})-[:DEFINES]->(:Symbol {key})      sections of documents are :Section too
    (:Chunk)-[:CALLS|IMPORTS|INHERITS|USES|TESTS|CONTAINS|LINKS_TO|SUPERSEDES]->(:Symbol), or (:File) where the whole
        file is meant, with {source, target, confidence, resolution}

A relation begins at the chunk that contains it and ends at its resolved target. A symbol's key does not depend on the
content of its file, so that relations to it survive a new version of the file; a chunk's key does.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from graphrag_mcp.model.files import RelationKind, SymbolKind
from graphrag_mcp.model.paths import EVERY_PATH
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import ScopePaths
from graphrag_mcp.stores.points import file_key, scope_cover
from graphrag_mcp.stores.projection import ProjectedChunk, ProjectedEdge, ProjectedFile, ProjectedSymbol

SETUP = (
    "CREATE CONSTRAINT file_key IF NOT EXISTS FOR (n:File) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT chunk_key IF NOT EXISTS FOR (n:Chunk) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT symbol_key IF NOT EXISTS FOR (n:Symbol) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX file_project IF NOT EXISTS FOR (n:File) ON (n.project)",
    "CREATE INDEX symbol_name IF NOT EXISTS FOR (n:Symbol) ON (n.project, n.name_key)",
    # For queries that users write; searches of this program do not use it, so a commit does not wait for it.
    """CREATE FULLTEXT INDEX symbol_names IF NOT EXISTS FOR (n:Symbol) ON EACH [n.name, n.qualified_name]
    OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}}""",
)

# The scope, on the chunk `c`: applied before any LIMIT.
IN_SCOPE = """(NOT $hide_archived OR NOT c.is_archived OR c.path IN $lifted)
    AND (size($excluded) = 0 OR none(key IN c.match_keys WHERE key IN $excluded))
    AND (size($categories) = 0 OR c.category IN $categories)
    AND (size($languages) = 0 OR c.language IN $languages)
    AND ($every_path
         OR $inside = (c.path IN $files OR any(folder IN $folders WHERE c.path STARTS WITH folder)))"""


def scope_parameters(scope: Scope, paths: ScopePaths) -> dict[str, Any]:
    """Return what IN_SCOPE binds."""
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


# ---------------------------------------------------------------- writing

REMOVE_SYMBOLS = """
UNWIND $files AS file
MATCH (:File {key: file.key})-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(s:Symbol) WHERE NOT s.key IN file.symbols
WITH DISTINCT s DETACH DELETE s
"""
REMOVE_CHUNKS = """
UNWIND $files AS file
MATCH (:File {key: file.key})-[:HAS_CHUNK]->(c:Chunk)
DETACH DELETE c
"""
# One statement for a batch, so that no chunk is looked up again for its symbols and edges.
_WRITE = """
UNWIND $files AS file
MERGE (f:File {key: file.key}) SET f += file.properties
WITH f, file UNWIND file.chunks AS row
CREATE (f)-[:HAS_CHUNK]->(c:Chunk) SET c = row.properties
WITH c, row
CALL (c, row) {
    UNWIND row.symbols AS symbol
    MERGE (s:Symbol {key: symbol.key}) SET s += symbol.properties
    CREATE (c)-[:DEFINES]->(s)
}
"""
# The target may be in a file that is not written yet: until then it is a node with only a key, which no search returns.
_WRITE_EDGES = """
CALL (c, row) {{
    UNWIND row.{field} AS edge
    MERGE (t:{label} {{key: edge.target}}) ON CREATE SET t.project = $project
    CREATE (c)-[r:{type}]->(t) SET r = edge.properties
}}
"""
MARK_SECTIONS = "UNWIND $keys AS key MATCH (s:Symbol {key: key}) SET s:Section"


def write_statement(edges: Iterable[tuple[str, str]]) -> str:
    """Return the statement that writes files with edges of these (type, label of the target)."""
    return _WRITE + "".join(
        _WRITE_EDGES.format(field=edge_field(kind, label), type=RelationKind[kind].name, label=label)
        for kind, label in sorted(edges)
    )


def edge_field(kind: str, label: str) -> str:
    """Return the field of a chunk's row with its edges of one type to one label."""
    return f"{kind}_{label}"


REMOVE_FILES = "UNWIND $files AS file MATCH (f:File {key: file.key}) DETACH DELETE f"
# Nodes that are only a key are removed with the last chunk that points at them.
CLEAR = (
    """MATCH (:File {project: $project})-[:HAS_CHUNK]->(c:Chunk)
    CALL (c) { OPTIONAL MATCH (c)-->(t:Symbol) DETACH DELETE t, c } IN TRANSACTIONS OF 2000 ROWS""",
    "MATCH (f:File {project: $project}) CALL (f) { DETACH DELETE f } IN TRANSACTIONS OF 2000 ROWS",
)

# ---------------------------------------------------------------- reading

STORED_DEFINITIONS = """
MATCH (f:File)-[:HAS_CHUNK]->(c:Chunk)-[:DEFINES]->(s:Symbol) WHERE f.key IN $keys
RETURN DISTINCT f.path AS path, s.key AS key, s.name_key AS name, c.is_archived AS archived
"""
STORED_FILES = """
MATCH (f:File) WHERE f.key IN $keys AND f.version IS NOT NULL RETURN f.path AS path, f.is_archived AS archived
"""
# The files that point at a removed symbol, and those with a relation resolved by a name that may now have too many
# definitions. A new symbol may be a relation's target before it is written, and has no name until then.
DEPENDENTS = """
MATCH (f:File)<-[]-(c:Chunk) WHERE f.key IN $files RETURN c.path AS path
UNION
MATCH (s:Symbol)<-[]-(c:Chunk) WHERE s.key IN $going RETURN c.path AS path
UNION
MATCH (s:Symbol)<-[r]-(c:Chunk) WHERE s.key IN $coming AND r.resolution IN ['name', 'candidates', 'unknown']
RETURN c.path AS path
UNION
MATCH (s:Symbol)<-[r]-(c:Chunk)
WHERE s.project = $project AND s.name_key IN $names AND r.resolution IN ['name', 'candidates', 'unknown']
RETURN c.path AS path
"""
COUNT_CHUNKS = "MATCH (f:File {project: $project}) RETURN sum(COUNT { (f)-[:HAS_CHUNK]->() }) AS chunks"
VERSIONS = """
MATCH (f:File {project: $project}) WHERE f.version IS NOT NULL
RETURN f.path AS path, f.version AS version, COUNT { (f)-[:HAS_CHUNK]->() } AS chunks
"""


def file_row(project: str, file: ProjectedFile) -> dict[str, Any]:
    """Return a file's node with its chunks, and the keys of the symbols that remain."""
    first = file.chunks[0].chunk if file.chunks else None
    symbols: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for symbol in file.symbols:
        symbols[symbol.ordinal].append(_symbol_row(project, symbol))
    edges: dict[int, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for edge in file.edges:
        edges[edge.ordinal][edge_field(*edge_type(edge))].append(_edge_row(edge))
    return {
        "key": file_key(project, file.path),
        "symbols": [symbol.key for symbol in file.symbols],
        "chunks": [
            {"properties": _chunk_properties(project, file, chunk), "symbols": symbols[number], **edges[number]}
            for number, chunk in enumerate(file.chunks)
        ],
        "properties": {
            "project": project,
            "path": file.path,
            "version": file.version,
            "match_keys": list(file.match_keys),
            "is_archived": is_archived(file),
            "archive_path": first.archive.reason if first and first.archive else None,
            "category": first.category.value if first else None,
            "language": first.language if first else None,
            "modified_at": first.modified_at if first else None,
        },
    }


class Definition(NamedTuple):
    """The properties of a definition that decide which relations resolve to it."""

    path: str
    key: str
    name: str
    archived: bool


def definitions(file: ProjectedFile) -> list[Definition]:
    """Return a file's definitions, as STORED_DEFINITIONS reads them."""
    archived = is_archived(file)
    return [Definition(file.path, symbol.key, symbol.symbol.name.lower(), archived) for symbol in file.symbols]


def is_archived(file: ProjectedFile) -> bool:
    """Whether searches hide the file; a file without text is never hidden."""
    return bool(file.chunks) and file.chunks[0].chunk.archive is not None


def edge_type(edge: ProjectedEdge) -> tuple[str, str]:
    """Return the relationship's type and the label of its target."""
    return RelationKind(edge.kind).name, "File" if edge.to_file else "Symbol"


def section_keys(file: ProjectedFile) -> list[str]:
    """Return which of a file's symbols are no code: sections of a document, and keys."""
    return [symbol.key for symbol in file.symbols if symbol.symbol.kind in (SymbolKind.SECTION, SymbolKind.KEY)]


def _chunk_properties(project: str, file: ProjectedFile, chunk: ProjectedChunk) -> dict[str, Any]:
    """Return the properties of a chunk's node, with the same archive flag as its vector."""
    stored = chunk.chunk
    return {
        "key": chunk.point.key,
        "project": project,
        "path": file.path,
        "version": file.version,
        "ordinal": chunk.point.ordinal,
        "start_line": stored.start_line,
        "end_line": stored.end_line,
        "match_keys": list(file.match_keys),
        "is_archived": stored.archive is not None,
        "archive_path": stored.archive.reason if stored.archive else None,
        "category": stored.category.value,
        "language": stored.language,
    }


def _symbol_row(project: str, projected: ProjectedSymbol) -> dict[str, Any]:
    return {
        "key": projected.key,
        "properties": {
            "project": project,
            "name": projected.symbol.name,
            "name_key": projected.symbol.name.lower(),
            "qualified_name": projected.symbol.qualified_name,
            "kind": projected.symbol.kind.value,
            "start_line": projected.symbol.start_line,
            "end_line": projected.symbol.end_line,
            "signature": projected.symbol.signature,
        },
    }


def _edge_row(edge: ProjectedEdge) -> dict[str, Any]:
    return {
        "target": edge.target_key,
        "properties": {
            "source": edge.source,
            "target": edge.target,
            "confidence": edge.confidence,
            "resolution": edge.resolution,
        },
    }
