"""Turns a parsed file into rows of plain values, in the parsing processes: without numpy and SQLite."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from graphrag_mcp.model.facts import pack_outline
from graphrag_mcp.model.files import ArchiveClass, Chunk, Failure, PackedFacts, ParsedFile, Symbol, with_failures
from graphrag_mcp.model.links import Place, identities, place_id
from graphrag_mcp.model.scope import match_keys
from graphrag_mcp.stores.sqlite.catalog import pack_document


class TreeEntry(NamedTuple):
    """The entry of a content at a path of a tree: a row of `tree_files`.

    content_hash, recipe: identify the content and the versions that made its rows. changed_ns: the file system's time
    of the last change, 0 when too recent to be trusted. modified_at: for the ranking, in seconds since 1970.
    """

    path: str
    content_hash: bytes
    recipe: str
    size: int
    changed_ns: int
    archive: ArchiveClass | None
    modified_at: float | None


_Row = tuple[object, ...]


class PackedFile(NamedTuple):
    """The rows of one file as plain values, which are sent between processes at a tenth of the cost of objects.

    columns: those of `files` after the recipe, without the number of vectors. path_words: word of the file's stem
    and its share of the stem. module_keys: the names by which other files import it. keywords: the words of each chunk,
    in the order of KEYWORD_FIELDS. text_hashes: of each chunk's embedded text. symbols: with their chunk's ordinal.
    outline: the packed relations, b"" for a file with facts or without any.
    """

    entry: TreeEntry
    columns: _Row
    match_keys: list[str]
    path_words: list[tuple[str, float]]
    module_keys: list[str]
    chunks: list[_Row]
    keywords: Sequence[tuple[str, ...]]
    text_hashes: Sequence[bytes]
    symbols: list[tuple[int, _Row]]
    place: int
    outline: bytes
    code: PackedFacts | None
    manifest: str

    def with_failure(self, failure: Failure) -> "PackedFile":
        language, category, mode, note, *rest = self.columns
        return self._replace(columns=(language, category, mode, with_failures(str(note), [failure]), *rest))


def pack_rows(
    parsed: ParsedFile,
    entry: TreeEntry,
    path_words: Mapping[str, float],
    module_keys: Collection[str],
    keywords: Sequence[tuple[str, ...]],
    text_hashes: Sequence[bytes],
) -> PackedFile:
    """Return the rows of a file of at most MAX_CHUNKS_PER_FILE chunks."""
    symbols = _pack_symbols(parsed)
    note = with_failures(parsed.note, parsed.failures)
    columns = (parsed.language, parsed.category.value, parsed.mode.value, note, pack_document(parsed.facts))
    return PackedFile(
        entry=entry,
        columns=(*columns, len(parsed.chunks), len(symbols)),
        match_keys=sorted(match_keys(parsed.path)),
        path_words=sorted(path_words.items()),
        module_keys=sorted(module_keys),
        chunks=[_pack_chunk(chunk) for chunk in parsed.chunks],
        keywords=keywords,
        text_hashes=text_hashes,
        symbols=symbols,
        place=place_id(Place(parsed.path, "")),
        outline=pack_outline(parsed.relations) if parsed.relations and not parsed.code else b"",
        code=parsed.code,
        manifest=parsed.manifest,
    )


def _pack_chunk(chunk: Chunk) -> _Row:
    names, enclosing = "\t".join(chunk.names), "\t".join(chunk.enclosing)
    head = (chunk.start_line, chunk.end_line, chunk.kind, chunk.symbol)
    return (*head, names, enclosing, chunk.signature, chunk.text)


def _pack_symbols(parsed: ParsedFile) -> list[tuple[int, _Row]]:
    starts = [chunk.start_line for chunk in parsed.chunks]
    texts = identities(f"~{symbol.qualified_name}" for symbol in parsed.symbols if not symbol.identity)
    return [
        (
            max(bisect_right(starts, symbol.start_line) - 1, 0),
            _pack_symbol(symbol, place_id(Place(parsed.path, identity))),
        )
        for symbol in (parsed.symbols if starts else ())
        for identity in [symbol.identity or next(texts)]
    ]


def _pack_symbol(symbol: Symbol, place: int) -> _Row:
    return (
        symbol.name,
        symbol.name.lower(),
        symbol.qualified_name,
        symbol.kind.value,
        symbol.start_line,
        symbol.end_line,
        symbol.signature,
        place,
        *symbol.takes,
    )
