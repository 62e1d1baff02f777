"""Turns a parsed file into rows of plain values: done in the processes that parse, so free of numpy and SQLite."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphrag_mcp.model.files import ArchiveClass, Chunk, ParsedFile, Relation, Symbol
from graphrag_mcp.stores.sqlite.catalog import write_facts
from graphrag_mcp.stores.sqlite.schema import MAX_CHUNKS_PER_FILE


class Place(NamedTuple):
    """That a tree has a content at a path, and since when: a row of `tree_files`.

    content_hash, recipe: name the content, and what its rows are made with. changed_ns: the system's own time of its
    last change, 0 when that is too recent to be trusted. modified_at: what the ranking goes by, in seconds since 1970.
    """

    path: str
    content_hash: bytes
    recipe: str
    size: int
    changed_ns: int
    archive: ArchiveClass | None
    modified_at: float | None


@dataclass(frozen=True, slots=True)
class FileRows:
    """One file, ready to be written.

    keywords: the words of each chunk, in the order of KEYWORD_FIELDS. text_hashes: of each chunk's embedded text.
    path_words: word of the file's stem to its share of the stem. module_keys: the names other files import it by.
    """

    parsed: ParsedFile
    place: Place
    match_keys: frozenset[str]
    path_words: Mapping[str, float]
    module_keys: frozenset[str]
    keywords: Sequence[tuple[str, ...]]
    text_hashes: Sequence[bytes]


_Row = tuple[object, ...]


class PackedFile(NamedTuple):
    """The rows of one file as plain values, which travel between processes at a tenth of the cost of objects.

    facts: the columns of `files` behind the recipe, without the number of vectors. symbols: with their chunk's ordinal.
    """

    place: Place
    facts: _Row
    match_keys: list[str]
    path_words: list[tuple[str, float]]
    module_keys: list[str]
    chunks: list[_Row]
    keywords: Sequence[tuple[str, ...]]
    text_hashes: Sequence[bytes]
    symbols: list[tuple[int, _Row]]
    relations: list[_Row]


def pack_rows(rows: FileRows) -> PackedFile:
    """Return what is written of a file. Raises ValueError when it has more chunks than a file can have."""
    parsed = rows.parsed
    if len(parsed.chunks) > MAX_CHUNKS_PER_FILE:
        count = len(parsed.chunks)
        raise ValueError(
            f"{parsed.path} has {count} chunks; the limit for one file is {MAX_CHUNKS_PER_FILE} of one file"
        )
    symbols = _pack_symbols(parsed)
    return PackedFile(
        place=rows.place,
        facts=(
            parsed.language,
            parsed.category.value,
            parsed.mode.value,
            parsed.note,
            write_facts(parsed.facts),
            len(parsed.chunks),
            len(symbols),
            len(parsed.relations),
        ),
        match_keys=sorted(rows.match_keys),
        path_words=sorted(rows.path_words.items()),
        module_keys=sorted(rows.module_keys),
        chunks=[_pack_chunk(chunk) for chunk in parsed.chunks],
        keywords=rows.keywords,
        text_hashes=rows.text_hashes,
        symbols=symbols,
        relations=[_pack_relation(relation) for relation in parsed.relations],
    )


def _pack_chunk(chunk: Chunk) -> _Row:
    names, enclosing = "\t".join(chunk.names), "\t".join(chunk.enclosing)
    place = (chunk.start_line, chunk.end_line, chunk.kind, chunk.symbol)
    return (*place, names, enclosing, chunk.signature, chunk.text)


def _pack_symbols(parsed: ParsedFile) -> list[tuple[int, _Row]]:
    starts = [chunk.start_line for chunk in parsed.chunks]
    return [
        (max(bisect_right(starts, symbol.start_line) - 1, 0), _pack_symbol(symbol))
        for symbol in (parsed.symbols if starts else ())
    ]


def _pack_symbol(symbol: Symbol) -> _Row:
    return (
        symbol.name,
        symbol.name.lower(),
        symbol.qualified_name,
        symbol.kind.value,
        symbol.start_line,
        symbol.end_line,
        symbol.signature,
    )


def _pack_relation(relation: Relation) -> _Row:
    return (
        relation.kind.value,
        relation.source,
        relation.target,
        relation.target.lower(),
        relation.line,
        relation.confidence,
        relation.resolution.value,
        relation.target_module,
    )
