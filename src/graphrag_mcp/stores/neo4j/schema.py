"""The graph: its nodes, relationships and indexes, and the Cypher that writer, reader and deleter share.

    (:File {key})-[:HAS_CHUNK]->(:Chunk {key})-[:DEFINES]->(:Symbol {key})      sections of documents are :Section too
    (:Chunk)-[:CALLS|IMPORTS|INHERITS|TESTS|CONTAINS|LINKS_TO|SUPERSEDES {source, target, confidence, resolution}]->
        (:Symbol), or (:File) where the whole file is meant

A relation begins at the chunk it stands in and ends at what it was settled on. A symbol's key outlives the contents of
its file, so that a new version of a file keeps what points at it; a chunk's key does not.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphrag_mcp.model import RelationKind, Scope, SymbolKind
from graphrag_mcp.stores.points import ProjectedChunk, ProjectedEdge, ProjectedFile, file_key, folders

SETUP = (
    "CREATE CONSTRAINT file_key IF NOT EXISTS FOR (n:File) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT chunk_key IF NOT EXISTS FOR (n:Chunk) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT symbol_key IF NOT EXISTS FOR (n:Symbol) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX file_project IF NOT EXISTS FOR (n:File) ON (n.project)",
    "CREATE INDEX chunk_project IF NOT EXISTS FOR (n:Chunk) ON (n.project)",
    "CREATE INDEX symbol_name IF NOT EXISTS FOR (n:Symbol) ON (n.project, n.name_key)",
    "CREATE INDEX symbol_file IF NOT EXISTS FOR (n:Symbol) ON (n.file)",
    "CREATE FULLTEXT INDEX symbol_names IF NOT EXISTS FOR (n:Symbol) ON EACH [n.name, n.qualified_name]",
)

# The scope, on the chunk `c`: inside the search, before any LIMIT (K-09).
IN_SCOPE = """(NOT $hide_archived OR NOT c.is_archived OR c.path IN $lifted)
    AND (size($excluded) = 0 OR none(key IN c.match_keys WHERE key IN $excluded))
    AND (size($categories) = 0 OR c.category IN $categories)
    AND (size($languages) = 0 OR c.language IN $languages)
    AND (size($folders) = 0 OR any(folder IN c.folders WHERE folder IN $folders))"""


def scope_parameters(scope: Scope, lifted: Sequence[str]) -> dict[str, Any]:
    """Return what IN_SCOPE binds; `lifted` are the archived files that the scope brings back."""
    return {
        "hide_archived": scope.exclude_archived,
        "lifted": list(lifted),
        "excluded": sorted(scope.excluded_keys),
        "categories": sorted(scope.categories),
        "languages": sorted(scope.languages),
        "folders": [path.rstrip("/") for path in scope.paths],
    }


def relationship_types(kinds: Iterable[str]) -> str:
    """Return the types of these kinds of relation, to stand in a pattern."""
    return "|".join(RelationKind(kind).name for kind in kinds)


# ---------------------------------------------------------------- writing

REMOVE_OLD = """
UNWIND $files AS file
MATCH (:File {key: file.key})-[:HAS_CHUNK]->(c:Chunk)
DETACH DELETE c
"""
REMOVE_SYMBOLS = """
UNWIND $files AS file
MATCH (s:Symbol {file: file.key}) WHERE NOT s.key IN file.symbols
DETACH DELETE s
"""
WRITE_FILES = "UNWIND $files AS file MERGE (f:File {key: file.key}) SET f += file.properties"
WRITE_CHUNKS = """
UNWIND $chunks AS row
MATCH (f:File {key: row.file})
CREATE (f)-[:HAS_CHUNK]->(c:Chunk)
SET c = row.properties
"""
WRITE_SYMBOLS = """
UNWIND $symbols AS row
MERGE (s:Symbol {key: row.key})
SET s += row.properties
WITH s, row MATCH (c:Chunk {key: row.chunk})
CREATE (c)-[:DEFINES]->(s)
"""
MARK_SECTIONS = "UNWIND $keys AS key MATCH (s:Symbol {key: key}) SET s:Section"
# The target may be in a file that is yet to be written: until then it is a key, which no search reaches.
WRITE_EDGES = """
UNWIND $edges AS row
MATCH (c:Chunk {{key: row.chunk}})
MERGE (t:{label} {{key: row.target}}) ON CREATE SET t.project = $project
CREATE (c)-[r:{type}]->(t)
SET r = row.properties
"""
REMOVE_FILES = """
UNWIND $keys AS key
MATCH (f:File {key: key})
OPTIONAL MATCH (f)-[:HAS_CHUNK]->(c:Chunk)
DETACH DELETE c, f
"""
REMOVE_FILE_SYMBOLS = "UNWIND $keys AS key MATCH (s:Symbol {file: key}) DETACH DELETE s"
CLEAR = "MATCH (n:{label} {{project: $project}}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 5000 ROWS"
LABELS = ("Chunk", "Symbol", "File")

# ---------------------------------------------------------------- reading

STORED_SYMBOLS = "MATCH (s:Symbol) WHERE s.file IN $keys RETURN s.key AS key, s.name_key AS name, s.file AS file"
STORED_FILES = "MATCH (f:File) WHERE f.key IN $keys AND f.version IS NOT NULL RETURN f.path AS path"
DEPENDENTS = """
MATCH (f:File) WHERE f.key IN $keys MATCH (f)<-[]-(c:Chunk) RETURN DISTINCT c.path AS path
UNION
MATCH (s:Symbol) WHERE s.key IN $symbols MATCH (s)<-[]-(c:Chunk) RETURN DISTINCT c.path AS path
"""
VERSIONS = """
MATCH (f:File {project: $project}) WHERE f.version IS NOT NULL
RETURN f.path AS path, f.version AS version, COUNT { (f)-[:HAS_CHUNK]->() } AS chunks
"""


def file_row(project: str, file: ProjectedFile) -> dict[str, Any]:
    """Return a file's node, with the keys of the symbols that stay."""
    archive = file.chunks[0].chunk.archive if file.chunks else None
    chunk = file.chunks[0].chunk if file.chunks else None
    return {
        "key": file_key(project, file.path),
        "symbols": [one.key for one in file.symbols],
        "properties": {
            "project": project,
            "path": file.path,
            "version": file.version,
            "match_keys": list(file.match_keys),
            "is_archived": archive is not None,
            "archive_path": archive.reason if archive else None,
            "category": chunk.category.value if chunk else None,
            "language": chunk.language if chunk else None,
            "modified_at": chunk.modified_at if chunk else None,
        },
    }


