"""Gives a hit that is a part of a function all lines of the function, since another part often has the answer.

A quarter of the first results are such parts. No hit gets another place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphrag_mcp.model.files import Symbol, SymbolKind
from graphrag_mcp.model.search import Hit, StoredChunk
from graphrag_mcp.ports import ChunkStore

MOST_PARTS, MOST_LINES = 6, 500  # Chunks and lines: of a longer function, the part is shown that was found.
_CONTAINERS = (SymbolKind.TYPE, SymbolKind.MODULE, SymbolKind.SECTION)  # Their members are results of their own.


def whole_definitions(
    hits: Sequence[Hit], definitions: Mapping[int, Sequence[Symbol]], catalog: ChunkStore
) -> list[Hit]:
    """Return the hits, each part with all lines of its definition; of several parts of one, the first.

    definitions: by file id.
    """
    cut = {place: symbol for place, hit in enumerate(hits) if (symbol := _definition_of(hit.chunk, definitions))}
    if not cut:
        return list(hits)
    spans = catalog.spans({hits[place].chunk.file_id for place in cut})
    parts = {place: _inside(symbol, spans.get(hits[place].chunk.file_id, {})) for place, symbol in cut.items()}
    few = {place: ids for place, ids in parts.items() if len(ids) <= MOST_PARTS}
    chunks = catalog.chunks(list(dict.fromkeys(chunk_id for ids in few.values() for chunk_id in ids)))
    shown: dict[tuple[int, int, int], Hit] = {}
    for place, hit in enumerate(hits):
        chunk, ids = hit.chunk, few.get(place, ())
        if ids and all(chunk_id in chunks for chunk_id in ids):
            chunk = _join(chunk, cut[place], [chunks[chunk_id] for chunk_id in ids])
        shown.setdefault((chunk.file_id, chunk.start_line, chunk.end_line), replace(hit, chunk=chunk))
    return list(shown.values())


def _definition_of(chunk: StoredChunk, definitions: Mapping[int, Sequence[Symbol]]) -> Symbol | None:
    """Return the function or value of which the chunk is a part, unless it is too long; None where there is none."""
    for symbol in definitions.get(chunk.file_id, ()):
        is_its = symbol.qualified_name == chunk.symbol
        if is_its and symbol.start_line <= chunk.end_line and chunk.start_line <= symbol.end_line:
            has_more = symbol.start_line < chunk.start_line or symbol.end_line > chunk.end_line
            is_short = symbol.end_line - symbol.start_line < MOST_LINES
            return symbol if has_more and is_short and symbol.kind not in _CONTAINERS else None
    return None


def _inside(symbol: Symbol, spans: Mapping[int, tuple[int, int]]) -> list[int]:
    return [
        chunk_id for chunk_id, (start, end) in spans.items() if start <= symbol.end_line and symbol.start_line <= end
    ]


def _join(chunk: StoredChunk, symbol: Symbol, parts: Sequence[StoredChunk]) -> StoredChunk:
    """Return the chunk with all lines of its definition, and what stands with it above; blank lines are in no chunk."""
    own = [part for part in parts if part.symbol == chunk.symbol]
    first = min(symbol.start_line, *(part.start_line for part in own))
    last = max(symbol.end_line, *(part.end_line for part in own))
    lines = {
        number: line
        for part in parts
        for number, line in enumerate(part.text.rstrip("\n").split("\n"), part.start_line)
    }
    text = "\n".join(lines.get(number, "") for number in range(first, last + 1))
    return replace(chunk, text=text, start_line=first, end_line=last)