def chunk_row(project: str, file: ProjectedFile, chunk: ProjectedChunk) -> dict[str, Any]:
    """Return a chunk's node, archive-tagged as its vector is."""
    stored = chunk.chunk
    return {
        "file": file_key(project, file.path),
        "properties": {
            "key": chunk.point.key,
            "project": project,
            "path": file.path,
            "version": file.version,
            "ordinal": chunk.point.ordinal,
            "start_line": stored.start_line,
            "end_line": stored.end_line,
            "folders": folders(file.path),
            "match_keys": list(file.match_keys),
            "is_archived": stored.archive is not None,
            "archive_path": stored.archive.reason if stored.archive else None,
            "category": stored.category.value,
            "language": stored.language,
        },
    }


def symbol_rows(project: str, file: ProjectedFile) -> list[dict[str, Any]]:
    """Return the nodes of a file's definitions, each with the chunk it begins in."""
    return [
        {
            "key": one.key,
            "chunk": file.chunks[one.ordinal].point.key,
            "properties": {
                "project": project,
                "file": file_key(project, file.path),
                "name": one.symbol.name,
                "name_key": one.symbol.name.lower(),
                "qualified_name": one.symbol.qualified_name,
                "kind": one.symbol.kind.value,
                "start_line": one.symbol.start_line,
                "end_line": one.symbol.end_line,
                "signature": one.symbol.signature,
            },
        }
        for one in file.symbols
    ]


def section_keys(file: ProjectedFile) -> list[str]:
    """Return which of a file's symbols are sections of a document."""
    return [one.key for one in file.symbols if one.symbol.kind is SymbolKind.SECTION]


def edge_row(file: ProjectedFile, edge: ProjectedEdge) -> Mapping[str, Any]:
    """Return a relationship."""
    return {
        "chunk": file.chunks[edge.ordinal].point.key,
        "target": edge.target_key,
        "properties": {
            "source": edge.source,
            "target": edge.target,
            "confidence": edge.confidence,
            "resolution": edge.resolution,
        },
    }
